//! expect: E0277
//! The set of effects is closed: `Action` is sealed.

use vambrace_policy::{Access, Action, Capability};
use vambrace_types::ScopedPath;

pub struct FormatTheDisk;

impl Action for FormatTheDisk {
    const CAPABILITY: Capability = Capability::ReadFiles;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }
}

fn main() {}

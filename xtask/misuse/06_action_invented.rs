//! expect: E0277
//! The set of effects is closed: `Action` is sealed.

use vambrace_policy::{Access, Action, Capability, Kinds};
use vambrace_types::ScopedPath;

pub struct FormatTheDisk;

impl Action for FormatTheDisk {
    const CAPABILITY: Capability = Capability::ReadFiles;
    const KINDS: Kinds = Kinds::NONE;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }
}

fn main() {}

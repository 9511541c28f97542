//! expect: E0451
//! Nothing acts unless policy said yes: a permit has no public field.

use vambrace_policy::{Epoch, Obligations, Permit, ReadFile, Withheld};

pub fn forge(action: ReadFile, obligations: Obligations) -> Permit<ReadFile> {
    Permit { action, epoch: Epoch(1), rule: String::new(), obligations, withheld: Withheld::default() }
}

fn main() {}

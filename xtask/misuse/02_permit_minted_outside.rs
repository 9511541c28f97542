//! expect: E0624
//! Only policy mints.

use vambrace_policy::{Epoch, Obligations, Permit, ReadFile, Withheld};

pub fn forge(action: ReadFile, obligations: Obligations) -> Permit<ReadFile> {
    Permit::mint(action, Epoch(1), String::new(), obligations, Withheld::default())
}

fn main() {}

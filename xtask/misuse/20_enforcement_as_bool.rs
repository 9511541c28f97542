//! expect: E0308
//! Weak isolation is a value one must look at.

use vambrace_types::Enforcement;

pub fn shrug(enforcement: Enforcement) -> bool {
    if enforcement { true } else { false }
}

fn main() {}

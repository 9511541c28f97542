//! expect: E0599
//! A permit has no copy to keep for later.

use vambrace_policy::{Permit, ReadFile};

pub fn keep(permit: Permit<ReadFile>) -> (Permit<ReadFile>, Permit<ReadFile>) {
    (permit.clone(), permit)
}

fn main() {}

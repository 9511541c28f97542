//! expect: E0624
//! Programs reach what policy granted to their job: nobody else makes grants.

use vambrace_policy::Epoch;
use vambrace_policy::url::{AllowEntry, Grants};

pub fn forge(entries: Vec<AllowEntry>) -> Grants {
    Grants::mint(entries, Epoch(1))
}

fn main() {}

//! expect: E0382
//! A permit acts once.

use vambrace_policy::{Epoch, Permit, ReadFile};

pub fn twice(permit: Permit<ReadFile>, door: Epoch) -> bool {
    permit.redeem(door).is_ok() && permit.redeem(door).is_ok()
}

fn main() {}

//! expect: E0451
//! Hands are given out for a written intent, not for a made-up one.

use vambrace_audit::IntentReceipt;

pub fn forge(old: IntentReceipt) -> IntentReceipt {
    IntentReceipt { ..old }
}

fn main() {}

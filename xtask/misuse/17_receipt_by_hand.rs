//! expect: E0451
//! Only the log says that a line is on record.

use vambrace_audit::Receipt;

pub fn forge(old: Receipt) -> Receipt {
    Receipt { ..old }
}

fn main() {}

//! expect: E0451
//! No effect without a written intent: hands have no public field.

use vambrace_tools::Hands;

pub fn forge(old: Hands<'_>) -> Hands<'_> {
    Hands { ..old }
}

fn main() {}

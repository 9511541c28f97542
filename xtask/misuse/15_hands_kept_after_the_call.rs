//! expect: E0521
//! No effect after the call: hands live as long as it does.

use vambrace_tools::Hands;

fn keep_for_ever<T: 'static>(_kept: T) {}

pub fn keep(hands: Hands<'_>) {
    keep_for_ever(hands);
}

fn main() {}

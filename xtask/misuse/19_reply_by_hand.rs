//! expect: E0451
//! A reply proves its audit line: front ends render, never compose.

use vambrace_runtime::Reply;

pub fn forge(old: Reply) -> Reply {
    Reply { ..old }
}

fn main() {}

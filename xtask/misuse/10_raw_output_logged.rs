//! expect: E0277
//! Nobody logs it either.

use vambrace_types::RawOutput;

pub fn log(output: &RawOutput) -> String {
    format!("{output:?}")
}

fn main() {}

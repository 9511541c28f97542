//! expect: E0599
//! Nobody sends what the redactor has not seen.

use vambrace_types::RawOutput;

pub fn send(output: &RawOutput) -> String {
    output.to_string()
}

fn main() {}

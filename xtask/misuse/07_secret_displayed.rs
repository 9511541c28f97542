//! expect: E0277
//! Leaking a secret takes the word `expose`.

use vambrace_types::Secret;

pub fn leak(secret: &Secret<String>) -> String {
    format!("{secret}")
}

fn main() {}

//! expect: E0451
//! A scoped path is parsed, so no `..` is ever inside one.

use vambrace_types::ScopedPath;

pub fn escape() -> ScopedPath {
    ScopedPath { components: vec!["..".to_owned()] }
}

fn main() {}

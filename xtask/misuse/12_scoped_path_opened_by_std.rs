//! expect: E0277
//! Only a root of the files door opens a scoped path.

use vambrace_types::ScopedPath;

pub fn open(path: &ScopedPath) -> bool {
    std::fs::File::open(path).is_ok()
}

fn main() {}

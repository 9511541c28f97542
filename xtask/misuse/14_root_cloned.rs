//! expect: E0599
//! Power over a folder is handed on, not copied.

use vambrace_files::Root;

pub fn copy(root: Root) -> (Root, Root) {
    (root.clone(), root)
}

fn main() {}

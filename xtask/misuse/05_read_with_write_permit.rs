//! expect: E0308
//! A permit is good for the action that was decided, not for another.

use vambrace_files::{Deadline, Files};
use vambrace_policy::{Permit, WriteFile};

pub fn read(files: &Files, permit: Permit<WriteFile>, deadline: &Deadline) -> bool {
    files.read(permit, deadline).is_ok()
}

fn main() {}

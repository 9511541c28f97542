//! The spelling of error codes is an interface: programs compare them.

use std::path::Path;

use vambrace_types::ErrorCode;

use crate::disk;

#[test]
fn no_error_code_changes_its_spelling() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/error_codes.txt");
    let found: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    let text = disk::read(&path);
    let frozen: Vec<&str> = text.lines().collect();
    // A new code is added to the file; one that is there stays as it is.
    assert_eq!(found, frozen);
}

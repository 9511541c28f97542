//! This test binary, started again with a limit on the size of the files that it writes.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "only a process of its own can be limited"
)]

use std::process::Command;

const PART: &str = "VAMBRACE_RUNTIME_TEST_PART";

/// Where the child begins. As an ordinary test it does nothing.
#[test]
fn entry() {
    if std::env::var_os(PART).is_some() {
        crate::full_disk::until_nothing_fits();
    }
}

/// Runs the part above in a process in which no file grows beyond `blocks` of 512 bytes. A shell sets the limit and
/// ignores the signal that comes with it, so that a write fails as on a full disk.
pub(crate) fn play_on_small_files(blocks: usize) {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "child::entry", "--nocapture", "--test-threads=1"])
        .env(PART, "full-disk")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

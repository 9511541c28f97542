//! The public corpora, which are not committed (see `xtask test`), and saying that something could not be
//! shown.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads a file and an environment"
)]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

pub(crate) fn corpus(name: &str) -> Option<Vec<u8>> {
    let folder = match std::env::var_os("VAMBRACE_CORPORA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora")),
    };
    fs::read(folder.join(name)).ok()
}

/// Says loudly that something could not be shown here, and writes it down for the summary of `cargo xtask
/// test`.
pub(crate) fn skip(what: &str) {
    eprintln!("NOT RUN: {what}");
    if let Some(path) = std::env::var_os("VAMBRACE_TEST_SKIPPED") {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{what}").unwrap();
    }
}

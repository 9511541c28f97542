//! Whatever is done to the files of the audit log, its readers see it. The check is the one that the plain test replays
//! over `testdata/fuzz/audit_folder`.

#![no_main]

#[path = "../../crates/vambrace-audit/tests/it/fuzzed/audit_folder.rs"]
mod audit_folder;
#[path = "../../crates/vambrace-audit/tests/it/support.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(problem) = audit_folder::check(input) {
        panic!("{problem}");
    }
});

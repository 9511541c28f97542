//! Any file is a configuration, or refused with words. The check is the one that the plain test replays
//! over `testdata/fuzz/config_file`.

#![no_main]

#[path = "../../crates/vambrace-config/tests/it/fuzzed/config_file.rs"]
mod config_file;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(problem) = config_file::check(input) {
        panic!("{problem}");
    }
});

//! Any text is an address that is judged, or refused. The check is the one that the plain test replays
//! over `testdata/fuzz/url`.

#![no_main]

#[path = "../../crates/vambrace-policy/tests/it/fuzzed/url.rs"]
mod url;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(problem) = url::check(input) {
        panic!("{problem}");
    }
});

//! Any text is a command line that is read and judged, or refused. The check is the one that the plain test replays
//! over `testdata/fuzz/command_line`.

#![no_main]

#[path = "../../crates/vambrace-policy/tests/it/fuzzed/command_line.rs"]
mod command_line;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(problem) = command_line::check(input) {
        panic!("{problem}");
    }
});

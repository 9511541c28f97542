//! Any frame between us and the sandbox is a message, or garbled. The check is the one that the plain test replays
//! over `testdata/fuzz/wire_message`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(problem) = vambrace_process::check_wire_message(input) {
        panic!("{problem}");
    }
});

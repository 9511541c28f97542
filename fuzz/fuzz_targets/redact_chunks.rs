//! However a text is cut into chunks, the redactor's output is the same. The check is the one that the plain test replays
//! over `testdata/fuzz/redact_chunks`.

#![no_main]

#[path = "../../crates/vambrace-redact/tests/it/chunks/recipe.rs"]
mod recipe;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(problem) = recipe::check(input) {
        panic!("{problem}");
    }
});

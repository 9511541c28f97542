//! Whatever the bytes are, the reader of JSON keeps its limits and obeys no name. The check is the one that the plain test
//! replays over `testdata/fuzz/strict_json`.

#![no_main]

#[path = "../../crates/vambrace-json/tests/it/strict/recipe.rs"]
mod recipe;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(problem) = recipe::check(input) {
        panic!("{problem}");
    }
});

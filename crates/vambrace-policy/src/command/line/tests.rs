//! That the time is linear: steps are counted, not seconds.

use std::cell::Cell;

use super::*;

thread_local! {
    pub(super) static STEPS: Cell<usize> = const { Cell::new(0) };
}

#[track_caller]
fn check(piece: &str) {
    let steps = |n: usize| -> usize {
        let line = format!("p {}", piece.repeat(n));
        STEPS.set(0);
        let mut reader = Reader::new(&line, Chains::Check);
        while let Ok(true) = reader.advance() {}
        STEPS.get()
    };
    let (small, large) = (steps(100), steps(800));
    assert!(large <= small * 8 + 200, "{piece:?}: {small} steps became {large}");
}

#[test]
fn eight_times_the_line_takes_eight_times_the_steps() {
    for piece in
        ["a", "a ", "[", "[a", "[]", "[[", "[!", "{", "{a", "{}", "@{u}..", "'", "''", "\"", "\\", "\\a"]
    {
        check(piece);
    }
    for piece in
        ["*", "?", ",", "..", ">", ">a ", "|a ", "&&a ", ";a ", "#", "é", "/[", "[/", "~", "$ ", "[:"]
    {
        check(piece);
    }
}

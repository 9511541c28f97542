//! That the time is linear: steps are counted, not seconds. And what no line may hold, quoted or not.

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

#[track_caller]
fn check_hidden(line: &str, expected: Option<(&str, &str)>) {
    let token = match parse(line, Chains::Check) {
        Ok(_) => None,
        Err(CommandRefusal::Syntax { token, what }) => Some((token, what)),
        Err(other) => panic!("{line:?}: {other:?}"),
    };
    assert_eq!(token.as_ref().map(|(token, what)| (token.as_str(), *what)), expected, "{line:?}");
}

#[test]
fn what_turns_the_text_around_it_is_refused() {
    let control = |token| Some((token, "a control character"));
    check_hidden("echo 'a\u{202e}b'", control("\\u{202e}"));
    check_hidden("echo \u{202a}", control("\\u{202a}"));
    check_hidden("echo \"\u{2066}\"", control("\\u{2066}"));
    check_hidden("echo \u{2069}", control("\\u{2069}"));
    check_hidden("ls\u{2028}id", Some(("\\u{2028}", "a line break")));
    check_hidden("ls\u{2029}id", Some(("\\u{2029}", "a line break")));
    // One outside each edge, and what joins letters and pictures.
    for harmless in ["\u{2027}", "\u{202f}", "\u{2065}", "\u{206a}", "\u{200d}", "\u{a0}"] {
        check_hidden(&format!("echo {harmless}"), None);
    }
}

//! Regular expressions: what is refused, and the stoppable search against the library's own.

use std::cell::Cell;
use std::ops::Range;

use vambrace_edit::{OutOfTime, Pattern, PatternError};

use crate::unhurried;

#[track_caller]
fn check_refused(regex: &str, expected: fn(&PatternError) -> bool, says: &str) {
    let error = Pattern::compile(regex).expect_err(regex);
    assert!(expected(&error), "{regex}: {error:?}");
    assert!(error.to_string().contains(says), "{regex}: {error}");
}

#[test]
fn what_is_refused_says_why() {
    let look_around = |error: &PatternError| matches!(error, PatternError::LookAround { .. });
    check_refused("a(?=b)", look_around, "look-ahead");
    check_refused("a(?!b)", look_around, "column 2");
    check_refused("(?<=a)b", look_around, "look-behind");
    check_refused("(?<!a)b", look_around, "look-behind");
    let back_reference = |error: &PatternError| matches!(error, PatternError::BackReference { .. });
    check_refused(r"(a)\1", back_reference, "back-references");
    let syntax = |error: &PatternError| matches!(error, PatternError::Syntax { .. });
    check_refused("(a", syntax, "unclosed group");
    check_refused("a{2,1}", syntax, "invalid repetition");
    check_refused(&format!("{}a{}", "(".repeat(65), ")".repeat(65)), syntax, "nest");
    check_refused(&"a".repeat(4097), |error| *error == PatternError::TooLong { len: 4097 }, "4096");
    let too_complex = |error: &PatternError| *error == PatternError::TooComplex;
    check_refused(r"(\w{1,100}){100}", too_complex, "too complex");
    check_refused("(?:(?:a{1000}){1000}){1000}", too_complex, "too complex");
}

#[test]
fn edges_of_what_is_accepted() {
    for regex in [
        &"a".repeat(4096),
        &format!("{}a{}", "(".repeat(60), ")".repeat(60)),
        r"\w{10}",
        r"(?P<name>\w+)\s+(?<other>[^,]*)",
        r"(?i)select\s.+?\sfrom",
        "(?:){1000}",
    ] {
        assert!(Pattern::compile(regex).is_ok(), "{regex}");
    }
}

#[track_caller]
fn check(regex: &str, haystack: &str, expected: &[&str]) {
    let pattern = Pattern::compile(regex).unwrap();
    let found: Vec<&str> = pattern
        .find_iter(haystack.as_bytes(), &unhurried)
        .map(|span| haystack.get(span.unwrap()).unwrap())
        .collect();
    assert_eq!(found, expected, "{regex} in {haystack:?}");
    assert_eq!(pattern.count(haystack.as_bytes(), &unhurried), Ok(expected.len()));
}

#[test]
fn lines_words_and_priorities() {
    check("^.", "ab\ncd\r\nef", &["a", "c", "e"]);
    check(".$", "ab\ncd\r\nef", &["b", "d", "f"]);
    check(".+", "ab\ncd\r\n", &["ab", "cd"]);
    check("sam|samwise", "samwise", &["sam"]);
    check("samwise|sam", "samwise", &["samwise"]);
    check("a+?", "aaa", &["a", "a", "a"]);
    check("(?s)a.*?b", "a\n\nb ab", &["a\n\nb", "ab"]);
    check("", "aé", &["", "", ""]);
    check("^", "a\nb\n", &["", "", ""]);
    check(r"\bcafé\b", "café cafés café", &["café", "café"]); // the automata cannot, the library can
    check(r"\b\w+\b", "é-è\nç", &["é", "è", "ç"]);
    check(r"(?s)\bé.b\b", "é\nb", &["é\nb"]); // over lines, too
    check("x", "", &[]);
    check("$", "", &[""]);
}

/// Asks are counted; the budget ends at the n-th.
#[test]
fn a_search_stops_when_the_budget_ends() {
    let haystack = "ab".repeat(50_000);
    let asked = Cell::new(0);
    let budget = || {
        asked.set(asked.get() + 1);
        asked.get() > 10
    };
    let pattern = Pattern::compile("[ab]*a[ab]{200}c").unwrap();
    assert_eq!(pattern.count(haystack.as_bytes(), &budget), Err(OutOfTime));
    assert!(asked.get() < 20);
    let mut matches = pattern.find_iter(haystack.as_bytes(), &budget);
    assert_eq!(matches.next(), Some(Err(OutOfTime)));
    assert_eq!(matches.next(), None);
}

#[test]
fn work_too_large_for_one_step_is_refused_beforehand() {
    let haystack = format!("é{}", "a ".repeat(1 << 20));
    let pattern = Pattern::compile(r"(?s)\b\w{12}\b.*\bend\b").unwrap();
    assert_eq!(pattern.count(haystack.as_bytes(), &unhurried), Err(OutOfTime));
    // The same words within one line are searched line by line.
    let lines = haystack.replace(' ', "\n");
    let pattern = Pattern::compile(r"\b\w{12}\b").unwrap();
    assert_eq!(pattern.count(lines.as_bytes(), &unhurried), Ok(0));
}

#[test]
fn bytes_that_are_not_text_are_searched_too() {
    let pattern = Pattern::compile("b.").unwrap();
    let found: Vec<Range<usize>> =
        pattern.find_iter(b"\xff\xfebc\x80b\xff", &unhurried).map(Result::unwrap).collect();
    assert_eq!(found, vec![Range { start: 2, end: 4 }]);
}

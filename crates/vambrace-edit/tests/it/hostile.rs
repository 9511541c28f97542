//! Input made to hurt: sizes past every limit, depth, and work that explodes.

use std::cell::Cell;

use vambrace_edit::{Captures, Edit, EditError, Language, MatchMode, Operation, Oversize, apply, limits};

use crate::{edit, unhurried};

#[track_caller]
fn check(text: &str, language: Option<Language>, edits: &[Edit], expected: &EditError) {
    let result = apply(text, language, edits, &unhurried).map(|applied| applied.n_matches);
    assert_eq!(result.as_ref(), Err(expected));
}

fn replace(mode: MatchMode, spec: &str, content: &str, count: usize) -> Edit {
    edit(Operation::Replace, mode, spec, content, count)
}

#[test]
fn every_limit_has_an_edge() {
    let too_large = EditError::TooLarge;
    let exact = |spec: &str, content: &str, count| replace(MatchMode::Exact, spec, content, count);
    let full = "a".repeat(limits::TEXT_BYTES);
    let none = EditError::MatchCountDiffers { edit: 0, found: 0, expected: 1 };
    check(&full, None, &[exact("b", "", 1)], &none);
    check(&format!("{full}a"), None, &[exact("b", "", 1)], &too_large(Oversize::Text));
    check("a", None, &vec![exact("b", "", 1); 256], &none);
    check("a", None, &vec![exact("b", "", 1); 257], &EditError::TooManyEdits { n_edits: 257 });
    check("a", None, &[exact(&"b".repeat(limits::SPEC_BYTES), "", 1)], &none);
    let long = exact(&"b".repeat(limits::SPEC_BYTES + 1), "", 1);
    check("a", None, &[long], &too_large(Oversize::Spec { edit: 0 }));
    check("a", None, &[exact("b", &full, 1)], &none);
    let contents = [exact("b", &full, 1), exact("c", "x", 1)];
    check("a", None, &contents, &too_large(Oversize::Content { edit: 1 }));
    let many = "a".repeat(limits::MATCHES + 1);
    check(&many, None, &[exact("a", "", limits::MATCHES + 1)], &too_large(Oversize::Matches));
    let halves = [exact("b", "", limits::MATCHES), exact("a", "", limits::MATCHES)];
    check(&"ab".repeat(limits::MATCHES), None, &halves, &too_large(Oversize::Matches));
    let found = EditError::MatchCountDiffers { edit: 0, found: limits::TEXT_BYTES, expected: 1 };
    check(&full, None, &[exact("a", "", 1)], &found); // counted, not kept
}

#[test]
fn syntax_mode_has_a_size_limit_before_and_after() {
    let too_large = EditError::TooLarge(Oversize::SyntaxText);
    let python = Some(Language::Python);
    let long = format!("x = '{}'\n", "a".repeat(limits::SYNTAX_BYTES));
    check(&long, python, &[replace(MatchMode::Ast, "x", "y", 1)], &too_large);
    check("x\n", python, &[replace(MatchMode::Ast, "x", &long, 1)], &too_large);
}

#[test]
fn a_result_that_explodes_is_refused() {
    let content = "x".repeat(64 << 10);
    let blow_up = replace(MatchMode::Exact, "a", &content, 50_000);
    check(&"a".repeat(50_000), None, &[blow_up], &EditError::TooLarge(Oversize::Result));
    let filled = replace(MatchMode::Regex, "(?s)^.*$", &"$0".repeat(30_000), 1);
    let filled = Edit { captures: Captures::Expand, ..filled };
    check(&"a".repeat(1000), None, &[filled], &EditError::TooLarge(Oversize::Result));
}

#[test]
fn deep_nesting_neither_overflows_nor_hangs() {
    let n = 100_000;
    let too_deep = EditError::TooLarge(Oversize::SyntaxDepth);
    for (language, text) in [
        (Language::Json, format!("{}{}", "[".repeat(n), "]".repeat(n))),
        (Language::Python, format!("x = {}1{}\n", "(".repeat(n), ")".repeat(n))),
        (Language::JavaScript, format!("x = {}1{}", "[".repeat(n), "]".repeat(n))),
        (Language::Rust, format!("const A: u8 = {}1{};", "(".repeat(n), ")".repeat(n))),
        (Language::Go, format!("package p\nvar x = {}1{}\n", "(".repeat(n), ")".repeat(n))),
    ] {
        check(&text, Some(language), &[replace(MatchMode::Ast, "1", "2", 1)], &too_deep);
    }
    for (language, open) in [
        (Language::Json, "["),
        (Language::Python, "("),
        (Language::TypeScript, "{"),
        (Language::Tsx, "<a>"),
        (Language::Bash, "$("),
        (Language::Go, "("),
        (Language::Rust, "<"),
    ] {
        // What is never closed does not parse, or takes too long to recover from; both are refusals.
        let asked = Cell::new(0_u32);
        let budget = || {
            asked.set(asked.get() + 1);
            asked.get() > 20_000
        };
        let edits = [replace(MatchMode::Ast, "x", "y", 1)];
        let error = apply(&open.repeat(20_000), Some(language), &edits, &budget).unwrap_err();
        assert!(
            matches!(error, EditError::NotParsable { .. } | EditError::OutOfTime | EditError::TooLarge(_)),
            "{language:?}: {error:?}"
        );
    }
}

/// The depth that is still allowed must fit a small stack, also where subtrees are compared by recursion.
#[test]
fn the_allowed_depth_fits_a_small_stack() {
    let n = limits::SYNTAX_DEPTH - 20;
    let nested = format!("{}1{}", "[".repeat(n), "]".repeat(n));
    let text = format!("f({nested}, {nested})");
    let run = move || {
        let edits = [replace(MatchMode::Ast, "f($A, $A)", "g()", 1)];
        apply(&text, Some(Language::JavaScript), &edits, &unhurried).map(|applied| applied.text)
    };
    let result = std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
    assert_eq!(result.as_deref(), Ok("g()"));
}

#[test]
fn patterns_of_nested_lists_are_metered() {
    // Two to the power of the nesting, without the meter.
    let n = 28;
    let spec = format!("{}2{}", "[$$$, ".repeat(n), ", 1]".repeat(n));
    let text = format!("x = {}2{}", "[0, ".repeat(n), ", 1]".repeat(n));
    let edits = [replace(MatchMode::Ast, &spec, "y", 1)];
    check(&text, Some(Language::JavaScript), &edits, &EditError::OutOfTime);
}

#[test]
fn long_captured_lists_are_metered() {
    // The first list is copied for every element of the second, without the meter.
    let text = format!("x = [{}1, {}2]", "0, ".repeat(20_000), "0, ".repeat(20_000));
    let edits = [replace(MatchMode::Ast, "[$$$A, 1, $$$B, 2]", "y", 1)];
    check(&text, Some(Language::JavaScript), &edits, &EditError::OutOfTime);
}

/// Whatever the engine is doing when the time ends, the answer is a refusal.
#[test]
fn the_budget_may_end_anywhere() {
    let text = "def f(a):\n    return g(a, 1)\n\n".repeat(20);
    let edits = [
        replace(MatchMode::Exact, "def f", "def h", 20),
        replace(MatchMode::Regex, r"\ba\)", "b)", 20),
        replace(MatchMode::Ast, "$X + $Y", "2", 0),
    ];
    let mut n_allowed = 0;
    loop {
        let asked = Cell::new(0);
        let budget = || {
            asked.set(asked.get() + 1);
            asked.get() > n_allowed
        };
        match apply(&text, Some(Language::Python), &edits, &budget) {
            Err(error) => assert_eq!(error, EditError::OutOfTime),
            Ok(applied) => break assert_eq!(applied.n_matches, 40),
        }
        n_allowed += 1;
    }
    assert!(n_allowed > 50, "asked only {n_allowed} times");
}

#[test]
fn blanks_as_long_as_the_text_are_bounded() {
    let asked = Cell::new(0);
    let budget = || {
        asked.set(asked.get() + 1);
        asked.get() > 50
    };
    let text = format!("a{}\n", " ".repeat(100_000));
    let edits = [edit(Operation::AppendAfter, MatchMode::Exact, "  ", "x", 50_000)];
    assert_eq!(apply(&text, None, &edits, &budget), Err(EditError::OutOfTime));
}

#[test]
fn empty_texts_and_odd_ones() {
    let none = EditError::MatchCountDiffers { edit: 0, found: 0, expected: 1 };
    for text in ["", "\u{feff}", "\r", "\n", "\r\n", "\0"] {
        check(text, None, &[replace(MatchMode::Exact, "a", "b", 1)], &none);
        check(text, None, &[replace(MatchMode::Regex, "a", "b", 1)], &none);
    }
    for language in Language::ALL {
        let result = apply("", Some(language), &[replace(MatchMode::Ast, "\"a\"", "b", 0)], &unhurried);
        assert_eq!(result.map(|applied| applied.text), Ok(String::new()), "{language:?}");
    }
}

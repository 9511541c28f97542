//! The stoppable search against the library's own: whatever the steps, the same matches.

use std::ops::Range;

use proptest::prelude::*;

use super::{Pattern, PatternError};

fn regexes() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        Just("é".to_owned()),
        Just(".".to_owned()),
        Just(r"\n".to_owned()),
        Just(r"\b".to_owned()),
        Just("^".to_owned()),
        Just("$".to_owned()),
        Just("[a-é]".to_owned()),
        Just(r"\w".to_owned()),
        Just(r"\s".to_owned()),
        Just("".to_owned()),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
            inner.clone().prop_map(|a| format!("(?:{a})*")),
            inner.clone().prop_map(|a| format!("(?:{a})+?")),
            inner.prop_map(|a| format!("({a}){{1,3}}")),
        ]
    })
}

fn unhurried() -> bool {
    false
}

#[track_caller]
fn check(regex: &str, haystack: &str) {
    // Repeats of repeats of a Unicode class may be too large to compile; that is an answer too.
    let pattern = match Pattern::compile(regex) {
        Err(PatternError::TooComplex) => return,
        compiled => compiled.unwrap(),
    };
    let expected: Vec<Range<usize>> =
        pattern.regex().find_iter(haystack).map(|found| found.range()).collect();
    // With no work allowed to the library, every span goes to the automata, and every line is a span.
    for step_work in [0, 300, 1 << 20] {
        let mut matches = pattern.find_iter(haystack.as_bytes(), &unhurried);
        matches.step_work = step_work;
        let found: Vec<Range<usize>> = matches.map(Result::unwrap).collect();
        assert_eq!(found, expected, "{regex} in {haystack:?} by steps of {step_work}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn short_texts(regex in regexes(), haystack in "[abé \r\n_“]{0,24}") {
        check(&regex, &haystack);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn long_texts(regex in regexes(), line in "[abé _“]{0,24}", tail in "[ab\n]{0,6}") {
        check(&regex, &format!("{line}\n{line}{line}{tail}").repeat(60));
    }
}

//! What a command line is read as: a table that any language can read, the limits at their edges, and what holds for
//! every text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use vambrace_policy::command::{
    Chains, CommandPlan, CommandPolicy, CommandRefusal, CommandSettings, Join, Redirect, RedirectMode,
    Simple, Stream, Target, Word, WordPart,
};

use crate::command_line_generate::{Dice, soup};

pub(crate) const TABLE: &str = include_str!("../../../../testdata/command_lines.tsv");

pub(crate) fn read(line: &str) -> Result<CommandPlan, CommandRefusal> {
    CommandPolicy::new(CommandSettings::default()).read(line)
}

/// The table's lines, with the characters that a table cannot hold.
pub(crate) fn written(column: &str) -> String {
    column.replace('␉', "\t").replace('␊', "\n").replace('␍', "\r").replace('␀', "\0").replace('␛', "\u{1b}")
}

fn shown_word(word: &Word) -> String {
    let mut text = "‹".to_owned();
    for part in &word.parts {
        match part {
            WordPart::Literal(literal) => text.push_str(literal),
            WordPart::AnyText => text.push('⁎'),
            WordPart::AnyChar => text.push('⁇'),
            WordPart::OneOf(set) => write!(text, "⟦{set}⟧").unwrap(),
        }
    }
    text + "›"
}

fn shown_redirect(redirect: &Redirect) -> String {
    let stream = |stream| match stream {
        Stream::In => "in",
        Stream::Out => "out",
        Stream::Err => "err",
        Stream::Both => "both",
    };
    let mode = match redirect.mode {
        RedirectMode::Read => "<",
        RedirectMode::Truncate => ">",
        RedirectMode::Append => ">>",
    };
    let target = match &redirect.target {
        Target::Null => "null".to_owned(),
        Target::Stream(other) => stream(*other).to_owned(),
        Target::File(word) => shown_word(word),
    };
    format!("{}{mode}{target}", stream(redirect.stream))
}

fn shown(plan: &CommandPlan) -> String {
    let simple = |simple: &Simple| {
        let words = simple.words.iter().map(shown_word);
        words.chain(simple.redirects.iter().map(shown_redirect)).collect::<Vec<_>>().join(" ")
    };
    let mut text = String::new();
    for step in &plan.steps {
        text.push_str(match step.join {
            Join::First => "",
            Join::Then => " ; ",
            Join::IfOk => " && ",
            Join::IfFailed => " || ",
        });
        text.push_str(&step.pipeline.iter().map(simple).collect::<Vec<_>>().join(" | "));
    }
    text
}

fn answer(result: &Result<CommandPlan, CommandRefusal>) -> String {
    match result {
        Ok(plan) => shown(plan),
        Err(CommandRefusal::Syntax { token, .. }) => format!("refused {token}"),
        Err(CommandRefusal::Pattern { pattern }) => format!("pattern {pattern}"),
        Err(CommandRefusal::Empty) => "empty".to_owned(),
        Err(other) => panic!("not a matter of grammar: {other:?}"),
    }
}

#[test]
fn every_line_is_read_as_the_table_says() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for (number, row) in TABLE.lines().enumerate().filter(|(_, row)| !row.starts_with('#')) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [line, expected, _note] = columns.as_slice() else { panic!("line {}: {row:?}", number + 1) };
        assert!(seen.insert(*line), "line {} says it again", number + 1);
        let got = answer(&read(&written(line))).replace('\t', "␉");
        if got != *expected {
            wrong.push(format!("line {}: {line}\n  expected {expected}\n  got      {got}", number + 1));
        }
    }
    println!("{} lines", seen.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() >= 150);
}

#[test]
fn without_chains_the_operator_is_named() {
    let policy = CommandPolicy::new(CommandSettings { chains: Chains::Refuse, ..CommandSettings::default() });
    #[track_caller]
    fn check(policy: &CommandPolicy, line: &str, expected: &str) {
        assert_eq!(answer(&policy.read(line)), expected, "{line}");
    }
    check(&policy, "a && b", "pattern &&");
    check(&policy, "a||b", "pattern ||");
    check(&policy, "a;b", "pattern ;");
    check(&policy, "a;", "pattern ;");
    check(&policy, "a 'x && y' \"b;\" \\;", "‹a› ‹x && y› ‹b;› ‹;›");
    check(&policy, "a | b 2>&1", "‹a› | ‹b› err>out");
}

#[test]
fn each_limit_holds_at_its_edge() {
    #[track_caller]
    fn check(what: &str, limit: usize, line: impl Fn(usize) -> String) {
        assert!(read(&line(limit)).is_ok(), "{limit} {what}: {:?}", read(&line(limit)));
        let refusal = read(&line(limit + 1)).unwrap_err();
        let CommandRefusal::TooLong { what: named, limit: told } = refusal else {
            panic!("{what}: {refusal:?}")
        };
        assert_eq!((named, told), (what, limit));
    }
    check("bytes", 16 * 1024, |n| format!("p {}", "a".repeat(n - 2)));
    check("words", 4096, |n| vec!["p"; n].join(" "));
    check("programs in one pipeline", 64, |n| vec!["p"; n].join("|"));
    check("commands in one chain", 64, |n| vec!["p"; n].join(";"));
    check("redirects of one program", 16, |n| format!("p{}", " >f".repeat(n)));
    check("braces in one word", 16, |n| format!("p {}", "{}".repeat(n)));
}

/// Says it in single quotes, so that nothing but quotes is left to read.
fn quoted(plan: &CommandPlan) -> Option<String> {
    let [step] = plan.steps.as_slice() else { return None };
    let [simple] = step.pipeline.as_slice() else { return None };
    let words = simple.words.iter().map(|word| word.as_literal().map(|text| text.replace('\'', "'\\''")));
    Some(words.collect::<Option<Vec<_>>>()?.iter().map(|text| format!("'{text}' ")).collect())
}

fn vectors(plan: &CommandPlan) -> Vec<Vec<String>> {
    plan.simples().map(|simple| simple.words.iter().map(Word::spelled).collect()).collect()
}

/// What is true of any plan, whatever it was read from.
fn hold_together(line: &str) {
    let Ok(plan) = read(line) else { return };
    assert!(!plan.steps.is_empty(), "{line:?}");
    for (place, step) in plan.steps.iter().enumerate() {
        assert_eq!(step.join == Join::First, place == 0, "{line:?}");
        assert!(!step.pipeline.is_empty(), "{line:?}");
    }
    for simple in plan.simples() {
        assert!(simple.words.first().is_some_and(|word| word.as_literal().is_some()), "{line:?}");
        let mut end = 0;
        for word in &simple.words {
            assert!(word.place.start >= end && line.get(word.place.clone()).is_some(), "{line:?}");
            end = word.place.end;
            for pair in word.parts.windows(2) {
                let both = matches!(pair, [WordPart::Literal(_), WordPart::Literal(_)]);
                assert!(!both, "{line:?}: two literals beside each other");
            }
            assert!(!word.parts.contains(&WordPart::Literal(String::new())), "{line:?}");
        }
    }
    if let Some(again) = quoted(&plan) {
        assert_eq!(vectors(&read(&again).unwrap()), vectors(&plan), "{line:?} and {again:?}");
    }
}

#[test]
fn any_mixture_of_shell_pieces_holds_together() {
    let mut dice = Dice::new(20_251);
    for _ in 0..20_000 {
        hold_together(&soup(&mut dice));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        hold_together(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text_is_read_without_panic(line in any::<String>()) {
        hold_together(&line);
    }

    #[test]
    fn any_printable_text_is_read_without_panic(line in "[ -~\t]{0,60}") {
        hold_together(&line);
    }
}

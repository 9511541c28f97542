//! How many tests passed, failed and were skipped, and which failed, read from what the runner wrote. Where the form is not
//! known there is no summary: a guess would pass for a result.

mod failure;
mod form;

use vambrace_types::Tree;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

/// The runner's way of writing.
pub(super) struct Form {
    /// Under which the operator knows it.
    name: &'static str,
    counts: fn(&str) -> Option<Summary>,
    failures: fn(&str) -> Vec<String>,
}

/// The most particular come first.
const FORMS: [Form; 10] = [
    Form { name: "cargo", counts: form::libtest, failures: failure::libtest },
    Form { name: "nextest", counts: form::nextest, failures: failure::nextest },
    Form { name: "jest", counts: form::jest, failures: failure::jest },
    Form { name: "vitest", counts: form::vitest, failures: failure::vitest },
    Form { name: "node", counts: form::node, failures: failure::node },
    Form { name: "maven", counts: form::maven, failures: failure::maven },
    Form { name: "unittest", counts: form::unittest, failures: failure::unittest },
    Form { name: "mocha", counts: form::mocha, failures: failure::mocha },
    Form { name: "go", counts: form::go, failures: failure::go },
    Form { name: "pytest", counts: form::pytest, failures: failure::pytest },
];

/// LIMIT: of failed tests so many are named, each with so many letters; the output has them all.
const MOST_FAILURES: usize = 50;
const LONGEST_FAILURE: usize = 300;

impl Summary {
    /// By the named form, or by the first that understands it. Runners divide what belongs together between their two
    /// outputs.
    pub(super) fn read(parser: Option<&str>, text: &str) -> Option<(Summary, &'static Form)> {
        let mut forms = FORMS.iter().filter(|form| parser.is_none_or(|wanted| wanted == form.name));
        forms.find_map(|form| Some(((form.counts)(text)?, form)))
    }

    pub(super) fn into_tree(self) -> Tree {
        Tree::map([
            ("passed", Tree::bytes(self.passed)),
            ("failed", Tree::bytes(self.failed)),
            ("skipped", Tree::bytes(self.skipped)),
        ])
    }

    fn add(&mut self, other: Summary) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
    }
}

impl Form {
    /// The names, each once, and how many more there are.
    pub(super) fn failures(&self, text: &str) -> (Vec<String>, usize) {
        let mut names: Vec<String> = Vec::new();
        let mut n_more = 0;
        let mut seen = std::collections::BTreeSet::new();
        for name in (self.failures)(text).into_iter().filter(|name| seen.insert(name.clone())) {
            if names.len() < MOST_FAILURES {
                names.push(name.chars().take(LONGEST_FAILURE).collect());
            } else {
                n_more += 1;
            }
        }
        (names, n_more)
    }
}

/// Without the colors and movements that a runner writes for a terminal.
pub(super) fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.push(letter);
            continue;
        }
        if letters.as_str().starts_with('[') {
            letters.next();
            // Parameters, up to the letter that says what is meant.
            letters.by_ref().find(|letter| ('@'..='~').contains(letter));
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the rows are files of the repository")]

    use super::*;

    /// The first line of a file says what the rest of it means: form, passed, failed, skipped. Lines that begin with `!`
    /// follow it and name the tests that failed.
    #[test]
    fn outputs_of_runners_are_understood() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/summaries");
        let mut forms = std::collections::BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let (head, mut output) = text.split_once('\n').unwrap();
            let mut failures = Vec::new();
            while let Some((name, rest)) = output.strip_prefix("! ").and_then(|rest| rest.split_once('\n')) {
                failures.push(name);
                output = rest;
            }
            let words: Vec<&str> = head.split_whitespace().collect();
            let [form, passed, failed, skipped] = words.as_slice() else { panic!("{path:?}: {head}") };
            let number = |text: &str| text.parse::<u64>().unwrap();
            let (passed, failed, skipped) = (number(passed), number(failed), number(skipped));
            let expected = (*form != "none").then_some((Summary { passed, failed, skipped }, *form));
            let read = |parser| Summary::read(parser, output).map(|(summary, form)| (summary, form.name));
            assert_eq!(read(None), expected, "{path:?}");
            if let Some((_, form)) = expected {
                assert_eq!(read(Some(form)), expected, "{path:?} as {form}");
                let (_, known) = Summary::read(Some(form), output).unwrap();
                assert_eq!(
                    known.failures(output),
                    (failures.iter().map(|&n| n.to_owned()).collect(), 0),
                    "{path:?}"
                );
                forms.insert(form.to_owned());
            }
        }
        let known: std::collections::BTreeSet<_> = FORMS.iter().map(|form| form.name.to_owned()).collect();
        assert_eq!(forms, known);
    }

    #[test]
    fn failures_are_named_once_and_not_without_end() {
        let form = FORMS.iter().find(|form| form.name == "cargo").unwrap();
        let line = |n: usize| format!("test t{n} ... FAILED\n");
        let few = line(1).repeat(3);
        assert_eq!(form.failures(&few), (vec!["t1".to_owned()], 0));
        let many: String = (0..MOST_FAILURES + 2).map(line).collect();
        let (names, n_more) = form.failures(&many);
        assert_eq!((names.len(), n_more), (MOST_FAILURES, 2));
        let long = format!("test {} ... FAILED\n", "x".repeat(LONGEST_FAILURE + 1));
        assert_eq!(form.failures(&long).0[0].len(), LONGEST_FAILURE);
    }

    #[test]
    fn escapes_go() {
        assert_eq!(without_escapes("\u{1b}[32m✓\u{1b}[0m a\u{1b}[2K"), "✓ a");
        assert_eq!(without_escapes("plain [31m"), "plain [31m");
        assert_eq!(without_escapes("\u{1b}"), "");
    }
}

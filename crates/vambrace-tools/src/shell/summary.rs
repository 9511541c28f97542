//! How many tests passed, failed and were skipped, read from what the runner wrote. Where the form is not known there is
//! no summary: a guess would pass for a result.

mod form;

use vambrace_types::Tree;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

type Read = fn(&str) -> Option<Summary>;

/// The name under which the operator knows a form, and its reader. The most particular come first.
const FORMS: [(&str, Read); 10] = [
    ("cargo", form::libtest),
    ("nextest", form::nextest),
    ("jest", form::jest),
    ("vitest", form::vitest),
    ("node", form::node),
    ("maven", form::maven),
    ("unittest", form::unittest),
    ("mocha", form::mocha),
    ("go", form::go),
    ("pytest", form::pytest),
];

impl Summary {
    /// By the named form, or by the first that understands it.
    pub(super) fn read(parser: Option<&str>, stdout: &str, stderr: &str) -> Option<Summary> {
        let forms = || FORMS.iter().filter(|(name, _)| parser.is_none_or(|wanted| wanted == *name));
        [stdout, stderr].into_iter().find_map(|text| forms().find_map(|(_, read)| read(text)))
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

    /// The first line of a file says what the rest of it means: form, passed, failed, skipped.
    #[test]
    fn outputs_of_runners_are_understood() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/summaries");
        let mut forms = std::collections::BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let (head, output) = text.split_once('\n').unwrap();
            let words: Vec<&str> = head.split_whitespace().collect();
            let [form, passed, failed, skipped] = words.as_slice() else { panic!("{path:?}: {head}") };
            let number = |text: &str| text.parse::<u64>().unwrap();
            let expected = (*form != "none").then(|| Summary {
                passed: number(passed),
                failed: number(failed),
                skipped: number(skipped),
            });
            assert_eq!(Summary::read(None, output, ""), expected, "{path:?}");
            assert_eq!(Summary::read(None, "", output), expected, "{path:?}");
            if expected.is_some() {
                assert_eq!(Summary::read(Some(form), output, ""), expected, "{path:?} as {form}");
                forms.insert((*form).to_owned());
            }
        }
        let known: std::collections::BTreeSet<_> = FORMS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(forms, known);
    }

    #[test]
    fn escapes_go() {
        assert_eq!(without_escapes("\u{1b}[32m✓\u{1b}[0m a\u{1b}[2K"), "✓ a");
        assert_eq!(without_escapes("plain [31m"), "plain [31m");
        assert_eq!(without_escapes("\u{1b}"), "");
    }
}

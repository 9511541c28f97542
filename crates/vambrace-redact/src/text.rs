//! Text and trees that went through the redactor. Only this crate can make them.

use vambrace_types::Tree;

/// Clean text. There is no way to make one from a `String` but through a `Redactor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText(String);

impl RedactedText {
    /// Our own words, which are part of the program and therefore no secret.
    pub fn fixed(text: &'static str) -> RedactedText {
        RedactedText(text.to_owned())
    }

    /// INVARIANT: called only with text that the engine wrote or found clean, and with what truncation made of such.
    pub(crate) fn clean(text: String) -> RedactedText {
        RedactedText(text)
    }

    /// At most about `limit` bytes of it; a cut is announced.
    pub fn shortened(self, limit: usize) -> RedactedText {
        if self.0.len() <= limit {
            return self;
        }
        let end = (0..=limit).rev().find(|place| self.0.is_char_boundary(*place)).unwrap_or(0);
        let (kept, rest) = self.0.split_at(end);
        RedactedText(format!("{kept}… [{} bytes cut]", rest.len()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A tree whose every text leaf and map key is clean.
#[derive(Debug, Clone, PartialEq)]
pub struct RedactedTree(Tree);

impl RedactedTree {
    pub fn null() -> RedactedTree {
        RedactedTree(Tree::Null)
    }

    /// Put together from clean ones. The keys are words of the program; no leaf is judged by its key.
    pub fn map(entries: impl IntoIterator<Item = (&'static str, RedactedTree)>) -> RedactedTree {
        RedactedTree(Tree::map(entries.into_iter().map(|(key, value)| (key, value.0))))
    }

    /// INVARIANT: as for `RedactedText::clean`.
    pub(crate) fn clean(tree: Tree) -> RedactedTree {
        RedactedTree(tree)
    }

    pub fn as_tree(&self) -> &Tree {
        &self.0
    }

    pub fn into_tree(self) -> Tree {
        self.0
    }
}

impl From<RedactedText> for RedactedTree {
    fn from(text: RedactedText) -> RedactedTree {
        RedactedTree(Tree::Text(text.0))
    }
}

/// What came out, and how much was taken away.
#[derive(Debug, Clone, PartialEq)]
pub struct Redaction<T> {
    pub value: T,
    pub n_redactions: usize,
    pub n_controls_dropped: usize,
}

//! Texts and trees with their secrets replaced.

use std::borrow::Cow;

use vambrace_types::{RawOutput, Tree, clean_controls};

use crate::assignment;
use crate::engine::Span;
use crate::known::SHORTEST;
use crate::redactor::Redactor;
use crate::rules::assignment as assignment_rule;
use crate::runs::Entropy;
use crate::stream::Stream;
use crate::text::{RedactedText, RedactedTree, Redaction};

impl Redactor {
    /// Control characters are dropped first, then secrets are replaced: the other way round, a NUL in the middle
    /// of a token would hide it from the rules and then vanish, which puts the token together again.
    pub fn text(&self, raw: &str) -> Redaction<RedactedText> {
        let (cleaned, n_controls_dropped) = clean_controls(raw);
        let (redacted, n_redactions) = self.redact(&cleaned, self.finder().entropy);
        let value = RedactedText::clean(redacted.unwrap_or_else(|| cleaned.into_owned()));
        Redaction { value, n_redactions, n_controls_dropped }
    }

    /// A name that was made up so that something is found again, a request's for instance. Such names are random text, so
    /// only known values and the forms of secrets count.
    pub fn name(&self, raw: &str) -> RedactedText {
        let (cleaned, _) = clean_controls(raw);
        let (redacted, _) = self.redact(&cleaned, Entropy::Off);
        RedactedText::clean(redacted.unwrap_or_else(|| cleaned.into_owned()))
    }

    /// As `text`, but clean text is handed through without a copy.
    pub fn text_owned(&self, raw: String) -> Redaction<RedactedText> {
        let (cleaned, n_controls_dropped) = match clean_controls(&raw) {
            (Cow::Borrowed(_), n_dropped) => (raw, n_dropped),
            (Cow::Owned(cleaned), n_dropped) => (cleaned, n_dropped),
        };
        let (redacted, n_redactions) = self.redact(&cleaned, self.finder().entropy);
        let value = RedactedText::clean(redacted.unwrap_or(cleaned));
        Redaction { value, n_redactions, n_controls_dropped }
    }

    pub fn tree(&self, raw: RawOutput) -> Redaction<RedactedTree> {
        self.plain_tree(raw.into_unredacted_tree())
    }

    /// For trees that no door made, such as arguments on their way to the record.
    ///
    /// Leaf by leaf, keys too. A leaf is also judged by its key, because `{"password": "…"}` is as telling as the
    /// same words in a line. LIMIT: a secret that is spread over several leaves is not seen.
    pub fn plain_tree(&self, mut raw: Tree) -> Redaction<RedactedTree> {
        let mut counts = Redaction { value: (), n_redactions: 0, n_controls_dropped: 0 };
        self.clean_tree(&mut raw, &mut counts);
        let Redaction { value: (), n_redactions, n_controls_dropped } = counts;
        Redaction { value: RedactedTree::clean(raw), n_redactions, n_controls_dropped }
    }

    fn clean_tree(&self, tree: &mut Tree, counts: &mut Redaction<()>) {
        match tree {
            Tree::Null | Tree::Bool(_) => {}
            // Too short for a known value, and only the operator's own patterns know others without a letter.
            Tree::Int(number) if is_short(*number) && self.finder().custom.is_empty() => {}
            // A secret may be a number, and then it may be sent as one.
            Tree::Int(_) | Tree::Float(_) => {
                let done = self.text_owned(tree.to_json());
                if done.n_redactions > 0 {
                    counts.n_redactions += done.n_redactions;
                    *tree = Tree::Text(done.value.into_string());
                }
            }
            Tree::Text(text) => self.clean_leaf(text, counts),
            Tree::List(items) => items.iter_mut().for_each(|item| self.clean_tree(item, counts)),
            Tree::Map(entries) => {
                for (key, value) in entries {
                    // Keys that are part of the program need no look.
                    if let Cow::Owned(key) = key {
                        self.clean_leaf(key, counts);
                    }
                    self.clean_tree(value, counts);
                    if let Tree::Text(leaf) = value {
                        self.judge_by_key(key, leaf, counts);
                    }
                }
            }
        }
    }

    fn judge_by_key(&self, key: &str, leaf: &mut String, counts: &mut Redaction<()>) {
        if !assignment::is_secret_leaf(key, leaf) {
            return;
        }
        let Some((rule, row)) = assignment_rule() else { return };
        if self.finder().accepts(rule, leaf.as_bytes()) {
            return;
        }
        let span = Span::new(0..leaf.len(), rule, row.rank);
        let mut marker = Vec::new();
        self.write_placeholder(span, Some(leaf.as_bytes()), &mut marker);
        *leaf = String::from_utf8_lossy(&marker).into_owned();
        counts.n_redactions += 1;
    }

    fn clean_leaf(&self, leaf: &mut String, counts: &mut Redaction<()>) {
        let done = self.text_owned(std::mem::take(leaf));
        *leaf = done.value.into_string();
        counts.n_redactions += done.n_redactions;
        counts.n_controls_dropped += done.n_controls_dropped;
    }

    /// A filter for bytes that arrive in pieces. Control characters and invalid UTF-8 pass through.
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self)
    }

    /// `None` when there was nothing to replace.
    fn redact(&self, text: &str, entropy: Entropy) -> (Option<String>, usize) {
        let bytes = text.as_bytes();
        let mut out: Vec<u8> = Vec::new();
        let (mut written, mut n_redactions) = (0, 0);
        self.finder().each_span(bytes, entropy, &mut |span, value| {
            out.extend_from_slice(bytes.get(written..span.start).unwrap_or_default());
            self.write_placeholder(span, value, &mut out);
            written = span.end;
            n_redactions += 1;
        });
        if n_redactions == 0 {
            return (None, 0);
        }
        out.extend_from_slice(bytes.get(written..).unwrap_or_default());
        // Spans hold whole characters, so the text is valid; should that ever fail, lossy text shows no more.
        let text = String::from_utf8(out)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        (Some(text), n_redactions)
    }
}

/// Whether a number has fewer digits, its sign counted, than the shortest value that is known.
fn is_short(number: i64) -> bool {
    const LIMIT: u64 = 10u64.pow(SHORTEST as u32 - 2);
    number.unsigned_abs() < LIMIT
}

//! What was found in a text, and where.

use crate::cleaned::{find_beneath, joined};
use crate::engine::{LONGEST_VALUE, Span};
use crate::marks::Marker;
use crate::placeholder::RuleName;
use crate::redactor::Redactor;
use crate::rule::Rank;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// A value that we were told is secret.
    Known,
    /// Something that has the form of a secret.
    Pattern,
    /// Nothing but randomness, in a place where secrets stand.
    Entropy,
}

/// A secret in a text, at byte offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: RuleName,
    pub kind: FindingKind,
    pub start: usize,
    pub end: usize,
    /// Counted from one.
    pub line: usize,
    why: String,
    marker: Marker,
}

impl Finding {
    /// What makes it a secret: a noun, for `… is WHY`.
    pub fn why(&self) -> String {
        self.why.clone()
    }

    /// What stands in its place. With numbers, it has one from now on.
    pub fn marker(&self) -> String {
        self.marker.text(&self.rule)
    }
}

impl Redactor {
    /// What would be redacted, in order and without overlaps, at the input's own offsets. A secret that shows only when
    /// control characters are dropped, as they are from everything that is shown, is found too.
    pub fn scan(&self, bytes: &[u8]) -> Vec<Finding> {
        let mut spans = Vec::new();
        self.finder().each_span(bytes, self.finder().entropy, &mut |span, _| spans.push(span));
        let beneath = find_beneath(self.finder(), bytes, &spans);
        if !beneath.is_empty() {
            spans.extend(beneath);
            spans = joined(spans);
        }
        let (mut line, mut counted) = (1, 0);
        let mut findings = Vec::new();
        for span in spans {
            let Span { start, end, rule, rank, .. } = span;
            let passed = bytes.get(counted..start).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', passed).count();
            counted = start;
            let kind = match rank {
                // THREAT: P02, whoever may make such a file must not decide what nobody can write any more.
                Rank::Known if self.finder().is_doubtful(rule) => FindingKind::Pattern,
                Rank::Known => FindingKind::Known,
                Rank::Specific | Rank::Generic => FindingKind::Pattern,
                Rank::Entropy => FindingKind::Entropy,
            };
            let value = bytes.get(start..end).filter(|value| value.len() <= LONGEST_VALUE);
            let marker = self.marker(span, value);
            findings.extend(self.finder().name(rule).map(|name| Finding {
                rule: name.clone(),
                kind,
                start,
                end,
                line,
                why: self.finder().why(rule),
                marker,
            }));
        }
        findings
    }
}

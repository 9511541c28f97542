//! Redaction of bytes that arrive in pieces: constant memory, and the same result however they are cut.

use std::collections::BTreeMap;

use crate::custom::Whole;
use crate::engine::{Engine, View};
use crate::placeholder::RuleName;
use crate::redactor::Redactor;

/// Larger chunks are taken in slices, so that memory does not depend on the writer.
const SLICE: usize = 64 * 1024;

pub struct Stream<'r> {
    redactor: &'r Redactor,
    engine: Engine<'r>,
    /// What has arrived and may still be looked at; its first byte is at `base`.
    buffer: Vec<u8>,
    base: usize,
    /// Everything before this offset has been written, or replaced.
    written: usize,
    stats: StreamStats,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamStats {
    pub n_redactions: usize,
    pub by_rule: BTreeMap<RuleName, usize>,
}

impl StreamStats {
    /// Those of another stream too.
    pub fn add(&mut self, other: StreamStats) {
        self.n_redactions += other.n_redactions;
        for (rule, count) in other.by_rule {
            *self.by_rule.entry(rule).or_default() += count;
        }
    }
}

impl<'r> Stream<'r> {
    pub(crate) fn new(redactor: &'r Redactor) -> Stream<'r> {
        let engine = Engine::new(redactor.finder());
        Stream { redactor, engine, buffer: Vec::new(), base: 0, written: 0, stats: StreamStats::default() }
    }

    /// Takes a chunk and appends to `out` what is safe to show by now. Held back is only what a secret may still
    /// begin or continue in: usually a few bytes, at most some kilobytes.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        for slice in chunk.chunks(SLICE) {
            self.forget();
            self.buffer.extend_from_slice(slice);
            self.advance(Whole::MoreMayCome, out);
        }
    }

    /// What was replaced so far.
    pub fn stats(&self) -> &StreamStats {
        &self.stats
    }

    /// Writes the rest.
    pub fn finish(mut self, out: &mut Vec<u8>) -> StreamStats {
        self.advance(Whole::Yes, out);
        self.stats
    }

    fn advance(&mut self, whole: Whole, out: &mut Vec<u8>) {
        let Stream { redactor, engine, buffer, base, written, stats } = self;
        let text = |from: usize, to: usize| {
            buffer.get(from.max(*base) - *base..to.max(*base) - *base).unwrap_or_default()
        };
        let safe = engine.advance(View { hay: buffer, base: *base, whole }, &mut |span, value| {
            out.extend_from_slice(text(*written, span.start));
            redactor.write_placeholder(span, value, out);
            *written = span.end;
            stats.n_redactions += 1;
            if let Some(name) = redactor.finder().name(span.rule) {
                *stats.by_rule.entry(name.clone()).or_default() += 1;
            }
        });
        out.extend_from_slice(text(*written, safe));
        *written = safe.max(*written);
    }

    /// Drops what nobody will look at again, rarely enough that the copying does not count.
    fn forget(&mut self) {
        let n_old = self.engine.needed_from().saturating_sub(self.base);
        if n_old >= SLICE / 2 {
            self.buffer.drain(..n_old.min(self.buffer.len()));
            self.base += n_old;
        }
    }
}

//! Regular expressions for searching, counting and editing: linear time, bounded size, and a search that can be
//! stopped. Look-around and back-references need a backtracking engine, so they are refused, not emulated.

mod compile;
mod search;
#[cfg(test)]
mod tests;

use std::ops::Range;

use regex_automata::hybrid::dfa::DFA;
use regex_automata::meta;

use crate::{Budget, OutOfTime, limits};
pub use search::Matches;

/// A compiled regular expression. `^` and `$` match at line edges, for LF and CRLF alike; `.` does not match a line
/// ending; classes are Unicode.
#[derive(Debug)]
pub struct Pattern {
    meta: meta::Regex,
    forward: DFA,
    reverse: DFA,
    n_states: usize,
    reach: Reach,
    /// It holds `^`, `$`, `\b` or the like, which look at what stands beside a match.
    looks_around: bool,
}

/// How far a match can stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    OneLine,
    ManyLines,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("it is {len} bytes long, and {} are allowed", limits::PATTERN_BYTES)]
    TooLong { len: usize },
    #[error(
        "look-ahead and look-behind are not supported, because the engine runs in linear time (column {column})"
    )]
    LookAround { column: usize },
    #[error("back-references are not supported, because the engine runs in linear time (column {column})")]
    BackReference { column: usize },
    #[error("{what} (column {column})")]
    Syntax { what: String, column: usize },
    #[error("it is too complex once compiled")]
    TooComplex,
    #[error("it does not parse as {language}")]
    Code { language: &'static str },
    #[error("it has to be exactly one piece of syntax, such as one expression or one statement")]
    NotOneNode,
}

impl Pattern {
    pub fn compile(regex: &str) -> Result<Pattern, PatternError> {
        compile::compile(regex)
    }

    /// All matches from left to right, empty ones included, as byte ranges. After the budget ran out comes one
    /// error and then nothing.
    pub fn find_iter<'a>(&'a self, haystack: &'a [u8], budget: &'a dyn Budget) -> Matches<'a> {
        Matches::new(self, haystack, budget)
    }

    /// The matches in what is not hidden (ascending spans that do not overlap). A hidden span is a wall: nothing matches
    /// across it or looks into it, so neither the matches nor their number say anything about what is behind. Every
    /// match given here means that the pattern matches in the whole text too.
    pub fn each_visible<E: From<OutOfTime>>(
        &self,
        haystack: &[u8],
        hidden: &[Range<usize>],
        budget: &dyn Budget,
        visit: &mut dyn FnMut(Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        for stretch in visible(haystack.len(), hidden) {
            let text = haystack.get(stretch.clone()).unwrap_or_default();
            for found in self.find_iter(text, budget) {
                let found = found?;
                // At a wall, `^` or `\b` would be judged by the wall and not by the text that is there.
                let at_wall = (found.start == 0 && stretch.start > 0)
                    || (found.end == text.len() && stretch.end < haystack.len());
                if !(at_wall && self.looks_around) {
                    visit(stretch.start + found.start..stretch.start + found.end)?;
                }
            }
        }
        Ok(())
    }

    pub fn count(&self, haystack: &[u8], budget: &dyn Budget) -> Result<usize, OutOfTime> {
        self.find_iter(haystack, budget).try_fold(0, |n_found, found| found.map(|_| n_found + 1))
    }

    /// The engine itself, for callers that search line by line and watch the clock between lines.
    pub fn regex(&self) -> &meta::Regex {
        &self.meta
    }
}

/// What is left between the hidden spans.
pub(crate) fn visible(length: usize, hidden: &[Range<usize>]) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(hidden.iter().map(|span| span.end));
    let ends = hidden.iter().map(|span| span.start).chain(std::iter::once(length));
    starts.zip(ends).map(|(start, end)| start..end).filter(|stretch| stretch.start < stretch.end)
}

//! Regular expressions for searching, counting and editing: linear time, bounded size, and a search that can be
//! stopped. Look-around and back-references need a backtracking engine, so they are refused, not emulated.

mod compile;
mod search;
#[cfg(test)]
mod tests;

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

    pub fn count(&self, haystack: &[u8], budget: &dyn Budget) -> Result<usize, OutOfTime> {
        self.find_iter(haystack, budget).try_fold(0, |n_found, found| found.map(|_| n_found + 1))
    }

    /// The engine itself, for callers that search line by line and watch the clock between lines.
    pub fn regex(&self) -> &meta::Regex {
        &self.meta
    }
}

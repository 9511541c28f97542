//! The operator's own patterns. They have no keyword and may be of any shape, so each costs a pass of its own.

use std::ops::Range;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// LIMIT: a match of an operator's pattern is at most this long; of a longer one, only what fits is taken. A stream may
/// pass on such a longer one whose end has not arrived.
pub(crate) const LONGEST: usize = 1024;
/// So that `\b` and `^` see what stands around a match. UTF-8 needs four bytes.
const CONTEXT: usize = 8;
const LONGEST_PATTERN: usize = 4096;
const SIZE: usize = 1 << 20;
/// A stream is searched in steps of this many bytes, so that a stream of tiny chunks is not searched a byte at a
/// time. It is also how much of a stream an operator's patterns hold back.
const STEP: usize = 4096;

/// Why a redactor could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedactorError {
    /// The pattern does not compile, or only to something too large.
    BadPattern {
        pattern: String,
        reason: String,
    },
    PatternTooLong {
        pattern: String,
    },
    /// It would redact between every two characters.
    MatchesNothing {
        pattern: String,
    },
}

impl std::fmt::Display for RedactorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RedactorError::BadPattern { pattern, reason } => {
                write!(f, "redaction pattern `{pattern}` does not compile: {reason}")
            }
            RedactorError::PatternTooLong { pattern } => {
                let start: String = pattern.chars().take(40).collect();
                write!(f, "redaction pattern `{start}…` is longer than {LONGEST_PATTERN} bytes")
            }
            RedactorError::MatchesNothing { pattern } => {
                write!(f, "redaction pattern `{pattern}` also matches the empty text")
            }
        }
    }
}

impl std::error::Error for RedactorError {}

pub(crate) fn compile(pattern: &str) -> Result<Regex, RedactorError> {
    let pattern_text = || pattern.to_owned();
    if pattern.len() > LONGEST_PATTERN {
        return Err(RedactorError::PatternTooLong { pattern: pattern_text() });
    }
    let config = Regex::config().nfa_size_limit(Some(SIZE)).hybrid_cache_capacity(2 * SIZE).utf8_empty(false);
    let syntax = syntax::Config::new().utf8(false).nest_limit(64);
    let regex = Regex::builder().configure(config).syntax(syntax).build(pattern).map_err(|error| {
        let reason = match (error.syntax_error(), error.size_limit()) {
            (Some(_), _) => "it is not a regular expression that runs in linear time".to_owned(),
            (None, Some(limit)) => format!("it needs more than {limit} bytes"),
            (None, None) => error.to_string(),
        };
        RedactorError::BadPattern { pattern: pattern_text(), reason }
    })?;
    if regex.is_match("") {
        return Err(RedactorError::MatchesNothing { pattern: pattern_text() });
    }
    Ok(regex)
}

/// Finds what can be decided from `from` on and returns the place up to which everything is decided.
///
/// The result depends on the text alone, not on how much of it is here: a beginning is decided only when the
/// longest match that it may have is in sight, and then within exactly that length.
pub(crate) fn search(
    regex: &Regex,
    hay: &[u8],
    from: usize,
    whole: Whole,
    found: &mut dyn FnMut(Range<usize>),
) -> usize {
    let decidable = match whole {
        Whole::Yes => hay.len(),
        Whole::MoreMayCome => hay.len().saturating_sub(LONGEST + CONTEXT),
    };
    if matches!(whole, Whole::MoreMayCome) && decidable < from + STEP {
        return from;
    }
    let mut at = from;
    while at < decidable {
        let Some(first) = regex.find(Input::new(hay).range(at..)) else { break };
        let start = first.start();
        if start >= decidable {
            break;
        }
        let window = start..hay.len().min(start + LONGEST);
        match regex.find(Input::new(hay).range(window.clone()).anchored(Anchored::Yes)) {
            Some(exact) if !exact.is_empty() => {
                found(exact.range());
                at = exact.end();
            }
            // It reaches further than we look. Trying every later beginning too would take the square of the text.
            Some(_) | None => {
                found(window.clone());
                at = window.end;
            }
        }
    }
    at.max(decidable).max(from)
}

/// Is this the end of the text?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    Yes,
    MoreMayCome,
}

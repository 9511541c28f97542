//! What operators watch while it runs: one line of words and fields, already clean. It is no record; the record is
//! `vambrace-audit`.

use vambrace_redact::{RedactedText, RedactedTree};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

impl Level {
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    pub level: Level,
    /// What operators search for; the words of specification 001 stand here as they are.
    pub message: RedactedText,
    pub fields: Vec<(&'static str, RedactedTree)>,
}

/// Where lines go. Must not wait.
pub trait Log: Send + Sync {
    fn line(&self, line: &LogLine);

    /// Whether lines of this level go anywhere, for those that cost something to make.
    fn wants(&self, _level: Level) -> bool {
        true
    }
}

/// For doors on whose standard error nobody expects a log.
#[derive(Debug, Clone, Copy)]
pub struct NoLog;

impl Log for NoLog {
    fn line(&self, _line: &LogLine) {}

    fn wants(&self, _level: Level) -> bool {
        false
    }
}

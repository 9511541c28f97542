//! Why a task stopped, and what the reader does next. There is no failure without the second half.

use std::fmt;

#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    fix: String,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>, fix: impl Into<String>) -> Failure {
        Failure { what: what.into(), fix: fix.into() }
    }

    /// The same failure, seen from the step in which it happened.
    pub(crate) fn during(self, step: &str) -> Failure {
        Failure { what: format!("{step}: {}", self.what), fix: self.fix }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nWhat to do: {}", self.what, self.fix)
    }
}

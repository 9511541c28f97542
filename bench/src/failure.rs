//! Why a benchmark stopped, and what the reader does next.

use std::fmt;
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    fix: String,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>, fix: impl Into<String>) -> Failure {
        Failure { what: what.into(), fix: fix.into() }
    }

    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// A contender did not do what it was asked, so its times would mean nothing.
    pub(crate) fn wrong(who: &str, what: &str, seen: &str) -> Failure {
        let seen: String = seen.chars().take(400).collect();
        Failure::new(
            format!("{who}: {what}: {seen}"),
            "Run it by hand; target/bench-data holds what it wrote to standard error.",
        )
    }

    /// For `map_err` on anything that touches `path`.
    pub(crate) fn disk(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
        let path = path.display().to_string();
        move |problem| {
            Failure::new(format!("{path}: {problem}"), "Check the folder's permissions and free space.")
        }
    }

    pub(crate) fn start(program: &str) -> impl FnOnce(std::io::Error) -> Failure {
        move |problem| {
            Failure::new(
                format!("`{program}` could not be started: {problem}"),
                format!("Install `{program}`."),
            )
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nWhat to do: {}", self.what, self.fix)
    }
}

//! How we end, for scripts.

use std::process::ExitCode;

use vambrace_runtime::{Reply, Verdict};
use vambrace_types::Status;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or allowed.
    Done,
    Failed,
    /// Wrong usage or configuration.
    Usage,
    Denied,
    /// A person has to approve.
    Ask,
    /// `run`: the cage could not be built.
    NoCage,
    /// `run`: the time limit.
    TimedOut,
    /// `run`: the program's own.
    Program(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Denied => 3,
            Exit::Ask => 4,
            Exit::TimedOut => 124,
            Exit::NoCage => 125,
            Exit::Program(code) => code,
        })
    }
}

impl Exit {
    pub(crate) fn of(reply: &Reply) -> Exit {
        match (reply.verdict(), reply.status()) {
            (Verdict::Allow, Status::Success) => Exit::Done,
            (Verdict::Allow, Status::Error) => Exit::Failed,
            (Verdict::Deny, _) => Exit::Denied,
            (Verdict::Ask, _) => Exit::Ask,
        }
    }
}

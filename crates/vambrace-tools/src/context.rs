//! What planning may know: where paths count from and how large things may be.

use std::time::Duration;

use vambrace_policy::command::CommandPolicy;
use vambrace_policy::{Denial, Reason};
use vambrace_types::{
    Bearings, ByteLimit, CallId, Caller, Chain, ErrorCode, PathProblem, ScopedPath, ToolError,
};

use crate::Toolbox;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long a call may take.
    pub time: Duration,
    /// The default and the most that `read_file` returns.
    pub read: ByteLimit,
    pub read_most: ByteLimit,
    /// What a model sees of one answer.
    pub reply: ByteLimit,
    /// How long one pattern may run over one file (specification 004).
    pub pattern_time: Duration,
}

#[derive(Debug, Clone, Copy)]
pub struct CallContext<'a> {
    pub bearings: &'a Bearings,
    pub limits: Limits,
    pub command: &'a CommandPolicy,
    pub toolbox: &'a Toolbox,
    /// The call only wants to see what would be done.
    pub dry_run: bool,
    pub caller: &'a Caller,
    /// The agents through which the call came.
    pub chain: &'a Chain,
    pub call_id: &'a CallId,
}

impl CallContext<'_> {
    /// Where the active service is.
    pub fn service(&self) -> Result<ScopedPath, ToolError> {
        self.path(".")
    }

    pub fn path(&self, text: &str) -> Result<ScopedPath, ToolError> {
        ScopedPath::parse(text, self.bearings).map_err(|problem| match problem {
            PathProblem::Outside => {
                let reason = Reason::OutsideProject { path: text.to_owned() };
                Denial::new(reason, "scope.beneath").to_tool_error()
            }
            PathProblem::Nul => ToolError::new(ErrorCode::InvalidPath, "The path holds a NUL byte.")
                .suggestion("Send the path as plain text; list_files shows what is there."),
            PathProblem::TooLong => ToolError::new(
                ErrorCode::InvalidPath,
                format!(
                    "The path is longer than {} bytes, or a part of it longer than {}.",
                    ScopedPath::LONGEST,
                    ScopedPath::LONGEST_COMPONENT
                ),
            )
            .suggestion("Use a shorter path; list_files shows what is there."),
        })
    }
}

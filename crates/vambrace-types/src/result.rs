//! The parts of a `ToolResult` (specification 004) that are not its data.

use crate::{CallId, Enforcement};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Success,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecurityChecks {
    Passed,
    Denied,
    /// The decision needs a person.
    ApprovalRequired,
}

impl SecurityChecks {
    pub fn as_str(self) -> &'static str {
        match self {
            SecurityChecks::Passed => "passed",
            SecurityChecks::Denied => "denied",
            SecurityChecks::ApprovalRequired => "approval_required",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    pub call_id: CallId,
    pub duration_ms: u64,
    pub security_checks: SecurityChecks,
    pub dry_run: bool,
    pub truncated: bool,
    pub redactions: usize,
    pub enforcement: Enforcement,
    pub checkpoint: Option<String>,
    /// Sentences a person or a model should read beside the data: what was cut, what was not recorded.
    pub warnings: Vec<String>,
}

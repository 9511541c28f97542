//! What the walk hands over to be written down: only cleaned text, no raw output.

use std::net::IpAddr;

use vambrace_types::{CallId, Caller, Enforcement, ErrorCode, SessionId, ToolName, VolumeId};

use crate::violation::Violation;
use crate::words::{Ending, Severity, Verdict, words};
use vambrace_redact::{Mark, RedactedText, RedactedTree};

words! {
    /// Why the call was made. A person who asks what would be decided is not attacking.
    pub enum Purpose { Call = "call", Check = "check", }
}

/// What is known of a call before it is decided; the same in its intent and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct CallEntry {
    pub call_id: CallId,
    pub session_id: SessionId,
    pub caller: Caller,
    /// The machine that it came from, where that is known.
    pub address: Option<IpAddr>,
    /// The name that the request has in everybody's logs.
    pub request_id: Option<RedactedText>,
    pub tool: ToolName,
    pub input: RedactedTree,
    pub reason: Option<RedactedText>,
    pub dry_run: bool,
    pub purpose: Purpose,
    pub volume: Option<VolumeId>,
}

/// What is about to be done. Written before the effect, so that a killed process leaves it behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    pub rule: String,
    /// The argument vectors that are about to be started, globs expanded; null where no program is.
    pub plan: RedactedTree,
    pub enforcement: Enforcement,
    pub severity: Severity,
    pub checkpoint: Option<String>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub verdict: Verdict,
    pub rule: String,
    pub ending: Ending,
    pub error: Option<(ErrorCode, RedactedText)>,
    /// A small summary or null; cut with a flag when it is not small.
    pub result: RedactedTree,
    pub duration_ms: u64,
    pub redactions: usize,
    /// What was shown under a number; empty unless placeholders are numbered.
    pub marks: Vec<Mark>,
    pub truncated: bool,
    pub enforcement: Enforcement,
    pub severity: Severity,
    pub checkpoint: Option<String>,
    pub violation: Option<Violation>,
    /// What its programs tried beside; each counts for itself, and stands in the security stream only.
    pub further: Vec<Violation>,
}

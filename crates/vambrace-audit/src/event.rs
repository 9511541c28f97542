//! Things worth a record that are not a call.

use vambrace_types::CallId;

use crate::words::{Severity, words};
use vambrace_redact::{RedactedText, RedactedTree};

words! {
    pub enum EventKind {
        /// The process came up; the details list every setting weaker than strict.
        Started = "started",
        Ended = "ended",
        /// A person used the kill switch.
        Stopped = "stopped",
        /// A person released a caller.
        Resumed = "resumed",
        AlertRaised = "alert_raised",
        /// The defence suspended a caller until a person releases it.
        Suspended = "suspended",
        Terminated = "terminated",
        /// A line cut off by a crash was removed from the end of a segment.
        Recovered = "recovered",
        /// Records stood behind the last signed head when a segment was taken over: a crash left them, or somebody
        /// added them. The next head signs them, so this says for ever how many they were.
        Adopted = "adopted",
        /// A segment contradicts its head and is left alone as evidence.
        SetAside = "set_aside",
        /// A segment could no longer be written or synced; the record goes on in another.
        SegmentLost = "segment_lost",
        /// The self-attack table was run.
        Posture = "posture",
        /// The policy was reloaded.
        Reloaded = "reloaded",
        /// Effects of an earlier call were undone; that call's records stay as they are.
        RolledBack = "rolled_back",
        /// A person answered a question.
        Approval = "approval",
        /// Somebody showed a wrong credential, or none.
        AuthFailed = "auth_failed",
        /// A token for one task was made.
        TaskToken = "task_token",
        /// A caller asked to read or change memory, and the permission lists were looked at.
        MemoryPermission = "memory_permission",
        /// A host was asked for, by a request or by a program through the proxy; the details count connections and bytes.
        Egress = "egress",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub kind: EventKind,
    pub severity: Severity,
    /// The caller it is about.
    pub caller: Option<String>,
    /// The person or part that did it.
    pub by: Option<String>,
    /// The call it is about.
    pub call_id: Option<CallId>,
    pub message: RedactedText,
    pub details: RedactedTree,
}

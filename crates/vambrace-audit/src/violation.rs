//! A denial that goes to the security stream.

use crate::words::words;
use vambrace_redact::RedactedText;

words! {
    /// What was tried. The words are stable: alert rules and readers outside count them.
    pub enum ViolationKind {
        Scope = "scope",
        Blocked = "blocked",
        Protected = "protected",
        Role = "role",
        Command = "command",
        SsrfPrivate = "ssrf_private",
        SsrfMetadata = "ssrf_metadata",
        SsrfKubernetes = "ssrf_kubernetes",
        SecretWrite = "secret_write",
        Auth = "auth",
        Other = "other",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    pub kind: ViolationKind,
    pub target: RedactedText,
    pub command_args: Option<RedactedText>,
}

//! Why not. Every "no" is a named reason with the rule that said it.

use vambrace_types::{ErrorCode, Role, ToolError, Tree};

use crate::command::CommandRefusal;
use crate::url::{UrlRefusal, Voice};
use crate::{Access, Capability, MemoryRefusal};

/// Exhaustive on purpose: a new reason should break every `match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    RoleLacks {
        role: Role,
        capability: Capability,
    },
    ModeLacks {
        mode: &'static str,
        needed: &'static str,
    },
    /// `path` as the agent wrote it.
    OutsideProject {
        path: String,
    },
    OutsideScope {
        path: String,
        access: Access,
    },
    Blocked {
        path: String,
        pattern: String,
    },
    Protected {
        path: String,
        pattern: String,
    },
    ReadOnly {
        path: String,
    },
    Link {
        path: String,
    },
    HardLink {
        path: String,
    },
    Mount {
        path: String,
    },
    SpecialFile {
        path: String,
    },
    KnownSecret {
        names: Vec<String>,
    },
    Placeholder,
    SecretSent {
        names: Vec<String>,
    },
    Command(CommandRefusal),
    Url {
        refusal: UrlRefusal,
        voice: Voice,
    },
    /// A branch name, a commit message or a push that the git rules refuse.
    Git {
        what: String,
        next: &'static str,
    },
    /// A way of doing things that the project does not take, such as installing without a lock file.
    Discipline {
        what: String,
        next: &'static str,
    },
    /// The lists of people and groups that may use memory.
    Memory(MemoryRefusal),
    /// Only a person may do this, at a terminal.
    OnlyPeople,
    OperatorRule {
        reason: String,
        /// The rule asks a person; a program in the sandbox cannot wait for the answer.
        only_asks: bool,
    },
    Suspended {
        since: String,
    },
    StalePermit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    pub reason: Reason,
    pub rule: String,
}

impl Denial {
    pub fn new(reason: Reason, rule: impl Into<String>) -> Denial {
        Denial { reason, rule: rule.into() }
    }

    /// Whether it was the lists of people and groups that said no.
    pub fn is_of_memory(&self) -> bool {
        match &self.reason {
            Reason::Memory(_) => true,
            Reason::RoleLacks { .. }
            | Reason::ModeLacks { .. }
            | Reason::OutsideProject { .. }
            | Reason::OutsideScope { .. }
            | Reason::Blocked { .. }
            | Reason::Protected { .. }
            | Reason::ReadOnly { .. }
            | Reason::Link { .. }
            | Reason::HardLink { .. }
            | Reason::Mount { .. }
            | Reason::SpecialFile { .. }
            | Reason::KnownSecret { .. }
            | Reason::Placeholder
            | Reason::SecretSent { .. }
            | Reason::Command(_)
            | Reason::Url { .. }
            | Reason::Git { .. }
            | Reason::Discipline { .. }
            | Reason::OnlyPeople
            | Reason::OperatorRule { .. }
            | Reason::Suspended { .. }
            | Reason::StalePermit => false,
        }
    }

    pub fn code(&self) -> ErrorCode {
        match &self.reason {
            Reason::RoleLacks { .. } | Reason::ModeLacks { .. } | Reason::Memory(_) => {
                ErrorCode::PermissionDenied
            }
            Reason::OutsideProject { .. } => ErrorCode::PathOutsideProject,
            Reason::OutsideScope { .. } => ErrorCode::OutsideScope,
            Reason::Blocked { .. } => ErrorCode::BlockedPath,
            Reason::Protected { .. } => ErrorCode::ProtectedPath,
            Reason::ReadOnly { .. } => ErrorCode::ReadOnlyPath,
            Reason::Link { .. } => ErrorCode::LinkRefused,
            Reason::HardLink { .. } => ErrorCode::HardLinkRefused,
            Reason::Mount { .. } => ErrorCode::MountRefused,
            Reason::SpecialFile { .. } => ErrorCode::SpecialFile,
            Reason::KnownSecret { .. } => ErrorCode::SecretInWrite,
            Reason::Placeholder => ErrorCode::PlaceholderInWrite,
            Reason::SecretSent { .. } => ErrorCode::SecretInRequest,
            Reason::Command(refusal) => refusal.code(),
            Reason::Url { refusal, .. } => refusal.code(),
            Reason::Git { .. } => ErrorCode::BranchNotAllowed,
            Reason::Discipline { .. } => ErrorCode::PolicyViolation,
            Reason::OnlyPeople => ErrorCode::PermissionDenied,
            Reason::OperatorRule { .. } => ErrorCode::RuleDenied,
            Reason::Suspended { .. } => ErrorCode::Suspended,
            Reason::StalePermit => ErrorCode::StalePermit,
        }
    }

    /// The suggestion is the next useful step, never a way round.
    pub fn to_tool_error(&self) -> ToolError {
        let (message, suggestion) = if let Reason::Command(refusal) = &self.reason {
            refusal.words()
        } else {
            let (message, suggestion) = self.words();
            (message, suggestion.to_owned())
        };
        let error = ToolError::new(self.code(), message).suggestion(suggestion).rule(self.rule.clone());
        // What operators are told to search the log for (specification 001), whichever words the caller gets.
        if let Reason::Url { refusal, .. } = &self.reason {
            return error.details(Tree::map([("reason", Tree::Text(refusal.logged()))]));
        }
        error
    }

    fn words(&self) -> (String, &'static str) {
        match &self.reason {
            Reason::RoleLacks { role, capability } => (
                format!("The role `{}` does not include `{}`.", role.as_str(), capability.as_str()),
                "Ask the operator to do this, or for a role that includes it.",
            ),
            Reason::ModeLacks { mode, needed } => (
                format!("The tool mode `{mode}` does not include `{needed}`."),
                "Describe what you would do; the operator chooses what may act with --tool.",
            ),
            // The bytes of specification 002, which callers match on.
            Reason::OutsideProject { path } if path == ".." => (
                format!("path outside project: {path}"),
                "Leave it out: every call begins in the workspace, and `cd` counts until the line ends.",
            ),
            Reason::OutsideProject { path } => (
                format!("path outside project: {path}"),
                "Use a path beneath the workspace; list_files shows what is there.",
            ),
            Reason::OutsideScope { path, access } => (
                format!("`{path}` is outside this service, so it may not be {}.", past(*access)),
                "Stay inside the service folder or read the shared paths; list_files shows what is there.",
            ),
            Reason::Blocked { path, pattern } if pattern == ".git" => (
                format!("`{path}` is in the blocked zone `{pattern}`."),
                "Ask git itself: `git status`, `git log`, `git rev-parse HEAD`, `git count-objects -vH`.",
            ),
            Reason::Blocked { path, pattern } => (
                format!("`{path}` is in the blocked zone `{pattern}`."),
                "Work without this file; if a value from it is needed, ask the operator to provide it as a secret.",
            ),
            Reason::Protected { path, pattern } => (
                format!("`{path}` is protected (`{pattern}`): it decides what runs or what is allowed."),
                "Show the change you want as text and let a person make it.",
            ),
            Reason::ReadOnly { path } => (
                format!("`{path}` may be read but not changed from this service."),
                "Write inside the service folder, or ask the team that owns the shared path.",
            ),
            Reason::Link { path } => (
                format!("`{path}` is a symbolic link."),
                "Name the file itself; list_files shows which entries are links.",
            ),
            Reason::HardLink { path } => (
                format!("`{path}` has more than one name on this disk, so changing it could change a file elsewhere."),
                "Ask a person to break the hard link, or write to a new path.",
            ),
            Reason::Mount { path } => (
                format!("`{path}` lies on another mounted file system."),
                "Use a path on the same file system as the workspace.",
            ),
            Reason::SpecialFile { path } => (
                format!("`{path}` is a device, pipe or socket, not a regular file."),
                "Use the path of a regular file; list_files shows the kind of each entry.",
            ),
            Reason::KnownSecret { names } => (
                format!("The text to be written holds a secret ({}).", names.join(", ")),
                "Refer to the secret by the name of its variable instead of its value.",
            ),
            Reason::Placeholder => (
                "The text to be written holds a redaction marker such as `[REDACTED:…]`, which would replace the real \
                 value in the file."
                    .to_owned(),
                "Use edit_file on the parts around the marker, so that the real value stays where it is.",
            ),
            Reason::SecretSent { names } => (
                format!("The request holds a secret ({}), and secrets are not sent away.", names.join(", ")),
                "Leave it out; if the service needs a credential, ask the operator to bind one to it.",
            ),
            Reason::Command(refusal) => (refusal.words().0, ""),
            Reason::Url { refusal, voice } => (refusal.text(*voice), refusal.suggestion()),
            Reason::Git { what, next } | Reason::Discipline { what, next } => (what.clone(), next),
            // The words of specification 001, which the agent passes on.
            Reason::Memory(refusal) => (
                format!("⛔ Insufficient permissions. Reason: {}", refusal.text()),
                "Tell the person you work for; the operator keeps the lists under `permissions`.",
            ),
            Reason::OnlyPeople => (
                "Only a person at a terminal may do this.".to_owned(),
                "Use the tools for programs, such as exec_shell or run_test.",
            ),
            Reason::OperatorRule { only_asks: true, .. } => (
                "A rule of the operator asks before this path is touched, and a program cannot be asked while it runs."
                    .to_owned(),
                "Use the file tools for this path; they ask.",
            ),
            Reason::OperatorRule { reason, .. } if reason.is_empty() => {
                ("A rule of the operator does not allow this.".to_owned(), "Ask the operator, or do it another way.")
            }
            Reason::OperatorRule { reason, .. } => (
                format!("A rule of the operator does not allow this: {reason}"),
                "Ask the operator, or do it another way.",
            ),
            Reason::Suspended { since } => (
                format!("This caller has been suspended since {since}, after repeated violations or by a person."),
                "Stop and tell the person you work for; only they can release it.",
            ),
            Reason::StalePermit => (
                "The policy changed while this call was under way, so it was not done.".to_owned(),
                "Make the call again.",
            ),
        }
    }
}

fn past(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "written",
        Access::Delete => "deleted",
    }
}

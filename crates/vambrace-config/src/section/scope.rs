//! Files, operator rules, checkpoints, and how the configuration itself is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{section, words};

words! {
    /// How far a service sees.
    pub enum Isolation {
        /// Own service read and write, shared paths read-only, nothing else.
        Strict = "STRICT",
        /// The rest of the project is readable as well. Writes never leave the service.
        Shared = "SHARED",
    }
}

words! {
    /// What happens at a symbolic link.
    pub enum SymbolicLinks {
        /// Reads follow links that stay inside at every step; writes and deletes refuse a link at the end.
        Inside = "inside",
        /// Links are refused.
        Deny = "deny",
    }
}

words! {
    /// What happens at a file with more than one name.
    pub enum HardLinks {
        /// Reads are allowed; writes, edits and deletes are refused.
        DenyWrites = "deny_writes",
        /// Everything is allowed.
        Allow = "allow",
        /// Reads are refused too.
        Deny = "deny",
    }
}

section! {
    /// Which files the tools may touch (specification 004).
    pub struct Scope {
        /// How far a service sees.
        pub service_isolation: Isolation = Isolation::Strict,
        /// The active service's folder, relative to the workspace. Unset: the workspace itself.
        pub service_root: Option<String> = None,
        /// Folders that every service may read and none may write, relative to the workspace. A project file may only
        /// repeat them.
        pub shared_paths: Vec<String> =
            vec!["shared_contracts/".to_owned(), "shared/".to_owned(), "contracts/".to_owned()],
        /// Path patterns that are blocked in addition to the built-in zones (`.env`, `.git/`, `secrets/` and the like).
        pub block_patterns: Vec<String> = Vec::new(),
        /// What happens at a symbolic link.
        pub symlinks: SymbolicLinks = SymbolicLinks::Inside,
        /// What happens at a file with more than one name.
        pub hardlinks: HardLinks = HardLinks::DenyWrites,
    }
}

words! {
    /// What an operator's rule says.
    pub enum Decision {
        /// Refuse.
        Deny = "deny",
        /// Ask a person. Where the rule has a path, programs in the sandbox are refused it, because they cannot be asked.
        Ask = "ask",
        /// Allow, where no built-in rule refuses.
        Allow = "allow",
    }
}

words! {
    /// Calls of one kind, whichever tool makes them.
    pub enum CallKind {
        /// Calls that show the text or the names of files. Programs show whatever they read, so where a rule refuses reading
        /// or asks about it, programs are refused too, or do not see the path.
        Reads = "reads",
        /// Calls that change files. Where a rule refuses writing, or asks about it, programs find the path read-only; without
        /// a path they are refused.
        Writes = "writes",
        /// Calls that start programs.
        Runs = "runs",
        /// Calls that reach other hosts. Where a rule refuses them or asks about them, programs reach no host either.
        Sends = "sends",
    }
}

/// An operator's rule: tools, kinds of calls or paths that are allowed, asked about or denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The tool the rule is about. Unset: every tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// The kind of calls that the rule is about, instead of one tool.
    #[serde(default)]
    pub kind: Option<CallKind>,
    /// The paths the rule is about, as a glob relative to the workspace. Unset: every path.
    #[serde(default)]
    pub path: Option<String>,
    /// What the rule says.
    pub decision: Decision,
    /// Why, for the person or agent that meets the rule.
    #[serde(default)]
    pub reason: Option<String>,
}

words! {
    /// How a checkpoint is kept.
    pub enum Checkpoint {
        /// In a hidden reference, without touching branch, index or hooks.
        HiddenRef = "hidden_ref",
        /// As a commit on the user's branch (specification 002).
        CommitOnBranch = "commit_on_branch",
    }
}

section! {
    /// Checkpoints before changes, and rules for branches.
    pub struct Git {
        /// How a checkpoint is kept.
        pub checkpoint: Checkpoint = Checkpoint::HiddenRef,
        /// Refuse write and command tools where no checkpoint can be made.
        pub require_checkpoint: bool = false,
        /// Branches that agents may switch to or make, as patterns (`feat/*`). Empty: any well-formed name.
        pub branches: Vec<String> = Vec::new(),
        /// Branches that are never pushed to.
        pub protected_branches: Vec<String> = Vec::new(),
    }
}

words! {
    /// What an unknown key means.
    pub enum UnknownKeys {
        /// The start stops.
        Error = "error",
        /// The start goes on with a warning; the key has no effect.
        Warn = "warn",
    }
}

section! {
    /// How this configuration itself is read.
    pub struct ConfigRules {
        /// What an unknown key means. In a project file unknown keys are always errors.
        pub unknown: UnknownKeys = UnknownKeys::Error,
    }
}

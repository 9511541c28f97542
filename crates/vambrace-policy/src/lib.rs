//! Decides. Takes who is calling and what they want to do; answers with a permit, a question or a denial.
//!
//! No I/O, no clock, no randomness, no wire format: the same question always gets the same answer. `Deny` beats
//! `Ask` beats `Allow`, and a rule that cannot be judged denies.

#![deny(clippy::wildcard_enum_match_arm)]

mod action;
mod capability;
mod decide;
mod denial;
mod names;
mod obligation;
mod operator_rule;
mod path_pattern;
mod permit;
mod scope;
mod tool_mode;

pub use action::{
    Access, Action, Content, CountMatches, CreateDirectory, DeleteFile, EditFiles, FileEdits, Lines,
    ListFiles, ReadFile, ReadOutput, SearchFiles, WriteFile, Writes,
};
pub use capability::{Capability, Effect, role_has};
pub use decide::{Decision, Facts, OnWrite, Policy, PolicySettings, Question, Standing};
pub use denial::{Denial, Reason};
pub use obligation::{Obligations, Severity};
pub use operator_rule::{OperatorRule, Verdict};
pub use path_pattern::{PathPattern, PatternError};
pub use permit::{Epoch, Permit, Stale, Withheld};
pub use scope::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks, Zone};
pub use tool_mode::{ToolMode, UnknownMode};

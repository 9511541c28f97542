//! Decides. Takes who is calling and what they want to do; answers with a permit, a question or a denial.
//!
//! No I/O, no clock, no randomness, no wire format: the same question always gets the same answer. `Deny` beats
//! `Ask` beats `Allow`, and a rule that cannot be judged denies.

#![deny(clippy::wildcard_enum_match_arm)]

mod action;
mod capability;
pub mod command;
mod decide;
mod denial;
mod git;
mod job;
mod kinds;
mod names;
mod obligation;
mod operator_rule;
mod path_pattern;
mod permission_list;
mod permit;
mod scope;
pub mod url;
mod written;

pub use action::{
    Access, Action, Allowance, Answers, AskAgents, Asked, Author, ChangeRepository, ConfigChange, Content,
    CountMatches, CreateDirectory, DeclaredKind, DeleteFile, DeleteMemory, EditFiles, FetchUrl, FileEdits,
    Header, InstallDependencies, Lines, ListFiles, ManageSystem, MigrateConfig, Named, PushBranch, PushStage,
    ReadFile, ReadOutput, ReadPage, ReadPosture, ReadRepository, RepositoryChange, RequestRules, RunDeclared,
    RunLine, RunToolchain, RunTyped, SaveMemory, Saving, SearchFiles, SearchMemory, SendNotification,
    UpdateMemory, WriteFile, Writes,
};
pub use capability::{Capability, covers, role_has};
pub use decide::{Answerer, Decision, Facts, Judgement, Pending, Policy, PolicySettings, Question, Standing};
pub use denial::{Denial, Reason};
pub use git::GitRules;
pub use job::{Input, Job, Level, Naming, Place, Repository, Runs, Variable, VariableValue};
pub use kinds::{Kind, Kinds, Sends, Shows, Starts};
pub use obligation::{Obligations, Severity};
pub use operator_rule::{OperatorRule, Subject, Verdict};
pub use path_pattern::{PathPattern, PatternError};
pub use permission_list::{MemoryGrant, MemoryReads, MemoryRefusal, Permission, PermissionList};
pub use permit::{Epoch, Permit, Stale, Withheld};
pub use scope::{HardLinks, Isolation, Protection, Scope, ScopeSettings, Symlinks, Zone};
pub use vambrace_types::{Effect, ToolMode, UnknownMode};
pub use written::{Notice, OnWrite, Sighting, SightingKind};

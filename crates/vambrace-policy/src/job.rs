//! What a permit to run programs means, in words that the process door understands. Nothing here needs a shell.

use std::time::Duration;

use vambrace_types::{ByteLimit, ScopedPath, Secret};

use crate::Action;
use crate::command::{Command, CommandPlan, Simple};
use crate::url::AllowEntry;

/// An action that is done by running programs.
pub trait Runs: Action {
    fn job(&self) -> Job;
}

#[derive(Debug, Clone)]
pub struct Job {
    pub plan: CommandPlan<Command>,
    /// Where the first step starts.
    pub folder: ScopedPath,
    pub stdin: Input,
    /// Beside the safe environment.
    pub variables: Vec<Variable>,
    pub time: Option<Duration>,
    /// Instead of the operator's limit.
    pub memory: Option<ByteLimit>,
    pub place: Place,
    pub level: Level,
    pub repository: Repository,
    pub naming: Naming,
    /// Hosts that a person named for this one run (`run --net`).
    pub hosts: Vec<AllowEntry>,
    /// Further folders that a person opened for this one run (`run --write`), absolute.
    pub further_writable: Vec<String>,
}

#[derive(Debug, Clone)]
pub enum Input {
    Nothing,
    Text(String),
    /// What the person at the terminal types.
    Terminal,
}

#[derive(Debug, Clone)]
pub struct Variable {
    pub name: String,
    pub value: VariableValue,
}

#[derive(Debug, Clone)]
pub enum VariableValue {
    Plain(Secret<String>),
    /// The name of a configured secret, looked up when the program starts. Without a value the job fails.
    Named(String),
}

/// Where a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Cage,
    /// On the machine itself: only system tools, whose vectors are fixed by us.
    Host,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Everything new for this job.
    Fresh,
    /// In the caller's prepared cage, which keeps nothing from one job to the next.
    Warm,
}

/// Whether the job may change the repository's own folder. Hooks and configuration are never writable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repository {
    ReadOnly,
    Writable,
}

/// How programs may be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// As files that an agent cannot change.
    Trusted,
    /// Also by a relative path that leads to a file of the workspace: what the project brings along for its own tests.
    Workspace,
    /// Also by any path that the cage shows: a person typed it.
    AnyPath,
}

impl Job {
    /// One program, with the usual surroundings.
    pub fn program(program: &str, arguments: Vec<String>, folder: ScopedPath) -> Job {
        Job {
            plan: CommandPlan::program(program, arguments),
            folder,
            stdin: Input::Nothing,
            variables: Vec::new(),
            time: None,
            memory: None,
            place: Place::Cage,
            level: Level::Fresh,
            repository: Repository::ReadOnly,
            naming: Naming::Trusted,
            hosts: Vec::new(),
            further_writable: Vec::new(),
        }
    }

    /// Every program that the job names.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.plan.programs().map(Simple::name)
    }
}

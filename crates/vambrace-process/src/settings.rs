//! What the operator chose for programs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use vambrace_policy::Scope;
use vambrace_types::{ByteLimit, Secret};

/// What builds the cage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    Native,
    Bubblewrap,
    Firejail,
    /// No cage at all.
    DangerouslyNone,
}

impl Backend {
    pub fn as_str(self) -> &'static str {
        match self {
            Backend::Native => "native",
            Backend::Bubblewrap => "bubblewrap",
            Backend::Firejail => "firejail",
            Backend::DangerouslyNone => "none",
        }
    }
}

/// What happens when a layer of the cage cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenMissing {
    Refuse,
    /// The program runs with what there is; result and record say so (specification 002).
    Warn,
}

/// What is done about protected names that are not there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbsentNames {
    /// Programs are refused the call that would make one.
    Refuse,
    /// Programs may make them. The sandbox is then partial, and what they made is reported after the run.
    Sweep,
}

/// Whether one caller's calls may share a prepared cage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    PerCaller,
    Never,
}

#[derive(Debug, Clone, Copy)]
pub struct ProgramLimits {
    pub output: ByteLimit,
    pub memory: ByteLimit,
    pub processes: u64,
    pub file: ByteLimit,
}

#[derive(Debug, Clone)]
pub enum Inherit {
    Names(Vec<String>),
    All,
}

#[derive(Debug, Clone)]
pub struct EnvironmentSettings {
    pub inherit: Inherit,
    /// The host's own search path instead of the trusted folders.
    pub host_path: bool,
    /// The environment that we were started with.
    pub host: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
pub struct ProgramsSettings {
    /// Our own binary, which becomes the launcher.
    pub launcher: PathBuf,
    /// Where the workspace really is.
    pub workspace: PathBuf,
    /// Other spellings of it, through links, that arguments may use.
    pub spellings: Vec<PathBuf>,
    pub scope: Arc<Scope>,
    /// Where what a crash must not lose is kept; outside the workspace.
    pub state: PathBuf,
    pub backend: Backend,
    pub when_missing: WhenMissing,
    pub absent_names: AbsentNames,
    pub reuse: Reuse,
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    pub limits: ProgramLimits,
    pub environment: EnvironmentSettings,
    /// Who commits where the repository does not say it: name and address.
    pub author: (String, String),
    /// `secrets.env`, by name. One without a value fails the tool that needs it.
    pub secrets: BTreeMap<String, Option<Secret<String>>>,
}

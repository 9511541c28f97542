//! The closed set of things that can be done. A tool turns arguments into one of these; policy judges it; a door
//! does it. Nobody outside can add a kind.

mod ask;
mod fetch;
mod memory;
mod request;
mod run;

use std::time::Duration;

use vambrace_types::{ByteLimit, Caller, ScopedPath};

use crate::{Capability, Denial, Judgement, Kinds, PolicySettings};

pub use ask::{AskAgents, Asked};
pub use fetch::{Answers, Author, FetchUrl, Header, Named, RequestRules};
pub use memory::{DeleteMemory, SaveMemory, Saving, SearchMemory, UpdateMemory};
pub use request::{ReadPage, SendNotification};
pub use run::{
    ChangeRepository, ConfigChange, DeclaredKind, InstallDependencies, ManageSystem, MigrateConfig,
    PushBranch, PushStage, ReadPosture, ReadRepository, RepositoryChange, RunDeclared, RunLine, RunToolchain,
    RunTyped,
};

mod sealed {
    pub trait Sealed {}
}

/// What an action does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    Read,
    Write,
    Delete,
}

impl Access {
    pub fn as_str(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Delete => "delete",
        }
    }
}

/// How long an action may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// What every call gets.
    Usual,
    Own(Duration),
    /// A person waits for it and can stop it.
    Unlimited,
}

pub trait Action: sealed::Sealed + Send + Sync + 'static {
    const CAPABILITY: Capability;
    /// What operator rules are held against.
    const KINDS: Kinds;

    /// Every path the action touches, and how.
    fn targets(&self) -> Vec<(&ScopedPath, Access)>;

    /// Every text that the action would put into a file or into memory, for the secret scan.
    fn written(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Every text that the action would send away, as it is meant, for the search for known secrets.
    fn sent(&self) -> Vec<String> {
        Vec::new()
    }

    /// What only this kind of action can be refused for.
    fn judge(&self, _settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        Ok(Judgement::default())
    }

    /// How long it may take, where that is its own affair.
    fn time(&self) -> Allowance {
        Allowance::Usual
    }

    /// What would be started, for the record.
    fn vectors(&self) -> Vec<Vec<String>> {
        Vec::new()
    }
}

/// Text on its way into a file.
pub trait Writes {
    fn written(&self) -> &str;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(pub String);

impl Writes for Content {
    fn written(&self) -> &str {
        &self.0
    }
}

/// A run of lines, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    pub first: u64,
    pub count: u64,
}

#[derive(Debug, Clone)]
pub struct ReadFile {
    pub path: ScopedPath,
    pub max_bytes: ByteLimit,
    pub lines: Option<Lines>,
}

#[derive(Debug, Clone)]
pub struct WriteFile {
    pub path: ScopedPath,
    pub content: Content,
}

/// The edits of one file; `E` is the edit engine's own type, which policy need not know.
#[derive(Debug, Clone)]
pub struct FileEdits<E> {
    pub path: ScopedPath,
    pub edits: Vec<E>,
}

#[derive(Debug, Clone)]
pub struct EditFiles<E> {
    pub files: Vec<FileEdits<E>>,
}

#[derive(Debug, Clone)]
pub struct SearchFiles {
    pub path: ScopedPath,
    pub pattern: String,
    pub recursive: bool,
    pub include_ignored: bool,
    pub limit: usize,
}

#[derive(Debug, Clone)]
pub struct CountMatches {
    pub path: ScopedPath,
    pub pattern: String,
    pub recursive: bool,
    pub include_ignored: bool,
}

#[derive(Debug, Clone)]
pub struct ListFiles {
    pub path: ScopedPath,
    pub recursive: bool,
}

#[derive(Debug, Clone)]
pub struct DeleteFile {
    pub path: ScopedPath,
}

#[derive(Debug, Clone)]
pub struct CreateDirectory {
    pub path: ScopedPath,
}

/// The rest of an answer that was cut. It was redacted when it was kept.
#[derive(Debug, Clone)]
pub struct ReadOutput {
    pub handle: String,
    pub offset: u64,
    pub limit: ByteLimit,
}

macro_rules! path_actions {
    ($($action:ident $capability:ident $kinds:ident $access:ident;)*) => { $(
        impl sealed::Sealed for $action {}
        impl Action for $action {
            const CAPABILITY: Capability = Capability::$capability;
            const KINDS: Kinds = Kinds::$kinds;
            fn targets(&self) -> Vec<(&ScopedPath, Access)> {
                vec![(&self.path, Access::$access)]
            }
        }
    )* };
}

path_actions! {
    ReadFile ReadFiles SHOWS_TEXT Read;
    SearchFiles ReadFiles SHOWS_TEXT Read;
    CountMatches ReadFiles SHOWS_TEXT Read;
    ListFiles ReadFiles SHOWS_NAMES Read;
    DeleteFile WriteFiles CHANGES Delete;
    CreateDirectory WriteFiles CHANGES Write;
}

impl sealed::Sealed for WriteFile {}
impl Action for WriteFile {
    const CAPABILITY: Capability = Capability::WriteFiles;
    const KINDS: Kinds = Kinds::CHANGES_AND_SHOWS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        vec![(&self.path, Access::Write)]
    }

    fn written(&self) -> Vec<&str> {
        vec![self.content.written()]
    }
}

impl<E> sealed::Sealed for EditFiles<E> {}
impl<E: Writes + Send + Sync + 'static> Action for EditFiles<E> {
    const CAPABILITY: Capability = Capability::WriteFiles;
    const KINDS: Kinds = Kinds::CHANGES_AND_SHOWS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        self.files.iter().map(|file| (&file.path, Access::Write)).collect()
    }

    fn written(&self) -> Vec<&str> {
        self.files.iter().flat_map(|file| file.edits.iter().map(Writes::written)).collect()
    }
}

impl sealed::Sealed for ReadOutput {}
impl Action for ReadOutput {
    const CAPABILITY: Capability = Capability::ReadOutput;
    const KINDS: Kinds = Kinds::NONE;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }
}

//! A workspace, what lies outside it, a real policy and a door.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use vambrace_files::{
    Deadline, Edited, Files, FilesError, FilesSettings, Listing, LockPolicy, Root, Stop, SweepReport, Text,
    Written, ambient_authority,
};
use vambrace_policy::command::CommandPolicy;
use vambrace_policy::url::{UrlPolicy, UrlSettings};
use vambrace_policy::{
    Action, ConfigChange, Content, CreateDirectory, Decision, DeleteFile, EditFiles, Epoch, Facts, FileEdits,
    GitRules, HardLinks, Isolation, Lines, ListFiles, MigrateConfig, OnWrite, OperatorRule, PermissionList,
    Permit, Policy, PolicySettings, ReadFile, RequestRules, Scope, ScopeSettings, SearchFiles, Standing,
    Symlinks, ToolMode, WriteFile,
};
use vambrace_types::{
    Bearings, ByteLimit, Caller, DEFAULT_READ, Door, PathProblem, Role, ScopedPath, ToolName,
};

const EPOCH: Epoch = Epoch(7);

/// What a scenario may choose; the rest is the same for all.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    pub(crate) service: String,
    pub(crate) isolation: Isolation,
    pub(crate) block_patterns: Vec<String>,
    pub(crate) symlinks: Symlinks,
    pub(crate) hard_links: HardLinks,
    pub(crate) rules: Vec<OperatorRule>,
    pub(crate) lock: LockPolicy,
    pub(crate) largest: ByteLimit,
}

impl Default for Choices {
    fn default() -> Choices {
        Choices {
            service: String::new(),
            isolation: Isolation::Strict,
            block_patterns: Vec::new(),
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
            rules: Vec::new(),
            lock: LockPolicy::default(),
            largest: ByteLimit::new(32 << 20),
        }
    }
}

/// `ws` is the workspace, `outside` what nobody may see or touch, `state` the journals.
pub(crate) struct World {
    _kept: Option<TempDir>,
    base: PathBuf,
    policy: Policy,
    pub(crate) files: Files,
    pub(crate) stop: Stop,
}

/// The short form of an error: its code.
pub(crate) type Answer<T> = Result<T, &'static str>;

impl World {
    pub(crate) fn new() -> World {
        World::with(&Choices::default())
    }

    pub(crate) fn with(choices: &Choices) -> World {
        let kept = tempfile::tempdir().unwrap();
        let base = kept.path().to_path_buf();
        World { _kept: Some(kept), ..World::at(&base, choices) }
    }

    /// In a folder that somebody else owns: for children, and for a second door on the same workspace.
    pub(crate) fn at(base: &Path, choices: &Choices) -> World {
        for folder in ["ws", "outside"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        let workspace = base.join("ws");
        let scope = Scope::new(ScopeSettings {
            bearings: Bearings::new(&[workspace.to_str().unwrap()], &choices.service, &["shared/"]),
            isolation: choices.isolation,
            block_patterns: choices.block_patterns.clone(),
            shared_inside_own: false,
            symlinks: choices.symlinks,
            hard_links: choices.hard_links,
        })
        .unwrap();
        let root = Root::open_ambient(ambient_authority(), &workspace).unwrap();
        let settings =
            FilesSettings { journal: base.join("state"), lock: choices.lock, largest: choices.largest };
        let files = Files::new(root, Arc::new(scope.clone()), EPOCH, settings);
        let on_write = OnWrite::REFUSE;
        let policy = Policy::new(
            PolicySettings {
                scope,
                mode: ToolMode::ALL,
                rules: choices.rules.clone(),
                on_write,
                command: CommandPolicy::default(),
                git: GitRules::default(),
                url: UrlPolicy::new(UrlSettings::default()),
                requests: RequestRules::default(),
                grants: Vec::new(),
                allowed_commands: Vec::new(),
                permissions: PermissionList::default(),
            },
            EPOCH,
        );
        World { _kept: None, base: base.to_path_buf(), policy, files, stop: Stop::default() }
    }

    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    pub(crate) fn inside(&self, path: &str) -> PathBuf {
        self.base.join("ws").join(path)
    }

    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.base.join("outside").join(path)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.base.join("state")
    }

    /// Puts a file there without the door, with the folders above it.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        put(&self.inside(path), content);
    }

    /// What is really there.
    pub(crate) fn raw(&self, path: &str) -> String {
        fs::read_to_string(self.inside(path)).unwrap()
    }

    pub(crate) fn path(&self, text: &str) -> Answer<ScopedPath> {
        ScopedPath::parse(text, self.policy.scope().bearings()).map_err(|problem| match problem {
            PathProblem::Outside => "PathOutsideProject",
            PathProblem::Nul | PathProblem::TooLong => "InvalidPath",
        })
    }

    pub(crate) fn permit<A: Action>(&self, action: A) -> Answer<Permit<A>> {
        let caller = Caller::local(Role::Dev, Door::CommandLine);
        let tool = ToolName::of("test");
        match self.policy.decide(&caller, &Standing::Free, &tool, action, &Facts::default()) {
            Decision::Allow(permit) => Ok(permit),
            Decision::Deny(denial) => Err(denial.code().as_str()),
            Decision::Ask(pending) => panic!("nothing here asks: {:?}", pending.question()),
        }
    }

    /// What a rule asks about, with a person who says yes.
    #[track_caller]
    pub(crate) fn approved<A: Action>(&self, action: A) -> Permit<A> {
        let caller = Caller::local(Role::Dev, Door::CommandLine);
        let tool = ToolName::of("test");
        match self.policy.decide(&caller, &Standing::Free, &tool, action, &Facts::default()) {
            Decision::Ask(pending) => pending.approve(),
            Decision::Allow(_) => panic!("nobody was asked"),
            Decision::Deny(denial) => panic!("{denial:?}"),
        }
    }

    /// As the role that may, and with a person who says yes.
    pub(crate) fn migrate(&self, path: &str, change: Option<ConfigChange>, rehearsal: bool) -> Answer<()> {
        let caller = Caller::local(Role::Sre, Door::CommandLine);
        let action = MigrateConfig { path: self.path(path)?, target: 1, rehearsal, change };
        let tool = ToolName::of("test");
        let permit = match self.policy.decide(&caller, &Standing::Free, &tool, action, &Facts::default()) {
            Decision::Allow(permit) => permit,
            Decision::Ask(pending) => pending.approve(),
            Decision::Deny(denial) => return Err(denial.code().as_str()),
        };
        self.files.migrate(permit, &self.stop).map(|_| ()).map_err(|error| code(&error))
    }

    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::after(Duration::from_secs(60), self.stop.clone())
    }

    pub(crate) fn read_text(&self, path: &str, max_bytes: ByteLimit, lines: Option<Lines>) -> Answer<Text> {
        let permit = self.permit(ReadFile { path: self.path(path)?, max_bytes, lines })?;
        self.files.read(permit, &self.deadline()).map_err(|error| code(&error))
    }

    pub(crate) fn read(&self, path: &str) -> Answer<String> {
        self.read_text(path, DEFAULT_READ, None).map(|text| text.content)
    }

    pub(crate) fn try_write(&self, path: &str, content: &str) -> Result<Written, FilesError> {
        let content = Content(content.to_owned());
        let permit = self.permit(WriteFile { path: self.path(path).unwrap(), content }).unwrap();
        self.files.write(permit, &self.stop)
    }

    pub(crate) fn write(&self, path: &str, content: &str) -> Answer<Written> {
        let content = Content(content.to_owned());
        let permit = self.permit(WriteFile { path: self.path(path)?, content })?;
        self.files.write(permit, &self.stop).map_err(|error| code(&error))
    }

    pub(crate) fn delete(&self, path: &str) -> Answer<u64> {
        let permit = self.permit(DeleteFile { path: self.path(path)? })?;
        self.files.delete(permit, &self.stop).map_err(|error| code(&error))
    }

    pub(crate) fn make_folder(&self, path: &str) -> Answer<bool> {
        let permit = self.permit(CreateDirectory { path: self.path(path)? })?;
        self.files.create_directory(permit).map(|created| created.existed).map_err(|error| code(&error))
    }

    pub(crate) fn list(&self, path: &str, recursive: bool) -> Answer<Listing> {
        let permit = self.permit(ListFiles { path: self.path(path)?, recursive })?;
        self.files.list(permit, &self.deadline()).map_err(|error| code(&error))
    }

    /// Every chunk that a search shows: path, lines before it, bytes; sorted, because threads have no order.
    pub(crate) fn search(&self, path: &str, include_ignored: bool) -> Answer<(SweepReport, Vec<Seen>)> {
        let action = SearchFiles {
            path: self.path(path)?,
            pattern: String::new(),
            recursive: true,
            include_ignored,
            limit: usize::MAX,
        };
        let permit = self.permit(action)?;
        let seen = Mutex::new(Vec::new());
        let report = self
            .files
            .search(permit, &self.deadline(), &|chunk| {
                let path = chunk.path.components().join("/");
                seen.lock().unwrap().push((path, chunk.lines_before, chunk.bytes.to_vec()));
            })
            .map_err(|error| code(&error))?;
        let mut seen = seen.into_inner().unwrap();
        seen.sort();
        Ok((report, seen))
    }

    /// Edits files by `apply`, which gets a path as the workspace spells it and the old text.
    pub(crate) fn edit_with(
        &self,
        paths: &[&str],
        apply: &mut ApplyText<'_>,
    ) -> Answer<(Vec<Edited>, Vec<String>)> {
        let mut files = Vec::new();
        for path in paths {
            files.push(FileEdits { path: self.path(path)?, edits: vec![Content(String::new())] });
        }
        let permit = self.permit(EditFiles { files })?;
        self.files
            .edit(permit, &self.stop, &mut |path, old, _| apply(&path.components().join("/"), old))
            .map_err(|error: FilesError| code(&error))
    }

    /// Replaces the whole text of each file.
    pub(crate) fn edit_all(&self, changes: &[(&str, &str)]) -> Answer<(Vec<Edited>, Vec<String>)> {
        let paths: Vec<&str> = changes.iter().map(|(path, _)| *path).collect();
        let mut wanted =
            changes.iter().map(|(path, text)| (self.path(path).unwrap().components().join("/"), *text));
        let wanted: std::collections::BTreeMap<_, _> = wanted.by_ref().collect();
        self.edit_with(&paths, &mut |path, _| Ok(wanted[path].to_owned()))
    }

    /// Every name in the workspace, the hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        names_beneath(&self.inside(""))
    }

    /// Names that only a door leaves behind.
    pub(crate) fn litter(&self) -> Vec<String> {
        let ours = |name: &String| name.contains(".vambrace-") || name.contains(".lock.");
        let mut found: Vec<String> = self.names().into_iter().filter(ours).collect();
        if self.journal().exists() {
            found.extend(names_beneath(&self.journal()));
        }
        found
    }

    #[track_caller]
    pub(crate) fn check_clean(&self) {
        assert_eq!(self.litter(), Vec::<String>::new());
    }
}

/// Something done to a world before or while the door works.
pub(crate) type Meddle<'a> = &'a dyn Fn(&World);
pub(crate) type Seen = (String, u64, Vec<u8>);
pub(crate) type ApplyText<'a> = dyn FnMut(&str, &str) -> Result<String, FilesError> + 'a;

pub(crate) fn code(error: &FilesError) -> &'static str {
    error.to_tool_error().code.as_str()
}

pub(crate) fn put(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn names_beneath(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            }
            found.push(entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

/// Past the test runner's capture, so that a person sees it.
pub(crate) fn not_run(what: &str) {
    let _ = writeln!(std::io::stderr(), "not run: needs root: {what}");
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs as somebody who owns nothing here; for root, in a thread of its own, because credentials are per thread.
pub(crate) fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if !is_root() {
        return work();
    }
    std::thread::scope(|scope| {
        let nobody = move || {
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_gid(rustix::fs::Gid::from_raw(65_534)).unwrap();
            rustix::thread::set_thread_uid(rustix::fs::Uid::from_raw(65_534)).unwrap();
            work()
        };
        scope.spawn(nobody).join().unwrap()
    })
}

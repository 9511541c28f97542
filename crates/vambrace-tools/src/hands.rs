//! Hands: the only way a tool reaches a door, given for one call and only after its intent is on record.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use vambrace_audit::{AuditError, IntentReceipt};
use vambrace_edit::Budget;
use vambrace_files::{Deadline, EntryKind, Files, FilesError, Outputs, Stop, Text, WorkLimit};
use vambrace_net::{Contact, Web};
use vambrace_policy::command::Word;
use vambrace_policy::url::Host;
use vambrace_policy::{
    Action, Answers, Decision, Facts, FetchUrl, ListFiles, OnWrite, Permit, Place, Policy, ReadFile, Runs,
    Scope, Standing,
};
use vambrace_process::{Finished, Live, Network, Programs, RunContext};
use vambrace_redact::{FindingKind, Redactor, holds_placeholder};
use vambrace_types::{Bearings, ByteLimit, Caller, Enforcement, ErrorCode, ScopedPath, ToolError, ToolName};

use crate::confirmation::Confirmations;
use crate::memory::Memories;
use crate::thread::hold;
use crate::tool::files;
use crate::way_out::WayOut;
use crate::{Limits, Toolbox};

/// The doors and what they need, one set for a running Vambrace.
#[derive(Debug)]
pub struct Instruments {
    pub files: Files,
    pub outputs: Outputs,
    pub programs: Programs,
    pub web: Arc<Web>,
    pub confirmations: Arc<Confirmations>,
    pub memories: Memories,
}

/// Why these hands may exist: the intent is written, or writing it failed.
pub enum Warrant<'call> {
    Written(&'call IntentReceipt),
    /// Only reading is left.
    Unrecorded(&'call AuditError),
    /// The operator chose that everything goes on all the same (`audit.on_failure: warn`).
    Waived(&'call AuditError),
}

/// Told how far long work has come.
pub trait ProgressSink: Send + Sync {
    fn progress(&self, done: u64, what: &str);
}

/// INVARIANT: lives no longer than the call, because it borrows the call's warrant.
pub struct Hands<'call> {
    warrant: Warrant<'call>,
    instruments: &'call Instruments,
    policy: &'call Policy,
    redactor: &'call Redactor,
    caller: &'call Caller,
    limits: Limits,
    stop: Stop,
    progress: Option<&'call Arc<dyn ProgressSink>>,
    live: Option<&'call Arc<dyn Live>>,
    notes: Mutex<Notes>,
}

/// What a tool leaves for the reply and the record beside its output.
#[derive(Debug, Default)]
pub struct Notes {
    pub warnings: Vec<String>,
    /// Secrets that the tool covered itself.
    pub n_redacted: usize,
    /// Protected names that programs made and that were taken away.
    pub planted: Vec<String>,
    /// Hosts that its requests and programs asked for.
    pub contacts: Vec<Contact>,
    /// What really stood around the programs it ran, the weakest of them.
    pub enforcement: Option<Enforcement>,
}

impl<'call> Hands<'call> {
    #[expect(clippy::too_many_arguments, reason = "made in one place, the walk, where each has a name")]
    pub fn new(
        warrant: Warrant<'call>,
        instruments: &'call Instruments,
        policy: &'call Policy,
        redactor: &'call Redactor,
        caller: &'call Caller,
        limits: Limits,
        stop: Stop,
        progress: Option<&'call Arc<dyn ProgressSink>>,
        live: Option<&'call Arc<dyn Live>>,
    ) -> Hands<'call> {
        Hands {
            warrant,
            instruments,
            policy,
            redactor,
            caller,
            limits,
            stop,
            progress,
            live,
            notes: Mutex::default(),
        }
    }

    /// A host that was asked for on behalf of the call, for the record.
    pub(crate) fn met(&self, contact: Contact) {
        self.notes().contacts.push(contact);
    }

    /// Work that may wait for a disk or a lock.
    pub(crate) async fn blocking<T>(&self, work: impl FnOnce() -> T) -> T {
        hold(work).await
    }

    /// Sentences for the reply's metadata.
    pub(crate) fn warn(&self, warnings: Vec<String>) {
        self.notes().warnings.extend(warnings);
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Secrets that the tool itself covered, because only it saw what was around them.
    pub(crate) fn redacted(&self, count: usize) {
        self.notes().n_redacted += count;
    }

    /// For the walk, when the tool is done.
    pub fn into_notes(self) -> Notes {
        self.notes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hooks that a commit made here leaves out.
    pub(crate) fn skipped_hooks(&self, folder: &ScopedPath) -> Vec<&'static str> {
        self.instruments.programs.skipped_hooks(folder)
    }

    /// Runs what the permit says, in the cage. No record, no program: what it does cannot be seen beforehand.
    pub(crate) async fn run<A: Runs>(
        &self,
        permit: Permit<A>,
        crowd: Option<usize>,
    ) -> Result<Finished, ToolError> {
        self.files_to_change()?;
        let cancelled = || self.stop.is_set();
        let planted = |names: Vec<String>| {
            let mut notes = self.notes();
            notes.warnings.extend(names.iter().map(|name| format!("{name}.")));
            notes.planted.extend(names);
        };
        let way_out = self.way_out(&permit);
        let owner = self.caller.owner();
        let context = RunContext {
            network: way_out.as_ref().map(|way_out| way_out as &dyn Network),
            caller: &owner,
            cancelled: &cancelled,
            live: self.live.map(|live| &**live as &dyn Live),
            n_at_once: crowd,
            planted: &planted,
        };
        let finished = self.blocking(|| self.instruments.programs.run(permit, &context)).await;
        if let Some(way_out) = &way_out {
            self.notes().contacts.extend(way_out.contacts());
        }
        let finished = finished.map_err(|error| error.to_tool_error())?;
        let mut notes = self.notes();
        notes.warnings.extend(finished.warnings.iter().cloned());
        let weakest = notes.enforcement.map_or(finished.enforcement, |known| known.min(finished.enforcement));
        notes.enforcement = Some(weakest);
        drop(notes);
        Ok(finished)
    }

    /// Only for a job to whose programs somebody has granted a host.
    fn way_out<A: Runs>(&self, permit: &Permit<A>) -> Option<WayOut> {
        let granted = self.policy.grants(permit);
        let caged = permit.action().job().place == Place::Cage;
        let web = Arc::clone(&self.instruments.web);
        (!granted.is_empty() && caged).then(|| WayOut::new(web, granted))
    }

    pub(crate) fn programs(&self) -> &Programs {
        &self.instruments.programs
    }

    /// Door two: no record, no request.
    pub(crate) fn web(&self) -> Result<&Web, ToolError> {
        self.files_to_change()?;
        Ok(&self.instruments.web)
    }

    /// A request that follows from another, decided like a fresh call.
    pub(crate) fn decide(&self, tool: &ToolName, action: FetchUrl) -> Result<Permit<FetchUrl>, ToolError> {
        let facts = sent_secrets(self.redactor, &action.sent());
        match self.policy.decide(self.caller, &Standing::Free, tool, action, &facts) {
            Decision::Allow(permit) => Ok(permit),
            Decision::Ask(pending) => Err(pending.question().to_tool_error()),
            Decision::Deny(denial) => Err(denial.to_tool_error()),
        }
    }

    pub(crate) fn confirmations(&self) -> &Confirmations {
        &self.instruments.confirmations
    }

    /// For reading, which goes on without a record (with a warning).
    pub(crate) fn files(&self) -> &Files {
        &self.instruments.files
    }

    /// For changing: no record, no change, unless the operator has waived it.
    pub(crate) fn files_to_change(&self) -> Result<&Files, ToolError> {
        match self.warrant {
            Warrant::Written(_) | Warrant::Waived(_) => Ok(&self.instruments.files),
            Warrant::Unrecorded(_) => Err(ToolError::new(
                ErrorCode::AuditUnavailable,
                "The record cannot be written, so nothing was changed.",
            )
            .suggestion("Tell the person you work for; reading still works.")),
        }
    }

    /// What is remembered, for reading.
    pub(crate) fn memories(&self) -> &Memories {
        &self.instruments.memories
    }

    /// For changing it: no record, no change, unless the operator has waived it.
    pub(crate) fn memories_to_change(&self) -> Result<&Memories, ToolError> {
        self.files_to_change()?;
        Ok(&self.instruments.memories)
    }

    pub(crate) fn outputs(&self) -> &Outputs {
        &self.instruments.outputs
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        self.redactor
    }

    pub(crate) fn on_write(&self) -> OnWrite {
        self.policy.on_write()
    }

    pub(crate) fn caller(&self) -> &Caller {
        self.caller
    }

    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::after(self.limits.time, self.stop.clone())
    }

    pub(crate) fn spelled(&self, path: &ScopedPath) -> String {
        path.spelled(self.bearings())
    }

    pub(crate) fn bearings(&self) -> &Bearings {
        self.scope().bearings()
    }

    /// For tools whose programs print what lies outside their targets.
    pub(crate) fn scope(&self) -> &Scope {
        self.policy.scope()
    }

    pub(crate) fn progress(&self, done: u64, what: &str) {
        if let Some(sink) = self.progress {
            sink.progress(done, what);
        }
    }
}

/// The time a pattern may take, restarted for each file.
pub(crate) struct PatternTime(WorkLimit);

impl PatternTime {
    pub(crate) fn start(limit: Duration, stop: &Stop) -> PatternTime {
        PatternTime(WorkLimit::of(limit, stop.clone()))
    }
}

impl Budget for PatternTime {
    fn exhausted(&self) -> bool {
        self.0.is_over()
    }
}

/// What stands in texts that would be sent away: names of rules, never values. What only looks like a secret is let pass:
/// addresses are full of it.
pub fn sent_secrets(redactor: &Redactor, texts: &[String]) -> Facts {
    let mut facts = Facts::default();
    for text in texts {
        facts.placeholder |= holds_placeholder(text);
        let known =
            redactor.scan(text.as_bytes()).into_iter().filter(|found| found.kind == FindingKind::Known);
        facts.sent_secrets.extend(known.map(|found| found.rule.to_string()));
    }
    facts.sent_secrets.sort();
    facts.sent_secrets.dedup();
    facts
}

/// What is known of a host's addresses after asking for them.
pub(crate) async fn answers(web: &Web, host: &Host) -> Answers {
    match web.resolve(host).await {
        Ok(addresses) => Answers::Found(addresses),
        Err(_) => Answers::Missing,
    }
}

/// Eyes without hands, for previews: every look is decided like a call of its own.
pub struct Look<'call> {
    pub(crate) toolbox: &'call Toolbox,
    pub(crate) instruments: &'call Instruments,
    pub(crate) policy: &'call Policy,
    pub(crate) redactor: &'call Redactor,
    pub(crate) caller: &'call Caller,
    pub(crate) limits: Limits,
    pub(crate) stop: Stop,
}

impl<'call> Look<'call> {
    pub fn new(
        instruments: &'call Instruments,
        toolbox: &'call Toolbox,
        policy: &'call Policy,
        redactor: &'call Redactor,
        caller: &'call Caller,
        limits: Limits,
        stop: Stop,
    ) -> Look<'call> {
        Look { toolbox, instruments, policy, redactor, caller, limits, stop }
    }

    pub fn spelled(&self, path: &ScopedPath) -> String {
        path.spelled(self.policy.scope().bearings())
    }

    /// What programs do not see of a folder, as paths in it.
    pub(crate) fn hidden_in(&self, folder: &ScopedPath) -> Result<Vec<String>, ToolError> {
        let hidden = self.instruments.programs.hidden_in(folder).map_err(|error| error.to_tool_error())?;
        if hidden.iter().any(|path| path.contains(char::REPLACEMENT_CHARACTER)) {
            let message =
                "A file that is hidden from programs has a name that is no text, so git cannot leave it out.";
            return Err(ToolError::new(ErrorCode::CommandFailed, message)
                .suggestion("Ask the person you work for to rename it."));
        }
        Ok(hidden)
    }

    /// What the real call would be refused for once it met the disk.
    pub fn probe<A: Action>(&self, permit: &Permit<A>) -> Result<(), ToolError> {
        self.instruments.files.probe(permit).map_err(files)
    }

    /// What is remembered; previews only look.
    pub(crate) fn memories(&self) -> &Memories {
        &self.instruments.memories
    }

    /// What a name stands for, asked once; nothing is connected to. Holds the thread, which the walk has made known.
    pub(crate) fn answers(&self, host: &Host) -> Answers {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return Answers::Missing };
        runtime.block_on(answers(&self.instruments.web, host))
    }

    /// A file's text, read with a permit of its own.
    pub fn text(&self, path: &ScopedPath, limit: ByteLimit) -> Result<Text, ToolError> {
        let action = ReadFile { path: path.clone(), max_bytes: limit, lines: None };
        let tool = ToolName::of("read_file");
        match self.policy.decide(self.caller, &Standing::Free, &tool, action, &Facts::default()) {
            Decision::Allow(permit) => {
                let deadline = Deadline::after(self.limits.time, self.stop.clone());
                self.instruments.files.read(permit, &deadline).map_err(files)
            }
            Decision::Ask(pending) => Err(pending.question().to_tool_error()),
            Decision::Deny(denial) => Err(denial.to_tool_error()),
        }
    }

    /// What stands at a path, in a form that is equal only while nothing has happened to it. Of a folder, also where the
    /// repository in it stands: every commit, checkout, reset and staging writes to one of these files.
    pub fn stamps(&self, path: &ScopedPath) -> Vec<String> {
        const REPOSITORY: [&str; 4] = ["HEAD", "logs/HEAD", "index", "packed-refs"];
        let files = &self.instruments.files;
        let mut stamps = vec![files.stamp(path)];
        if self.is_folder(path) {
            let inside = |name: &&str| {
                let mut components = path.components().to_vec();
                components.push(".git".to_owned());
                components.extend(name.split('/').map(str::to_owned));
                ScopedPath::from_components(components)
            };
            stamps.extend(REPOSITORY.iter().filter_map(inside).map(|path| files.stamp(&path)));
        }
        stamps
    }

    /// What programs of the service find there, and where its repository stands. THREAT: P01, a yes to a command that runs
    /// a script, and then another script.
    pub fn surroundings(&self) -> Vec<(String, Vec<String>)> {
        let bearings = self.policy.scope().bearings();
        let folders = std::iter::once(bearings.service()).chain(bearings.shared().iter().map(Vec::as_slice));
        let folders = folders.filter_map(|folder| ScopedPath::from_components(folder.to_vec()));
        let stamped = folders.map(|folder| {
            let mut stamps = self.stamps(&folder);
            stamps.extend(self.instruments.files.tree_stamps(&folder, &self.stop));
            (folder.components().join("/"), stamps)
        });
        stamped.collect()
    }

    /// Whether something that may be read stands there.
    pub(crate) fn exists(&self, path: &ScopedPath) -> bool {
        self.instruments.files.kind(path).is_some()
    }

    pub(crate) fn is_folder(&self, path: &ScopedPath) -> bool {
        self.instruments.files.kind(path) == Some(EntryKind::Folder)
    }

    /// Whether a program could be started by this name.
    pub(crate) fn is_installed(&self, program: &str) -> bool {
        self.instruments.programs.find(program).is_ok()
    }

    pub(crate) fn programs(&self) -> &Programs {
        &self.instruments.programs
    }

    /// A path as a program reads it that works in `folder`.
    pub(crate) fn beneath(&self, folder: &ScopedPath, text: &str) -> Option<ScopedPath> {
        ScopedPath::beneath(folder, text, self.policy.scope().bearings()).ok()
    }

    /// The names that a glob means in a folder, without those that the caller may not read. What it looks at is taken
    /// off `entries_left`, which the words of a line share.
    pub(crate) fn expand(
        &self,
        folder: &ScopedPath,
        word: &Word,
        entries_left: &mut usize,
    ) -> Result<Vec<String>, ToolError> {
        if self.stop.is_set() {
            return Err(files(FilesError::Stopped));
        }
        let action = ListFiles { path: folder.clone(), recursive: true };
        let tool = ToolName::of("read_file");
        match self.policy.decide(self.caller, &Standing::Free, &tool, action, &Facts::default()) {
            Decision::Allow(permit) => {
                let files_door = &self.instruments.files;
                files_door.expand_within(folder, word, permit.withheld(), entries_left).map_err(files)
            }
            Decision::Ask(pending) => Err(pending.question().to_tool_error()),
            Decision::Deny(denial) => Err(denial.to_tool_error()),
        }
    }
}

//! Hands: the only way a tool reaches a door, given for one call and only after its intent is on record.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use vambrace_audit::{AuditError, IntentReceipt};
use vambrace_edit::Budget;
use vambrace_files::{Deadline, Files, Outputs, Stop, Text, WorkLimit};
use vambrace_policy::{Action, Decision, Facts, Permit, Policy, ReadFile, Standing};
use vambrace_redact::Redactor;
use vambrace_types::{Bearings, ByteLimit, Caller, ErrorCode, ScopedPath, ToolError, ToolName};

use crate::Limits;
use crate::tool::files;

/// The doors and what they need, one set for a running Vambrace.
#[derive(Debug)]
pub struct Instruments {
    pub files: Files,
    pub outputs: Outputs,
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

/// How the runtime is told that a thread will be held for a while.
pub type Blocking = fn(&mut dyn FnMut());

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
    blocking: Blocking,
    warnings: Mutex<Vec<String>>,
    n_redacted: AtomicUsize,
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
        blocking: Blocking,
    ) -> Hands<'call> {
        let (warnings, n_redacted) = (Mutex::default(), AtomicUsize::new(0));
        Hands {
            warrant,
            instruments,
            policy,
            redactor,
            caller,
            limits,
            stop,
            progress,
            blocking,
            warnings,
            n_redacted,
        }
    }

    /// Work that may wait for a disk or a lock.
    pub(crate) fn blocking<T>(&self, work: impl FnOnce() -> T) -> Result<T, ToolError> {
        let mut work = Some(work);
        let mut result = None;
        (self.blocking)(&mut || result = work.take().map(|work| work()));
        result.ok_or_else(|| ToolError::new(ErrorCode::InternalError, "The work was not started."))
    }

    /// Sentences for the reply's metadata.
    pub(crate) fn warn(&self, warnings: Vec<String>) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warnings);
    }

    /// Secrets that the tool itself covered, because only it saw what was around them.
    pub(crate) fn redacted(&self, count: usize) {
        self.n_redacted.fetch_add(count, Ordering::Relaxed);
    }

    /// For the walk, when the tool is done: its warnings, and how many secrets it covered.
    pub fn into_notes(self) -> (Vec<String>, usize) {
        (self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner), self.n_redacted.into_inner())
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

    pub(crate) fn outputs(&self) -> &Outputs {
        &self.instruments.outputs
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        self.redactor
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
        self.policy.scope().bearings()
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

/// Eyes without hands, for previews: every look is decided like a call of its own.
pub struct Look<'call> {
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
        policy: &'call Policy,
        redactor: &'call Redactor,
        caller: &'call Caller,
        limits: Limits,
        stop: Stop,
    ) -> Look<'call> {
        Look { instruments, policy, redactor, caller, limits, stop }
    }

    pub fn spelled(&self, path: &ScopedPath) -> String {
        path.spelled(self.policy.scope().bearings())
    }

    /// What the real call would be refused for once it met the disk.
    pub fn probe<A: Action>(&self, permit: &Permit<A>) -> Result<(), ToolError> {
        self.instruments.files.probe(permit).map_err(files)
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
            Decision::Ask(question) => Err(question.to_tool_error()),
            Decision::Deny(denial) => Err(denial.to_tool_error()),
        }
    }
}

//! A folder, a clock that stands still until told, and calls to put on record.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};

use vambrace_audit::{
    AlertSettings, AuditLog, AuditSettings, CallEntry, Clock, DefenceAction, Ending, Intent, Outcome,
    Purpose, Severity, Verdict, Violation, ViolationKind,
};
use vambrace_redact::{RedactedText, RedactedTree, Redactor, RedactorSettings};
use vambrace_types::{
    CallId, Caller, Door, Enforcement, ErrorCode, Role, SessionId, Timestamp, ToolName, Tree, VolumeId,
};

pub(crate) const START: i64 = 1_700_000_000_000;

pub(crate) struct StillClock(AtomicI64);

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

impl StillClock {
    pub(crate) fn pass(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

pub(crate) fn clock() -> Arc<StillClock> {
    Arc::new(StillClock(AtomicI64::new(START)))
}

pub(crate) fn settings(dir: &Path) -> AuditSettings {
    AuditSettings { dir: dir.to_owned(), mirror: None, durable: false, alerts: AlertSettings::default() }
}

pub(crate) fn open(dir: &Path, clock: &Arc<StillClock>) -> AuditLog {
    AuditLog::open(settings(dir), clock.clone()).unwrap()
}

pub(crate) fn open_with(dir: &Path, action: DefenceAction, clock: &Arc<StillClock>) -> AuditLog {
    let alerts = AlertSettings { action, ..AlertSettings::default() };
    AuditLog::open(AuditSettings { alerts, ..settings(dir) }, clock.clone()).unwrap()
}

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(RedactorSettings::default()).unwrap());

pub(crate) fn text(text: &str) -> RedactedText {
    REDACTOR.text(text).value
}

pub(crate) fn tree(tree: Tree) -> RedactedTree {
    REDACTOR.plain_tree(tree).value
}

pub(crate) fn call_id(number: u64) -> CallId {
    let mut chance = [0; 10];
    chance[2..].copy_from_slice(&number.to_be_bytes());
    CallId::new(Timestamp::from_millis(START), chance)
}

pub(crate) fn call(number: u64, caller: &str) -> CallEntry {
    let mut who = Caller::local(Role::Dev, Door::CommandLine);
    who.id = caller.to_owned();
    CallEntry {
        call_id: call_id(number),
        session_id: SessionId::parse("thread-1").unwrap(),
        caller: who,
        address: None,
        request_id: None,
        tool: ToolName::of("read_file"),
        input: tree(Tree::map([("path", Tree::text("src/main.rs"))])),
        reason: Some(text("to look")),
        dry_run: false,
        purpose: Purpose::Call,
        volume: Some(VolumeId::new(42)),
    }
}

pub(crate) fn intent() -> Intent {
    Intent {
        plan: RedactedTree::null(),
        rule: "role dev".to_owned(),
        enforcement: Enforcement::Full,
        severity: Severity::Info,
        checkpoint: None,
    }
}

pub(crate) fn success() -> Outcome {
    Outcome {
        verdict: Verdict::Allow,
        rule: "role dev".to_owned(),
        ending: Ending::Success,
        error: None,
        result: tree(Tree::map([("bytes", Tree::Int(12))])),
        duration_ms: 7,
        redactions: 1,
        marks: Vec::new(),
        truncated: false,
        enforcement: Enforcement::Full,
        severity: Severity::Info,
        checkpoint: None,
        violation: None,
        further: Vec::new(),
    }
}

pub(crate) fn denied(kind: ViolationKind) -> Outcome {
    Outcome {
        verdict: Verdict::Deny,
        rule: "scope".to_owned(),
        ending: Ending::Denied,
        error: Some((ErrorCode::OutsideScope, text("The path `../b` is outside the scope."))),
        result: RedactedTree::null(),
        severity: Severity::Warning,
        violation: Some(Violation { kind, target: text("../b"), command_args: None }),
        ..success()
    }
}

/// Writes so many calls of two records each.
pub(crate) fn write_calls(log: &AuditLog, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let call = call(number, "agent");
        let _intent = log.intent(&call, &intent()).wait().unwrap();
        let _receipt = log.outcome(&call, &success()).wait().unwrap();
    }
}

/// The segment files, oldest first.
pub(crate) fn segments(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(dir.join("segments")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    found.sort();
    found
}

pub(crate) fn events(dir: &Path) -> Vec<String> {
    let entries = vambrace_audit::list(dir, &vambrace_audit::Filter::default()).unwrap();
    entries.into_iter().filter_map(|entry| entry.event).collect()
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn write_lines(path: &Path, lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text).unwrap();
}

pub(crate) fn edit(path: &Path, change: impl FnOnce(&mut Vec<String>)) {
    let mut all = lines(path);
    change(&mut all);
    write_lines(path, &all);
}

//! Appending to the record, in this process: unsynced by one caller, and durable with many waiting.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use vambrace_audit::{
    AlertSettings, AuditError, AuditLog, AuditSettings, CallEntry, Ending, Intent, Outcome, Purpose,
    Severity, SystemClock, Verdict,
};
use vambrace_redact::{RedactedTree, Redactor, RedactorSettings};
use vambrace_types::{
    CallId, Caller, Door, Enforcement, Role, SessionId, Timestamp, ToolName, Tree, VolumeId,
};

use super::Bench;
use crate::failure::Failure;
use crate::measure::{Turn, take_turns};
use crate::table::{Quantity, Reach, Row};

const UNSYNCED_ROUNDS: usize = 40;
const UNSYNCED_CALLS: u32 = 1000;
const DURABLE_ROUNDS: usize = 7;
const WAITING: u32 = 64;
/// Calls of each waiting caller in one turn.
const DURABLE_CALLS: u32 = 8;
/// Records of the one that syncs each: fewer, because it takes its time.
const LONELY_RECORDS: u32 = 64;
const MOST: Reach = Reach::Most(Quantity::Time(Duration::from_micros(2)));

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let redactor = Redactor::new(RedactorSettings::default()).map_err(|problem| {
        Failure::new(format!("no redactor: {problem}"), "Run `cargo xtask test` and fix what it says.")
    })?;
    let call = call(&redactor);
    let (intent, outcome) = ending(&redactor);
    let write = |log: &AuditLog| -> Result<(), AuditError> {
        let _receipt = log.intent(&call, &intent).wait()?;
        log.outcome(&call, &outcome).wait().map(drop)
    };
    let unsynced = open(bench.place.fresh("record-unsynced")?, false)?;
    write(&unsynced).map_err(broken)?;
    let line = line_of(bench, &unsynced)?;
    let mut plain = append_to(bench, "record-plain")?;
    let mut turns: Vec<Turn<'_>> = vec![
        per_record(UNSYNCED_CALLS * 2, || {
            (0..UNSYNCED_CALLS).try_for_each(|_| write(&unsynced)).map_err(broken)
        }),
        per_record(UNSYNCED_CALLS * 2, || {
            (0..UNSYNCED_CALLS * 2).try_for_each(|_| plain.write_all(&line)).map_err(lost)
        }),
    ];
    let quick = take_turns(UNSYNCED_ROUNDS, &mut turns)?;
    drop(turns);

    let durable = open(bench.place.fresh("record-durable")?, true)?;
    let mut lonely = append_to(bench, "record-lonely")?;
    let mut turns: Vec<Turn<'_>> = vec![
        per_record(WAITING * DURABLE_CALLS * 2, || {
            let work = || (0..DURABLE_CALLS).try_for_each(|_| write(&durable));
            together(WAITING, work).map_err(broken)
        }),
        per_record(LONELY_RECORDS, || {
            let mut one = || lonely.write_all(&line).and_then(|()| lonely.sync_data());
            (0..LONELY_RECORDS).try_for_each(|_| one()).map_err(lost)
        }),
    ];
    let slow = take_turns(DURABLE_ROUNDS, &mut turns)?;
    drop(turns);
    let ([ours, plain], [grouped, each]) = (quick.as_slice(), slow.as_slice()) else { return Ok(Vec::new()) };
    let durable = "record, durable, 64 waiting";
    Ok(vec![
        Row::time("record, unsynced", *ours, "plain write of the line", Some(*plain), MOST),
        Row::time(durable, *grouped, "one fdatasync each", Some(*each), Reach::Less(10.0)),
    ])
}

/// Times the work and counts it as so many records.
fn per_record<'a>(n_records: u32, mut work: impl FnMut() -> Result<(), Failure> + 'a) -> Turn<'a> {
    Box::new(move |samples: &mut Vec<Duration>| {
        let start = Instant::now();
        work()?;
        samples.push(start.elapsed() / n_records);
        Ok(())
    })
}

/// The same work on many threads; the first thing that went wrong, if anything did.
fn together(n_threads: u32, work: impl Fn() -> Result<(), AuditError> + Sync) -> Result<(), AuditError> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(&work)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

fn open(dir: PathBuf, durable: bool) -> Result<AuditLog, Failure> {
    let settings = AuditSettings { dir, mirror: None, durable, alerts: AlertSettings::default() };
    AuditLog::open(settings, Arc::new(SystemClock)).map_err(broken)
}

/// A line of the record, to be written plainly.
fn line_of(bench: &Bench<'_>, log: &AuditLog) -> Result<Vec<u8>, Failure> {
    log.seal().map_err(broken)?;
    let dir = bench.place.data.join("record-unsynced/segments");
    for entry in std::fs::read_dir(&dir).map_err(Failure::disk(&dir))? {
        let path = entry.map_err(Failure::disk(&dir))?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let bytes = std::fs::read(&path).map_err(Failure::disk(&path))?;
            return Ok(bytes.split_inclusive(|byte| *byte == b'\n').next_back().unwrap_or_default().to_vec());
        }
    }
    Err(Failure::wrong("the record", "has no segment", &dir.display().to_string()))
}

fn append_to(bench: &Bench<'_>, name: &str) -> Result<File, Failure> {
    let path = bench.place.fresh(name)?.join("lines.jsonl");
    File::options().append(true).create(true).open(&path).map_err(Failure::disk(&path))
}

fn call(redactor: &Redactor) -> CallEntry {
    CallEntry {
        call_id: CallId::new(Timestamp::from_millis(1_900_000_000_000), [7; 10]),
        session_id: SessionId::random([9; 16]),
        caller: Caller::local(Role::Dev, Door::McpStdio),
        address: None,
        request_id: None,
        tool: ToolName::of("read_file"),
        input: redactor.plain_tree(Tree::map([("path", Tree::text("src/worker/queue.rs"))])).value,
        reason: None,
        dry_run: false,
        purpose: Purpose::Call,
        volume: Some(VolumeId::new(65_024)),
    }
}

fn ending(redactor: &Redactor) -> (Intent, Outcome) {
    let (enforcement, severity, checkpoint) = (Enforcement::Full, Severity::Info, None);
    let rule = "scope.own".to_owned();
    let plan = RedactedTree::null();
    let intent = Intent { rule: rule.clone(), plan, enforcement, severity, checkpoint: None };
    let result = Tree::map([("bytes", Tree::count(1024)), ("truncated", Tree::Bool(false))]);
    let outcome = Outcome {
        further: Vec::new(),
        marks: Vec::new(),
        verdict: Verdict::Allow,
        rule,
        ending: Ending::Success,
        error: None,
        result: redactor.plain_tree(result).value,
        duration_ms: 1,
        redactions: 0,
        truncated: false,
        enforcement,
        severity,
        checkpoint,
        violation: None,
    };
    (intent, outcome)
}

fn broken(problem: AuditError) -> Failure {
    Failure::new(format!("the record: {problem}"), "Check the space on the disk of target/bench-data.")
}

fn lost(problem: std::io::Error) -> Failure {
    Failure::new(format!("a plain file: {problem}"), "Check the space on the disk of target/bench-data.")
}

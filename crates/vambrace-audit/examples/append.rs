//! How much one record costs: `cargo run --release -p vambrace-audit --example append [FOLDER]`.

#![expect(clippy::print_stdout, reason = "a measurement is printed")]
#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails may stop")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use vambrace_audit::{
    AlertSettings, AuditLog, AuditSettings, CallEntry, Ending, Intent, Outcome, Purpose, Severity,
    SystemClock, Verdict,
};
use vambrace_redact::{RedactedTree, Redactor, RedactorSettings};
use vambrace_types::{CallId, Caller, Door, Enforcement, Role, SessionId, Timestamp, ToolName, Tree};

const APPENDS: u32 = 20_000;
const CALLERS: u32 = 64;
const DURABLE_EACH: u32 = 100;

fn main() {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = folder.join(format!("vambrace-append-{}", std::process::id()));
    unsynced(&folder.join("unsynced"));
    durable(&folder.join("durable"));
    std::fs::remove_dir_all(&folder).unwrap();
}

fn open(dir: &Path, durable: bool) -> AuditLog {
    let settings =
        AuditSettings { dir: dir.to_owned(), mirror: None, durable, alerts: AlertSettings::default() };
    AuditLog::open(settings, Arc::new(SystemClock)).unwrap()
}

fn call() -> CallEntry {
    let redactor = Redactor::new(RedactorSettings::default()).unwrap();
    let input = Tree::map([("path", Tree::text("src/main.rs")), ("max_bytes", Tree::Int(102_400))]);
    CallEntry {
        call_id: CallId::new(Timestamp::from_millis(0), [7; 10]),
        session_id: SessionId::random([7; 16]),
        caller: Caller::local(Role::Dev, Door::McpStdio),
        address: None,
        request_id: None,
        tool: ToolName::of("read_file"),
        input: redactor.plain_tree(input).value,
        reason: None,
        dry_run: false,
        purpose: Purpose::Call,
        volume: None,
    }
}

fn intent() -> Intent {
    Intent {
        plan: RedactedTree::null(),
        rule: "role dev (built in)".to_owned(),
        enforcement: Enforcement::Full,
        severity: Severity::Info,
        checkpoint: None,
    }
}

fn outcome() -> Outcome {
    Outcome {
        further: Vec::new(),
        verdict: Verdict::Allow,
        rule: "role dev (built in)".to_owned(),
        ending: Ending::Success,
        error: None,
        result: RedactedTree::null(),
        duration_ms: 7,
        redactions: 0,
        marks: Vec::new(),
        truncated: false,
        enforcement: Enforcement::Full,
        severity: Severity::Info,
        checkpoint: None,
        violation: None,
    }
}

/// The processor time of this thread: what a record costs, however busy the machine is.
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

fn each(what: &str, times: u32, took: Duration) {
    println!("{what}: {:.2} µs", took.as_secs_f64() * 1e6 / f64::from(times));
}

/// One thread, nobody waits for the disk; beside it the bare system call with as many bytes.
fn unsynced(dir: &Path) {
    let (log, call, intent) = (open(dir, false), call(), intent());
    let start = spent();
    for _ in 0..APPENDS {
        let _receipt = log.intent(&call, &intent).wait().unwrap();
    }
    each("append, unsynced, intents", APPENDS, spent() - start);

    let outcome = outcome();
    let start = spent();
    for _ in 0..APPENDS {
        let _receipt = log.outcome(&call, &outcome).wait().unwrap();
    }
    each("append, unsynced, outcomes", APPENDS, spent() - start);

    let start = spent();
    for _ in 0..APPENDS {
        std::hint::black_box(log.standing("local").unwrap());
    }
    each("standing", APPENDS, spent() - start);
    drop(log);

    let line = [b'x'; 512];
    let mut file = std::fs::File::create(dir.join("bare")).unwrap();
    let start = spent();
    for _ in 0..APPENDS {
        std::io::Write::write_all(&mut file, &line).unwrap();
    }
    each("bare write of 512 bytes", APPENDS, spent() - start);
}

/// Many callers, each waiting until its record is on disk; beside it one sync per record.
fn durable(dir: &Path) {
    let (log, call, intent) = (open(dir, true), call(), intent());
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                for _ in 0..DURABLE_EACH {
                    let _receipt = log.intent(&call, &intent).wait().unwrap();
                }
            });
        }
    });
    each("append, durable, 64 callers", CALLERS * DURABLE_EACH, start.elapsed());
    drop(log);

    let mut file = std::fs::File::create(dir.join("bare")).unwrap();
    let n_syncs = 200;
    let start = Instant::now();
    for _ in 0..n_syncs {
        std::io::Write::write_all(&mut file, &[b'x'; 512]).unwrap();
        file.sync_data().unwrap();
    }
    each("bare write and fdatasync", n_syncs, start.elapsed());
}

//! A process may be killed at any moment: its lines stay whole, and the next process goes on.

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use tempfile::TempDir;
use vambrace_audit::{AuditLog, AuditSettings, SystemClock, verify};

use crate::support::{call, clock, events, intent, open, segments, settings, success, write_calls};

const CHILD: &str = "VAMBRACE_AUDIT_TEST_WRITER";
const DURABLE: &str = "VAMBRACE_AUDIT_TEST_DURABLE";
const ROUNDS: u64 = 30;
const LINES: usize = 20;

/// Does nothing unless `killed_writers` starts it.
#[test]
#[expect(clippy::disallowed_methods, reason = "how the parent tells its child where to write")]
fn writer_child() {
    let Some(dir) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let settings = AuditSettings { durable: std::env::var_os(DURABLE).is_some(), ..settings(&dir) };
    let log = AuditLog::open(settings, Arc::new(SystemClock)).unwrap();
    for number in 0.. {
        let call = call(number, "agent");
        let _intent = log.intent(&call, &intent()).wait().unwrap();
        println!("wrote");
        let _receipt = log.outcome(&call, &success()).wait().unwrap();
        println!("wrote");
    }
}

#[test]
fn killed_writers_leave_whole_lines() {
    killed_writers(false);
}

#[test]
fn killed_durable_writers_leave_whole_lines() {
    killed_writers(true);
}

#[expect(clippy::disallowed_types, reason = "only a process of its own can be killed")]
fn killed_writers(durable: bool) {
    let dir = TempDir::new().unwrap();
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::writer_child", "--nocapture"])
            .env(CHILD, dir.path())
            .envs(durable.then_some((DURABLE, "yes")))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let seen = output.lines().map(Result::unwrap).filter(|line| line.contains("wrote"));
        acknowledged += seen.take(LINES + round as usize).count() as u64;
        child.kill().unwrap();
        child.wait().unwrap();
        let report = verify(dir.path()).unwrap();
        assert_eq!(report.broken, None, "round {round}");
        assert!(report.n_records >= acknowledged, "round {round}: a line that was acknowledged is gone");
        assert!(
            report.open_intents.len() as u64 <= round + 1,
            "a killed process leaves at most one call open"
        );
    }
    assert_eq!(segments(dir.path()).len(), 1, "every process went on in the segment of the one before");
}

#[test]
fn an_unfinished_line_is_removed_and_told() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    write_calls(&open(dir.path(), &clock), 0..2);
    let file = &segments(dir.path())[0];
    let whole = fs::read(file).unwrap();
    OpenOptions::new().append(true).open(file).unwrap().write_all(b"{\"seq\":5,\"prev\":\"").unwrap();
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_records), (None, 4));
    assert_eq!(report.notes.len(), 1);

    drop(open(dir.path(), &clock));
    assert!(fs::read(file).unwrap().starts_with(&whole));
    assert_eq!(events(dir.path()), ["recovered"]);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 5, 0));
}

#[test]
fn an_intent_without_an_end_is_reported() {
    let dir = TempDir::new().unwrap();
    let log = open(dir.path(), &clock());
    write_calls(&log, 0..2);
    let _intent = log.intent(&call(7, "agent"), &intent()).wait().unwrap();
    drop(log);
    let open = verify(dir.path()).unwrap().open_intents;
    assert_eq!(open.len(), 1);
    assert_eq!(
        (open[0].call_id.as_str(), open[0].tool.as_str()),
        (call(7, "agent").call_id.as_str(), "read_file")
    );
}

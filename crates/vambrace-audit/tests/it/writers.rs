//! Many threads, many logs, one folder.

use std::sync::Arc;
use std::thread;

use tempfile::TempDir;
use vambrace_audit::{AuditLog, AuditSettings, SystemClock, verify};

use crate::support::{clock, open, segments, settings, write_calls};

#[test]
fn two_live_writers_never_share_a_segment() {
    let dir = TempDir::new().unwrap();
    thread::scope(|scope| {
        for writer in 0..2 {
            let dir = dir.path();
            scope.spawn(move || {
                let log = AuditLog::open(settings(dir), Arc::new(SystemClock)).unwrap();
                thread::scope(|inner| {
                    for part in 0..3 {
                        let log = &log;
                        let start = writer * 1000 + part * 100;
                        inner.spawn(move || write_calls(log, start..start + 50));
                    }
                });
            });
        }
    });
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 600, 0));
    assert!(report.n_segments <= 2);
    assert!(report.open_intents.is_empty());
}

#[test]
fn short_processes_share_one_segment() {
    let dir = TempDir::new().unwrap();
    for number in 0..10 {
        write_calls(&open(dir.path(), &clock()), number..number + 1);
    }
    assert_eq!(segments(dir.path()).len(), 1);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_records, report.n_sealed), (None, 20, 20));
}

#[test]
fn durable_calls_from_many_threads() {
    let dir = TempDir::new().unwrap();
    let log = AuditLog::open(AuditSettings { durable: true, ..settings(dir.path()) }, Arc::new(SystemClock))
        .unwrap();
    thread::scope(|scope| {
        for writer in 0..64 {
            let log = &log;
            scope.spawn(move || write_calls(log, writer * 10..writer * 10 + 4));
        }
    });
    drop(log);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_records, report.n_sealed), (None, 512, 512));
}

#[test]
fn seal_covers_everything_written_before() {
    let dir = TempDir::new().unwrap();
    let log = open(dir.path(), &clock());
    write_calls(&log, 0..5);
    log.seal().unwrap();
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.n_records, report.n_sealed, report.unsealed_tail), (10, 10, 0));
}

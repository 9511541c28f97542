//! Where the record may live, what its files look like, and what happens when they vanish.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;
use vambrace_audit::{AuditError, AuditLog, AuditSettings, verify};

use crate::support::{call, clock, events, intent, open, segments, settings, success, write_calls};

#[test]
fn everything_is_private() {
    let dir = TempDir::new().unwrap();
    let audit = dir.path().join("state/audit");
    write_calls(&open(&audit, &clock()), 0..1);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&audit), mode(&audit.join("segments"))), (0o700, 0o700));
    for folder in [&audit, &audit.join("segments")] {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
            }
        }
    }
}

#[test]
fn folders_that_others_can_change_are_refused() {
    let dir = TempDir::new().unwrap();
    let (shared, real, link) = (dir.path().join("shared"), dir.path().join("real"), dir.path().join("link"));
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    for (path, why) in [(&shared, "others may write"), (&link, "symbolic link")] {
        let refused = AuditLog::open(settings(path), clock()).err().unwrap();
        assert!(matches!(refused, AuditError::UnsafePlace { .. }));
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

#[test]
fn a_deleted_segment_is_an_error_and_then_another_is_used() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let log = open(dir.path(), &clock);
    write_calls(&log, 0..1);
    // So that the background thread, which looks as well, has nothing to do.
    log.seal().unwrap();
    fs::remove_file(&segments(dir.path())[0]).unwrap();
    clock.pass(1);
    let refused = log.intent(&call(1, "agent"), &intent()).wait().unwrap_err();
    assert!(matches!(refused, AuditError::Gone { .. }), "{refused}");
    write_calls(&log, 2..3);
    drop(log);
    assert_eq!(events(dir.path()), ["segment_lost"]);
    let broken = verify(dir.path()).unwrap().broken.unwrap();
    assert!(broken.why.contains("deleted"), "{broken}");
}

#[test]
fn a_segment_deleted_before_the_outcome_is_noticed() {
    for durable in [true, false] {
        let dir = TempDir::new().unwrap();
        let clock = clock();
        let settings = AuditSettings { durable, ..settings(dir.path()) };
        let log = AuditLog::open(settings, clock.clone()).unwrap();
        let call = call(1, "agent");
        let _intent = log.intent(&call, &intent()).wait().unwrap();
        log.seal().unwrap();
        fs::remove_file(&segments(dir.path())[0]).unwrap();
        clock.pass(1);
        assert!(
            matches!(log.outcome(&call, &success()).wait(), Err(AuditError::Gone { .. })),
            "durable: {durable}"
        );
        write_calls(&log, 2..3);
        drop(log);
        assert_eq!(events(dir.path()), ["segment_lost"]);
    }
}

#[test]
fn a_deleted_folder_is_an_error_until_it_is_back() {
    let dir = TempDir::new().unwrap();
    let (audit, aside) = (dir.path().join("audit"), dir.path().join("aside"));
    let clock = clock();
    let log = open(&audit, &clock);
    write_calls(&log, 0..1);
    log.seal().unwrap();
    fs::rename(&audit, &aside).unwrap();
    fs::remove_file(&segments(&aside)[0]).unwrap();
    fs::write(&audit, "in the way").unwrap();
    assert!(log.intent(&call(1, "agent"), &intent()).wait().is_err());
    assert!(log.intent(&call(1, "agent"), &intent()).wait().is_err());
    clock.pass(1);
    assert!(log.standing("agent").is_err(), "a missing book frees nobody");
    fs::remove_file(&audit).unwrap();
    fs::rename(&aside, &audit).unwrap();
    write_calls(&log, 2..3);
}

#[test]
fn another_book_of_stops_frees_nobody_however_often_one_asks() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let log = open(dir.path(), &clock);
    assert!(log.standing("agent").is_ok());
    let book = dir.path().join("standing.jsonl");
    fs::rename(&book, dir.path().join("aside")).unwrap();
    fs::write(&book, "{\"version\":1,\"standing_id\":\"another\"}\n").unwrap();
    clock.pass(1);
    for _ in 0..3 {
        assert!(log.standing("agent").is_err());
    }
    fs::rename(dir.path().join("aside"), &book).unwrap();
    assert!(log.standing("agent").is_ok());
}

#[test]
fn a_deleted_record_does_not_come_back_empty() {
    let dir = TempDir::new().unwrap();
    let audit = dir.path().join("audit");
    let log = open(&audit, &clock());
    write_calls(&log, 0..1);
    log.seal().unwrap();
    fs::remove_dir_all(&audit).unwrap();
    for _ in 0..3 {
        assert!(log.intent(&call(1, "agent"), &intent()).wait().is_err());
        assert!(!audit.exists());
    }
    // Another process starts afresh; the old one must not write into a record that is not its own.
    write_calls(&open(&audit, &clock()), 0..1);
    let refused = log.intent(&call(1, "agent"), &intent()).wait().unwrap_err();
    assert!(refused.to_string().contains("exchanged for another"), "{refused}");
    drop(log);
    assert_eq!(verify(&audit).unwrap().broken, None);
}

#[test]
fn errors_name_the_path_and_the_cause() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = AuditLog::open(settings(&file), clock()).err().unwrap().to_string();
    assert!(refused.starts_with("cannot make `") && refused.contains("file"), "{refused}");
    let nothing = verify(&dir.path().join("nowhere")).unwrap();
    assert!(nothing.is_absent && nothing.notes[0].contains("nothing has been recorded"), "{nothing:?}");
}

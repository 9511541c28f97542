//! Whatever is done to the files, `verify` names it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use vambrace_audit::{Broken, verify};

use crate::support::{clock, edit, events, open, segments, write_calls};

/// Two sealed segments of six records each.
fn recorded() -> TempDir {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let first = open(dir.path(), &clock);
    clock.pass(1);
    let second = open(dir.path(), &clock);
    write_calls(&first, 0..3);
    write_calls(&second, 3..6);
    drop((first, second));
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.n_segments, report.n_records, report.n_sealed), (2, 12, 12), "{report:?}");
    assert_eq!(report.broken, None);
    dir
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// `place` is the file that must be named: the first or second segment, or another file.
enum Place {
    First,
    Second,
    Registry,
    Key,
}

#[track_caller]
fn check(tamper: impl FnOnce(&Path, &[PathBuf]), place: Place, line: u64, why: &str) {
    let dir = recorded();
    let files = segments(dir.path());
    tamper(dir.path(), &files);
    let Broken { segment, line: found, why: reason, .. } =
        verify(dir.path()).unwrap().broken.expect("broken");
    let expected = match place {
        Place::First => name(&files[0]),
        Place::Second => name(&files[1]),
        Place::Registry => "segments.jsonl".to_owned(),
        Place::Key => "audit.pub".to_owned(),
    };
    assert_eq!((segment, found), (expected, line), "{reason}");
    assert!(reason.contains(why), "{reason}");
}

#[test]
fn changed_records() {
    check(
        |_, files| edit(&files[0], |all| all[2] = all[2].replace("agent", "other")),
        Place::First,
        3,
        "line 4 names",
    );
    check(
        |_, files| edit(&files[1], |all| all[5] = all[5].replace("agent", "other")),
        Place::Second,
        6,
        "signed head",
    );
    check(|_, files| edit(&files[0], |all| all[1].insert(0, 'x')), Place::First, 2, "not a record");
    check(|_, files| edit(&files[0], |all| all[1].push_str(&" ".repeat(90_000))), Place::First, 2, "longer");
}

#[test]
fn removed_moved_and_added_records() {
    check(|_, files| edit(&files[0], |all| drop(all.remove(2))), Place::First, 3, "`seq` is 4 where 3");
    check(|_, files| edit(&files[0], |all| drop(all.remove(0))), Place::First, 1, "`seq` is 2 where 1");
    check(|_, files| edit(&files[0], |all| drop(all.pop())), Place::First, 6, "ends after 5 lines");
    check(|_, files| edit(&files[0], |all| all.swap(1, 2)), Place::First, 2, "`seq` is 3 where 2");
    check(|_, files| edit(&files[0], |all| all.push(all[5].clone())), Place::First, 7, "`seq` is 6 where 7");
    check(|_, files| fs::write(&files[0], "").unwrap(), Place::First, 1, "ends after 0 lines");
    let cut_last = |_: &Path, files: &[PathBuf]| {
        let bytes = fs::read(&files[1]).unwrap();
        fs::write(&files[1], &bytes[..bytes.len() - 9]).unwrap();
    };
    check(cut_last, Place::Second, 6, "ends after 5 lines");
}

#[test]
fn deleted_and_exchanged_files() {
    let head = |file: &Path| file.with_extension("head");
    check(|_, files| fs::remove_file(&files[0]).unwrap(), Place::First, 0, "deleted");
    let both = |_: &Path, files: &[PathBuf]| {
        fs::remove_file(&files[1]).unwrap();
        fs::remove_file(head(&files[1])).unwrap();
    };
    check(both, Place::Second, 0, "deleted");
    check(|_, files| fs::remove_file(head(&files[0])).unwrap(), Place::First, 0, "head cannot be read");
    check(|_, files| fs::write(head(&files[0]), "{}").unwrap(), Place::First, 0, "not a head");
    let other_head = |_: &Path, files: &[PathBuf]| {
        fs::copy(head(&files[1]), head(&files[0])).unwrap();
    };
    check(other_head, Place::First, 0, "not signed for this segment");
    let other_segment = |_: &Path, files: &[PathBuf]| {
        fs::copy(&files[1], &files[0]).unwrap();
        fs::copy(head(&files[1]), head(&files[0])).unwrap();
    };
    check(other_segment, Place::First, 1, "does not begin this file");
}

#[test]
fn the_registry_and_the_key() {
    let registry = |dir: &Path| dir.join("segments.jsonl");
    check(|dir, _| edit(&registry(dir), |all| drop(all.pop())), Place::Registry, 3, "ends after 2 lines");
    check(|dir, _| edit(&registry(dir), |all| drop(all.remove(1))), Place::Registry, 2, "`seq` is 3");
    check(
        |dir, _| edit(&registry(dir), |all| all[1] = all[1].replace("2023", "2024")),
        Place::Registry,
        2,
        "line 3 names",
    );
    check(|dir, _| fs::remove_file(registry(dir)).unwrap(), Place::Registry, 0, "missing");
    check(
        |dir, _| fs::remove_file(dir.join("segments.head")).unwrap(),
        Place::Registry,
        0,
        "head is missing",
    );
    check(|dir, _| fs::remove_file(dir.join("audit.pub")).unwrap(), Place::Key, 0, "cannot be read");
    check(|dir, _| fs::write(dir.join("audit.pub"), "0".repeat(64)).unwrap(), Place::Key, 0, "not the one");
    // A registry with a head of the attacker's own key, and records to match.
    let foreign = |dir: &Path, _: &[PathBuf]| {
        let other = recorded();
        for file in ["segments.jsonl", "segments.head"] {
            fs::copy(other.path().join(file), dir.join(file)).unwrap();
        }
    };
    check(foreign, Place::Key, 0, "not the one in the registry");
}

#[test]
fn a_segment_that_nobody_registered() {
    let dir = recorded();
    let stranger = dir.path().join("segments/20990101T000000000Z-00000000.jsonl");
    fs::write(&stranger, "").unwrap();
    assert_eq!(
        verify(dir.path()).unwrap().broken,
        None,
        "a crash between making and listing leaves an empty file"
    );
    fs::copy(&segments(dir.path())[0], &stranger).unwrap();
    let broken = verify(dir.path()).unwrap().broken.unwrap();
    assert_eq!((broken.segment, broken.line), (name(&stranger), 0));
}

#[test]
fn every_changed_byte_shows() {
    let dir = recorded();
    let file = &segments(dir.path())[0];
    let original = fs::read(file).unwrap();
    for place in (0..original.len()).step_by(11) {
        let line = 1 + original[..place].iter().filter(|byte| **byte == b'\n').count() as u64;
        let mut bytes = original.clone();
        bytes[place] ^= 1;
        fs::write(file, bytes).unwrap();
        let found = verify(dir.path()).unwrap().broken.expect("broken").line;
        // A changed `prev` cannot be told from a changed line before it.
        assert!(found == line || found + 1 == line, "byte {place} of line {line}, named {found}");
    }
}

#[test]
fn a_segment_that_contradicts_its_head_is_left_alone() {
    let dir = recorded();
    let files = segments(dir.path());
    for file in &files {
        edit(file, |all| all[5] = all[5].replace("agent", "other"));
    }
    let before: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let clock = clock();
    clock.pass(1000);
    for _ in 0..2 {
        write_calls(&open(dir.path(), &clock), 10..11);
    }
    let after: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    assert_eq!(before, after);
    assert_eq!(segments(dir.path()).len(), 3, "one new segment, used twice");
    let set_aside = events(dir.path()).iter().filter(|event| *event == "set_aside").count();
    assert_eq!(set_aside, 2, "each is named once");
    assert!(verify(dir.path()).unwrap().broken.is_some());
}

/// A line that fits, made as anybody could: the hash needs no key.
fn forge(file: &Path) {
    edit(file, |all| {
        let last = all.last().unwrap();
        let digest = <sha2::Sha256 as sha2::Digest>::digest(last.as_bytes());
        let prev: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let seq = all.len() + 1;
        all.push(format!(
            "{{\"seq\":{seq},\"prev\":\"{prev}\",\"timestamp\":\"2023-11-14T22:13:20.000Z\",\"kind\":\"event\",\"event\":\"approval\"}}"
        ));
    });
}

#[test]
fn records_added_behind_the_head_are_counted_for_ever() {
    let dir = recorded();
    let clock = clock();
    clock.pass(1000);
    let file = &segments(dir.path())[1];
    forge(file);
    forge(file);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.unsealed_tail, report.n_adopted), (None, 2, 0));
    let log = open(dir.path(), &clock);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.n_sealed, report.unsealed_tail), (15, 0), "signed before anything else is written");
    write_calls(&log, 10..11);
    drop(log);
    drop(open(dir.path(), &clock));
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.unsealed_tail, report.n_adopted), (None, 0, 2));
    assert_eq!(report.notes.len(), 1);
    assert!(report.notes[0].contains("the 2 records before line 9"), "{:?}", report.notes);
    assert_eq!(events(dir.path()), ["approval", "approval", "adopted"]);
}

/// What is wrong with old segments is not found out by whoever runs `verify` only: the next start tells, once.
#[test]
fn a_damaged_old_segment_is_told_at_the_next_start() {
    let garble = |_: &Path, files: &[PathBuf]| edit(&files[0], |all| all[0].insert(0, 'x'));
    let cut = |_: &Path, files: &[PathBuf]| edit(&files[0], |all| drop(all.pop()));
    let delete = |_: &Path, files: &[PathBuf]| fs::remove_file(&files[0]).unwrap();
    let behead = |_: &Path, files: &[PathBuf]| fs::write(files[0].with_extension("head"), "x").unwrap();
    type Tamper = fn(&Path, &[PathBuf]);
    let rows: [(Tamper, &str); 4] =
        [(garble, "not a record"), (cut, "signed head"), (delete, "deleted"), (behead, "head")];
    for (tamper, why) in rows {
        let dir = recorded();
        tamper(dir.path(), &segments(dir.path()));
        let clock = clock();
        clock.pass(2);
        // It goes on in the newest, and looks at the other.
        let log = open(dir.path(), &clock);
        assert_eq!(log.set_aside().len(), 1, "{why}");
        drop(log);
        let told = || vambrace_audit::list(dir.path(), &vambrace_audit::Filter::default()).unwrap();
        let aside: Vec<_> =
            told().into_iter().filter(|entry| entry.event.as_deref() == Some("set_aside")).collect();
        assert_eq!(aside.len(), 1, "{aside:?}");
        assert!(aside[0].message.as_deref().unwrap().contains(why), "{aside:?}");
        let alerts = vambrace_audit::alerts(dir.path()).unwrap();
        assert_eq!(alerts.iter().map(|alert| alert.rule.as_str()).collect::<Vec<_>>(), ["audit-log-damaged"]);
        clock.pass(60_000);
        let again = open(dir.path(), &clock);
        assert_eq!(again.set_aside().len(), 1, "still known");
        drop(again);
        assert_eq!(events(dir.path()).iter().filter(|event| *event == "set_aside").count(), 1, "told once");
        assert!(verify(dir.path()).unwrap().broken.is_some());
    }
}

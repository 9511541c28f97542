//! The fault loop: the record fails at its first, second, third … reading of the clock, until the call no longer gets
//! that far. Each time nothing is half done, and nothing is changed of which no intent is on record.

use serde_json::{Value, json};
use vambrace_runtime::Verdict;
use vambrace_types::{ErrorCode, Status};

use crate::disk;
use crate::settings::Settings;
use crate::world::{World, code, demand_success};

/// A call reads the clock at its beginning, for the intent, at its conclusion and for the outcome.
const BEGIN: usize = 1;
const INTENT: usize = 2;
const N_READINGS: usize = 4;

fn entries() -> Value {
    json!({"a.txt": "old a\n", "b.txt": "old b\n", "c/d.txt": "old d\n"})
}

fn settings(mode: &str) -> Settings {
    Settings { on_audit_failure: mode.to_owned(), ..Settings::default() }
}

fn changes() -> Vec<(&'static str, Value)> {
    let edit = |path: &str| json!({"path": path, "edits": [{"spec": "old", "content": "new"}]});
    vec![
        ("write_file", json!({"path": "a.txt", "content": "new a\n"})),
        ("write_file", json!({"path": "n/e/w.txt", "content": "new\n"})),
        ("edit_file", json!({"files": [edit("a.txt"), edit("b.txt"), edit("c/d.txt")]})),
        ("delete_file", json!({"path": "b.txt"})),
        ("create_directory", json!({"path": "x/y"})),
    ]
}

fn reads() -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": "a.txt"})),
        ("list_files", json!({})),
        ("search_file", json!({"regex": "old"})),
        ("count_matches", json!({"regex": "old"})),
    ]
}

/// A world whose record breaks for good when the clock is read for the n-th time.
fn breaking_at(mode: &str, n: usize) -> World {
    let world = World::new(settings(mode), &entries());
    let audit = world.audit_folder();
    world.clock.on_reading(move |number| {
        if number == n {
            disk::break_record(&audit);
        }
    });
    world
}

/// What the call leaves behind when nothing fails.
fn undisturbed(tool: &str, arguments: &Value) -> disk::Snapshot {
    let world = World::plain(entries());
    demand_success(&world.call(tool, arguments.clone()));
    world.snapshot()
}

#[track_caller]
fn demand_warning(warnings: &[String], part: &str) {
    assert!(warnings.iter().any(|warning| warning.contains(part)), "{part}: {warnings:?}");
}

const OUTCOME_LOST: &str = "This call's outcome could not be recorded.";
const STOPS_NOT_SEEN: &str = "Whether a person has stopped this caller cannot be seen.";
/// The words of specification 002.
const INTENT_LOST: &str = "Warning: failed to write audit log: ";

#[test]
fn nothing_is_changed_unless_its_intent_is_on_record() {
    for (tool, arguments) in changes() {
        let (before, after) = (World::plain(entries()).snapshot(), undisturbed(tool, &arguments));
        for n in BEGIN.. {
            let world = breaking_at("deny_writes", n);
            let reply = world.call(tool, arguments.clone());
            if world.clock.n_reads() < n {
                assert!(n > N_READINGS, "{tool} reads the clock less often than thought");
                assert!(reply.metadata().warnings.is_empty());
                break;
            }
            demand_warning(&reply.metadata().warnings, OUTCOME_LOST);
            if n <= INTENT {
                assert_eq!(code(&reply), Some(ErrorCode::AuditUnavailable), "{tool}, fault {n}");
                assert_eq!(world.snapshot(), before, "{tool}, fault {n}");
            } else {
                demand_success(&reply);
                assert_eq!(world.snapshot(), after, "{tool}, fault {n}");
            }
        }
    }
}

#[test]
fn reading_goes_on_without_a_record_and_says_so() {
    for (tool, arguments) in reads() {
        for n in BEGIN..=N_READINGS {
            let world = breaking_at("deny_writes", n);
            let reply = world.call(tool, arguments.clone());
            demand_success(&reply);
            demand_warning(&reply.metadata().warnings, OUTCOME_LOST);
            if n <= INTENT {
                demand_warning(&reply.metadata().warnings, INTENT_LOST);
            }
        }
    }
}

#[test]
fn deny_all_reads_nothing_without_a_record() {
    for (tool, arguments) in reads().into_iter().chain(changes()) {
        for dry_run in [false, true] {
            let world = breaking_at("deny_all", BEGIN);
            let before = world.snapshot();
            let incoming = world.incoming(tool, arguments.clone());
            let reply = world.send(vambrace_runtime::Incoming { dry_run, ..incoming });
            assert_eq!(code(&reply), Some(ErrorCode::AuditUnavailable), "{tool}, dry run: {dry_run}");
            assert_eq!(reply.data().as_tree(), &vambrace_types::Tree::Null);
            assert_eq!(world.snapshot(), before);
        }
    }
}

#[test]
fn warn_does_everything_and_says_so() {
    for (tool, arguments) in changes() {
        let after = undisturbed(tool, &arguments);
        for n in BEGIN..=N_READINGS {
            let world = breaking_at("warn", n);
            let reply = world.call(tool, arguments.clone());
            demand_success(&reply);
            demand_warning(&reply.metadata().warnings, OUTCOME_LOST);
            if n <= INTENT {
                demand_warning(&reply.metadata().warnings, INTENT_LOST);
            }
            assert_eq!(world.snapshot(), after, "{tool}, fault {n}");
        }
    }
}

#[test]
fn denials_are_denials_with_and_without_a_record() {
    for mode in ["warn", "deny_writes", "deny_all"] {
        for n in BEGIN..=N_READINGS {
            let world = breaking_at(mode, n);
            let reply = world.call("write_file", json!({"path": ".env", "content": "x"}));
            assert_eq!(
                (reply.status(), reply.verdict()),
                (Status::Error, Verdict::Deny),
                "{mode}, fault {n}"
            );
        }
    }
}

#[test]
fn a_record_that_could_not_be_opened_is_a_record_that_fails() {
    for (mode, reads_go_on, changes_go_on) in
        [("warn", true, true), ("deny_writes", true, false), ("deny_all", false, false)]
    {
        let world = World::new(Settings { audit_full: true, ..settings(mode) }, &entries());
        assert!(world.corridor.audit().is_err());
        let read = world.call("read_file", json!({"path": "a.txt"}));
        assert_eq!(read.error().is_none(), reads_go_on, "{mode}: {:?}", read.error());
        let write = world.call("write_file", json!({"path": "a.txt", "content": "new"}));
        assert_eq!(write.error().is_none(), changes_go_on, "{mode}: {:?}", write.error());
        assert_eq!(world.file("a.txt") == "new", changes_go_on);
        for reply in [&read, &write].into_iter().filter(|reply| reply.error().is_none()) {
            demand_warning(&reply.metadata().warnings, INTENT_LOST);
        }
        for reply in [read, write].iter().filter(|reply| reply.error().is_some()) {
            assert_eq!(code(reply), Some(ErrorCode::AuditUnavailable), "{mode}");
        }
    }
}

/// THREAT: P12, the kill switch lies beside the record.
#[test]
fn what_cannot_be_seen_may_be_a_stop_and_nobody_goes_on() {
    for (mode, goes_on) in [("warn", true), ("deny_writes", false), ("deny_all", false)] {
        for (tool, arguments) in reads().into_iter().chain(changes()) {
            let world = World::new(Settings { audit_broken: true, ..settings(mode) }, &entries());
            let reply = world.call(tool, arguments);
            assert_eq!(reply.error().is_none(), goes_on, "{mode} {tool}: {:?}", reply.error());
            if goes_on {
                demand_warning(&reply.metadata().warnings, STOPS_NOT_SEEN);
            } else {
                assert_eq!(code(&reply), Some(ErrorCode::AuditUnavailable), "{mode} {tool}");
            }
        }
    }
}

#[test]
fn a_stop_holds_although_the_record_cannot_be_opened() {
    for mode in ["warn", "deny_writes", "deny_all"] {
        let world = World::new(Settings { stopped: true, ..settings(mode) }, &entries());
        let (audit, gone) = (world.audit_folder(), world.audit_folder().with_extension("gone"));
        let settings = Settings { audit_full: true, ..settings(mode) };
        let other = World::new(settings, &entries());
        // The book and the registry are there; the segments are not, and cannot be made.
        std::fs::rename(other.audit_folder(), gone).unwrap();
        std::fs::rename(audit, other.audit_folder()).unwrap();
        let reply = other.call("read_file", json!({"path": "a.txt"}));
        assert!(other.corridor.audit().is_err());
        assert_eq!(code(&reply), Some(ErrorCode::Suspended), "{mode}: {:?}", reply.error());
        let book = other.audit_folder().join("standing.jsonl");
        std::fs::remove_file(&book).unwrap();
        std::fs::create_dir(&book).unwrap();
        let reply = other.call("read_file", json!({"path": "a.txt"}));
        assert_eq!(reply.error().is_none(), mode == "warn", "{mode}: {:?}", reply.error());
        std::fs::remove_dir(&book).unwrap();
        std::fs::write(&book, "garbage\n").unwrap();
        let reply = other.call("read_file", json!({"path": "a.txt"}));
        assert_eq!(reply.error().is_none(), mode == "warn", "{mode}: {:?}", reply.error());
    }
}

#[test]
fn a_record_that_works_again_is_used_again() {
    let world = World::new(settings("deny_writes"), &entries());
    let write = |text: &str| world.call("write_file", json!({"path": "a.txt", "content": text}));
    demand_success(&write("one"));
    disk::break_record(&world.audit_folder());
    for _ in 0..3 {
        assert_eq!(code(&write("two")), Some(ErrorCode::AuditUnavailable));
        assert_eq!(world.file("a.txt"), "one");
    }
    disk::mend_record(&world.audit_folder());
    let reply = write("three");
    demand_success(&reply);
    assert_eq!(world.file("a.txt"), "three");
    assert_eq!(world.records_of(&reply).len(), 2);
    // The lost lines are not passed over in silence.
    let events: Vec<_> = world.all_records().into_iter().filter(|record| record["kind"] == "event").collect();
    assert!(events.iter().any(|event| event["event"] == "segment_lost"), "{events:?}");
}

#[test]
fn without_a_record_a_stop_cannot_be_seen_so_changes_are_not_even_planned() {
    let world = World::new(Settings { audit_broken: true, ..settings("deny_writes") }, &entries());
    for (tool, arguments) in changes() {
        let reply = world.dry_run(tool, arguments);
        assert_eq!(code(&reply), Some(ErrorCode::AuditUnavailable), "{tool}");
        assert!(reply.rule().is_empty(), "{tool} was decided about: {:?}", reply.rule());
    }
}

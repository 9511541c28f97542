//! The kill switch, seen by a log that was open before.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use vambrace_audit::{
    AuditLog, CallEntry, DefenceAction, Outcome, Released, Standing, Thrown, ViolationKind, resume, stop,
    stopped, verify,
};
use vambrace_types::{Caller, Door, ErrorCode, Role, Timestamp};

use crate::support::{START, call, clock, denied, edit, events, open, open_with, settings, success, text};

fn suspended(by: &str, millis: i64) -> Standing {
    Standing::Suspended { by: by.to_owned(), since: Timestamp::from_millis(START + millis) }
}

#[test]
fn a_stop_is_seen_at_once_and_lasts_until_the_release() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let (server, other) = (open(dir.path(), &clock), open(dir.path(), &clock));
    let check = |caller: &str, expected: Standing| {
        assert_eq!(server.standing(caller).unwrap(), expected);
        assert_eq!(other.standing(caller).unwrap(), expected);
    };
    check("agent", Standing::Free);
    stop(dir.path(), Some("agent"), "ann", clock.clone()).unwrap();
    check("agent", suspended("ann", 0));
    check("agent2", Standing::Free);

    clock.pass(1);
    stop(dir.path(), None, "bob", clock.clone()).unwrap();
    check("agent2", suspended("bob", 1));
    resume(dir.path(), "*", "bob", clock.clone()).unwrap();
    check("agent2", Standing::Free);
    check("agent", suspended("ann", 0)); // stopped by name, so released by name

    resume(dir.path(), "agent", "ann", clock.clone()).unwrap();
    check("agent", Standing::Free);
    drop((server, other));
    assert_eq!(events(dir.path()), ["stopped", "stopped", "resumed", "resumed"]);
    assert_eq!(verify(dir.path()).unwrap().broken, None);
}

#[test]
fn names_are_taken_as_they_are() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let log = open(dir.path(), &clock);
    let long = "x".repeat(100_000);
    for odd in ["a\"b\n", "../../etc", "é", long.as_str()] {
        stop(dir.path(), Some(odd), "ann", clock.clone()).unwrap();
        assert_eq!(log.standing(odd).unwrap(), suspended("ann", 0));
    }
    assert_eq!(
        log.standing(&"x".repeat(99_999)).unwrap(),
        Standing::Free,
        "a long name is not cut to another's"
    );
    assert_eq!(log.standing("a").unwrap(), Standing::Free);
}

/// THREAT: P12, a token with another name is still the same person's.
#[test]
fn a_new_name_is_no_way_out() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let log = open(dir.path(), &clock);
    let caller = |id: &str| Caller {
        subject: Some("https://issuer.example.com 17".to_owned()),
        ..Caller::named(id, Role::Dev, Door::Rest)
    };
    let names = ["dave", "Dave", "dave2"];
    let are_stopped = || {
        let standing = |name: &&str| log.standing_of(&caller(name)).unwrap();
        names.iter().map(standing).all(|standing| matches!(standing, Standing::Suspended { .. }))
    };
    let thrown = stop(dir.path(), Some("dave"), "ann", clock.clone()).unwrap();
    assert!(
        matches!(thrown, Thrown { was_founded: true, is_known: Some(false), unrecorded: None }),
        "{thrown:?}"
    );
    assert!(!are_stopped(), "nobody knows yet whom the name means");
    let _first =
        log.outcome(&CallEntry { caller: caller("dave"), ..call(1, "dave") }, &success()).wait().unwrap();
    let _second = log.outcome(&call(2, "eve"), &success()).wait().unwrap();
    let thrown = stop(dir.path(), Some("dave"), "ann", clock.clone()).unwrap();
    assert_eq!((thrown.is_known, are_stopped()), (Some(true), true));
    assert_eq!(log.standing_of(&call(3, "eve").caller).unwrap(), Standing::Free);
    let listed: Vec<_> = stopped(dir.path()).unwrap().into_iter().map(|one| one.caller).collect();
    assert_eq!(listed, [Some("dave".to_owned()), Some("https://issuer.example.com 17".to_owned())]);
    clock.pass(1);
    let released = resume(dir.path(), "dave", "ann", clock.clone()).unwrap();
    let free =
        |was_stopped: bool| Released { was_stopped, everyone_is_stopped: false, still_stopped: vec![] };
    assert_eq!(released, free(true));
    assert!(names.iter().all(|name| log.standing_of(&caller(name)).unwrap() == Standing::Free));
    assert_eq!(stopped(dir.path()).unwrap(), []);
    // A release that changes nothing says so.
    stop(dir.path(), None, "ann", clock.clone()).unwrap();
    let released = resume(dir.path(), "nobody", "ann", clock.clone()).unwrap();
    assert_eq!(released, Released { everyone_is_stopped: true, ..free(false) });

    // The defence does the same by itself.
    let dir = TempDir::new().unwrap();
    let log = open_with(dir.path(), DefenceAction::Suspend, &clock);
    for number in 0..6 {
        let entry = CallEntry { caller: caller("dave"), ..call(number, "dave") };
        let _receipt = log.outcome(&entry, &denied(ViolationKind::Scope)).wait().unwrap();
    }
    for name in names {
        let standing = log.standing_of(&caller(name)).unwrap();
        assert!(matches!(standing, Standing::Suspended { .. }), "{name}: {standing:?}");
    }
    // It named whom it stopped, and so does the release.
    clock.pass(1);
    let released = resume(dir.path(), "dave", "ann", clock.clone()).unwrap();
    assert_eq!(released.still_stopped, ["https://issuer.example.com 17"]);
    resume(dir.path(), "https://issuer.example.com 17", "ann", clock.clone()).unwrap();
    assert_eq!(log.standing_of(&caller("Dave")).unwrap(), Standing::Free);
}

/// THREAT: P12, somebody who is stopped takes the name of somebody who is about to be released.
#[test]
fn a_release_is_for_whom_it_is_meant() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let log = open(dir.path(), &clock);
    let caller = |id: &str, subject: &str| Caller {
        subject: Some(subject.to_owned()),
        ..Caller::named(id, Role::Dev, Door::Rest)
    };
    let write = |id: &str, subject: &str, outcome: &Outcome| {
        let entry = CallEntry { caller: caller(id, subject), ..call(1, id) };
        let _receipt = log.outcome(&entry, outcome).wait().unwrap();
    };
    let is_free = |id: &str, subject: &str| log.standing_of(&caller(id, subject)).unwrap() == Standing::Free;
    write("eve", "- e", &success());
    write("ann", "- a", &success());
    stop(dir.path(), Some("eve"), "op", clock.clone()).unwrap();
    let refused = (ErrorCode::Suspended, text("no"));
    write("ann", "- e", &Outcome { error: Some(refused), violation: None, ..denied(ViolationKind::Other) });
    clock.pass(1);
    stop(dir.path(), Some("ann"), "op", clock.clone()).unwrap();
    clock.pass(1);
    resume(dir.path(), "ann", "op", clock.clone()).unwrap();
    assert!(is_free("ann", "- a") && !is_free("ann", "- e") && !is_free("other", "- e"));
    // Stopped for two reasons: one release is not enough, and that is told.
    write("shared", "- a", &success());
    clock.pass(1);
    stop(dir.path(), Some("- a"), "op", clock.clone()).unwrap();
    stop(dir.path(), Some("shared"), "op", clock.clone()).unwrap();
    clock.pass(1);
    let released = resume(dir.path(), "shared", "op", clock.clone()).unwrap();
    assert_eq!((released.was_stopped, released.still_stopped.as_slice()), (true, &["- a".to_owned()][..]));
    assert!(!is_free("ann", "- a"));
    clock.pass(1);
    resume(dir.path(), "- a", "op", clock.clone()).unwrap();
    assert!(is_free("ann", "- a"));
}

#[test]
fn a_stop_works_before_anything_was_recorded() {
    let dir = TempDir::new().unwrap();
    let audit = dir.path().join("audit");
    assert_eq!(stopped(&audit).unwrap(), []);
    let thrown = stop(&audit, None, "ann", clock()).unwrap();
    assert!(matches!(thrown, Thrown { was_founded: false, is_known: None, unrecorded: None }), "{thrown:?}");
    assert_eq!(open(&audit, &clock()).standing("agent").unwrap(), suspended("ann", 0));
}

#[test]
fn an_emptied_exchanged_or_shortened_book_frees_nobody() {
    type Tamper = fn(&Path);
    let rows: [(&str, Tamper); 6] = [
        ("emptied", |book| fs::write(book, "").unwrap()),
        ("without its first line", |book| edit(book, |all| drop(all.remove(0)))),
        ("another's", |book| {
            edit(book, |all| all[0] = format!("{{\"version\":1,\"standing_id\":\"{}\"}}", "0".repeat(31)));
        }),
        ("the same length", |book| {
            let text = fs::read_to_string(book).unwrap().replace("standing_id", "standing_ID");
            fs::write(book, text).unwrap();
            let file = fs::File::options().write(true).open(book).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }),
        ("cut", |book| edit(book, |all| all.truncate(1))),
        ("deleted", |book| fs::remove_file(book).unwrap()),
    ];
    for (what, tamper) in rows {
        let dir = TempDir::new().unwrap();
        let clock = clock();
        let log = open(dir.path(), &clock);
        stop(dir.path(), Some("agent"), "ann", clock.clone()).unwrap();
        assert_eq!(log.standing("agent").unwrap(), suspended("ann", 0));
        tamper(&dir.path().join("standing.jsonl"));
        assert!(log.standing("agent").is_err(), "{what}");
        drop(log);
        // What a process that starts later cannot know is that there was more than the first line.
        let later = AuditLog::open(settings(dir.path()), clock);
        assert_eq!(later.is_ok(), what == "cut", "{what}");
    }
}

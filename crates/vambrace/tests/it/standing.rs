//! Who may do what, who was stopped, and what too many violations lead to. Each call is a process of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Ran, World, binary, finish, skip};

fn world() -> World {
    let world = World::new();
    world.file("a.txt", "one\n");
    world
}

const READ: [&str; 3] = ["call", "read_file", r#"{"path":"a.txt"}"#];
const LEAVE: [&str; 3] = ["call", "read_file", r#"{"path":"../x"}"#];

#[track_caller]
fn check(ran: &Ran, code: i32, error: &str) {
    assert_eq!((ran.code, ran.error_code().as_str()), (code, error), "{ran:?}");
}

#[test]
fn roles_and_modes_limit_what_may_act() {
    let world = world();
    let rows = [
        ("read_file", json!({"path": "a.txt"})),
        ("search_file", json!({"regex": "one"})),
        ("count_matches", json!({"regex": "one"})),
        ("list_files", json!({})),
        ("write_file", json!({"path": "b.txt", "content": "x"})),
        ("edit_file", json!({"path": "b.txt", "old_text": "x", "new_text": "y"})),
        ("create_directory", json!({"path": "folder"})),
        ("delete_file", json!({"path": "b.txt"})),
    ];
    for (place, (tool, arguments)) in rows.iter().enumerate() {
        let writes = place >= 4;
        let call =
            |options: &[&str]| world.feed(&[options, &["call", tool, "-"]].concat(), arguments.to_string());
        for options in [["--role", "product_owner"], ["--tool", "read"]] {
            let (code, error) = if writes { (3, "PermissionDenied") } else { (0, "-") };
            check(&call(&options), code, error);
        }
        check(&call(&["--tool", "none"]), 3, "PermissionDenied");
        for options in [["--role", "sre"], ["--role", "release_manager"], ["--tool", "read,write"]] {
            // Deleting twice finds nothing the second time; what matters is that nobody forbids it.
            assert_ne!(call(&options).code, 3, "{tool} {options:?}");
            world.file("b.txt", "x");
        }
    }
}

/// A mark takes the place that was kept for it, also where it begins a new block.
#[test]
fn a_disk_that_others_filled_keeps_nobody_from_stopping() {
    let tried = Command::new("unshare").args(["-m", "true"]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return skip("a full disk: a private mount namespace cannot be made here (needs root and `unshare`)");
    }
    let world = world();
    let place = world.dir().join("small");
    std::fs::create_dir(&place).unwrap();
    let script = r#"
        mount -t tmpfs -o size=4m small "$PLACE" || exit 99
        vambrace() { "$BINARY" --state "$PLACE/state" "$@"; }
        read='{"path":"a.txt"}'
        vambrace call read_file "$read" > first || exit 98
        book="$PLACE/state/audit/standing.jsonl"
        size() { stat -c %s "$book"; }
        named() { vambrace stop "$(printf '%*s' "$1" '' | tr ' ' n)" > stopped 2>&1 || exit 97; }
        before=$(size); named 1; line=$(( $(size) - before - 1 ))
        # Until six bytes are left of a block, which is less than a line.
        while left=$(( (4090 - $(size) % 4096 + 4096) % 4096 )); [ $left -gt 0 ]; do
            name=$((left - line))
            if [ $name -ge 1 ] && [ $name -le 150 ]; then named $name; else named 60; fi
        done
        cat /dev/zero > "$PLACE/filler" 2> full
        vambrace stop '*' > stopped 2> told; echo "stop $?"
        vambrace call read_file "$read" > answer 2> refused; echo "read $?"
    "#;
    let mut command = world.bare("unshare");
    command.args(["-m", "sh", "-c", script]).env("PLACE", &place).env("BINARY", binary());
    let ran = finish(&mut command, b"");
    if ran.code == 99 {
        return skip("a full disk: mounting is not allowed here");
    }
    let told = world.text("told");
    assert!(world.text("full").contains("No space left"), "{ran:?}");
    assert_eq!(ran.text(), "stop 1\nread 3\n", "{told}{}{}", world.text("answer"), world.text("refused"));
    assert!(told.contains("the stop holds, but it could not be put on record"), "{told}");
}

#[test]
fn a_stopped_caller_is_denied_until_a_person_releases_it() {
    let world = world();
    check(&world.run(&READ), 0, "-");
    assert_eq!(world.run(&["stop", "local"]).code, 0);
    check(&world.run(&READ), 3, "Suspended");
    assert_eq!(world.run(&["resume", "local"]).code, 0);
    check(&world.run(&READ), 0, "-");
    let stopped = world.run(&["stop", "somebody-else"]);
    let state = world.state().display().to_string();
    let told = json!({"stopped": "somebody-else", "state": state, "on_record": false});
    assert_eq!((stopped.code, stopped.json()), (0, told), "{stopped:?}");
    assert!(stopped.stderr.contains("nobody called somebody-else is on record there"), "{stopped:?}");
    let listed: Vec<Value> =
        world.run(&["stop", "--list"]).lines().into_iter().map(|line| line["caller"].clone()).collect();
    assert_eq!(listed, ["somebody-else"]);
    let mut fresh = world.bare(binary());
    let fresh = finish(fresh.arg("--state").arg(world.dir().join("elsewhere")).arg("stop"), b"");
    assert!(fresh.stderr.contains("nothing has used `") && fresh.code == 0, "{fresh:?}");
    check(&world.run(&READ), 0, "-");
    assert_eq!(world.run(&["stop"]).code, 0);
    check(&world.run(&READ), 3, "Suspended");
    assert_eq!(world.run(&["resume", "local"]).code, 0, "one caller's release is not everybody's");
    check(&world.run(&READ), 3, "Suspended");
    assert_eq!(world.run(&["resume", "*"]).code, 0);
    check(&world.run(&READ), 0, "-");
    let events: Vec<Value> = world
        .records()
        .into_iter()
        .map(|record| record["event"].clone())
        .filter(|event| !event.is_null())
        .collect();
    assert_eq!(events, ["stopped", "resumed", "stopped", "stopped", "resumed", "resumed"]);
}

const NOT_OURS: &str = "not the book of standings that the registry names";

/// THREAT: P12, a list that names nobody is believed. A book that cannot be read, or is another
/// record's, may have named somebody.
#[test]
fn a_book_of_stops_that_cannot_be_believed_is_no_empty_list() {
    /// Spoils the book, or puts the other record's in its place.
    type Tamper = fn(&Path, &Path);
    let rows: [(&str, Tamper, &str); 8] = [
        ("garbled", |book, _| fs::write(book, "no book\n").unwrap(), NOT_OURS),
        ("zeros", |book, _| fs::write(book, [0u8; 200]).unwrap(), NOT_OURS),
        ("emptied", |book, _| fs::write(book, "").unwrap(), NOT_OURS),
        (
            "a garbled mark",
            |book, _| {
                let text = fs::read_to_string(book).unwrap();
                assert!(text.contains("suspended"), "{text}");
                fs::write(book, text.replace("suspended", "suspicious")).unwrap();
            },
            "line 2 of the book of stops cannot be read",
        ),
        (
            "a line that is no mark",
            |book, _| {
                let text = fs::read_to_string(book).unwrap();
                fs::write(book, format!("{text}no mark\n")).unwrap();
            },
            "line 3 of the book of stops cannot be read",
        ),
        (
            "another record's",
            |book, other| {
                fs::copy(other, book).unwrap();
            },
            NOT_OURS,
        ),
        ("missing", |book, _| fs::remove_file(book).unwrap(), "cannot read"),
        (
            "a folder",
            |book, _| {
                fs::remove_file(book).unwrap();
                fs::create_dir(book).unwrap();
            },
            "cannot read",
        ),
    ];
    // A record of its own, in which nobody was ever stopped.
    let other = world();
    check(&other.run(&READ), 0, "-");
    let nobody = other.run(&["stop", "--list"]);
    assert_eq!((nobody.code, nobody.text().as_str()), (0, ""), "{nobody:?}");
    for (what, tamper, words) in rows {
        let world = world();
        check(&world.run(&READ), 0, "-");
        assert_eq!(world.run(&["stop", "somebody"]).code, 0);
        let listed = world.run(&["stop", "--list"]);
        assert_eq!((listed.code, &listed.lines()[0]["caller"]), (0, &json!("somebody")), "{listed:?}");
        tamper(&world.audit().join("standing.jsonl"), &other.audit().join("standing.jsonl"));
        let listed = world.run(&["stop", "--list"]);
        assert_eq!((listed.code, listed.text().as_str()), (1, ""), "{what}: {listed:?}");
        for words in [words, "standing.jsonl"] {
            assert!(listed.stderr.contains(words), "{what}, `{words}`: {listed:?}");
        }
        // Nor does anybody go on.
        check(&world.run(&READ), 1, "AuditUnavailable");
    }
}

#[test]
fn six_violations_in_six_processes_raise_one_alert() {
    let world = world();
    for _ in 0..5 {
        check(&world.run(&LEAVE), 3, "PathOutsideProject");
    }
    assert_eq!(world.run(&["audit", "alerts"]).stdout, b"");
    let sixth = world.run(&LEAVE);
    assert_eq!(sixth.json()["metadata"]["warnings"][0], "Alert raised: violations.");
    check(&world.run(&LEAVE), 3, "PathOutsideProject");
    let alerts = world.run(&["audit", "alerts"]).lines();
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["call_id"], sixth.json()["metadata"]["call_id"]);
    assert_eq!((&alerts[0]["rule"], &alerts[0]["action"]), (&json!("violations"), &json!("alert")));
    check(&world.run(&READ), 0, "-");
}

#[test]
fn with_suspend_the_alert_stops_the_caller_until_resume() {
    let world = world();
    let file = world.beside("operator.yaml", "defence: {action: suspend}\n");
    let run = |args: &[&str]| world.run(&[&["--config", &file], args].concat());
    for _ in 0..6 {
        check(&run(&LEAVE), 3, "PathOutsideProject");
    }
    check(&run(&READ), 3, "Suspended");
    check(&world.run(&READ), 3, "Suspended");
    assert_eq!(world.run(&["resume", "local"]).code, 0);
    check(&run(&READ), 0, "-");
    check(&run(&LEAVE), 3, "PathOutsideProject");
    check(&run(&READ), 0, "-");
}

#[test]
fn asking_what_would_be_decided_is_no_violation() {
    let world = world();
    for _ in 0..8 {
        assert_eq!(world.run(&["check", "path", "../x"]).code, 3);
    }
    assert_eq!(world.run(&["audit", "alerts"]).stdout, b"");
}

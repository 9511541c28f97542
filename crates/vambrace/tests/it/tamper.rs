//! Whatever is done to the record afterwards, `audit verify` exits 1 and names it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::World;

/// Two processes at the same time write two segments, of nine and of two records.
fn recorded() -> World {
    let world = World::new();
    world.file("a.txt", "one\n");
    let mut server = crate::mcp_client::Client::open(&world, &["--tool", "read,write"]);
    // The self-attack comes when it comes; whoever asks for its table waits for it.
    server.call("posture_report", &json!({}));
    for content in ["x", "y", "z"] {
        server.call("write_file", &json!({"path": "b.txt", "content": content}));
    }
    world.call("write_file", &json!({"path": "c.txt", "content": "x"}));
    assert_eq!(server.close().0, 0);
    let ran = world.run(&["audit", "verify"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["segments"], &report["records"]), (0, &json!(2), &json!(11)), "{ran:?}");
    assert_eq!((&report["unsealed_tail"], &report["open_intents"]), (&json!(0), &json!([])));
    world
}

/// The segment that is tampered with (0 or 1), the line that must be named (0: the file), and words of the reason.
#[track_caller]
fn check(tamper: impl FnOnce(&Path), segment: usize, line: u64, words: &str) {
    let world = recorded();
    let path = world.segments()[segment].clone();
    tamper(&path);
    let ran = world.run(&["audit", "verify"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["intact"]), (1, &json!(false)), "{ran:?}");
    let broken = &report["broken"];
    let name = path.file_stem().unwrap().to_str().unwrap();
    assert_eq!((&broken["segment"], &broken["line"]), (&json!(name), &json!(line)), "{ran:?}");
    assert!(broken["why"].as_str().unwrap().contains(words), "{ran:?}");
    // The doctor sees it too, and a new call does not hide it.
    assert_eq!(world.run(&["doctor"]).code, 1);
    assert_eq!(world.call("read_file", &json!({"path": "a.txt"})).code, 0);
    assert_eq!(world.run(&["audit", "verify"]).code, 1);
}

fn edit(path: &Path, change: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

#[test]
fn a_changed_byte() {
    let change = |number: usize| {
        move |path: &Path| {
            edit(path, |lines| lines[number] = lines[number].replace("write_file", "write_fime"))
        }
    };
    check(change(3), 0, 4, "line 5 names");
    check(change(5), 0, 6, "line 7 names");
    check(change(8), 0, 9, "signed head");
    check(change(1), 1, 2, "signed head");
}

#[test]
fn a_removed_record() {
    check(|path| edit(path, |lines| drop(lines.remove(0))), 0, 1, "`seq` is 2 where 1");
    check(|path| edit(path, |lines| drop(lines.remove(3))), 0, 4, "`seq` is 5 where 4");
}

#[test]
fn two_records_exchanged() {
    check(|path| edit(path, |lines| lines.swap(1, 2)), 0, 2, "`seq` is 3 where 2");
}

#[test]
fn the_last_line_cut() {
    check(|path| edit(path, |lines| drop(lines.pop())), 0, 9, "ends after 8 lines");
    let half = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() - 20]).unwrap();
    };
    check(half, 1, 2, "ends after 1 lines");
}

#[test]
fn a_deleted_segment() {
    check(|path| fs::remove_file(path).unwrap(), 1, 0, "deleted");
    let with_its_head = |path: &Path| {
        fs::remove_file(path).unwrap();
        fs::remove_file(path.with_extension("head")).unwrap();
    };
    check(with_its_head, 0, 0, "deleted");
}

#[test]
fn the_registry_itself() {
    for name in ["segments.jsonl", "segments.head", "audit.pub"] {
        let world = recorded();
        let path: PathBuf = world.audit().join(name);
        fs::remove_file(&path).unwrap();
        let ran = world.run(&["audit", "verify"]);
        assert_eq!((ran.code, &ran.json()["intact"]), (1, &json!(false)), "{name}: {ran:?}");
        assert_ne!(ran.json()["broken"], Value::Null);
    }
}

#[test]
fn an_agent_reaches_neither_the_record_nor_its_mirror() {
    let world = recorded();
    let segment = world.segments()[0].to_str().unwrap().to_owned();
    let before = fs::read(&segment).unwrap();
    for path in [segment.as_str(), "../state/audit/audit.key", ".vambrace/tool_log.jsonl", ".vambrace/x"] {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "x"})),
            ("delete_file", json!({"path": path})),
            ("edit_file", json!({"path": path, "old_text": "a", "new_text": "b"})),
        ] {
            assert_eq!(world.call(tool, &arguments).code, 3, "{tool} {path}");
        }
    }
    assert!(fs::read(&segment).unwrap().starts_with(&before));
    assert_eq!(world.run(&["audit", "verify"]).code, 0);
}

/// A mistyped folder is no record that holds.
#[test]
fn no_record_is_not_intact() {
    let world = World::new();
    let ran = world.run(&["audit", "verify"]);
    assert_eq!((ran.code, &ran.json()["intact"], &ran.json()["found"]), (1, &json!(false), &json!(false)));
    assert!(ran.stderr.contains(world.audit().to_str().unwrap()), "{ran:?}");
}

/// Whoever never runs `audit verify` hears of it too.
#[test]
fn a_damaged_old_segment_is_told_at_the_start() {
    let world = recorded();
    let segment = world.segments()[0].clone();
    // Two at once need a second segment, which a later start goes on in.
    let held = fs::File::options().read(true).append(true).open(&segment).unwrap();
    held.lock().unwrap();
    assert_eq!(world.call("list_files", &json!({})).code, 0);
    drop(held);
    fs::write(&segment, "garbage\n").unwrap();
    for _ in 0..2 {
        let ran = world.call("list_files", &json!({}));
        assert!(ran.code == 0 && ran.stderr.contains("`vambrace audit verify` names them"), "{ran:?}");
    }
    let alerts = world.run(&["audit", "alerts"]);
    assert_eq!(alerts.text().matches("audit-log-damaged").count(), 1, "{alerts:?}");
    assert_eq!(world.run(&["audit", "verify"]).code, 1);
}

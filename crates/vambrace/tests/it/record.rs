//! When the record cannot be written: reading goes on with a warning, nothing is changed.

use std::fs;

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::support::{Ran, World};

fn world() -> World {
    let world = World::new();
    world.file("a.txt", "one\n");
    world
}

const READS: [(&str, &str); 4] = [
    ("read_file", r#"{"path":"a.txt"}"#),
    ("search_file", r#"{"regex":"one"}"#),
    ("count_matches", r#"{"regex":"one"}"#),
    ("list_files", "{}"),
];
const WRITES: [(&str, &str); 4] = [
    ("write_file", r#"{"path":"b.txt","content":"x"}"#),
    ("edit_file", r#"{"path":"a.txt","old_text":"one","new_text":"two"}"#),
    ("delete_file", r#"{"path":"a.txt"}"#),
    ("create_directory", r#"{"path":"folder"}"#),
];

fn warns(result: &Value) -> bool {
    let warnings = result["metadata"]["warnings"].as_array().cloned().unwrap_or_default();
    warnings
        .iter()
        .any(|warning| warning.as_str().unwrap().starts_with("Warning: failed to write audit log: "))
}

/// Every tool, with the options that lead to the broken record.
#[track_caller]
fn check(world: &World, run: impl Fn(&str, &str) -> Ran) {
    for (tool, arguments) in READS {
        let ran = run(tool, arguments);
        assert_eq!(ran.code, 0, "{tool}: {ran:?}");
        assert!(warns(&ran.json()), "{tool}: {ran:?}");
    }
    for (tool, arguments) in WRITES {
        let ran = run(tool, arguments);
        assert_eq!((ran.code, ran.error_code().as_str()), (1, "AuditUnavailable"), "{tool}: {ran:?}");
    }
    assert_eq!(world.text("a.txt"), "one\n");
    assert!(!world.work().join("b.txt").exists() && !world.work().join("folder").exists());
}

/// Nobody can say who was stopped: nothing is served.
#[track_caller]
fn check_unseen(run: impl Fn(&str, &str) -> Ran) {
    for (tool, arguments) in READS.into_iter().chain(WRITES) {
        let ran = run(tool, arguments);
        assert_eq!((ran.code, ran.error_code().as_str()), (1, "AuditUnavailable"), "{tool}: {ran:?}");
    }
}

/// Tests may run as root, whom no permission stops; a file in the place of a folder stops everybody.
#[test]
fn no_folder_for_segments_can_be_made() {
    let world = world();
    fs::create_dir_all(world.audit()).unwrap();
    fs::write(world.audit().join("segments"), "not a folder").unwrap();
    check(&world, |tool, arguments| world.run(&["call", tool, arguments]));
    let told = world.run(&["call", "list_files"]);
    assert!(told.stderr.contains("the record cannot be written"), "{told:?}");
    // What cannot be written can still stop.
    assert_eq!(world.run(&["stop"]).code, 1);
    let stopped = world.run(&["call", "list_files"]);
    assert_eq!((stopped.code, stopped.error_code().as_str()), (3, "Suspended"), "{stopped:?}");
}

#[test]
fn a_file_stands_in_the_place_of_the_record() {
    let world = world();
    fs::create_dir(world.state()).unwrap();
    fs::write(world.audit(), "not a folder").unwrap();
    check_unseen(|tool, arguments| world.run(&["call", tool, arguments]));
    for what in ["verify", "list"] {
        assert_eq!(world.run(&["audit", what]).code, 1, "{what}");
    }
    for command in [&["stop"][..], &["resume", "local"]] {
        assert_eq!(world.run(command).code, 1, "a switch that is not on record is not thrown");
    }
}

#[test]
fn the_state_folder_lies_beneath_a_file() {
    let world = world();
    let state = format!("{}/state", world.beside("file", "x"));
    check_unseen(|tool, arguments| {
        let mut command = world.bare(crate::support::binary());
        crate::support::finish(command.args(["--state", &state, "call", tool, arguments]), b"")
    });
}

/// The record is lost while a server runs, which has it open.
#[test]
fn the_record_is_replaced_under_a_running_server() {
    let world = world();
    let mut client = Client::open(&world, &[]);
    let before = client.call("read_file", &json!({"path": "a.txt"}));
    assert!(!warns(&before["structuredContent"]), "{before}");
    fs::rename(world.audit(), world.dir().join("away")).unwrap();
    fs::write(world.audit(), "not a folder").unwrap();
    let read = client.call("read_file", &json!({"path": "a.txt"}));
    assert_eq!(read["structuredContent"]["error"]["code"], "AuditUnavailable", "{read}");
    let write = client.call("write_file", &json!({"path": "b.txt", "content": "x"}));
    assert_eq!(write["structuredContent"]["error"]["code"], "AuditUnavailable", "{write}");
    assert!(!world.work().join("b.txt").exists());
    assert_eq!(client.close().0, 0);
}

#[test]
fn the_operator_may_choose_otherwise() {
    for (choice, read, write) in [("deny_all", 1, 1), ("warn", 0, 0)] {
        let world = world();
        let file = world.beside("operator.yaml", &format!("audit: {{on_failure: {choice}}}\n"));
        fs::create_dir_all(world.audit()).unwrap();
        fs::write(world.audit().join("segments"), "").unwrap();
        let run = |call: (&str, &str)| world.run(&["-q", "--config", &file, "call", call.0, call.1]);
        assert_eq!(run(READS[0]).code, read, "{choice}");
        let ran = run(WRITES[0]);
        assert_eq!(ran.code, write, "{choice}: {ran:?}");
    }
}

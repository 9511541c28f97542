//! Who may do what, who was stopped, and what too many violations lead to. Each call is a process of its own.

use serde_json::{Value, json};

use crate::support::{Ran, World, binary, finish};

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

//! Every way out of the workspace that we know: denied, exit 3, and on record.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Ran, World, binary, finish, skip};

/// A workspace beside a file that nobody may see, with every kind of link to where nobody may go.
fn world() -> World {
    let world = World::new();
    fs::write(world.dir().join("outside"), "OUTSIDE").unwrap();
    fs::create_dir(world.dir().join("folder")).unwrap();
    fs::write(world.dir().join("folder/file"), "OUTSIDE").unwrap();
    world.file("plain", "inside").file(".env", "KEY=OUTSIDE").file(".git/config", "[core] OUTSIDE");
    world.file("services/service-a/own", "inside").file("services/service-ab/other", "OUTSIDE");
    world.file("services/service-b/other", "OUTSIDE");
    world.link("link", "../outside").link("folder_link", "../folder");
    world.link("absolute", world.dir().join("outside"));
    world.link("env", ".env").link("git", ".git/config").link("git_folder", ".git");
    world.link("proc", "/proc/self/root/etc/passwd").link("root", "/proc/self/root");
    world.link("services/service-a/sibling", "../service-b/other");
    world.link("services/service-a/env", "../../.env");
    fs::hard_link(world.dir().join("outside"), world.work().join("hard")).unwrap();
    world
}

/// The answer says no with this code, nothing of the outside is in it, and the record and the security stream have it.
#[track_caller]
fn denied(world: &World, ran: &Ran, tool: &str, expected: &str, stream: &str) {
    assert_eq!(ran.code, 3, "{ran:?}");
    let result = ran.json();
    assert_eq!(result["error"]["code"], expected, "{ran:?}");
    assert_eq!((&result["data"], &result["status"]), (&Value::Null, &json!("error")));
    assert_eq!(result["metadata"]["security_checks"], "denied");
    for half in ["message", "suggestion"] {
        assert!(!result["error"][half].as_str().unwrap().is_empty(), "{half}: {ran:?}");
    }
    assert!(!ran.text().contains("OUTSIDE") && !ran.stderr.contains("OUTSIDE"), "{ran:?}");

    let id = &result["metadata"]["call_id"];
    let records = world.records();
    let outcome = records.iter().find(|record| record["call_id"] == *id).expect("on record");
    let shown = ["kind", "tool", "decision", "ending", "code"].map(|key| outcome[key].as_str().unwrap());
    assert_eq!(shown, ["outcome", tool, "deny", "denied", expected]);
    assert!(!outcome["rule"].as_str().unwrap().is_empty(), "{outcome}");
    let violations = fs::read_to_string(world.audit().join("security.jsonl")).unwrap();
    let line: Value = serde_json::from_str(violations.lines().last().unwrap()).unwrap();
    assert_eq!((&line["call_id"], line["violation_type"].as_str().unwrap()), (id, stream));
}

#[track_caller]
fn read(path: &str, expected: &str, stream: &str) {
    let world = world();
    let ran = world.run(&["call", "read_file", &json!({"path": path}).to_string()]);
    denied(&world, &ran, "read_file", expected, stream);
}

#[track_caller]
fn read_in_service(path: &str, expected: &str, stream: &str) {
    let world = world();
    let arguments = json!({"path": path}).to_string();
    let ran = world.run(&["--service", "services/service-a", "call", "read_file", &arguments]);
    denied(&world, &ran, "read_file", expected, stream);
}

#[track_caller]
fn change(tool: &str, mut arguments: Value, path: &str, expected: &str, stream: &str) {
    let world = world();
    arguments["path"] = json!(path);
    let ran = world.call(tool, &arguments);
    denied(&world, &ran, tool, expected, stream);
    assert_eq!(fs::read_to_string(world.dir().join("outside")).unwrap(), "OUTSIDE");
    assert_eq!(fs::read_to_string(world.dir().join("folder/file")).unwrap(), "OUTSIDE");
    assert_eq!(world.text(".git/config"), "[core] OUTSIDE");
}

#[test]
fn reading_by_a_spelling_that_leaves() {
    read("../x", "PathOutsideProject", "scope");
    read("../outside", "PathOutsideProject", "scope");
    read("a/../../outside", "PathOutsideProject", "scope");
    read("/proc/self/root/etc/passwd", "PathOutsideProject", "scope");
    read("/etc/passwd", "PathOutsideProject", "scope");
}

#[test]
fn reading_through_links_that_leave() {
    read("link", "PathOutsideProject", "scope");
    read("absolute", "PathOutsideProject", "scope");
    read("folder_link/file", "PathOutsideProject", "scope");
    read("proc", "PathOutsideProject", "scope");
    read("root/etc/passwd", "PathOutsideProject", "scope");
}

#[test]
fn reading_blocked_names_by_themselves_and_through_links() {
    read(".env", "BlockedPath", "blocked");
    read("env", "BlockedPath", "blocked");
    read(".git/config", "BlockedPath", "blocked");
    read("git", "BlockedPath", "blocked");
    read("git_folder/config", "BlockedPath", "blocked");
}

#[test]
fn reading_a_sibling_service() {
    read_in_service("../service-ab/other", "OutsideScope", "scope"); // the own name is a prefix of this one
    read_in_service("services/service-ab/other", "OutsideScope", "scope");
    read_in_service("../service-b/other", "OutsideScope", "scope");
    read_in_service("sibling", "OutsideScope", "scope");
    read_in_service("env", "BlockedPath", "blocked");
    read_in_service("../../plain", "OutsideScope", "scope");
    read_in_service("../../../outside", "PathOutsideProject", "scope");
}

#[test]
fn the_own_service_and_a_plain_file_can_be_read() {
    let world = world();
    let own = r#"{"path":"own"}"#;
    let ran = world.run(&["--service", "services/service-a", "call", "read_file", own]);
    assert_eq!((ran.code, &ran.json()["data"]["content"]), (0, &json!("inside")), "{ran:?}");
    let hard = world.call("read_file", &json!({"path": "hard"}));
    assert_eq!(hard.code, 0, "a hard link may be read: {hard:?}");
}

#[test]
fn changing_what_has_a_second_name() {
    change("write_file", json!({"content": "x"}), "hard", "HardLinkRefused", "scope");
    change("edit_file", json!({"old_text": "OUTSIDE", "new_text": "x"}), "hard", "HardLinkRefused", "scope");
    change("delete_file", json!({}), "hard", "HardLinkRefused", "scope");
}

#[test]
fn changing_through_links() {
    change("write_file", json!({"content": "x"}), "link", "LinkRefused", "scope");
    change("write_file", json!({"content": "x"}), "folder_link/file", "PathOutsideProject", "scope");
    change("write_file", json!({"content": "x"}), "folder_link/new", "PathOutsideProject", "scope");
    change("delete_file", json!({}), "folder_link/file", "PathOutsideProject", "scope");
    change("create_directory", json!({}), "folder_link/new", "PathOutsideProject", "scope");
    change("write_file", json!({"content": "x"}), "git_folder/config", "BlockedPath", "blocked");
}

#[test]
fn planting_protected_names() {
    let world = world();
    for path in [".mcp.json", ".vscode/tasks.json", ".claude/settings.json", ".vambrace/tool_log.jsonl"] {
        let ran = world.call("write_file", &json!({"path": path, "content": "x"}));
        denied(&world, &ran, "write_file", "ProtectedPath", "protected");
    }
    let ran = world.call("write_file", &json!({"path": ".git/hooks/pre-commit", "content": "x"}));
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!world.work().join(".git/hooks").exists());
}

/// A bind mount is on the same device, so only the kernel's own check sees it.
#[test]
fn a_bind_mount_is_not_entered() {
    let world = world();
    fs::create_dir(world.work().join("mounted")).unwrap();
    let tried = Command::new("unshare").args(["-m", "true"]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        skip("bind mount: a private mount namespace cannot be made here (needs root and `unshare`)");
        return;
    }
    let script = "mount --bind ../folder mounted || exit 99; exec \"$@\"";
    for (tool, arguments) in [
        ("read_file", r#"{"path":"mounted/file"}"#),
        ("write_file", r#"{"path":"mounted/file","content":"x"}"#),
        ("list_files", r#"{"path":"mounted"}"#),
        ("delete_file", r#"{"path":"mounted/file"}"#),
    ] {
        let mut command = world.bare("unshare");
        command.args(["-m", "sh", "-c", script, "sh", binary(), "call", tool, arguments]);
        command.arg("--state").arg(world.state());
        let ran = finish(&mut command, b"");
        if ran.code == 99 {
            skip("bind mount: mounting is not allowed here");
            return;
        }
        denied(&world, &ran, tool, "MountRefused", "scope");
        assert_eq!(fs::read_to_string(world.dir().join("folder/file")).unwrap(), "OUTSIDE");
    }
}

//! Who is offered which program tools, and how a profile changes them.

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::programs_host::{has, on_host};
use crate::support::World;

const EXEC: [&str; 4] = ["bash_command", "exec_shell", "spawn", "run_test"];
const SYSTEM: [&str; 4] = ["install_package", "verify_binary", "system_ctl", "migrate_config"];

/// These tools are offered, those are not.
#[track_caller]
fn offers(options: &[&str], with: &[&str], without: &[&str]) {
    let mut client = Client::open(&World::new(), options);
    let list = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in with {
        assert!(names.contains(name), "{name} is not in {names:?} with {options:?}");
    }
    for name in without {
        assert!(!names.contains(name), "{name} is in {names:?} with {options:?}");
    }
    assert_eq!(client.close().0, 0);
}

#[test]
fn roles_and_modes_are_offered_what_they_may_use() {
    let reading = ["git_status", "git_diff", "posture_report", "read_file"];
    offers(&["--tool", "read"], &reading, &[&EXEC[..], &["git_commit", "git_add", "run_lint"]].concat());
    offers(
        &["--role", "product_owner"],
        &reading,
        &[&EXEC[..], &SYSTEM, &["git_commit", "git_push"]].concat(),
    );
    offers(&[], &[&EXEC[..], &reading].concat(), &[&SYSTEM[..], &["git_push"]].concat());
    offers(&["--role", "sre"], &SYSTEM, &["git_push"]);
    offers(&["--role", "release_manager"], &["git_push"], &SYSTEM);
}

#[test]
fn what_is_not_offered_cannot_be_called() {
    let world = World::new();
    let rows = [
        (&["--role", "dev"][..], "git_push", json!({"remote": "origin", "branch": "main"})),
        (&["--role", "sre"], "git_push", json!({"remote": "origin", "branch": "main"})),
        (&["--role", "dev"], "install_package", json!({"manager": "apt", "package": "jq"})),
        (&["--role", "product_owner"], "exec_shell", json!({"command": "ls"})),
        (&["--role", "product_owner"], "run_test", json!({})),
        (&["--tool", "read"], "bash_command", json!({"command": "ls", "reason": "look"})),
    ];
    for (options, tool, arguments) in rows {
        let ran = world.run(&[options, &["call", tool, &arguments.to_string()]].concat());
        assert_eq!((ran.code, ran.error_code().as_str()), (3, "PermissionDenied"), "{ran:?}");
    }
}

#[test]
fn a_system_tool_asks_and_nobody_can_answer() {
    let world = World::new();
    let rows = [
        ("install_package", json!({"manager": "apt", "package": "jq"})),
        ("system_ctl", json!({"service": "nginx", "action": "restart"})),
    ];
    for (tool, arguments) in rows {
        let ran = world.run(&["--role", "sre", "call", tool, &arguments.to_string()]);
        assert_eq!((ran.code, ran.error_code().as_str()), (4, "ApprovalRequired"), "{ran:?}");
    }
    let records = world.records();
    let asked: Vec<&Value> = records.iter().filter(|record| record["tool"] == "install_package").collect();
    assert!(asked.iter().all(|record| record["severity"] == "CRITICAL") && !asked.is_empty(), "{asked:?}");
}

const DRY_RUN: &str = "Dry-run: would execute command: ls -la | grep .go\nReason: check Go source files\nUse \
                       --tool=command or --tool=all to execute";

/// Specification 002 fixes these texts.
#[test]
fn the_terminal_agent() {
    let world = World::new();
    world.file("a.go", "package main\n");
    let options = ["--profile", "terminal-agent"];
    let line = json!({"command": "ls -la | grep .go", "reason": "check Go source files"}).to_string();
    let dry = world.run(&[&options[..], &["--dry-run", "call", "bash_command", &line]].concat());
    assert_eq!((dry.code, &dry.json()["data"]["message"]), (0, &json!(DRY_RUN)), "{dry:?}");
    assert_eq!(dry.json()["metadata"]["dry_run"], true);

    for token in ["&&", "||"] {
        let line = json!({"command": format!("ls {token} pwd"), "reason": "look"}).to_string();
        let ran = world.run(&[&options[..], &["call", "bash_command", &line]].concat());
        let error = ran.json()["error"].clone();
        assert_eq!(ran.code, 3, "{ran:?}");
        assert_eq!(error["message"], format!("blocked pattern: {token}"), "{ran:?}");
        assert!(
            !error["suggestion"].as_str().unwrap().contains(token),
            "what is refused is not advised: {ran:?}"
        );
        let strict = world.run(&["call", "bash_command", &line]);
        assert_eq!(strict.code, 0, "the default allows a chain: {strict:?}");
    }
    let sudo = world
        .run(&[&options[..], &["call", "bash_command", r#"{"command":"sudo ls","reason":"x"}"#]].concat());
    assert_eq!(sudo.json()["error"]["message"], "blocked pattern: sudo", "{sudo:?}");
}

/// Over MCP the text is the answer, so nothing may be added to it.
#[test]
fn the_dry_run_of_the_terminal_agent_over_mcp() {
    let world = World::new();
    let mut client = Client::open(&world, &["--profile", "terminal-agent", "--dry-run"]);
    let result = client
        .call("bash_command", &json!({"command": "ls -la | grep .go", "reason": "check Go source files"}));
    assert_eq!(result["content"][0]["text"], DRY_RUN, "{result}");
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_push_to_what_the_cage_cannot_see_fails_cleanly() {
    if !has("git", "a push") {
        return;
    }
    let world = World::new();
    world.file("a.txt", "one\n");
    let remote = world.dir().join("remote.git");
    let remote = remote.to_str().unwrap();
    let who = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "."],
        &["commit", "-q", "-m", "start"],
        &["init", "-q", "--bare", remote],
        &["remote", "add", "origin", remote],
    ] {
        assert_eq!(on_host(&world, &[&["git"], &who[..], args].concat()).code, 0, "{args:?}");
    }
    let arguments = r#"{"remote":"origin","branch":"main"}"#;
    let ran = world.run(&["--role", "release_manager", "call", "git_push", arguments]);
    assert!(ran.code != 0 && !ran.error_code().is_empty(), "{ran:?}");
    let error = ran.json()["error"].clone();
    assert!(
        !error["message"].as_str().unwrap().is_empty() && !error["suggestion"].as_str().unwrap().is_empty()
    );
    let refs = on_host(&world, &["git", "-C", remote, "for-each-ref"]);
    assert_eq!(refs.text(), "", "nothing arrived");
}

//! Every ending is answered, and on record in order: the intent before the effect, the outcome after it, one call id.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use vambrace_runtime::{Reply, Verdict};
use vambrace_types::{ErrorCode, SecurityChecks, Status};

use crate::disk;
use crate::settings::{RuleText, Settings};
use crate::world::{World, code, demand_success};

fn entries() -> Value {
    json!({
        "a.txt": "alpha\nbeta\n",
        "folder/b.txt": "beta\n",
        ".env": "SECRET=1\n",
        "out": {"link": "../outside.txt"},
        "../outside.txt": "outside\n",
        "pipe": {"fifo": true},
        "twin.txt": {"hard_link_to": "a.txt"},
    })
}

/// The record's lines for a reply, and that they tell the same story as the reply.
#[track_caller]
fn demand_record(world: &World, reply: &Reply, kinds: &[&str], ending: &str) -> Vec<Value> {
    let records = world.records_of(reply);
    let found: Vec<_> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(found, kinds, "{records:?}");
    for pair in records.windows(2) {
        assert!(pair[0]["seq"].as_u64() < pair[1]["seq"].as_u64());
        for key in ["call_id", "session_id", "caller_id", "tool", "input", "dry_run", "purpose"] {
            assert_eq!(pair[0][key], pair[1][key], "{key}");
        }
    }
    let outcome = records.last().unwrap();
    assert_eq!(outcome["ending"], ending, "{outcome}");
    assert_eq!(outcome["decision"], reply.verdict().as_str());
    assert_eq!(outcome["rule"], reply.rule().as_str());
    assert_eq!(outcome["success"], reply.status() == Status::Success);
    assert_eq!(outcome["code"].as_str(), code(reply).map(ErrorCode::as_str));
    records
}

#[track_caller]
fn succeeds(tool: &str, arguments: Value) {
    let world = World::plain(entries());
    let reply = world.call(tool, arguments);
    demand_success(&reply);
    assert_eq!(reply.verdict(), Verdict::Allow);
    assert_eq!(reply.metadata().security_checks, SecurityChecks::Passed);
    demand_record(&world, &reply, &["intent", "outcome"], "success");
}

#[test]
fn success_of_every_tool_has_an_intent_and_an_outcome() {
    succeeds("read_file", json!({"path": "a.txt"}));
    succeeds("write_file", json!({"path": "new/c.txt", "content": "c"}));
    succeeds("edit_file", json!({"path": "folder/b.txt", "old_text": "beta", "new_text": "gamma"}));
    succeeds("search_file", json!({"regex": "beta"}));
    succeeds("count_matches", json!({"regex": "beta"}));
    succeeds("list_files", json!({"recursive": true}));
    succeeds("delete_file", json!({"path": "folder/b.txt"}));
    succeeds("create_directory", json!({"path": "x/y"}));
}

#[test]
fn the_intent_is_written_before_the_effect_and_the_outcome_after_it() {
    let world = World::plain(json!({}));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (log, file, audit) = (Arc::clone(&seen), world.workspace.join("new.txt"), world.audit_folder());
    world.clock.on_reading(move |number| {
        let n_lines = disk::everything(&audit.join("segments")).matches("\"kind\":").count();
        log.lock().unwrap().push((number, n_lines, disk::exists(&file)));
    });
    demand_success(&world.call("write_file", json!({"path": "new.txt", "content": "x"})));
    // The call begins, the intent is stamped, the call is concluded, the outcome is stamped.
    let expected = [(1, 0, false), (2, 0, false), (3, 1, true), (4, 1, true)];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[track_caller]
fn denied(settings: Settings, tool: &str, arguments: Value, kinds: &[&str], expected: ErrorCode) {
    let world = World::new(settings, &entries());
    let before = world.snapshot();
    let reply = world.call(tool, arguments);
    assert_eq!(code(&reply), Some(expected), "{:?}", reply.error());
    assert_eq!((reply.status(), reply.verdict()), (Status::Error, Verdict::Deny));
    assert_eq!(reply.metadata().security_checks, SecurityChecks::Denied);
    assert!(!reply.rule().is_empty(), "a denial names its rule");
    let records = demand_record(&world, &reply, kinds, "denied");
    assert!(records.last().unwrap().get("violation").is_some(), "{records:?}");
    assert!(disk::read(&world.audit_folder().join("security.jsonl")).contains("violation_type"));
    assert_eq!(world.snapshot(), before);
}

#[test]
fn denials_of_every_stage_have_an_outcome_and_go_to_the_security_stream() {
    let plain = Settings::default;
    let role = Settings { role: "product_owner".to_owned(), ..plain() };
    let mode = Settings { mode: "read".to_owned(), ..plain() };
    let none = Settings { mode: "none".to_owned(), ..plain() };
    let write = json!({"path": "a.txt", "content": "x"});
    // 4 authorize
    denied(role, "write_file", write.clone(), &["outcome"], ErrorCode::PermissionDenied);
    denied(mode, "write_file", write.clone(), &["outcome"], ErrorCode::PermissionDenied);
    denied(none, "read_file", json!({"path": "a.txt"}), &["outcome"], ErrorCode::PermissionDenied);
    // 5 plan
    denied(
        plain(),
        "read_file",
        json!({"path": "../outside.txt"}),
        &["outcome"],
        ErrorCode::PathOutsideProject,
    );
    // 6 decide
    denied(plain(), "read_file", json!({"path": ".env"}), &["outcome"], ErrorCode::BlockedPath);
    denied(plain(), "delete_file", json!({"path": ".mcp.json"}), &["outcome"], ErrorCode::ProtectedPath);
    let rule = |decision: &str| Settings {
        rules: vec![RuleText {
            tool: None,
            path: Some("a.*".to_owned()),
            decision: decision.to_owned(),
            reason: String::new(),
        }],
        ..plain()
    };
    denied(rule("deny"), "write_file", write, &["outcome"], ErrorCode::RuleDenied);
    // 9 the door, on what the kernel really opened
    let both = ["intent", "outcome"];
    denied(plain(), "read_file", json!({"path": "out"}), &both, ErrorCode::PathOutsideProject);
    denied(plain(), "read_file", json!({"path": "pipe"}), &both, ErrorCode::SpecialFile);
    denied(plain(), "delete_file", json!({"path": "twin.txt"}), &both, ErrorCode::HardLinkRefused);
    denied(plain(), "write_file", json!({"path": "out", "content": "x"}), &both, ErrorCode::LinkRefused);
}

#[track_caller]
fn fails(tool: &str, arguments: Value, kinds: &[&str], expected: ErrorCode) {
    let world = World::plain(entries());
    let before = world.snapshot();
    let reply = world.call(tool, arguments);
    assert_eq!(code(&reply), Some(expected), "{:?}", reply.error());
    // Policy had nothing against it; the world or the arguments had.
    assert_eq!((reply.status(), reply.verdict()), (Status::Error, Verdict::Allow));
    let records = demand_record(&world, &reply, kinds, "failed");
    assert!(records.last().unwrap().get("violation").is_none(), "{records:?}");
    assert!(!disk::exists(&world.audit_folder().join("security.jsonl")));
    assert_eq!(world.snapshot(), before);
}

#[test]
fn failures_have_an_outcome_and_are_no_violation() {
    let (before, both) = (["outcome"], ["intent", "outcome"]);
    fails("no_such_tool", json!({}), &before, ErrorCode::ToolNotFound);
    fails("no such tool; rm", json!({}), &before, ErrorCode::ToolNotFound);
    fails("read_file", json!({}), &before, ErrorCode::ValidationError);
    fails("read_file", json!([1, 2]), &before, ErrorCode::ValidationError);
    fails("read_file", json!({"path": "a.txt", "more": 1}), &before, ErrorCode::ValidationError);
    fails("read_file", json!({"path": "a\0"}), &before, ErrorCode::InvalidPath);
    fails("search_file", json!({"regex": "("}), &before, ErrorCode::InvalidPattern);
    fails("read_file", json!({"path": "none.txt"}), &both, ErrorCode::FileNotFound);
    fails("read_file", json!({"path": "folder"}), &both, ErrorCode::IsADirectory);
    fails("read_output", json!({"handle": "out_0"}), &both, ErrorCode::UnknownHandle);
    let edit = json!({"path": "folder/b.txt", "old_text": "nowhere", "new_text": "x"});
    fails("edit_file", edit, &both, ErrorCode::MatchCountDiffers);
}

#[test]
fn what_a_person_has_to_decide_is_not_done() {
    let rules = vec![RuleText {
        tool: Some("delete_file".to_owned()),
        path: None,
        decision: "ask".to_owned(),
        reason: "deleting needs a second look.".to_owned(),
    }];
    let world = World::new(Settings { rules, ..Settings::default() }, &entries());
    let before = world.snapshot();
    for dry_run in [false, true] {
        let incoming = world.incoming("delete_file", json!({"path": "folder/b.txt"}));
        let reply = world.send(vambrace_runtime::Incoming { dry_run, ..incoming });
        assert_eq!(code(&reply), Some(ErrorCode::ApprovalRequired));
        assert_eq!(reply.verdict(), Verdict::Ask);
        assert_eq!(reply.metadata().security_checks, SecurityChecks::ApprovalRequired);
        assert!(reply.error().unwrap().message.as_str().contains("a second look"));
        assert_eq!(reply.rule().as_str(), "rules (rules[0])");
        demand_record(&world, &reply, &["outcome"], "asked_nobody");
    }
    assert_eq!(world.snapshot(), before);
}

#[test]
fn the_chain_of_all_of_it_is_intact() {
    let world = World::plain(entries());
    for (tool, arguments) in [
        ("read_file", json!({"path": "a.txt"})),
        ("read_file", json!({"path": ".env"})),
        ("write_file", json!({"path": "n.txt", "content": "n"})),
        ("nothing", json!(null)),
    ] {
        world.call(tool, arguments);
    }
    let World { corridor, state, .. } = &world;
    corridor.audit().unwrap().seal().unwrap();
    let report = vambrace_audit::verify(&state.join("audit")).unwrap();
    assert!(report.broken.is_none(), "{report:?}");
    assert!(report.open_intents.is_empty(), "{report:?}");
}

#[test]
fn arguments_that_are_not_an_object_are_refused() {
    let world = World::plain(json!({"a.txt": "a", ".env": "SECRET=1"}));
    for arguments in [json!([".env"]), json!(["a.txt"]), json!("a.txt"), json!(7), json!(true), json!([])] {
        let reply = world.call("read_file", arguments.clone());
        assert_eq!(code(&reply), Some(ErrorCode::ValidationError), "{arguments}");
    }
}

#[test]
fn a_violation_names_every_path_that_was_asked_for() {
    let world = World::plain(json!({"a.txt": "old", ".env": "old"}));
    let file = |path: &str| json!({"path": path, "edits": [{"spec": "old", "content": "new"}]});
    let target = |files: Vec<Value>| {
        let reply = world.call("edit_file", json!({"files": files}));
        assert_eq!(code(&reply), Some(ErrorCode::BlockedPath));
        let records = world.records_of(&reply);
        records.last().unwrap()["violation"]["target_path"].as_str().unwrap().to_owned()
    };
    assert_eq!(target(vec![file("a.txt"), file(".env")]), "a.txt, .env");
    let many = (0..50).map(|number| file(&format!(".env.{number}"))).collect();
    let shown = target(many);
    assert!(shown.starts_with(".env.0, .env.1, ") && shown.ends_with(".env.19 and 30 more"), "{shown}");
}

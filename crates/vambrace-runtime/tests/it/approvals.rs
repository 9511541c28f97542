//! Questions that wait for a person: what they are bound to, and what becomes of the answer.

use serde_json::{Value, json};
use vambrace_runtime::{Incoming, Reply, Verdict};
use vambrace_types::{Caller, Door, ErrorCode, Role};

use crate::disk;
use crate::settings::{RuleText, Settings};
use crate::world::{World, code, demand_success};

fn world(settings: Settings) -> World {
    let rules = vec![RuleText {
        tool: Some("delete_file".to_owned()),
        path: None,
        decision: "ask".to_owned(),
        reason: "deleting needs a second look.".to_owned(),
    }];
    World::new(Settings { rules, approvals: true, ..settings }, &entries())
}

fn entries() -> Value {
    json!({"a.txt": "one\n", "b.txt": "two\n"})
}

fn delete_as(world: &World, caller: Caller) -> Reply {
    world.send(Incoming { caller, ..world.incoming("delete_file", json!({"path": "a.txt"})) })
}

/// The id of the question that the reply leaves.
#[track_caller]
fn asked(reply: &Reply) -> String {
    assert_eq!((code(reply), reply.verdict()), (Some(ErrorCode::ApprovalRequired), Verdict::Ask));
    let ticket = reply.ticket().unwrap();
    let details = reply.error().unwrap().details.as_ref().unwrap();
    assert_eq!(details.as_tree().get("approval_id"), Some(&vambrace_types::Tree::text(&ticket.id)));
    assert!(ticket.question.as_str().contains("a second look"), "{ticket:?}");
    ticket.id.clone()
}

fn answer(world: &World, id: &str, approved: bool) {
    world.corridor.approvals().unwrap().answer(id, approved, "ann").unwrap();
}

#[test]
fn an_approval_is_the_caller_s_own() {
    let agent = Caller::named("bridge", Role::Dev, Door::Rest);
    let ann = Caller { email: Some("ann@example.com".to_owned()), ..agent.clone() };
    let ben = Caller { email: Some("ben@example.com".to_owned()), ..agent.clone() };
    let others = [
        ben,
        agent.clone(),
        Caller { user: Some("U1".to_owned()), ..ann.clone() },
        Caller { id: "other".to_owned(), ..ann.clone() },
        Caller { role: Role::Sre, ..ann.clone() },
    ];
    let world = world(Settings::default());
    let id = asked(&delete_as(&world, ann.clone()));
    answer(&world, &id, true);
    for other in others {
        assert_ne!(asked(&delete_as(&world, other.clone())), id, "{other:?}");
    }
    // Through another door it is the same caller.
    let done = delete_as(&world, Caller { door: Door::McpHttp, ..ann });
    demand_success(&done);
    assert!(done.ticket().is_none());
    let kinds: Vec<Value> = world.records_of(&done).iter().map(|record| record["kind"].clone()).collect();
    assert_eq!(kinds, ["event", "intent", "outcome"]);
    let event = &world.records_of(&done)[0];
    assert_eq!((&event["event"], &event["by"]), (&json!("approval"), &json!("ann")));
    assert_eq!(event["details"]["approval_id"], json!(id));
}

#[test]
fn the_order_of_arguments_is_no_difference_and_more_of_them_is() {
    let world = world(Settings::default());
    let edit = |arguments: Value| world.call("delete_file", arguments);
    let id = asked(&edit(json!({"path": "a.txt"})));
    assert_eq!(asked(&edit(json!({"path": "a.txt", "dry_run": false}))), id);
    assert_ne!(asked(&edit(json!({"path": "./a.txt"}))), id, "another spelling is looked at anew");
}

#[test]
fn a_late_answer_and_a_late_call_are_too_late() {
    let world = world(Settings::default());
    let id = asked(&world.call("delete_file", json!({"path": "a.txt"})));
    world.clock.pass(899_999);
    answer(&world, &id, true);
    world.clock.pass(900_000);
    let again = asked(&world.call("delete_file", json!({"path": "a.txt"})));
    assert_ne!(again, id);
    world.clock.pass(900_000);
    assert!(world.corridor.approvals().unwrap().answer(&again, true, "ann").is_err());
    assert_eq!(world.file("a.txt"), "one\n");
}

#[test]
fn a_no_is_told_and_nobody_is_asked_again_for_a_while() {
    let world = world(Settings::default());
    let id = asked(&world.call("delete_file", json!({"path": "a.txt"})));
    answer(&world, &id, false);
    let reply = world.call("delete_file", json!({"path": "a.txt"}));
    assert_eq!((code(&reply), reply.ticket().is_none()), (Some(ErrorCode::ApprovalRequired), true));
    assert!(reply.error().unwrap().message.as_str().contains("said no"), "{:?}", reply.error());
    world.clock.pass(900_000);
    assert_ne!(asked(&world.call("delete_file", json!({"path": "a.txt"}))), id);
}

#[test]
fn too_many_questions_are_refused_with_words() {
    let entries = (0..51).map(|number| (format!("{number}.txt"), json!("x"))).collect();
    let rules = vec![RuleText {
        tool: Some("delete_file".to_owned()),
        path: None,
        decision: "ask".to_owned(),
        reason: "a second look.".to_owned(),
    }];
    let world =
        World::new(Settings { rules, approvals: true, ..Settings::default() }, &Value::Object(entries));
    for number in 0..50 {
        asked(&world.call("delete_file", json!({"path": format!("{number}.txt")})));
    }
    let reply = world.call("delete_file", json!({"path": "50.txt"}));
    assert_eq!((code(&reply), reply.ticket().is_none()), (Some(ErrorCode::ApprovalRequired), true));
    let warning = &reply.metadata().warnings[0];
    assert_eq!(warning, "No question was left for a person: 50 questions wait for a person already.");
}

#[test]
fn an_approval_whose_use_cannot_be_recorded_is_not_used() {
    let world = world(Settings { on_audit_failure: "deny_all".to_owned(), ..Settings::default() });
    let id = asked(&world.call("delete_file", json!({"path": "a.txt"})));
    answer(&world, &id, true);
    let segments = world.audit_folder().join("segments");
    disk::clear(&segments);
    let reply = world.call("delete_file", json!({"path": "a.txt"}));
    assert!(reply.error().is_some(), "{reply:?}");
    assert_eq!(world.file("a.txt"), "one\n");
}

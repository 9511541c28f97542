//! Who is calling: stopped callers, alerts, sessions, and what each is shown.

use serde_json::{Value, json};
use vambrace_runtime::{Corridor, Incoming, Level, Purpose, Reply, Verdict};
use vambrace_types::{Caller, Door, ErrorCode, Role, SessionId, Status, Tree, Voice};

use crate::disk;
use crate::settings::Settings;
use crate::world::{World, code, demand_success};

fn entries() -> Value {
    json!({"a.txt": "alpha\n", ".env": "X=1\n"})
}

/// Calls that are in order, for every tool.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": "a.txt"})),
        ("list_files", json!({})),
        ("list_directory", json!({})),
        ("search_file", json!({"regex": "a"})),
        ("count_matches", json!({"regex": "a"})),
        ("read_output", json!({"handle": "out_000000000000000000000000"})),
        ("write_file", json!({"path": "b.txt", "content": "b"})),
        ("edit_file", json!({"path": "a.txt", "old_text": "alpha", "new_text": "beta"})),
        ("create_directory", json!({"path": "d"})),
        ("delete_file", json!({"path": "a.txt"})),
    ]
}

fn as_caller(world: &World, id: &str, tool: &str, arguments: Value) -> Reply {
    let caller = Caller { id: id.to_owned(), ..world.caller() };
    world.send(Incoming { caller, ..world.incoming(tool, arguments) })
}

#[test]
fn a_stopped_caller_is_denied_everything_until_a_person_releases_it() {
    let world = World::new(Settings { stopped: true, ..Settings::default() }, &entries());
    let before = world.snapshot();
    for (tool, arguments) in calls() {
        for dry_run in [false, true] {
            let reply = world.send(Incoming { dry_run, ..world.incoming(tool, arguments.clone()) });
            assert_eq!(code(&reply), Some(ErrorCode::Suspended), "{tool}");
            assert_eq!((reply.verdict(), reply.rule().as_str()), (Verdict::Deny, "defence"));
            assert_eq!(world.records_of(&reply).len(), 1);
        }
    }
    assert_eq!(world.snapshot(), before);
    // Others are not stopped, and asking again and again is no violation.
    demand_success(&as_caller(&world, "another", "read_file", json!({"path": "a.txt"})));
    assert!(vambrace_audit::alerts(&world.audit_folder()).unwrap().is_empty());
    vambrace_audit::resume(&world.audit_folder(), "local", "a person", world.clock.clone()).unwrap();
    demand_success(&world.call("read_file", json!({"path": "a.txt"})));
}

#[test]
fn the_kill_switch_is_seen_by_a_corridor_that_runs() {
    let world = World::plain(entries());
    demand_success(&world.call("read_file", json!({"path": "a.txt"})));
    vambrace_audit::stop(&world.audit_folder(), None, "a person", world.clock.clone()).unwrap();
    for id in ["local", "another"] {
        let reply = as_caller(&world, id, "read_file", json!({"path": "a.txt"}));
        assert_eq!(code(&reply), Some(ErrorCode::Suspended), "{id}");
    }
}

/// Six denials in a row, by one caller.
fn six_denials(world: &World, purpose: Purpose) -> Vec<Reply> {
    let deny = || Incoming { purpose, ..world.incoming("read_file", json!({"path": ".env"})) };
    (0..6).map(|_| world.send(deny())).collect()
}

#[test]
fn more_than_five_denials_a_minute_raise_one_alert() {
    let world = World::plain(entries());
    let replies = six_denials(&world, Purpose::Call);
    for reply in &replies[..5] {
        assert!(reply.metadata().warnings.is_empty(), "five are borne");
    }
    assert_eq!(replies[5].metadata().warnings, ["Alert raised: violations."]);
    let alerts = vambrace_audit::alerts(&world.audit_folder()).unwrap();
    assert_eq!(alerts.len(), 1);
    assert_eq!((alerts[0].rule.as_str(), alerts[0].caller.as_str()), ("violations", "local"));
    assert_eq!(alerts[0].call_id, replies[5].metadata().call_id.as_str());
    // An alert is for a person to look at; the caller goes on.
    demand_success(&world.call("read_file", json!({"path": "a.txt"})));
}

#[test]
fn operators_hear_of_an_alert_once() {
    let world = World::plain(entries());
    six_denials(&world, Purpose::Call);
    world.call("read_file", json!({"path": ".env"}));
    let lines = world.log.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!((lines[0].level, lines[0].message.as_str()), (Level::Warn, "Alert raised: violations"));
    let field =
        |name: &str| lines[0].fields.iter().find(|(key, _)| *key == name).unwrap().1.as_tree().clone();
    assert_eq!(field("caller_id"), Tree::text("local"));
    assert_eq!(field("tool"), Tree::text("read_file"));
}

/// A person whom a bridge speaks for.
fn behind(world: &World, email: &str, user: &str, tool: &str, arguments: Value) -> Reply {
    let caller = Caller {
        email: Some(email.to_owned()),
        user: Some(user.to_owned()),
        voice: Voice::OfOthers,
        ..Caller::named("bridge", Role::Dev, Door::Rest)
    };
    world.send(Incoming { caller, ..world.incoming(tool, arguments) })
}

/// Every name that a caller has stops it; `Ann` is behind the bridge, `ben` too.
#[test]
fn a_person_behind_a_bridge_can_be_stopped_by_any_name() {
    let rows: [(&str, bool, bool); 7] = [
        ("ann@example.com", true, false),
        ("ANN@example.COM", true, false),
        ("U1", true, false),
        ("bridge\u{1f}U1\u{1f}Ann@example.com", true, false),
        ("bridge", true, true),
        ("*", true, true),
        ("ann", false, false),
    ];
    for (name, ann, ben) in rows {
        let world = World::plain(entries());
        let expected = |stopped: bool| stopped.then_some(ErrorCode::Suspended);
        let check = |ann: bool, ben: bool| {
            let read =
                |email, user| code(&behind(&world, email, user, "read_file", json!({"path": "a.txt"})));
            assert_eq!(read("Ann@example.com", "U1"), expected(ann), "{name}");
            assert_eq!(read("ben@example.com", "U2"), expected(ben), "{name}");
        };
        check(false, false);
        vambrace_audit::stop(&world.audit_folder(), Some(name), "a person", world.clock.clone()).unwrap();
        check(ann, ben);
        vambrace_audit::resume(&world.audit_folder(), name, "a person", world.clock.clone()).unwrap();
        check(false, false);
    }
}

#[test]
fn violations_of_people_behind_one_bridge_are_counted_apart() {
    let settings = Settings { defence: "suspend".to_owned(), ..Settings::default() };
    let world = World::new(settings, &entries());
    let people = [("ann@example.com", "U1"), ("ben@example.com", "U2")];
    for _ in 0..5 {
        for (email, user) in people {
            behind(&world, email, user, "read_file", json!({"path": ".env"}));
        }
    }
    assert!(vambrace_audit::alerts(&world.audit_folder()).unwrap().is_empty());
    behind(&world, "Ann@example.com", "U1", "read_file", json!({"path": ".env"}));
    let alerts = vambrace_audit::alerts(&world.audit_folder()).unwrap();
    assert_eq!(
        alerts.iter().map(|alert| alert.caller.as_str()).collect::<Vec<_>>(),
        ["bridge for ann@example.com"]
    );
    let codes =
        people.map(|(email, user)| code(&behind(&world, email, user, "read_file", json!({"path": "a.txt"}))));
    assert_eq!(codes, [Some(ErrorCode::Suspended), None]);
}

#[test]
fn denials_far_apart_raise_nothing() {
    let world = World::plain(entries());
    for _ in 0..12 {
        world.call("read_file", json!({"path": ".env"}));
        world.clock.pass(15_000);
    }
    assert!(vambrace_audit::alerts(&world.audit_folder()).unwrap().is_empty());
}

#[test]
fn asking_what_would_be_decided_raises_nothing() {
    let world = World::plain(entries());
    for reply in six_denials(&world, Purpose::Check) {
        assert_eq!(code(&reply), Some(ErrorCode::BlockedPath));
        assert_eq!(world.records_of(&reply)[0]["purpose"], "check");
    }
    assert!(vambrace_audit::alerts(&world.audit_folder()).unwrap().is_empty());
    assert!(!disk::exists(&world.audit_folder().join("security.jsonl")));
}

#[test]
fn an_operator_can_have_an_alert_suspend_or_terminate() {
    for defence in ["suspend", "terminate"] {
        let world = World::new(Settings { defence: defence.to_owned(), ..Settings::default() }, &entries());
        six_denials(&world, Purpose::Call);
        let reply = world.call("read_file", json!({"path": "a.txt"}));
        assert_eq!(code(&reply), Some(ErrorCode::Suspended), "{defence}");
        demand_success(&as_caller(&world, "another", "read_file", json!({"path": "a.txt"})));
    }
}

#[test]
fn the_name_a_tool_is_called_by_does_not_matter() {
    let world = World::plain(entries());
    let (alias, own) = (world.call("list_directory", json!({})), world.call("list_files", json!({})));
    assert_eq!(alias.data(), own.data());
    assert_eq!((alias.tool(), own.tool()), ("list_files", "list_files"));
    assert_eq!(world.records_of(&alias)[1]["tool"], "list_files");
    for wrong in ["List_Files", "list_files ", "", "list-files"] {
        assert_eq!(code(&world.call(wrong, json!({}))), Some(ErrorCode::ToolNotFound), "{wrong:?}");
    }
}

#[test]
fn a_session_is_carried_to_the_record_as_it_is() {
    let world = World::plain(entries());
    for text in ["thread-C1-1700000000.1", "with\ttab", &"s".repeat(256), "ümlaut \"quoted\""] {
        let session = SessionId::parse(text).unwrap();
        let reply = world.send(Incoming { session, ..world.incoming("list_files", json!({})) });
        for record in world.records_of(&reply) {
            assert_eq!(record["session_id"], text);
        }
    }
    // The rule of specification 003: what could name another place is no session.
    for wrong in ["", "a/b", "a\\b", "..", "a\0", "a\n", &"s".repeat(257)] {
        assert!(SessionId::parse(wrong).is_err(), "{wrong:?}");
    }
    assert_ne!(Corridor::new_session(), Corridor::new_session());
}

#[test]
fn a_caller_is_offered_what_it_may_use_and_refused_the_rest() {
    for role in Role::ALL {
        for mode in ["none", "read", "write", "all"] {
            let settings =
                Settings { role: role.as_str().to_owned(), mode: mode.to_owned(), ..Settings::default() };
            let world = World::new(settings, &entries());
            let caller = Caller::local(role, Door::McpStdio);
            let offered = world.corridor.tools_for(&caller);
            for (tool, arguments) in calls().into_iter().filter(|(tool, _)| *tool != "list_directory") {
                let reply = world.send(Incoming { dry_run: true, ..world.incoming(tool, arguments) });
                let refused = code(&reply) == Some(ErrorCode::PermissionDenied);
                let is_offered = offered.iter().any(|offered| offered.about.name.as_str() == tool);
                assert_eq!(is_offered, !refused, "{role:?} {mode} {tool}");
            }
        }
    }
}

#[test]
fn nobody_is_told_of_tools_that_he_may_not_use() {
    let world = World::new(Settings { mode: "read".to_owned(), ..Settings::default() }, &entries());
    let reply = world.call("make_coffee", json!({}));
    assert_eq!(reply.status(), Status::Error);
    let suggestion = reply.error().unwrap().suggestion.as_str();
    assert!(suggestion.contains("read_file") && !suggestion.contains("write_file"), "{suggestion}");
}

/// THREAT: P13, a context that is no more is no reason for a wider one.
#[test]
fn a_caller_of_a_context_that_is_not_there_gets_nothing() {
    let world = World::plain(json!({"a.txt": "a"}));
    let caller = Caller { context: Some("gone".into()), ..Caller::local(Role::Sre, Door::Rest) };
    assert!(world.corridor.tools_for(&caller).is_empty());
    for tool in ["read_file", "no_such_tool"] {
        let incoming = Incoming { caller: caller.clone(), ..world.incoming(tool, json!({"path": "a.txt"})) };
        let reply = world.send(incoming);
        assert_eq!(code(&reply), Some(ErrorCode::PermissionDenied), "{tool}");
        assert_eq!(world.records_of(&reply).len(), 1, "{tool}");
    }
}

//! Memory through the whole walk: specification 001's three cases, what operators are told, and scopes.

use serde_json::{Value, json};
use vambrace_policy::{MemoryReads, Permission, PermissionList};
use vambrace_runtime::{Incoming, Level, Reply, Verdict};
use vambrace_types::{AccessLevel, Caller, Door, ErrorCode, Role, Tree, Voice};

use crate::settings::Settings;
use crate::world::{World, code, demand_success};

fn list(entries: &[(&str, AccessLevel)]) -> Vec<Permission> {
    entries.iter().map(|(value, access)| Permission { value: (*value).to_owned(), access: *access }).collect()
}

fn person(email: &str, groups: &[&str]) -> Caller {
    Caller {
        email: Some(email.to_owned()),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        ..Caller::named(email, Role::Dev, Door::Rest)
    }
}

fn listed(emails: &[(&str, AccessLevel)], groups: &[(&str, AccessLevel)], reads: MemoryReads) -> World {
    let permissions = PermissionList { emails: list(emails), groups: list(groups), reads };
    World::new(Settings { permissions, ..Settings::default() }, &json!({}))
}

fn scoped(knowledge_scope: &str) -> World {
    World::new(Settings { knowledge_scope: knowledge_scope.to_owned(), ..Settings::default() }, &json!({}))
}

fn send(world: &World, caller: &Caller, tool: &str, arguments: Value) -> Reply {
    world.send(Incoming { caller: caller.clone(), ..world.incoming(tool, arguments) })
}

fn save(world: &World, caller: &Caller, text: &str) -> Reply {
    send(world, caller, "save_to_memory", json!({"content": text}))
}

fn text<'r>(reply: &'r Reply, key: &str) -> &'r str {
    reply.data().as_tree().get(key).and_then(Tree::as_text).unwrap_or_else(|| panic!("{reply:?}"))
}

fn texts(reply: &Reply) -> Vec<String> {
    demand_success(reply);
    let memories = reply.data().as_tree().get("memories").and_then(Tree::as_list).unwrap();
    let text = |memory: &Tree| memory.get("text").and_then(Tree::as_text).unwrap().to_owned();
    memories.iter().map(text).collect()
}

fn search(world: &World, caller: &Caller, query: &str) -> Vec<String> {
    texts(&send(world, caller, "search_memory", json!({"query": query})))
}

/// Whether the caller may save and search, over every tool that does so.
#[track_caller]
fn check(world: &World, caller: &Caller, saves: bool, searches: bool) {
    let told = |tool: &str, arguments: Value| {
        let reply = send(world, caller, tool, arguments);
        match code(&reply) {
            // Allowed, and then not there.
            None | Some(ErrorCode::MemoryNotFound) => true,
            Some(ErrorCode::PermissionDenied) => {
                let message = reply.error().unwrap().message.as_str();
                assert!(message.starts_with("⛔ Insufficient permissions. Reason: "), "{message}");
                assert_eq!(reply.verdict(), Verdict::Deny);
                false
            }
            other => panic!("{tool}: {other:?}"),
        }
    };
    let content = json!({"content": "we deploy on Tuesdays"});
    assert_eq!(told("save_to_memory", content.clone()), saves, "{caller:?}");
    assert_eq!(told("memory_write", content), saves, "{caller:?}");
    assert_eq!(told("update_memory", json!({"id": "m-0", "content": "x"})), saves, "{caller:?}");
    assert_eq!(told("delete_memory", json!({"id": "m-0"})), saves, "{caller:?}");
    assert_eq!(told("search_memory", json!({"query": "deploy"})), searches, "{caller:?}");
    assert_eq!(told("memory_read", json!({})), searches, "{caller:?}");
    let offered = world.corridor.tools_for(caller);
    let is_offered = |name: &str| offered.iter().any(|tool| tool.about.name.as_str() == name);
    assert_eq!((is_offered("save_to_memory"), is_offered("search_memory")), (saves, searches));
}

#[test]
fn case_1_a_team() {
    use AccessLevel::{Read, Write};
    let world = listed(
        &[],
        &[
            ("/google-workspace/devops@example.com", Write),
            ("/google-workspace/engineering@example.com", Write),
            ("/google-workspace/all@example.com", Read),
        ],
        MemoryReads::Checked,
    );
    let all = "/google-workspace/all@example.com";
    check(&world, &person("d@example.com", &[all, "/google-workspace/devops@example.com"]), true, true);
    check(&world, &person("e@example.com", &["/google-workspace/engineering@example.com"]), true, true);
    check(&world, &person("s@example.com", &[all]), false, true);
    check(&world, &person("x@example.com", &[]), false, false);
}

#[test]
fn case_2_realm_roles() {
    use AccessLevel::{Read, Write};
    let groups = [("knowledge-admin", Write), ("knowledge-user", Read)];
    let world = listed(&[], &groups, MemoryReads::Checked);
    check(&world, &person("a@example.com", &["knowledge-admin"]), true, true);
    check(&world, &person("b@example.com", &["knowledge-user"]), false, true);
    let reader = Caller { role: Role::ProductOwner, ..person("a@example.com", &["knowledge-admin"]) };
    check(&world, &reader, false, true);
}

#[test]
fn case_3_named_people() {
    use AccessLevel::Write;
    let emails = [("john.doe@example.com", Write), ("jane.smith@example.com", Write)];
    for (reads, rest_searches) in [(MemoryReads::Open, true), (MemoryReads::Checked, false)] {
        let world = listed(&emails, &[], reads);
        check(&world, &person("john.doe@example.com", &[]), true, true);
        check(&world, &person("Jane.Smith@example.com", &[]), true, true);
        check(&world, &person("rest@example.com", &["everybody"]), false, rest_searches);
        check(&world, &world.caller(), false, rest_searches);
    }
}

#[test]
fn operators_read_the_words_of_the_specification() {
    let devops = "/google-workspace/devops@example.com";
    let world = listed(&[], &[(devops, AccessLevel::Write)], MemoryReads::Checked);
    let john = person("john.doe@example.com", &[devops, "/google-workspace/all@example.com"]);
    let guest = person("guest@example.com", &["/google-workspace/all@example.com"]);
    for (caller, level, words, can, reason) in [
        (
            &john,
            Level::Info,
            "save_to_memory permission granted",
            true,
            "group '/google-workspace/devops@example.com' has write permission",
        ),
        (
            &guest,
            Level::Warn,
            "save_to_memory BLOCKED: insufficient permissions",
            false,
            "no matching email or group found in allowed permissions",
        ),
    ] {
        let reply = save(&world, caller, "we deploy on Tuesdays");
        let lines = world.log.take();
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!((line.level, line.message.as_str()), (level, words));
        let groups = caller.groups.iter().map(Tree::text).collect();
        let expected = vec![
            ("caller_id", Tree::text(&caller.id)),
            ("user_email", Tree::text(&caller.id)),
            ("user_groups", Tree::List(groups)),
            ("can_save", Tree::Bool(can)),
            ("permission_reason", Tree::text(reason)),
            ("session_id", Tree::text("session-1")),
        ];
        let told: Vec<_> = line.fields.iter().map(|(name, value)| (*name, value.as_tree().clone())).collect();
        assert_eq!(told, expected);
        let records = world.records_of(&reply);
        let event = records.iter().find(|record| record["event"] == "memory_permission").unwrap();
        assert_eq!((&event["message"], &event["details"]["can_save"]), (&json!(words), &json!(can)));
        assert_eq!(event["details"]["permission_reason"], reason);
        if !can {
            let message = reply.error().unwrap().message.as_str();
            assert_eq!(message, format!("⛔ Insufficient permissions. Reason: {reason}"));
        }
    }
    // The other tools under their own names.
    send(&world, &guest, "delete_memory", json!({"id": "m-0"}));
    send(&world, &john, "search_memory", json!({"query": "x"}));
    let told: Vec<_> = world.log.take().into_iter().map(|line| line.message.as_str().to_owned()).collect();
    assert_eq!(told, ["delete_memory BLOCKED: insufficient permissions", "search_memory permission granted"]);
}

#[test]
fn a_mode_that_leaves_memory_out_asks_no_list() {
    let world = World::new(Settings { mode: "read".to_owned(), ..Settings::default() }, &json!({}));
    assert_eq!(code(&save(&world, &world.caller(), "x")), Some(ErrorCode::PermissionDenied));
    assert!(world.log.take().is_empty());
}

#[test]
fn each_scope_keeps_to_itself() {
    let bridge = |user: &str, channel: &str| Caller {
        user: Some(user.to_owned()),
        channel: Some(channel.to_owned()),
        ..Caller::named("slack-bridge", Role::Dev, Door::Rest)
    };
    let (ann, ben, ann_elsewhere) = (bridge("U1", "C1"), bridge("U2", "C1"), bridge("U1", "C2"));
    for (scope, ben_sees, ann_sees_elsewhere) in
        [("shared", true, true), ("channel", true, false), ("user", false, true)]
    {
        let world = scoped(scope);
        let saved = save(&world, &ann, "the key lies under the mat");
        demand_success(&saved);
        let id = text(&saved, "id").to_owned();
        for (other, sees) in [(&ben, ben_sees), (&ann_elsewhere, ann_sees_elsewhere)] {
            assert_eq!(!search(&world, other, "mat").is_empty(), sees, "{scope} {other:?}");
            let read = send(&world, other, "memory_read", json!({}));
            assert_eq!(text(&read, "content").contains("mat"), sees, "{scope}");
            let update = json!({"id": id, "content": "the key lies under the mat"});
            for (tool, arguments) in
                [("update_memory", update), ("delete_memory", json!({"id": id, "dry_run": true}))]
            {
                let expected = (!sees).then_some(ErrorCode::MemoryNotFound);
                assert_eq!(code(&send(&world, other, tool, arguments)), expected, "{scope} {tool}");
            }
        }
    }
}

#[test]
fn whom_nobody_names_has_no_memory_and_not_everybodys() {
    let nobody = Caller { voice: Voice::OfOthers, ..Caller::named("slack-bridge", Role::Dev, Door::Rest) };
    for scope in ["channel", "user"] {
        let world = scoped(scope);
        for (tool, arguments) in [
            ("save_to_memory", json!({"content": "x"})),
            ("memory_write", json!({"content": "x"})),
            ("search_memory", json!({"query": "x"})),
            ("memory_read", json!({})),
            ("update_memory", json!({"id": "m-0", "content": "x"})),
            ("delete_memory", json!({"id": "m-0"})),
        ] {
            for dry_run in [false, true] {
                let incoming = world.incoming(tool, arguments.clone());
                let reply = world.send(Incoming { caller: nobody.clone(), dry_run, ..incoming });
                assert_eq!(code(&reply), Some(ErrorCode::NoMemoryOwner), "{scope} {tool}");
            }
        }
        // No file was made on the way.
        assert!(!world.state.join("memory.db").exists());
    }
}

#[test]
fn secrets_are_not_remembered() {
    let word = format!("qz{}horse{}battery", "-", "-");
    let settings = Settings {
        words: [("KEY".to_owned(), vec![word.clone()])].into(),
        known: vec!["KEY".to_owned()],
        ..Settings::default()
    };
    let world = World::new(settings, &json!({}));
    let caller = world.caller();
    let fine = save(&world, &caller, "harmless");
    let id = text(&fine, "id").to_owned();
    for (tool, arguments) in [
        ("save_to_memory", json!({"content": format!("it is {word}")})),
        ("save_to_memory", json!({"content": "x", "category": word})),
        ("update_memory", json!({"id": id, "content": word})),
        ("memory_write", json!({"content": word, "mode": "overwrite"})),
    ] {
        let reply = send(&world, &caller, tool, arguments);
        assert_eq!(code(&reply), Some(ErrorCode::SecretInWrite), "{tool}");
    }
    assert_eq!(search(&world, &caller, "harmless"), ["harmless"]);
    assert!(!world.everything_written_down().contains(&word));
}

#[test]
fn the_two_faces_share_one_store() {
    let world = World::plain(json!({}));
    let caller = world.caller();
    demand_success(&save(&world, &caller, "a fact about parrots"));
    demand_success(&send(&world, &caller, "memory_write", json!({"content": "a note about parrots"})));
    assert_eq!(search(&world, &caller, "parrots").len(), 2);
    let over = json!({"content": "only this", "mode": "overwrite"});
    let shown = world.dry_run("memory_write", over.clone());
    assert_eq!((text(&shown, "would"), text(&shown, "scope")), ("memory_write", "shared"));
    assert_eq!(search(&world, &caller, "parrots").len(), 2);
    demand_success(&send(&world, &caller, "memory_write", over));
    let read = send(&world, &caller, "memory_read", json!({}));
    assert_eq!(text(&read, "content"), "a fact about parrots\n\nonly this");
    let found = send(&world, &caller, "memory_read", json!({"query": "parrot"}));
    assert_eq!(
        found.data().as_tree().get("matches"),
        Some(&Tree::List(vec![Tree::text("a fact about parrots")]))
    );
}

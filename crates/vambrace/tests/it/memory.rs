//! What is remembered, through the real binary: from one process to the next, behind lists, over HTTP, and
//! after a kill.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use crate::http_world::{NO_LIMIT, Served};
use crate::support::{World, skip};

#[track_caller]
fn saved(world: &World, text: &str) -> String {
    let ran = world.call("save_to_memory", &json!({"content": text, "category": "test"}));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["data"]["success"], true);
    ran.json()["data"]["id"].as_str().unwrap().to_owned()
}

fn ids(result: &Value) -> BTreeSet<String> {
    let memories = result["data"]["memories"].as_array().unwrap_or_else(|| panic!("{result}"));
    memories.iter().map(|memory| memory["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn one_process_remembers_what_another_was_told() {
    let world = World::new();
    let searching = || world.call("search_memory", &json!({"query": "When do we deploy?"})).json();
    assert_eq!(searching()["data"], json!({"memories": [], "count": 0}));
    assert!(!world.state().join("memory.db").exists(), "looking makes nothing");
    let dry = world.run(&["--dry-run", "call", "save_to_memory", r#"{"content": "nothing"}"#]);
    assert_eq!(dry.json()["data"]["would"], "save_to_memory");
    assert!(!world.state().join("memory.db").exists(), "a dry run makes nothing");

    let id = saved(&world, "We deploy on Tuesdays.");
    let mode = std::fs::metadata(world.state().join("memory.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let found = searching();
    let memory = &found["data"]["memories"][0];
    assert_eq!((&memory["id"], &memory["text"]), (&json!(id), &json!("We deploy on Tuesdays.")));
    assert_eq!((&memory["author"], &memory["category"]), (&json!("local"), &json!("test")));
    assert_eq!((&found["data"]["count"], &found["metadata"]["redactions"]), (&json!(1), &json!(0)));

    let updated = world.call("update_memory", &json!({"id": id, "content": "We deploy on Fridays."}));
    assert_eq!(updated.code, 0, "{updated:?}");
    assert_eq!(searching()["data"]["memories"][0]["text"], "We deploy on Fridays.");
    assert_eq!(world.call("delete_memory", &json!({"id": id})).code, 0);
    assert_eq!(searching()["data"]["count"], 0);
    for tool in ["update_memory", "delete_memory"] {
        let arguments =
            if tool == "update_memory" { json!({"id": id, "content": "x"}) } else { json!({"id": id}) };
        let ran = world.call(tool, &arguments);
        assert_eq!((ran.code, ran.error_code().as_str()), (1, "MemoryNotFound"), "{tool}");
    }
}

#[test]
fn lists_stop_whoever_is_not_on_them() {
    let world = World::new();
    saved(&world, "from the open days");
    let lists = "permissions: {allowed_emails: [{value: admin@example.com, role: write}]}\n";
    let reason = "no user identity available (missing email and groups from JWT)";
    for (config, can_search) in
        [(lists.to_owned(), false), (format!("{lists}memory: {{reads: open}}\n"), true)]
    {
        let file = world.beside("operator.yaml", &config);
        let call = |tool: &str, arguments: &str| world.run(&["--config", &file, "call", tool, arguments]);
        let blocked = call("save_to_memory", r#"{"content": "x"}"#);
        assert_eq!((blocked.code, blocked.error_code().as_str()), (3, "PermissionDenied"), "{blocked:?}");
        let message = format!("⛔ Insufficient permissions. Reason: {reason}");
        assert_eq!(blocked.json()["error"]["message"], message);
        let looked = call("search_memory", r#"{"query": "open"}"#);
        assert_eq!(looked.code, if can_search { 0 } else { 3 }, "{looked:?}");
    }
    let told: Vec<Value> =
        world.records().into_iter().filter(|record| record["event"] == "memory_permission").collect();
    assert!(
        told.iter().any(|record| record["message"] == "save_to_memory BLOCKED: insufficient permissions")
    );
    assert!(told.iter().any(|record| record["message"] == "save_to_memory permission granted"));
}

#[test]
fn a_place_that_is_not_there_yet_is_refused_at_the_start() {
    let world = World::new();
    let file = world.beside("operator.yaml", "state: {memory: \"postgres://db.example/memory\"}\n");
    let ran = world.run(&["--config", &file, "call", "memory_read", "{}"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("state.memory"), "{ran:?}");
}

/// What was answered is kept, whenever we are ended.
#[test]
fn a_kill_loses_nothing_that_was_answered() {
    const ANSWERS: usize = 25;
    let world = World::new();
    let mut child = world
        .command(&["call", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || {
        for number in 0..2000 {
            let arguments = json!({"content": format!("common number {number}")});
            let line = json!({"tool": "save_to_memory", "arguments": arguments});
            if writeln!(stdin, "{line}").is_err() {
                break;
            }
        }
    });
    let answers = BufReader::new(child.stdout.take().unwrap()).lines().take(ANSWERS);
    let answered: BTreeSet<String> = answers
        .map(|line| {
            serde_json::from_str::<Value>(&line.unwrap()).unwrap()["data"]["id"].as_str().unwrap().to_owned()
        })
        .collect();
    child.kill().unwrap();
    child.wait().unwrap();
    writer.join().unwrap();
    assert_eq!(answered.len(), ANSWERS);
    for id in answered {
        let ran = world.run(&["--dry-run", "call", "delete_memory", &json!({"id": id}).to_string()]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    saved(&world, "and it goes on");
}

/// A key of the test's own, put together here so that no file holds one.
fn key(name: &str) -> String {
    format!("ka_{name}_{}", "0f1e2d3c".repeat(4))
}

#[test]
fn over_http_each_person_has_a_memory_of_their_own() {
    let world = World::new();
    let (ann, ben, eve) = (key("ann"), key("ben"), key("eve"));
    let config = format!(
        "{NO_LIMIT}rag: {{knowledge_scope: user}}\napi_keys:\n  {ann}: {{caller_id: ann, role: write}}\n  \
         {ben}: {{caller_id: ben, role: write}}\n  {eve}: {{caller_id: eve, role: read}}\n"
    );
    let served = Served::with_config(&world, &config);
    let post = |key: &str, tool: &str, arguments: Value| {
        served.post_as(&[("X-API-Key", key)], &format!("/api/tools/{tool}"), &arguments).json()
    };
    let saving = post(&ann, "save_to_memory", json!({"content": "ann's secret garden"}));
    let id = saving["data"]["id"].clone();
    assert_eq!(saving["status"], "success", "{saving}");
    assert_eq!(ids(&post(&ann, "search_memory", json!({"query": "garden"}))).len(), 1);
    assert_eq!(ids(&post(&ben, "search_memory", json!({"query": "garden"}))).len(), 0);
    assert_eq!(post(&ben, "delete_memory", json!({"id": id}))["error"]["code"], "MemoryNotFound");
    let blocked = post(&eve, "save_to_memory", json!({"content": "x"}));
    assert_eq!(blocked["error"]["code"], "PermissionDenied");
    let reason = "⛔ Insufficient permissions. Reason: caller has role='read' (read-only access)";
    assert_eq!(blocked["error"]["message"], reason);
    assert_eq!(post(&eve, "search_memory", json!({"query": "garden"}))["data"]["count"], 0);

    thread::scope(|scope| {
        for number in 0..16 {
            let (post, key) = (&post, if number % 2 == 0 { &ann } else { &ben });
            scope.spawn(move || {
                for turn in 0..4 {
                    let text = format!("of {number} at {turn}, together");
                    assert_eq!(post(key, "save_to_memory", json!({"content": text}))["status"], "success");
                    assert!(!ids(&post(key, "search_memory", json!({"query": "together"}))).is_empty());
                }
            });
        }
    });
    let all = |key: &str| ids(&post(key, "search_memory", json!({"query": "together", "limit": 100})));
    assert_eq!((all(&ann).len(), all(&ben).len()), (32, 32));
    assert!(all(&ann).is_disjoint(&all(&ben)));
}

/// Specification 001's first case, word for word, through the bridge that says for whom it calls.
#[test]
fn over_http_the_lists_know_the_person_behind_the_bridge() {
    let world = World::new();
    let token = format!("{}-bridge", "0f1e2d3c".repeat(4));
    let config = format!(
        "{NO_LIMIT}auth: {{internal_token: {token}}}\npermissions:\n  allowed_groups:\n    \
         - {{value: \"/google-workspace/devops@example.com\", role: write}}\n    \
         - {{value: \"/google-workspace/all@example.com\", role: read}}\n"
    );
    let served = Served::with_config(&world, &config);
    let call = |email: &str, groups: &str, tool: &str, arguments: Value| {
        let who = [("X-Internal-Token", token.as_str()), ("X-User-Email", email), ("X-User-Groups", groups)];
        served.post_as(&who, &format!("/api/tools/{tool}"), &arguments).json()
    };
    let (all, devops) = ("/google-workspace/all@example.com", "/google-workspace/devops@example.com");
    let content = json!({"content": "we deploy on Tuesdays"});
    let both = format!("{devops},{all}");
    let granted = call("john.doe@example.com", &both, "save_to_memory", content.clone());
    assert_eq!(granted["status"], "success", "{granted}");
    let found = call("guest@example.com", all, "search_memory", json!({"query": "deploy"}));
    assert_eq!(found["data"]["memories"][0]["author"], "john.doe@example.com", "{found}");
    let prefix = "⛔ Insufficient permissions. Reason:";
    for (groups, tool, arguments, reason) in [
        (all, "save_to_memory", content.clone(), format!("group '{all}' has read-only permission")),
        (
            "sales",
            "save_to_memory",
            content,
            "no matching email or group found in allowed permissions".to_owned(),
        ),
        (
            "sales",
            "search_memory",
            json!({"query": "deploy"}),
            "no matching email or group found in allowed permissions".to_owned(),
        ),
    ] {
        let blocked = call("guest@example.com", groups, tool, arguments);
        assert_eq!(blocked["error"]["message"], format!("{prefix} {reason}"), "{blocked}");
    }
    // Lines come when they come: each further question gives them time.
    let lines = ["save_to_memory permission granted", "save_to_memory BLOCKED: insufficient permissions"];
    let told = || lines.iter().all(|line| served.log().contains(line));
    assert!((0..1000).any(|_| told() || served.get("/health").status == 0 || told()), "{}", served.log());
    assert!(told(), "{}", served.log());
}

/// THREAT: P03, a link in the state folder.
#[test]
fn a_link_in_the_place_of_a_file_of_ours_is_not_followed() {
    use std::os::unix::fs::PermissionsExt as _;
    for name in ["memory.db", "redaction.key", "hidden", "outputs", "journal"] {
        let world = World::new();
        let target = world.dir().join("target");
        if name.contains('.') {
            std::fs::write(&target, "").unwrap();
        } else {
            std::fs::create_dir(&target).unwrap();
        }
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&target, mode).unwrap();
        std::fs::create_dir(world.state()).unwrap();
        std::os::unix::fs::symlink(&target, world.state().join(name)).unwrap();
        world.call("save_to_memory", &json!({"content": "the gate is blue", "category": "test"}));
        world.call("write_file", &json!({"path": "a.txt", "content": "x"}));
        let about = std::fs::metadata(&target).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o755, "{name}");
        if about.is_dir() {
            assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "{name}");
        } else {
            assert_eq!(about.len(), 0, "{name}");
        }
    }
}

#[test]
fn a_file_of_another_user_in_the_place_of_one_of_ours_is_not_used() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    for name in ["memory.db", "audit/standing.jsonl", "audit/audit.key", "audit/segments.jsonl"] {
        let world = World::new();
        assert_eq!(world.call("save_to_memory", &json!({"content": "one", "category": "test"})).code, 0);
        assert_eq!(world.run(&["stop"]).code, 0);
        assert_eq!(world.run(&["resume", "*"]).code, 0);
        let path = world.state().join(name);
        let before = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().mode());
        if std::fs::metadata(&path).unwrap().uid() != 0 {
            return skip("files of another user in the state folder: the tests are not root");
        }
        chown(&path, Some(65534), None).unwrap();
        let ran = world.call("save_to_memory", &json!({"content": "two", "category": "test"}));
        let said = ran.text() + &ran.stderr;
        assert!(said.contains("belongs to another user"), "{name}: {said}");
        assert_ne!(ran.code, 0, "{name}: {ran:?}");
        assert_eq!(
            before,
            (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().mode()),
            "{name}"
        );
    }
}

#[test]
fn a_link_in_the_place_of_a_folder_of_ours_is_not_followed() {
    for name in ["turns", "groups", "audit", "audit/segments"] {
        let world = World::new();
        let target = world.dir().join("target");
        std::fs::create_dir(&target).unwrap();
        // As if a process that is gone had left them.
        let kept = ["thesis.txt", "1-1-0", "vambrace-4194399-1-"];
        for file in kept {
            std::fs::write(target.join(file), "").unwrap();
        }
        let link = world.state().join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&target, link).unwrap();
        world.run(&["run", "--", "touch", "made"]);
        let swept = world.beside("swept.yaml", "sandbox: {absent_names: sweep}\n");
        world.run(&["--config", &swept, "run", "--", "touch", ".dir-locals.el"]);
        let mut left: Vec<_> =
            std::fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["1-1-0", "thesis.txt", "vambrace-4194399-1-"], "{name}");
    }
}

#[test]
fn a_stop_is_not_written_into_a_file_with_a_second_name() {
    let world = World::new();
    assert_eq!(world.run(&["stop", "somebody"]).code, 0);
    let (book, target) = (world.audit().join("standing.jsonl"), world.dir().join("target"));
    std::fs::rename(&book, &target).unwrap();
    std::fs::hard_link(&target, &book).unwrap();
    let before = std::fs::read(&target).unwrap();
    let ran = world.run(&["stop", "another"]);
    assert!(ran.code != 0 && ran.stderr.contains("second name"), "{ran:?}");
    assert_eq!(std::fs::read(&target).unwrap(), before);
}

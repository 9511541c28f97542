//! Many callers, each in a context of its own, through one port: specification 004's `ToolContext`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::http_world::{Answer, NO_LIMIT, Served};
use crate::programs_host::until;
use crate::support::World;

fn secret(name: &str) -> String {
    format!("ka_{name}_{}", "5e".repeat(16))
}

fn keys(names: &[String]) -> Value {
    let key = |name: &String| json!({"caller_id": name, "secret": secret(name), "role": "dev"});
    names.iter().map(key).collect()
}

fn serve(world: &World, names: &[String], contexts: &Value) -> Served {
    let config = format!("{NO_LIMIT}api_keys: {}\ncontexts: {contexts}\n", keys(names));
    Served::with_config(world, &config)
}

fn rest(served: &Served, credential: &str, tool: &str, arguments: &Value) -> Answer {
    let path = format!("/api/tools/{tool}");
    served.post_as(&[("Authorization", &format!("Bearer {credential}"))], &path, arguments)
}

fn mcp(served: &Served, credential: &str, tool: &str, arguments: &Value) -> Answer {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"_meta": meta, "name": tool, "arguments": arguments});
    let bearer = format!("Bearer {credential}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    served.post_as(&headers, "/mcp", &call)
}

fn a2a(served: &Served, credential: &str, tool: &str, arguments: &Value) -> Answer {
    let part = json!({"data": {"tool": tool, "arguments": arguments}});
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [part]});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let headers = [("X-API-Key", credential), ("A2A-Version", "1.0")];
    served.post_as(&headers, "/a2a/invoke", &call)
}

type Door = fn(&Served, &str, &str, &Value) -> Answer;
const DOORS: [Door; 3] = [rest, mcp, a2a];

const N_SERVICES: usize = 50;
/// Of them, so many run programs too: each proves a sandbox of its own first.
const N_RUNNERS: usize = 4;

fn service(number: usize) -> String {
    format!("service-{number}")
}

/// What stands in this service's files and nowhere else.
fn marker(number: usize) -> String {
    format!("marker-of-{number}-only")
}

/// THREAT: P13, one gateway for fifty agents of one repository.
#[test]
fn fifty_callers_at_once_see_and_change_nothing_but_their_own() {
    let world = World::new();
    let names: Vec<String> = (0..N_SERVICES).map(|number| format!("agent-{number}")).collect();
    for number in 0..N_SERVICES {
        world.file(&format!("{}/notes.txt", service(number)), format!("{}\n", marker(number)));
    }
    let row = |number: usize| {
        json!({
            "name": service(number),
            "match": {"key": names[number]},
            "service_root": service(number),
        })
    };
    let contexts: Value = (0..N_SERVICES).map(row).collect();
    let served = serve(&world, &names, &contexts);
    std::thread::scope(|scope| {
        for (number, name) in names.iter().enumerate() {
            let served = &served;
            scope.spawn(move || works_alone(served, name, number));
        }
    });
    for number in 0..N_SERVICES {
        let text = world.text(&format!("{}/notes.txt", service(number)));
        assert_eq!(text, format!("{} edited\n", marker(number)));
    }
    // What the audit log has of them is told apart by the context.
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let records: Vec<Value> =
        world.raw_records().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for record in records.iter().filter(|record| record["kind"] == "outcome") {
        let (caller, context) = (&record["caller_id"], &record["context"]);
        let caller = caller.as_str().unwrap().to_owned();
        let context = context.as_str().unwrap_or_else(|| panic!("{record}")).to_owned();
        assert_eq!(*seen.entry(caller).or_insert_with(|| context.clone()), context);
    }
    assert_eq!(seen.len(), N_SERVICES);
    let metrics = served.send("GET", "/metrics", &[], b"").text();
    for number in 0..N_SERVICES {
        let name = service(number);
        assert!(
            metrics
                .contains(&format!("vambrace_context_calls_total{{context=\"{name}\",decision=\"allow\"}}"))
        );
    }
}

fn works_alone(served: &Served, name: &str, number: usize) {
    let credential = secret(name);
    let other = (number + 1) % N_SERVICES;
    let foreign =
        |answer: &Answer| (0..N_SERVICES).any(|n| n != number && answer.text().contains(&marker(n)));
    for door in DOORS {
        let call = |tool: &str, arguments: Value| {
            let answer = door(served, &credential, tool, &arguments);
            assert!(!foreign(&answer), "{name} {tool} {arguments}: {}", answer.text());
            answer.text()
        };
        assert!(call("read_file", json!({"path": "notes.txt"})).contains(&marker(number)));
        let listed = call("list_files", json!({"recursive": true}));
        assert!(
            listed.contains("notes.txt") && !listed.contains(&format!("{}/", service(other))),
            "{listed}"
        );
        let found = call("search_file", json!({"regex": "marker-of-[0-9]+-only"}));
        assert!(found.contains(&marker(number)), "{found}");
        for path in [format!("../{}/notes.txt", service(other)), format!("/{}/notes.txt", service(other))] {
            call("read_file", json!({"path": path}));
            call("write_file", json!({"path": path, "content": format!("by {name}")}));
            call("search_file", json!({"path": path, "regex": "marker"}));
        }
    }
    let edits = json!([{"spec": "only", "content": "only edited"}]);
    let edited = rest(served, &credential, "edit_file", &json!({"path": "notes.txt", "edits": edits}));
    assert_eq!(edited.status, 200, "{}", edited.text());
    if number < N_RUNNERS {
        let line = json!({"command": "cat notes.txt"});
        assert!(rest(served, &credential, "exec_shell", &line).text().contains(&marker(number)));
        for line in [format!("cat ../{}/notes.txt", service(other)), "grep -r marker .".to_owned()] {
            let answer = mcp(served, &credential, "exec_shell", &json!({"command": line}));
            assert!(!foreign(&answer), "{name} {line}: {}", answer.text());
        }
    }
}

#[track_caller]
fn offered(served: &Served, credential: &str) -> Vec<String> {
    let bearer = format!("Bearer {credential}");
    let answer = served.send("GET", "/api/tools", &[("Authorization", &bearer)], b"");
    let tools = answer.json()["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Specification 004's matrix, by the context and not by the credential.
#[test]
fn a_context_gives_its_role_and_its_mode() {
    let world = World::new();
    world.file("a.txt", "a\n");
    let rows = [
        ("dev", "all", ["write_file", "run_test"].as_slice(), ["git_push", "system_ctl"].as_slice()),
        ("sre", "all", &["write_file", "system_ctl"], &["git_push"]),
        ("release_manager", "all", &["write_file", "git_push"], &["system_ctl"]),
        ("product_owner", "all", &["read_file"], &["write_file", "git_commit", "exec_shell"]),
        ("dev", "read", &["read_file"], &["write_file", "exec_shell"]),
        ("dev", "read,write", &["write_file"], &["exec_shell"]),
    ];
    let names: Vec<String> = (0..rows.len()).map(|number| format!("agent-{number}")).collect();
    let contexts: Value = rows
        .iter()
        .zip(&names)
        .enumerate()
        .map(|(number, ((role, mode, _, _), name))| {
            let matches = json!({"caller_id": name});
            json!({"name": format!("c{number}"), "match": matches, "role": role, "tool": mode})
        })
        .collect();
    let served = serve(&world, &names, &contexts);
    for (name, (role, mode, has, lacks)) in names.iter().zip(&rows) {
        let offered = offered(&served, &secret(name));
        let is_offered = |tool: &&&str| offered.iter().any(|name| name == **tool);
        assert!(has.iter().all(|tool| is_offered(&tool)), "{role} {mode}: {offered:?}");
        assert!(!lacks.iter().any(|tool| is_offered(&tool)), "{role} {mode}: {offered:?}");
        for tool in *lacks {
            let answer = rest(&served, &secret(name), tool, &json!({}));
            assert_eq!(
                answer.json()["error"]["code"],
                "PermissionDenied",
                "{role} {tool}: {}",
                answer.text()
            );
        }
    }
}

#[test]
fn who_fits_no_context_is_refused_and_a_row_for_the_rest_takes_everybody() {
    let world = World::new();
    world.file("own/a.txt", "a\n").file("b.txt", "b\n");
    let names = ["agent-a", "stray"].map(str::to_owned);
    let own = json!({"name": "own", "match": {"key": "agent-a"}, "service_root": "own"});
    let file = json!({"path": "a.txt"});
    {
        let served = serve(&world, &names, &json!([own]));
        assert_eq!(rest(&served, &secret("agent-a"), "read_file", &file).status, 200);
        for door in DOORS {
            let refused = door(&served, &secret("stray"), "read_file", &file);
            assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("NotAMember")));
        }
    }
    let served = serve(&world, &names, &json!([own, {"name": "rest", "role": "read"}]));
    assert_eq!(rest(&served, &secret("stray"), "read_file", &json!({"path": "b.txt"})).status, 200);
    assert_eq!(
        rest(&served, &secret("stray"), "write_file", &json!({"path": "c", "content": ""})).status,
        403
    );
}

#[test]
fn a_task_token_narrows_and_expires() {
    let world = World::new();
    world.file("own/a.txt", "a\n");
    let names = ["agent-a".to_owned()];
    let own = json!({"name": "own", "match": {"key": "agent-a"}, "service_root": "own"});
    let served = serve(&world, &names, &json!([own]));
    let bearer = format!("Bearer {}", secret("agent-a"));
    let wish = |wish: Value| served.post_as(&[("Authorization", &bearer)], "/api/tokens/task", &wish);
    let token = |answer: &Answer| answer.json()["token"].as_str().unwrap().to_owned();
    for wrong in [json!({"role": "sre"}), json!({"role": "release_manager"})] {
        assert_eq!(wish(wrong.clone()).status, 403, "{wrong}");
    }
    for wrong in
        [json!({"ttl": 0}), json!({"ttl": 86_401}), json!({"tool": "x"}), json!({"context": "other"})]
    {
        assert_eq!(wish(wrong.clone()).status, 400, "{wrong}");
    }
    let narrow = token(&wish(json!({"tool": "read"})));
    let (file, new) = (json!({"path": "a.txt"}), json!({"path": "b.txt", "content": "b"}));
    for door in DOORS {
        assert!(door(&served, &narrow, "read_file", &file).text().contains("a\\n"));
        assert!(door(&served, &narrow, "write_file", &new).text().contains("PermissionDenied"));
    }
    let reader = token(&wish(json!({"role": "read"})));
    assert_eq!(rest(&served, &reader, "write_file", &new).status, 403);
    // A task hands nothing on.
    let by_task = [("Authorization", format!("Bearer {narrow}"))];
    let by_task: Vec<(&str, &str)> = by_task.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(served.post_as(&by_task, "/api/tokens/task", &json!({})).status, 403);
    let brief = token(&wish(json!({"ttl": 1})));
    until("the token expires", || rest(&served, &brief, "read_file", &file).status == 401);
    // Whoever stops the caller stops its tasks; one task can be stopped alone.
    let whole = wish(json!({}));
    let task = format!("task-{}", whole.json()["task"].as_str().unwrap());
    assert_eq!(rest(&served, &token(&whole), "write_file", &new).status, 200);
    assert_eq!(world.run(&["stop", &task]).code, 0);
    assert!(rest(&served, &token(&whole), "read_file", &file).text().contains("Suspended"));
    assert_eq!(rest(&served, &narrow, "read_file", &file).status, 200);
    assert_eq!(world.run(&["stop", "agent-a"]).code, 0);
    assert!(rest(&served, &narrow, "read_file", &file).text().contains("Suspended"));
}

#[test]
fn a_token_of_the_command_line_is_good_at_the_server_of_the_same_state() {
    let world = World::new();
    world.file("own/a.txt", "a\n").file("other/b.txt", "b\n");
    let names = ["agent-a".to_owned()];
    let contexts = json!([
        {"name": "own", "match": {"key": "agent-a"}, "service_root": "own"},
        {"name": "other", "match": {"caller_id": "nobody"}, "service_root": "other", "role": "sre"},
    ]);
    let served = serve(&world, &names, &contexts);
    let file = format!("{NO_LIMIT}api_keys: {}\ncontexts: {contexts}\n", keys(&names));
    let config = world.beside("operator.yaml", &file);
    let made = |options: &[&str]| {
        let args = [&["--config", config.as_str(), "token", "task"], options].concat();
        world.run(&args)
    };
    let token = made(&["--context", "other", "--ttl", "10m", "-q"]);
    assert_eq!(token.code, 0, "{token:?}");
    let token = token.text().trim().to_owned();
    assert_eq!(rest(&served, &token, "read_file", &json!({"path": "b.txt"})).status, 200);
    assert_eq!(rest(&served, &token, "read_file", &json!({"path": "../own/a.txt"})).status, 403);
    assert!(offered(&served, &token).contains(&"system_ctl".to_owned()));
    for wrong in [&["--context", "gone"][..], &[][..], &["--context", "own", "--ttl", "25h"]] {
        assert_eq!(made(wrong).code, 2, "{wrong:?}");
    }
    // Another state folder has another key.
    let elsewhere = World::new();
    let other = Served::with_config(&elsewhere, NO_LIMIT);
    assert_eq!(rest(&other, &token, "read_file", &json!({"path": "b.txt"})).status, 401);
}

/// It attacks in a folder of its own, where no service of theirs is.
#[test]
fn the_doctor_works_where_contexts_are_configured() {
    let world = World::new();
    world.file("own/a.txt", "a\n");
    let contexts = json!([{"name": "own", "match": {"caller_id": "agent-a"}, "service_root": "own"}]);
    let config = world.beside("operator.yaml", &format!("contexts: {contexts}\n"));
    let (with, without) = (world.run(&["--config", &config, "doctor"]), world.run(&["doctor"]));
    assert_eq!(with.code, without.code, "{}", with.text());
    assert!(!with.text().contains("is not a folder"), "{}", with.text());
}

#[test]
fn what_agents_could_change_to_become_others_is_refused() {
    let world = World::new();
    world.file("a.txt", "a\n").file("../other/b.txt", "b\n");
    let other = world.dir().join("other");
    std::os::unix::fs::symlink(&other, world.dir().join("link")).unwrap();
    let row = |workspace: &str| json!([{"name": "own", "match": {"caller_id": "a"}, "workspace": workspace}]);
    for workspace in ["../other", "../link", other.to_str().unwrap()] {
        // A configuration that its own agents could write.
        let config = other.join("operator.yaml");
        std::fs::write(&config, format!("contexts: {}\n", row(workspace))).unwrap();
        let ran =
            world.run(&["--config", config.to_str().unwrap(), "call", "read_file", "{\"path\": \"a.txt\"}"]);
        assert!(ran.code == 2 && ran.stderr.contains("holds `"), "{workspace}: {ran:?}");
        // And keys by which they could become anybody.
        let jwks = other.join("jwks.json");
        std::fs::write(&jwks, "{\"keys\": []}").unwrap();
        let text = format!("auth: {{jwt: {{jwks: {}}}}}\ncontexts: {}\n", json!(jwks), row(workspace));
        let config = world.beside("operator.yaml", &text);
        let ran = world.run(&["--config", &config, "serve", "--listen", "127.0.0.1:0"]);
        assert!(ran.code == 2 && ran.stderr.contains("auth.jwt.jwks"), "{workspace}: {ran:?}");
    }
    let state = world.state().join("audit");
    std::fs::create_dir_all(&state).unwrap();
    let config = world.beside("operator.yaml", &format!("contexts: {}\n", row(state.to_str().unwrap())));
    let ran = world.run(&["--config", &config, "call", "read_file", "{\"path\": \"a.txt\"}"]);
    assert!(ran.code == 2 && ran.stderr.contains("inside the state folder"), "{ran:?}");
}

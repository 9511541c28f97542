//! One scenario through every door: the same call gets the same decision and the same ToolResult. P10.

use serde_json::{Value, json};

use crate::http_world::{NO_LIMIT, Served};
use crate::mcp_client::Client;
use crate::support::World;

const CALLS: &str = include_str!("../../../../testdata/doors.jsonl");

/// The same workspace for every door.
fn world() -> World {
    let world = World::new();
    world.file("a.txt", "one\ntwo\n").file(".env", "A=1\n").file("guarded.txt", "one\n");
    world
}

fn calls() -> Vec<(String, Value, bool)> {
    let parse = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let row = |call: Value| {
        let tool = call["tool"].as_str().unwrap().to_owned();
        (tool, call["arguments"].clone(), call["dry_run"] == json!(true))
    };
    CALLS.lines().map(parse).map(row).collect()
}

/// Without what differs from call to call: ids, times, and what belongs to them.
fn comparable(mut result: Value) -> Value {
    if let Some(metadata) = result["metadata"].as_object_mut() {
        metadata.remove("call_id");
        metadata.remove("duration_ms");
    }
    strip(&mut result);
    result
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            for key in ["id", "timestamp", "author", "approval_id", "expires_at"] {
                entries.remove(key);
            }
            entries.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::String(text) => {
            for mark in [" with the id ", "ap_"] {
                if let Some((before, _)) = text.split_once(mark) {
                    *text = before.to_owned();
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What the operator wants to be asked about.
const RULES: &str = "rules: [{tool: edit_file, path: guarded.txt, decision: ask}]\n";

/// Every door takes the calls one after the other, in a world of its own.
fn through(door: &str) -> Vec<Value> {
    let world = world();
    let file = world.beside("rules.yaml", RULES);
    let serve = || Served::with_config(&world, &format!("{NO_LIMIT}{RULES}"));
    let with_wish = |arguments: &Value, dry_run: bool| {
        let mut arguments = arguments.clone();
        if dry_run {
            arguments["dry_run"] = json!(true);
        }
        arguments
    };
    match door {
        "call" => calls()
            .iter()
            .map(|(tool, arguments, dry_run)| {
                let arguments = with_wish(arguments, *dry_run).to_string();
                world.feed(&["--config", &file, "call", tool, "-"], arguments).json()
            })
            .collect(),
        "mcp stdio" => {
            let mut client = Client::open(&world, &["--config", &file]);
            calls()
                .iter()
                .map(|(tool, arguments, dry_run)| {
                    client.call(tool, &with_wish(arguments, *dry_run))["structuredContent"].clone()
                })
                .collect()
        }
        "rest" => {
            let served = serve();
            calls()
                .iter()
                .map(|(tool, arguments, dry_run)| {
                    let wish = if *dry_run { "?dry_run=true" } else { "" };
                    served.post(&format!("/api/tools/{tool}{wish}"), arguments).json()
                })
                .collect()
        }
        "mcp http" => {
            let served = serve();
            calls()
                .iter()
                .map(|(tool, arguments, dry_run)| {
                    let params = json!({
                        "name": tool,
                        "arguments": with_wish(arguments, *dry_run),
                        "_meta": meta(),
                    });
                    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
                    let who = [
                        ("X-API-Key", served.token.as_str()),
                        ("Accept", "application/json, text/event-stream"),
                        ("MCP-Protocol-Version", "2026-07-28"),
                        ("Mcp-Method", "tools/call"),
                        ("Mcp-Name", tool.as_str()),
                    ];
                    let answer = served.post_as(&who, "/mcp", &body);
                    message(&answer.text())["result"]["structuredContent"].clone()
                })
                .collect()
        }
        "a2a" => {
            let served = serve();
            calls()
                .iter()
                .map(|(tool, arguments, dry_run)| {
                    let data = json!({"tool": tool, "arguments": with_wish(arguments, *dry_run)});
                    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"data": data}]});
                    let params = json!({"message": message});
                    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
                    let who = [("X-API-Key", served.token.as_str()), ("A2A-Version", "1.0")];
                    let answer = served.post_as(&who, "/a2a/invoke", &body).json();
                    let parts = &answer["result"]["task"]["artifacts"][0]["parts"];
                    let data = parts
                        .as_array()
                        .and_then(|parts| parts.iter().find(|part| part.get("data").is_some()));
                    data.unwrap_or_else(|| panic!("{answer}"))["data"].clone()
                })
                .collect()
        }
        other => panic!("{other}"),
    }
}

/// What every request of revision 2026-07-28 carries.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The message of an answer that is JSON or a stream of events.
fn message(text: &str) -> Value {
    let mut events = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let last = events.rfind(|data| !data.is_empty()).unwrap_or(text);
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn one_scenario_gives_the_same_results_through_every_door() {
    let expected: Vec<Value> = through("call").into_iter().map(comparable).collect();
    let decisions: Vec<&str> =
        expected.iter().filter_map(|result| result["error"]["code"].as_str()).collect();
    for code in [
        "PathOutsideProject",
        "BlockedPath",
        "ProtectedPath",
        "MetadataAddress",
        "PermissionDenied",
        "ApprovalRequired",
    ] {
        assert!(decisions.contains(&code), "the scenario shows {code}: {decisions:?}");
    }
    for door in ["mcp stdio", "rest", "mcp http", "a2a"] {
        let results = through(door).into_iter().map(comparable);
        for ((result, expected), (tool, arguments, _)) in results.zip(&expected).zip(calls()) {
            assert_eq!(result, *expected, "{tool} {arguments} through {door}");
        }
    }
}

#[test]
fn a_role_has_its_row_at_every_http_door() {
    let world = world();
    let rows =
        [("write", "dev"), ("read", "product_owner"), ("sre", "sre"), ("release_manager", "release_manager")];
    let secret = |name: &str| format!("ka_{name}_{}", "3d".repeat(16));
    let keys: Vec<Value> = rows
        .iter()
        .map(|(role, _)| json!({"caller_id": role, "role": role, "secret": secret(role)}))
        .collect();
    let served = Served::with_config(&world, &format!("{NO_LIMIT}api_keys: {}\n", json!(keys)));
    for (role, alone) in rows {
        let key = secret(role);
        let who = [("X-API-Key", key.as_str()), ("Accept", "application/json, text/event-stream")];
        let rest = served.send("GET", "/api/tools", &who, b"").json();
        let names = |list: &Value| -> Vec<String> {
            let mut names: Vec<String> = list
                .as_array()
                .unwrap()
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned())
                .collect();
            names.sort();
            names
        };
        let over_rest = names(&rest["tools"]);
        let mut client = Client::open(&world, &["--role", alone]);
        let over_stdio = names(&client.request("tools/list", &json!({}))["result"]["tools"]);
        assert_eq!(over_rest, over_stdio, "{role}");
        let mut who = who.to_vec();
        who.extend([("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")]);
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta()}});
        let listed = message(&served.post_as(&who, "/mcp", &list).text());
        assert_eq!(names(&listed["result"]["tools"]), over_stdio, "{role}: {listed}");
        let card = json!({"jsonrpc": "2.0", "id": 1, "method": "GetExtendedAgentCard", "params": {}});
        let who = [("X-API-Key", key.as_str()), ("A2A-Version", "1.0")];
        let card = served.post_as(&who, "/a2a/invoke", &card).json();
        let skills = card["result"]["skills"].as_array().unwrap_or_else(|| panic!("{card}"));
        let mut skills: Vec<&str> = skills.iter().map(|skill| skill["id"].as_str().unwrap()).collect();
        skills.sort_unstable();
        assert_eq!(skills, over_stdio, "{role}");
    }
}

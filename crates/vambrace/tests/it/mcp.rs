//! MCP over stdio, as the wire has it: both revisions, lists, calls, denials, progress, cancellation, departure.

use std::fs;

use serde_json::{Value, json};

use crate::http_world::Served;
use crate::mcp_client::Client;
use crate::mcp_http_client::{ACCEPT, messages};
use crate::support::World;

fn world() -> World {
    let world = World::new();
    world.file("a.txt", "one\ntwo\n").file(".env", "KEY=value");
    world
}

/// Many names of one file: a folder that takes long to search and no time to make. A gigabyte takes half a second or longer;
/// whether a caller has gone is known after one.
pub(crate) fn many_files(world: &World, n_files: usize, size: usize) {
    world.file("many/0", "abcdefghij klmnop qrstuv 0123456789\n".repeat(size / 36));
    for number in 1..n_files {
        fs::hard_link(world.work().join("many/0"), world.work().join(format!("many/{number}"))).unwrap();
    }
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

const ALL: [&str; 29] = [
    "bash_command",
    "count_matches",
    "create_directory",
    "delete_file",
    "delete_memory",
    "edit_file",
    "exec_shell",
    "fetch_url",
    "git_add",
    "git_checkout",
    "git_commit",
    "git_diff",
    "git_status",
    "install_dependencies",
    "list_files",
    "memory_read",
    "memory_write",
    "posture_report",
    "read_file",
    "read_output",
    "run_lint",
    "run_test",
    "save_to_memory",
    "search_file",
    "search_memory",
    "spawn",
    "update_memory",
    "web_fetch",
    "write_file",
];
const READING: [&str; 10] = [
    "count_matches",
    "git_diff",
    "git_status",
    "list_files",
    "memory_read",
    "posture_report",
    "read_file",
    "read_output",
    "search_file",
    "search_memory",
];

#[test]
fn the_handshake_of_2025_11_25() {
    let world = world();
    let mut client = Client::silent(&world, &[]);
    client.send(&crate::mcp_client::initialize());
    let result = client.answer(&json!("greeting"))["result"].clone();
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["name"], "vambrace");
    assert!(result["capabilities"]["tools"].is_object(), "{result}");
    assert!(result["instructions"].as_str().unwrap().contains("dry_run"), "{result}");
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    assert_eq!(client.close(), (0, String::new()));
}

#[test]
fn a_revision_that_is_not_kept_is_not_offered() {
    for (wanted, expected) in [("2025-03-26", "2024-11-05"), ("2025-06-18", "2025-06-18")] {
        let world = world();
        let mut client = Client::silent(&world, &[]);
        let mut greeting = crate::mcp_client::initialize();
        greeting["params"]["protocolVersion"] = json!(wanted);
        client.send(&greeting);
        assert_eq!(client.answer(&json!("greeting"))["result"]["protocolVersion"], expected, "{wanted}");
        client.close();
        let served = Served::start(&world);
        let answer = served.post_as(&[("X-API-Key", &served.token), ACCEPT], "/mcp", &greeting);
        let greeted = messages(&answer).pop().unwrap();
        assert_eq!(greeted["result"]["protocolVersion"], expected, "{wanted}");
    }
}

/// No handshake: each request carries what the server has to know.
#[test]
fn the_self_contained_requests_of_2026_07_28() {
    let world = world();
    let mut client = Client::silent(&world, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", &json!({"_meta": meta}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{found}");
    let list = client.request("tools/list", &json!({"_meta": meta}))["result"].clone();
    assert_eq!(names(&list), ALL);
    let params = json!({"_meta": meta, "name": "read_file", "arguments": {"path": "a.txt"}});
    let result = client.request("tools/call", &params)["result"].clone();
    assert_eq!(result["structuredContent"]["data"]["content"], "one\ntwo\n", "{result}");
    let params = json!({"_meta": meta, "name": "read_file", "arguments": {"path": "../x"}});
    let denied = client.request("tools/call", &params)["result"].clone();
    assert_eq!(denied["isError"], true, "{denied}");
    let bare = client.request("tools/list", &json!({}));
    assert!(bare["error"]["code"].is_number(), "metadata is required: {bare}");
    assert_eq!(client.close().0, 0);
}

#[track_caller]
fn offered(options: &[&str], expected: &[&str]) {
    let mut client = Client::open(&world(), options);
    let list = client.request("tools/list", &json!({}))["result"].clone();
    assert_eq!(names(&list), expected, "{options:?}");
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_caller_sees_what_its_role_and_mode_may_use() {
    let with = |some: &[&'static str], more: &[&'static str]| {
        let mut names = [some, more].concat();
        names.sort_unstable();
        names
    };
    let changing = [
        "create_directory",
        "delete_file",
        "delete_memory",
        "edit_file",
        "git_add",
        "git_checkout",
        "git_commit",
        "memory_write",
        "save_to_memory",
        "update_memory",
        "write_file",
    ];
    let running = ["bash_command", "exec_shell", "install_dependencies", "run_lint", "run_test", "spawn"];
    let running = with(&running, &["fetch_url", "web_fetch"]);
    offered(&[], &ALL);
    let system = ["install_package", "migrate_config", "system_ctl", "verify_binary"];
    offered(&["--role", "sre"], &with(&ALL, &system));
    offered(&["--role", "release_manager"], &with(&ALL, &["git_push"]));
    offered(&["--role", "product_owner"], &READING);
    offered(&["--tool", "read"], &READING);
    offered(&["--tool", "read,write"], &with(&READING, &changing));
    offered(&["--tool", "none"], &[]);
    offered(&["--tool", "command"], &with(&READING, &running)); // a mode adds to reading
}

#[test]
fn annotations_are_complete_and_true() {
    let mut client = Client::open(&world(), &[]);
    let list = client.request("tools/list", &json!({}))["result"].clone();
    for tool in list["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let hint =
            |key: &str| tool["annotations"][key].as_bool().unwrap_or_else(|| panic!("{key} of {name}"));
        // A page is read; a request of any other kind may change what it reaches.
        let reads = READING.contains(&name) || name == "fetch_url";
        assert_eq!(hint("readOnlyHint"), reads, "{name}");
        // Programs may do anything to the service; staging and committing take nothing away.
        let gentle = ["create_directory", "git_add", "git_commit", "save_to_memory"];
        assert_eq!(hint("destructiveHint"), !reads && !gentle.contains(&name), "{name}");
        let repeatable = [
            "create_directory",
            "git_add",
            "git_checkout",
            "install_dependencies",
            "update_memory",
            "write_file",
        ];
        assert_eq!(hint("idempotentHint"), reads || repeatable.contains(&name), "{name}");
        let outside = ["fetch_url", "install_dependencies", "web_fetch"];
        assert_eq!(hint("openWorldHint"), outside.contains(&name), "{name}");
        assert!(tool["description"].as_str().unwrap().ends_with('.'), "{name}");
        assert!(tool["annotations"]["title"].is_string() && tool["title"].is_string(), "{name}");
        let schema = &tool["inputSchema"];
        assert_eq!(
            (&schema["type"], &schema["properties"]["dry_run"]["type"]),
            (&json!("object"), &json!("boolean"))
        );
    }
}

/// Clients show a model one half or the other, so each says everything.
#[test]
fn both_halves_of_a_result_are_complete() {
    let world = world();
    // Without programs nothing is proved, so the record holds the calls alone.
    let mut client = Client::open(&world, &["--tool", "read,write"]);
    let mut check = |tool: &str, arguments: Value, is_error: bool, words: &[&str]| {
        let result = client.call(tool, &arguments);
        assert_eq!(result["isError"], is_error, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(result["content"][0]["type"], "text");
        let structured = &result["structuredContent"];
        assert_eq!(structured["status"], if is_error { "error" } else { "success" });
        assert!(structured["metadata"]["call_id"].as_str().unwrap().starts_with("call_"));
        for word in words {
            assert!(text.contains(word), "{word:?} in the text of {result}");
        }
        for key in ["message", "suggestion", "code"].into_iter().filter(|_| is_error) {
            let said = structured["error"][key].as_str().unwrap();
            assert!(!said.is_empty() && text.contains(said), "{key} in the text of {result}");
        }
    };
    check("read_file", json!({"path": "a.txt"}), false, &["one\ntwo\n"]);
    let edit = json!({"path": "a.txt", "old_text": "two", "new_text": "three"});
    check("edit_file", edit, false, &["a.txt", "-two", "+three"]);
    check("write_file", json!({"path": "b.txt", "content": "new\n"}), false, &["Created b.txt", "+new"]);
    check("search_file", json!({"regex": "thr.."}), false, &["a.txt:2:1: three"]);
    check("list_files", json!({}), false, &["a.txt", ".env", "(blocked)"]);
    check("read_file", json!({"path": "../x"}), true, &["Error: "]);
    check("read_file", json!({"path": ".env"}), true, &["BlockedPath"]);
    check("read_file", json!({"path": 7}), true, &["ValidationError"]);
    check("read_file", json!({"path": "absent"}), true, &["FileNotFound"]);
    check("no_such_tool", json!({}), true, &["ToolNotFound", "read_file"]);
    check(
        "edit_file",
        json!({"path": "a.txt", "old_text": "absent", "new_text": "x"}),
        true,
        &["MatchCountDiffers"],
    );
    assert_eq!(client.close().0, 0);
    assert_eq!(world.text("a.txt"), "one\nthree\n");
    assert_eq!(world.calls().len(), 11, "every call is on record");
}

#[test]
fn any_call_may_be_a_dry_run() {
    let world = world();
    let mut client = Client::open(&world, &[]);
    let arguments = json!({"path": "a.txt", "old_text": "two", "new_text": "three", "dry_run": true});
    let result = client.call("edit_file", &arguments);
    assert_eq!(result["structuredContent"]["metadata"]["dry_run"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("+three") && text.contains("dry run: nothing was changed"), "{text}");
    // A wish that is not clear is not taken for permission to act.
    let unclear = json!({"path": "b.txt", "content": "x", "dry_run": "false"});
    assert_eq!(client.call("write_file", &unclear)["structuredContent"]["metadata"]["dry_run"], true);
    assert_eq!(client.close().0, 0);
    assert_eq!(world.text("a.txt"), "one\ntwo\n");
    assert!(!world.work().join("b.txt").exists());
    // The option holds for the whole connection.
    let mut client = Client::open(&world, &["--dry-run"]);
    let result = client.call("write_file", &json!({"path": "b.txt", "content": "x"}));
    assert_eq!(result["structuredContent"]["metadata"]["dry_run"], true, "{result}");
    assert!(!world.work().join("b.txt").exists());
}

#[test]
fn a_long_call_tells_how_far_it_has_come() {
    let world = world();
    many_files(&world, 3500, 360);
    let mut client = Client::open(&world, &[]);
    let params =
        json!({"name": "count_matches", "arguments": {"regex": "abc"}, "_meta": {"progressToken": "t"}});
    let result = client.request("tools/call", &params)["result"].clone();
    assert_eq!(result["structuredContent"]["data"]["count"], 35_000, "{result}");
    let told: Vec<&Value> =
        client.notifications.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert!(!told.is_empty(), "progress was asked for");
    assert!(told.iter().all(|message| message["params"]["progressToken"] == "t"), "{told:?}");
    let counts: Vec<f64> =
        told.iter().map(|message| message["params"]["progress"].as_f64().unwrap()).collect();
    assert!(counts.is_sorted_by(|a, b| a < b), "progress increases: {counts:?}");
    client.notifications.clear();
    client.call("count_matches", &json!({"regex": "abc"}));
    assert!(client.notifications.is_empty(), "nobody asked: {:?}", client.notifications);
}

/// A search that would take many times longer than the test waits for it.
pub(crate) const SLOW: &str = "[a-z]+ [a-z]+[0-9]q";

/// How the one search on record ended.
#[track_caller]
fn ending(world: &World) -> Value {
    let records = world.records();
    let ends: Vec<&Value> = records.iter().filter(|record| record["tool"] == "search_file").collect();
    assert_eq!(ends.len(), 1, "{records:?}");
    assert_eq!(ends[0]["kind"], "outcome");
    assert_eq!(world.run(&["audit", "verify"]).code, 0);
    ends[0]["ending"].clone()
}

#[test]
fn a_cancelled_search_ends_and_is_on_record_as_cancelled() {
    let world = world();
    many_files(&world, 20_000, 400_000);
    let mut client = Client::open(&world, &[]);
    let params = json!({"name": "search_file", "arguments": {"regex": SLOW}, "_meta": {"progressToken": 1}});
    let id = client.ask("tools/call", &params);
    assert_eq!(client.next()["method"], "notifications/progress");
    let params = json!({"requestId": id, "reason": "enough"});
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    // The server goes on serving.
    assert_eq!(client.call("read_file", &json!({"path": "a.txt"}))["isError"], false);
    assert_eq!(client.close().0, 0);
    assert_eq!(ending(&world), "cancelled");
}

/// Whoever looks for what became of a request has nothing but the id that the client gave it.
#[test]
fn a_cancelled_call_is_on_record_with_the_id_of_its_request() {
    let world = world();
    many_files(&world, 20_000, 400_000);
    let mut client = Client::open(&world, &[]);
    for id in [json!("search-1"), json!(4711)] {
        let meta = json!({"progressToken": id});
        let params = json!({"name": "search_file", "arguments": {"regex": SLOW}, "_meta": meta});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        // The search before may have had something to tell when it was cancelled.
        while client.next()["params"]["progressToken"] != id {}
        let params = json!({"requestId": id, "reason": "enough"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
        assert_eq!(client.call("read_file", &json!({"path": "a.txt"}))["isError"], false);
    }
    assert_eq!(client.close().0, 0);
    let records = world.records();
    let searches = records.iter().filter(|record| record["tool"] == "search_file");
    let ends: Vec<[Value; 3]> =
        searches.map(|record| ["kind", "ending", "request_id"].map(|field| record[field].clone())).collect();
    assert_eq!(ends.len(), 2, "{ends:?}");
    for id in ["search-1", "4711"] {
        assert!(ends.contains(&["outcome", "cancelled", id].map(Value::from)), "{id}: {ends:?}");
    }
}

#[test]
fn a_client_that_goes_away_leaves_an_outcome_on_record() {
    let world = world();
    // The library gives calls under way five seconds; this search takes longer.
    many_files(&world, 20_000, 2_000_000);
    let mut client = Client::open(&world, &[]);
    let params = json!({"name": "search_file", "arguments": {"regex": SLOW}, "_meta": {"progressToken": 1}});
    client.ask("tools/call", &params);
    assert_eq!(client.next()["method"], "notifications/progress");
    assert_eq!(client.close().0, 0);
    assert_eq!(ending(&world), "caller_gone");
}

#[test]
fn a_client_that_says_nothing_and_leaves_is_no_failure() {
    let (code, complaint) = Client::silent(&world(), &[]).close();
    assert_eq!((code, complaint.as_str()), (0, ""));
}

/// The self-test of the cage runs beside the first calls and makes things in the workspace.
#[test]
fn a_listing_shows_nothing_of_the_self_test() {
    let world = world();
    let mut client = Client::open(&world, &[]);
    let proof = client.ask("tools/call", &json!({"name": "posture_report", "arguments": {}}));
    let mut is_proved = false;
    while !is_proved {
        let listed = client.call("list_files", &json!({}))["structuredContent"]["data"].clone();
        let shown = listed["entries"].as_array().unwrap().iter();
        let shown: Vec<_> = shown.map(|entry| entry["path"].as_str().unwrap()).collect();
        let expected = [".env", ".vambrace", "a.txt"];
        assert!(shown.iter().all(|name| expected.contains(name)), "{shown:?}");
        is_proved = client.notifications.iter().any(|message| message["id"] == proof);
    }
    assert_eq!(client.close().0, 0);
}

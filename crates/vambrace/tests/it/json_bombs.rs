//! JSON that is made to harm whoever reads it, at every place where JSON comes in: it is refused, nothing is done, and
//! the next request is served.

use serde_json::{Value, json};

use crate::http_world::{Answer, NO_LIMIT, Served};
use crate::mcp_client::Client;
use crate::mcp_http_client::{Modern, Session};
use crate::net_world::NetWorld;
use crate::net_world::http::page;
use crate::support::World;

/// What a library of ours would obey; put together, so that no reader of this file does.
fn name() -> String {
    ["$serde_json::private::", "RawValue"].concat()
}

/// Each layer is text in the next; a reader that obeys the name begins anew with each, until its stack is full.
fn bomb() -> String {
    let mut layer = "0".to_owned();
    for _ in 0..31 {
        let text = layer.replace('\\', "\\u005c").replace('"', "\\u0022");
        layer = format!("{}{{\"{}\":\"{text}\"}}{}", "[".repeat(120), name(), "]".repeat(120));
    }
    layer
}

/// A path that is none: what stands under the name is `"a.txt"`.
fn swapped() -> String {
    format!(r#"{{"{}":"\"a.txt\""}}"#, name())
}

fn hostile() -> [String; 4] {
    let many = format!("[{}0]", "{\"\":0},".repeat(120_000));
    [bomb(), swapped(), many, format!("{}0{}", "[".repeat(100), "]".repeat(100))]
}

fn world() -> World {
    let world = World::new();
    world.file("a.txt", "one\n");
    world
}

#[track_caller]
fn is_refused(answer: &Answer, shown: &str) {
    let body = answer.json();
    let code = &body["error"]["code"];
    assert!(answer.status == 400 || answer.status == 200, "{shown}: {answer:?}");
    assert!(code == "ValidationError" || code == -32600 || code == -32700, "{shown}: {answer:?}");
    assert!(!answer.text().contains("one\\n"), "{shown}: {answer:?}");
}

#[test]
fn no_message_over_http_is_more_than_it_says() {
    let world = world();
    let mut served = Served::with_config(&world, NO_LIMIT);
    let key = [("X-API-Key", served.token.as_str()), ("Content-Type", "application/json")];
    let session = Session::open(&served, &served.token, &json!({}));
    let modern = Modern::new(&served, &served.token, &json!({}));
    for value in hostile() {
        let body = format!(r#"{{"path":{value}}}"#);
        for path in ["/api/tools/read_file", "/api/tools/no_such_tool", "/api/query"] {
            is_refused(&served.send("POST", path, &key, body.as_bytes()), path);
        }
        let mark = json!("HERE");
        for params in [
            json!({"name": "read_file", "arguments": {"path": mark}}),
            json!({"name": "read_file", "arguments": {"path": "a.txt"}, "_meta": {"x": mark}}),
        ] {
            let put = |message: &Value| message.to_string().replacen("\"HERE\"", &value, 1);
            let older = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            let headers = [
                key[0],
                key[1],
                ("Accept", "application/json, text/event-stream"),
                ("Mcp-Session-Id", session.id.as_str()),
                ("MCP-Protocol-Version", "2025-11-25"),
            ];
            is_refused(&served.send("POST", "/mcp", &headers, put(&older).as_bytes()), "2025-11-25");
            let newer = modern.message("tools/call", &params);
            let headers = [
                key[0],
                key[1],
                ("Accept", "application/json, text/event-stream"),
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", "read_file"),
            ];
            is_refused(&served.send("POST", "/mcp", &headers, put(&newer).as_bytes()), "2026-07-28");
        }
        let data = json!({"tool": "read_file", "arguments": {"path": mark}});
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"data": data}]});
        let send =
            json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
        let send = send.to_string().replacen("\"HERE\"", &value, 1);
        is_refused(&served.send("POST", "/a2a/invoke", &key, send.as_bytes()), "A2A");
    }
    let answer = served.send("POST", "/api/tools/read_file", &key, br#"{"path":"a.txt"}"#);
    assert_eq!(answer.json()["data"]["content"], "one\n", "{answer:?}");
    assert_eq!(served.end(), 0);
    let told = world
        .records()
        .iter()
        .filter(|record| {
            record["message"].as_str().is_some_and(|words| words.contains("its JSON is made to harm"))
        })
        .count();
    assert!(told > 0, "the refusals are on record");
    assert_eq!(world.calls().iter().filter(|call| call["kind"] == "outcome").count(), 1);
}

#[test]
fn no_message_over_stdio_is_more_than_it_says() {
    let world = world();
    let mut client = Client::open(&world, &[]);
    for (n, value) in hostile().into_iter().enumerate() {
        let id = json!(format!("h{n}"));
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "read_file", "arguments": {"path": "HERE"}}});
        client.send_line(call.to_string().replacen("\"HERE\"", &value, 1).as_bytes());
        let answer = client.answer(&id);
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
    }
    assert_eq!(client.call("read_file", &json!({"path": "a.txt"}))["isError"], false);
    assert_eq!(client.close().0, 0);
    assert!(world.raw_records().contains("its JSON is made to harm"));
}

#[test]
fn no_argument_line_or_file_is_more_than_it_says() {
    let world = world();
    for value in hostile() {
        let arguments = format!(r#"{{"path":{value}}}"#);
        let ran = world.feed(&["call", "read_file", "-"], &arguments);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        let line = format!(r#"{{"tool":"read_file","arguments":{arguments}}}"#);
        let ran = world.feed(&["call", "--batch"], &line);
        assert_eq!((ran.code, ran.lines()[0]["error"]["code"].as_str()), (0, Some("ValidationError")));
        let ran = world.feed(&["check", "path", "--batch"], format!(r#"{{"input":"a.txt","x":{value}}}"#));
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        // What is read on the way is read as nothing, or as text, and what was asked for is done.
        world.file("package.json", format!(r#"{{"scripts":{value}}}"#)).file("secrets/creds.json", &value);
        let ran = world.call("run_test", &json!({}));
        assert!((0..=3).contains(&ran.code), "it ended by itself: {ran:?}");
        let ran = world.call("read_file", &json!({"path": "a.txt"}));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    // Nothing vanishes on the way out either.
    let ran = world.feed(&["check", "path", "--batch"], "{\"input\":\"a\\u007fb\"}\n");
    assert_eq!(ran.lines()[0]["input"], "a\u{7f}b");
}

/// What a service, another agent or a program of the operator's answers is read by the same rules.
#[test]
fn no_answer_is_more_than_it_says() {
    for value in hostile() {
        let sent = value.clone();
        let net = NetWorld::new(move |_| page("application/json", &sent));
        net.world.file("answer.json", &value);
        let site = format!("http://127.0.0.1:{}", net.site.port());
        let declared = json!([
            {"name": "asked", "description": "asked", "kind": "http", "url": net.url("/")},
            {"name": "printed", "description": "printed", "kind": "inline", "language": "sh", "code": "cat answer.json"},
        ]);
        let agents = json!([
            {"name": "rest", "endpoint": site, "protocol": "rest", "api_path": "/"},
            {"name": "peer", "endpoint": site},
        ]);
        let net = net.set(json!({"tools": {"declared": declared}, "a2a": {"sub_agents": agents}}));
        let question = json!({"query": "How many?"});
        for (tool, arguments) in [
            ("asked", &json!({})),
            ("printed", &json!({})),
            ("query_rest", &question),
            ("query_peer", &question),
        ] {
            let ran = net.call(tool, arguments);
            assert!((0..=1).contains(&ran.code), "{tool}: {ran:?}");
            let is_read = ran.json()["data"]["json"] == "a.txt" || ran.json()["data"]["answer"] == "a.txt";
            assert!(!is_read, "{tool}: {ran:?}");
        }
    }
}

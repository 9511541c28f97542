//! Messages that no client would send. The server answers or ignores them, as JSON-RPC has it, and lives.

use serde_json::{Value, json};

use crate::mcp_client::{Client, initialize};
use crate::support::World;

fn world() -> World {
    let world = World::new();
    world.file("a.txt", "one\n");
    world
}

/// Lines that are not a request of ours, each on its own.
fn hostile() -> Vec<Vec<u8>> {
    let deep = |open: &str, close: &str, n: usize| format!("{}{}", open.repeat(n), close.repeat(n));
    let call =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{params}}}"#);
    let mut lines: Vec<Vec<u8>> = [
        "",
        " ",
        "{",
        "}",
        "not json",
        "null",
        "7",
        "\"x\"",
        "[]",
        "{}",
        "[{}]",
        "\u{feff}",
        "\u{0}",
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"h"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":-1e999,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"h","method":7}"#,
        r#"{"jsonrpc":"2.0","id":"h","method":"\ud800"}"#,
        r#"{"jsonrpc":"2.0","id":"h","method":"no/such/method"}"#,
        r#"{"jsonrpc":"2.0","id":"h","method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":"h","method":"resources/list"}"#,
        r#"{"jsonrpc":"2.0","id":"h","method":"initialize","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":"h","result":{"answer":"to nothing"}}"#,
        r#"{"jsonrpc":"2.0","id":"h","error":{"code":-1,"message":"to nothing"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/nonsense","params":[1,2]}"#,
        r#"[{"jsonrpc":"2.0","id":"h","method":"ping"},{"jsonrpc":"2.0","id":"i","method":"ping"}]"#,
    ]
    .map(|line| line.as_bytes().to_vec())
    .into();
    for params in
        ["7", "[]", "null", r#""x""#, "{}", r#"{"name":7}"#, r#"{"name":"read_file","arguments":[]}"#]
    {
        lines.push(call(params).into_bytes());
    }
    for name in ["", "../read_file", "read_file\\u0000", &"n".repeat(100_000)] {
        lines.push(call(&format!(r#"{{"name":"{name}","arguments":{{}}}}"#)).into_bytes());
    }
    lines.push(
        call(&format!(r#"{{"name":"read_file","arguments":{{"path":{}}}}}"#, deep("[", "]", 100)))
            .into_bytes(),
    );
    lines.push(
        call(&format!(r#"{{"name":"read_file","arguments":{{"path":{}}}}}"#, deep("[", "]", 100_000)))
            .into_bytes(),
    );
    lines.push(deep("[", "]", 1_000_000).into_bytes());
    lines.push(deep("{\"a\":", "}", 1_000_000).into_bytes());
    lines.push(b"\xff\xfe{\"jsonrpc\"".to_vec());
    lines.push(b"{\"jsonrpc\":\"2.0\",\"id\":\"h\",\"method\":\"\xff\"}".to_vec());
    lines.push(b"{\"jsonrpc\":\"2.0\",\"id\":\"h\",\"method\":\"ping\"}\r".to_vec());
    lines
}

#[test]
fn no_message_ends_the_server() {
    let world = world();
    let mut client = Client::open(&world, &[]);
    for line in hostile() {
        client.send_line(&line);
        let shown = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        let answer = client.request("ping", &json!({}));
        assert_eq!(answer["result"], json!({}), "after {shown}");
    }
    // Whatever was said to them is a JSON-RPC error or a result that says no.
    for message in &client.notifications {
        let refused = message["error"]["code"].is_number() && message["error"]["message"].is_string();
        let answered = message["result"]["isError"] == true || message["result"] == json!({});
        let nothing_here = message["result"]["resources"] == json!([]);
        assert!(refused || answered || nothing_here, "{message}");
        assert!(message.to_string().len() < 300_000, "an answer stays in proportion");
    }
    assert_eq!(client.call("read_file", &json!({"path": "a.txt"}))["isError"], false);
    assert_eq!(client.close().0, 0);
}

/// Before the greeting too: a client that begins with noise can still begin.
#[test]
fn no_message_before_the_greeting_ends_the_server() {
    let world = world();
    let mut client = Client::silent(&world, &[]);
    for line in hostile() {
        client.send_line(&line);
    }
    client.send(&initialize());
    let greeting = client.answer(&json!("greeting"));
    assert_eq!(greeting["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(client.call("read_file", &json!({"path": "a.txt"}))["isError"], false);
    assert_eq!(client.close().0, 0);
}

#[test]
fn arguments_of_the_wrong_type_are_a_result_and_not_a_protocol_error() {
    let world = world();
    let mut client = Client::open(&world, &[]);
    for arguments in
        [json!({"path": null}), json!({"path": {"a": 1}}), json!({"path": "a.txt", "extra": 1}), json!({})]
    {
        let result = client.call("read_file", &arguments);
        assert_eq!(result["structuredContent"]["error"]["code"], "ValidationError", "{result}");
    }
    let result = client.call("read_file", &Value::Null);
    assert_eq!(result["structuredContent"]["error"]["code"], "ValidationError", "{result}");
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let world = world();
    let mut client = Client::open(&world, &["--tool", "read,write"]);
    let ids: Vec<Value> = (0..200)
        .map(|number| {
            let path = if number % 3 == 0 { "absent" } else { "a.txt" };
            client.ask("tools/call", &json!({"name": "read_file", "arguments": {"path": path}}))
        })
        .collect();
    let mut open: std::collections::BTreeSet<String> = ids.iter().map(Value::to_string).collect();
    while !open.is_empty() {
        let answer = client.next();
        assert!(open.remove(&answer["id"].to_string()), "{answer}");
    }
    assert_eq!(client.close().0, 0);
    assert_eq!(world.calls().len(), 200);
}

//! What the public test kit's client of A2A 1.0 does otherwise than others, and the fixtures that it asks for.

use serde_json::{Value, json};

use crate::a2a::{key, read_a, rpc, serve, settings};
use crate::http_world::Served;
use crate::support::World;

/// The fixtures of the public test kit, by the beginning of a message's id.
#[test]
fn the_kit_gets_what_it_asks_for() {
    let world = World::new().with_env("VAMBRACE_CONFORMANCE", "a2a");
    let served = serve(&world);
    let send = |id: &str| {
        let message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "Hello"}]});
        rpc(&served, "ann", "SendMessage", &json!({"message": message})).unwrap()
    };
    for (id, state) in [
        ("tck-artifact-text-1", "COMPLETED"),
        ("tck-input-required-1", "INPUT_REQUIRED"),
        ("tck-auth-required-1", "AUTH_REQUIRED"),
        ("tck-reject-task-1", "REJECTED"),
        ("anything else", "COMPLETED"),
    ] {
        let sent = send(id);
        assert_eq!(sent["task"]["status"]["state"], format!("TASK_STATE_{state}"), "{id}: {sent}");
    }
    // Whoever is to sign in is told so.
    assert!(send("tck-auth-required-2")["task"]["status"]["message"].is_object());
    for (id, member, expected) in [
        ("tck-artifact-text-2", "text", json!("Generated text content")),
        ("tck-artifact-file-2", "raw", json!("dGNr")),
        ("tck-artifact-file-url-2", "url", json!("https://example.com/output.txt")),
        ("tck-artifact-data-2", "data", json!({"key": "value", "count": 42})),
    ] {
        let sent = send(id);
        assert_eq!(sent["task"]["artifacts"][0]["parts"][0][member], expected, "{id}: {sent}");
    }
    let sent = send("tck-message-response-3");
    assert_eq!(sent["message"]["parts"][0]["text"], "Direct message response", "{sent}");
}

/// It joins the card's address and a path of its own.
#[test]
fn a_slash_behind_the_address_changes_nothing() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = serve(&world);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": read_a()});
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    });
    let key = key("ann");
    let who = [("X-API-Key", key.as_str()), ("Accept", "application/json, text/event-stream")];
    for (path, body) in [("/a2a/invoke/", &body), ("/mcp/", &initialize)] {
        let answer = served.post_as(&who, path, body);
        assert_eq!(answer.status, 200, "{answer:?}");
        let stranger = served.post_as(&[], path, body);
        assert_eq!(stranger.status, 401, "{stranger:?}");
        assert_eq!(served.post_as(&who, &format!("{path}/"), body).status, 404, "{path}");
    }
    let challenged = served.post_as(&[], "/mcp/", &initialize);
    assert!(challenged.header("www-authenticate").unwrap().contains("resource_metadata="), "{challenged:?}");
    // Counted as what they are.
    let metrics = served.get("/metrics").text();
    assert!(metrics.contains("route=\"/mcp\"") && !metrics.contains("route=\"/mcp/\""), "{metrics}");
}

/// JSON of Protocol Buffers has two spellings of a name.
#[test]
fn fields_may_be_spelled_as_in_the_definition() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = serve(&world);
    let part = json!({"data": {"tool": "read_file", "arguments": {"path": "a.txt", "max_bytes": 100}}});
    let message = json!({"message_id": "m1", "context_id": "c1", "role": "ROLE_USER", "parts": [part]});
    let sent = rpc(&served, "ann", "SendMessage", &json!({"message": message})).unwrap();
    let task = &sent["task"];
    // What is the tool's own keeps its spelling.
    assert_eq!(task["artifacts"][0]["parts"][0]["data"]["data"]["content"], "one\n", "{sent}");
    assert_eq!(task["contextId"], "c1");
    let n_messages = |params: &Value| {
        let task = rpc(&served, "ann", "GetTask", params).unwrap();
        task["history"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(n_messages(&json!({"id": task["id"], "history_length": 1})), 1);
    assert_eq!(n_messages(&json!({"id": task["id"], "history_length": 0})), 0);
    let _other = rpc(&served, "ann", "SendMessage", &read_a()).unwrap();
    let listed = rpc(&served, "ann", "ListTasks", &json!({"context_id": "c1", "page_size": 1})).unwrap();
    assert_eq!((&listed["totalSize"], &listed["tasks"][0]["id"]), (&json!(1), &task["id"]), "{listed}");
    let twice = json!({"id": task["id"], "history_length": 1, "historyLength": 2});
    assert_eq!(rpc(&served, "ann", "GetTask", &twice), Err(-32602));
    // Of somebody else's task nothing is seen by it.
    assert_eq!(rpc(&served, "ben", "GetTask", &json!({"id": task["id"], "history_length": 1})), Err(-32001));
}

/// The addresses for news, as the kit makes, reads and forgets them.
#[test]
fn addresses_for_news_are_kept_under_either_spelling() {
    let world = World::new().with_env("VAMBRACE_CONFORMANCE", "a2a");
    let mut settings = settings();
    settings["tools"] = json!({"url_policy": {"allow_private": true}});
    let served = Served::with_config(&world, &settings.to_string());
    let message =
        json!({"message_id": "tck-input-required-1", "role": "ROLE_USER", "parts": [{"text": "x"}]});
    let task =
        rpc(&served, "ann", "SendMessage", &json!({"message": message})).unwrap()["task"]["id"].clone();
    let config = json!({"task_id": task, "id": "one", "url": "http://localhost:8080/webhook"});
    let made = rpc(&served, "ann", "CreateTaskPushNotificationConfig", &config).unwrap();
    assert_eq!((&made["taskId"], &made["id"]), (&task, &json!("one")), "{made}");
    let one = json!({"task_id": task, "id": "one"});
    assert_eq!(rpc(&served, "ann", "GetTaskPushNotificationConfig", &one).unwrap(), made);
    let all = rpc(&served, "ann", "ListTaskPushNotificationConfigs", &json!({"task_id": task})).unwrap();
    assert_eq!(all["configs"], json!([made]), "{all}");
    assert!(rpc(&served, "ann", "DeleteTaskPushNotificationConfig", &one).is_ok());
    assert!(rpc(&served, "ann", "GetTaskPushNotificationConfig", &one).is_err());
}

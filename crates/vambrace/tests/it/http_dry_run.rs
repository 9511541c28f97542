//! `serve --dry-run`: whatever door a call comes in by, it is only shown. And every call is counted.

use serde_json::{Value, json};

use crate::http_rest;
use crate::http_world::{NO_LIMIT, Served};
use crate::mcp_http_client::{Modern, Session};
use crate::support::World;

/// One `write_file` by every door and revision, each to a file of its own, and what came back of it.
fn by_every_door(served: &Served) -> Vec<(&'static str, Value)> {
    let write = |path: &str| json!({"path": path, "content": "done\n"});
    let none = json!({});
    let rest = served.post("/api/tools/write_file", &write("rest")).json();
    let session = Session::open(served, &served.token, &none).call("write_file", &write("session"));
    let modern = Modern::new(served, &served.token, &none);
    let short = modern.call(&json!({"name": "write_file", "arguments": write("short")}));
    let told = json!({"name": "write_file", "arguments": write("told"), "_meta": {"progressToken": 1}});
    let told = modern.request("tools/call", &told);
    let told = crate::mcp_http_client::messages(&told).pop().unwrap();
    let a2a = |method: &str, role: &str, part: Value| {
        let message = json!({"messageId": "m", "role": role, "parts": [part]});
        let params = json!({"message": message});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        served.post("/a2a/invoke", &body).json()
    };
    let data = |path: &str| json!({"tool": "write_file", "arguments": write(path)});
    let newer = a2a("SendMessage", "ROLE_USER", json!({"data": data("a2a")}));
    let older = a2a("message/send", "user", json!({"kind": "data", "data": data("a2a-0.3")}));
    vec![
        ("rest", rest),
        ("session", session["structuredContent"].clone()),
        ("short", short["structuredContent"].clone()),
        ("told", told["result"]["structuredContent"].clone()),
        ("a2a", newer["result"]["task"]["artifacts"][0]["parts"][0]["data"].clone()),
        ("a2a-0.3", older["result"]["artifacts"][0]["parts"][0]["data"].clone()),
    ]
}

#[track_caller]
fn check(flags: &[&str], is_dry: bool) {
    let world = World::new();
    let config = world.beside("operator.yaml", NO_LIMIT);
    // The token of the first start, which a dry run does not keep.
    assert_eq!(Served::start(&world).end(), 0);
    let served = Served::with_args(&world, &[&["--config", config.as_str()], flags].concat());
    let replies = by_every_door(&served);
    for (door, reply) in &replies {
        assert_eq!(
            (&reply["status"], &reply["metadata"]["dry_run"]),
            (&json!("success"), &json!(is_dry)),
            "{door}: {reply}"
        );
        assert_eq!(world.work().join(door).exists(), !is_dry, "{door}: {reply}");
    }
    let metrics = served.send("GET", "/metrics", &[], b"").text();
    let counted = format!("vambrace_call_duration_seconds_count {}", replies.len());
    assert!(metrics.lines().any(|line| line == counted), "{counted} in\n{metrics}");
}

#[test]
fn nothing_is_done_by_any_door() {
    check(&["--dry-run"], true);
    check(&[], false);
}

/// Who waits for an answer waits on, whatever the operator says to a server that only shows.
#[test]
fn a_dry_server_answers_no_question() {
    let world = World::new();
    let mut wet = http_rest::served(&world);
    let call = |served: &Served| {
        http_rest::post(served, "ann", "/api/tools/create_directory", &json!({"path": "folder"})).json()
    };
    let asked = call(&wet);
    let id =
        asked["error"]["details"]["approval_id"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    assert_eq!(wet.end(), 0);
    let answer = |served: &Served, word: &str| {
        http_rest::post(served, "boss", "/api/approvals", &json!({"id": id, "decision": word}))
    };
    let file = world.audit().join(format!("approvals/{id}.json"));
    let before = std::fs::read_to_string(&file).unwrap();
    let config = world.dir().join("operator.yaml");
    {
        let dry = Served::with_args(&world, &["--config", config.to_str().unwrap(), "--dry-run"]);
        for word in ["approve", "reject"] {
            let refused = answer(&dry, word);
            let told = refused.json();
            assert_eq!(
                (refused.status, &told["error"]["code"]),
                (403, &json!("PermissionDenied")),
                "{word}: {told}"
            );
            assert!(told["message"].as_str().unwrap().contains("--dry-run"), "{word}: {told}");
        }
        assert_eq!(call(&dry)["error"]["code"], "ApprovalRequired");
    }
    let waiting = world.run(&["approvals", "--json"]).lines();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert_eq!(
        (&waiting[0]["id"], &waiting[0]["state"], &waiting[0]["by"]),
        (&json!(id), &json!("waiting"), &Value::Null),
        "{waiting:?}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    assert!(!world.work().join("folder").exists());
    // Nothing was wrong with the answer.
    let wet = http_rest::served(&world);
    let approved = answer(&wet, "approve");
    assert_eq!(approved.status, 200, "{approved:?}");
    assert_eq!(call(&wet)["status"], "success");
}

#[test]
fn only_a_post_is_a_call() {
    let world = World::new();
    let served = Served::start(&world);
    let modern = Modern::new(&served, &served.token, &json!({}));
    let arguments = json!({"path": "a.txt", "content": "done\n"});
    let message = modern.message("tools/call", &json!({"name": "write_file", "arguments": arguments}));
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let answer = modern.send_by(method, &message);
        assert!((400..500).contains(&answer.status), "{method}: {answer:?}");
        assert!(!world.work().join("a.txt").exists(), "{method}");
    }
    assert_eq!(modern.send_by("POST", &message).status, 200);
    assert!(world.work().join("a.txt").exists());
}

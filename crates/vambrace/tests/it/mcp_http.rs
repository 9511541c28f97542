//! MCP over HTTP, as the wire has it: both revisions on one endpoint, sessions of their owner, lists of each caller.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::http_world::{Answer, NO_LIMIT, Served};
use crate::mcp::{SLOW, many_files};
use crate::mcp_client::Client;
use crate::mcp_http_client::{Modern, Session, messages};
use crate::programs_host::until;
use crate::support::World;

fn world() -> World {
    let world = World::new();
    world.file("a.txt", "one\ntwo\n").file(".env", "X=1\n");
    world
}

/// A key for a test's caller, and its line of configuration. No file holds one.
fn key(name: &str, role: &str) -> (String, String) {
    let secret = format!("ka_{name}_{}", "0f".repeat(16));
    let line = format!("  \"{secret}\": {{caller_id: {name}, role: {role}}}\n");
    (secret, line)
}

/// Served for two callers: `ann` may write, `ben` may read.
fn for_two(world: &World) -> (Served, String, String) {
    let ((ann, anns), (ben, bens)) = (key("ann", "write"), key("ben", "read"));
    let served = Served::with_config(world, &format!("{NO_LIMIT}api_keys:\n{anns}{bens}"));
    (served, ann, ben)
}

fn names(list: &Value) -> Vec<String> {
    let tools = list["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The calls on record.
fn outcomes(world: &World) -> Vec<Value> {
    world.records().into_iter().filter(|record| record["kind"] == "outcome").collect()
}

#[test]
fn a_session_of_2025_11_25_from_its_greeting_to_its_end() {
    let world = world();
    let served = Served::start(&world);
    let session = Session::open(&served, &served.token, &json!({}));
    assert_eq!(session.id.len(), 36, "random, and no more than that: {}", session.id);
    assert!(names(&session.request("tools/list", &json!({})).0["result"]).contains(&"read_file".to_owned()));
    assert_eq!(session.request("ping", &json!({})).0["result"], json!({}));
    let result = session.call("read_file", &json!({"path": "a.txt"}));
    assert_eq!(result["structuredContent"]["data"]["content"], "one\ntwo\n", "{result}");
    assert!(result.get("resultType").is_none(), "a word of the newer revision: {result}");
    for params in
        [json!({"name": "read_file", "arguments": []}), json!({"arguments": {}}), json!({"name": 1})]
    {
        let wrong = session.request("tools/call", &params).0;
        assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    }
    let unknown = session.request("no/such", &json!({})).0;
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    assert_eq!(session.send("DELETE", &Value::Null).status, 204);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (method, message) in [("POST", &ping), ("GET", &Value::Null), ("DELETE", &Value::Null)] {
        assert_eq!(session.send(method, message).status, 404, "{method}");
    }
}

#[test]
fn the_self_contained_requests_of_2026_07_28() {
    let world = world();
    let served = Served::start(&world);
    let modern = Modern::new(&served, &served.token, &json!({}));
    let found = modern.request("server/discover", &json!({}));
    assert_eq!(found.status, 200, "{found:?}");
    let versions = &found.json()["result"]["supportedVersions"];
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(versions.as_array().unwrap().contains(&json!(version)), "{versions}");
    }
    assert!(!versions.as_array().unwrap().contains(&json!("2025-03-26")), "its batches are refused");
    let listed = modern.request("tools/list", &json!({})).json();
    assert_eq!(
        (&listed["result"]["resultType"], &listed["result"]["cacheScope"]),
        (&json!("complete"), &json!("private")),
        "{listed}"
    );
    let answer = modern.request("tools/call", &json!({"name": "read_file", "arguments": {"path": "a.txt"}}));
    assert_eq!(answer.header("content-type"), Some("application/json"), "no stream where none is needed");
    assert!(answer.header("mcp-session-id").is_none(), "{answer:?}");
    assert_eq!(answer.json()["result"]["structuredContent"]["data"]["content"], "one\ntwo\n");
    assert_eq!(answer.json()["id"], 7);
    for (change, status, code) in [
        (("method", json!("ping")), 404, -32601),
        (("method", json!("no/such")), 404, -32601),
        (("method", json!("prompts/list")), 404, -32601),
        (("method", json!("resources/list")), 404, -32601),
        (("method", json!("resources/templates/list")), 404, -32601),
        (("method", json!("subscriptions/listen")), 404, -32601),
        (("params", json!({"name": "read_file"})), 400, -32602),
    ] {
        let mut message = modern.message("tools/call", &json!({"name": "read_file"}));
        message[change.0] = change.1.clone();
        let answer = modern.send(&message);
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &json!(code)), "{change:?}");
    }
}

type Headers<'a> = &'a [(&'a str, &'a str)];

#[test]
fn what_is_no_message_is_refused_and_the_next_one_served() {
    let world = world();
    let limits = "server: {rate_limit: {per_second: 1000000, burst: 1000000}, max_body_bytes: 4096}\n";
    let served = Served::with_config(&world, limits);
    let long = format!("{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"{}\"}}", "a".repeat(5000));
    let kind = ("Content-Type", "application/json");
    let both = ("Accept", "application/json, text/event-stream");
    let key = ("X-API-Key", served.token.as_str());
    let good = br#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
    let rows: [(&str, Headers<'_>, &[u8], u16); 9] = [
        ("POST", &[key, kind, both], b"{", 400),
        ("POST", &[key, kind, both], b"[]", 400),
        ("POST", &[key, kind, both], b"", 400),
        ("POST", &[key, kind, both], long.as_bytes(), 413),
        ("POST", &[key, kind], good, 406),
        ("POST", &[key, both], good, 415),
        // A session is opened by a greeting alone.
        ("POST", &[key, kind, both], good, 400),
        ("PUT", &[key, kind, both], good, 405),
        ("POST", &[kind, both], good, 401),
    ];
    for (method, headers, body, expected) in rows {
        let answer = served.send(method, "/mcp", headers, body);
        assert_eq!(answer.status, expected, "{method} {}: {answer:?}", String::from_utf8_lossy(body));
    }
    for (body, code) in [(&b"{"[..], -32700), (b"[]", -32600), (b"{\"id\": 1}", -32600)] {
        let answer = served.send("POST", "/mcp", &[key, kind, both], body).json();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &Value::Null), "{answer}");
    }
    Session::open(&served, &served.token, &json!({}));
}

/// A result without what differs from call to call.
fn bare(result: &Value) -> Value {
    let mut result = result.clone();
    if let Value::Object(members) = &mut result {
        members.shift_remove("resultType");
    }
    for key in ["call_id", "duration_ms"] {
        result["structuredContent"]["metadata"][key] = Value::Null;
    }
    result
}

#[test]
fn the_same_call_has_the_same_result_through_pipes_and_both_revisions() {
    let calls = [
        ("read_file", json!({"path": "a.txt"})),
        ("read_file", json!({"path": ".env"})),
        ("read_file", json!({"path": "../x"})),
        ("read_file", json!({"path": 7})),
        ("list_files", json!({})),
        ("search_file", json!({"regex": "t.o"})),
        ("write_file", json!({"path": "b.txt", "content": "new\n", "dry_run": true})),
        ("write_file", json!({"path": "b.txt", "content": "new\n"})),
        ("edit_file", json!({"path": "a.txt", "old_text": "two", "new_text": "three"})),
        ("edit_file", json!({"path": "a.txt", "old_text": "absent", "new_text": "x"})),
        ("delete_file", json!({"path": "b.txt"})),
        ("no_such_tool", json!({})),
    ];
    let worlds = [world(), world(), world()];
    let mut client = Client::open(&worlds[0], &[]);
    let (older, newer) = (Served::start(&worlds[1]), Served::start(&worlds[2]));
    let session = Session::open(&older, &older.token, &json!({}));
    let modern = Modern::new(&newer, &newer.token, &json!({}));
    for (tool, arguments) in &calls {
        let expected = bare(&client.call(tool, arguments));
        assert_eq!(bare(&session.call(tool, arguments)), expected, "{tool} {arguments}");
        let params = json!({"name": tool, "arguments": arguments});
        assert_eq!(bare(&modern.call(&params)), expected, "{tool} {arguments}");
    }
    assert_eq!(client.close().0, 0);
    for world in &worlds {
        assert_eq!(world.text("a.txt"), "one\nthree\n");
        assert_eq!(outcomes(world).len(), 12, "every call is on record");
    }
}

#[test]
fn the_short_way_says_what_the_long_one_says() {
    let world = world();
    let served = Served::start(&world);
    let rows = [
        ("read_file", json!({"path": "a.txt"})),
        ("read_file", json!({"path": "absent"})),
        ("read_file", json!({})),
        ("list_files", json!({"dry_run": true})),
        ("no_such_tool", json!({"x": "\u{1F600}\n"})),
    ];
    for capabilities in [json!({}), json!({"elicitation": {}, "sampling": {}})] {
        let modern = Modern::new(&served, &served.token, &capabilities);
        for (tool, arguments) in &rows {
            for id in [json!(0), json!("a\"b"), json!(-7)] {
                let mut message =
                    modern.message("tools/call", &json!({"name": tool, "arguments": arguments}));
                message["id"] = id;
                let short = modern.send(&message);
                // A member that means nothing to anybody.
                message["params"]["_meta"]["example.com/x"] = json!(1);
                let long = modern.send(&message);
                let without_date = |answer: &Answer| {
                    let dated = [
                        "date",
                        "content-length",
                        "x-ratelimit-remaining",
                        "x-ratelimit-reset",
                        "x-request-id",
                    ];
                    let headers = answer.headers.iter().filter(|(name, _)| !dated.contains(&name.as_str()));
                    headers.cloned().collect::<Vec<_>>()
                };
                assert_eq!((short.status, without_date(&short)), (long.status, without_date(&long)));
                let (mut short, mut long) = (short.json(), long.json());
                for answer in [&mut short, &mut long] {
                    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
                    answer["result"] = bare(&answer["result"]);
                }
                assert_eq!(short.to_string(), long.to_string(), "{message}");
            }
        }
    }
}

#[test]
fn each_caller_sees_and_uses_its_own_tools() {
    let world = world();
    let (served, ann, ben) = for_two(&world);
    let (anns, bens) = (Session::open(&served, &ann, &json!({})), Session::open(&served, &ben, &json!({})));
    let write = json!({"path": "b.txt", "content": "x"});
    for (session, may_write) in [(&anns, true), (&bens, false)] {
        let listed = names(&session.request("tools/list", &json!({})).0["result"]);
        assert_eq!(listed.contains(&"write_file".to_owned()), may_write, "{listed:?}");
        assert!(listed.contains(&"read_file".to_owned()), "{listed:?}");
    }
    let refused = bens.call("write_file", &write);
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(refused["structuredContent"]["error"]["code"], "PermissionDenied", "{refused}");
    assert!(!world.work().join("b.txt").exists());
    for (key, may_write) in [(&ann, true), (&ben, false)] {
        let modern = Modern::new(&served, key, &json!({}));
        let listed = names(&modern.request("tools/list", &json!({})).json()["result"]);
        assert_eq!(listed.contains(&"write_file".to_owned()), may_write, "{listed:?}");
        let result = modern.call(&json!({"name": "write_file", "arguments": write}));
        assert_eq!(result["isError"], !may_write, "{result}");
    }
    let callers: Vec<String> =
        outcomes(&world).iter().map(|record| record["caller_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(callers, ["ben", "ann", "ben"]);
}

#[test]
fn somebody_elses_session_does_not_exist() {
    let world = world();
    let (served, ann, ben) = for_two(&world);
    let session = Session::open(&served, &ann, &json!({}));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let unknown = "00000000-0000-4000-8000-000000000000";
    let rows = [(&ben, session.id.as_str(), 404), (&ann, unknown, 404), (&ann, "", 404), (&ann, "é", 404)];
    for (key, id, expected) in rows {
        for (method, body) in [("POST", list.as_str()), ("GET", ""), ("DELETE", "")] {
            let headers = [
                ("X-API-Key", key.as_str()),
                ("Mcp-Session-Id", id),
                ("Accept", "application/json, text/event-stream"),
                ("Content-Type", "application/json"),
            ];
            let answer = served.send(method, "/mcp", &headers, body.as_bytes());
            assert_eq!(answer.status, expected, "{method} {id}: {answer:?}");
            let without = served.send(method, "/mcp", &headers[1..], body.as_bytes());
            assert_eq!(without.status, 401, "{method} {id}: {without:?}");
        }
    }
    // A session that somebody else tried to end goes on.
    assert_eq!(session.call("read_file", &json!({"path": "a.txt"}))["isError"], false);
}

#[test]
fn who_opens_too_many_sessions_loses_its_own_oldest() {
    let world = world();
    let (served, ann, ben) = for_two(&world);
    let bens = Session::open(&served, &ben, &json!({}));
    let anns: Vec<Session<'_>> = (0..65).map(|_| Session::open(&served, &ann, &json!({}))).collect();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let statuses: Vec<u16> = anns.iter().map(|session| session.send("POST", &ping).status).collect();
    assert_eq!(statuses, [&[404][..], &[200; 64]].concat());
    assert_eq!(bens.send("POST", &ping).status, 200);
}

/// What the library keeps of each session is little, whatever a client says of itself.
#[test]
fn a_long_greeting_opens_no_session() {
    let world = world();
    let (served, ann, _) = for_two(&world);
    let greet = |more: &Value| {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"experimental": {"x": more}},
            "clientInfo": {"name": "test", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
        // As a reader takes it for the same word.
        let body = body.replace("\"initialize\"", "\"\\u0069nitialize\"");
        let headers = [
            ("X-API-Key", ann.as_str()),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        served.send("POST", "/mcp", &headers, body.as_bytes())
    };
    assert_eq!(greet(&json!({"icon": "x".repeat(250_000)})).status, 200);
    let empty = vec![json!({}); 2_000];
    for more in [json!({"icon": "x".repeat(264_000)}), json!({"list": empty})] {
        let answer = greet(&more);
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.json()["error"]["message"].as_str().unwrap().contains("`initialize`"), "{answer:?}");
    }
}

#[track_caller]
fn ending(world: &World) -> Value {
    let records = world.records();
    let ends: Vec<&Value> = records.iter().filter(|record| record["tool"] == "search_file").collect();
    assert_eq!(ends.len(), 1, "{records:?}");
    ends[0]["ending"].clone()
}

#[test]
fn a_long_call_tells_how_far_it_has_come() {
    let world = world();
    many_files(&world, 3500, 360);
    let served = Served::start(&world);
    let session = Session::open(&served, &served.token, &json!({}));
    let modern = Modern::new(&served, &served.token, &json!({}));
    let params =
        json!({"name": "count_matches", "arguments": {"regex": "abc"}, "_meta": {"progressToken": "t"}});
    let (answer, told) = session.request("tools/call", &params);
    let mut all = messages(&modern.request("tools/call", &params));
    let newer = all.pop().unwrap();
    for (answer, told) in [(answer, told), (newer, all)] {
        assert_eq!(answer["result"]["structuredContent"]["data"]["count"], 35_000, "{answer}");
        assert!(!told.is_empty(), "progress was asked for");
        assert!(told.iter().all(|message| message["params"]["progressToken"] == "t"), "{told:?}");
        let counts: Vec<f64> =
            told.iter().map(|message| message["params"]["progress"].as_f64().unwrap()).collect();
        assert!(counts.is_sorted_by(|a, b| a < b), "progress increases: {counts:?}");
    }
}

#[test]
fn a_cancelled_search_ends_and_is_on_record_as_cancelled() {
    let world = world();
    many_files(&world, 20_000, 400_000);
    let mut served = Served::start(&world);
    {
        let session = Session::open(&served, &served.token, &json!({}));
        let params =
            json!({"name": "search_file", "arguments": {"regex": SLOW}, "_meta": {"progressToken": 1}});
        let (mut events, id) = session.begin("tools/call", &params);
        assert_eq!(events.next()["method"], "notifications/progress");
        session.tell("notifications/cancelled", &json!({"requestId": id, "reason": "enough"}));
        assert_eq!(session.call("read_file", &json!({"path": "a.txt"}))["isError"], false);
    }
    assert_eq!(served.end(), 0);
    assert_eq!(ending(&world), "cancelled");
}

#[test]
fn a_client_of_the_newer_revision_that_goes_away_leaves_an_outcome_on_record() {
    let world = world();
    many_files(&world, 20_000, 1_000_000);
    let mut served = Served::start(&world);
    {
        let modern = Modern::new(&served, &served.token, &json!({}));
        let params =
            json!({"name": "search_file", "arguments": {"regex": SLOW}, "_meta": {"progressToken": 1}});
        let mut events = modern.begin("tools/call", &params);
        assert_eq!(events.next()["method"], "notifications/progress");
    }
    // It is served on, and what is under way is finished before it ends.
    let modern = Modern::new(&served, &served.token, &json!({}));
    assert_eq!(modern.call(&json!({"name": "read_file", "arguments": {"path": "a.txt"}}))["isError"], false);
    assert_eq!(served.end(), 0);
    assert_eq!(ending(&world), "caller_gone");
}

#[test]
fn who_goes_away_from_a_plain_call_leaves_an_outcome_on_record() {
    let world = world();
    many_files(&world, 20_000, 1_000_000);
    let mut served = Served::start(&world);
    {
        let modern = Modern::new(&served, &served.token, &json!({}));
        let leaving =
            modern.begin("tools/call", &json!({"name": "search_file", "arguments": {"regex": SLOW}}));
        // Other calls are made until that one is known to be under way.
        let is_under_way = || world.raw_records().contains("\"search_file\"");
        let read = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
        assert!((0..1000).any(|_| modern.call(&read)["isError"] == false && is_under_way()));
        drop(leaving);
    }
    assert_eq!(served.end(), 0);
    assert_eq!(ending(&world), "caller_gone");
}

#[test]
fn a_stranger_learns_where_credentials_are_given_out() {
    let world = world();
    let config = "server: {public_url: \"https://hands.example.com\"}\n".to_owned()
        + "auth: {jwt: {authorization_servers: [\"https://login.example.com\"]}}\n";
    let served = Served::with_config(&world, &config);
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answer = served.send("GET", path, &[], b"");
        assert_eq!(answer.status, 200, "{answer:?}");
        let shape = answer.json();
        assert_eq!(shape["resource"], "https://hands.example.com/mcp", "{shape}");
        assert_eq!(shape["authorization_servers"], json!(["https://login.example.com"]), "{shape}");
        assert_eq!(shape["bearer_methods_supported"], json!(["header"]), "{shape}");
    }
    // Where only the issuer is named, that is who gives them out.
    let issuer = "auth: {jwt: {jwks: 'http://127.0.0.1:1/keys', issuer: 'https://id.example.com/realm'}}\n";
    let other = World::new();
    let of_issuer = Served::with_config(&other, issuer);
    let shape = of_issuer.send("GET", "/.well-known/oauth-protected-resource", &[], b"").json();
    assert_eq!(shape["authorization_servers"], json!(["https://id.example.com/realm"]), "{shape}");
    let refused = served.send("POST", "/mcp", &[], b"{}");
    assert_eq!(refused.status, 401, "{refused:?}");
    let challenge = refused.header("www-authenticate").expect("a challenge");
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    let place = "resource_metadata=\"https://hands.example.com/.well-known/oauth-protected-resource";
    assert!(challenge.contains(place), "{challenge}");
}

/// In a revision with sessions hanging up alone cancels nothing; hanging up and not coming back does.
#[test]
fn a_client_that_hangs_up_and_stays_away_ends_its_call() {
    let world = world();
    let config = "tools: {command_policy: {allowlist: [sleep], argument_rules: \"off\"}}\n";
    let served = Served::with_config(&world, &format!("{NO_LIMIT}{config}"));
    let session = Session::open(&served, &served.token, &json!({}));
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "exec_shell", "arguments": {"command": "sleep 100", "timeout": 120}}});
    let body = call.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nX-API-Key: {}\r\nMcp-Session-Id: {}\r\n\
         MCP-Protocol-Version: 2025-11-25\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        served.address,
        served.token,
        session.id,
        body.len()
    );
    let mut client = TcpStream::connect(served.address).unwrap();
    client.write_all(format!("{head}{body}G").as_bytes()).unwrap();
    until("the program is under way", || world.records().iter().any(|record| record["kind"] == "intent"));
    drop(client);
    until("the call is over", || !outcomes(&world).is_empty());
    let outcome = &outcomes(&world)[0];
    assert_eq!(outcome["ending"], "cancelled", "{outcome}");
    assert_eq!(session.send("POST", &json!({"jsonrpc": "2.0", "id": 8, "method": "ping"})).status, 200);
}

//! The REST interface through the real server: each route, each way to get it wrong, and who sees what.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use crate::http_world::{Answer, NO_LIMIT, Served};
use crate::mcp::{SLOW, many_files};
use crate::support::{PATIENCE, World};

pub(crate) fn secret(name: &str) -> String {
    format!("ka_{name}_{}", "4b".repeat(16))
}

/// Two agents, one that speaks for others, and an operator.
pub(crate) fn served(world: &World) -> Served {
    let key = |name: &str| json!({"caller_id": name, "role": "write", "secret": secret(name)});
    let with = |mut key: Value, name: &str| {
        key[name] = json!(true);
        key
    };
    let keys = json!([
        key("ann"),
        key("ben"),
        json!({"caller_id": "viewer", "role": "read", "secret": secret("viewer")}),
        with(key("bridge"), "may_assert_identity"),
        with(key("boss"), "operator"),
    ]);
    let rules = json!([{"tool": "create_directory", "decision": "ask"}]);
    Served::with_config(world, &format!("{NO_LIMIT}api_keys: {keys}\nrules: {rules}\n"))
}

#[track_caller]
pub(crate) fn get(served: &Served, who: &str, path: &str) -> Answer {
    served.send("GET", path, &[("X-API-Key", &secret(who))], b"")
}

#[track_caller]
pub(crate) fn post(served: &Served, who: &str, path: &str, body: &Value) -> Answer {
    served.post_as(&[("X-API-Key", &secret(who))], path, body)
}

/// The shape of every problem under `/api`.
#[track_caller]
fn check_problem(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    let body = answer.json();
    assert_eq!(body["success"], false, "{body}");
    assert_eq!(body["error"]["code"], code, "{body}");
    for text in [&body["message"], &body["error"]["message"], &body["error"]["suggestion"]] {
        assert!(text.as_str().is_some_and(|text| !text.is_empty()), "{body}");
    }
    let id = answer.header("x-request-id");
    assert!(id.is_some() && body["error"]["request_id"].as_str() == id, "{answer:?}");
}

#[test]
fn a_call_has_the_status_that_fits_its_result() {
    let world = World::new();
    world.file("a.txt", "one\n").file(".env", "A=1\n");
    let served = served(&world);
    let rows = [
        ("ann", "read_file", json!({"path": "a.txt"}), 200, Value::Null),
        ("ann", "list_directory", json!({"path": "."}), 200, Value::Null),
        ("ann", "read_file", json!({"path": "absent"}), 200, json!("FileNotFound")),
        ("ann", "read_file", json!({"path": ".env"}), 403, json!("BlockedPath")),
        ("ann", "read_file", json!({"path": "../x"}), 403, json!("PathOutsideProject")),
        ("viewer", "write_file", json!({"path": "b", "content": ""}), 403, json!("PermissionDenied")),
        ("ann", "create_directory", json!({"path": "folder"}), 202, json!("ApprovalRequired")),
        ("ann", "read_file", json!({}), 422, json!("ValidationError")),
        ("ann", "read_file", json!({"path": "a.txt", "colour": 1}), 422, json!("ValidationError")),
        ("ann", "no_such_tool", json!({}), 404, json!("ToolNotFound")),
        ("ann", "%00", json!({}), 404, json!("ToolNotFound")),
    ];
    for (who, tool, arguments, status, code) in rows {
        let answer = post(&served, who, &format!("/api/tools/{tool}"), &arguments);
        assert_eq!(answer.status, status, "{tool} {arguments}: {answer:?}");
        let result = answer.json();
        assert_eq!(result["error"]["code"], code, "{tool} {arguments}");
        let expected = if code.is_null() { "success" } else { "error" };
        assert_eq!(result["status"], expected, "{result}");
        assert!(result["metadata"]["call_id"].is_string(), "{result}");
    }
    assert!(!world.work().join("folder").exists());
}

#[test]
fn what_is_no_call_is_a_problem() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = served(&world);
    let key = secret("ann");
    let json_type = Some("application/json");
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(4000), "]".repeat(4000));
    type Row<'a> = (&'a str, &'a str, Option<&'a str>, &'a [u8], u16, &'a str);
    let rows: [Row<'_>; 16] = [
        ("POST", "/api/tools/read_file", json_type, b"{", 400, "ValidationError"),
        ("POST", "/api/tools/read_file", json_type, b"[]", 400, "ValidationError"),
        ("POST", "/api/tools/read_file", json_type, b"null", 400, "ValidationError"),
        ("POST", "/api/tools/read_file", json_type, b"\xff", 400, "ValidationError"),
        ("POST", "/api/tools/read_file", json_type, deep.as_bytes(), 400, "ValidationError"),
        ("POST", "/api/tools/read_file", Some("text/plain"), b"{}", 415, "RequestRefused"),
        ("POST", "/api/tools/read_file", None, b"{}", 415, "RequestRefused"),
        ("POST", "/api/tools/read_file?dry_run=yes", json_type, b"{}", 400, "ValidationError"),
        ("POST", "/api/tools/read_file?dry_run=", json_type, b"{}", 400, "ValidationError"),
        ("POST", "/api/tools/read_file?dryrun=true", json_type, b"{}", 400, "ValidationError"),
        ("POST", "/api/tools/read_file?dry_run=true&dry_run=false", json_type, b"{}", 400, "ValidationError"),
        ("POST", "/api/tools/%ff", json_type, b"{}", 400, "ValidationError"),
        ("GET", "/api/tools/read_file", None, b"", 405, "RouteNotFound"),
        ("PUT", "/api/approvals", None, b"", 405, "RouteNotFound"),
        ("GET", "/api/query", None, b"", 405, "RouteNotFound"),
        ("DELETE", "/api/audit", None, b"", 405, "RouteNotFound"),
    ];
    for (method, path, kind, body, status, code) in rows {
        let mut headers = vec![("X-API-Key", key.as_str())];
        headers.extend(kind.map(|kind| ("Content-Type", kind)));
        let answer = served.send(method, path, &headers, body);
        check_problem(&answer, status, code);
        assert_eq!(status == 405, answer.header("allow").is_some(), "{answer:?}");
        // Who shows nothing learns nothing.
        assert_eq!(served.send(method, path, &[], body).status, 401, "{method} {path}");
    }
    let calls: Vec<Value> = world.calls().into_iter().filter(|record| record["kind"] != "event").collect();
    assert_eq!(calls, Vec::<Value>::new());
}

#[test]
fn an_empty_body_stands_for_no_arguments_and_a_wish_is_heard() {
    let world = World::new();
    let served = served(&world);
    let key = secret("ann");
    let answer = served.send("POST", "/api/tools/list_files", &[("X-API-Key", &key)], b"");
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("success")), "{answer:?}");
    let new = json!({"path": "b.txt", "content": "x"});
    let dry = post(&served, "ann", "/api/tools/write_file?dry_run=true", &new);
    assert_eq!((dry.status, &dry.json()["metadata"]["dry_run"]), (200, &json!(true)), "{dry:?}");
    assert!(!world.work().join("b.txt").exists());
    let done = post(&served, "ann", "/api/tools/write_file?dry_run=false", &new);
    assert_eq!((done.status, &done.json()["metadata"]["dry_run"]), (200, &json!(false)), "{done:?}");
    assert_eq!(world.text("b.txt"), "x");
}

#[test]
fn tools_are_listed_with_all_that_a_caller_needs() {
    let world = World::new();
    let served = served(&world);
    let list = get(&served, "ann", "/api/tools").json();
    let tools = list["tools"].as_array().unwrap();
    let read = tools.iter().find(|tool| tool["name"] == "read_file").unwrap();
    assert_eq!(read["annotations"]["readOnlyHint"], true);
    assert_eq!(read["annotations"]["destructiveHint"], false);
    assert!(read["title"].is_string() && read["description"].is_string(), "{read}");
    assert_eq!(read["input_schema"]["properties"]["path"]["type"], "string");
    let fewer = get(&served, "viewer", "/api/tools").json();
    let fewer = fewer["tools"].as_array().unwrap();
    assert!(fewer.len() < tools.len());
    assert!(!fewer.iter().any(|tool| tool["name"] == "write_file"));
}

#[test]
fn the_record_is_shown_to_whom_it_belongs() {
    let world = World::new();
    world.file("a.txt", "one\n").file("b.txt", "two\n");
    let served = served(&world);
    let read = |who: &[(&str, &str)], path: &str| {
        let answer = served.post_as(who, "/api/tools/read_file", &json!({"path": path}));
        answer.json()["metadata"]["call_id"].as_str().unwrap().to_owned()
    };
    let (ann, ben) = (secret("ann"), secret("ben"));
    let anns = read(&[("X-API-Key", &ann)], "a.txt");
    let bens = read(&[("X-API-Key", &ben)], ".env");
    let seen = |who: &str, query: &str| -> Vec<String> {
        let answer = get(&served, who, &format!("/api/audit{query}"));
        assert_eq!(answer.status, 200, "{answer:?}");
        let records = answer.json()["records"].as_array().unwrap().clone();
        records.iter().filter_map(|record| record["call_id"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(seen("ann", ""), std::slice::from_ref(&anns));
    assert_eq!(seen("ben", ""), std::slice::from_ref(&bens));
    assert_eq!(seen("ann", "?caller=ben"), [""; 0]);
    assert_eq!(seen("boss", "?tool=read_file"), [anns.clone(), bens.clone()]);
    assert_eq!(seen("boss", "?caller=ben"), std::slice::from_ref(&bens));
    assert_eq!(seen("boss", "?decision=deny"), std::slice::from_ref(&bens));
    assert_eq!(seen("boss", "?tool=read_file&last=1"), std::slice::from_ref(&bens));
    assert_eq!(seen("boss", "?tool=write_file"), [""; 0]);
    for query in ["?last=0", "?last=1001", "?last=-1", "?last=x", "?decision=maybe", "?calller=ann"] {
        check_problem(&get(&served, "ann", &format!("/api/audit{query}")), 400, "ValidationError");
    }
    let shown = get(&served, "ann", &format!("/api/audit/{anns}")).json();
    let kinds: Vec<&str> =
        shown["records"].as_array().unwrap().iter().filter_map(|record| record["kind"].as_str()).collect();
    assert_eq!(kinds, ["intent", "outcome"], "{shown}");
    assert_eq!(get(&served, "boss", &format!("/api/audit/{bens}")).status, 200);
    // A foreign call answers as one that never was.
    let foreign = get(&served, "ann", &format!("/api/audit/{bens}"));
    check_problem(&foreign, 404, "RouteNotFound");
    let unknown = get(&served, "ann", "/api/audit/call_x");
    check_problem(&unknown, 404, "RouteNotFound");
    assert_eq!(foreign.json()["message"], unknown.json()["message"]);
    assert_eq!(foreign.json()["error"]["suggestion"], unknown.json()["error"]["suggestion"]);
}

#[test]
fn alerts_are_shown_to_whom_they_are_about() {
    let world = World::new();
    let served = served(&world);
    for _ in 0..6 {
        post(&served, "ben", "/api/tools/read_file", &json!({"path": "../x"}));
    }
    let alerts = |who: &str| get(&served, who, "/api/alerts").json()["alerts"].as_array().unwrap().clone();
    assert_eq!(alerts("ann"), Vec::<Value>::new());
    assert_eq!(alerts("ben").len(), 1);
    assert_eq!(alerts("boss")[0]["caller"], "ben");
    assert_eq!(alerts("boss")[0]["rule"], "violations");
    check_problem(&get(&served, "boss", "/api/alerts?last=0"), 400, "ValidationError");
}

/// The bridge itself, or for a person.
fn bridged<'h>(key: &'h str, person: Option<&'h str>) -> Vec<(&'h str, &'h str)> {
    let mut headers = vec![("X-API-Key", key)];
    headers.extend(person.map(|person| ("X-User-Email", person)));
    headers
}

#[test]
fn people_behind_one_bridge_see_their_own_alerts() {
    let world = World::new();
    let served = served(&world);
    let key = secret("bridge");
    let eve = bridged(&key, Some("Eve@example.com"));
    for _ in 0..6 {
        served.post_as(&eve, "/api/tools/read_file", &json!({"path": "../x"}));
    }
    let n_alerts = |headers: &[(&str, &str)]| {
        served.send("GET", "/api/alerts", headers, b"").json()["alerts"].as_array().unwrap().len()
    };
    assert_eq!(n_alerts(&eve), 1);
    assert_eq!(n_alerts(&bridged(&key, Some("eve@example.com"))), 1, "the same person in any case");
    assert_eq!(n_alerts(&bridged(&key, Some("ann@example.com"))), 0);
    assert_eq!(n_alerts(&bridged(&key, None)), 0);
    assert_eq!(n_alerts(&[("X-API-Key", &secret("ann"))]), 0);
    assert_eq!(n_alerts(&[("X-API-Key", &secret("boss"))]), 1);
}

#[test]
fn events_are_for_operators_and_for_those_whose_call_it_was() {
    let world = World::new();
    let served = served(&world);
    let key = secret("bridge");
    let ann = bridged(&key, Some("ann@example.com"));
    let path = "/api/tools/create_directory";
    let asked = served.post_as(&ann, path, &json!({"path": "d"})).json();
    let id = asked["error"]["details"]["approval_id"].clone();
    let answer = json!({"id": id, "decision": "approve"});
    assert_eq!(post(&served, "boss", "/api/approvals", &answer).status, 200, "{asked}");
    let done = served.post_as(&ann, path, &json!({"path": "d"})).json();
    assert_eq!(done["status"], "success", "{done}");
    let call = format!("/api/audit/{}", done["metadata"]["call_id"].as_str().unwrap());

    let kinds = |headers: &[(&str, &str)], path: &str| -> Vec<String> {
        let shown = served.send("GET", path, headers, b"").json();
        let records = shown["records"].as_array().cloned().unwrap_or_default();
        records.iter().filter_map(|record| record["kind"].as_str()).map(str::to_owned).collect()
    };
    let has_event =
        |headers: &[(&str, &str)], path: &str| kinds(headers, path).iter().any(|kind| kind == "event");
    assert!(has_event(&[("X-API-Key", &secret("boss"))], "/api/audit"));
    assert!(has_event(&[("X-API-Key", &secret("boss"))], &call));
    assert!(has_event(&ann, &call));
    assert_eq!(kinds(&ann, "/api/audit"), ["outcome", "outcome"]);
    for other in [bridged(&key, None), bridged(&key, Some("ben@example.com"))] {
        assert_eq!(kinds(&other, "/api/audit"), Vec::<String>::new(), "{other:?}");
        assert_eq!(kinds(&other, &call), Vec::<String>::new(), "{other:?}");
    }
}

#[test]
fn those_who_read_the_questions_take_the_places_of_readers() {
    let world = World::new();
    let config = NO_LIMIT.replace("server: {", "server: {request_timeout: 300ms, ");
    let rules = json!([{"tool": "create_directory", "decision": "ask"}]);
    let served = Served::with_config(&world, &format!("{config}rules: {rules}\n"));
    assert_eq!(served.post("/api/tools/create_directory", &json!({"path": "d"})).status, 202);
    let lock = world.audit().join("approvals/lock");
    let lock = std::fs::File::open(lock).unwrap();
    lock.lock().unwrap();
    // Whoever reads has gone by then, and their reading has not.
    for path in ["/api/approvals", "/api/approvals", "/api/audit"] {
        check_problem(&served.get(path), 504, "Timeout");
    }
    drop(lock);
}

#[test]
fn only_operators_answer_questions() {
    let world = World::new();
    let served = served(&world);
    let answer = json!({"id": "ap_0000000000", "decision": "approve"});
    check_problem(&post(&served, "ann", "/api/approvals", &answer), 403, "PermissionDenied");
    check_problem(&post(&served, "bridge", "/api/approvals", &answer), 403, "PermissionDenied");
    check_problem(&post(&served, "boss", "/api/approvals", &answer), 404, "ApprovalNotFound");
    for body in [
        json!({}),
        json!({"id": "x"}),
        json!({"id": "x", "decision": "maybe"}),
        json!({"id": 1, "decision": "approve"}),
        json!({"id": "x", "decision": "approve", "by": "somebody"}),
    ] {
        check_problem(&post(&served, "boss", "/api/approvals", &body), 400, "ValidationError");
    }
    for (who, query) in [("ann", ""), ("boss", "?state=all")] {
        let answer = get(&served, who, &format!("/api/approvals{query}"));
        assert_eq!(answer.json(), json!({"success": true, "approvals": []}), "{who}");
    }
    check_problem(&get(&served, "boss", "/api/approvals?state=some"), 400, "ValidationError");
}

#[test]
fn a_stopped_caller_neither_looks_nor_answers() {
    let world = World::new();
    let served = served(&world);
    let asked = post(&served, "ann", "/api/tools/create_directory", &json!({"path": "new"})).json();
    let id =
        asked["error"]["details"]["approval_id"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    let answer = json!({"id": id, "decision": "approve"});
    let paths =
        ["/api/audit", "/api/audit/call_1", "/api/alerts", "/api/approvals", "/api/approvals?state=all"];
    for stopped in ["boss", "*"] {
        assert_eq!(world.run(&["stop", stopped]).code, 0);
        check_problem(&post(&served, "boss", "/api/approvals", &answer), 403, "Suspended");
        for path in paths {
            check_problem(&get(&served, "boss", path), 403, "Suspended");
        }
        let others = get(&served, "ann", "/api/approvals").status;
        assert_eq!(others, if stopped == "*" { 403 } else { 200 });
        assert_eq!(world.run(&["resume", stopped]).code, 0);
    }
    assert_eq!(post(&served, "boss", "/api/approvals", &answer).status, 200);
}

#[test]
fn who_speaks_for_others_speaks_clearly() {
    let world = World::new();
    let served = served(&world);
    let key = secret("bridge");
    let long = format!("{}@example.com", "x".repeat(400));
    let groups = vec!["g"; 1025].join(",");
    let rows = [
        ("X-User-Email", long.as_str()),
        ("X-User-Email", "a\u{200b}@example.com"),
        ("X-User-Groups", &groups),
        ("X-Slack-User-Id", &long),
        ("X-Slack-Channel-Id", &long),
    ];
    for (name, value) in rows {
        let who = [("X-API-Key", key.as_str()), (name, value)];
        let answer = served.send("GET", "/api/tools", &who, b"");
        check_problem(&answer, 400, "RequestRefused");
        assert_eq!(answer.header("www-authenticate"), None);
    }
    // Whoever may not speak for others is not heard at all.
    let who = [("X-API-Key", secret("ann")), ("X-User-Email", long.clone())];
    let who = [(who[0].0, who[0].1.as_str()), (who[1].0, who[1].1.as_str())];
    assert_eq!(served.send("GET", "/api/tools", &who, b"").status, 200);
}

#[test]
fn there_is_no_agent_yet_and_it_says_so() {
    let world = World::new();
    let served = served(&world);
    for path in ["/api/query", "/api/query/stream"] {
        check_problem(&post(&served, "ann", path, &json!({"query": "why?"})), 503, "NoModel");
        check_problem(&post(&served, "ann", path, &json!({"query": " "})), 400, "ValidationError");
        check_problem(&post(&served, "ann", path, &json!({"query": 1})), 400, "ValidationError");
        check_problem(&post(&served, "ann", path, &json!({})), 400, "ValidationError");
        let long = |n: usize| json!({"query": "x".repeat(n)});
        let around = long(0).to_string().len();
        check_problem(&post(&served, "ann", path, &long((1 << 20) - around)), 503, "NoModel");
        check_problem(&post(&served, "ann", path, &long((1 << 20) - around + 1)), 413, "MessageTooLarge");
        assert_eq!(served.post_as(&[], path, &json!({"query": "why?"})).status, 401);
    }
}

/// Leaves after these bytes, sent with the request and while it is served; how the slow call of
/// this path and body ended.
#[track_caller]
fn left(path: &str, body: &Value, more: &str, later: &str) -> Value {
    let world = World::new();
    many_files(&world, 2_000, 8_000_000);
    let served = served(&world);
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        served.address,
        secret("ann"),
        body.len()
    );
    let mut client = TcpStream::connect(served.address).unwrap();
    client.write_all(format!("{head}{body}{more}").as_bytes()).unwrap();
    let began = Instant::now();
    let wait_for = |kind: &str| loop {
        let seen = get(&served, "ann", "/api/audit?tool=search_file").json();
        if let Some(record) = seen["records"].as_array().unwrap().iter().find(|record| record["kind"] == kind)
        {
            return record.clone();
        }
        assert!(began.elapsed() < PATIENCE, "no {kind}: {seen}");
    };
    wait_for("intent");
    client.write_all(later.as_bytes()).unwrap();
    drop(client);
    wait_for("outcome")["ending"].clone()
}

#[test]
fn a_client_that_goes_away_leaves_an_outcome_on_record() {
    let slow = json!({"regex": SLOW});
    let part = json!({"data": {"tool": "search_file", "arguments": slow}});
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [part]});
    let task = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let (rest, a2a) = (("/api/tools/search_file", &slow), ("/a2a/invoke", &task));
    for ((path, body), more, later) in [
        (rest, "", ""),
        (rest, "G", ""),
        (rest, "", "GET / HTTP/1.1\r\n\r\n"),
        (a2a, "", ""),
        (a2a, "G", ""),
        (a2a, "", "G"),
    ] {
        assert_eq!(left(path, body, more, later), "caller_gone", "{path}: {more:?}, then {later:?} unread");
    }
}

#[test]
fn a_question_is_answered_by_another_and_the_same_call_is_done_once() {
    let world = World::new();
    let served = served(&world);
    let call = |who: &str| post(&served, who, "/api/tools/create_directory", &json!({"path": "folder"}));
    let shown = post(&served, "ann", "/api/tools/create_directory?dry_run=true", &json!({"path": "folder"}));
    assert_eq!(
        (shown.status, &shown.json()["error"]["code"]),
        (202, &json!("ApprovalRequired")),
        "{shown:?}"
    );
    let asked = call("ann");
    assert_eq!(asked.status, 202, "{asked:?}");
    let details = asked.json()["error"]["details"].clone();
    let id = details["approval_id"].as_str().unwrap_or_else(|| panic!("{details}")).to_owned();
    assert!(details["expires_at"].is_string(), "{details}");
    let listed =
        |who: &str| get(&served, who, "/api/approvals").json()["approvals"].as_array().unwrap().len();
    assert_eq!((listed("ann"), listed("ben"), listed("boss")), (1, 0, 1));
    let yes = json!({"id": id, "decision": "approve"});
    check_problem(&post(&served, "ann", "/api/approvals", &yes), 403, "PermissionDenied");
    check_problem(&post(&served, "ben", "/api/approvals", &yes), 403, "PermissionDenied");
    let answered = post(&served, "boss", "/api/approvals", &yes);
    assert_eq!(answered.status, 200, "{answered:?}");
    assert_eq!(answered.json()["approval"]["state"], "approved");
    assert_eq!(answered.json()["approval"]["by"], "boss");
    check_problem(&post(&served, "boss", "/api/approvals", &yes), 409, "ApprovalNotFound");
    assert_eq!(call("ben").status, 202, "an approval is for whoever asked");
    assert_eq!(call("ann").json()["status"], "success");
    assert!(world.work().join("folder").is_dir());
    // The operator's own question needs another operator.
    let own = call("boss").json()["error"]["details"]["approval_id"].clone();
    let own = post(&served, "boss", "/api/approvals", &json!({"id": own, "decision": "approve"}));
    check_problem(&own, 403, "PermissionDenied");
}

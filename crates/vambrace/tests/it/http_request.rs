//! The name of a request, and where it came from: in its answer, in the log and in the record.

use serde_json::{Value, json};

use crate::http_rest::{get, post, secret, served};
use crate::http_world::{Answer, Served};
use crate::mcp_http_client::Session;
use crate::programs_host::until;
use crate::support::World;

#[test]
fn a_request_has_a_name() {
    let world = World::new();
    let served = served(&world);
    let key = secret("ann");
    let named = |id: &str| {
        let who = [("X-API-Key", key.as_str()), ("X-Request-ID", id)];
        served.send("GET", "/api/tools", &who, b"").header("x-request-id").unwrap().to_owned()
    };
    assert_eq!(named("trace-1"), "trace-1");
    assert_ne!(named("a b"), "a b");
    assert_ne!(named(&"x".repeat(129)), "x".repeat(129));
    let refused = served.send("GET", "/api/tools", &[], b"");
    assert_eq!(refused.status, 401);
    let id = refused.header("x-request-id").unwrap();
    assert_eq!(id.len(), 36, "{refused:?}");
    served.hear(&format!("request_id={id}"));
}

#[test]
fn a_client_that_says_nothing_more_gets_its_answer() {
    use std::io::{Read as _, Write as _};
    use std::net::Shutdown;
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = served(&world);
    let (key, body) = (secret("ann"), r#"{"path":"a.txt"}"#);
    let call = format!(
        "POST /api/tools/read_file HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for request in [call.as_str(), "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"].repeat(20) {
        let mut stream = served.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer:?} to {request}");
    }
}

/// What the record has of the request with this name.
#[track_caller]
fn calls_of(world: &World, request: &str) -> Vec<Value> {
    let ran = world.run(&["audit", "list", "--request", request]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_request_is_found_again_by_its_name() {
    let world = World::new();
    world.file("a.txt", "one\n").file(".env", "A=1\n");
    let served = served(&world);
    let key = secret("ann");
    let file = json!({"path": "a.txt"});
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"_meta": meta, "name": "read_file", "arguments": file});
    let part = json!({"data": {"tool": "read_file", "arguments": file}});
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [part]});
    let rpc =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let session = Session::open(&served, &key, &json!({}));
    let in_session = [
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Session-Id", &session.id),
    ];
    let call = rpc("tools/call", json!({"name": "read_file", "arguments": file}));
    let rows = [
        ("r", "rest", "/api/tools/read_file", file.clone(), &[][..]),
        ("s", "mcp-http", "/mcp", call, &in_session[..]),
        (
            "m",
            "mcp-http",
            "/mcp",
            rpc("tools/call", params),
            &[
                ("Accept", "application/json, text/event-stream"),
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", "read_file"),
            ][..],
        ),
        (
            "a",
            "a2a",
            "/a2a/invoke",
            rpc("SendMessage", json!({"message": message})),
            &[("A2A-Version", "1.0")][..],
        ),
    ];
    for (name, door, path, body, headers) in rows {
        let name = format!("trace-{name}");
        let mut all = vec![("X-API-Key", key.as_str()), ("X-Request-ID", name.as_str())];
        all.extend(headers);
        let answer = served.post_as(&all, path, &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        let calls = calls_of(&world, &name);
        assert_eq!(calls.len(), 1, "{door}: {calls:?}");
        assert_eq!(calls[0]["client_ip"], "127.0.0.1", "{door}: {calls:?}");
        let id = calls[0]["call_id"].as_str().unwrap();
        let lines = world.raw_records();
        let records = lines.lines().filter(|line| line.contains(id));
        let records: Vec<Value> = records.map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(records.len(), 2, "{door}: {records:?}");
        for record in records {
            let told = [&record["request_id"], &record["client_ip"], &record["door"]];
            assert_eq!(told, [&json!(name), &json!("127.0.0.1"), &json!(door)], "{record}");
        }
    }

    // The name that an answer tells is the one to look for, when the client gave none.
    let refused = post(&served, "ann", "/api/tools/read_file", &json!({"path": ".env"}));
    let id = refused.header("x-request-id").unwrap();
    assert_eq!(calls_of(&world, id).len(), 1, "{refused:?}");
    served.hear(&format!("tool=read_file client_ip=127.0.0.1 request_id={id}"));
    assert_eq!(calls_of(&world, "trace-nobody"), [] as [Value; 0]);

    // Others' are not shown by it.
    let of = |who: &str, id: &str| {
        get(&served, who, &format!("/api/audit?request={id}")).json()["records"].clone()
    };
    assert_eq!(of("ann", id).as_array().unwrap().len(), 1);
    assert_eq!(of("boss", id).as_array().unwrap().len(), 1);
    assert_eq!(of("ben", id), json!([]));

    // All of them are shown, however many share a name; the usual list is short.
    for _ in 0..21 {
        assert_eq!(named(&served, "many", &file).status, 200);
    }
    assert_eq!(calls_of(&world, "many").len(), 21);
    assert_eq!(of("ann", "many").as_array().unwrap().len(), 21);
    for (last, more) in [(20, true), (21, false), (22, false)] {
        let shown = get(&served, "ann", &format!("/api/audit?request=many&last={last}")).json();
        let n_shown = shown["records"].as_array().unwrap().len();
        assert_eq!((n_shown, &shown["more"]), (last.min(21), &json!(more)), "{last}");
    }
    assert_eq!(world.run(&["audit", "list", "--request", "many", "--last", "2"]).lines().len(), 2);
    assert_eq!(world.run(&["audit", "list"]).lines().len(), 20);

    // Whom nobody let in is found too.
    let stranger = served.send("GET", "/api/tools", &[("X-Request-ID", "stranger-1")], b"");
    assert_eq!(stranger.status, 401, "{stranger:?}");
    served.hear("request_id=stranger-1");
    // Nobody at the door waits for the record.
    until("the stranger is on record", || !calls_of(&world, "stranger-1").is_empty());
    let events = calls_of(&world, "stranger-1");
    assert_eq!((&events[0]["event"], &events[0]["client_ip"]), (&json!("auth_failed"), &json!("127.0.0.1")));
}

#[track_caller]
fn named(served: &Served, id: &str, body: &Value) -> Answer {
    let key = secret("ann");
    served.post_as(&[("X-API-Key", &key), ("X-Request-ID", id)], "/api/tools/read_file", body)
}

/// Random text is what names are made of, those that we give ourselves too.
#[test]
fn names_of_every_usual_kind_are_kept() {
    let world = World::new();
    world.file("a.txt", "one\n").file(".env", "A=1\n");
    let served = served(&world);
    let ulid = format!("01ARZ3NDEKTSV4RR{}", "FFQ69G5FAV");
    let rows = [
        ulid.clone(),
        format!("call_{ulid}"),
        format!("0ujtsYcgvSTl8PA{}", "uAdqWYSMnLOv"),
        format!("V1StGXR8_Z5jdHi{}", "6B-myT"),
        format!("req_{}", "8fJ2kQ9zXw4LmN7pRt5vYb3c"),
        "4bf92f3577b34da6a3ce929d0e0e4736".to_owned(),
    ];
    for id in rows {
        for body in [json!({"path": "a.txt"}), json!({"path": ".env"})] {
            assert_eq!(named(&served, &id, &body).header("x-request-id"), Some(id.as_str()));
        }
        assert_eq!(calls_of(&world, &id).len(), 2, "{id}");
        served.hear(&format!("client_ip=127.0.0.1 request_id={id}"));
        let stranger = served.send("GET", "/api/tools", &[("X-Request-ID", &id)], b"");
        assert_eq!((stranger.status, stranger.header("x-request-id")), (401, Some(id.as_str())));
        served.hear(&format!("path=/api/tools request_id={id}"));
    }
}

/// What is known shows neither in log and record nor in how a name is answered: strangers could ask for secrets by it.
#[test]
fn a_name_that_is_a_secret_is_answered_like_any_other_and_hidden() {
    let world = World::new();
    world.file("a.txt", "one\n").file(".env", "A=1\n");
    let config = format!(
        "server: {{rate_limit: {{per_second: 1000, burst: 1000}}}}\n\
         api_keys: {{\"{}\": {{caller_id: ann}}, \"{}\": {{caller_id: ben}}}}\n",
        secret("ann"),
        secret("ben")
    );
    let mut served = Served::with_config(&world, &config);
    let learned = format!("violet-harbor-{}", "73".repeat(2));
    world.file(".env", format!("DB_PASSWORD={learned}\n"));
    // It becomes known while the server runs, some time after it was written down, though only strangers come.
    let strangers = || served.log().matches("Authentication required").count();
    until("the new value is known", || {
        let n_before = strangers();
        let answer = served.send("GET", &format!("/{learned}"), &[("X-Request-ID", &learned)], b"");
        assert_eq!((answer.status, answer.header("x-request-id")), (401, Some(learned.as_str())));
        until("the line is there", || strangers() > n_before);
        !served.log().lines().last().unwrap().contains(&learned)
    });
    let (records_before, log_before) = (world.raw_records(), served.log());
    for id in [&secret("ben"), &learned] {
        for path in ["a.txt", ".env"] {
            let answer = named(&served, id, &json!({"path": path}));
            assert_eq!(answer.header("x-request-id"), Some(id.as_str()), "{answer:?}");
        }
        for (path, status) in [("/health", 200), ("/api/tools", 401), (&format!("/{id}"), 401)] {
            let who = [("X-Request-ID", id.as_str()), ("X-API-Key", "nobody")];
            let stranger = served.send("GET", path, &who, b"");
            assert_eq!((stranger.status, stranger.header("x-request-id")), (status, Some(id.as_str())));
        }
    }
    // Then all is told.
    assert_eq!(served.end(), 0);
    let (records, log) = (world.raw_records(), served.log());
    let records = records.strip_prefix(&records_before).unwrap();
    let log = log.strip_prefix(&log_before).unwrap();
    let is_hidden = |line: &&str| line.contains("\"request_id\":\"[REDACTED:");
    let hidden: Vec<&str> = records.lines().filter(is_hidden).collect();
    assert!(hidden.iter().any(|line| line.contains("auth_failed")), "{records}");
    assert!(hidden.iter().any(|line| line.contains("\"kind\":\"outcome\"")), "{records}");
    assert!(log.matches("request_id=[REDACTED:").count() >= 6, "{log}");
    for hidden in [&secret("ben"), &learned] {
        assert!(!records.contains(hidden.as_str()), "{hidden}: {records}");
        assert!(!log.contains(hidden.as_str()), "{hidden}: {log}");
    }
}

#[test]
fn who_comes_too_often_is_answered_under_its_name() {
    let world = World::new();
    let config = format!(
        "server: {{rate_limit: {{per_second: 1, burst: 1}}}}\napi_keys: {{\"{}\": {{caller_id: ann}}}}\n",
        secret("ann")
    );
    let served = Served::with_config(&world, &config);
    let id = secret("ann");
    let ask = || served.send("GET", "/api/tools", &[("X-Request-ID", &id)], b"");
    until("the bucket is empty", || {
        let answer = ask();
        assert_eq!(answer.header("x-request-id"), Some(id.as_str()), "{answer:?}");
        answer.status == 429
    });
    served.hear("rate limit exceeded");
    assert!(!served.log().contains(&id), "{}", served.log());
}

#[test]
fn behind_a_proxy_the_clients_own_address_is_on_record() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let config = format!(
        "server: {{rate_limit: {{per_second: 1000, burst: 1000}}, trusted_proxies: [127.0.0.1]}}\n\
         api_keys: {{\"{}\": {{caller_id: ann}}}}\n",
        secret("ann")
    );
    let served = Served::with_config(&world, &config);
    for address in ["198.51.100.7", "2001:db8::7"] {
        let key = secret("ann");
        let who = [("X-API-Key", key.as_str()), ("X-Forwarded-For", address), ("X-Request-ID", "one")];
        let answer = served.post_as(&who, "/api/tools/read_file", &json!({"path": "a.txt"}));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(calls_of(&world, "one").last().unwrap()["client_ip"], address);
    }
}

/// What we do ourselves on behalf of a request is found by it, and who sent it.
#[test]
fn an_address_for_news_is_judged_on_record_with_its_request() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = served(&world);
    let part = json!({"data": {"tool": "read_file", "arguments": {"path": "a.txt"}}});
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [part]});
    let push = json!({"taskPushNotificationConfig": {"url": "http://169.254.169.254/"}});
    let params = json!({"message": message, "configuration": push});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
    let key = secret("ann");
    let who = [("X-API-Key", key.as_str()), ("X-Request-ID", "push-1"), ("A2A-Version", "1.0")];
    let answer = served.post_as(&who, "/a2a/invoke", &body);
    assert!(answer.json()["error"].is_object(), "{answer:?}");
    let calls = calls_of(&world, "push-1");
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!((&calls[0]["code"], &calls[0]["client_ip"]), (&json!("MetadataAddress"), &json!("127.0.0.1")));
    served.hear("rule=metadata caller_id=ann tool=a2a_notify client_ip=127.0.0.1 request_id=push-1");
    served.hear("code=MetadataAddress caller_id=ann tool=a2a_notify client_ip=127.0.0.1 request_id=push-1");
}

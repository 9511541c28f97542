//! How `serve` ends: what was begun is finished, nothing new is begun.

use std::io::{Read as _, Write as _};

use serde_json::json;

use crate::http_world::{NO_LIMIT, Served, read};
use crate::mcp_http_client::Session;
use crate::support::World;

/// The head of a call, which the server has read when this returns, and the beginning of its body.
fn begun(served: &Served, body: &str) -> std::net::TcpStream {
    begun_at(served, "/api/tools/write_file", body)
}

fn begun_at(served: &Served, path: &str, body: &str) -> std::net::TcpStream {
    let mut stream = served.connect();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n",
        served.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let wanted = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut told = [0; 25];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(&told, wanted, "{}", String::from_utf8_lossy(&told));
    stream.write_all(b"{").unwrap();
    stream
}

const BODY: &str = r#"{"path":"a.txt","content":"late\n"}"#;

#[test]
fn what_was_begun_is_finished() {
    let world = World::new();
    let mut served = Served::with_config(&world, NO_LIMIT);
    let mut call = begun(&served, BODY);
    let mut probe = served.connect();
    probe.write_all(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n").unwrap();
    let mut idle = served.connect();
    // Connections are accepted in their order, so the others are there when this is answered. Several threads read them: each
    // has read what came before, once it has answered something.
    for _ in 0..50 {
        assert_eq!(served.send("GET", "/ready", &[], b"").status, 200);
    }
    served.tell_to_end();
    served.wait_until_closed();

    let mut answer = Vec::new();
    idle.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, b"", "silence is not waited for");
    probe.write_all(b"\r\n").unwrap();
    probe.read_to_end(&mut answer).unwrap();
    assert_eq!(read(&answer).status, 503, "{}", String::from_utf8_lossy(&answer));
    call.write_all(&BODY.as_bytes()[1..]).unwrap();
    answer.clear();
    call.read_to_end(&mut answer).unwrap();
    let answer = read(&answer);
    assert_eq!((answer.status, &answer.json()["status"]), (200, &"success".into()), "{answer:?}");
    assert_eq!(served.wait(), 0, "{}", served.log());
    assert_eq!(world.text("a.txt"), "late\n");

    let records = world.records();
    let events: Vec<&str> = records.iter().filter_map(|line| line["event"].as_str()).collect();
    assert!(events.contains(&"started"), "{events:?}");
    assert_eq!(events.last(), Some(&"ended"), "{events:?}");
    assert_eq!(world.run(&["audit", "verify"]).code, 0);
}

/// Whoever rotates logs sends this; nobody sits at a terminal that closed.
#[test]
fn a_service_does_not_end_when_it_is_told_to_read_anew() {
    let world = World::new();
    let mut served = Served::start(&world);
    let hung_up = std::process::Command::new("kill").args(["-HUP", &served.pid().to_string()]).status();
    assert!(hung_up.unwrap().success());
    served.hear("SIGHUP has no effect");
    assert_eq!(served.get("/").status, 200);
    assert_eq!(served.end(), 0, "{}", served.log());
}

#[test]
fn a_second_signal_ends_at_once() {
    let world = World::new();
    let mut served = Served::start(&world);
    let _call = begun(&served, BODY);
    assert_eq!(served.send("GET", "/ready", &[], b"").status, 200);
    served.tell_to_end();
    served.wait_until_closed();
    served.tell_to_end();
    assert_eq!(served.wait(), 1, "{}", served.log());
    assert!(!world.work().join("a.txt").exists());
}

#[test]
fn waiting_has_an_end() {
    let world = World::new();
    let config = "server: {rate_limit: {per_second: 1000, burst: 1000}, request_timeout: 300ms}\n";
    let mut served = Served::with_config(&world, config);
    // A request that takes too long is answered while we serve, too.
    let mut call = begun(&served, BODY);
    let mut answer = Vec::new();
    // The second one begins when the first has had its time, so the call has had it too.
    for _ in 0..2 {
        answer.clear();
        let mut question = begun_at(&served, "/api/query", r#"{"query":"x"}"#);
        question.read_to_end(&mut answer).unwrap();
        let slow = read(&answer);
        assert_eq!((slow.status, &slow.json()["error"]["code"]), (504, &"Timeout".into()), "{slow:?}");
        assert_eq!(slow.json()["error"]["request_id"].as_str(), slow.header("x-request-id"), "{slow:?}");
    }
    // What may be a call has the time that tools have, whatever other requests have.
    call.write_all(&BODY.as_bytes()[1..]).unwrap();
    answer.clear();
    call.read_to_end(&mut answer).unwrap();
    let answer = read(&answer);
    assert_eq!((answer.status, &answer.json()["status"]), (200, &"success".into()), "{answer:?}");
    let _head = served.connect().write_all(b"GET /ready HTTP/1.1\r\n");
    served.tell_to_end();
    assert_eq!(served.wait(), 0, "{}", served.log());
}

/// A session of MCP outlasts its connections, and may be asked for the answer over another one.
#[test]
fn a_call_of_a_session_whose_connection_closed_is_finished() {
    let world = World::new();
    let mut served = Served::start(&world);
    let session = Session::open(&served, &served.token, &json!({}));
    let params = json!({"name": "exec_shell", "arguments": {"command": "sleep 2"}});
    let (connection, _) = session.begin("tools/call", &params);
    while !world.raw_records().contains("\"kind\":\"intent\"") {
        std::thread::yield_now();
    }
    drop(connection);
    served.tell_to_end();
    assert_eq!(served.wait(), 0, "{}", served.log());
    let outcome = world.records().into_iter().find(|record| record["kind"] == "outcome").unwrap();
    assert_eq!(
        (&outcome["tool"], &outcome["ending"]),
        (&json!("exec_shell"), &json!("success")),
        "{outcome}"
    );
}

/// A key that interrupts whoever sits at the terminal goes to everybody of our process group; what programs do is
/// finished all the same.
#[test]
fn programs_are_not_interrupted_with_us() {
    let world = World::new();
    let mut served = Served::start(&world);
    let answer = served.post("/api/tools/exec_shell", &serde_json::json!({"command": "true"}));
    assert_eq!(answer.json()["data"]["exit_code"], 0, "{answer:?}");
    // Behind the name, which may hold anything: state, parent, group.
    let fields = |stat: &str| -> Option<Vec<u32>> {
        let rest = stat.rsplit_once(')')?.1.split_whitespace().skip(1).take(2);
        rest.map(|field| field.parse().ok()).collect()
    };
    let group_of = |pid: u32| fields(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
    let own = group_of(served.pid()).unwrap()[1];
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let children: Vec<u32> = processes
        .filter_map(|entry| group_of(entry.file_name().to_str()?.parse().ok()?))
        .filter(|found| found[0] == served.pid())
        .map(|found| found[1])
        .collect();
    assert!(!children.is_empty() && !children.contains(&own), "{own}: {children:?}");
    assert_eq!(served.end(), 0, "{}", served.log());
}

/// Whoever turned it away: before a route was asked, too.
#[test]
fn what_is_refused_early_is_counted() {
    let world = World::new();
    let served = Served::start(&world);
    let head = format!(
        "POST /api/tools/x HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 99999999999\r\nConnection: close\r\n\r\n",
        served.token
    );
    assert_eq!(served.raw(head.as_bytes()).status, 413);
    let metrics = served.send("GET", "/metrics", &[], b"").text();
    let counted = "vambrace_http_requests_total{route=\"/api/tools/{name}\",status=\"4xx\"} 1\n";
    assert!(metrics.contains(counted), "{metrics}");
}

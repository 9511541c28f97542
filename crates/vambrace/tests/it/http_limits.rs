//! Sizes, times and numbers that a client cannot exceed, and answers to what is no request.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::http_world::{Served, read};
use crate::support::World;

/// With further keys of `server`.
fn served(world: &World, keys: &str) -> Served {
    let config = format!("server: {{rate_limit: {{per_second: 1000000, burst: 1000000}}{keys}}}\n");
    Served::with_config(world, &config)
}

/// A client that sends its body after the head must not take the connection for one that goes on.
#[test]
fn who_is_refused_before_the_body_came_is_told_that_the_connection_ends() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = served(&world, "");
    let body = r#"{"path": "a.txt"}"#;
    let head = |path: &str, key: &str, kind: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nX-API-Key: {key}\r\nContent-Type: {kind}\r\n\
             Content-Length: {}\r\n\r\n",
            served.address,
            body.len()
        )
    };
    let (key, json) = (served.token.as_str(), "application/json");
    for (path, key, kind, status) in [
        ("/api/tools/read_file", "nobody", json, 401),
        ("/nowhere", key, json, 404),
        ("/api/tools", key, json, 405),
        ("/a2a/invoke", key, "text/plain", 415),
    ] {
        // Its body never comes, and it waits for the end.
        let answer = served.raw(head(path, key, kind).as_bytes());
        assert_eq!((answer.status, answer.header("connection")), (status, Some("close")), "{answer:?}");
    }
    // Whoever was read whole goes on, though the first of these is denied.
    let denied = format!("{}{}", head("/api/tools/write_file", key, json), body);
    let fine = format!("{}{}", head("/api/tools/read_file", key, json), body);
    let last = format!("GET /health HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address);
    let mut stream = served.connect();
    stream.write_all(format!("{denied}{fine}{last}").as_bytes()).unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    let statuses: Vec<&str> = all.split("HTTP/1.1 ").skip(1).filter_map(|answer| answer.get(..3)).collect();
    assert_eq!(statuses, ["422", "200", "200"], "{all}");
}

/// Method, path, headers, body; status and code.
type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a [u8], u16, &'a str);

#[test]
fn what_is_no_request_is_answered_in_one_shape() {
    let world = World::new();
    let served = served(&world, ", max_body_bytes: 1000");
    let key = ("X-API-Key", served.token.as_str());
    let json = ("Content-Type", "application/json");
    let long = format!("{{\"path\": \"{}\"}}", "a".repeat(1000));
    let rows: [Row<'_>; 9] = [
        ("GET", "/nowhere", &[key], b"", 404, "RouteNotFound"),
        ("GET", "/a2a/invoke", &[key], b"", 405, "RouteNotFound"),
        ("GET", "/api/tools/read_file", &[key], b"", 405, "RouteNotFound"),
        ("PUT", "/api/tools/read_file", &[key], b"", 405, "RouteNotFound"),
        ("GET", "/api/nowhere", &[key], b"", 404, "RouteNotFound"),
        ("PUT", "/api/tools", &[key], b"", 405, "RouteNotFound"),
        ("DELETE", "/health", &[], b"", 405, "RouteNotFound"),
        ("POST", "/api/tools/read_file", &[key, json], long.as_bytes(), 413, "MessageTooLarge"),
        ("POST", "/api/tools/read_file", &[json], long.as_bytes(), 413, "MessageTooLarge"),
    ];
    for (method, path, headers, body, status, code) in rows {
        let answer = served.send(method, path, headers, body);
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        let told = answer.json();
        assert_eq!((&told["success"], &told["error"]["code"]), (&false.into(), &code.into()), "{told}");
        assert_eq!(answer.header("allow").is_some(), status == 405, "{answer:?}");
        assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{answer:?}");
        }
        assert!(answer.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
        assert_eq!((answer.header("server"), answer.header("access-control-allow-origin")), (None, None));
    }
    // The length is that of what is not sent.
    for path in ["/health", "/api/tools", "/nowhere"] {
        let whole = served.get(path);
        let head = served.send("HEAD", path, &[key], b"");
        assert_eq!((head.status, head.body.len()), (whole.status, 0), "{path}: {head:?}");
        assert_eq!(head.header("content-length"), whole.header("content-length"), "{path}");
        assert!(served.send("HEAD", path, &[], b"").body.is_empty(), "{path}");
    }
    // One byte within the limit, and one beyond it without its length being told.
    let fits = format!("{{\"path\": \"{}\"}}", "a".repeat(988));
    assert_eq!(fits.len(), 1000);
    assert_ne!(served.send("POST", "/api/tools/read_file", &[key, json], fits.as_bytes()).status, 413);
    let beyond = format!("{{\"path\": \"{}\"}}", "a".repeat(989));
    let chunked = format!(
        "POST /api/tools/read_file HTTP/1.1\r\nHost: {}\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n3e9\r\n{beyond}\r\n0\r\n\r\n",
        served.address, served.token
    );
    assert_eq!(served.raw(chunked.as_bytes()).status, 413);
}

#[test]
fn what_is_not_http_is_400() {
    let world = World::new();
    let served = served(&world, "");
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "A: b\r\n".repeat(200));
    let rows: [(&[u8], u16); 6] = [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nA\x00: b\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400),
        (long.as_bytes(), 431),
        (many.as_bytes(), 431),
    ];
    for (bytes, status) in rows {
        assert_eq!(served.raw(bytes).status, status, "{}", String::from_utf8_lossy(bytes.get(..40).unwrap()));
    }
    assert_eq!(served.get("/").status, 200, "and it lives");
}

/// Longer than any test waits.
fn served_with_long_idle(world: &World) -> Served {
    served(world, ", header_timeout: 200ms, idle_timeout: 1h")
}

#[test]
fn slow_clients_are_let_go() {
    let world = World::new();
    let served = served(&world, ", header_timeout: 200ms, idle_timeout: 400ms, read_timeout: 200ms");
    let mut answer = Vec::new();
    // A head that never ends.
    let mut head = served.connect();
    head.write_all(b"GET / HTTP/1.1\r\nHost: local").unwrap();
    head.read_to_end(&mut answer).unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "");
    // Silence, at once and after an answer.
    served.connect().read_to_end(&mut answer).unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "");
    // Before the first byte, the time of a head holds.
    let patient = served_with_long_idle(&world);
    answer.clear();
    patient.connect().read_to_end(&mut answer).unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "");
    // Whoever is to be answered has time to begin, also on a busy machine.
    let served = self::served(&world, ", idle_timeout: 400ms, read_timeout: 200ms");
    let mut idle = served.connect();
    idle.write_all(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    idle.read_to_end(&mut answer).unwrap();
    assert_eq!(read(&answer).status, 200);
    // A body that never ends.
    let mut body = served.connect();
    let head = format!(
        "POST /api/tools/read_file HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 10\r\n\r\n{{",
        served.token
    );
    body.write_all(head.as_bytes()).unwrap();
    answer.clear();
    body.read_to_end(&mut answer).unwrap();
    assert_eq!(read(&answer).status, 408, "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn a_thousand_idle_connections_leave_room_for_calls() {
    let world = World::new();
    // Of which one address may have half.
    let served = served(&world, ", max_connections: 2020, header_timeout: 1h, idle_timeout: 1h");
    let idle: Vec<TcpStream> = (0..1000).map(|_| served.connect()).collect();
    assert_eq!(served.get("/api/tools").status, 200);
    // Those that are too many are told so, or let go.
    let more: Vec<TcpStream> = (0..30).map(|_| served.connect()).collect();
    let answer = served.send("GET", "/live", &[], b"");
    assert!(matches!(answer.status, 503 | 0), "{answer:?}");
    drop((idle, more));
    // As soon as it has seen that they left.
    while served.send("GET", "/live", &[], b"").status != 200 {}
}

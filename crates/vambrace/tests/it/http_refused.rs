//! Requests that are refused before they were read to their end, by clients that write all before they read.

use std::io::{Read as _, Write as _};

use crate::http_world::{NO_LIMIT, Served, read};
use crate::support::World;

const CODES: &str = "server: {max_body_bytes: 1000000, rate_limit: {per_second: 1000000, burst: 1000000}}\n";

#[track_caller]
fn check(served: &Served, key: &str, headers: &str, body: &[u8], expected: u16) {
    let head = format!(
        "POST /api/tools/list_files HTTP/1.1\r\nHost: {}\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\n\
         {headers}\r\n",
        served.address
    );
    let mut client = served.connect();
    client.write_all(head.as_bytes()).unwrap();
    // As ordinary clients do: all of it, however long, and only then a look at the answer.
    let written = client.write_all(body);
    assert!(written.is_ok(), "{written:?}: {expected} {headers}");
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    let answer = read(&answer);
    assert_eq!(answer.status, expected, "{headers} {answer:?}");
    assert_eq!(answer.header("connection"), Some("close"), "{answer:?}");
    assert!(!answer.text().is_empty(), "{answer:?}");
}

fn length(n_bytes: usize) -> String {
    format!("Content-Length: {n_bytes}\r\n")
}

#[test]
fn a_client_that_writes_all_before_it_reads_gets_its_refusal() {
    let world = World::new();
    let served = Served::with_config(&world, CODES);
    let body = vec![b'x'; 12_000_000];
    check(&served, &served.token, &length(body.len()), &body, 413);
    let mut chunked = format!("{:x}\r\n", body.len()).into_bytes();
    chunked.extend_from_slice(&body);
    chunked.extend_from_slice(b"\r\n0\r\n\r\n");
    check(&served, &served.token, "Transfer-Encoding: chunked\r\n", &chunked, 413);
    drop(served);
    let served = Served::with_config(&World::new(), NO_LIMIT);
    let body = &body[..9_000_000];
    check(&served, "wrong", &length(body.len()), body, 401);
    drop(served);
    let served = Served::with_config(&World::new(), "server: {rate_limit: {per_second: 1, burst: 1}}\n");
    served.get("/api/tools");
    check(&served, &served.token, &length(body.len()), body, 429);
}

#[test]
fn codings_that_we_do_not_read_are_refused() {
    let world = World::new();
    let served = Served::with_config(&world, NO_LIMIT);
    let body = vec![b'x'; 4_000_000];
    for coding in ["gzip", "identity, gzip", "br"] {
        let headers = format!("Content-Encoding: {coding}\r\n{}", length(body.len()));
        check(&served, &served.token, &headers, &body, 415);
    }
    for headers in [
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
    ] {
        check(&served, &served.token, headers, b"2\r\n{}\r\n0\r\n\r\n", 501);
    }
    let plain = [("X-API-Key", served.token.as_str()), ("Content-Encoding", "identity")];
    assert_eq!(served.post_as(&plain, "/api/tools/list_files", &serde_json::json!({})).status, 200);
}

//! Shapes of requests that two readers would understand differently, and programs that take their time.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::harness::*;

/// What a site sees of it: at most one request, whole and plain.
async fn check(what: &str, request: impl Fn(u16) -> Vec<u8>, n_requests: usize, status: &str) {
    let site = Site::new(|_| ok("x")).await;
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), site.port)]).await;
    let answer = cage.ask(request(site.port)).await;
    let seen = site.seen();
    assert!(answer.starts_with(status), "{what}: {answer:?}");
    assert_eq!(seen.len(), n_requests, "{what}: {seen:?}");
    for one in seen {
        assert_eq!(one.matches("HTTP/1.1").count(), 1, "{what}: {one:?}");
        let lengths = one.matches("content-length").count() + one.matches("transfer-encoding").count();
        assert!(lengths <= 1, "{what}: {one:?}");
        assert!(!one.contains("smuggled"), "{what}: {one:?}");
        // So that the site looks for no second request behind it.
        assert_eq!(one.matches("\r\nconnection: close\r\n").count(), 1, "{what}: {one:?}");
    }
}

fn post(port: u16, headers: &str, body: &str) -> Vec<u8> {
    format!("POST http://site.test:{port}/ HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n{body}")
        .into_bytes()
}

#[tokio::test]
async fn two_readings_of_a_request_become_one_or_none() {
    let next = "GET http://site.test/smuggled HTTP/1.1\r\n\r\n";
    let bad = "HTTP/1.1 400 ";
    let rows: &[(&str, &str, &str, usize, &str)] = &[
        ("two lengths", "Content-Length: 1\r\nContent-Length: 2", "ab", 0, bad),
        ("a list of lengths", "Content-Length: 1, 2", "ab", 0, bad),
        ("a signed length", "Content-Length: +1", "a", 0, bad),
        ("a length of no number", "Content-Length: 0x1", "a", 0, bad),
        ("a huge length", "Content-Length: 99999999999999999999", "a", 0, bad),
        (
            "length and chunked",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "0\r\n\r\n",
            1,
            "HTTP/1.1 200",
        ),
        (
            "chunked and length",
            "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "0\r\n\r\n",
            1,
            "HTTP/1.1 200",
        ),
        ("chunked is not last", "Transfer-Encoding: chunked, identity", "0\r\n\r\n", 0, bad),
        ("packed and chunked", "Transfer-Encoding: gzip, chunked", "0\r\n\r\n", 0, bad),
        ("an odd chunked", "Transfer-Encoding: xchunked", "0\r\n\r\n", 0, bad),
        ("a folded header", "X-A: b\r\n c: d", "", 0, bad),
        ("a space before the colon", "X-A : b", "", 0, bad),
        ("a header without a colon", "X-A", "", 0, bad),
        ("a NUL", "X-A: \0", "", 0, bad),
        ("a bare CR", "X-A: b\rc", "", 0, bad),
        ("other host", "Host: other.test", "", 0, bad),
        ("two hosts", "Host: site.test\r\nHost: site.test", "", 0, bad),
        ("no host at all", "Host:", "", 0, bad),
        ("a host with a path", "Host: site.test/x", "", 0, bad),
        ("a request behind the end", "Content-Length: 0", next, 1, "HTTP/1.1 200"),
    ];
    for (what, headers, body, n_requests, status) in rows {
        check(what, |port| post(port, headers, body), *n_requests, status).await;
    }
}

#[tokio::test]
async fn a_body_comes_with_methods_that_have_one() {
    let next = "GET /smuggled HTTP/1.1\r\nHost: site.test\r\n\r\n";
    let length = format!("Content-Length: {}", next.len());
    let chunked = format!("{:x}\r\n{next}\r\n0\r\n\r\n", next.len());
    let coding = "Transfer-Encoding: chunked";
    let rows: &[(&str, &str, &str, usize, &str)] = &[
        ("GET", &length, next, 0, "HTTP/1.1 400 "),
        ("GET", coding, &chunked, 0, "HTTP/1.1 400 "),
        ("GET", coding, "0\r\n\r\n", 0, "HTTP/1.1 400 "),
        ("GET", "Content-Length: 0", "", 1, "HTTP/1.1 200 "),
        ("HEAD", &length, next, 0, "HTTP/1.1 400 "),
        ("HEAD", coding, &chunked, 0, "HTTP/1.1 400 "),
        ("HEAD", "A: b", "", 1, "HTTP/1.1 200 "),
        ("DELETE", "Content-Length: 2", "ab", 1, "HTTP/1.1 200 "),
        ("DELETE", coding, "2\r\nab\r\n0\r\n\r\n", 1, "HTTP/1.1 200 "),
    ];
    for (method, header, body, n_requests, status) in rows {
        let request = |port| {
            let line = format!("{method} http://site.test:{port}/ HTTP/1.1");
            format!("{line}\r\nConnection: close\r\n{header}\r\n\r\n{body}").into_bytes()
        };
        check(&format!("{method} {header}"), request, *n_requests, status).await;
    }
}

#[tokio::test]
async fn request_lines_that_are_none() {
    let rows: &[(&str, &str)] = &[
        ("version", "GET http://site.test:PORT/ HTTP/3.0\r\n\r\n"),
        ("no version", "GET http://site.test:PORT/\r\n\r\n"),
        ("two spaces", "GET  http://site.test:PORT/ HTTP/1.1\r\n\r\n"),
        ("a space in the path", "GET http://site.test:PORT/a b HTTP/1.1\r\n\r\n"),
        ("a NUL", "GET http://site.test:PORT/\0 HTTP/1.1\r\n\r\n"),
        ("a CR in the path", "GET http://site.test:PORT/\r/ HTTP/1.1\r\n\r\n"),
        ("TLS", "\x16\x03\x01\x02\x00\x01\r\n\r\n"),
    ];
    check("HTTP/2", |_| b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), 0, "").await;
    for (what, request) in rows {
        check(what, |port| request.replace("PORT", &port.to_string()).into_bytes(), 0, "HTTP/1.1 400").await;
    }
}

#[tokio::test]
async fn large_heads_are_refused_without_being_read() {
    let long = "a".repeat(1 << 20);
    let many = "a: b\r\n".repeat(101);
    check("method", |_| format!("{long} / HTTP/1.1\r\n\r\n").into_bytes(), 0, "").await;
    check(
        "target",
        |port| format!("GET http://site.test:{port}/{long} HTTP/1.1\r\n\r\n").into_bytes(),
        0,
        "",
    )
    .await;
    check("header", |port| post(port, &format!("X-A: {long}"), ""), 0, "").await;
    check("many", |port| post(port, many.trim_end(), ""), 0, "HTTP/1.1 431").await;
    check("just few enough", |port| post(port, "a: b\r\n".repeat(98).trim_end(), ""), 1, "HTTP/1.1 200")
        .await;
}

#[tokio::test]
async fn line_ends_of_one_byte_do_not_go_through() {
    let site = Site::new(|_| ok("x")).await;
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), site.port)]).await;
    let request = format!("GET http://site.test:{}/ HTTP/1.1\nX-A: b\nConnection: close\n\n", site.port);
    let answer = cage.ask(request).await;
    // Read leniently, written strictly.
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let port = site.port;
    let strict = format!("GET / HTTP/1.1\r\nx-a: b\r\nhost: site.test:{port}\r\nconnection: close\r\n\r\n");
    assert_eq!(site.seen(), [strict]);
}

#[tokio::test(start_paused = true)]
async fn slow_programs_are_not_waited_for() {
    let trap = Trap::new();
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), trap.port())]).await;
    let tunnel = format!("CONNECT site.test:{} HTTP/1.1\r\n\r\n", trap.port());
    let hello = format!("{tunnel}\x16\x03\x01");
    for start in ["", "G", "GET http://site.test/ HTTP/1.1\r\nX-A", &tunnel, &hello] {
        let began = tokio::time::Instant::now();
        let mut stream = cage.connect().await;
        stream.write_all(start.as_bytes()).await.unwrap();
        to_end(&mut stream).await;
        assert!(began.elapsed() < Duration::from_secs(30), "{start:?} took {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn more_connections_than_places_wait_and_are_served() {
    let site = Site::new(|_| ok("x")).await;
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), site.port)]).await;
    const PLACES: usize = super::super::MOST_CONNECTIONS;
    let request = format!("GET http://site.test:{}/ HTTP/1.1\r\n\r\n", site.port);
    let served = async |stream: &mut TcpStream| {
        assert!(head(stream).await.starts_with("HTTP/1.1 200 "));
        assert_eq!(within(stream.read_u8()).await.unwrap(), b'x');
    };
    // Each has been served once, so each has a place.
    let mut held = Vec::new();
    for _ in 0..PLACES {
        let mut stream = cage.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        served(&mut stream).await;
        held.push(stream);
    }
    let mut late = cage.connect().await;
    late.write_all(request.as_bytes()).await.unwrap();
    // Others are served again and again, which takes far longer than the late one would need.
    for stream in &mut held {
        stream.write_all(request.as_bytes()).await.unwrap();
        served(stream).await;
    }
    assert_eq!(site.seen().len(), 2 * PLACES);
    held.pop();
    served(&mut late).await;
    assert_eq!(site.seen().len(), 2 * PLACES + 1);
}

#[tokio::test(start_paused = true)]
async fn silent_hosts_are_not_waited_for() {
    // The trap takes the connection and says nothing.
    let trap = Trap::new();
    let port = trap.port();
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), port)]).await;
    let answer = cage.get(&format!("http://site.test:{port}/")).await;
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");

    let mut stream = cage.tunnel(&format!("site.test:{port}")).await.unwrap();
    stream.write_all(&hello_for("site.test").await).await.unwrap();
    let began = tokio::time::Instant::now();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(began.elapsed() <= Duration::from_secs(125), "{:?}", began.elapsed());
}

//! Requests in absolute form.

use std::net::Ipv4Addr;

use tokio::io::AsyncWriteExt as _;
use vambrace_policy::url::{Host, HostPattern};

use super::harness::*;
use crate::Outcome;

#[tokio::test]
async fn a_listed_host_is_reached_and_sees_a_request_written_anew() {
    let site = Site::new(|_| ok("hello")).await;
    let port = site.port;
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), port)]).await;
    let request = format!(
        "POST http://SITE.test:{port}/a/../b?c#d HTTP/1.1\r\nHost: site.TEST:{port}\r\n\
         Proxy-Authorization: x\r\nConnection: close, X-Secret\r\nX-Secret: y\r\nKeep-Alive: 5\r\n\
         TE: trailers\r\nUpgrade: websocket\r\n\
         X-Kept: z\r\nContent-Length: 4\r\n\r\nbody"
    );
    let answer = cage.ask(request).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nhello"), "{answer}");
    let expected = format!(
        "POST /b?c HTTP/1.1\r\nhost: site.test:{port}\r\nx-kept: z\r\nconnection: close\r\n\
         content-length: 4\r\n\r\nbody"
    );
    assert_eq!(site.seen(), [expected]);

    let contacts = cage.egress.contacts();
    assert_eq!(contacts.len(), 1);
    assert_eq!((contacts[0].host.as_str(), contacts[0].port, contacts[0].times), ("site.test", port, 1));
    assert_eq!(contacts[0].outcome, Outcome::Reached { address: format!("127.0.0.1:{port}") });
    assert_eq!(contacts[0].bytes_sent, site.seen()[0].len() as u64);
    assert_eq!(contacts[0].bytes_received, ok("hello").len() as u64);
}

#[tokio::test]
async fn answers_come_as_they_are() {
    let rows = [
        (
            "HTTP/1.1 302 Found\r\nLocation: http://other.test/\r\nContent-Length: 0\r\n\r\n",
            "location: http://other.test/",
        ),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "\r\n\r\nno"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "3\r\nabc\r\n0\r\n\r\n",
        ),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 No Content"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "HTTP/1.1 502"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 502"),
        ("", "HTTP/1.1 502"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "HTTP/1.1 502"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc", "HTTP/1.1 502"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "HTTP/1.1 502"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 502",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "3\r\nabc\r\n0\r\n\r\n",
        ),
    ];
    for (sent, expected) in rows {
        let site = Site::new(move |_| sent.to_owned()).await;
        let cage = Cage::new(World::default(), vec![loopback(named("site.test"), site.port)]).await;
        let answer = cage.get(&format!("http://site.test:{}/", site.port)).await;
        assert!(answer.contains(expected), "{sent:?} came as {answer:?}");
        assert!(!answer.to_lowercase().contains("upgrade"), "{answer}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_is_none() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(200));
    let long = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(1 << 20));
    for sent in [many, long] {
        let site = Site::new(move |_| sent.clone()).await;
        let cage = Cage::new(World::default(), vec![loopback(named("site.test"), site.port)]).await;
        let answer = cage.get(&format!("http://site.test:{}/", site.port)).await;
        assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    }
}

#[tokio::test]
async fn nothing_else_is_reached() {
    let trap = Trap::new();
    let port = trap.port();
    let other = Trap::new();
    let private = Ipv4Addr::new(10, 0, 0, 1);
    let world = World {
        names: names(&[
            ("inside.test", &[&[private]]),
            ("both.test", &[&[LOOPBACK, private]]),
            ("flips.test", &[&[private], &[LOOPBACK]]),
        ]),
        ..World::default()
    };
    let granted = ["both.test", "inside.test", "flips.test", "absent.test", "site.test"];
    let granted = granted.map(|name| loopback(named(name), port)).to_vec();
    let cage = Cage::new(world, granted).await;
    let unlisted = other.port();
    let rows = [
        (format!("http://other.test:{port}/"), "403"),
        (format!("http://a.site.test:{port}/"), "403"),
        (format!("http://site.test.other.test:{port}/"), "403"),
        (format!("http://site.test:{unlisted}/"), "403"),
        ("http://site.test/".to_owned(), "403"),
        (format!("http://127.0.0.1:{port}/"), "403"),
        (format!("http://127.1:{port}/"), "403"),
        (format!("http://0x7f000001:{port}/"), "403"),
        (format!("http://2130706433:{port}/"), "403"),
        (format!("http://0177.0.0.1:{port}/"), "403"),
        (format!("http://[::1]:{port}/"), "403"),
        (format!("http://[::ffff:127.0.0.1]:{port}/"), "403"),
        (format!("http://localhost:{port}/"), "403"),
        (format!("http://inside.test:{port}/"), "403"),
        (format!("http://both.test:{port}/"), "403"),
        (format!("http://flips.test:{port}/"), "403"),
        (format!("http://absent.test:{port}/"), "502"),
        (format!("http://u:p@site.test:{port}/"), "403"),
        (format!("http://site.test@other.test:{port}/"), "403"),
        (format!("ftp://site.test:{port}/"), "403"),
        (format!("https://site.test:{port}/"), "400"),
        (format!("HTTPS://site.test:{port}/"), "400"),
        ("/".to_owned(), "400"),
        ("*".to_owned(), "400"),
        ("http://site.test:0/".to_owned(), "400"),
        ("http://site.test:70000/".to_owned(), "403"),
        ("http:///".to_owned(), "400"),
    ];
    for (url, status) in rows {
        let answer = cage.get(&url).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{url}: {answer}");
        trap.is_untouched(&url);
        other.is_untouched(&url);
    }
    // A question for a name is a message, too.
    assert_eq!(cage.asked(), ["absent.test", "both.test", "flips.test", "inside.test"]);
    let contacts = cage.egress.contacts();
    assert!(!contacts.iter().any(|one| matches!(one.outcome, Outcome::Reached { .. })), "{contacts:?}");
}

/// Hosts and how often, all of them as if the program had gone.
#[track_caller]
fn are_left(cage: &Cage, expected: &[(&str, u64)]) {
    let contacts = cage.egress.contacts();
    let left = Outcome::Failed { why: "the program went away".to_owned() };
    assert!(contacts.iter().all(|one| one.outcome == left), "{contacts:?}");
    let hosts: Vec<(&str, u64)> = contacts.iter().map(|one| (one.host.as_str(), one.times)).collect();
    assert_eq!(hosts, expected);
}

#[tokio::test]
async fn a_name_that_somebody_was_asked_about_is_noted_whatever_comes_of_it() {
    let trap = Trap::new();
    let port = trap.port();
    let granted = ["silent.a.test", "silent.b.test"].map(|name| loopback(named(name), port)).to_vec();
    let mut cage = Cage::new(World::default(), granted).await;
    let mut plain = cage.connect().await;
    plain.write_all(format!("GET http://silent.a.test:{port}/ HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    cage.has_asked("silent.a.test").await;
    are_left(&cage, &[("silent.a.test", 1)]);
    drop(plain);
    let mut tunnel = cage.connect().await;
    tunnel.write_all(format!("CONNECT silent.b.test:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    cage.has_asked("silent.b.test").await;
    are_left(&cage, &[("silent.a.test", 1), ("silent.b.test", 1)]);
    cage.serving = None;
    assert_eq!(to_end(&mut tunnel).await, "");
    are_left(&cage, &[("silent.a.test", 1), ("silent.b.test", 1)]);
}

#[tokio::test]
async fn an_address_is_reached_when_it_is_listed() {
    let site = Site::new(|_| ok("hello")).await;
    let pattern = HostPattern::Exactly(Host::Address(LOOPBACK.into()));
    let cage = Cage::new(World::default(), vec![loopback(pattern, site.port)]).await;
    let answer = cage.get(&format!("http://0x7f.1:{}/", site.port)).await;
    assert!(answer.ends_with("hello"), "{answer}");
    assert!(site.seen()[0].contains(&format!("host: 127.0.0.1:{}\r\n", site.port)));
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    const N_REQUESTS: usize = 500;
    let site = Site::new(|_| ok("yes")).await;
    let port = site.port;
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), port)]).await;
    let mut stream = cage.connect().await;
    let (mut reading, mut writing) = stream.split();
    let write = async {
        for n in 0..N_REQUESTS {
            let host = if n % 2 == 0 { "site.test" } else { "other.test" };
            writing
                .write_all(format!("GET http://{host}:{port}/ HTTP/1.1\r\n\r\n").as_bytes())
                .await
                .unwrap();
        }
        writing.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").await.unwrap();
    };
    let (answers, ()) = tokio::join!(to_end(&mut reading), write);
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), N_REQUESTS / 2);
    assert_eq!(answers.matches("HTTP/1.1 403 ").count(), N_REQUESTS / 2);
    assert_eq!(site.seen().len(), N_REQUESTS / 2);
}

#[tokio::test]
async fn bodies_stream_both_ways() {
    let site = Site::new(|request| ok(&request.len().to_string())).await;
    let port = site.port;
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), port)]).await;
    let head = format!("PUT http://site.test:{port}/ HTTP/1.1\r\nConnection: close\r\n");
    let large = "x".repeat(3 << 20);
    let answer = cage.ask(format!("{head}Content-Length: {}\r\n\r\n{large}", large.len())).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(site.seen()[0].ends_with(&large));
    let chunked = "Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n0\r\nX-T: secret\r\n\r\n";
    let answer = cage.ask(format!("{head}{chunked}")).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(site.seen()[1].ends_with("3\r\nabc\r\n0\r\n\r\n"), "{:?}", site.seen()[1]);
}

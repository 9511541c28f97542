//! Answers that are long, slow, wrong or endless.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use vambrace_net::{BODY_MARGIN, NetError, Response};

use crate::server::{Guest, Server, ok};
use crate::world::{Choices, Failure, World, get};

async fn fetch_with(choices: Choices, server: &Server, method: &str) -> Result<Response, NetError> {
    let world = World::new(choices);
    let mut action = get(&format!("http://127.0.0.1:{}/", server.port()));
    action.method = method.to_owned();
    world.fetch(action).await.map_err(|failure| match failure {
        Failure::Net(error) => error,
        Failure::Denied(refusal) => panic!("{refusal:?}"),
    })
}

async fn fetch(server: &Server) -> Result<Response, NetError> {
    fetch_with(Choices::default(), server, "GET").await
}

/// The words of a bad answer.
fn bad(answer: Result<Response, NetError>) -> String {
    match answer {
        Err(NetError::BadAnswer { why, .. }) => why,
        Err(other) => format!("{other:?}"),
        Ok(response) => format!("{} with {} bytes", response.status, response.body.len()),
    }
}

#[tokio::test]
async fn a_body_ends_at_its_limit() {
    let margin = usize::try_from(BODY_MARGIN).unwrap();
    for (length, kept, truncated) in [
        (0, 0, false),
        (99, 99, false),
        (100, 100, false),
        (101, 101, true),
        (100 + margin, 100 + margin, true),
        (101 + margin, 100 + margin, true),
    ] {
        let body: String = ('a'..='z').cycle().take(length).collect();
        let with_length = ok(&body);
        let until_end = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{body}");
        let chunks: String = body.chars().map(|c| format!("1\r\n{c}\r\n")).collect();
        let chunked = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
        for answer in [with_length, until_end, chunked] {
            let server = Server::once(answer.clone());
            let choices = Choices { max_body_bytes: 100, ..Choices::default() };
            let response = fetch_with(choices, &server, "GET").await.unwrap();
            assert_eq!(response.body, &body.as_bytes()[..kept], "{answer}");
            assert_eq!((response.truncated, response.limit), (truncated, 100), "{answer}");
            assert_eq!(response.address, server.at.to_string());
        }
    }
}

#[tokio::test]
async fn nothing_is_read_past_the_limit() {
    let server = Server::at("127.0.0.1:0", |mut guest| {
        guest.request();
        guest.say("HTTP/1.1 200 OK\r\n\r\n");
        while guest.say([b'x'; 4096]) {}
    });
    let response = fetch(&server).await.unwrap();
    assert_eq!((response.body.len(), response.truncated), ((1 << 20) + 8192, true));
}

#[tokio::test]
async fn packed_bodies() {
    let pack = |body: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(body).unwrap();
        packer.finish().unwrap()
    };
    let answer = |coding: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\n\r\n");
        [head.as_bytes(), body].concat()
    };
    let response = fetch(&Server::once(answer("gzip", &pack(b"page")))).await.unwrap();
    assert_eq!((response.body.as_slice(), response.truncated), (b"page".as_slice(), false));
    // A thousand to one.
    let bomb = pack(&vec![0; 64 << 20]);
    let response = fetch(&Server::once(answer("gzip", &bomb))).await.unwrap();
    assert_eq!((response.body.len(), response.truncated), ((1 << 20) + 8192, true));
    let unknown = "its body is packed in a way that is not known";
    for coding in ["br", "gzip, gzip", "gzip\r\ncontent-encoding: gzip", "\u{e9}"] {
        assert_eq!(bad(fetch(&Server::once(answer(coding, b"page"))).await), unknown, "{coding}");
    }
    let wrong = "its body is not packed as it says";
    assert_eq!(bad(fetch(&Server::once(answer("gzip", b"page"))).await), wrong);
    let mut cut = pack(b"page");
    cut.truncate(cut.len() - 5);
    assert_eq!(bad(fetch(&Server::once(answer("gzip", &cut))).await), wrong);
}

#[tokio::test]
async fn answers_without_a_body() {
    let length = "content-length: 5\r\ncontent-encoding: br\r\n\r\n";
    for (method, head) in
        [("HEAD", "HTTP/1.1 200 OK"), ("GET", "HTTP/1.1 204 None"), ("GET", "HTTP/1.1 304 Same")]
    {
        let server = Server::once(format!("{head}\r\n{length}"));
        let response = fetch_with(Choices::default(), &server, method).await.unwrap();
        assert_eq!((response.body.len(), response.truncated), (0, false), "{method} {head}");
    }
}

#[tokio::test]
async fn what_is_told_of_the_head() {
    let told = async |headers: &str| {
        let server = Server::once(format!("HTTP/1.1 302 Found\r\n{headers}content-length: 0\r\n\r\n"));
        let response = fetch(&server).await.unwrap();
        assert_eq!(response.status, 302);
        (response.content_type, response.location)
    };
    assert_eq!(told("").await, (String::new(), None));
    let both = told("Content-Type: text/html; charset=x\r\nLocation: /caf\u{e9}\r\n").await;
    assert_eq!(both, ("text/html; charset=x".to_owned(), Some("/caf\u{e9}".to_owned())));
}

#[tokio::test]
async fn heads_that_are_not_http() {
    let ended = "the connection ended before the answer was whole";
    let (large, wrong) = ("its head is too large", "its head is not HTTP");
    let headers = |n: usize| "a: b\r\n".repeat(n);
    let rows: Vec<(Vec<u8>, &str)> = vec![
        (b"".to_vec(), ended),
        (b"HTTP/1.1 200".to_vec(), ended),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfour".to_vec(), ended),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab".to_vec(), ended),
        (b"hello, this is nobody's protocol\r\n\r\n".to_vec(), wrong),
        (b"SSH-2.0-server\r\n".to_vec(), wrong),
        (b"HTTP/1.1 2000 OK\r\n\r\n".to_vec(), wrong),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1, 2\r\n\r\nab".to_vec(), wrong),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n".to_vec(), wrong),
        (b"HTTP/1.1 200 OK\r\na b: c\r\n\r\n".to_vec(), wrong),
        (b"HTTP/1.1 200 OK\r\na: \0\r\n\r\n".to_vec(), wrong),
        (vec![0; 1000], wrong),
        (
            b"HTTP/1.1 101 Other\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n".to_vec(),
            "it changes the protocol",
        ),
        (format!("HTTP/1.1 200 OK\r\n{}\r\n", headers(101)).into_bytes(), large),
        (format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(1 << 20)).into_bytes(), large),
    ];
    for (answer, expected) in rows {
        let words = String::from_utf8_lossy(&answer[..answer.len().min(60)]).into_owned();
        assert_eq!(bad(fetch(&Server::once(answer)).await), expected, "{words}");
    }
    let most = Server::once(format!("HTTP/1.1 200 OK\r\n{}content-length: 0\r\n\r\n", headers(99)));
    assert_eq!(fetch(&most).await.unwrap().status, 200);
}

#[tokio::test]
async fn heads_without_an_end() {
    let server = Server::at("127.0.0.1:0", |mut guest| {
        guest.request();
        guest.say("HTTP/1.1 200 OK\r\n");
        while guest.say("x-more: and more\r\n") {}
    });
    assert_eq!(bad(fetch(&server).await), "its head is too large");
}

/// Gives up at the limit, not much later.
async fn check_time(serve: impl Fn(Guest) + Send + Sync + 'static) {
    let server = Server::at("127.0.0.1:0", serve);
    let timeout = Duration::from_millis(300);
    let began = Instant::now();
    let answer = fetch_with(Choices { timeout, ..Choices::default() }, &server, "GET").await;
    let host = "127.0.0.1".to_owned();
    assert_eq!(answer.err(), Some(NetError::TimedOut { host, after: timeout }));
    assert!(began.elapsed() >= timeout && began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn servers_that_take_their_time() {
    check_time(|mut guest| guest.wait_for_end()).await;
    check_time(|mut guest| {
        guest.request();
        guest.say("HTTP/1.1 200 OK\r\ncontent-le");
        guest.wait_for_end();
    })
    .await;
    check_time(|mut guest| {
        guest.request();
        guest.say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nx");
        guest.wait_for_end();
    })
    .await;
    check_time(|mut guest| {
        guest.request();
        while guest.say("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n") {}
    })
    .await;
}

#[tokio::test]
async fn a_request_may_have_its_own_time() {
    let server = Server::at("127.0.0.1:0", |mut guest| guest.wait_for_end());
    let world = World::new(Choices::default());
    let after = Duration::from_millis(50);
    let mut action = get(&format!("http://127.0.0.1:{}/", server.port()));
    action.time = Some(after);
    let host = "127.0.0.1".to_owned();
    assert_eq!(world.fetch(action).await.err(), Some(Failure::Net(NetError::TimedOut { host, after })));
}

#[tokio::test]
async fn so_many_at_once_and_no_more() {
    let (arrived, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::at("127.0.0.1:0", move |mut guest| {
        guest.request();
        arrived.send(guest.nth).unwrap();
        guest.wait_for_end();
    });
    let world = Arc::new(World::new(Choices::default()));
    let url = format!("http://127.0.0.1:{}/", server.port());
    let ask = |time: Duration| {
        let (world, mut action) = (world.clone(), get(&url));
        action.time = Some(time);
        tokio::spawn(async move { world.fetch(action).await.err() })
    };
    let long: Vec<_> = (0..16).map(|_| ask(Duration::from_secs(60))).collect();
    for _ in 0..16 {
        arrivals.recv().await.unwrap();
    }
    // Its time runs while it waits for its turn, and nobody hears of it.
    let (host, after) = ("127.0.0.1".to_owned(), Duration::from_millis(200));
    assert_eq!(ask(after).await.unwrap(), Some(Failure::Net(NetError::TimedOut { host, after })));
    assert_eq!(server.n_connections(), 16);
    // One ends, the next goes.
    let next = ask(Duration::from_secs(60));
    long[0].abort();
    assert_eq!(arrivals.recv().await, Some(16));
    next.abort();
    for one in long {
        one.abort();
    }
}

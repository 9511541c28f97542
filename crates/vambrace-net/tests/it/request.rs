//! What servers get to see.

use vambrace_net::{BODY_MARGIN, Credential, Credentials, NetError};
use vambrace_policy::url::{Binding, BoundPlace, Host, HostPattern, Scheme, UrlRefusal};
use vambrace_types::Secret;

use crate::dns::Dns;
use crate::server::{Server, ok};
use crate::world::{Choices, Failure, World, get, header};

/// The lines in any order, and the body.
fn parts(request: &str) -> (Vec<&str>, &str) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.split("\r\n").collect();
    lines[1..].sort_unstable();
    (lines, body)
}

#[tokio::test]
async fn a_request_says_this_and_no_more() {
    let server = Server::always("127.0.0.1:0", ok("page"));
    let dns = Dns::fixed(&["127.0.0.1"]);
    let world = World::asking(dns.at);
    let port = server.port();
    let url = format!("http://SITE.test:{port}/a%20b/../c?q=\"`{{}}|^#part");
    world.fetch(get(&url)).await.unwrap();
    let mut post = get(&format!("http://site.test:{port}/"));
    post.method = "POST".to_owned();
    post.body = Some(Secret::new("a=1".to_owned()));
    post.headers = vec![header("accept", "text/html"), header("x-a", "1"), header("x-a", "2")];
    world.fetch(post).await.unwrap();

    let requests = server.requests();
    let host = format!("host: site.test:{port}");
    let agent = format!("user-agent: vambrace/{}", env!("CARGO_PKG_VERSION"));
    let packed = "accept-encoding: gzip, deflate";
    let first = vec!["GET /c?q=%22`{}|^ HTTP/1.1", packed, "accept: */*", &host, &agent];
    assert_eq!(parts(&requests[0]), (first, ""));
    let second = vec![
        "POST / HTTP/1.1",
        packed,
        "accept: text/html",
        "content-length: 3",
        &host,
        &agent,
        "x-a: 1",
        "x-a: 2",
    ];
    assert_eq!(parts(&requests[1]), (second, "a=1"));
}

#[tokio::test]
async fn what_a_request_cannot_be() {
    let server = Server::always("127.0.0.1:0", ok("page"));
    let world = World::new(Choices::default());
    let url = format!("http://127.0.0.1:{}/", server.port());
    let refused = async |name: &str, value: &str| {
        let mut action = get(&url);
        action.headers = vec![header(name, value)];
        let refusal = UrlRefusal::Header { name: name.to_owned() };
        assert_eq!(world.fetch(action).await.err(), Some(Failure::Denied(refusal)), "{name}: {value}");
    };
    for name in ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "expect"] {
        refused(name, "1").await;
    }
    refused("x", "a\r\nhost: b").await;
    refused("x", "a\nb").await;
    refused("x", "\0").await;
    refused("x y", "a").await;
    refused("x:", "a").await;
    refused("", "a").await;
    for method in ["CONNECT", "TRACE", "GET / HTTP/1.1\r\nx: y", "G T", ""] {
        let mut action = get(&url);
        action.method = method.to_owned();
        let refusal = UrlRefusal::Method { method: method.to_owned() };
        assert_eq!(world.fetch(action).await.err(), Some(Failure::Denied(refusal)));
    }
    assert_eq!(server.requests().len(), 0);
}

fn credentials(value: &str) -> Credentials {
    let place = BoundPlace {
        scheme: Scheme::Http,
        host: HostPattern::Exactly(Host::Address("127.0.0.1".parse().unwrap())),
        port: None,
        path: "/api".to_owned(),
        methods: Vec::new(),
    };
    let binding = Binding {
        secret: "KEY".to_owned(),
        place,
        header: "X-Key".to_owned(),
        format: "Token {secret}".to_owned(),
    };
    Credentials(vec![Credential::new(binding, Secret::new(value.to_owned())).unwrap()])
}

#[tokio::test]
async fn credentials_go_in_late_and_do_not_come_out() {
    let value = "open-sesame";
    let answer = format!("HTTP/1.1 302 {value}\r\nlocation: /?{value}\r\ncontent-type: {value}\r\n");
    let server = Server::always("127.0.0.1:0", format!("{answer}content-length: 13\r\n\r\n<{value}>"));
    let mut credentials = credentials(value);
    credentials.0[0].binding.place.port = Some(server.port());
    let placeholder = credentials.0[0].placeholder.clone();
    let world = World::new(Choices { credentials, ..Choices::default() });
    let mut action = get(&format!("http://127.0.0.1:{}/api/x", server.port()));
    action.headers = vec![header("x-key", "mine")];
    let response = world.fetch(action).await.unwrap();
    let outside = get(&format!("http://127.0.0.1:{}/apix", server.port()));
    world.fetch(outside).await.unwrap();

    let requests = server.requests();
    assert!(requests[0].contains("\r\nx-key: Token open-sesame\r\n") && !requests[0].contains("mine"));
    assert!(!requests[1].contains("x-key"));
    assert_eq!(String::from_utf8(response.body).unwrap(), format!("<{placeholder}>"));
    assert_eq!(response.content_type, placeholder);
    assert_eq!(response.location, Some(format!("/?{placeholder}")));
}

#[tokio::test]
async fn a_cut_leaves_no_half_of_a_credential() {
    let server = Server::always("127.0.0.1:0", ok("0123456789 open-sesame and more"));
    for limit in 0..40 {
        let credentials = credentials("open-sesame");
        let placeholder = credentials.0[0].placeholder.clone();
        let world = World::new(Choices { credentials, max_body_bytes: limit, ..Choices::default() });
        let action = get(&format!("http://127.0.0.1:{}/", server.port()));
        let response = world.fetch(action).await.unwrap();
        // Whoever gets it cuts.
        assert_eq!(String::from_utf8(response.body).unwrap(), format!("0123456789 {placeholder} and more"));
        assert_eq!((response.truncated, response.limit), (limit < 31, limit));
    }
}

#[tokio::test]
async fn what_is_read_past_a_limit_ends_before_half_a_credential() {
    // Longer than its placeholder, so that covering draws the end of what was read to before the limit.
    let value = "open-sesame-".repeat(500);
    let margin = usize::try_from(BODY_MARGIN).unwrap();
    let (n_values, limit) = (20, 20 * value.len() - margin);
    for n_more in [0, 1, 7, 100, value.len() - 1, value.len(), value.len() + 1] {
        let body = "x".repeat(n_more) + &value.repeat(n_values + 1);
        let server = Server::always("127.0.0.1:0", ok(&body));
        let credentials = credentials(&value);
        let placeholder = credentials.0[0].placeholder.clone();
        let max_body_bytes = u64::try_from(limit).unwrap();
        let world = World::new(Choices { credentials, max_body_bytes, ..Choices::default() });
        let response = world.fetch(get(&format!("http://127.0.0.1:{}/", server.port()))).await.unwrap();
        // Values that touch may become one placeholder; no part of one is left beside.
        let body = String::from_utf8(response.body).unwrap();
        let rest = body.replace(&placeholder, "").replace('x', "");
        assert_eq!((body.contains(&placeholder), rest.as_str()), (true, ""), "{n_more}");
        assert!(response.truncated);
    }
}

#[tokio::test]
async fn no_credential_comes_back_in_pieces() {
    let part = "HTTP/1.1 206 Part\r\ncontent-range: bytes 0-3/11\r\ncontent-length: 4\r\n\r\nopen";
    let server = Server::always("127.0.0.1:0", part);
    let ask = async |credentials: Credentials| {
        let world = World::new(Choices { credentials, ..Choices::default() });
        let mut action = get(&format!("http://127.0.0.1:{}/apart", server.port()));
        action.headers = vec![
            header("Range", "bytes=0-3"),
            header("If-Range", "x"),
            header("accept-encoding", "gzip"),
            header("accept-encoding", "br"),
        ];
        let answer = world.fetch(action).await.map(|response| (response.status, response.body));
        (answer, server.requests().pop().unwrap())
    };
    let (answer, request) = ask(Credentials::default()).await;
    assert_eq!(answer, Ok((206, b"open".to_vec())));
    assert!(request.contains("\r\nrange: bytes=0-3\r\n") && request.contains("\r\nif-range: x\r\n"));
    // Outside the credential's path too: the server may remember it.
    let (answer, request) = ask(credentials("open-sesame")).await;
    let why = "it is a part, though the whole was asked for".to_owned();
    let host = "127.0.0.1".to_owned();
    assert_eq!(answer, Err(Failure::Net(NetError::BadAnswer { host, why })));
    assert!(!request.contains("range"), "{request}");
    let codings: Vec<&str> = request.lines().filter(|line| line.starts_with("accept-encoding")).collect();
    assert_eq!(codings, ["accept-encoding: identity"]);
}

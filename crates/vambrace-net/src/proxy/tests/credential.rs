//! Credentials: put in where they belong, covered on the way back, and nowhere else.

use tokio::io::AsyncWriteExt as _;
use vambrace_policy::url::{Binding, BoundPlace, Host, Scheme};
use vambrace_types::Secret;

use super::harness::*;
use crate::{Credentials, LocalAuthority, Outcome};

const VALUE: &str = "open/sesame";

fn bound(scheme: Scheme, port: u16) -> Credentials {
    let place = BoundPlace {
        scheme,
        host: named("site.test"),
        port: Some(port),
        path: "/api".to_owned(),
        methods: Vec::new(),
    };
    let binding = Binding {
        secret: "SITE_KEY".to_owned(),
        place,
        header: "Authorization".to_owned(),
        format: "Token {secret}".to_owned(),
    };
    // A second place for the same secret: still one placeholder, and one variable.
    let mut second = binding.clone();
    second.place.path = "/second".to_owned();
    let value = || Secret::new(VALUE.to_owned());
    Credentials::new(vec![(binding, value()), (second, value())]).unwrap()
}

/// Says back all it was sent, in the body, in a header and in the status line, and the value in other forms.
fn echo(request: &str) -> String {
    let sent =
        request.split("authorization: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap_or("");
    let body = format!("{request}|{VALUE}|open%2Fsesame|b3Blbi9zZXNhbWU=|open/sesam");
    format!(
        "HTTP/1.1 200 {sent}\r\nX-Sent: {sent}\r\nContent-Length: {}\r\nTransfer-Coding: x\r\n\r\n{body}",
        body.len()
    )
}

#[track_caller]
fn is_covered(answer: &str) {
    assert!(!answer.contains("sesame"), "{answer}");
    assert!(!answer.contains("b3Blbi9zZXNhbWU="), "{answer}");
    assert!(answer.ends_with("|***********|*************|****************|open/sesam"), "{answer}");
}

#[tokio::test]
async fn a_bound_request_carries_the_value_and_its_answer_does_not() {
    let site = Site::new(echo).await;
    let port = site.port;
    let world = World { credentials: bound(Scheme::Http, port), ..World::default() };
    let placeholder = world.credentials.0[0].placeholder.clone();
    let granted = vec![loopback(named("site.test"), port), loopback(named("other.test"), port)];
    let cage = Cage::new(world, granted).await;
    assert_eq!(cage.egress.placeholders(), [("SITE_KEY".to_owned(), placeholder.clone())]);
    assert_eq!(cage.egress.certificate(), None);

    let ask = |method: &str, host: &str, path: &str, header: &str| {
        let line = format!("{method} http://{host}:{port}{path} HTTP/1.1");
        format!("{line}\r\nConnection: close, authorization\r\n{header}\r\n\r\n")
    };
    let own = format!("Authorization: Bearer {placeholder}\r\nAccept-Encoding: gzip\r\nRange: bytes=0-3");
    let answer = cage.ask(ask("GET", "site.test", "/api/x", &own)).await;
    is_covered(&answer);
    assert!(answer.contains("x-sent: *****************\r\n"), "{answer}");
    let seen = site.seen().pop().unwrap();
    assert!(seen.contains("authorization: Token open/sesame\r\n"), "{seen}");
    assert!(seen.contains("accept-encoding: identity\r\n"), "{seen}");
    assert!(!seen.contains("range") && !seen.contains(&placeholder), "{seen}");

    // Another path of the host carries nothing, and is covered all the same.
    is_covered(&cage.ask(ask("GET", "site.test", "/apix", "A: b")).await);
    is_covered(&cage.ask(ask("GET", "site.test", "/api/../x", "A: b")).await);
    is_covered(&cage.ask(ask("POST", "site.test", "/api", "A: b")).await);
    for seen in &site.seen()[1..] {
        assert!(!seen.contains("authorization"), "{seen}");
    }
    let n_seen = site.seen().len();

    let in_path = format!("/?k={placeholder}");
    for (method, host, path, header) in [
        ("GET", "other.test", "/api", own.as_str()),
        ("GET", "site.test", "/apix", &own),
        ("POST", "site.test", "/api", &own),
        ("GET", "other.test", &in_path, "A: b"),
        // Bound there, but to another header.
        ("GET", "site.test", "/api", &format!("X-Key: {placeholder}")),
        ("GET", "site.test", &format!("/api{in_path}"), "A: b"),
    ] {
        let answer = cage.ask(ask(method, host, path, header)).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{method} {host}{path}: {answer}");
        assert!(answer.contains("the placeholder of SITE_KEY goes only where"), "{answer}");
    }
    assert_eq!(site.seen().len(), n_seen);

    let answer = cage.ask(ask("HEAD", "site.test", "/api", "A: b")).await;
    assert!(answer.contains("content-length: ") && answer.ends_with("\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn a_packed_answer_of_a_bound_host_is_not_passed_on() {
    let site = Site::new(|_| "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nabc".to_owned()).await;
    let world = World { credentials: bound(Scheme::Http, site.port), ..World::default() };
    let cage = Cage::new(world, vec![loopback(named("site.test"), site.port)]).await;
    let answer = cage.get(&format!("http://site.test:{}/", site.port)).await;
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
}

#[tokio::test]
async fn with_the_operators_authority_https_is_bound_too() {
    let world_authority = LocalAuthority::new().unwrap();
    let site_host = Host::Name("site.test".to_owned());
    let site = Site::tls(&world_authority, &site_host, echo).await;
    let port = site.port;
    let ours = LocalAuthority::for_hosts([named("site.test")].iter()).unwrap();
    let world = World {
        credentials: bound(Scheme::Https, port),
        authority: Some(ours),
        trusted: Some(world_authority.certificate_pem().to_owned()),
        ..World::default()
    };
    let placeholder = world.credentials.0[0].placeholder.clone();
    let cage = Cage::new(world, vec![loopback(named("site.test"), port)]).await;
    let pem = cage.egress.certificate().unwrap();

    let ask = async |request: String| {
        let stream = cage.tunnel(&format!("site.test:{port}")).await.unwrap();
        let mut stream = dress(stream, "site.test", &pem).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        to_end(&mut stream).await
    };
    let head = format!("Host: site.test:{port}\r\nConnection: close\r\nAuthorization: {placeholder}\r\n\r\n");
    is_covered(&ask(format!("GET /api HTTP/1.1\r\n{head}")).await);
    assert!(site.seen()[0].contains("authorization: Token open/sesame\r\n"), "{:?}", site.seen());
    assert!(ask(format!("GET /other HTTP/1.1\r\n{head}")).await.starts_with("HTTP/1.1 403 "));
    let rows = [
        "GET /api HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(),
        "GET /api HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n".to_owned(),
        format!("GET http://site.test:{port}/api HTTP/1.1\r\n{head}"),
        format!("GET https://site.test:{port}/api HTTP/1.1\r\n{head}"),
        format!("CONNECT site.test:{port} HTTP/1.1\r\n{head}"),
        format!("OPTIONS * HTTP/1.1\r\n{head}"),
    ];
    for row in rows {
        let answer = ask(row.clone()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{row}: {answer}");
    }
    assert_eq!(site.seen().len(), 1);

    // A handshake that no request follows is noted, and one that a request follows is noted as that.
    let left = || {
        let contacts = cage.egress.contacts().into_iter();
        let why = "the program went away".to_owned();
        contacts
            .filter(|one| one.outcome == Outcome::Failed { why: why.clone() })
            .map(|one| one.times)
            .sum::<u64>()
    };
    assert_eq!(left(), 0);
    let stream = cage.tunnel(&format!("site.test:{port}")).await.unwrap();
    let stream = dress(stream, "site.test", &pem).await.unwrap();
    assert_eq!(left(), 1);
    drop(stream);
    assert_eq!(left(), 1);

    // The hello is looked at here too, and the other side of the proxy trusts nobody else.
    let stream = cage.tunnel(&format!("site.test:{port}")).await.unwrap();
    assert!(dress(stream, "other.test", &pem).await.is_err());
    let stream = cage.tunnel(&format!("site.test:{port}")).await.unwrap();
    assert!(dress(stream, "site.test", world_authority.certificate_pem()).await.is_err());
}

#[tokio::test]
async fn the_site_behind_an_opened_tunnel_has_to_be_the_site() {
    let stranger = LocalAuthority::new().unwrap();
    let site = Site::tls(&stranger, &Host::Name("site.test".to_owned()), echo).await;
    let port = site.port;
    let trusted = LocalAuthority::new().unwrap();
    let world = World {
        credentials: bound(Scheme::Https, port),
        authority: Some(LocalAuthority::new().unwrap()),
        trusted: Some(trusted.certificate_pem().to_owned()),
        ..World::default()
    };
    let cage = Cage::new(world, vec![loopback(named("site.test"), port)]).await;
    let stream = cage.tunnel(&format!("site.test:{port}")).await.unwrap();
    let mut stream = dress(stream, "site.test", &cage.egress.certificate().unwrap()).await.unwrap();
    let request = format!("GET /api HTTP/1.1\r\nHost: site.test:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = to_end(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert!(site.seen().is_empty());
    let contacts = cage.egress.contacts();
    assert!(matches!(contacts[0].outcome, Outcome::Failed { .. }), "{contacts:?}");
}

#[tokio::test]
async fn without_the_operators_authority_a_tunnel_stays_shut_for_us() {
    let world_authority = LocalAuthority::new().unwrap();
    let site = Site::tls(&world_authority, &Host::Name("site.test".to_owned()), |_| ok("theirs")).await;
    let port = site.port;
    let world = World { credentials: bound(Scheme::Https, port), ..World::default() };
    let cage = Cage::new(world, vec![loopback(named("site.test"), port)]).await;
    let stream = cage.tunnel(&format!("site.test:{port}")).await.unwrap();
    let mut stream = dress(stream, "site.test", world_authority.certificate_pem()).await.unwrap();
    stream.write_all(b"GET /api HTTP/1.1\r\nHost: site.test\r\n\r\n").await.unwrap();
    assert_eq!(to_end(&mut stream).await, ok("theirs"));
    assert!(!site.seen()[0].contains("sesame"));
}

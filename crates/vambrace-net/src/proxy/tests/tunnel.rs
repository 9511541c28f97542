//! Tunnels that end at the host.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use vambrace_policy::url::{Host, HostPattern, UrlRefusal};

use super::super::hello;
use super::harness::*;
use crate::{LocalAuthority, Outcome};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: site.test\r\n\r\n";

#[tokio::test]
async fn a_listed_host_is_reached_through_a_tunnel() {
    let authority = LocalAuthority::new().unwrap();
    for (host, name) in
        [(Host::Name("site.test".to_owned()), "site.test"), (Host::Address(LOOPBACK.into()), "127.0.0.1")]
    {
        let site = Site::tls(&authority, &host, |_| ok("inside")).await;
        let port = site.port;
        let cage = Cage::new(World::default(), vec![loopback(HostPattern::Exactly(host), port)]).await;
        let stream = cage.tunnel(&format!("{name}:{port}")).await.unwrap();
        let mut stream = dress(stream, name, authority.certificate_pem()).await.unwrap();
        stream.write_all(GET).await.unwrap();
        assert_eq!(to_end(&mut stream).await, ok("inside"));
        let contacts = cage.egress.contacts();
        assert_eq!(contacts.len(), 1);
        assert_eq!(contacts[0].outcome, Outcome::Reached { address: format!("127.0.0.1:{port}") });
        assert!(
            contacts[0].bytes_sent > GET.len() as u64 && contacts[0].bytes_received > 100,
            "{contacts:?}"
        );
    }
}

#[tokio::test]
async fn a_tunnel_is_refused_before_anything_is_dialled() {
    let trap = Trap::new();
    let port = trap.port();
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), port)]).await;
    let rows = [
        (format!("other.test:{port}"), "403"),
        (format!("127.0.0.1:{port}"), "403"),
        (format!("127.1:{port}"), "403"),
        (format!("[::1]:{port}"), "403"),
        (format!("[::ffff:7f00:1]:{port}"), "403"),
        (format!("localhost:{port}"), "403"),
        ("site.test:443".to_owned(), "403"),
        (format!("u@site.test:{port}"), "400"),
        (format!("u:p@site.test:{port}"), "400"),
        (format!("http://site.test:{port}"), "400"),
        (format!("site.test:{port}/path"), "400"),
        ("site.test".to_owned(), "400"),
        ("site.test:".to_owned(), "400"),
        ("site.test:0".to_owned(), "400"),
        ("site.test:70000".to_owned(), "400"),
        ("/".to_owned(), "400"),
    ];
    for (to, status) in rows {
        let said = cage.tunnel(&to).await.map(|_| ()).unwrap_err();
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{to}: {said}");
        trap.is_untouched(&to);
    }
    let heads = ["Content-Length: 5", "Transfer-Encoding: chunked", "Host: site.test\r\nHost: site.test"];
    for head in heads {
        let said = cage.ask(format!("CONNECT site.test:{port} HTTP/1.1\r\n{head}\r\n\r\nhello")).await;
        assert!(said.starts_with("HTTP/1.1 400 "), "{head}: {said}");
        trap.is_untouched(head);
    }
}

#[tokio::test]
async fn nothing_but_a_hello_for_the_host_goes_through() {
    let trap = Trap::new();
    let port = trap.port();
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), port)]).await;
    let good = hello_for("site.test").await;
    let mut broken = good.clone();
    broken[5] ^= 0xff;
    let mut cut = good.clone();
    cut.truncate(good.len() - 1);
    let mut endless = vec![22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff];
    endless.resize(64 << 10, 0);
    let rows: Vec<(&str, Vec<u8>)> = vec![
        ("plain http", GET.to_vec()),
        ("ssh", b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
        ("nothing", Vec::new()),
        ("zeros", vec![0; 100]),
        ("other name", hello_for("other.test").await),
        ("beneath", hello_for("a.site.test").await),
        ("no name", hello_for("127.0.0.1").await),
        ("broken", broken),
        ("cut", cut),
        ("endless", endless),
        ("alert first", [vec![21, 3, 1, 0, 2, 1, 0], good.clone()].concat()),
    ];
    for (what, bytes) in rows {
        let mut stream = cage.tunnel(&format!("site.test:{port}")).await.unwrap();
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        assert_eq!(to_end(&mut stream).await, "", "{what} was answered");
        trap.is_untouched(what);
    }
    let contacts = cage.egress.contacts();
    let [contact] = contacts.as_slice() else { panic!("{contacts:?}") };
    assert_eq!(contact.times, 11);
    assert!(
        matches!(&contact.outcome, Outcome::Refused(UrlRefusal::Mismatch { host, .. }) if host == "site.test")
    );
    let listener = trap.opened();

    // One byte at a time, and then both ways, with one way closed before the other.
    let mut stream = cage.tunnel(&format!("SITE.test.:{port}")).await.unwrap();
    for byte in &good {
        stream.write_all(&[*byte]).await.unwrap();
    }
    stream.write_all(b"more").await.unwrap();
    stream.shutdown().await.unwrap();
    let (mut host, _) = within(listener.accept()).await.unwrap();
    let mut arrived = Vec::new();
    within(host.read_to_end(&mut arrived)).await.unwrap();
    assert_eq!(arrived, [good.as_slice(), b"more"].concat());
    host.write_all(b"still here").await.unwrap();
    drop(host);
    assert_eq!(to_end(&mut stream).await, "still here");
}

#[tokio::test]
async fn a_tunnel_to_a_host_that_is_not_there_ends_after_the_hello() {
    let closed = Trap::new().port();
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), closed)]).await;
    let mut stream = cage.tunnel(&format!("site.test:{closed}")).await.unwrap();
    stream.write_all(&hello_for("site.test").await).await.unwrap();
    assert_eq!(to_end(&mut stream).await, "");
    let contacts = cage.egress.contacts();
    let [contact] = contacts.as_slice() else { panic!("{contacts:?}") };
    let Outcome::Failed { why } = &contact.outcome else { panic!("{contact:?}") };
    assert!(why.contains("refused"), "{why}");
}

#[tokio::test]
async fn the_addresses_of_a_tunnel_are_judged_before_the_yes() {
    let trap = Trap::new();
    let port = trap.port();
    let private = Ipv4Addr::new(10, 0, 0, 1);
    let world = World { names: names(&[("both.test", &[&[LOOPBACK, private]])]), ..World::default() };
    let granted = ["both.test", "absent.test"].map(|name| loopback(named(name), port)).to_vec();
    let cage = Cage::new(world, granted).await;
    for (host, status) in [("both.test", "403"), ("absent.test", "502")] {
        let said = cage.tunnel(&format!("{host}:{port}")).await.map(|_| ()).unwrap_err();
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {said}");
    }
    let contacts = cage.egress.contacts();
    let [absent, both] = contacts.as_slice() else { panic!("{contacts:?}") };
    assert!(matches!(absent.outcome, Outcome::Failed { .. }), "{absent:?}");
    assert!(matches!(both.outcome, Outcome::Refused(UrlRefusal::Address { .. })), "{both:?}");
    trap.is_untouched("both.test");
}

#[tokio::test]
async fn a_tunnel_may_be_used_before_the_yes() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let cage = Cage::new(World::default(), vec![loopback(named("site.test"), port)]).await;
    let good = hello_for("site.test").await;
    // The version is one that older programs use, and the host is the proxy, as others have it.
    let mut stream = cage.connect().await;
    let early =
        [format!("CONNECT site.test:{port} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes(), &good].concat();
    stream.write_all(&early).await.unwrap();
    let (mut host, _) = within(listener.accept()).await.unwrap();
    let mut arrived = vec![0; good.len()];
    within(host.read_exact(&mut arrived)).await.unwrap();
    assert_eq!(arrived, good);
}

#[tokio::test]
async fn all_ends_when_serving_ends() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut cage = Cage::new(World::default(), vec![loopback(named("site.test"), port)]).await;
    let mut idle = cage.connect().await;
    let mut tunnel = cage.tunnel(&format!("site.test:{port}")).await.unwrap();
    tunnel.write_all(&hello_for("site.test").await).await.unwrap();
    let (mut tunnelled, _) = within(listener.accept()).await.unwrap();
    tunnelled.read_u8().await.unwrap();
    let mut waiting = cage.connect().await;
    waiting.write_all(format!("GET http://site.test:{port}/ HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let (mut asked, _) = within(listener.accept()).await.unwrap();
    asked.read_u8().await.unwrap();

    cage.serving = None;
    for stream in [&mut idle, &mut tunnel, &mut tunnelled, &mut waiting, &mut asked] {
        let mut rest = Vec::new();
        // An end or a reset: either way nobody is there.
        let _ = within(stream.read_to_end(&mut rest)).await;
    }
    assert!(tokio::net::TcpStream::connect(cage.address).await.is_err());
}

/// The naive way: one record, one hello, fields in order.
fn oracle(hello: &[u8]) -> Option<Vec<u8>> {
    let number = |at: usize| Some(usize::from(u16::from_be_bytes([*hello.get(at)?, *hello.get(at + 1)?])));
    let mut at = 5 + 4 + 2 + 32;
    at += 1 + usize::from(*hello.get(at)?);
    at += 2 + number(at)?;
    at += 1 + usize::from(*hello.get(at)?);
    at += 2;
    loop {
        let (kind, length) = (number(at)?, number(at + 2)?);
        if kind == 0 {
            return hello.get(at + 9..at + 4 + length).map(<[u8]>::to_vec);
        }
        at += 4 + length;
    }
}

#[test]
fn a_damaged_hello_passes_only_with_the_name_in_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let good = runtime.block_on(hello_for("site.test"));
    let host = Host::Name("site.test".to_owned());
    assert_eq!(oracle(&good).as_deref(), Some(&b"site.test"[..]));
    let damage = prop::collection::vec((0..good.len(), any::<u8>()), 1..4);
    proptest!(|(damage in damage)| {
        let mut bytes = good.clone();
        for (at, byte) in damage {
            bytes[at] = byte;
        }
        let passed = runtime.block_on(hello::read(&mut tokio::io::empty(), &bytes, &host));
        if passed.is_ok() {
            prop_assert!(oracle(&bytes).is_some_and(|named| named.eq_ignore_ascii_case(b"site.test")));
        }
    });
}

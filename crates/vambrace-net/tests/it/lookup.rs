//! Names: what is asked, what is believed, and where nobody goes.

use std::net::IpAddr;
use std::time::Duration;

use vambrace_net::{Missing, NetError};
use vambrace_policy::url::UrlRefusal;

use crate::dns::{Dns, Family, Over, Record, Said, given};
use crate::server::{Server, ok};
use crate::world::{Choices, Failure, World, get};

fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn no_address<T>(host: &str, why: Missing) -> Result<T, NetError> {
    Err(NetError::NoAddress { host: host.to_owned(), why })
}

/// For answers that come.
const LONG: Duration = Duration::from_secs(20);
/// For answers that never come, where another one comes.
const SHORT: Duration = Duration::from_secs(2);
/// Where none comes.
const SHORTEST: Duration = Duration::from_secs(1);

/// What one name resolves to.
async fn resolve(dns: &Dns) -> Result<Vec<IpAddr>, NetError> {
    resolve_within(dns, LONG).await
}

async fn resolve_within(dns: &Dns, timeout: Duration) -> Result<Vec<IpAddr>, NetError> {
    let world = World::new(Choices { dns: Some(dns.at), timeout, ..Choices::default() });
    world.addresses("site.test").await
}

#[tokio::test]
async fn both_families_are_asked_for_as_the_name_stands() {
    let dns = Dns::fixed(&["127.0.0.2", "127.0.0.1", "127.0.0.2", "::1"]);
    assert_eq!(resolve(&dns).await, Ok(ips(&["127.0.0.2", "127.0.0.1", "::1"])));
    assert_eq!((dns.n_asked(Family::Four), dns.n_asked(Family::Six)), (1, 1));
    assert!(dns.asked().iter().all(|asked| asked.name == "site.test"));
}

#[tokio::test]
async fn one_family_is_enough() {
    let check = async |timeout: Duration, other: fn() -> Said| {
        let dns = Dns::new(move |asked| match asked.family {
            Family::Four => given(asked, 60, &ips(&["127.0.0.1"])),
            Family::Six => other(),
        });
        assert_eq!(resolve_within(&dns, timeout).await, Ok(ips(&["127.0.0.1"])));
    };
    check(LONG, || Said::Code(2)).await;
    check(LONG, || Said::Code(3)).await;
    check(SHORT, || Said::Nothing).await;
    check(SHORT, || Said::Raw(vec![0xff; 40])).await;
    check(LONG, || Said::Records { ttl: 60, records: Vec::new() }).await;
}

#[tokio::test]
async fn what_is_no_answer_is_no_address() {
    let check = async |why: Missing, say: fn() -> Said| {
        let dns = Dns::new(move |_| say());
        let timeout = if why == Missing::Nowhere { LONG } else { SHORTEST };
        assert_eq!(resolve_within(&dns, timeout).await, no_address("site.test", why));
        assert!(!dns.asked().is_empty());
    };
    check(Missing::Nowhere, || Said::Code(3)).await;
    check(Missing::Nowhere, || Said::Records { ttl: 60, records: Vec::new() }).await;
    check(Missing::Unanswered, || Said::Code(2)).await;
    check(Missing::Unanswered, || Said::Code(5)).await;
    check(Missing::Unanswered, || Said::Nothing).await;
    // Cut over TCP too.
    check(Missing::Unanswered, || Said::Cut).await;
    check(Missing::Unanswered, || Said::Raw(Vec::new())).await;
    check(Missing::Unanswered, || Said::Raw(vec![0x81, 0x80])).await;
    check(Missing::Unanswered, || {
        Said::Raw(vec![0x81, 0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
    })
    .await;
    // A name that points at itself.
    check(Missing::Unanswered, || Said::Raw(vec![0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1]))
        .await;
    check(Missing::Unanswered, || {
        Said::Raw([vec![0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0], vec![63; 500]].concat())
    })
    .await;
    check(Missing::Unanswered, || Said::Raw(vec![0; 1400])).await;
    // The address of somebody else.
    check(Missing::Nowhere, || Said::Records {
        ttl: 60,
        records: vec![Record::Address("other.test".to_owned(), "127.0.0.1".parse().unwrap())],
    })
    .await;
    // Round and round.
    check(Missing::Nowhere, || Said::Records {
        ttl: 60,
        records: vec![Record::Alias("site.test".to_owned(), "site.test".to_owned())],
    })
    .await;
}

#[tokio::test]
async fn names_that_cannot_be_asked_for() {
    let dns = Dns::fixed(&["127.0.0.1"]);
    let world = World::asking(dns.at);
    let long = format!("{}.test", "a".repeat(64));
    let longer = vec!["a".repeat(60); 5].join(".");
    for name in [long.as_str(), longer.as_str(), "a..test", ""] {
        assert_eq!(world.addresses(name).await, no_address(name, Missing::Nowhere), "{name}");
    }
    assert_eq!(dns.asked().len(), 0);
}

#[tokio::test]
async fn a_cut_answer_is_had_over_tcp_from_the_same_server() {
    let many: Vec<IpAddr> = (1..=64).map(|n| IpAddr::from([127, 0, 1, n])).collect();
    let all = many.clone();
    let dns = Dns::new(move |asked| match asked.over {
        Over::Udp => Said::Cut,
        Over::Tcp => given(asked, 60, &many),
    });
    assert_eq!(resolve(&dns).await, Ok(all));
}

#[tokio::test]
async fn more_addresses_than_are_looked_at_are_none() {
    let many: Vec<IpAddr> = (1..=65).map(|n| IpAddr::from([127, 0, 1, n])).collect();
    let dns = Dns::new(move |asked| match asked.over {
        Over::Udp => Said::Cut,
        Over::Tcp => given(asked, 60, &many),
    });
    assert!(matches!(resolve(&dns).await, Err(NetError::BadAnswer { .. })));
}

#[tokio::test]
async fn an_answer_lasts_as_long_as_it_says() {
    for (ttl, expected) in [(60, 1), (0, 3)] {
        let dns = Dns::new(move |asked| given(asked, ttl, &ips(&["127.0.0.1", "::1"])));
        let world = World::asking(dns.at);
        for _ in 0..3 {
            world.addresses("site.test").await.unwrap();
        }
        assert_eq!(dns.n_asked(Family::Four), expected, "{ttl}");
    }
}

#[tokio::test]
async fn many_at_once_all_get_their_answer() {
    let dns = Dns::fixed(&["127.0.0.1", "::1"]);
    let world = std::sync::Arc::new(World::asking(dns.at));
    let asked: Vec<_> = (0..200)
        .map(|n| {
            let world = world.clone();
            tokio::spawn(async move { world.addresses(&format!("n{n}.site.test")).await })
        })
        .collect();
    for one in asked {
        assert_eq!(one.await.unwrap(), Ok(ips(&["127.0.0.1", "::1"])));
    }
}

/// A place that nobody may reach, on the port of the site.
fn site_and_trap() -> (Server, Server) {
    let site = Server::always("127.0.0.1:0", ok("page"));
    let trap = Server::always(&format!("127.0.0.9:{}", site.port()), ok("trap"));
    (site, trap)
}

/// One of its addresses is not where the name may lead.
fn leads_away(refusal: &UrlRefusal) -> bool {
    matches!(refusal, UrlRefusal::Outside { .. } | UrlRefusal::Address { .. })
}

#[tokio::test]
async fn a_name_that_flips_is_asked_once() {
    let (site, trap) = site_and_trap();
    let dns = Dns::new(|asked| match (asked.family, asked.nth) {
        (Family::Four, 0) => given(asked, 0, &ips(&["127.0.0.1"])),
        (Family::Four, _) => given(asked, 0, &ips(&["127.0.0.9"])),
        (Family::Six, _) => Said::Code(3),
    });
    let world = World::asking(dns.at);
    let url = format!("http://site.test:{}/", site.port());
    assert_eq!(world.fetch(get(&url)).await.unwrap().body, b"page");
    assert_eq!(dns.n_asked(Family::Four), 1);
    // The second time it has flipped, and the request ends at the decision, kept connection or not.
    let denied = world.fetch(get(&url)).await.err();
    assert!(matches!(&denied, Some(Failure::Denied(refusal)) if leads_away(refusal)), "{denied:?}");
    assert_eq!((site.n_connections(), trap.n_connections()), (1, 0));
}

#[tokio::test]
async fn one_refused_address_of_many_refuses_the_name() {
    type Say = fn(&crate::dns::Asked) -> Said;
    let ten: Say = |asked| {
        let mut addresses = ips(&["127.0.0.1"; 9]);
        for (n, address) in (1..).zip(&mut addresses) {
            *address = IpAddr::from([127, 0, 0, n % 7 + 1]);
        }
        addresses.insert(4, IpAddr::from([127, 0, 0, 9]));
        given(asked, 0, &addresses)
    };
    let six: Say = |asked| given(asked, 0, &ips(&["127.0.0.1", "::1"]));
    let mapped: Say = |asked| given(asked, 0, &ips(&["127.0.0.1", "::ffff:127.0.0.9"]));
    let alias: Say = |asked| match asked.family {
        Family::Four => Said::Records {
            ttl: 0,
            records: vec![
                Record::Alias("site.test".to_owned(), "inside.test".to_owned()),
                Record::Address("inside.test".to_owned(), "127.0.0.9".parse().unwrap()),
            ],
        },
        Family::Six => Said::Code(3),
    };
    let followed: Say = |asked| match (asked.family, asked.name.as_str()) {
        (Family::Four, "site.test") => Said::Records {
            ttl: 0,
            records: vec![Record::Alias("site.test".to_owned(), "inside.test".to_owned())],
        },
        (Family::Four, _) => given(asked, 0, &ips(&["127.0.0.9"])),
        (Family::Six, _) => Said::Code(3),
    };
    for say in [ten, six, mapped, alias, followed] {
        let (site, trap) = site_and_trap();
        let dns = Dns::new(say);
        let world = World::asking(dns.at);
        let url = format!("http://site.test:{}/", site.port());
        let denied = world.fetch(get(&url)).await.err();
        assert!(matches!(&denied, Some(Failure::Denied(refusal)) if leads_away(refusal)), "{denied:?}");
        // And where the decision was made before anybody asked.
        let refused = world.send(get(&url)).await.err();
        let is_refused =
            matches!(&refused, Some(Failure::Net(NetError::Refused(refusal))) if leads_away(refusal));
        assert!(is_refused, "{refused:?}");
        assert_eq!((site.n_connections(), trap.n_connections()), (0, 0));
    }
}

#[tokio::test]
async fn addresses_are_tried_in_turn() {
    // Bound, and not listened at: nobody else gets this port of the other addresses, and who connects is refused.
    let taken = |port: u16| {
        ["127.0.0.1", "127.0.0.2"].map(|address| {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind(format!("{address}:{port}").parse().unwrap()).map(|()| socket)
        })
    };
    let (site, _taken) = loop {
        let site = Server::always("127.0.0.3:0", ok("third"));
        if let [Ok(first), Ok(second)] = taken(site.port()) {
            break (site, [first, second]);
        }
    };
    let dns = Dns::fixed(&["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]);
    let world = World::asking(dns.at);
    let url = format!("http://site.test:{}/", site.port());
    assert_eq!(world.fetch(get(&url)).await.unwrap().body, b"third");

    let dns = Dns::fixed(&["127.0.0.1", "127.0.0.2"]);
    let world = World::asking(dns.at);
    let failed = world.fetch(get(&url)).await.err();
    let why = "the connection was refused".to_owned();
    assert_eq!(failed, Some(Failure::Net(NetError::Unreachable { host: "site.test".to_owned(), why })));
}

#[tokio::test]
async fn a_decision_that_was_left_open_looks_up_itself() {
    let site = Server::always("127.0.0.1:0", ok("page"));
    let dns = Dns::fixed(&["127.0.0.1"]);
    let world = World::asking(dns.at);
    let url = format!("http://site.test:{}/", site.port());
    assert_eq!(world.send(get(&url)).await.unwrap().body, b"page");

    let dns = Dns::new(|_| Said::Code(3));
    let world = World::asking(dns.at);
    let failed = world.send(get(&url)).await.err();
    assert_eq!(
        failed,
        Some(Failure::Net(NetError::NoAddress { host: "site.test".to_owned(), why: Missing::Nowhere }))
    );
}

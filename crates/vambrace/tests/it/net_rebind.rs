//! Names whose answers change, disagree or fail: one look-up is used, all of it is judged, and nothing else is dialled.

use serde_json::{Value, json};

use crate::net_world::dns::{Says, addresses, fleeting, parsed};
use crate::net_world::http::page;
use crate::net_world::{NetWorld, PUBLIC, PUBLIC_V6};

fn world() -> NetWorld {
    NetWorld::new(|_| page("text/plain", "hello"))
}

/// A world in which `flips.test` may be 127.0.0.1 and nothing else.
fn listing(cidr: &str) -> NetWorld {
    world().set(json!({"tools": {"url_policy": {"allowed_domains": [{"host": "flips.test", "cidr": cidr}]}}}))
}

/// The first answer is the site, every later one the trap's other address; both are looked up with a life of nothing.
#[test]
fn the_answer_that_was_judged_is_the_one_that_is_dialled() {
    for says in [addresses, fleeting] {
        let world = listing("127.0.0.1/32");
        world.dns.in_turn("flips.test", vec![says(&["127.0.0.1"]), says(&["127.0.0.2"]), says(&["::1"])]);
        let ran = world.fetch(&format!("http://flips.test:{}/", world.site.port()));
        assert_eq!((ran.code, &ran.json()["data"]["body"]), (0, &json!("hello")), "{ran:?}");
        assert_eq!(world.dns.lookups("flips.test"), 1, "one look-up");
        assert_eq!(world.site.requests().len(), 1);
        world.trap.untouched("a flip");
    }
}

/// The same the other way: what is judged is not listed, what would be dialled later is.
#[test]
fn a_refused_answer_stays_refused_whatever_comes_next() {
    let world = listing("127.0.0.1/32");
    world.dns.in_turn("flips.test", vec![fleeting(&["127.0.0.2"]), fleeting(&["127.0.0.1"])]);
    let ran = world.fetch(&format!("http://flips.test:{}/", world.site.port()));
    assert_eq!((ran.code, ran.error_code().as_str()), (3, "PrivateAddress"), "{ran:?}");
    assert_eq!(world.dns.lookups("flips.test"), 1);
    assert_eq!(world.site.requests().len(), 0);
}

/// Public at first, the trap after: whoever looks twice is caught. Nothing is connected to, since a check never does.
#[test]
fn each_check_looks_once() {
    let world = world();
    world.dns.in_turn("flips.test", vec![fleeting(&[PUBLIC]), fleeting(&["127.0.0.1"])]);
    let url = format!("http://flips.test:{}/", world.trap.port());
    assert_eq!(world.run(&["check", "url", &url]).code, 0);
    assert_eq!(world.dns.lookups("flips.test"), 1);
    assert_eq!(world.run(&["check", "url", &url]).code, 3);
    // The second answer stays, so no call dials what it no longer says.
    assert_eq!(world.fetch(&url).code, 3);
    world.trap.untouched("a name that was public once");
}

/// All have to pass. Decided only: a public address is never dialled by a test.
#[track_caller]
fn mixed(says: &Says, code: &str) {
    let world = world();
    aliases(&world, says);
    let url = format!("http://mixed.test:{}/", world.trap.port());
    let decided = world.run(&["check", "url", &url]);
    assert_eq!((decided.code, &decided.json()["code"]), (3, &json!(code)), "{says:?}: {decided:?}");
    world.trap.untouched("a mixed answer");
}

fn aliases(world: &NetWorld, says: &Says) {
    world.dns.name("mixed.test", says.clone()).name("end.test", addresses(&["127.0.0.1"]));
    world.dns.name("middle.test", Says::Alias("end.test".to_owned()));
    world.dns.name("loop.test", Says::Alias("mixed.test".to_owned()));
}

#[test]
fn one_private_answer_spoils_all() {
    let ten =
        ["127.0.0.1", "1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4", "1.1.1.5", "1.1.1.6", "1.1.1.7", "1.1.1.8"];
    mixed(&addresses(&[PUBLIC, "::1"]), "PrivateAddress");
    mixed(&addresses(&[PUBLIC_V6, "127.0.0.1"]), "PrivateAddress");
    mixed(&addresses(&[PUBLIC, "::ffff:127.0.0.1"]), "PrivateAddress");
    mixed(&addresses(&[PUBLIC, "169.254.169.254"]), "MetadataAddress");
    mixed(&addresses(&ten), "PrivateAddress");
    let mut last = ten;
    last.reverse();
    mixed(&addresses(&last), "PrivateAddress");
    mixed(&fleeting(&ten), "PrivateAddress");
    mixed(&Says::OverTcp(parsed(&last)), "PrivateAddress");
    mixed(&Says::Alias("end.test".to_owned()), "PrivateAddress");
    mixed(&Says::Alias("middle.test".to_owned()), "PrivateAddress");
}

/// With calls, where 127.0.0.1 stands for what may be dialled and everything else of loopback for what may not.
#[test]
fn one_answer_that_is_not_listed_spoils_all() {
    let tenth: Vec<String> = (1..=10).map(|n| format!("127.0.0.{}", if n == 7 { 9 } else { 1 })).collect();
    let tenth: Vec<&str> = tenth.iter().map(String::as_str).collect();
    let rows = [
        addresses(&["127.0.0.1", "::1"]),
        addresses(&["127.0.0.1", "127.0.0.2"]),
        addresses(&["127.0.0.2", "127.0.0.1"]),
        addresses(&["127.0.0.1", "::ffff:127.0.0.2"]),
        fleeting(&["127.0.0.1", "::1"]),
        addresses(&tenth),
        Says::OverTcp(parsed(&["127.0.0.1", "::1"])),
        Says::Alias("trap6.test".to_owned()),
    ];
    for says in rows {
        let entry = json!({"host": "mixed.test", "cidr": "127.0.0.1/32"});
        let world = world().set(json!({"tools": {"url_policy": {"allowed_domains": [entry]}}}));
        aliases(&world, &says);
        for port in [world.trap.port(), world.site.port()] {
            for tool in ["web_fetch", "fetch_url"] {
                let ran = world.call(tool, &json!({"url": format!("http://mixed.test:{port}/")}));
                let found = (ran.code, ran.error_code());
                assert_eq!(found, (3, "PrivateAddress".to_owned()), "{says:?}: {ran:?}");
            }
        }
        assert_eq!(world.site.requests().len(), 0, "{says:?}");
        world.trap.untouched("a mixed answer");
    }
}

#[test]
fn a_name_without_an_address_is_refused() {
    for says in
        [Says::NoSuchName, Says::Failure, Says::Garbage, addresses(&[]), Says::Alias("loop.test".to_owned())]
    {
        mixed(&says, "DnsFailed");
    }
}

/// A server that says nothing: the look-up has its own limit, far below that of a test.
#[test]
fn silence_is_no_address() {
    mixed(&Says::Nothing, "DnsFailed");
    let world = world();
    world.dns.name("silent.test", Says::Nothing);
    let ran = world.fetch("http://silent.test/");
    assert_eq!((ran.code, ran.error_code().as_str()), (3, "DnsFailed"), "{ran:?}");
}

#[test]
fn deferring_leaves_the_failure_to_the_request() {
    let deferring = json!({"tools": {"url_policy": {"on_dns_failure": "defer"}}});
    let world = world().set(deferring.clone());
    assert_eq!(world.run(&["check", "url", "http://nobody.test/"]).code, 0);
    let ran = world.fetch("http://nobody.test/");
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.text().contains("DNS resolution failed"), "{ran:?}");
    // An answer that comes later is judged all the same.
    world.dns.in_turn("late.test", vec![Says::Failure, fleeting(&["127.0.0.1"])]);
    let ran = world.fetch(&format!("http://late.test:{}/", world.trap.port()));
    assert_ne!(ran.code, 0, "{ran:?}");
    world.trap.untouched("a late answer");
}

#[track_caller]
fn decided(settings: &Value, rows: &[(&str, &str)]) {
    let world = world();
    world.dns.name("inner.test", addresses(&["10.0.0.1"])).name("own.test", addresses(&["127.0.0.1"]));
    world.dns.name("meta.test", addresses(&["169.254.169.254"])).name("public.test", addresses(&[PUBLIC]));
    let world = world.only(settings.clone());
    let urls: Vec<&str> = rows.iter().map(|(url, _)| *url).collect();
    for ((url, expected), answer) in rows.iter().zip(world.decisions(&urls)) {
        assert_eq!(answer["decision"], *expected, "{settings} {url}: {answer}");
    }
}

#[test]
fn what_an_operator_can_open_and_what_not() {
    let policy = |policy: Value| json!({"tools": {"url_policy": policy}});
    decided(
        &policy(json!({"allow_private": true})),
        &[
            ("http://10.0.0.1/", "allow"),
            ("http://inner.test/", "allow"),
            ("http://127.0.0.1/", "allow"),
            ("http://169.254.169.254/", "deny"),
            ("http://meta.test/", "deny"),
            ("http://metadata.google.internal/", "deny"),
        ],
    );
    decided(
        &policy(json!({"allowed_domains": ["inner.test", "own.test", "meta.test", "*.public.test"]})),
        &[
            ("http://inner.test/", "allow"),
            ("http://own.test/", "deny"),
            ("http://meta.test/", "deny"),
            ("http://10.0.0.1/", "deny"),
            ("file://inner.test/etc/passwd", "deny"),
        ],
    );
    decided(
        &policy(json!({"allowed_domains": [
            {"host": "own.test", "cidr": "127.0.0.0/8", "port": 8080},
            {"host": "meta.test", "cidr": "169.254.0.0/16"},
            {"host": "inner.test", "cidr": "10.0.0.2/32"},
        ]})),
        &[
            ("http://own.test:8080/", "allow"),
            ("http://own.test/", "deny"),
            ("http://meta.test/", "deny"),
            ("http://inner.test/", "deny"),
        ],
    );
    let metadata = json!({"host": "meta.test", "cidr": "169.254.169.254/32", "allow_metadata": true});
    decided(&policy(json!({"allowed_domains": [metadata]})), &[("http://meta.test/", "allow")]);
    decided(
        &policy(json!({"allowed_domains": ["own.test", "meta.test"], "allowed_domains_bypass_all": true})),
        &[("http://own.test/", "allow"), ("http://meta.test/", "allow"), ("http://inner.test/", "deny")],
    );
    decided(
        &policy(json!({"blocked_domains": ["public.test"]})),
        &[("http://public.test/", "deny"), ("http://PUBLIC.test./", "deny")],
    );
    decided(
        &policy(json!({"enabled": false})),
        &[("http://127.0.0.1/", "allow"), ("file:///etc/passwd", "deny")],
    );
}

#[test]
fn both_ways_to_write_a_key() {
    decided(
        &json!({"tools": {"urlPolicy": {"allowPrivate": true}}}),
        &[("http://10.0.0.1/", "allow"), ("http://169.254.169.254/", "deny")],
    );
    decided(
        &json!({"tools": {"urlPolicy": {"blockedDomains": ["public.test"]}}}),
        &[("http://public.test/", "deny")],
    );
    let listed =
        json!({"tools": {"urlPolicy": {"allowedDomains": [{"host": "own.test", "cidr": "127.0.0.1/32"}]}}});
    decided(&listed, &[("http://own.test/", "allow"), ("http://127.0.0.1/", "deny")]);
}

/// The system's proxy would see every address and resolve every name itself.
#[test]
fn proxies_of_the_system_are_not_used() {
    let world = crate::support::World::new();
    let trap = crate::net_world::trap::Trap::set();
    let proxy = format!("http://127.0.0.1:{}", trap.port());
    let mut world = world;
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        world = world.with_env(name, &proxy);
    }
    let world = NetWorld::with(world, |_| page("text/plain", "hello"));
    let ran = world.fetch(&world.url("/"));
    assert_eq!(ran.code, 0, "{ran:?}");
    trap.untouched("a proxy variable");
}

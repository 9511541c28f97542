//! Answers that send the request elsewhere: each hop is judged like a request of its own.

use serde_json::{Value, json};

use crate::net_world::NetWorld;
use crate::net_world::dns::addresses;
use crate::net_world::http::{Reply, Request, page, redirect};
use crate::support::Ran;

/// `/to/STATUS/LOCATION` redirects, `/hops/N` does so N times more, and everything else is a page.
fn script(request: &Request) -> Reply {
    if let Some(port) = request.target.strip_prefix("/twice/") {
        let head =
            format!("HTTP/1.1 302 Found\r\nLocation: /end\r\nLocation: http://127.0.0.1:{port}/\r\n\r\n");
        return Reply::Raw(head.into_bytes());
    }
    if request.target == "/garbage" {
        return Reply::Raw(b"HTTP/1.1 302 Found\r\nLocation: http://\xff\xfe\x80/\r\n\r\n".to_vec());
    }
    let mut parts = request.target.trim_start_matches('/').splitn(3, '/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("to"), Some(status), Some(location)) => redirect(status.parse().unwrap(), &decoded(location)),
        (Some("hops"), Some("0"), None) => page("text/plain", "arrived"),
        (Some("hops"), Some(n), None) => redirect(302, &format!("/hops/{}", n.parse::<u64>().unwrap() - 1)),
        _ => page("text/plain", "arrived"),
    }
}

fn world() -> NetWorld {
    NetWorld::new(script)
}

/// A location as hexadecimal digits, so that any byte can be one.
fn encoded(location: &str) -> String {
    location.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn decoded(digits: &str) -> String {
    let bytes = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    String::from_utf8(bytes.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()).unwrap()
}

fn to(world: &NetWorld, status: u16, location: &str) -> String {
    world.url(&format!("/to/{status}/{}", encoded(location)))
}

const FOLLOWED: [u16; 5] = [301, 302, 303, 307, 308];
const NOT_FOLLOWED: [u16; 4] = [300, 304, 305, 306];

#[track_caller]
fn arrived(ran: &Ran, url: &str) {
    let data = ran.json()["data"].clone();
    assert_eq!((ran.code, &data["body"], &data["url"]), (0, &json!("arrived"), &json!(url)), "{ran:?}");
}

#[test]
fn every_status_that_sends_on_is_followed_to_listed_places() {
    let world = world();
    for status in FOLLOWED {
        arrived(&world.fetch(&to(&world, status, "/end?a=b")), &world.url("/end?a=b"));
        arrived(&world.fetch(&to(&world, status, &world.other_url("/x"))), &world.other_url("/x"));
        let relative = format!("//other.test:{}/y", world.other.port());
        arrived(&world.fetch(&to(&world, status, &relative)), &world.other_url("/y"));
    }
    world.trap.untouched("listed places");
}

#[test]
fn every_other_status_is_the_answer() {
    let world = world();
    let trap = format!("http://127.0.0.1:{}/", world.trap.port());
    for status in NOT_FOLLOWED {
        for location in [trap.as_str(), "/end"] {
            let ran = world.fetch(&to(&world, status, location));
            assert_eq!((ran.code, &ran.json()["data"]["status"]), (0, &json!(status)), "{ran:?}");
        }
    }
    assert_eq!(world.site.requests().len(), NOT_FOLLOWED.len() * 2, "nothing was followed");
    world.trap.untouched("a status that is not followed");
}

/// Every way to name the trap, with every status, by both tools.
#[test]
fn no_redirect_reaches_what_may_not_be_reached() {
    let world = world();
    world.dns.name("hidden.example.com", addresses(&["127.0.0.1"]));
    let port = world.trap.port();
    let hosts = [
        "127.0.0.1",
        "localhost",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "trap.test",
        "TRAP.test.",
        "trap6.test",
        "hidden.example.com",
        "127。0。0。1",
    ];
    let mut locations: Vec<String> = hosts.iter().map(|host| format!("http://{host}:{port}/")).collect();
    locations.extend(hosts.iter().map(|host| format!("//{host}:{port}/")));
    locations.push(format!("http:\\\\127.0.0.1:{port}\\"));
    locations.push(format!("http://site.test@127.0.0.1:{port}/"));
    locations.push(format!("/\\127.0.0.1:{port}/"));
    let calls: Vec<(&str, Value)> = locations
        .iter()
        .flat_map(|location| FOLLOWED.map(|status| to(&world, status, location)))
        .flat_map(|url| ["web_fetch", "fetch_url"].map(|tool| (tool, json!({"url": url}))))
        .collect();
    for (result, (tool, arguments)) in world.batch(&calls).iter().zip(&calls) {
        assert_eq!(result["status"], "error", "{tool} {arguments}: {result}");
        let code = result["error"]["code"].as_str().unwrap_or_default();
        let codes = ["PrivateAddress", "UrlInvalid", "RedirectRefused"];
        assert!(codes.contains(&code), "{tool} {arguments}: {result}");
    }
    world.trap.untouched("a redirect");
}

/// The words are those of a request of its own.
#[test]
fn the_hop_is_refused_in_the_words_of_the_tool() {
    let world = world();
    let location = "http://169.254.169.254/latest/meta-data/";
    let ran = world.fetch(&to(&world, 302, location));
    let message = "SSRF: private network access denied for 169.254.169.254 (169.254.169.254)";
    assert_eq!((ran.code, &ran.json()["error"]["message"]), (3, &json!(message)), "{ran:?}");
    let ran = world.call("fetch_url", &json!({"url": to(&world, 302, location)}));
    let message =
        "URL validation failed: access to '169.254.169.254' is not allowed (localhost/metadata service)";
    assert_eq!((ran.code, &ran.json()["error"]["message"]), (3, &json!(message)), "{ran:?}");
    let alerts = world.run(&["audit", "alerts"]).text();
    assert!(alerts.contains("metadata"), "a redirect is a try too: {alerts}");
}

#[test]
fn places_that_are_none() {
    let world = world();
    let rows = [
        ("file:///etc/passwd", "SchemeNotAllowed"),
        ("gopher://site.test/", "SchemeNotAllowed"),
        ("javascript:alert(1)", "SchemeNotAllowed"),
        ("data:text/plain,x", "SchemeNotAllowed"),
        ("http://", "UrlInvalid"),
        ("http://[::1", "UrlInvalid"),
        ("http://site.test:99999/", "UrlInvalid"),
        ("http://user:word@site.test/", "UrlInvalid"),
        ("http://site.test:25/", "PortNotAllowed"),
        ("http://nobody.example.com/", "DnsFailed"),
    ];
    for (location, code) in rows {
        let ran = world.fetch(&to(&world, 302, location));
        assert_eq!((ran.code, ran.error_code().as_str()), (3, code), "{location}: {ran:?}");
    }
    // Nothing to go to: the same page again, until the hops are used up; or the answer itself.
    let ran = world.fetch(&to(&world, 302, ""));
    assert!(ran.code == 3 || ran.json()["data"]["status"] == 302, "{ran:?}");
    assert!(world.site.requests().len() <= rows.len() + 6);
}

/// Whatever is made of them, it ends, and the trap is not reached.
#[test]
fn locations_that_are_no_text_or_two() {
    let world = world();
    for path in ["/garbage".to_owned(), format!("/twice/{}", world.trap.port())] {
        let ran = world.fetch(&world.url(&path));
        let result = ran.json();
        let status = result["data"]["status"].as_u64();
        assert!(ran.code != 0 || matches!(status, Some(200 | 302)), "{path}: {ran:?}");
    }
    world.trap.untouched("a second location");
}

#[test]
fn five_hops_and_not_six() {
    let world = world();
    arrived(&world.fetch(&world.url("/hops/5")), &world.url("/hops/0"));
    world.site.forget();
    for hops in [6, 100_000] {
        for tool in ["web_fetch", "fetch_url"] {
            let ran = world.call(tool, &json!({"url": world.url(&format!("/hops/{hops}"))}));
            assert_eq!((ran.code, ran.error_code().as_str()), (3, "RedirectRefused"), "{ran:?}");
            assert_eq!(world.site.requests().len(), 6, "the request and five hops");
            world.site.forget();
        }
    }
}

#[test]
fn headers_stay_behind_when_the_origin_changes() {
    let world = world().set(json!({"net": {"headers": "any"}}));
    let headers =
        json!({"Authorization": "Basic eDp5", "Cookie": "a=b", "X-Custom": "own", "Accept": "text/plain"});
    let fetch = |location: &str| {
        let ran = world.call("web_fetch", &json!({"url": to(&world, 302, location), "headers": headers}));
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    fetch(&world.other_url("/seen"));
    let names = ["authorization", "cookie", "x-custom"];
    let first = &world.site.requests()[0];
    for name in names {
        assert!(first.header(name).is_some(), "{name}: {first:?}");
    }
    let second = &world.other.requests()[0];
    for name in names {
        assert_eq!(second.header(name), None, "{name}: {second:?}");
    }
    assert_eq!(second.header("host"), Some(format!("other.test:{}", world.other.port()).as_str()));
    fetch("/same");
    let same = world.site.requests().into_iter().find(|request| request.target == "/same").unwrap();
    assert_eq!(same.header("x-custom"), Some("own"), "the same origin keeps them: {same:?}");
}

#[test]
fn fewer_redirects_when_the_operator_wants_it() {
    let world = world().set(json!({"net": {"redirects": "same_host"}}));
    arrived(&world.fetch(&to(&world, 302, "/end")), &world.url("/end"));
    let ran = world.fetch(&to(&world, 302, &world.other_url("/")));
    assert_eq!((ran.code, ran.error_code().as_str()), (3, "RedirectRefused"), "{ran:?}");
    assert!(world.other.requests().is_empty());

    let world = world.set(json!({"net": {"redirects": "none"}}));
    world.site.forget();
    let ran = world.fetch(&to(&world, 302, "/end"));
    assert_eq!((ran.code, &ran.json()["data"]["status"]), (0, &json!(302)), "{ran:?}");
    assert_eq!(world.site.requests().len(), 1);
}

/// Each hop looks the name up anew and judges it anew: a name that was fine for the first is not for the second.
#[test]
fn a_name_that_changes_between_hops_is_caught() {
    use crate::net_world::dns::fleeting;
    let world = world().set(json!({
        "tools": {"url_policy": {"allowed_domains": [{"host": "flips.test", "cidr": "127.0.0.1/32"}]}},
    }));
    world.dns.in_turn("flips.test", vec![fleeting(&["127.0.0.1"]), fleeting(&["::1"])]);
    let path = format!("/to/302/{}", encoded(&format!("http://flips.test:{}/", world.trap.port())));
    let ran = world.fetch(&format!("http://flips.test:{}{path}", world.site.port()));
    assert_eq!((ran.code, ran.error_code().as_str()), (3, "PrivateAddress"), "{ran:?}");
    world.trap.untouched("a flip between hops");
}

#[test]
fn methods_change_as_the_statuses_say() {
    let world = world().set(json!({"net": {"methods": ["GET", "HEAD", "POST"]}}));
    for (status, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
        world.site.forget();
        let ran = world.call("web_fetch", &json!({"url": to(&world, status, "/end"), "method": "POST"}));
        assert_eq!(ran.code, 0, "{ran:?}");
        let methods: Vec<String> = world.site.requests().into_iter().map(|request| request.method).collect();
        assert_eq!(methods, ["POST", method], "{status}");
    }
}

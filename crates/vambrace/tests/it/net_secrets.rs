//! Secrets on their way out: in a URL, in a name, in a hop that a server chose; and in the pieces of an answer.

use serde_json::{Value, json};

use crate::net_world::NetWorld;
use crate::net_world::dns::addresses;
use crate::net_world::http::{Reply, Request, page, redirect, status};
use crate::support::World;

/// Nothing but its variable's name makes it a secret.
const SECRET: &str = "QZMZKXPLWVTRBN7";

/// Spelled otherwise by whoever escapes it.
const ODD: &str = "Zq9&kW{{vT7xPm3Lr5Yb2";

fn script(request: &Request) -> Reply {
    match request.path() {
        "/holds" => page("text/plain", format!("hello {SECRET} and more")),
        "/page" => page("text/html", format!("<p>hello {SECRET} and more</p>")),
        "/odd/page" => page("text/html", format!("<p>{ODD}</p>")),
        "/odd/text" => page("text/plain", ODD),
        "/odd/wrong" => status(500, "text/html", format!("<p>{ODD}</p>")),
        "/long" => page(
            "text/html",
            format!("<!--{}--><p>hello {SECRET} {}</p>", "x".repeat(9000), "y".repeat(30_000)),
        ),
        "/leak" => redirect(302, &format!("/got?k={SECRET}")),
        "/blocked" => redirect(302, "http://blocked.test/"),
        "/local" => redirect(302, "http://printer.local/"),
        _ => page("text/plain", "arrived"),
    }
}

fn world() -> NetWorld {
    let world =
        NetWorld::with(World::new().with_env("DEPLOY_TOKEN", SECRET).with_env("ODD_TOKEN", ODD), script);
    world.dns.otherwise(addresses(&["127.0.0.1"]));
    let port = world.site.port();
    world.set(json!({"tools": {
        "url_policy": {
            "allowed_domains": [
                {"host": "site.test", "cidr": "127.0.0.1/32"},
                {"host": "*.site.test", "cidr": "127.0.0.1/32"},
            ],
            "blocked_domains": ["blocked.test"],
        },
        "declared": [{
            "name": "odd", "description": "x", "kind": "http",
            "url": format!("http://site.test:{port}/odd/{{{{q}}}}"),
            "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
        }, {
            "name": "lookup", "description": "x", "kind": "http",
            "url": format!("http://site.test:{port}/x?q={{{{q}}}}"),
            "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
        }],
    }}))
}

#[test]
fn nothing_that_holds_a_secret_is_sent() {
    let world = world();
    let port = world.site.port();
    let encoded: String = SECRET.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let rows = [
        ("web_fetch", json!({"url": world.url(&format!("/x?k={SECRET}"))})),
        ("web_fetch", json!({"url": world.url(&format!("/x?k={encoded}"))})),
        ("web_fetch", json!({"url": world.url(&format!("/x?k={}", encoded.replace('%', "%25")))})),
        ("web_fetch", json!({"url": format!("http://{SECRET}.site.test:{port}/")})),
        ("web_fetch", json!({"url": world.url("/x"), "headers": {SECRET: "1"}})),
        ("web_fetch", json!({"url": world.url("/x"), "headers": {"x-a": SECRET}})),
        ("fetch_url", json!({"url": world.url(&format!("/{SECRET}"))})),
        ("lookup", json!({"q": format!("a {SECRET} b")})),
    ];
    for (tool, arguments) in rows {
        let ran = world.call(tool, &arguments);
        assert_eq!(ran.json()["error"]["code"], "SecretInRequest", "{tool} {arguments}: {ran:?}");
    }
    assert_eq!(world.site.requests().len(), 0);
    assert_eq!(world.dns.lookups(&format!("{}.site.test", SECRET.to_lowercase())), 0);
    assert_eq!(world.call("lookup", &json!({"q": "plain"})).code, 0);
}

#[test]
fn an_explanation_asks_for_no_name_that_the_decision_did_not_ask_for() {
    let world = world();
    let url = format!("http://{SECRET}.site.test/");
    let ran = world.run(&["check", "url", &url, "--explain"]);
    assert_eq!((ran.code, &ran.json()["code"]), (3, &json!("SecretInRequest")), "{ran:?}");
    assert_eq!(world.dns.lookups(&format!("{}.site.test", SECRET.to_lowercase())), 0);
    let ran = world.run(&["check", "url", "http://nowhere.blocked.test/", "--explain"]);
    assert_eq!((ran.code, world.dns.lookups("nowhere.blocked.test") > 0), (3, true), "{ran:?}");
}

#[test]
fn a_hop_is_searched_like_a_request_and_decided_before_its_name_is_asked_for() {
    let world = world();
    let ran = world.fetch(&world.url("/leak"));
    assert_eq!(ran.json()["error"]["code"], "SecretInRequest", "{ran:?}");
    assert_eq!(world.site.requests().len(), 1, "only the first");
    for (path, name) in [("/blocked", "blocked.test"), ("/local", "printer.local")] {
        let ran = world.fetch(&world.url(path));
        assert_eq!((ran.code, world.dns.lookups(name)), (3, 0), "{path}: {ran:?}");
        assert!(ran.json()["metadata"]["warnings"].to_string().contains("redirects to"), "{ran:?}");
    }
}

#[test]
fn every_hop_is_on_record() {
    let world = NetWorld::new(|request| match request.path() {
        "/first" => redirect(302, "/second"),
        _ => page("text/plain", "arrived"),
    });
    let ran = world.fetch(&world.url("/first"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.json()["metadata"]["call_id"].clone();
    let records = world.world.records();
    let egress: Vec<&Value> =
        records.iter().filter(|line| line["event"] == "egress" && line["call_id"] == id).collect();
    assert_eq!(egress.len(), 2, "{egress:?}");
    assert!(egress.iter().all(|line| line["message"].to_string().contains("127.0.0.1")), "{egress:?}");
}

#[test]
fn no_cut_uncovers_a_part_of_a_secret() {
    let world = world();
    for path in ["/holds", "/page"] {
        for most in 0..40 {
            let ran = world.call("fetch_url", &json!({"url": world.url(path), "max_length": most}));
            assert!(!ran.text().contains("QZM"), "{path} {most}: {ran:?}");
        }
    }
    let begins = "hello ".len();
    for limit in [begins + 3, begins + SECRET.len() - 1] {
        let world = self::world().set(json!({"net": {"max_body_bytes": limit}}));
        for (tool, path) in [("web_fetch", "/holds"), ("fetch_url", "/holds"), ("fetch_url", "/page")] {
            let ran = world.call(tool, &json!({"url": world.url(path)}));
            assert_eq!((ran.code, ran.text().contains("QZM")), (0, false), "{tool} {limit}: {ran:?}");
            assert_eq!(ran.json()["metadata"]["truncated"], true, "{tool} {limit}: {ran:?}");
        }
    }
    let ran =
        world.call("web_fetch", &json!({"url": world.url("/holds"), "headers": {"Range": "bytes=0-9"}}));
    assert_eq!(ran.json()["error"]["code"], "HeaderNotAllowed", "{ran:?}");
}

#[test]
fn settings_are_shown_without_secrets_wherever_they_stand() {
    let world = world().set(json!({"tools": {"declared": [{
        "name": "key", "description": "x", "kind": "http", "url": "https://api.example.com/${DEPLOY_TOKEN}/x",
    }]}}));
    let ran = world.run(&["config", "show"]);
    assert!(ran.code == 0 && ran.text().contains("api.example.com"), "{ran:?}");
    assert!(!ran.text().contains(SECRET), "{ran:?}");
}

/// A program's tries count like a model's own.
#[test]
fn what_programs_look_for_inside_raises_alerts() {
    let world = NetWorld::new(|request| match request.path() {
        "/metadata" => redirect(302, "http://169.254.169.254/latest/"),
        "/cluster" => redirect(302, "http://kubernetes.default.svc.cluster.local/"),
        _ => page("text/plain", "arrived"),
    });
    let world = world.set(json!({"sandbox": {"net": [{"host": "site.test", "cidr": "127.0.0.1/32"}]}}));
    for (path, rule, text) in [
        ("/metadata", "metadata", "localhost/metadata service"),
        ("/cluster", "kubernetes", "Kubernetes internal services"),
    ] {
        let command = format!("curl -sS -L {}", world.url(path));
        let ran = world.call("exec_shell", &json!({"command": command}));
        assert_eq!(ran.code, 0, "{ran:?}");
        let alerts = world.run(&["audit", "alerts"]);
        assert!(alerts.lines().iter().any(|line| line["rule"] == rule), "{rule}: {alerts:?}");
        let records = world.world.records();
        assert!(records.iter().any(|line| line.to_string().contains(text)), "{text}");
    }
    let ran = world.call("exec_shell", &json!({"command": format!("curl -sS {}", world.url("/x"))}));
    assert_eq!((ran.code, ran.json()["data"]["stdout"].as_str()), (0, Some("arrived")), "{ran:?}");
}

/// An escaped secret is none that anybody knows, so it is covered before.
#[test]
fn nothing_is_escaped_before_it_is_clean() {
    let world = world();
    for path in ["page", "text", "wrong"] {
        let ran = world.call("odd", &json!({"q": path}));
        assert!(ran.text().contains("REDACTED"), "{path}: {ran:?}");
        assert!(!ran.text().contains("vT7xPm3Lr5Yb2"), "{path}: {ran:?}");
    }
}

/// Reading ends somewhere in the page, and its text is much shorter than its bytes.
#[test]
fn a_page_that_was_broken_off_does_not_end_in_half_a_secret() {
    let secret_at = 9000 + "<!----><p>hello ".len();
    for read in [secret_at + 3, secret_at + SECRET.len() - 1] {
        let limit = read - (8 << 10);
        let world = self::world().set(json!({"net": {"max_body_bytes": limit}}));
        let ran = world.call("fetch_url", &json!({"url": world.url("/long"), "max_length": 50_000}));
        assert_eq!((ran.code, ran.text().contains("QZM")), (0, false), "{limit}: {ran:?}");
    }
}

//! Addresses that lead inside: what `check url`, `fetch_url` and `web_fetch` say to them, and what is on record after.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::net_world::dns::addresses;
use crate::net_world::http::{missing, page};
use crate::net_world::{NetWorld, PUBLIC};
use crate::support::{Ran, skip};

fn world() -> NetWorld {
    NetWorld::new(|request| match request.path() {
        "/" => page("text/plain", "hello"),
        _ => missing(),
    })
}

const CORPORA: [(&str, usize); 2] = [("patt_ssrf", 123), ("ssrf_req_filter", 103)];

fn corpus(name: &str) -> Option<Vec<Value>> {
    let folder = match std::env::var_os("VAMBRACE_CORPORA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora")),
    };
    let text = fs::read_to_string(folder.join(format!("ssrf/{name}.jsonl"))).ok()?;
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Every name has the address of an inner network unless its row is to be allowed, so that no row passes only because
/// its name is unknown.
#[test]
fn every_row_of_the_public_corpora_is_decided_as_labelled() {
    let world = world();
    world.dns.otherwise(addresses(&["10.0.0.1"]));
    for host in ["google.com", "github.com", "facebook.com", "cloudflare.com", "postman-echo.com"] {
        world.dns.name(host, addresses(&[PUBLIC]));
    }
    for (name, n_rows) in CORPORA {
        let Some(rows) = corpus(name) else {
            skip(&format!("{n_rows} cases of the public corpus ssrf/{name}: set VAMBRACE_CORPORA"));
            continue;
        };
        assert_eq!(rows.len(), n_rows, "{name}");
        let inputs: Vec<&str> = rows.iter().map(|row| row["input"].as_str().unwrap()).collect();
        let answers = world.decisions(&inputs);
        let wrong: Vec<_> = rows
            .iter()
            .zip(&answers)
            .filter(|(row, answer)| row["expect"] != answer["decision"] || row["input"] != answer["input"])
            .collect();
        assert!(wrong.is_empty(), "{} of {n_rows} in {name}: {wrong:#?}", wrong.len());
    }
    world.trap.untouched("the corpora");
    assert!(world.site.requests().is_empty(), "a check connects to nothing");
}

/// With the code that the machine reads.
#[track_caller]
fn check(world: &NetWorld, url: &str, exit: i32, code: &str) {
    let ran = world.run(&["check", "url", url]);
    let answer = ran.json();
    assert_eq!((ran.code, answer["code"].as_str().unwrap_or("-")), (exit, code), "{url}: {ran:?}");
    for member in ["decision", "code", "rule", "message", "suggestion"] {
        assert!(answer[member].is_string(), "{member}: {answer}");
    }
    assert_eq!(answer["input"], url);
    assert_eq!(answer["decision"], if exit == 0 { "allow" } else { "deny" });
}

#[test]
fn a_decision_has_its_shape_and_its_exit_code() {
    let world = world();
    world.dns.name("example.com", addresses(&[PUBLIC])).name("inner.example.com", addresses(&["10.1.2.3"]));
    let allowed = world.run(&["check", "url", "https://example.com/x"]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    let answer = allowed.json();
    assert_eq!((&answer["decision"], &answer["input"]), (&json!("allow"), &json!("https://example.com/x")));
    assert!(answer["rule"].as_str().is_some_and(|rule| !rule.is_empty()), "{answer}");
    check(&world, "http://inner.example.com/", 3, "PrivateAddress");
    check(&world, "http://localhost/", 3, "PrivateAddress");
    check(&world, "http://printer/", 3, "PrivateAddress");
    check(&world, "http://169.254.169.254/", 3, "MetadataAddress");
    check(&world, "http://metadata.google.internal/", 3, "MetadataAddress");
    check(&world, "http://a.svc.cluster.local/", 3, "KubernetesAddress");
    check(&world, "file:///etc/passwd", 3, "SchemeNotAllowed");
    check(&world, "http://user:password@example.com/", 3, "UrlInvalid");
    check(&world, "not a url", 3, "UrlInvalid");
    check(&world, "http://example.com:25/", 3, "PortNotAllowed");
    check(&world, "http://nobody.example.com/", 3, "DnsFailed");
    for args in
        [&["check", "url"][..], &["check", "url", "a", "b"], &["check", "url", "--no-such-option", "a"]]
    {
        assert_eq!(world.run(args).code, 2, "{args:?}");
    }
    world.trap.untouched("a check");
}

#[test]
fn every_step_is_explained() {
    let world = world();
    world.dns.name("two.example.com", addresses(&[PUBLIC, "10.1.2.3"]));
    let ran = world.run(&["check", "url", "http://two.example.com/", "--explain"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    for word in ["two.example.com", PUBLIC, "10.1.2.3", "url_policy"] {
        assert!(ran.text().contains(word), "{word}: {ran:?}");
    }
    let listed = world.run(&["check", "url", &world.url("/"), "--explain"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    for word in ["site.test", "127.0.0.1", "allowed_domains"] {
        assert!(listed.text().contains(word), "{word}: {listed:?}");
    }
    assert!(world.site.requests().is_empty());
}

#[track_caller]
fn refused(ran: &Ran, code: &str, message: &str) {
    let result = ran.json();
    let found = (ran.code, result["error"]["code"].as_str(), result["error"]["message"].as_str());
    assert_eq!(found, (3, Some(code), Some(message)), "{ran:?}");
    assert!(result["error"]["suggestion"].as_str().is_some_and(|text| !text.is_empty()), "{ran:?}");
    assert!(result["data"].is_null(), "{ran:?}");
}

/// What specification 001 answers to its five attackers, and to those who spell them otherwise.
#[test]
fn fetch_url_answers_in_the_words_of_001() {
    let world = world();
    let inside = |host: &str| {
        format!("URL validation failed: access to '{host}' is not allowed (localhost/metadata service)")
    };
    let private = |address: &str| {
        format!(
            "URL validation failed: access to private/internal IP addresses is not allowed (resolved to {address})"
        )
    };
    let kubernetes =
        "URL validation failed: access to Kubernetes internal services (*.svc.cluster.local) is not allowed";
    let scheme = |name: &str| {
        format!("URL validation failed: unsupported URL scheme '{name}': only http and https are allowed")
    };
    world.dns.name("inner.example.com", addresses(&["172.16.0.9"]));
    let rows = [
        ("http://localhost:6379/", "PrivateAddress", inside("localhost")),
        ("http://LOCALHOST./", "PrivateAddress", inside("localhost")),
        ("http://127.0.0.1/", "PrivateAddress", inside("127.0.0.1")),
        ("http://0x7f.1/", "PrivateAddress", inside("127.0.0.1")),
        ("http://0.0.0.0/", "PrivateAddress", inside("0.0.0.0")),
        (
            "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
            "MetadataAddress",
            inside("169.254.169.254"),
        ),
        ("http://2852039166/", "MetadataAddress", inside("169.254.169.254")),
        ("http://metadata.google.internal/", "MetadataAddress", inside("metadata.google.internal")),
        (
            "http://kubernetes.default.svc.cluster.local/api/v1/namespaces",
            "KubernetesAddress",
            kubernetes.to_owned(),
        ),
        ("http://redis.production.svc.cluster.local./", "KubernetesAddress", kubernetes.to_owned()),
        ("http://192.168.1.1/admin", "PrivateAddress", private("192.168.1.1")),
        ("http://10.0.0.1:8080/", "PrivateAddress", private("10.0.0.1")),
        ("http://inner.example.com/", "PrivateAddress", private("172.16.0.9")),
        ("file:///etc/passwd", "SchemeNotAllowed", scheme("file")),
        ("gopher://localhost:70/", "SchemeNotAllowed", scheme("gopher")),
        ("ftp://internal.server/files", "SchemeNotAllowed", scheme("ftp")),
    ];
    for (url, code, message) in rows {
        refused(&world.call("fetch_url", &json!({"url": url})), code, &message);
    }
    let unknown = world.call("fetch_url", &json!({"url": "http://nobody.example.com/"}));
    assert_eq!((unknown.code, unknown.error_code().as_str()), (3, "DnsFailed"), "{unknown:?}");
    assert!(unknown.text().contains("DNS resolution failed"), "{unknown:?}");
    world.trap.untouched("fetch_url");
}

#[test]
fn web_fetch_answers_in_the_words_of_000() {
    let world = world();
    world.dns.name("inner.example.com", addresses(&["fd00::1"]));
    let ssrf = |what: &str| format!("SSRF: private network access denied for {what}");
    let rows = [
        ("http://metadata.internal/", "MetadataAddress", "metadata.internal (169.254.169.254)"),
        ("http://169.254.169.254/", "MetadataAddress", "169.254.169.254 (169.254.169.254)"),
        ("http://localhost:6379/", "PrivateAddress", "localhost (127.0.0.1)"),
        ("http://192.168.1.1/admin", "PrivateAddress", "192.168.1.1 (192.168.1.1)"),
        ("http://inner.example.com/", "PrivateAddress", "inner.example.com (fd00::1)"),
        ("http://[::ffff:10.0.0.1]/", "PrivateAddress", "::ffff:10.0.0.1 (::ffff:10.0.0.1)"),
    ];
    for (url, code, what) in rows {
        refused(&world.fetch(url), code, &ssrf(what));
    }
    let unknown = world.fetch("http://nobody.example.com/");
    assert_eq!((unknown.code, unknown.error_code().as_str()), (3, "DnsFailed"), "{unknown:?}");
    assert!(unknown.text().contains("DNS resolution failed"), "{unknown:?}");
    world.trap.untouched("web_fetch");
}

/// Specification 001 tells operators what to search for, whichever tool it was.
#[test]
fn refusals_are_found_by_the_words_that_operators_search_for() {
    let world = world();
    let rows = [
        ("http://192.168.1.1/admin", "private/internal IP"),
        ("http://a.svc.cluster.local/", "Kubernetes internal services"),
        ("http://localhost/", "localhost/metadata service"),
        ("http://169.254.169.254/", "localhost/metadata service"),
    ];
    for tool in ["fetch_url", "web_fetch"] {
        for (url, words) in rows {
            let ran = world.call(tool, &json!({"url": url}));
            let id = ran.json()["metadata"]["call_id"].as_str().unwrap().to_owned();
            let exported = world.run(&["audit", "export"]).text();
            let stream = fs::read_to_string(world.world.audit().join("security.jsonl")).unwrap();
            for (place, text) in [("the record", &exported), ("the security stream", &stream)] {
                let line = text.lines().find(|line| line.contains(&id));
                let line = line.unwrap_or_else(|| panic!("{id} is not in {place}"));
                assert!(line.contains(words), "{words} in {place}: {line}");
                assert!(line.contains("URL validation failed"), "{place}: {line}");
            }
        }
    }
}

fn alerts(world: &NetWorld) -> Vec<(String, String)> {
    let lines = world.run(&["audit", "alerts"]).lines();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines.iter().map(|line| (text(&line["rule"]), text(&line["call_id"]))).collect()
}

#[test]
fn the_first_try_at_metadata_or_kubernetes_is_an_alert() {
    for (url, rule) in
        [("http://169.254.169.254/", "metadata"), ("http://a.svc.cluster.local/", "kubernetes")]
    {
        let world = world();
        let ran = world.call("fetch_url", &json!({"url": url}));
        let id = ran.json()["metadata"]["call_id"].as_str().unwrap().to_owned();
        assert_eq!(alerts(&world), [(rule.to_owned(), id)], "{ran:?}");
    }
    let world = world();
    world.call("fetch_url", &json!({"url": "http://10.0.0.1/"}));
    assert_eq!(alerts(&world), [], "one private address is no alert");
}

#[test]
fn the_eleventh_private_try_is_an_alert() {
    let world = world();
    let row = |n: usize| ("web_fetch", json!({"url": format!("http://10.0.0.{n}/")}));
    let answers = world.batch(&(1..=11).map(row).collect::<Vec<_>>());
    let raised = alerts(&world);
    let ssrf: Vec<&str> =
        raised.iter().filter(|(rule, _)| rule == "ssrf").map(|(_, call)| call.as_str()).collect();
    assert_eq!(ssrf, [answers[10]["metadata"]["call_id"].as_str().unwrap()], "{raised:?}");
}

/// A hundred spellings of two places.
#[test]
fn odd_spellings_lead_to_the_same_refusal() {
    let world = world();
    world.dns.otherwise(addresses(&["127.0.0.1"]));
    let port = world.trap.port();
    let hosts = [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[64:ff9b:1::7f00:1]",
        "１２７.0.0.1",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "127.0.0.1%2e",
        "%6c%6f%63%61%6c%68%6f%73%74",
        "localhost.",
        "LocalHost",
        "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
        "a.localhost",
        "ip6-localhost",
        "trap.test",
        "TRAP.TEST.",
        "trap6.test",
        "x.nip.io",
        "127.0.0.2",
        "127.255.255.254",
    ];
    let mut urls = Vec::new();
    for host in hosts {
        for front in
            ["http://", "HTTP://", "http:\\\\", "http:", "http:///", "ht\ttp://", " http://", "https://"]
        {
            urls.push(format!("{front}{host}:{port}/"));
        }
    }
    let answers = world.decisions(&urls);
    let passed: Vec<_> = answers.iter().filter(|answer| answer["decision"] != "deny").collect();
    assert!(passed.is_empty(), "{passed:#?}");
    let calls: Vec<_> = urls.iter().map(|url| ("web_fetch", json!({"url": url}))).collect();
    for (result, url) in world.batch(&calls).iter().zip(&urls) {
        assert!(result["error"]["code"].is_string(), "{url}: {result}");
    }
    world.trap.untouched("an odd spelling");
}

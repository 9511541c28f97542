//! Who gets in: every credential in every mode, on every route. P13.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::json;
use sha2::Sha256;

use crate::http_world::{Answer, Served};
use crate::support::World;
use crate::tokens::{Issuer, claims_of, forged, now, unsigned};

/// Secrets of one run.
struct Secrets {
    internal: String,
    write: String,
    read: String,
    bridge: String,
    signing: String,
    issuer: Issuer,
    stranger: Issuer,
}

impl Secrets {
    fn new() -> Secrets {
        Secrets {
            internal: "0a1b2c3d".repeat(8),
            write: format!("ka_{}_{}", "root-agent", "5e".repeat(16)),
            read: format!("ka_{}_{}", "viewer", "6f".repeat(16)),
            bridge: format!("ka_{}_{}", "bridge", "7a".repeat(16)),
            signing: "8b9c7d2e".repeat(4),
            issuer: Issuer::new("k1"),
            stranger: Issuer::new("k1"),
        }
    }
}

/// The modes of specification 001, and those that our own settings add.
const MODES: [&str; 6] = ["production", "hybrid", "first-start", "open", "jwt", "upstream"];

fn config(mode: &str, secrets: &Secrets, world: &World) -> String {
    let server = json!({
        // The tests stand behind a proxy on this machine, so that each request can come from an address of its own.
        "trusted_proxies": ["127.0.0.1"],
        "rate_limit": {"per_second": 1_000_000, "burst": 1_000_000},
    });
    let mut text = format!("server: {server}\n");
    let keys = json!([
        {"caller_id": "root-agent", "role": "write", "secret": secrets.write},
        {"caller_id": "viewer", "role": "read", "secret": secrets.read},
        {"caller_id": "bridge", "role": "write", "secret": secrets.bridge, "may_assert_identity": true},
    ]);
    let jwks = world.beside("jwks.json", &secrets.issuer.jwks().to_string());
    let verified = json!({"jwks": jwks, "issuer": "https://issuer.example.com", "audience": "vambrace"});
    let slack = json!({"signing_secret": secrets.signing, "enabled": false});
    let auth = match mode {
        "production" => {
            json!({"auth": {"internal_token": secrets.internal}, "api_keys": keys, "slack": slack})
        }
        "hybrid" => json!({"auth": {"internal_token": secrets.internal}}),
        "first-start" => json!({}),
        "open" => json!({"auth": {"mode": "open"}}),
        "jwt" => json!({"auth": {"jwt": verified}}),
        // The gateway stands on this machine too: whatever comes from loopback was checked by it.
        "upstream" => json!({"auth": {"jwt": {"trust": "upstream"}}}),
        other => panic!("{other}"),
    };
    for (key, value) in auth.as_object().unwrap() {
        writeln!(text, "{key}: {value}").unwrap();
    }
    text
}

type Headers = Vec<(&'static str, String)>;

fn headers(credential: &str, secrets: &Secrets, served: &Served, body: &[u8]) -> Headers {
    let good = claims_of("ann@example.com", &["devops"]);
    let with = |key: &str, value: serde_json::Value| {
        let mut claims = good.clone();
        claims[key] = value;
        claims
    };
    let bearer = |token: String| vec![("Authorization", format!("Bearer {token}"))];
    match credential {
        "none" => Vec::new(),
        "internal" => vec![("X-Internal-Token", secrets.internal.clone())],
        "internal-wrong" => vec![("X-Internal-Token", secrets.internal.replace('0', "1"))],
        "internal-wrong+key" => {
            vec![("X-Internal-Token", "nonsense".to_owned()), ("X-API-Key", secrets.write.clone())]
        }
        "key" => vec![("X-API-Key", secrets.write.clone())],
        "key-lower-case" => vec![("x-api-key", secrets.write.clone())],
        "key-bearer" => bearer(secrets.write.clone()),
        "key-read" => vec![("X-API-Key", secrets.read.clone())],
        "key-wrong" => vec![("X-API-Key", format!("{}0", secrets.write))],
        "key-empty" => vec![("X-API-Key", String::new())],
        "first" => vec![("X-API-Key", served.token.clone())],
        "first-bearer" => bearer(served.token.clone()),
        "jwt" => bearer(secrets.issuer.sign(&good)),
        "jwt-expired" => bearer(secrets.issuer.sign(&with("exp", json!(now() - 3600)))),
        "jwt-early" => bearer(secrets.issuer.sign(&with("nbf", json!(now() + 3600)))),
        "jwt-other-issuer" => bearer(secrets.issuer.sign(&with("iss", json!("https://else.example.com")))),
        "jwt-other-audience" => bearer(secrets.issuer.sign(&with("aud", json!("another")))),
        "jwt-stranger" => bearer(secrets.stranger.sign(&good)),
        "jwt-forged" => bearer(forged(&good)),
        "jwt-forged+key" => {
            let mut both = bearer(forged(&good));
            both.push(("X-API-Key", secrets.write.clone()));
            both
        }
        "jwt-no-signature" => {
            let signed = secrets.issuer.sign(&good);
            bearer(format!("{}.", signed.rsplit_once('.').unwrap().0))
        }
        "jwt-hmac-with-public-key" => {
            let head = unsigned(&json!({"alg": "HS256", "typ": "JWT", "kid": "k1"}), &good);
            let key = secrets.issuer.jwks().to_string();
            let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
            mac.update(head.as_bytes());
            use base64::Engine as _;
            let sum = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
            bearer(format!("{head}.{sum}"))
        }
        "slack" => slack(&secrets.signing, body),
        "slack-wrong" => slack(&secrets.signing.replace('8', "9"), body),
        other => panic!("{other}"),
    }
}

fn slack(secret: &str, body: &[u8]) -> Headers {
    let stamp = now().to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("v0:{stamp}:").as_bytes());
    mac.update(body);
    let sum: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    vec![("X-Slack-Request-Timestamp", stamp), ("X-Slack-Signature", format!("v0={sum}"))]
}

/// Every request comes from another address: guesses of one cost another nothing.
fn send(served: &Served, method: &str, path: &str, headers: &Headers, body: &[u8]) -> Answer {
    static N_SENT: AtomicUsize = AtomicUsize::new(0);
    let number = N_SENT.fetch_add(1, Ordering::Relaxed);
    let address = format!("198.51.{}.{}", 100 + number / 250, number % 250 + 1);
    let mut all: Vec<(&str, &str)> =
        vec![("Content-Type", "application/json"), ("X-Forwarded-For", address.as_str())];
    all.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
    served.send(method, path, &all, body)
}

/// Routes that need a credential, and a body that is harmless on each.
const INSIDE: [(&str, &str, &str); 14] = [
    ("GET", "/", ""),
    ("GET", "/api/tools", ""),
    ("POST", "/api/tools/read_file", r#"{"path":"a.txt"}"#),
    ("GET", "/api/audit", ""),
    ("GET", "/api/alerts", ""),
    ("GET", "/api/approvals", ""),
    ("POST", "/api/approvals", r#"{"id":"ap_none","decision":"reject"}"#),
    ("POST", "/api/query", r#"{"query":"x"}"#),
    ("POST", "/api/query/stream", r#"{"query":"x"}"#),
    ("POST", "/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
    ("POST", "/a2a/invoke", r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}"#),
    ("GET", "/openapi.json", ""),
    ("GET", "/nothing/here", ""),
    ("DELETE", "/api/tools", ""),
];

const OUTSIDE: [&str; 6] = [
    "/health",
    "/ready",
    "/live",
    "/metrics",
    "/.well-known/agent-card.json",
    "/.well-known/oauth-protected-resource",
];

#[test]
fn every_route_but_the_public_ones_needs_a_credential_in_every_mode() {
    let secrets = Secrets::new();
    for mode in MODES {
        let world = World::new();
        world.file("a.txt", "one\n");
        let served = Served::with_config(&world, &config(mode, &secrets, &world));
        for path in OUTSIDE {
            assert_eq!(send(&served, "GET", path, &Vec::new(), b"").status, 200, "{mode} {path}");
        }
        for (method, path, body) in INSIDE {
            let bare = send(&served, method, path, &Vec::new(), body.as_bytes());
            assert_eq!(bare.status == 401, mode != "open", "{mode} {method} {path}: {bare:?}");
            let forged = headers("jwt-forged", &secrets, &served, body.as_bytes());
            let forged = send(&served, method, path, &forged, body.as_bytes());
            assert_eq!(forged.status == 401, mode != "upstream", "{mode} {method} {path}: {forged:?}");
        }
    }
}

#[test]
fn each_credential_opens_exactly_what_its_row_says() {
    let table = include_str!("../../../../testdata/credentials_by_mode.tsv");
    let secrets = Secrets::new();
    for mode in MODES {
        let world = World::new();
        world.file("a.txt", "one\n");
        let served = Served::with_config(&world, &config(mode, &secrets, &world));
        let rows = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        for row in rows {
            let (credential, expected) = row.split_once('\t').unwrap();
            let place = MODES.iter().position(|known| *known == mode).unwrap();
            let expected = expected.split('\t').nth(place).unwrap();
            let body = br#"{"path":"a.txt"}"#;
            let headers = headers(credential, &secrets, &served, body);
            let answer = send(&served, "POST", "/api/tools/read_file", &headers, body);
            let got = match answer.status {
                200 => {
                    let call = answer.json()["metadata"]["call_id"].as_str().unwrap().to_owned();
                    let record = world.run(&["audit", "show", &call, "--json"]);
                    record.lines()[0]["caller_id"].as_str().unwrap_or("?").to_owned()
                }
                status => status.to_string(),
            };
            assert_eq!(got, expected, "{mode}, {credential}: {answer:?}");
        }
    }
}

//! Who is let in, how often, and what those read who are not.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

use crate::http_jwks::{has_openssl, openssl};
use crate::http_world::{NO_LIMIT, Served};
use crate::programs_host::until;
use crate::support::World;

/// Headers that say who it is.
type Shown<'a> = &'a [(&'a str, &'a str)];

#[test]
fn every_route_but_the_public_ones_asks_who_it_is() {
    let world = World::new();
    let served = Served::start(&world);
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/api/tools"),
        ("POST", "/api/tools/read_file"),
        ("PUT", "/api/tools"),
        ("GET", "/api"),
        ("GET", "/nowhere"),
        ("POST", "/nowhere"),
        ("OPTIONS", "/api/tools"),
        ("GET", "//health"),
        ("GET", "/health/"),
        ("GET", "/HEALTH"),
        ("GET", "/api/../health"),
        ("GET", "/%68ealth/x"),
    ] {
        let answer = served.send(method, path, &[], b"");
        assert_eq!(answer.status, 401, "{method} {path}: {answer:?}");
        assert!(answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")));
        assert_eq!(answer.json()["error"]["code"], "Unauthenticated");
    }
    let mcp = served.send("POST", "/mcp", &[], b"{}");
    let told = mcp.header("www-authenticate").unwrap_or_default().to_owned();
    let metadata = format!("http://{}/.well-known/oauth-protected-resource", served.address);
    assert!(mcp.status == 401 && told.contains(&metadata), "{mcp:?}");
    for path in ["/health", "/ready", "/live"] {
        let answer = served.send("GET", path, &[], b"");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        // Probes name the machine as they like.
        assert_eq!(served.send("GET", path, &[("Host", "10.1.2.3:8081")], b"").status, 200);
    }
    let health = served.send("GET", "/health", &[], b"").json();
    assert_eq!(
        (&health["status"], &health["dependencies"]["audit"]["status"]),
        (&json!("healthy"), &json!("healthy"))
    );
    assert!(health["timestamp"].as_str().unwrap().ends_with('Z'));
    let page = served.get("/");
    assert!(page.status == 200 && page.text().contains("local") && !page.text().contains("<script"));
}

#[test]
fn what_operators_watch_for_is_said_literally_and_is_on_record() {
    let world = World::new();
    let internal = format!("internal{}", "x".repeat(30));
    let mut served =
        Served::with_config(&world, &format!("{NO_LIMIT}auth: {{internal_token: {internal}}}\n"));
    let guess = format!("guess{}", "y".repeat(20));
    let rows: [(Shown<'_>, &str, &str); 4] = [
        (&[("X-Internal-Token", &guess)], "Invalid internal token attempt", "Invalid internal token"),
        (&[("X-API-Key", &guess)], "Invalid API key attempt", "Invalid API key"),
        (&[("Authorization", "Bearer e30.e30.e30")], "Invalid bearer token attempt", "Invalid bearer token"),
        (&[], "Authentication required but not provided", "Authentication required but not provided"),
    ];
    for (headers, line, message) in rows {
        let answer = served.send("GET", "/api/tools", headers, b"");
        assert_eq!((answer.status, answer.json()["message"].as_str()), (401, Some(message)), "{answer:?}");
        served.hear(line);
    }
    let fields = "Invalid API key attempt client_ip=127.0.0.1 method=GET path=/api/tools";
    served.hear(fields);
    // More of a kind within a second are counted.
    for _ in 0..3 {
        served.send("GET", "/api/tools", &[], b"");
    }
    assert_eq!(served.end(), 0);
    assert!(!served.log().contains(&guess) && !world.raw_records().contains(&guess));
    let written = world.raw_records();
    let records: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |words: &str| -> Vec<&Value> {
        records.iter().filter(|line| line["event"] == "auth_failed" && line["message"] == words).collect()
    };
    for (_, line, _) in rows {
        assert!(!of(line).is_empty(), "{line}: {records:?}");
    }
    let missing = of("Authentication required but not provided");
    let n: i64 = missing.iter().map(|event| event["details"]["count"].as_i64().unwrap()).sum();
    assert_eq!(n, 4, "{missing:?}");
}

const LIMITED: &[u8] = br#"{"success":false,"message":"Rate limit exceeded. Please try again later."}"#;

#[test]
fn too_many_is_what_specification_001_shows() {
    let world = World::new();
    // One a second comes back: a slow machine gives a few more, and never all.
    let served = Served::with_config(&world, "server: {rate_limit: {per_second: 1, burst: 200}}\n");
    let one = format!("GET /api/tools HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
    let last = format!("GET /api/tools HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address);
    let mut stream = served.connect();
    stream.write_all(format!("{}{last}", one.repeat(400)).as_bytes()).unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let all = String::from_utf8(all).unwrap();
    let n_served = all.matches("HTTP/1.1 401").count();
    assert!((200..400).contains(&n_served), "{n_served}");
    assert_eq!(all.matches("HTTP/1.1 429").count(), 401 - n_served);

    // One may just have come back.
    let mut answer = served.send("GET", "/api/tools", &[], b"");
    until("the bucket is empty again", || {
        answer = served.send("GET", "/api/tools", &[], b"");
        answer.status == 429
    });
    assert_eq!(answer.body.as_slice(), LIMITED, "{answer:?}");
    assert_eq!((answer.header("retry-after"), answer.header("x-ratelimit-limit")), (Some("1"), Some("200")));
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("0"));
    assert!(answer.header("x-ratelimit-reset").unwrap().parse::<u64>().unwrap() >= 199);
    // Whoever keeps the server running still hears from it.
    for probe in ["/live", "/ready", "/health", "/metrics"] {
        assert_eq!(served.send("GET", probe, &[], b"").status, 200, "{probe}");
    }
    served.hear("rate limit exceeded for an address");
    assert!(served.log().matches("rate limit").count() < 100, "told once a second");
}

#[test]
fn a_bucket_fills_again_and_callers_have_their_own() {
    let world = World::new();
    let (ann, ben) = (format!("ka_ann_{}", "4d".repeat(16)), format!("ka_ben_{}", "4d".repeat(16)));
    let config = format!(
        "server: {{rate_limit: {{per_second: 20, burst: 2}}, trusted_proxies: [127.0.0.1]}}\n\
         api_keys: {{\"{ann}\": {{caller_id: ann}}, \"{ben}\": {{caller_id: ben}}}}\n"
    );
    let served = Served::with_config(&world, &config);
    let request = |key: &str, from: usize, more: &str| {
        let host = served.address;
        format!(
            "GET /api/tools HTTP/1.1\r\nHost: {host}\r\nX-API-Key: {key}\r\n\
             X-Forwarded-For: 198.51.100.{from}\r\n{more}\r\n"
        )
    };
    let statuses = |requests: &str| {
        let mut stream = served.connect();
        stream.write_all(requests.as_bytes()).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let all = String::from_utf8(all).unwrap();
        // Whichever bucket was empty is the one that is told about.
        let mut refused = all.split("HTTP/1.1 ").filter(|answer| answer.starts_with("429"));
        assert!(refused.all(|answer| answer.contains("x-ratelimit-remaining: 0\r\n")), "{all}");
        (all.matches("HTTP/1.1 200").count(), all.matches("HTTP/1.1 429").count())
    };
    // Each from an address of its own, so that only the caller's bucket can be empty.
    let many: String = (1..200).map(|from| request(&ann, from, "")).collect();
    let last = "Connection: close\r\n";
    let (n_served, n_limited) = statuses(&format!("{many}{}", request(&ann, 200, last)));
    assert!(n_served >= 2 && n_limited > 0 && n_served + n_limited == 200, "{n_served} {n_limited}");
    assert_eq!(statuses(&request(&ben, 201, last)), (1, 0), "another caller is not held up");
    served.hear("rate limit exceeded for a caller");
    // A twentieth of a second later there is one again.
    while statuses(&request(&ann, 202, last)) != (1, 0) {}
}

#[test]
fn guessing_is_slow() {
    let world = World::new();
    let served = Served::start(&world);
    for n in 0..10 {
        let answer = served.send("GET", "/api/tools", &[("X-API-Key", &format!("guess-{n}"))], b"");
        assert_eq!(answer.status, 401, "{n}: {answer:?}");
        // One good key buys no further guesses.
        if n < 9 {
            assert_eq!(served.get("/api/tools").status, 200, "{n}");
        }
    }
    let answer = served.get("/api/tools");
    assert_eq!(answer.status, 429, "with the right key too: {answer:?}");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((200..=300).contains(&wait), "{wait}");
    // It is told what happened and for how long, and not to send less often.
    let told = answer.json();
    let message = told["message"].as_str().unwrap();
    assert!(message.contains(&format!("locked out for {wait} more seconds")), "{told}");
    assert!(told["error"]["suggestion"].as_str().unwrap().contains("Correct the credential"), "{told}");
    assert!(told["error"]["request_id"].is_string() && !answer.text().contains("Rate limit"), "{told}");
    assert_eq!(served.send("GET", "/health", &[], b"").status, 200);
}

#[test]
fn nothing_is_no_guess() {
    let world = World::new();
    let served = Served::start(&world);
    let empty =
        [("X-API-Key", ""), ("Authorization", ""), ("Authorization", "Bearer "), ("X-Internal-Token", "")];
    for header in empty.repeat(5) {
        let answer = served.send("GET", "/api/tools", &[header], b"");
        assert_eq!(answer.status, 401, "{header:?}: {answer:?}");
        assert!(answer.text().contains("Authentication required but not provided"), "{answer:?}");
    }
    assert_eq!(served.get("/api/tools").status, 200);
}

#[test]
fn a_wrong_token_beside_a_right_key_is_a_guess() {
    let world = World::new();
    let served = Served::start(&world);
    let key = ("X-API-Key", served.token.as_str());
    for n in 0..10 {
        let guess = format!("Bearer guess-{n}");
        let answer = served.send("GET", "/api/tools", &[key, ("Authorization", &guess)], b"");
        assert_eq!(answer.status, 200, "{n}: {answer:?}");
    }
    served.hear("Invalid API key attempt");
    assert_eq!(served.get("/api/tools").status, 429);
}

#[test]
fn pages_and_strange_names_do_not_lock_out_the_agent() {
    let world = World::new();
    let served = Served::with_config(&world, "server: {rate_limit: {per_second: 1, burst: 20}}\n");
    let own = served.address.to_string();
    let rows: [&[(&str, &str)]; 4] = [
        &[("Host", &own), ("Origin", "https://page.example")],
        &[("Host", &own), ("Sec-Fetch-Site", "cross-site")],
        &[("Host", &own), ("Origin", "null")],
        &[("Host", "rebound.example")],
    ];
    let mut n_limited = 0;
    for path in ["/api/tools", "/health"] {
        for headers in rows {
            for _ in 0..25 {
                n_limited += usize::from(served.send("GET", path, headers, b"").status == 429);
            }
        }
    }
    // Theirs was empty; whoever is at home has spent nothing.
    assert!(n_limited > 0, "{}", served.log());
    let answer = served.get("/api/tools");
    assert_eq!((answer.status, answer.header("x-ratelimit-limit")), (200, Some("20")), "{answer:?}");
    assert_eq!(served.get("/health").status, 200);
}

#[test]
fn a_request_means_us_and_no_page_sends_it() {
    let world = World::new();
    let config = "server: {rate_limit: {per_second: 1000000, burst: 1000000}, \
                  allowed_hosts: [agent.example.com], allowed_origins: ['https://app.example.com']}\n";
    let served = Served::with_config(&world, config);
    let own = served.address.to_string();
    let key = ("X-API-Key", served.token.as_str());
    for (host, status) in [
        (own.as_str(), 200),
        ("localhost", 200),
        ("LocalHost.:1", 200),
        ("agent.example.com", 200),
        ("agent.example.com:443", 200),
        ("evil.example", 421),
        ("agent.example.com.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost@evil.example", 421),
    ] {
        let answer = served.send("GET", "/api/tools", &[("Host", host), key], b"");
        assert_eq!(answer.status, status, "{host}: {answer:?}");
    }
    // Public answers that say where we are do not repeat a stranger's word for it; the others do not care.
    for (path, status) in [
        ("/.well-known/agent-card.json", 421),
        ("/.well-known/agent.json", 421),
        ("/.well-known/oauth-protected-resource", 421),
        ("/.well-known/oauth-protected-resource/mcp", 421),
        ("/health", 200),
        ("/ready", 200),
        ("/live", 200),
        ("/metrics", 200),
    ] {
        let foreign = served.send("GET", path, &[("Host", "evil.example")], b"");
        assert_eq!((foreign.status, foreign.text().contains("evil")), (status, false), "{path}: {foreign:?}");
        let ours = served.send("GET", path, &[("Host", "agent.example.com")], b"");
        assert_eq!(ours.status, 200, "{path}: {ours:?}");
        let is_card = path.starts_with("/.well-known/agent");
        assert_eq!(ours.header("vary") == Some("Host, A2A-Version"), is_card, "{ours:?}");
    }
    let head = format!("GET /api/tools HTTP/1.1\r\nX-API-Key: {}\r\nConnection: close\r\n", served.token);
    assert_eq!(served.raw(format!("{head}\r\n").as_bytes()).status, 400, "no Host");
    let head_of = |target: &str| head.replace("GET /api", &format!("GET {target}/api"));
    for (target, status) in [("http://localhost", 200), ("http://evil.example", 421)] {
        let request = format!("{}Host: localhost\r\n\r\n", head_of(target));
        assert_eq!(served.raw(request.as_bytes()).status, status, "{target}");
    }
    assert_eq!(
        served.raw(format!("{head}Host: localhost\r\nHost: localhost\r\n\r\n").as_bytes()).status,
        400
    );
    for (origin, status) in [
        ("https://app.example.com", 200),
        ("https://app.example.com.evil.example", 403),
        ("http://app.example.com", 403),
        ("https://evil.example", 403),
        ("null", 403),
    ] {
        let answer = served.send("GET", "/api/tools", &[("Origin", origin), key], b"");
        assert_eq!(answer.status, status, "{origin}: {answer:?}");
        let allowed = answer.header("access-control-allow-origin");
        assert_eq!(allowed, (status == 200).then_some(origin), "{answer:?}");
        let asks = [("Origin", origin), ("Access-Control-Request-Method", "POST")];
        let preflight = served.send("OPTIONS", "/api/tools", &asks, b"");
        assert_eq!(preflight.status, if status == 200 { 204 } else { 403 }, "{origin}: {preflight:?}");
        assert_eq!(preflight.header("access-control-allow-methods").is_some(), status == 200);
    }
}

#[test]
fn who_somebody_is_stands_once() {
    let world = World::new();
    let served = Served::start(&world);
    let key = ("X-API-Key", served.token.as_str());
    for name in
        ["X-API-Key", "Authorization", "X-Internal-Token", "X-User-Email", "X-User-Groups", "X-Slack-User-Id"]
    {
        let mut headers = vec![(name, "a"), (name, "a")];
        if name != "X-API-Key" {
            headers.push(key);
        }
        let answer = served.send("GET", "/api/tools", &headers, b"");
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
        assert_eq!(answer.json()["error"]["code"], "RequestRefused");
    }
}

#[test]
fn only_members_where_the_operator_says_so() {
    let world = World::new();
    let internal = format!("internal{}", "x".repeat(30));
    let config = format!(
        "{NO_LIMIT}auth: {{internal_token: {internal}}}\n\
         permissions: {{require_membership: true, allowed_emails: [{{value: ann@example.com}}], \
         allowed_groups: [{{value: team, role: read}}]}}\n"
    );
    let served = Served::with_config(&world, &config);
    let rows: [(Shown<'_>, u16); 5] = [
        (&[("X-User-Email", "ann@example.com")], 200),
        (&[("X-User-Email", "Ann@Example.com")], 200),
        (&[("X-User-Email", "ben@example.com"), ("X-User-Groups", "other,team")], 200),
        (&[("X-User-Email", "ben@example.com"), ("X-User-Groups", "teams")], 403),
        (&[], 403),
    ];
    for (who, status) in rows {
        let mut headers = vec![("X-Internal-Token", internal.as_str())];
        headers.extend_from_slice(who);
        let answer = served.send("GET", "/api/tools", &headers, b"");
        assert_eq!(answer.status, status, "{who:?}: {answer:?}");
        if status == 403 {
            assert_eq!(answer.json()["error"]["code"], "NotAMember");
        }
    }
}

#[test]
fn a_signature_of_slack_is_one_over_the_body() {
    if !has_openssl() {
        return;
    }
    let world = World::new();
    world.file("a.txt", "one\n");
    let internal = format!("internal{}", "x".repeat(30));
    let secret = format!("signing{}", "z".repeat(25));
    let config = format!(
        "{NO_LIMIT}auth: {{internal_token: {internal}}}\nslack: {{enabled: false, signing_secret: {secret}}}\n"
    );
    let served = Served::with_config(&world, &config);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let body = br#"{"path": "a.txt"}"#;
    let signed = |time: u64| {
        let text = [format!("v0:{time}:").as_bytes(), body].concat();
        let told = String::from_utf8(openssl(&["dgst", "-sha256", "-hmac", &secret], &text)).unwrap();
        format!("v0={}", told.trim().rsplit(' ').next().unwrap())
    };
    let rows: [(u64, &[u8], u16); 4] = [
        (now, body, 200),
        (now, br#"{"path": "b.txt"}"#, 401),
        (now - 400, body, 401),
        (now + 400, body, 401),
    ];
    for (time, sent, status) in rows {
        let (signature, stamp) = (signed(time), time.to_string());
        let headers = [
            ("Content-Type", "application/json"),
            ("X-Slack-Signature", signature.as_str()),
            ("X-Slack-Request-Timestamp", stamp.as_str()),
        ];
        let answer = served.send("POST", "/api/tools/read_file", &headers, sent);
        assert_eq!(answer.status, status, "{time}: {answer:?}");
        if status == 200 {
            assert_eq!(answer.json()["data"]["content"], "one\n", "the body is still there");
        }
    }
    // A header that is no credential of ours changes nothing: neither does it make the body unread (a signature over
    // nothing would then be one over anything), nor does it spoil a good signature.
    let over_nothing = {
        let told = openssl(&["dgst", "-sha256", "-hmac", &secret], format!("v0:{now}:").as_bytes());
        format!("v0={}", String::from_utf8(told).unwrap().trim().rsplit(' ').next().unwrap())
    };
    let stamp = now.to_string();
    for authorization in ["Basic eDp5", "Basic", "", "Digest a", "Bearerx y"] {
        for (signature, status) in [(&over_nothing, 401), (&signed(now), 200)] {
            let headers = [
                ("Content-Type", "application/json"),
                ("Authorization", authorization),
                ("X-Slack-Signature", signature.as_str()),
                ("X-Slack-Request-Timestamp", stamp.as_str()),
            ];
            let answer = served.send("POST", "/api/tools/read_file", &headers, body);
            assert_eq!(answer.status, status, "{authorization}: {answer:?}");
        }
    }
    served.hear("Invalid Slack signature attempt");
}

#[test]
fn where_the_operator_says_who_we_are_no_host_is_repeated() {
    let world = World::new();
    let limit = "rate_limit: {per_second: 1000000, burst: 1000000}";
    let said = "public_url: 'https://hands.example.com'";
    let served = Served::with_config(&world, &format!("server: {{{limit}, {said}}}\n"));
    for path in ["/.well-known/agent-card.json", "/.well-known/oauth-protected-resource"] {
        let answer = served.send("GET", path, &[("Host", "evil.example")], b"");
        let text = answer.text();
        assert!(answer.status == 200 && text.contains("https://hands.example.com"), "{path}: {answer:?}");
        assert!(!text.contains("evil"), "{path}: {answer:?}");
    }
    let config = format!("server: {{{limit}}}\na2a: {{agent_url: 'https://hands.example.com'}}\n");
    let served = Served::with_config(&world, &config);
    for (path, status) in
        [("/.well-known/agent-card.json", 200), ("/.well-known/oauth-protected-resource", 421)]
    {
        let answer = served.send("GET", path, &[("Host", "evil.example")], b"");
        assert_eq!((answer.status, answer.text().contains("evil")), (status, false), "{path}: {answer:?}");
    }
}

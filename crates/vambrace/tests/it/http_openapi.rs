//! `/openapi.json` and `/metrics` of the real server.

use serde_json::{Value, json};

use crate::http_world::Served;
use crate::support::World;

fn references(node: &Value, found: &mut Vec<String>) {
    match node {
        Value::Object(entries) => {
            found.extend(entries.get("$ref").and_then(Value::as_str).map(str::to_owned));
            entries.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_route_of_the_document_answers_and_asks_for_what_it_says() {
    let world = World::new();
    let served = Served::start(&world);
    assert_eq!(served.send("GET", "/openapi.json", &[], b"").status, 401);
    let document = served.get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut n_seen = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            n_seen += 1;
            let target = path.replace("{name}", "read_file").replace("{call_id}", "call_x");
            let method = method.to_ascii_uppercase();
            let public = operation["security"] == json!([]);
            let bare = served.send(&method, &target, &[], b"");
            assert_eq!(bare.status != 401, public, "{method} {path}: {}", bare.status);
            let headers = [("X-API-Key", served.token.as_str()), ("Accept", "application/json")];
            let answer = served.send(&method, &target, &headers, b"");
            // Nothing is served only where the document says that nothing may be found.
            let responses = operation["responses"].as_object().unwrap();
            let is_missing = answer.status == 404 && !responses.contains_key("404");
            assert!(!is_missing && answer.status != 405, "{method} {path}: {}", answer.status);
            let is_said =
                responses.contains_key(&answer.status.to_string()) || responses.contains_key("default");
            assert!(is_said, "{method} {path}: {}", answer.status);
        }
    }
    assert!(n_seen > 30, "{n_seen}");
}

#[test]
fn the_document_holds_together_and_has_the_callers_tools() {
    let world = World::new();
    let served = Served::start(&world);
    let document = served.get("/openapi.json").json();
    let mut found = Vec::new();
    references(&document, &mut found);
    for target in found {
        let pointer = target.strip_prefix('#').unwrap_or_else(|| panic!("{target}"));
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    let tools = served.get("/api/tools").json();
    for tool in tools["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let operation = &document["paths"][format!("/api/tools/{name}")]["post"];
        assert!(operation.is_object(), "{name}");
        let arguments = &document["components"]["schemas"][format!("Arguments.{name}")];
        assert_eq!(arguments["properties"], tool["input_schema"]["properties"], "{name}");
    }
    for route in [
        "/api/tools",
        "/api/tools/{name}",
        "/api/audit",
        "/api/audit/{call_id}",
        "/api/alerts",
        "/api/approvals",
        "/api/query",
        "/api/query/stream",
        "/openapi.json",
        "/metrics",
        "/health",
        "/ready",
        "/live",
        "/",
        "/mcp",
        "/a2a/invoke",
        "/.well-known/agent-card.json",
        "/.well-known/oauth-protected-resource",
    ] {
        assert!(document["paths"][route].is_object(), "{route}");
    }
}

/// One sample: its name with labels, and the number.
fn sample(line: &str) -> (String, f64) {
    let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
    let bare = name.split('{').next().unwrap();
    assert!(bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{line}");
    assert_eq!(name.contains('{'), name.ends_with('}'), "{line}");
    (name.to_owned(), value.parse().unwrap_or_else(|_| panic!("{line}")))
}

#[test]
fn the_counters_count_and_no_caller_names_them() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = Served::start(&world);
    for (tool, body) in [
        ("read_file", json!({"path": "a.txt"})),
        ("read_file", json!({"path": "a.txt"})),
        ("read_file", json!({"path": "../x"})),
        ("no_such_tool", json!({})),
        ("nor_this_one", json!({})),
    ] {
        served.post(&format!("/api/tools/{tool}"), &body);
    }
    served.send("GET", "/api/tools", &[("X-API-Key", "wrong")], b"");
    served.send("GET", "/api/tools", &[], b"");
    let answer = served.send("GET", "/metrics", &[], b"");
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text"), "{answer:?}");
    let text = answer.text();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let samples: Vec<(String, f64)> =
        text.lines().filter(|line| !line.starts_with('#')).map(sample).collect();
    let value = |name: &str| {
        let found = samples.iter().find(|(given, _)| given == name);
        found.unwrap_or_else(|| panic!("{name} in\n{text}")).1
    };
    let count =
        |name: &str, expected: f64| assert!((value(name) - expected).abs() < 0.5, "{name} in\n{text}");
    count("vambrace_calls_total{tool=\"read_file\",decision=\"allow\"}", 2.0);
    count("vambrace_calls_total{tool=\"read_file\",decision=\"deny\"}", 1.0);
    count("vambrace_calls_total{tool=\"unknown\",decision=\"none\"}", 2.0);
    count("vambrace_call_duration_seconds_count", 5.0);
    count("vambrace_http_requests_total{route=\"/api/tools/{name}\",status=\"2xx\"}", 2.0);
    count("vambrace_http_requests_total{route=\"/api/tools/{name}\",status=\"4xx\"}", 3.0);
    count("vambrace_auth_failures_total{kind=\"api_key\"}", 1.0);
    count("vambrace_auth_failures_total{kind=\"missing\"}", 1.0);
    count("vambrace_approvals_waiting", 0.0);
    assert!(value("vambrace_connections") >= 1.0 && value("vambrace_uptime_seconds") > 0.0);
    assert!(text.contains("vambrace_build_info{version="), "{text}");
    assert!(text.contains("tool=\"unknown\"") && !text.contains("no_such_tool"), "{text}");
}

//! Requests that the operator declares (specification 000): a model fills in values and nothing else.

use serde_json::{Value, json};

use crate::net_world::NetWorld;
use crate::net_world::http::{Request, missing, page, status};
use crate::support::{Ran, World};

/// Fourteen letters that no pattern knows; only the name makes it a secret.
const VALUE: &str = "fourteenletter";

fn world() -> NetWorld {
    let world = NetWorld::with(World::new().with_env("SERVICE", VALUE), |request| match request.path() {
        "/braces" => page("text/plain", "a {{city}} b {{{c}}} d"),
        "/markup" => page("text/html", "<b>{{city}}</b>"),
        "/wrong" => status(422, "application/json", r#"{"problem": "no such city"}"#),
        "/echo" => page("text/plain", format!("{request:?}")),
        path if path.starts_with("/v1/") => page("application/json", r#"{"sky": "{{blue}}"}"#),
        _ => missing(),
    });
    let schema = json!({
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"], "additionalProperties": false,
    });
    let tool = |name: &str, more: Value| {
        let mut tool = json!({"name": name, "description": name, "kind": "http", "input_schema": schema});
        for (key, value) in more.as_object().unwrap() {
            tool[key] = value.clone();
        }
        tool
    };
    let url = |path: &str| world.url(path);
    let tools = json!([
        tool(
            "path",
            json!({"url": url("/v1/{{city}}/now?days={{days}}"), "headers": {"X-City": "in {{city}}"}})
        ),
        tool(
            "body",
            json!({"method": "POST", "url": url("/v1/"), "body_template": "{\"city\": \"{{city}}\", \"days\": {{days}}}"})
        ),
        tool("braces", json!({"url": url("/braces")})),
        tool("markup", json!({"url": url("/markup")})),
        tool("wrong", json!({"url": url("/wrong")})),
        tool("echo", json!({"url": url("/echo")})),
        tool("host", json!({"url": format!("http://{{{{city}}}}.test:{}/v1/x", world.site.port())})),
        tool("inside", json!({"url": format!("http://trap.test:{}/", world.trap.port())})),
    ]);
    let binding = json!({"secret": "service", "scheme": "http", "host": "site.test", "port": world.site.port(), "path": "/echo"});
    world.set(json!({
        "tools": {"declared": tools},
        "secrets": {"env": {"service": "${SERVICE}"}, "bindings": [binding]},
    }))
}

#[track_caller]
fn sent(world: &NetWorld, tool: &str, arguments: &Value) -> (Ran, Request) {
    world.site.forget();
    let ran = world.call(tool, arguments);
    assert_eq!(ran.code, 0, "{tool} {arguments}: {ran:?}");
    let request = world.site.requests().pop().unwrap();
    (ran, request)
}

#[test]
fn values_are_one_piece_of_the_request() {
    let world = world();
    let rows = [
        ("Bern", "/v1/Bern/now?days=3"),
        ("a/b", "/v1/a%2Fb/now?days=3"),
        ("a?b=c&d#e", "/v1/a%3Fb%3Dc%26d%23e/now?days=3"),
        ("Zürich", "/v1/Z%C3%BCrich/now?days=3"),
        ("%2e%2e", "/v1/%252e%252e/now?days=3"),
        ("@trap.test", "/v1/%40trap.test/now?days=3"),
        ("{{days}}", "/v1/%7B%7Bdays%7D%7D/now?days=3"),
    ];
    for (city, target) in rows {
        let (ran, request) = sent(&world, "path", &json!({"city": city, "days": 3}));
        assert_eq!((request.method.as_str(), request.target.as_str()), ("GET", target), "{city}");
        assert_eq!(ran.json()["data"]["json"]["sky"], "{{blue}}", "the data is untouched: {ran:?}");
        if city.is_ascii() {
            assert_eq!(request.header("x-city"), Some(format!("in {city}").as_str()));
        }
    }
    let (_, request) = sent(&world, "body", &json!({"city": "a\"b\\c\n{{days}}", "days": 2}));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body, json!({"city": "a\"b\\c\n{{days}}", "days": 2}));
    assert_eq!((request.method.as_str(), request.header("content-type")), ("POST", Some("application/json")));
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let world = world();
    let rows = [
        ("path", json!({})),
        ("path", json!({"city": 3})),
        ("path", json!({"city": "Bern", "days": "three"})),
        ("path", json!({"city": "Bern", "more": true})),
        ("path", json!({"city": ".."})),
        ("path", json!({"city": "a\r\nHost: b"})),
        ("path", json!({"city": "a\nb"})),
        ("path", json!({"city": "a\u{0}b"})),
        ("host", json!({"city": "trap.test:80/"})),
        ("host", json!({"city": "trap.test#"})),
        ("host", json!({"city": "user@trap"})),
        ("host", json!({"city": ""})),
    ];
    for (tool, arguments) in rows {
        let ran = world.call(tool, &arguments);
        assert_eq!(
            (ran.code, ran.error_code().as_str()),
            (1, "ValidationError"),
            "{tool} {arguments}: {ran:?}"
        );
    }
    assert!(world.site.requests().is_empty());
    // A name that a value completes is judged like any other.
    let ran = world.call("host", &json!({"city": "trap"}));
    assert_eq!((ran.code, ran.error_code().as_str()), (3, "PrivateAddress"), "{ran:?}");
    let ran = world.call("inside", &json!({"city": "x"}));
    let message = "SSRF: private network access denied for trap.test (127.0.0.1)";
    assert_eq!((ran.code, &ran.json()["error"]["message"]), (3, &json!(message)), "{ran:?}");
    world.trap.untouched("a declared request");
}

#[test]
fn braces_of_an_answer_are_split_in_its_text() {
    let world = world();
    let (ran, _) = sent(&world, "braces", &json!({"city": "x"}));
    let data = ran.json()["data"].clone();
    let text = data["text"].as_str().unwrap();
    assert!(!text.contains("{{") && !text.contains("}}") && text.contains("city"), "{data}");
    assert_eq!(data["body"], "a {{city}} b {{{c}}} d", "the data is untouched");
    let (ran, _) = sent(&world, "markup", &json!({"city": "x"}));
    let text = ran.json()["data"]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("&lt;b&gt;") && !text.contains("{{"), "{text}");
    let (ran, _) = sent(&world, "path", &json!({"city": "x", "days": 1}));
    assert_eq!(ran.json()["data"]["text"], r#"{"sky": "{{blue}}"}"#, "JSON is raw");
    let world = world.set(json!({"net": {"brace_sanitise": "all"}}));
    let (ran, _) = sent(&world, "path", &json!({"city": "x", "days": 1}));
    assert!(!ran.json()["data"]["text"].as_str().unwrap().contains("{{"), "{ran:?}");
}

#[test]
fn an_error_of_the_service_is_an_error_with_its_words() {
    let world = world();
    let ran = world.call("wrong", &json!({"city": "x"}));
    assert_eq!((ran.code, ran.error_code().as_str()), (1, "HttpStatus"), "{ran:?}");
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("422") && message.contains("no such city"), "{message}");
}

#[test]
fn a_bound_secret_is_sent_and_never_seen() {
    let world = world();
    let bearer = format!("Bearer {VALUE}");
    let (ran, request) = sent(&world, "echo", &json!({"city": "x"}));
    assert_eq!(request.header("authorization"), Some(bearer.as_str()));
    assert!(!ran.text().contains(VALUE), "the site sent it back: {ran:?}");
    let (ran, request) = sent(&world, "web_fetch", &json!({"url": world.url("/echo")}));
    assert_eq!(request.header("authorization"), Some(bearer.as_str()));
    assert!(!ran.text().contains(VALUE), "{ran:?}");
    let (_, request) = sent(&world, "path", &json!({"city": "x", "days": 1}));
    assert_eq!(request.header("authorization"), None, "another path");
    for (path, bytes) in World::everything_in(&world.world.state()) {
        let found = bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes());
        assert!(!found, "{}", path.display());
    }
}

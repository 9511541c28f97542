//! Agents that the operator lists, asked through the real binary: what they are sent, and what becomes of
//! their answers.

use serde_json::{Value, json};

use crate::http_world::{Answer, Served};
use crate::net_world::NetWorld;
use crate::net_world::http::{Reply, Request, missing, page, redirect, status};
use crate::support::World;

/// Put together here, so that no file holds one. No pattern knows them; only the configuration makes them
/// secrets.
fn credential(kind: &str) -> String {
    format!("qz-{kind}-{}", "horse4battery".repeat(2))
}

fn internal() -> String {
    "1c2d3e4f".repeat(8)
}

fn answer(request: &Request) -> Reply {
    match request.path() {
        "/docs/query" => page("application/json", r#"{"message": "no", "answer": "42 pages"}"#),
        "/plain" => page("text/plain", "just words"),
        "/echo" => page("text/plain", format!("{:?}", request.headers)),
        "/wrong" => status(500, "application/json", r#"{"problem": "out of ink"}"#),
        "/moved" => redirect(307, "/docs/query"),
        "/long" => page("application/json", json!({"text": "x".repeat(100_001)}).to_string()),
        "/fits" => page("application/json", json!({"text": "x".repeat(100_000)}).to_string()),
        "/a2a" => page(
            "application/json",
            r#"{"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": "t",
                "status": {"state": "TASK_STATE_COMPLETED"},
                "artifacts": [{"parts": [{"text": "made"}, {"data": {}}]}]}}}"#,
        ),
        "/a2a-error" => page(
            "application/json",
            r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "busy"}}"#,
        ),
        _ => missing(),
    }
}

/// One agent for each path of the site, on loopback, which nothing else opens.
fn world() -> NetWorld {
    let world = World::new().with_env("DOCS", &credential("key")).with_env("ECHO", &credential("bearer"));
    let world = NetWorld::with(world, answer);
    let site = format!("http://127.0.0.1:{}", world.site.port());
    let rest = |name: &str, path: &str| json!({"name": name, "endpoint": site, "protocol": "rest", "api_path": path});
    let a2a = |name: &str, path: &str| json!({"name": name, "endpoint": format!("{site}{path}")});
    let mut docs = json!({"name": "docs", "endpoint": format!("{site}/docs/"), "protocol": "rest",
        "description": "knows the handbook",
        "auth": {"type": "api_key", "header": "X-Docs-Key", "key_env": "DOCS"}});
    docs["timeout"] = json!("5s");
    let mut echo = rest("echo", "/echo");
    echo["auth"] = json!({"type": "bearer", "token_env": "ECHO"});
    let mut unset = rest("unset", "/plain");
    unset["auth"] = json!({"type": "bearer", "token_env": "NOBODY_SET_THIS"});
    let agents = json!([
        docs, echo, unset, rest("plain", "plain"), rest("wrong", "/wrong"), rest("moved", "/moved"),
        rest("long", "/long"), rest("fits", "/fits"), a2a("peer", "/a2a"), a2a("busy", "/a2a-error"),
        a2a("html", "/plain"),
        {"name": "named", "endpoint": format!("http://trap.test:{}", world.site.port()), "protocol": "rest",
         "api_path": "/plain"},
        {"name": "bad_url", "endpoint": "not a url"},
        {"name": "metadata", "endpoint": "http://169.254.169.254/latest"},
        {"name": "metadata_name", "endpoint": "http://metadata.google.internal/"},
        {"name": "link_local", "endpoint": "http://169.254.1.1/"},
        {"name": "rebound", "endpoint": format!("http://rebound.test:{}/", world.site.port())},
    ]);
    world.dns.name("rebound.test", crate::net_world::dns::addresses(&["127.0.0.1", "169.254.169.254"]));
    world.only(json!({
        "limits": {"reply_bytes": 1_000_000},
        "server": {"rate_limit": {"per_second": 1_000_000, "burst": 1_000_000}},
        "auth": {"internal_token": internal()},
        "a2a": {"self_name": "front", "sub_agents": agents},
    }))
}

fn serve(net: &NetWorld) -> Served {
    Served::with_args(&net.world, &["--config", &net.config()])
}

#[track_caller]
fn ask(served: &Served, headers: &[(&str, &str)], tool: &str, arguments: &Value) -> Answer {
    let internal = internal();
    let who = [&[("X-Internal-Token", internal.as_str())], headers].concat();
    served.post_as(&who, &format!("/api/tools/{tool}"), arguments)
}

fn question() -> Value {
    json!({"query": "How long is the handbook?"})
}

#[test]
fn the_person_and_the_chain_go_along() {
    let net = world();
    let served = serve(&net);
    let headers = [
        ("X-User-Email", "ann@example.com"),
        ("X-User-Groups", "dev,ops"),
        ("X-Slack-User-Id", "U123"),
        ("X-Request-ID", "trace-1"),
        ("X-Call-Chain", "root, helper"),
        ("X-Call-Depth", "2"),
    ];
    let told = ask(&served, &headers, "query_docs", &question()).json();
    assert_eq!(told["data"], json!({"agent": "docs", "answer": "42 pages", "truncated": false}), "{told}");
    let request = net.site.requests().pop().unwrap();
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/docs/query"));
    assert_eq!(serde_json::from_slice::<Value>(&request.body).unwrap(), question());
    let key = credential("key");
    for (name, value) in [
        ("x-request-id", "trace-1"),
        ("x-call-chain", "root,helper,front"),
        ("x-call-depth", "3"),
        ("x-user-email", "ann@example.com"),
        ("x-user-groups", "dev,ops"),
        ("x-slack-user-id", "U123"),
        ("x-docs-key", key.as_str()),
        ("content-type", "application/json"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    assert_eq!(request.header("x-internal-token"), None);

    // A chain begins here: the request is called by its id or by the call's.
    ask(&served, &[], "query_plain", &question());
    let request = net.site.requests().pop().unwrap();
    assert_eq!((request.header("x-call-chain"), request.header("x-call-depth")), (Some("front"), Some("1")));
    assert_eq!((request.header("x-user-email"), request.header("x-user-groups")), (None, None));
    let ran = net.call("query_plain", &question());
    assert_eq!(ran.json()["data"]["answer"], "just words", "{ran:?}");
    let request = net.site.requests().pop().unwrap();
    assert_eq!(request.header("x-request-id"), ran.json()["metadata"]["call_id"].as_str());

    // Other doors carry it too.
    let data = json!({"tool": "query_plain", "arguments": question()});
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"data": data}]});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let internal = internal();
    let who = [("X-Internal-Token", internal.as_str()), ("X-Call-Chain", "root"), ("X-Call-Depth", "1")];
    served.post_as(&who, "/a2a/invoke", &body);
    let request = net.site.requests().pop().unwrap();
    assert_eq!(
        (request.header("x-call-chain"), request.header("x-call-depth")),
        (Some("root,front"), Some("2"))
    );
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"name": "query_plain", "arguments": question(), "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let mcp = [
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("MCP-Method", "tools/call"),
        ("MCP-Name", "query_plain"),
    ];
    // The short way, and the long one of a call that wants to hear of its progress.
    for long in [false, true] {
        net.site.forget();
        let mut body = body.clone();
        if long {
            body["params"]["_meta"]["progressToken"] = json!("p");
        }
        let told = served.post_as(&[&who[..], &mcp].concat(), "/mcp", &body);
        let request = net.site.requests().pop().unwrap_or_else(|| panic!("{long} {told:?}"));
        assert_eq!(request.header("x-call-chain"), Some("root,front"), "{long}");
    }
}

#[test]
fn loops_end_here() {
    let net = world();
    let served = serve(&net);
    // What came in, and the status; nobody is asked.
    let rows = [
        (("X-Call-Chain", "root,Front"), 508),
        (("X-Call-Depth", "5"), 508),
        (("X-Call-Depth", "4"), 403),
        (("X-Call-Chain", "root, PLAIN"), 403),
    ];
    for (header, status) in rows {
        let answer = ask(&served, &[header], "query_plain", &question());
        let code = answer.json()["error"]["code"].clone();
        assert_eq!((answer.status, code), (status, json!("CallLoop")), "{header:?}");
    }
    assert!(net.site.requests().is_empty());
    for headers in [("X-Call-Depth", "3"), ("X-Call-Chain", "plainer")] {
        assert_eq!(ask(&served, &[headers], "query_plain", &question()).json()["status"], "success");
    }
    let both = json!({"queries": [{"agent": "plain", "query": "a"}, {"agent": "docs", "query": "b"}]});
    let told = ask(&served, &[("X-Call-Chain", "plain")], "query_multiple_agents", &both).json();
    assert_eq!(told["data"]["results"][0]["error_code"], "CallLoop", "{told}");
    assert_eq!(told["data"]["results"][1]["answer"], "42 pages", "{told}");
    let told = ask(&served, &[("X-Call-Depth", "4")], "query_multiple_agents", &both).json();
    assert_eq!(told["error"]["code"], "CallLoop", "{told}");
}

#[track_caller]
fn check(net: &NetWorld, agent: &str, code: &str, part: &str) {
    let ran = net.call(&format!("query_{agent}"), &question());
    let told = ran.json();
    let words = if code == "-" { &told["data"]["answer"] } else { &told["error"]["message"] };
    assert_eq!(ran.error_code(), code, "{agent}: {told}");
    assert!(words.as_str().unwrap().contains(part), "{agent}: {told}");
}

#[test]
fn answers_and_failures() {
    let net = world();
    let rows = [
        ("docs", "-", "42 pages"),
        ("plain", "-", "just words"),
        ("named", "-", "just words"),
        ("peer", "-", "made"),
        ("wrong", "HttpStatus", "status 500: {\"problem\": \"out of ink\"}"),
        ("moved", "HttpStatus", "307"),
        ("busy", "HttpStatus", "busy"),
        ("html", "HttpStatus", "not JSON-RPC"),
        ("unset", "SecretUnresolved", "NOBODY_SET_THIS"),
        ("bad_url", "ConnectionFailed", "bad_url"),
    ];
    for (agent, code, part) in rows {
        check(&net, agent, code, part);
    }
    assert_eq!(net.site.requests().iter().filter(|request| request.path() == "/docs/query").count(), 1);
    let request = net.site.requests().into_iter().find(|request| request.path() == "/a2a").unwrap();
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!((body["method"].as_str(), request.header("a2a-version")), (Some("SendMessage"), Some("1.0")));
    assert_eq!(body["params"]["message"]["parts"], json!([{"text": question()["query"]}]));
    for (agent, is_cut) in [("fits", false), ("long", true)] {
        let ran = net.run(&["--quiet", "call", &format!("query_{agent}"), &question().to_string()]);
        assert_eq!(ran.json()["data"]["truncated"], is_cut, "{agent}");
    }
    // Said at the start too, which goes on.
    let ran = net.call("list_files", &json!({}));
    assert!(ran.stderr.contains("NOBODY_SET_THIS") && ran.stderr.contains("bad_url"), "{}", ran.stderr);
    for query in [json!({"query": ""}), json!({}), json!({"query": "x".repeat(100_001)}), json!({"query": 7})]
    {
        assert_eq!(net.call("query_plain", &query).error_code(), "ValidationError");
    }
}

#[test]
fn the_operator_opens_one_place_and_never_metadata() {
    let net = world();
    for (agent, code) in [
        ("metadata", "MetadataAddress"),
        ("metadata_name", "MetadataAddress"),
        ("link_local", "PrivateAddress"),
        ("rebound", "MetadataAddress"),
    ] {
        let ran = net.call(&format!("query_{agent}"), &question());
        assert_eq!((ran.code, ran.error_code().as_str()), (3, code), "{agent}: {ran:?}");
    }
    assert!(net.site.requests().is_empty());
    // For its own tool alone: nobody else gets to loopback, not even to the same port.
    let site = format!("http://127.0.0.1:{}/plain", net.site.port());
    assert_eq!(net.fetch(&site).error_code(), "PrivateAddress");
    // What the operator blocks by name stays blocked.
    let net = net.set(json!({"tools": {"url_policy": {"blocked_domains": ["trap.test"]}}}));
    assert_eq!(net.call("query_named", &question()).error_code(), "HostNotAllowed");
    // With the rules for addresses switched off, these stay.
    let net = net.set(json!({"tools": {"url_policy": {"enabled": false}}}));
    assert_eq!(net.call("query_metadata", &question()).error_code(), "MetadataAddress");
    // And a rule of the operator's about one tool counts for the tool that asks several.
    let rule = json!([{"tool": "query_plain", "decision": "deny", "reason": "not today"}]);
    let net =
        net.set(json!({"rules": rule, "tools": {"url_policy": {"enabled": true, "blocked_domains": []}}}));
    let both = json!({"queries": [{"agent": "plain", "query": "a"}, {"agent": "docs", "query": "b"}]});
    let told = net.call("query_multiple_agents", &both).json();
    assert_eq!(told["data"]["results"][0]["error_code"], "RuleDenied", "{told}");
    assert_eq!(told["data"]["successful"], 1, "{told}");
}

#[test]
fn credentials_are_nobodys_to_see() {
    let net = world();
    let ran = net.call("query_echo", &question());
    let bearer = credential("bearer");
    let request = net.site.requests().pop().unwrap();
    assert_eq!(request.header("authorization"), Some(format!("Bearer {bearer}").as_str()));
    let answer = ran.json()["data"]["answer"].as_str().unwrap().to_owned();
    assert!(answer.contains("authorization") && !answer.contains(&bearer), "{answer}");
    // Neither may it be sent to somebody else.
    for query in [json!({"query": format!("is {bearer} good?")}), json!({"query": credential("key")})] {
        net.site.forget();
        assert_eq!(net.call("query_plain", &query).error_code(), "SecretInRequest", "{query}");
        assert!(net.site.requests().is_empty());
    }
    let both = json!({"queries": [{"agent": "plain", "query": "a"}, {"agent": "docs", "query": bearer}]});
    assert_eq!(net.call("query_multiple_agents", &both).error_code(), "SecretInRequest");
    net.call("query_docs", &question());
    let egress: Vec<Value> =
        net.world.records().into_iter().filter(|line| line["event"] == "egress").collect();
    assert_eq!(egress.len(), 2, "{egress:?}");
    for (path, bytes) in World::everything_in(&net.world.state()) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&bearer) && !text.contains(&credential("key")), "{}", path.display());
    }
    let listed = net.run(&["config", "show"]);
    assert!(!listed.text().contains(&bearer), "{listed:?}");
}

#[test]
fn several_at_once() {
    let net = world();
    let queries: Vec<Value> = ["docs", "wrong", "peer", "unset"]
        .iter()
        .map(|agent| json!({"agent": agent, "query": "hello"}))
        .collect();
    let told = net.call("query_multiple_agents", &json!({"queries": queries})).json();
    let data = &told["data"];
    let counts = (&data["total_agents"], &data["successful"], &data["failed"]);
    assert_eq!(counts, (&json!(4), &json!(2), &json!(2)), "{told}");
    let results = data["results"].as_array().unwrap();
    let names: Vec<&Value> = results.iter().map(|result| &result["agent"]).collect();
    assert_eq!(names, ["docs", "wrong", "peer", "unset"]);
    assert_eq!((&results[0]["answer"], &results[2]["answer"]), (&json!("42 pages"), &json!("made")));
    assert_eq!(
        (&results[1]["error_code"], &results[3]["error_code"]),
        (&json!("HttpStatus"), &json!("SecretUnresolved"))
    );
    let one = json!({"agent": "plain", "query": "a"});
    for (queries, code) in [
        (vec![], "ValidationError"),
        (vec![one.clone(); 16], "-"),
        (vec![one.clone(); 17], "ValidationError"),
        (vec![one.clone(), json!({"agent": "nobody", "query": "a"})], "ValidationError"),
        (vec![one.clone(), json!({"agent": "plain", "query": ""})], "ValidationError"),
        // One that may never be reached refuses them all.
        (vec![one.clone(), json!({"agent": "metadata", "query": "a"})], "MetadataAddress"),
    ] {
        let ran = net.call("query_multiple_agents", &json!({"queries": queries}));
        assert_eq!(ran.error_code(), code, "{queries:?} {ran:?}");
    }
    net.site.forget();
    let shown =
        net.run(&["--dry-run", "call", "query_multiple_agents", &json!({"queries": [one]}).to_string()]);
    assert_eq!(shown.json()["data"]["agents"][0]["agent"], "plain", "{shown:?}");
    let shown = net.run(&["--dry-run", "call", "query_plain", &question().to_string()]);
    assert_eq!(shown.json()["data"]["method"], "POST", "{shown:?}");
    assert!(net.site.requests().is_empty());
}

#[test]
fn another_vambrace_answers() {
    let (net, other) = (world(), World::new());
    let key = credential("peer");
    let config = json!({"server": {"rate_limit": {"per_second": 1_000_000, "burst": 1_000_000}},
        "a2a": {"self_name": "back"}, "api_keys": [{"caller_id": "front", "role": "write", "secret": key}]});
    let peer = Served::with_config(&other, &config.to_string());
    let NetWorld { world, .. } = &net;
    let agent = json!([{"name": "back", "endpoint": format!("http://{}/a2a/invoke", peer.address),
        "auth": {"type": "api_key", "key_env": "PEER"}}]);
    let file = world.beside("peer.yaml", &json!({"a2a": {"sub_agents": agent}}).to_string());
    let call = |key: &str| {
        let mut command = world.command(&["--config", &file, "call", "query_back", &question().to_string()]);
        command.env("PEER", key);
        crate::support::finish(&mut command, b"").json()
    };
    let told = call(&key);
    assert!(told["data"]["answer"].as_str().is_some_and(|text| text.contains("model")), "{told}");
    assert_eq!(call("qz-wrong-key")["error"]["code"], "HttpStatus");
    // One agent alone has no tool for several.
    let ran = world.run(&["--config", &file, "call", "query_multiple_agents", "{}"]);
    assert_eq!(ran.error_code(), "ToolNotFound");
}

#[test]
fn who_may_ask_and_who_may_list() {
    let net = world();
    let ran = net.run(&["--role", "product_owner", "call", "query_plain", &question().to_string()]);
    assert_eq!(ran.error_code(), "PermissionDenied", "{ran:?}");
    // Names that are taken or that no tool can have.
    let agents = |names: &[&str]| {
        let one = |name: &&str| json!({"name": name, "endpoint": "http://127.0.0.1:9/"});
        json!({"a2a": {"sub_agents": names.iter().map(one).collect::<Vec<_>>()}})
    };
    let most = "a".repeat(58);
    for (names, is_good) in [
        (vec!["a", "b"], true),
        (vec![most.as_str()], true),
        (vec![""], false),
        (vec!["a b"], false),
        (vec!["a", "a"], false),
        (vec!["multiple_agents"], false),
        (vec![&"a".repeat(59)], false),
    ] {
        let file = net.world.beside("names.yaml", &agents(&names).to_string());
        let ran = net.world.run(&["--config", &file, "call", "list_files", "{}"]);
        assert_eq!(ran.code == 0, is_good, "{names:?} {ran:?}");
        assert!(is_good || ran.stderr.contains("a2a.sub_agents["), "{names:?} {ran:?}");
    }
    // THREAT: P05, a project would name any place and any variable of ours as its credential.
    net.world.file("vambrace.yaml", agents(&["sneaky"]).to_string());
    let ran = net.world.run(&["call", "list_files", "{}"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("a2a.sub_agents"), "{ran:?}");
}

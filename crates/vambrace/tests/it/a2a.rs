//! Calls between agents, through the real server: what a client of A2A 1.0 or 0.3 sees.

use serde_json::{Value, json};

use crate::http_world::{Answer, Served};
use crate::support::World;

/// Put together here, so that no file holds one.
pub(crate) fn key(who: &str) -> String {
    format!("ka_{who}_{}", "5f3a".repeat(8))
}

pub(crate) fn settings() -> Value {
    json!({
        "server": {"rate_limit": {"per_second": 1_000_000, "burst": 1_000_000}, "max_body_bytes": 1 << 20},
        "api_keys": [
            {"caller_id": "ann", "role": "write", "secret": key("ann")},
            {"caller_id": "ben", "role": "write", "secret": key("ben")},
        ],
    })
}

pub(crate) fn serve(world: &World) -> Served {
    Served::with_config(world, &settings().to_string())
}

pub(crate) fn ask(served: &Served, who: &str, method: &str, params: &Value) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    served.post_as(&[("X-API-Key", &key(who))], "/a2a/invoke", &body)
}

/// The result, or the code of the error.
#[track_caller]
pub(crate) fn outcome(answer: &Answer) -> Result<Value, i64> {
    let body = answer.json();
    assert_eq!((answer.status, &body["jsonrpc"]), (200, &json!("2.0")), "{answer:?}");
    match body.get("error") {
        Some(error) => {
            assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
            Err(error["code"].as_i64().unwrap())
        }
        None => Ok(body["result"].clone()),
    }
}

#[track_caller]
pub(crate) fn rpc(served: &Served, who: &str, method: &str, params: &Value) -> Result<Value, i64> {
    outcome(&ask(served, who, method, params))
}

pub(crate) fn message(data: &Value) -> Value {
    json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"data": data}]})
}

pub(crate) fn read_a() -> Value {
    json!({"message": message(&json!({"tool": "read_file", "arguments": {"path": "a.txt"}}))})
}

/// Every call on record, with everything that is known of it.
pub(crate) fn outcomes(world: &World) -> Vec<Value> {
    let records = world.raw_records();
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["kind"] == "outcome").collect()
}

#[track_caller]
pub(crate) fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
    let text = answer.text();
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(|line| serde_json::from_str::<Value>(line).unwrap()["result"].clone()).collect()
}

#[test]
fn a_message_with_a_tool_is_a_call_and_its_answer_a_task() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = serve(&world);
    let sent = rpc(&served, "ann", "SendMessage", &read_a()).unwrap();
    let task = &sent["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{sent}");
    let parts = &task["artifacts"][0]["parts"];
    assert_eq!(parts[0]["data"]["data"]["content"], "one\n");
    assert_eq!(task["artifacts"][0]["artifactId"], "tool_result");
    assert_eq!(parts[1]["text"], "one\n");
    assert_eq!(task["history"][0]["messageId"], "m1");

    let rows = [
        (json!({"tool": "read_file", "arguments": {"path": "../x"}}), "REJECTED", "PathOutsideProject"),
        (json!({"tool": "read_file", "arguments": {"path": "none"}}), "FAILED", "FileNotFound"),
        (json!({"tool": "read_file", "arguments": {"path": 7}}), "FAILED", "ValidationError"),
        (json!({"tool": "no_such"}), "FAILED", "ToolNotFound"),
        // Ours alone: from outside it is a request that no model may send.
        (
            json!({"tool": "a2a_notify", "arguments": {"url": "https://example.com/", "body": "x"}}),
            "REJECTED",
            "MethodNotAllowed",
        ),
    ];
    for (data, state, code) in rows {
        let sent = rpc(&served, "ann", "SendMessage", &json!({"message": message(&data)})).unwrap();
        let task = &sent["task"];
        assert_eq!(task["status"]["state"], format!("TASK_STATE_{state}"), "{sent}");
        assert_eq!(task["artifacts"][0]["parts"][0]["data"]["error"]["code"], code, "{sent}");
        let words = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(words.contains(code), "{words}");
    }
    let doors: Vec<Value> = outcomes(&world).iter().map(|record| record["door"].clone()).collect();
    assert_eq!(doors, vec![json!("a2a"); 6]);
    // A dry run changes nothing.
    let data = json!({"tool": "write_file", "arguments": {"path": "b", "content": "x"}, "dry_run": true});
    let sent = rpc(&served, "ann", "SendMessage", &json!({"message": message(&data)})).unwrap();
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert!(!world.work().join("b").exists());
}

#[test]
fn words_need_a_model() {
    let world = World::new();
    let served = serve(&world);
    let words = json!({"message": {"messageId": "m", "role": "ROLE_USER", "contextId": "c1",
        "parts": [{"text": "hello"}]}});
    let sent = rpc(&served, "ann", "SendMessage", &words).unwrap();
    assert_eq!(sent["message"]["contextId"], "c1", "{sent}");
    assert_eq!(sent["message"]["parts"][1]["data"]["error"]["code"], "NoModel");
    let streamed = events(&ask(&served, "ann", "SendStreamingMessage", &words));
    assert_eq!(streamed.len(), 1);
    assert_eq!(streamed[0]["message"]["role"], "ROLE_AGENT");
    assert_eq!(rpc(&served, "ann", "ListTasks", &json!({})).unwrap()["totalSize"], 0);
}

#[test]
fn wrong_requests_have_their_codes() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = serve(&world);
    let edit = |pointer: &str, value: Value| {
        let mut params = read_a();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        params.pointer_mut(parent).unwrap()[name] = value;
        params
    };
    let long = "x".repeat(257);
    let rows = [
        ("SendMessage", json!({}), -32602),
        ("SendMessage", json!({"message": "x"}), -32602),
        ("SendMessage", edit("/message/role", json!("ROLE_AGENT")), -32602),
        ("SendMessage", edit("/message/role", json!("user")), -32602),
        ("SendMessage", edit("/message/parts", json!([])), -32602),
        ("SendMessage", edit("/message/parts", json!([{"kind": "text"}])), -32602),
        ("SendMessage", edit("/message/messageId", json!("")), -32602),
        ("SendMessage", edit("/message/contextId", json!("../up")), -32602),
        ("SendMessage", edit("/message/contextId", json!(long)), -32602),
        ("SendMessage", edit("/message/taskId", json!("none")), -32001),
        ("SendMessage", edit("/message/parts", json!([{"raw": "eA==", "mediaType": "image/png"}])), -32005),
        ("SendMessage", edit("/configuration", json!({"acceptedOutputModes": ["image/png"]})), -32005),
        ("SendMessage", edit("/configuration", json!({"historyLength": -1})), -32602),
        ("SendStreamingMessage", json!({}), -32602),
        ("GetTask", json!({}), -32602),
        ("GetTask", json!({"id": "none"}), -32001),
        ("GetTask", json!({"id": ["none"]}), -32602),
        ("CancelTask", json!({"id": "none"}), -32001),
        ("SubscribeToTask", json!({"id": "none"}), -32001),
        ("ListTasks", json!({"pageSize": 0}), -32602),
        ("ListTasks", json!({"pageSize": 101}), -32602),
        ("ListTasks", json!({"pageToken": "x"}), -32602),
        ("ListTasks", json!({"status": "done"}), -32602),
        ("GetTaskPushNotificationConfig", json!({"taskId": "none", "id": "p"}), -32001),
        ("ListTaskPushNotificationConfigs", json!({"taskId": "none"}), -32001),
        ("DeleteTaskPushNotificationConfig", json!({"taskId": "none", "id": "p"}), -32001),
        (
            "CreateTaskPushNotificationConfig",
            json!({"taskId": "none", "url": "https://example.com/"}),
            -32001,
        ),
        ("tasks/get", json!({"id": "none"}), -32001),
        ("message/send", json!({"message": {"role": "user"}}), -32602),
        ("tools/call", json!({}), -32601),
    ];
    for (method, params, code) in rows {
        assert_eq!(rpc(&served, "ann", method, &params), Err(code), "{method} {params}");
    }
    let headers = |kind: &'static str| [("X-API-Key", key("ann")), ("Content-Type", kind.to_owned())];
    let send = |kind: &'static str, body: &[u8]| {
        let headers = headers(kind);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = served.send("POST", "/a2a/invoke", &headers, body);
        (answer.status, answer.json()["error"]["code"].as_i64())
    };
    assert_eq!(send("application/json", b"{"), (200, Some(-32700)));
    assert_eq!(send("application/json", b""), (200, Some(-32700)));
    assert_eq!(send("application/json", "[".repeat(10_000).as_bytes()), (200, Some(-32700)));
    assert_eq!(send("application/json", b"\xff\xfe"), (200, Some(-32700)));
    assert_eq!(send("application/json", b"[{}]"), (200, Some(-32600)));
    assert_eq!(send("text/plain", b"{}"), (415, Some(-32005)));
    // Too large is told before any door looks at it, in the shape of all doors.
    assert_eq!(send("application/json", &[b' '; (1 << 20) + 1]), (413, None));
    let get = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "none"}});
    assert_eq!(send("Application/JSON; charset=utf-8", get.to_string().as_bytes()), (200, Some(-32001)));
    for (version, code) in [("1.0", -32001), ("0.3.0", -32001), ("", -32001), ("2.0", -32009), ("x", -32009)]
    {
        let who = key("ann");
        let headers = [("X-API-Key", who.as_str()), ("A2A-Version", version)];
        let answer = served.post_as(&headers, "/a2a/invoke", &get);
        assert_eq!(outcome(&answer), Err(code), "{version}");
    }
    assert_eq!(
        served.send("POST", "/a2a/invoke", &[("Content-Type", "application/json")], b"{}").status,
        401
    );
    assert_eq!(outcomes(&world), Vec::<Value>::new(), "nothing of this was a call");
}

#[test]
fn a_task_is_found_by_its_owner_alone() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = serve(&world);
    let mut first = read_a();
    first["message"]["contextId"] = json!("shared-word");
    let sent = rpc(&served, "ann", "SendMessage", &first).unwrap();
    let id = sent["task"]["id"].clone();
    let mut follow = read_a();
    follow["message"]["taskId"] = id.clone();
    let rows = [
        ("GetTask", json!({"id": id})),
        ("CancelTask", json!({"id": id})),
        ("SubscribeToTask", json!({"id": id})),
        ("SendMessage", follow.clone()),
        ("SendStreamingMessage", follow.clone()),
        ("CreateTaskPushNotificationConfig", json!({"taskId": id, "url": "https://example.com/"})),
        ("GetTaskPushNotificationConfig", json!({"taskId": id, "id": "p"})),
        ("ListTaskPushNotificationConfigs", json!({"taskId": id})),
        ("DeleteTaskPushNotificationConfig", json!({"taskId": id, "id": "p"})),
        ("tasks/get", json!({"id": id})),
        ("tasks/cancel", json!({"id": id})),
        ("tasks/resubscribe", json!({"id": id})),
        ("tasks/pushNotificationConfig/list", json!({"id": id})),
    ];
    for (method, params) in rows {
        let foreign = ask(&served, "ben", method, &params).json();
        let text = params.to_string().replace(id.as_str().unwrap(), "0190-absent");
        let absent = ask(&served, "ben", method, &serde_json::from_str(&text).unwrap()).json();
        assert_eq!(foreign["error"]["code"], -32001, "{method}: {foreign}");
        assert_eq!(foreign, absent, "{method}: a foreign task looks like an absent one");
    }
    // The same words for a conversation, and still another conversation.
    rpc(&served, "ben", "SendMessage", &first).unwrap();
    let own = |who: &str| rpc(&served, who, "ListTasks", &json!({"contextId": "shared-word"})).unwrap();
    assert_eq!((own("ann")["totalSize"].clone(), own("ben")["totalSize"].clone()), (json!(1), json!(1)));
    assert_ne!(own("ann")["tasks"][0]["id"], own("ben")["tasks"][0]["id"]);
    let sessions: Vec<Value> = outcomes(&world).iter().map(|record| record["session_id"].clone()).collect();
    assert_eq!(sessions.len(), 2);
    assert_ne!(sessions[0], sessions[1]);

    let state = |method: &str, params: &Value| rpc(&served, "ann", method, params);
    assert_eq!(state("GetTask", &json!({"id": id})).unwrap()["id"], id);
    assert_eq!(state("GetTask", &json!({"id": id, "historyLength": 0})).unwrap().get("history"), None);
    assert_eq!(state("CancelTask", &json!({"id": id})), Err(-32002));
    assert_eq!(state("SubscribeToTask", &json!({"id": id})), Err(-32004));
    assert_eq!(state("SendMessage", &follow), Err(-32004));
    follow["message"]["contextId"] = json!("other");
    assert_eq!(state("SendMessage", &follow), Err(-32602));
}

#[test]
fn tasks_are_listed_in_pages() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = serve(&world);
    let ids: Vec<Value> = (0..5)
        .map(|_| rpc(&served, "ann", "SendMessage", &read_a()).unwrap()["task"]["id"].clone())
        .collect();
    let mut found = Vec::new();
    let mut token = json!("");
    loop {
        let page = rpc(&served, "ann", "ListTasks", &json!({"pageSize": 2, "pageToken": token})).unwrap();
        assert_eq!((&page["totalSize"], &page["pageSize"]), (&json!(5), &json!(2)));
        for task in page["tasks"].as_array().unwrap() {
            assert_eq!((task.get("artifacts"), task.get("history")), (None, None));
            found.push(task["id"].clone());
        }
        token = page["nextPageToken"].clone();
        if token == "" {
            break;
        }
    }
    found.reverse();
    assert_eq!(found, ids);
    let filtered = |params: Value| rpc(&served, "ann", "ListTasks", &params).unwrap()["totalSize"].clone();
    assert_eq!(filtered(json!({"status": "TASK_STATE_FAILED"})), 0);
    assert_eq!(filtered(json!({"status": "TASK_STATE_COMPLETED"})), 5);
    assert_eq!(filtered(json!({"statusTimestampAfter": "2999-01-01T00:00:00Z"})), 0);
    let whole =
        rpc(&served, "ann", "ListTasks", &json!({"includeArtifacts": true, "historyLength": 1})).unwrap();
    assert!(whole["tasks"][0]["artifacts"][0]["parts"].is_array());
    assert_eq!(whole["tasks"][0]["history"].as_array().map(Vec::len), Some(1));
}

/// A busy caller asks for its results in the end. What the guide says of an hour, and of how many are kept.
#[test]
fn the_first_of_three_hundred_tasks_is_still_there() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = serve(&world);
    let part = json!({"kind": "data", "data": {"tool": "read_file", "arguments": {"path": "a.txt"}}});
    let params = json!({"message": {"kind": "message", "messageId": "m", "role": "user", "parts": [part]}});
    let send = || {
        let sent = rpc(&served, "ann", "message/send", &params).unwrap();
        assert_eq!(sent["status"]["state"], "completed", "{sent}");
        sent
    };
    let first = send();
    // Several connections at once, because it would take long one by one.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..75 {
                    send();
                }
            });
        }
    });
    let found = rpc(&served, "ann", "tasks/get", &json!({"id": first["id"]}));
    let found = found.unwrap_or_else(|code| panic!("{code}: {first}"));
    assert_eq!((&found["id"], &found["status"]["state"]), (&first["id"], &json!("completed")), "{found}");
    assert_eq!(found["artifacts"][0]["parts"][1]["text"], "one\n", "{found}");
    let listed = rpc(&served, "ann", "ListTasks", &json!({"pageSize": 1})).unwrap();
    assert_eq!(listed["totalSize"], 301);
}

#[test]
fn a_stream_tells_how_a_task_goes() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = serve(&world);
    let seen = events(&ask(&served, "ann", "SendStreamingMessage", &read_a()));
    let names: Vec<&String> = seen.iter().flat_map(|event| event.as_object().unwrap().keys()).collect();
    assert_eq!(names, ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
    assert_eq!(seen[0]["task"]["status"]["state"], "TASK_STATE_SUBMITTED");
    assert_eq!(seen[1]["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
    assert_eq!(seen[2]["artifactUpdate"]["artifact"]["parts"][1]["text"], "one\n");
    assert_eq!(seen[3]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");

    let old = json!({"message": {"kind": "message", "messageId": "m", "role": "user",
        "parts": [{"kind": "data", "data": {"tool": "read_file", "arguments": {"path": "a.txt"}}}]}});
    let seen = events(&ask(&served, "ann", "message/stream", &old));
    let kinds: Vec<&Value> = seen.iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["task", "status-update", "artifact-update", "status-update"]);
    assert_eq!((&seen[3]["status"]["state"], &seen[3]["final"]), (&json!("completed"), &json!(true)));
    let sent = rpc(&served, "ann", "message/send", &old).unwrap();
    assert_eq!((&sent["kind"], &sent["status"]["state"]), (&json!("task"), &json!("completed")));
    assert_eq!(sent["artifacts"][0]["parts"][1], json!({"kind": "text", "text": "one\n"}));
    assert_eq!(sent["history"][0]["role"], "user");
    let got = rpc(&served, "ann", "tasks/get", &json!({"id": sent["id"]})).unwrap();
    assert_eq!(got["kind"], "task");
}

#[test]
fn only_what_a_client_accepts_is_sent() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = serve(&world);
    for (mode, name) in [("text/plain", "text"), ("application/json", "data")] {
        let mut params = read_a();
        params["configuration"] = json!({"acceptedOutputModes": [mode], "historyLength": 0});
        let task = rpc(&served, "ann", "SendMessage", &params).unwrap()["task"].clone();
        let parts = task["artifacts"][0]["parts"].as_array().unwrap().clone();
        assert_eq!((parts.len(), parts[0].get(name).is_some()), (1, true), "{task}");
        assert_eq!(task.get("history"), None);
    }
}

#[test]
fn the_card_is_for_everybody_and_the_long_one_for_callers() {
    let world = World::new();
    let served = serve(&world);
    let (place, older_place) = ("/.well-known/agent-card.json", "/.well-known/agent.json");
    for (path, version, is_older) in
        [(place, "1.0", false), (place, "", false), (place, "0.3", true), (older_place, "", true)]
    {
        let version = ("A2A-Version", version);
        let answer = served.send("GET", path, &[version], b"");
        assert_eq!(answer.status, 200);
        let card = answer.json();
        // All that the schema of 1.0 knows, which takes no others.
        let known = [
            "name",
            "description",
            "version",
            "supportedInterfaces",
            "capabilities",
            "securitySchemes",
            "securityRequirements",
            "defaultInputModes",
            "defaultOutputModes",
            "skills",
        ];
        let strange = card.as_object().unwrap().keys().find(|key| !known.contains(&key.as_str()));
        assert_eq!(strange.is_some(), is_older, "{strange:?}");
        assert_eq!(card["securitySchemes"]["apiKey"].get("type").is_some(), is_older, "{card}");
        let url = format!("http://{}/a2a/invoke", served.address);
        assert_eq!(card["supportedInterfaces"][0]["url"], url);
        assert_eq!(card["supportedInterfaces"][0]["protocolVersion"], "1.0");
        if is_older {
            assert_eq!((&card["url"], &card["preferredTransport"]), (&json!(url), &json!("JSONRPC")));
        }
        assert_eq!(answer.header("vary"), Some("Host, A2A-Version"));
        assert!(answer.header("cache-control").is_some_and(|value| value.starts_with("public, max-age=")));
        let tag = answer.header("etag").unwrap().to_owned();
        for (held, status) in
            [(tag.as_str(), 304), ("\"other\"", 200), ("*", 304), (&format!("\"x\", W/{tag}"), 304)]
        {
            let held = [version, ("If-None-Match", held)];
            assert_eq!(served.send("GET", path, &held, b"").status, status, "{held:?}");
        }
        // Nobody's list of tools.
        let ids: Vec<&str> =
            card["skills"].as_array().unwrap().iter().filter_map(|s| s["id"].as_str()).collect();
        assert!(!ids.contains(&"read_file"), "{ids:?}");
    }
    let hostile = served.send("GET", "/.well-known/agent-card.json", &[("Host", "x/y?<z>")], b"");
    let shown = |answer: &Answer| answer.json()["supportedInterfaces"][0]["url"].clone();
    assert!(hostile.status >= 400 || shown(&hostile) == "http://localhost/a2a/invoke", "{hostile:?}");
    for method in ["GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"] {
        let card = rpc(&served, "ann", method, &json!({})).unwrap();
        let ids: Vec<&str> =
            card["skills"].as_array().unwrap().iter().filter_map(|s| s["id"].as_str()).collect();
        assert!(ids.contains(&"read_file") && !ids.contains(&"git_push"), "{ids:?}");
        assert!(!ids.contains(&"a2a_notify") && !ids.contains(&"run"), "{ids:?}");
        // Strict readers of 1.0 take none of 0.3's members.
        let is_older = method.contains('/');
        let older = ["url", "preferredTransport", "protocolVersion", "security"];
        assert!(older.iter().all(|name| card.get(name).is_some() == is_older), "{method}: {card}");
        assert_eq!(card["securitySchemes"]["apiKey"].get("type").is_some(), is_older, "{card}");
    }
    let world = World::new();
    let mut off = settings();
    off["a2a"] = json!({"enabled": false});
    let served = Served::with_config(&world, &off.to_string());
    assert_eq!(served.send("GET", "/.well-known/agent-card.json", &[], b"").status, 404);
    assert_eq!(ask(&served, "ann", "ListTasks", &json!({})).status, 404);
}

#[test]
fn chains_of_agents_end() {
    let world = World::new();
    let served = serve(&world);
    let rows: &[(&[(&str, &str)], u16)] = &[
        (&[], 200),
        (&[("X-Call-Chain", "root,helper"), ("X-Call-Depth", "2")], 200),
        (&[("X-Call-Depth", "4")], 200),
        (&[("X-Call-Depth", "5")], 508),
        (&[("X-Call-Depth", "-7")], 200),
        (&[("X-Call-Depth", "many")], 200),
        (&[("X-Call-Chain", "root, VamBrace")], 508),
        (&[("X-Call-Chain", "root"), ("X-Call-Chain", "vambrace")], 508),
        (&[("X-Call-Chain", "vambrace-2")], 200),
    ];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}});
    for (headers, status) in rows {
        let who = key("ann");
        let headers = [&[("X-API-Key", who.as_str())], *headers].concat();
        let answer = served.post_as(&headers, "/a2a/invoke", &body);
        assert_eq!(answer.status, *status, "{headers:?}");
        if *status == 508 {
            let told = answer.json();
            assert_eq!(
                (&told["success"], &told["error"]["code"]),
                (&json!(false), &json!("CallLoop")),
                "{told}"
            );
        } else {
            assert!(answer.header("x-request-id").is_some_and(|id| id.len() > 20), "{answer:?}");
        }
    }
    let who = key("ann");
    for (given, kept) in [("trace-1.a:b", true), ("two words", false)] {
        let headers = [("X-API-Key", who.as_str()), ("X-Request-ID", given)];
        let answer = served.post_as(&headers, "/a2a/invoke", &body);
        assert_eq!(answer.header("x-request-id") == Some(given), kept, "{given}");
    }
}

#[test]
fn what_a_person_has_to_approve_waits() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let mut asking = settings();
    asking["rules"] = json!([{"tool": "read_file", "decision": "ask", "reason": "look first"}]);
    let served = Served::with_config(&world, &asking.to_string());
    let sent = rpc(&served, "ann", "SendMessage", &read_a()).unwrap();
    let task = &sent["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{sent}");
    assert_eq!(task["artifacts"][0]["parts"][0]["data"]["error"]["code"], "ApprovalRequired");
    // Any message makes the same call again; nobody has answered yet.
    let again = json!({"message": {"messageId": "m2", "role": "ROLE_USER", "taskId": task["id"],
        "parts": [{"text": "now?"}]}});
    let seen = events(&ask(&served, "ann", "SendStreamingMessage", &again));
    assert_eq!(seen[0]["task"]["contextId"], task["contextId"]);
    let last = &seen.last().unwrap()["statusUpdate"]["status"];
    assert_eq!(last["state"], "TASK_STATE_INPUT_REQUIRED", "{seen:?}");
    assert_eq!(outcomes(&world).len(), 2);
    let canceled = rpc(&served, "ann", "CancelTask", &json!({"id": task["id"]})).unwrap();
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(rpc(&served, "ann", "SendMessage", &again), Err(-32004));
}

/// Two callers and an operator, and a tool that nobody may use without a person.
fn with_questions(world: &World) -> Served {
    let mut settings = settings();
    settings["rules"] = json!([{"tool": "create_directory", "decision": "ask"}]);
    Served::with_config(world, &settings.to_string())
}

fn make(path: &str) -> Value {
    json!({"message": message(&json!({"tool": "create_directory", "arguments": {"path": path}}))})
}

#[test]
fn a_task_that_waits_for_a_person_is_over_when_the_person_says_no() {
    let world = World::new();
    let served = with_questions(&world);
    let sent = rpc(&served, "ann", "SendMessage", &make("new")).unwrap();
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{sent}");
    let parts = sent["task"]["status"]["message"]["parts"].as_array().unwrap();
    let ticket = parts.iter().find_map(|part| part["data"]["ticket"]["id"].as_str()).unwrap();
    assert_eq!(world.run(&["approvals", "reject", ticket]).code, 0);
    let mut again = make("new");
    again["message"]["taskId"] = sent["task"]["id"].clone();
    let answered = rpc(&served, "ann", "SendMessage", &again).unwrap();
    assert_eq!(answered["task"]["status"]["state"], "TASK_STATE_REJECTED", "{answered}");
    assert!(!world.work().join("new").exists());
}

#[test]
fn a_task_that_a_person_has_allowed_has_one_result() {
    let world = World::new();
    let served = with_questions(&world);
    let sent = rpc(&served, "ann", "SendMessage", &make("new")).unwrap();
    let result = |task: &Value| {
        let artifacts = task["artifacts"].as_array().unwrap().clone();
        assert_eq!(artifacts.len(), 1, "{task}");
        artifacts[0]["parts"][0]["data"].clone()
    };
    let asked = result(&sent["task"]);
    assert_eq!(asked["error"]["code"], "ApprovalRequired", "{sent}");
    let ticket = asked["error"]["details"]["approval_id"].as_str().unwrap();
    assert_eq!(world.run(&["approvals", "approve", ticket]).code, 0);
    let mut again = make("new");
    again["message"]["taskId"] = sent["task"]["id"].clone();
    let answered = rpc(&served, "ann", "SendMessage", &again).unwrap();
    assert_eq!(answered["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answered}");
    assert_eq!(result(&answered["task"])["status"], "success", "{answered}");
}

#[test]
fn whoever_follows_a_task_that_waits_does_not_keep_the_server() {
    use std::io::{Read as _, Write as _};
    let world = World::new();
    let mut served = with_questions(&world);
    let sent = rpc(&served, "ann", "SendMessage", &make("new")).unwrap();
    let params = json!({"id": sent["task"]["id"]});
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "SubscribeToTask", "params": params}).to_string();
    let mut stream = served.connect();
    let head = format!(
        "POST /a2a/invoke HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        key("ann"),
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut heard = Vec::new();
    while !String::from_utf8_lossy(&heard).contains("INPUT_REQUIRED") {
        let mut piece = [0; 4096];
        let n_read = stream.read(&mut piece).unwrap();
        assert!(n_read > 0, "{}", String::from_utf8_lossy(&heard));
        heard.extend_from_slice(&piece[..n_read]);
    }
    served.tell_to_end();
    assert_eq!(served.wait(), 0, "{}", served.log());
}

#[test]
fn whoever_was_stopped_neither_looks_nor_changes() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = with_questions(&world);
    let done = rpc(&served, "ann", "SendMessage", &read_a()).unwrap()["task"]["id"].clone();
    let waiting = rpc(&served, "ann", "SendMessage", &make("new")).unwrap()["task"]["id"].clone();
    assert_eq!(world.run(&["stop", "ann"]).code, 0);
    for (method, params) in [
        ("GetTask", json!({"id": done})),
        ("ListTasks", json!({"includeArtifacts": true})),
        ("CancelTask", json!({"id": waiting})),
        ("SubscribeToTask", json!({"id": waiting})),
        ("ListTaskPushNotificationConfigs", json!({"taskId": done})),
        ("GetExtendedAgentCard", json!({})),
        ("tasks/get", json!({"id": done})),
        ("tasks/cancel", json!({"id": waiting})),
    ] {
        assert_eq!(rpc(&served, "ann", method, &params), Err(-32051), "{method}");
    }
    let mut on = make("new");
    for spelling in ["taskId", "task_id"] {
        on["message"][spelling] = waiting.clone();
        assert_eq!(rpc(&served, "ann", "SendMessage", &on), Err(-32051), "{spelling}");
        on["message"].as_object_mut().unwrap().remove(spelling);
    }
    // A call is refused by the walk, and on record.
    let sent = rpc(&served, "ann", "SendMessage", &read_a()).unwrap();
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_REJECTED", "{sent}");
    assert_eq!(outcomes(&world).last().unwrap()["code"], "Suspended");
    assert!(rpc(&served, "ben", "ListTasks", &json!({})).is_ok());
    assert_eq!(world.run(&["resume", "ann"]).code, 0);
    let found = rpc(&served, "ann", "GetTask", &json!({"id": waiting})).unwrap();
    assert_eq!(found["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
}

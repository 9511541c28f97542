//! Tasks that reach other hosts: at work until they are canceled, and with news for addresses that their caller named.

use std::sync::{Arc, Mutex, mpsc};

use serde_json::{Value, json};

use crate::a2a::{ask, events, message, outcome, outcomes, read_a, rpc, settings};
use crate::http_world::Served;
use crate::net_world::NetWorld;
use crate::net_world::http::{Reply, page};
use crate::support::PATIENCE;

/// A site that says when it was asked, and answers as it is told.
fn net(reply: fn() -> Reply) -> (NetWorld, mpsc::Receiver<Value>) {
    let (sender, asked) = mpsc::channel();
    let sender = Arc::new(Mutex::new(sender));
    let net = NetWorld::new(move |request| {
        let header = |name: &str| json!(request.header(name));
        let seen = json!({
            "method": request.method, "target": request.target,
            "token": header("x-a2a-notification-token"), "authorization": header("authorization"),
            "body": serde_json::from_slice::<Value>(&request.body).unwrap_or_default(),
        });
        let _ = sender.lock().unwrap().send(seen);
        reply()
    });
    (net.set(settings()), asked)
}

#[test]
fn a_task_at_work_is_canceled() {
    let (net, asked) = net(|| Reply::Stalled(b"HTTP/1.1 200 OK\r\n".to_vec()));
    let served = Served::with_args(&net.world, &["--config", &net.config()]);
    let data = json!({"tool": "fetch_url", "arguments": {"url": net.url("/slow")}});
    let params = json!({"message": message(&data), "configuration": {"returnImmediately": true}});
    let sent = rpc(&served, "ann", "SendMessage", &params).unwrap();
    let id = sent["task"]["id"].clone();
    asked.recv_timeout(PATIENCE).unwrap();
    let state = rpc(&served, "ann", "GetTask", &json!({"id": id})).unwrap()["status"]["state"].clone();
    assert_eq!(state, "TASK_STATE_WORKING");
    let mut follow = read_a();
    follow["message"]["taskId"] = id.clone();
    assert_eq!(rpc(&served, "ann", "SendMessage", &follow), Err(-32004), "at work");
    let heard = std::thread::scope(|scope| {
        let listening = scope.spawn(|| ask(&served, "ann", "SubscribeToTask", &json!({"id": id})));
        let canceled = rpc(&served, "ann", "CancelTask", &json!({"id": id})).unwrap();
        assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED", "{canceled}");
        listening.join().unwrap()
    });
    // Either it listened in time, or it was told that there is nothing more to hear.
    if heard.header("content-type") == Some("text/event-stream") {
        let last = events(&heard).pop().unwrap();
        assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED", "{heard:?}");
    } else {
        assert_eq!(outcome(&heard), Err(-32004));
    }
    assert_eq!(rpc(&served, "ann", "CancelTask", &json!({"id": id})), Err(-32002));
}

#[test]
fn news_go_where_the_policy_lets_them() {
    let (net, asked) = net(|| page("text/plain", "ok"));
    let secret = format!("w8Rk{}", "Jd2v".repeat(5));
    let net = net.set(json!({"secrets": {"env": {"DEPLOY": secret}}}));
    net.world.file("a.txt", "one\n");
    let served = Served::with_args(&net.world, &["--config", &net.config()]);
    let id = rpc(&served, "ann", "SendMessage", &read_a()).unwrap()["task"]["id"].clone();
    let set = |url: &str| {
        let params = json!({"taskId": id, "url": url});
        rpc(&served, "ann", "CreateTaskPushNotificationConfig", &params)
    };
    let trap = net.trap.port();
    for url in [
        format!("http://127.0.0.1:{trap}/"),
        format!("http://trap.test:{trap}/"),
        format!("http://localhost:{trap}/"),
        "http://169.254.169.254/latest".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "ftp://site.test/".to_owned(),
        "not a url".to_owned(),
    ] {
        assert_eq!(set(&url), Err(-32602), "{url}");
        let mut params = read_a();
        params["configuration"] = json!({"taskPushNotificationConfig": {"url": url}});
        assert_eq!(rpc(&served, "ann", "SendMessage", &params), Err(-32602), "{url}");
    }
    // A secret of ours goes nowhere, neither in the address nor beside it.
    assert_eq!(set(&net.url(&format!("/hook?key={secret}"))), Err(-32602));
    let beside = json!({"taskId": id, "url": net.url("/hook"), "token": secret});
    assert_eq!(rpc(&served, "ann", "CreateTaskPushNotificationConfig", &beside), Err(-32602));
    // Nor in words that a caller may choose in what we write.
    let mut named = read_a();
    named["message"]["contextId"] = json!(secret);
    named["configuration"] = json!({"taskPushNotificationConfig": {"url": net.url("/hook")}});
    rpc(&served, "ann", "SendMessage", &named).unwrap();
    served.hear("News of a task were not delivered");
    assert!(asked.try_recv().is_err(), "a secret left with the news");
    let shown = set(&net.url("/hook")).unwrap();
    assert_eq!((&shown["taskId"], &shown["id"]), (&id, &id));
    let which = json!({"taskId": id, "id": id});
    assert_eq!(rpc(&served, "ann", "GetTaskPushNotificationConfig", &which).unwrap(), shown);
    let listed = rpc(&served, "ann", "ListTaskPushNotificationConfigs", &json!({"taskId": id})).unwrap();
    assert_eq!(listed["configs"], json!([shown]));
    for _ in 0..2 {
        assert_eq!(rpc(&served, "ann", "DeleteTaskPushNotificationConfig", &which), Ok(json!({})));
    }
    assert_eq!(rpc(&served, "ann", "GetTaskPushNotificationConfig", &which), Err(-32001));

    let (token, credentials) = (format!("q7Lw{}", "Zp3x".repeat(4)), format!("Vb9d{}", "Kt5m".repeat(5)));
    let mut params = read_a();
    params["configuration"] = json!({"taskPushNotificationConfig": {"url": net.url("/hook?a=1"), "token": token,
        "authentication": {"scheme": "Bearer", "credentials": credentials}}});
    let sent = rpc(&served, "ann", "SendMessage", &params).unwrap();
    let seen = asked.recv_timeout(PATIENCE).unwrap();
    assert_eq!((&seen["method"], &seen["target"]), (&json!("POST"), &json!("/hook?a=1")));
    assert_eq!(
        (&seen["token"], &seen["authorization"]),
        (&json!(token), &json!(format!("Bearer {credentials}")))
    );
    let task = &seen["body"]["task"];
    assert_eq!(
        (&task["id"], &task["status"]["state"]),
        (&sent["task"]["id"], &json!("TASK_STATE_COMPLETED"))
    );
    assert_eq!(task["artifacts"], sent["task"]["artifacts"]);
    assert_eq!(task.get("history"), None, "the caller's own words stay here");
    // Whoever reads the record cannot pretend to be us.
    let raw = net.world.raw_records();
    assert!(!raw.contains(&token) && !raw.contains(&credentials), "{raw}");
    // It ends with its calls done: no second delivery comes, and all of it is on record.
    let mut served = served;
    served.end();
    assert_eq!(net.site.requests().len(), 1);
    let records = outcomes(&net.world);
    let delivered: Vec<&Value> = records
        .iter()
        .filter(|record| record["tool"] == "a2a_notify" && record["decision"] == "allow")
        .collect();
    assert_eq!(delivered.iter().filter(|record| record["dry_run"] == false).count(), 1, "{delivered:?}");
    assert!(
        delivered.iter().all(|record| record["door"] == "system" && record["caller_id"] == "ann"),
        "{delivered:?}"
    );
}

#[test]
fn the_end_waits_for_news_and_for_tasks_that_nobody_waits_for() {
    let (net, asked) = net(|| page("text/plain", "ok"));
    net.world.file("a.txt", "one\n");
    let mut served = Served::with_args(&net.world, &["--config", &net.config()]);
    let hook = json!({"url": net.url("/hook")});
    let configuration = json!({"returnImmediately": true, "taskPushNotificationConfig": hook});
    let mut params = read_a();
    params["configuration"] = configuration;
    let n_tasks = 8;
    for _ in 0..n_tasks {
        rpc(&served, "ann", "SendMessage", &params).unwrap();
    }
    assert_eq!(served.end(), 0, "{}", served.log());
    assert_eq!(asked.try_iter().count(), n_tasks, "{}", served.log());
}

#[test]
fn the_end_does_not_wait_long_for_a_slow_address() {
    let (net, asked) = net(|| Reply::Stalled(b"HTTP/1.1 200 OK\r\n".to_vec()));
    net.world.file("a.txt", "one\n");
    let mut served = Served::with_args(&net.world, &["--config", &net.config()]);
    let mut params = read_a();
    params["configuration"] = json!({"taskPushNotificationConfig": {"url": net.url("/hook")}});
    rpc(&served, "ann", "SendMessage", &params).unwrap();
    asked.recv_timeout(PATIENCE).unwrap();
    served.tell_to_end();
    served.hear("News of tasks were not delivered before the end");
    // The call itself is still under way, and has its own time; a second signal does not wait for it.
    served.tell_to_end();
    served.wait();
}

/// What is refused to a caller's own requests does not leave as news of its tasks.
#[test]
fn news_go_nowhere_where_rules_refuse_requests() {
    let deny = |tool: &str| json!({"tool": tool, "decision": "deny", "reason": "nothing leaves"});
    for rules in [json!([deny("fetch_url"), deny("web_fetch")]), json!([deny("a2a_notify")])] {
        let (net, asked) = net(|| page("text/plain", "ok"));
        let net = net.set(json!({"rules": rules}));
        net.world.file("a.txt", "one\n");
        let mut served = Served::with_args(&net.world, &["--config", &net.config()]);
        let mut params = read_a();
        params["configuration"] = json!({"taskPushNotificationConfig": {"url": net.url("/hook")}});
        let refused = ask(&served, "ann", "SendMessage", &params).json();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(refused.to_string().contains("nothing leaves"), "{refused}");
        let id = rpc(&served, "ann", "SendMessage", &read_a()).unwrap()["task"]["id"].clone();
        let hook = json!({"taskId": id, "url": net.url("/hook")});
        assert_eq!(rpc(&served, "ann", "CreateTaskPushNotificationConfig", &hook), Err(-32602), "{rules}");
        served.end();
        assert!(asked.try_recv().is_err(), "{rules}");
        let denied = outcomes(&net.world);
        let denied = denied.iter().filter(|record| record["tool"] == "a2a_notify");
        assert!(
            denied.clone().count() == 2 && denied.clone().all(|it| it["code"] == "RuleDenied"),
            "{rules}"
        );
    }
}

/// Whoever is told news cannot have them carried further.
#[test]
fn news_are_not_sent_on() {
    let (net, asked) = net(|| {
        Reply::Raw(b"HTTP/1.1 307 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n".to_vec())
    });
    net.world.file("a.txt", "one\n");
    let served = Served::with_args(&net.world, &["--config", &net.config()]);
    let mut params = read_a();
    params["configuration"] = json!({"taskPushNotificationConfig": {"url": net.url("/hook")}});
    rpc(&served, "ann", "SendMessage", &params).unwrap();
    assert_eq!(asked.recv_timeout(PATIENCE).unwrap()["target"], "/hook");
    // It is tried again, at the same place.
    assert_eq!(asked.recv_timeout(PATIENCE).unwrap()["target"], "/hook");
}

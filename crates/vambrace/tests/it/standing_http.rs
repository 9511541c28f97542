//! Callers of a running server: each is counted, alerted and stopped for itself, from another process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::http_world::{NO_LIMIT, Served};
use crate::support::World;

/// Two callers with a key each, and what else the operator says.
fn served(world: &World, more: &str) -> Served {
    world.file("a.txt", "one\n");
    let keys: String = ["agent-a", "agent-b"]
        .map(|name| format!("  {}: {{caller_id: {name}, role: write}}\n", key(name)))
        .concat();
    Served::with_config(world, &format!("{NO_LIMIT}{more}api_keys:\n{keys}"))
}

fn key(name: &str) -> String {
    format!("ka_{name}_{}", "0a1b2c3d".repeat(4))
}

fn call(served: &Served, name: &str, path: &str) -> Value {
    let key = key(name);
    let answer = served.post_as(&[("X-API-Key", &key)], "/api/tools/read_file", &json!({"path": path}));
    answer.json()
}

/// The error's code, or `-`.
fn read(served: &Served, name: &str) -> String {
    call(served, name, "a.txt")["error"]["code"].as_str().unwrap_or("-").to_owned()
}

fn callers_alerted(world: &World) -> Vec<Value> {
    world.run(&["audit", "alerts"]).lines().into_iter().map(|alert| alert["caller"].clone()).collect()
}

#[test]
fn a_stop_from_another_process_is_noticed_at_the_next_call() {
    let world = World::new();
    let served = served(&world, "");
    let check = |a: &str, b: &str| {
        assert_eq!((read(&served, "agent-a").as_str(), read(&served, "agent-b").as_str()), (a, b));
    };
    let run = |args: &[&str]| assert_eq!(world.run(args).code, 0, "{args:?}");
    check("-", "-");
    run(&["stop", "agent-a"]);
    check("Suspended", "-");
    run(&["resume", "agent-a"]);
    check("-", "-");
    run(&["stop"]);
    check("Suspended", "Suspended");
    run(&["resume", "agent-a"]);
    check("Suspended", "Suspended");
    run(&["resume", "*"]);
    check("-", "-");
    assert_eq!(served.get("/health").status, 200);
}

#[test]
fn violations_over_http_raise_the_alert_for_each_caller_apart() {
    let world = World::new();
    let served = served(&world, "");
    for _ in 0..5 {
        for name in ["agent-a", "agent-b"] {
            assert_eq!(call(&served, name, "../x")["error"]["code"], "PathOutsideProject");
        }
    }
    assert_eq!(callers_alerted(&world), Vec::<Value>::new());
    let sixth = call(&served, "agent-a", "../x");
    assert_eq!(sixth["metadata"]["warnings"][0], "Alert raised: violations.", "{sixth}");
    assert_eq!(callers_alerted(&world), ["agent-a"]);
    // An alert alone stops nobody.
    assert_eq!((read(&served, "agent-a"), read(&served, "agent-b")), ("-".to_owned(), "-".to_owned()));
}

#[test]
fn the_defence_stops_the_caller_and_the_server_lives() {
    for action in ["suspend", "terminate"] {
        let world = World::new();
        let mut served = served(&world, &format!("defence: {{action: {action}}}\n"));
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| call(&served, "agent-a", "../x"));
            }
        });
        assert_eq!(callers_alerted(&world), ["agent-a"], "{action}");
        assert_eq!(
            (read(&served, "agent-a").as_str(), read(&served, "agent-b").as_str()),
            ("Suspended", "-"),
            "{action}"
        );
        assert_eq!(world.run(&["resume", "agent-a"]).code, 0);
        assert_eq!(read(&served, "agent-a"), "-", "{action}");
        assert_eq!(served.end(), 0, "{action}");
    }
}

/// Specification 001 wants to hear of guesses: more than nine in a minute from one place.
#[test]
fn wrong_credentials_raise_an_alert_for_their_address() {
    let world = World::new();
    let mut served = served(&world, "defence: {action: suspend}\n");
    for n in 0..10 {
        let key = format!("wrong-{n}");
        assert_eq!(served.send("GET", "/api/tools", &[("X-API-Key", &key)], b"").status, 401);
    }
    served.hear("Alert raised: auth");
    assert_eq!(callers_alerted(&world), ["127.0.0.1"]);
    // Who comes from there is not stopped by it; the door itself is shut for a while.
    assert_eq!(served.send("GET", "/", &[("X-API-Key", &key("agent-a"))], b"").status, 429);
    assert_eq!(world.run(&["stop", "--list"]).lines(), Vec::<Value>::new(), "nobody is stopped by strangers");
    assert_eq!(served.end(), 0);
    assert!(world.records().iter().any(|record| record["event"] == "alert_raised"));
}

/// Somebody else's lock on the file of violations makes those wait who violate, and nobody else.
#[test]
fn a_record_that_is_locked_does_not_stop_the_others() {
    let world = World::new();
    let served = served(&world, "");
    assert_eq!(call(&served, "agent-a", "../x")["error"]["code"], "PathOutsideProject");
    let stream = std::fs::File::open(world.audit().join("security.jsonl")).unwrap();
    let n_callers = 2 * thread::available_parallelism().map_or(4, usize::from).max(4);
    let n_outcomes = || world.raw_records().matches("\"kind\":\"outcome\"").count();
    // How many of those who wait for the lock were answered before the others.
    let round = || {
        stream.lock().unwrap();
        let n_answered = AtomicUsize::new(0);
        thread::scope(|scope| {
            let n_before = n_outcomes();
            for _ in 0..n_callers {
                scope.spawn(|| {
                    call(&served, "agent-a", "../x");
                    n_answered.fetch_add(1, Ordering::SeqCst);
                });
            }
            // All of them are at the lock when their outcomes are in the record.
            while n_outcomes() < n_before + n_callers {
                thread::yield_now();
            }
            for _ in 0..3 {
                assert_eq!(served.get("/health").status, 200);
                assert_eq!(read(&served, "agent-b"), "-");
            }
            let n_answered = n_answered.load(Ordering::SeqCst);
            stream.unlock().unwrap();
            n_answered
        })
    };
    // The lock is waited for five seconds and no longer; a machine that is slow just now may need more.
    assert!((0..5).any(|_| round() == 0), "the others waited for the lock");
}

/// What specification 001 tells operators to search for in the log.
#[test]
fn refused_calls_are_in_the_log_in_the_words_of_the_specification() {
    let world = World::new();
    let served = served(&world, "");
    for (url, words) in [
        ("http://localhost/", "localhost/metadata service"),
        ("http://169.254.169.254/latest", "localhost/metadata service"),
        ("http://a.default.svc.cluster.local/", "Kubernetes internal services"),
        ("http://192.168.1.1/", "private/internal IP"),
        ("file:///etc/passwd", "unsupported URL scheme"),
    ] {
        let body = json!({"url": url});
        let answer = served.post_as(&[("X-API-Key", &key("agent-a"))], "/api/tools/fetch_url", &body);
        assert_eq!(answer.status, 403, "{answer:?}");
        served.hear(words);
    }
    let log = served.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("URL validation failed")).collect();
    assert_eq!(lines.len(), 5, "{log}");
    assert!(lines.iter().all(|line| line.contains("caller_id=agent-a tool=fetch_url")), "{log}");
}

/// The kill switch does not wait for what is under way.
#[test]
fn a_stop_ends_what_is_under_way() {
    let world = World::new();
    let served = served(&world, "");
    let run = |name: &str, command: &str| {
        let body = json!({"command": command});
        served.post_as(&[("X-API-Key", &key(name))], "/api/tools/exec_shell", &body).json()
    };
    assert_eq!(run("agent-b", "true")["data"]["exit_code"], 0);
    let answer = thread::scope(|scope| {
        let running = scope.spawn(|| run("agent-a", "sleep 250"));
        while !world.raw_records().contains("sleep 250") {
            thread::yield_now();
        }
        assert_eq!(world.run(&["stop", "agent-a"]).code, 0);
        running.join().unwrap()
    });
    assert_eq!(answer["error"]["code"], "Cancelled", "{answer}");
    assert_eq!(run("agent-b", "true")["data"]["exit_code"], 0);
}

//! Two hundred calls at once, each for another person: nobody is ever taken for somebody else. P13.

use std::collections::BTreeMap;
use std::thread;

use serde_json::{Value, json};

use crate::http_world::{Answer, NO_LIMIT, Served};
use crate::support::World;

const CALLS: usize = 200;

fn person(number: usize) -> String {
    format!("person{number}@example.com")
}

/// Every third person may save, and one of two ways it is known.
fn may_save(number: usize) -> bool {
    number.is_multiple_of(3)
}

#[test]
fn concurrent_calls_of_different_people_never_swap_identity() {
    let world = World::new();
    let internal = "1c2d3e4f".repeat(8);
    let emails: Vec<Value> = (0..CALLS)
        .filter(|number| may_save(*number) && number % 2 == 0)
        .map(|number| json!({"value": person(number), "role": "write"}))
        .collect();
    let permissions =
        json!({"allowed_emails": emails, "allowed_groups": [{"value": "savers", "role": "write"}]});
    let config =
        format!("{NO_LIMIT}auth: {}\npermissions: {permissions}\n", json!({"internal_token": internal}));
    let served = Served::with_config(&world, &config);
    let answers: Vec<(usize, Answer)> = thread::scope(|scope| {
        let served = &served;
        let internal = internal.as_str();
        let calls: Vec<_> = (0..CALLS)
            .map(|number| {
                scope.spawn(move || {
                    let groups =
                        if may_save(number) && number % 2 == 1 { "readers,savers" } else { "readers" };
                    let email = person(number);
                    let who = [
                        ("X-Internal-Token", internal),
                        ("X-User-Email", email.as_str()),
                        ("X-User-Groups", groups),
                    ];
                    let arguments = json!({"content": format!("what person{number} knows")});
                    (number, served.post_as(&who, "/api/tools/save_to_memory", &arguments))
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    let records: BTreeMap<String, Value> = world
        .raw_records()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| {
            line["tool"] == "save_to_memory" && line.get("outcome").is_some() || line["ending"].is_string()
        })
        .map(|line| (line["call_id"].as_str().unwrap_or_default().to_owned(), line))
        .collect();
    for (number, answer) in answers {
        let result = answer.json();
        assert_eq!(result["status"] == "success", may_save(number), "{number}: {result}");
        let record = &records[result["metadata"]["call_id"].as_str().unwrap()];
        assert_eq!(record["user_email"], person(number), "{record}");
        assert_eq!(record["caller_id"], "slack-bridge");
        assert_eq!(record["input"]["content"], format!("what person{number} knows"));
    }
}

#[test]
fn nobody_becomes_somebody_else_by_saying_so() {
    let world = World::new();
    let plain = format!("ka_{}_{}", "plain", "1f".repeat(16));
    let bridge = format!("ka_{}_{}", "bridge", "2e".repeat(16));
    let keys = json!([
        {"caller_id": "plain", "role": "write", "secret": plain},
        {"caller_id": "bridge", "role": "write", "secret": bridge, "may_assert_identity": true},
    ]);
    let permissions = json!({"allowed_emails": [{"value": "admin@example.com", "role": "write"}]});
    let served =
        Served::with_config(&world, &format!("{NO_LIMIT}api_keys: {keys}\npermissions: {permissions}\n"));
    let save = |key: &str, body: Value| {
        let who = [("X-API-Key", key), ("X-User-Email", "admin@example.com")];
        served.post_as(&who, "/api/tools/save_to_memory", &body).json()
    };
    assert_eq!(save(&plain, json!({"content": "x"}))["error"]["code"], "PermissionDenied");
    assert_eq!(save(&bridge, json!({"content": "x"}))["status"], "success");
    // What the body says of its sender is no argument of the tool.
    let body = json!({"content": "x", "user_email": "admin@example.com"});
    assert_eq!(save(&plain, body)["status"], "error");
}

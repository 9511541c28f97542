//! Many callers at once: nobody is taken for somebody else.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use vambrace_runtime::{Incoming, Reply};
use vambrace_types::{Caller, SessionId, Status};

use crate::settings::Settings;
use crate::text::shown;
use crate::world::{RUNTIME, World, demand_success};

const N_CALLS: usize = 200;

fn person(number: usize) -> String {
    format!("person-{number}")
}

/// The call of one caller: reads, writes and a denial in turn, each about a file of its own.
fn own_call(world: &World, number: usize) -> Incoming {
    let path = format!("{}.txt", person(number));
    let (tool, arguments) = match number % 4 {
        0 => ("read_file", json!({"path": path})),
        1 => ("write_file", json!({"path": path, "content": format!("written by {}\n", person(number))})),
        2 => ("search_file", json!({"path": path, "regex": "."})),
        _ => ("read_file", json!({"path": format!(".env/{}", person(number))})),
    };
    let caller = Caller { id: person(number), ..world.caller() };
    let session = SessionId::parse(&format!("session of {}", person(number))).unwrap();
    Incoming { caller, session, ..world.incoming(tool, arguments) }
}

fn all_at_once(world: &World, incoming: impl Fn(usize) -> Incoming) -> Vec<(usize, Reply)> {
    RUNTIME.block_on(async {
        let mut calls = JoinSet::new();
        for number in 0..N_CALLS {
            let (corridor, incoming) = (Arc::clone(&world.corridor), incoming(number));
            calls.spawn(async move { (number, corridor.call(incoming).await.unwrap()) });
        }
        calls.join_all().await
    })
}

#[test]
fn two_hundred_callers_at_once_keep_their_names() {
    let file = |number| (format!("{}.txt", person(number)), json!(format!("file of {}.\n", person(number))));
    let world = World::plain(Value::Object((0..N_CALLS).map(file).collect::<Map<_, _>>()));
    let replies = all_at_once(&world, |number| own_call(&world, number));
    assert_eq!(replies.len(), N_CALLS);
    let records = world.all_records();
    for (number, reply) in replies {
        assert_eq!(reply.status() == Status::Success, number % 4 != 3, "{:?}", reply.error());
        // Every text about a file is about the caller's own.
        let text = shown(&reply).to_string();
        let names = text.match_indices("person-").map(|(at, _)| &text[at..]);
        let own = |rest: &str| {
            rest.strip_prefix(&person(number)).is_some_and(|r| !r.starts_with(|c: char| c.is_ascii_digit()))
        };
        for name in names {
            assert!(own(name), "{number}: {text}");
        }
        let call_id = reply.metadata().call_id.as_str();
        let lines: Vec<_> = records.iter().filter(|record| record["call_id"] == call_id).collect();
        assert_eq!(lines.len(), if number % 4 == 3 { 1 } else { 2 });
        for line in lines {
            assert_eq!(line["caller_id"], person(number));
            assert_eq!(line["session_id"], format!("session of {}", person(number)));
            assert!(line["input"]["path"].as_str().unwrap().contains(&person(number)));
        }
    }
    world.corridor.audit().unwrap().seal().unwrap();
    let report = vambrace_audit::verify(&world.audit_folder()).unwrap();
    assert!(report.broken.is_none() && report.open_intents.is_empty(), "{report:?}");
}

#[test]
fn two_hundred_writers_of_one_file_leave_one_whole_text() {
    let settings = Settings { lock_wait_ms: 60_000, ..Settings::default() };
    let world = World::new(settings, &json!({"a.txt": "start"}));
    let text = |number: usize| format!("{number}\n").repeat(50);
    let write = |number| world.incoming("write_file", json!({"path": "a.txt", "content": text(number)}));
    let replies = all_at_once(&world, write);
    replies.iter().for_each(|(_, reply)| demand_success(reply));
    let left = world.file("a.txt");
    assert!((0..N_CALLS).any(|number| text(number) == left), "{left}");
    let files: Vec<_> = world.snapshot().into_keys().collect();
    assert_eq!(files, ["a.txt"], "neither locks nor temporary files are left");
}

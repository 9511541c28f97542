//! Calls from a thread that carries connections: it has a runtime of its own, with nobody to make way for it.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use vambrace_runtime::Incoming;
use vambrace_types::ErrorCode;

use crate::settings::Settings;
use crate::world::{RUNTIME, World, code};

fn on_one_thread<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// What waits for nobody, what waits for a lock, what waits for the disk, and what takes long.
#[test]
fn whatever_a_call_waits_for_it_ends_as_elsewhere() {
    let calls: [(&str, Value, bool, Option<ErrorCode>); 8] = [
        ("read_file", json!({"path": "a.txt"}), false, None),
        ("read_file", json!({"path": "a.txt"}), true, None),
        ("read_file", json!({"path": "a.txt", "limit": 1}), false, None),
        ("read_file", json!({"path": "absent"}), false, Some(ErrorCode::FileNotFound)),
        // A violation is counted behind a lock that all processes share.
        ("read_file", json!({"path": ".env"}), false, Some(ErrorCode::BlockedPath)),
        ("search_file", json!({"regex": "a"}), false, None),
        ("write_file", json!({"path": "b.txt", "content": "b"}), false, None),
        ("no_such_tool", json!({}), false, Some(ErrorCode::ToolNotFound)),
    ];
    for durable in [false, true] {
        let world =
            World::new(Settings { durable, ..Settings::default() }, &json!({"a.txt": "a", ".env": "A=1"}));
        world.corridor.live_on(RUNTIME.handle().clone());
        on_one_thread(async {
            for (tool, arguments, dry_run, expected) in &calls {
                let incoming = Incoming { dry_run: *dry_run, ..world.incoming(tool, arguments.clone()) };
                let reply = world.corridor.call(incoming).await.unwrap();
                assert_eq!(code(&reply), *expected, "{tool} {arguments} {:?}", reply.error());
                assert!(reply.metadata().warnings.is_empty(), "{tool} {:?}", reply.metadata().warnings);
            }
        });
        assert_eq!(world.file("b.txt"), "b");
        let records = world.all_records();
        let outcomes = records.iter().filter(|record| record["kind"] == "outcome").count();
        assert_eq!(outcomes, calls.len(), "durable: {durable}");
    }
}

/// The intents of calls that come at the same time are written at once, and so are their outcomes.
#[test]
fn short_calls_that_come_together_are_written_together() {
    const N_CALLS: usize = 5;
    let world = Arc::new(World::plain(json!({"a.txt": "a"})));
    on_one_thread(async {
        let mut calls = JoinSet::new();
        for _ in 0..N_CALLS {
            let world = Arc::clone(&world);
            calls.spawn(async move {
                let incoming = world.incoming("read_file", json!({"path": "a.txt"}));
                world.corridor.call(incoming).await.unwrap()
            });
        }
        let replies = calls.join_all().await;
        assert!(replies.iter().all(|reply| reply.error().is_none()));
    });
    let records = world.all_records();
    let kinds: Vec<_> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, [["intent"; N_CALLS], ["outcome"; N_CALLS]].concat());
}

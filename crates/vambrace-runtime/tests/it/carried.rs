//! Calls from a thread that carries connections: it has a runtime of its own, with nobody to make way for it.

use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};

use serde_json::{Value, json};
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

/// A runtime for long calls whose only worker is held until the sender is dropped.
fn held_home() -> (tokio::runtime::Runtime, mpsc::Sender<()>) {
    let home = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let ((release, held), (tell, begun)) = (mpsc::channel::<()>(), mpsc::channel());
    home.spawn(async move {
        tell.send(()).unwrap();
        let _ = held.recv();
    });
    begun.recv().unwrap();
    (home, release)
}

/// Whether the call is done on the thread that carries, or elsewhere.
#[track_caller]
fn check(arguments: Value, dry_run: bool, is_carried: bool) {
    let large = json!({"repeat": "0123456789abcde\n", "times": 2000});
    let ordered = json!([{"tool": "read_file", "path": "guarded.txt", "decision": "ask"}]);
    let settings =
        Settings { rules: serde_json::from_value(ordered).unwrap(), approvals: true, ..Settings::default() };
    let world =
        World::new(settings, &json!({"a.txt": "a", "large.txt": large, ".env": "A=1", "guarded.txt": "g"}));
    let (home, release) = held_home();
    world.corridor.live_on(home.handle().clone());
    on_one_thread(async {
        let incoming = Incoming { dry_run, ..world.incoming("read_file", arguments.clone()) };
        let mut call = pin!(world.corridor.call(incoming));
        let mut reply = None;
        for _ in 0..10 {
            if reply.is_none() {
                let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                reply = if let std::task::Poll::Ready(reply) = polled { reply } else { None };
            }
        }
        assert_eq!(reply.is_some(), is_carried, "{arguments}");
        drop(release);
        if reply.is_none() {
            assert!(call.await.is_some(), "{arguments}");
        }
    });
}

/// Others of the same thread wait for what is done there.
#[test]
fn only_what_is_short_is_done_on_a_thread_that_carries() {
    check(json!({"path": "a.txt"}), false, true);
    check(json!({"path": "absent"}), false, true);
    check(json!({"path": "a.txt", "limit": 1}), false, false);
    check(json!({"path": "large.txt"}), false, false);
    check(json!({"path": ".env"}), false, false);
    check(json!({"path": "guarded.txt"}), false, false);
    check(json!({"path": "a.txt"}), true, false);
}

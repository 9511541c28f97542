//! Calls that do not come to their own end: cancelled, out of time, without a caller, or fallen over.

use std::future::Future as _;
use std::pin::pin;
use std::sync::{Arc, Once};
use std::task::{Context, Waker};

use serde_json::{Map, Value, json};
use tokio::runtime::{Handle, Runtime};
use vambrace_runtime::{Corridor, Incoming, Leash, Purpose, Reply, Verdict};
use vambrace_tools::ProgressSink;
use vambrace_types::{Caller, Chain, ErrorCode};

use crate::disk;
use crate::settings::Settings;
use crate::world::{RUNTIME, World, code, demand_success};

/// Enough files for a search to say how far it has come, and folders enough for it to stop between two.
fn many_files() -> Value {
    let path = |number: usize| format!("folder{}/{number}.txt", number % 10);
    Value::Object((0..1050).map(|number| (path(number), json!("needle\n"))).collect::<Map<_, _>>())
}

/// Does something when a search says how far it has come.
struct OnProgress<F>(F);

impl<F: Fn() + Send + Sync> ProgressSink for OnProgress<F> {
    fn progress(&self, _done: u64, _what: &str) {
        self.0();
    }
}

/// A runtime with one worker: tasks take turns, so what was woken first is done before what was spawned later.
fn one_worker() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Returns when the tasks that were woken before have had their turn. The watch of a call is one of them.
fn let_the_others_run(runtime: &Handle) {
    for _ in 0..100 {
        let (done, wait) = std::sync::mpsc::channel();
        runtime.spawn(async move { done.send(()) });
        wait.recv().unwrap();
    }
}

/// A search that is stopped on its way by `pull`.
fn stopped(tool: &str, pull: fn(&Leash)) -> (World, Reply) {
    let world = World::plain(many_files());
    let (runtime, leash) = (one_worker(), Leash::default());
    let (handle, own) = (runtime.handle().clone(), leash.clone());
    let sink = Arc::new(OnProgress(move || {
        pull(&own);
        let_the_others_run(&handle);
    }));
    let incoming = world.watched(tool, json!({"regex": "needle"}), sink);
    let reply = runtime.block_on(world.corridor.call(Incoming { leash, ..incoming })).unwrap();
    (world, reply)
}

#[track_caller]
fn demand_ending(world: &World, reply: &Reply, expected: ErrorCode, ending: &str) {
    assert_eq!(code(reply), Some(expected), "{:?}", reply.error());
    assert_eq!(reply.verdict(), Verdict::Allow);
    assert_eq!(reply.data().as_tree(), &vambrace_types::Tree::Null);
    let records = world.records_of(reply);
    assert_eq!(records.len(), 2, "{records:?}");
    assert_eq!(records[1]["ending"], ending, "{:?}", records[1]);
    assert_eq!(records[1]["code"], expected.as_str());
    assert!(records[1].get("violation").is_none(), "stopping is no attack");
}

#[test]
fn a_cancelled_search_ends_as_cancelled() {
    for tool in ["search_file", "count_matches"] {
        let (world, reply) = stopped(tool, Leash::cancel);
        demand_ending(&world, &reply, ErrorCode::Cancelled, "cancelled");
        assert_eq!(reply.error().unwrap().message.as_str(), "The caller cancelled the call.");
    }
}

#[test]
fn a_search_whose_caller_has_gone_says_so() {
    let (world, reply) = stopped("search_file", Leash::caller_gone);
    demand_ending(&world, &reply, ErrorCode::Cancelled, "caller_gone");
}

#[test]
fn the_first_reason_to_stop_counts() {
    let both = |leash: &Leash| {
        leash.caller_gone();
        leash.cancel();
    };
    let (world, reply) = stopped("search_file", both);
    demand_ending(&world, &reply, ErrorCode::Cancelled, "caller_gone");
}

#[test]
fn a_call_that_was_done_before_it_was_cancelled_succeeded() {
    let world = World::plain(json!({"a.txt": "a"}));
    let leash = Leash::default();
    let reply = world.send(Incoming { leash: leash.clone(), ..world.incoming("list_files", json!({})) });
    leash.cancel();
    demand_success(&reply);
    assert_eq!(world.records_of(&reply)[1]["ending"], "success");
}

#[test]
fn a_call_without_time_left_times_out() {
    let settings = || Settings { time_ms: 0, ..Settings::default() };
    for (tool, arguments) in [
        ("list_files", json!({"recursive": true})),
        ("search_file", json!({"regex": "needle"})),
        ("count_matches", json!({"regex": "needle"})),
    ] {
        let world = World::new(settings(), &json!({"a/b.txt": "needle"}));
        let reply = world.call(tool, arguments);
        demand_ending(&world, &reply, ErrorCode::Timeout, "timed_out");
    }
}

#[test]
fn a_write_that_waits_for_a_lock_times_out_and_writes_nothing() {
    let settings = Settings { time_ms: 30, lock_wait_ms: 60_000, ..Settings::default() };
    let world = World::new(settings, &json!({"a.txt": "old", "b.txt": "old"}));
    let _held = disk::hold_lock(&world.workspace, "a.txt");
    let edit = |path: &str| json!({"path": path, "edits": [{"spec": "old", "content": "new"}]});
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "content": "new"})),
        ("delete_file", json!({"path": "a.txt"})),
        ("edit_file", json!({"files": [edit("b.txt"), edit("a.txt")]})),
    ] {
        let reply = world.call(tool, arguments);
        demand_ending(&world, &reply, ErrorCode::Timeout, "timed_out");
    }
    assert_eq!((world.file("a.txt"), world.file("b.txt")), ("old".to_owned(), "old".to_owned()));
}

#[test]
fn a_locked_file_is_busy_and_that_is_no_denial() {
    let settings = Settings { lock_wait_ms: 0, ..Settings::default() };
    let world = World::new(settings, &json!({"a.txt": "old"}));
    let held = disk::hold_lock(&world.workspace, "a.txt");
    let write = || world.call("write_file", json!({"path": "a.txt", "content": "new"}));
    let reply = write();
    assert_eq!((code(&reply), reply.verdict()), (Some(ErrorCode::ResourceBusy), Verdict::Allow));
    assert_eq!(world.records_of(&reply)[1]["ending"], "failed");
    drop(held);
}

#[test]
fn a_panic_in_a_tool_is_an_ending_like_any_other() {
    let world = World::plain(many_files());
    let sink = Arc::new(OnProgress(|| panic!("the sink of a test falls over on purpose")));
    let reply = world.send(world.watched("search_file", json!({"regex": "needle"}), sink));
    demand_ending(&world, &reply, ErrorCode::InternalError, "panicked");
    let record = &world.records_of(&reply)[1];
    assert_eq!(record["severity"], "CRITICAL");
    assert!(!reply.error().unwrap().message.as_str().contains("sink"), "our own faults stay in the house");
    // The corridor stands.
    demand_success(&world.call("count_matches", json!({"regex": "needle"})));
}

#[test]
fn a_caller_that_drops_its_call_does_not_take_the_outcome_with_it() {
    let world = World::new(Settings { lock_wait_ms: 60_000, ..Settings::default() }, &json!({}));
    let held = disk::hold_lock(&world.workspace, "a.txt");
    let incoming = world.incoming("write_file", json!({"path": "a.txt", "content": "kept"}));
    let _inside = RUNTIME.enter();
    {
        let mut call = pin!(world.corridor.call(incoming));
        // Once is enough: the walk is a task of its own from then on.
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    drop(held);
    disk::remove_lock(&world.workspace, "a.txt");
    RUNTIME.block_on(world.corridor.finish());
    assert_eq!(world.file("a.txt"), "kept");
    let kinds: Vec<_> = world.all_records().iter().map(|record| record["kind"].clone()).collect();
    assert_eq!(kinds, ["intent", "outcome"]);
}

/// There is no moment at which its caller could take its outcome along.
#[test]
fn a_short_call_is_over_and_on_record_when_it_was_polled_once() {
    let world = World::plain(json!({"a.txt": "a"}));
    let kinds = || -> Vec<_> { world.all_records().iter().map(|record| record["kind"].clone()).collect() };
    let _inside = RUNTIME.enter();
    let mut call = pin!(world.corridor.call(world.incoming("read_file", json!({"path": "a.txt"}))));
    assert!(kinds().is_empty());
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    assert_eq!(kinds(), ["intent", "outcome"]);
    RUNTIME.block_on(world.corridor.finish());
}

#[test]
fn finishing_waits_for_the_calls_under_way() {
    let world = World::plain(json!({"a.txt": {"repeat": "needle\n", "times": 20_000}}));
    let _inside = RUNTIME.enter();
    const N_CALLS: usize = 8;
    for _ in 0..N_CALLS {
        let mut call = pin!(world.corridor.call(world.incoming("count_matches", json!({"regex": "n"}))));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    RUNTIME.block_on(world.corridor.finish());
    let outcomes = world.all_records().into_iter().filter(|record| record["kind"] == "outcome");
    assert_eq!(outcomes.filter(|record| record["ending"] == "success").count(), N_CALLS);
}

#[test]
fn a_dry_run_is_stopped_like_a_call() {
    check_stopped_preview(Leash::cancel, "cancelled");
    check_stopped_preview(Leash::caller_gone, "caller_gone");
}

#[track_caller]
fn check_stopped_preview(pull: fn(&Leash), ending: &str) {
    let world = World::plain(json!({"a.txt": "old"}));
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "content": "new"})),
        ("delete_file", json!({"path": "a.txt"})),
        ("search_file", json!({"regex": "old"})),
    ] {
        let leash = Leash::default();
        pull(&leash);
        let reply = world.send(Incoming { leash, dry_run: true, ..world.incoming(tool, arguments) });
        assert_eq!(code(&reply), Some(ErrorCode::Cancelled), "{tool}: {:?}", reply.error());
        assert_eq!(world.records_of(&reply)[0]["ending"], ending, "{tool}");
    }
}

#[test]
fn a_dry_run_has_no_more_time_than_a_call() {
    let settings = Settings { time_ms: 0, ..Settings::default() };
    let world = World::new(settings, &json!({"a.txt": "old"}));
    let reply = world.dry_run("write_file", json!({"path": "a.txt", "content": "new"}));
    assert_eq!(code(&reply), Some(ErrorCode::Timeout), "{:?}", reply.error());
}

#[test]
fn a_panic_before_or_after_the_attempt_is_an_ending_too() {
    // A call reads the clock when it begins and when it is concluded.
    for (reading, n_records) in [(1, 1), (3, 2)] {
        let world = World::plain(json!({"a.txt": "a"}));
        world.clock.on_reading(move |number| {
            assert_ne!(number, reading, "the clock of a test falls over on purpose");
        });
        let reply = world.call("read_file", json!({"path": "a.txt"}));
        assert_eq!(code(&reply), Some(ErrorCode::InternalError), "reading {reading}: {:?}", reply.error());
        let records = world.records_of(&reply);
        assert_eq!(records.len(), n_records, "{records:?}");
        let last = records.last().unwrap();
        assert_eq!((&last["ending"], &last["severity"]), (&json!("panicked"), &json!("CRITICAL")));
    }
}

#[test]
fn a_fault_while_secrets_are_learned_takes_a_call_but_not_its_record() {
    let settings = Settings { relearn: Some(|| panic!("falls over on purpose")), ..Settings::default() };
    let world = World::new(settings, &json!({"a.txt": "a"}));
    for _ in 0..2 {
        let reply = world.call("read_file", json!({"path": "a.txt"}));
        assert_eq!(code(&reply), Some(ErrorCode::InternalError), "{:?}", reply.error());
        assert_eq!(world.records_of(&reply)[0]["ending"], "panicked");
        // Until it is time to look again, others go on with what is known.
        demand_success(&world.call("read_file", json!({"path": "a.txt"})));
        world.clock.pass(1000);
    }
}

/// While one of a caller's calls runs, another sets off the alert: with `terminate` both end, and nobody else's.
fn terminated_on_its_way(guilty: &'static str) -> (World, Reply) {
    let settings = Settings { defence: "terminate".to_owned(), ..Settings::default() };
    let world = World::new(settings, &many_files());
    let runtime = one_worker();
    let (handle, corridor) = (runtime.handle().clone(), Arc::clone(&world.corridor));
    let (caller, session) = (world.caller(), Corridor::new_session());
    let once = Once::new();
    let sink = Arc::new(OnProgress(move || {
        once.call_once(|| {
            let (done, wait) = std::sync::mpsc::channel();
            let (corridor, caller, session) = (Arc::clone(&corridor), caller.clone(), session.clone());
            handle.spawn(async move {
                for _ in 0..6 {
                    let incoming = Incoming {
                        caller: Caller { id: guilty.to_owned(), ..caller.clone() },
                        session: session.clone(),
                        tool: "read_file".to_owned(),
                        arguments: json!({"path": "../outside"}),
                        dry_run: false,
                        purpose: Purpose::Call,
                        leash: Leash::default(),
                        progress: None,
                        live: None,
                        approver: None,
                        chain: Chain::default(),
                    };
                    corridor.call(incoming).await.unwrap();
                }
                done.send(())
            });
            wait.recv().unwrap();
        });
        let_the_others_run(&handle);
    }));
    let incoming = world.watched("search_file", json!({"regex": "needle"}), sink);
    let reply = runtime.block_on(world.corridor.call(incoming)).unwrap();
    (world, reply)
}

#[test]
fn with_terminate_an_alert_ends_the_caller_s_other_calls_and_nobody_else_s() {
    let (world, reply) = terminated_on_its_way("local");
    demand_ending(&world, &reply, ErrorCode::Cancelled, "cancelled");
    assert!(
        reply.error().unwrap().message.as_str().contains("The caller was stopped"),
        "{:?}",
        reply.error()
    );
    let after = world.call("read_file", json!({"path": "folder0/0.txt"}));
    assert_eq!(code(&after), Some(ErrorCode::Suspended));

    let (world, reply) = terminated_on_its_way("another");
    demand_success(&reply);
    demand_success(&world.call("read_file", json!({"path": "folder0/0.txt"})));
}

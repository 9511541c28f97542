use std::sync::Arc;

use serde_json::json;
use tokio::sync::broadcast;
use vambrace_auth::Moment;
use vambrace_state::{
    Answer, Edit, Followed, Full, LocalTasks, News, Outage, Room, ServerState, TASK_BOUNDS, TIMEOUT,
    TaskRecord, TaskStore,
};

use super::*;
use crate::http::testing::{RATE, World, json as body, key, request as post};

/// Sends a message that writes a file: the code of the error, and whether the file is there.
async fn check(tasks: Arc<dyn TaskStore>, method: &str, expected: (Option<i64>, bool)) {
    let world = World::new(ServerState { tasks, ..ServerState::local(RATE) });
    let call = json!({"tool": "write_file", "arguments": {"path": "a.txt", "content": "a"}});
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"data": call}]});
    let params = json!({"id": "x", "message": message});
    let request =
        post("/a2a/invoke", &key(), &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    let endpoint = Endpoint::new(&world.front);
    let answer = body(endpoint.invoke(&world.front, world.admitted().await, request).await).await;
    let code = answer.pointer("/error/code").and_then(Value::as_i64);
    let is_there = world.workspace.path().join("a.txt").exists();
    assert_eq!((code, is_there), expected, "{method}: {answer}");
}

#[tokio::test]
async fn with_its_store_a_message_is_a_call() {
    check(Arc::new(LocalTasks::new(TASK_BOUNDS)), "SendMessage", (None, true)).await;
}

#[tokio::test(start_paused = true)]
async fn without_its_store_nothing_is_begun() {
    for outage in Outage::ALL {
        for method in ["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask"] {
            check(outage.server_state().tasks, method, (Some(-32052), false)).await;
        }
        check(Arc::new(Rigid(LocalTasks::new(TASK_BOUNDS), outage)), "SendMessage", (Some(-32052), false))
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_with_the_work_that_could_not_be_kept() {
    for outage in Outage::ALL {
        let began = tokio::time::Instant::now();
        let tasks = Arc::new(Rigid(LocalTasks::new(TASK_BOUNDS), outage));
        // The task as it was opened is no JSON by itself, and no error.
        check(tasks, "SendStreamingMessage", (None, false)).await;
        assert!(began.elapsed() <= TIMEOUT, "{outage:?}");
    }
}

/// Is away as soon as a task is to change.
struct Rigid(LocalTasks, Outage);

impl TaskStore for Rigid {
    fn open(&self, record: TaskRecord, now: Moment) -> Answer<'_, Result<broadcast::Receiver<News>, Full>> {
        self.0.open(record, now)
    }

    fn view(&self, owner: &str, id: &str, now: Moment) -> Answer<'_, Option<Arc<TaskRecord>>> {
        self.0.view(owner, id, now)
    }

    fn follow(&self, owner: &str, id: &str, now: Moment) -> Answer<'_, Option<Followed>> {
        self.0.follow(owner, id, now)
    }

    fn all_of(&self, owner: &str, now: Moment) -> Answer<'_, Vec<(u64, Arc<TaskRecord>)>> {
        self.0.all_of(owner, now)
    }

    fn change<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: Room,
        _: Moment,
        _: &'a mut (dyn FnMut(&mut TaskRecord) -> Option<Edit> + Send),
    ) -> Answer<'a, Option<Result<Arc<TaskRecord>, Full>>> {
        self.1.answer()
    }
}

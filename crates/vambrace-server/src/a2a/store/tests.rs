use futures_util::FutureExt as _;
use vambrace_state::{LocalTasks, Outage, TASK_BOUNDS, TaskBounds};

use super::*;
use crate::a2a::rpc::Fault;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TIGHT: TaskBounds = TaskBounds {
    per_owner: 3,
    live_per_owner: 2,
    in_all: 5,
    bytes_per_owner: 10_000,
    bytes_in_all: 15_000,
    life: Duration::from_secs(10),
};

fn at(seconds: u64) -> (Duration, Timestamp) {
    (Duration::from_secs(seconds), NOW)
}

fn desk(bounds: TaskBounds) -> Desk {
    Desk::new(Arc::new(LocalTasks::new(bounds)))
}

/// The tasks of this process are at hand.
#[track_caller]
fn now<T>(answer: impl Future<Output = Result<T, StateError>>) -> T {
    answer.now_or_never().unwrap().unwrap()
}

fn view(desk: &Desk, owner: &str, id: &str, seconds: u64) -> Option<Arc<TaskRecord>> {
    now(desk.view(owner, id, at(seconds).0))
}

fn task(id: &str) -> Task {
    Task {
        id: id.to_owned(),
        context_id: "c".to_owned(),
        status: status(TaskState::Submitted, None, NOW),
        artifacts: None,
        history: None,
        metadata: None,
    }
}

#[track_caller]
fn open(desk: &Desk, owner: &str, id: &str, seconds: u64) -> bool {
    now(desk.open(owner, task(id), None, Vec::new(), at(seconds).0)).is_ok()
}

fn change(desk: &Desk, owner: &str, id: &str, state: TaskState, seconds: u64) -> Option<Settled> {
    now(desk.change((owner, id), state, None, at(seconds)))
}

fn finish(desk: &Desk, owner: &str, id: &str, seconds: u64) {
    change(desk, owner, id, TaskState::Completed, seconds);
}

fn ids(desk: &Desk, owner: &str, seconds: u64) -> Vec<String> {
    let found = now(desk.all_of(owner, at(seconds).0));
    found.into_iter().map(|(_, record)| record.task.id.clone()).collect()
}

#[test]
fn a_task_is_its_owners() {
    let desk = desk(TIGHT);
    assert!(open(&desk, "ann", "a", 0));
    assert!(view(&desk, "ann", "a", 0).is_some());
    assert!(view(&desk, "ben", "a", 0).is_none());
    assert!(view(&desk, "an", "a", 0).is_none());
    assert!(view(&desk, "", "a", 0).is_none());
    assert_eq!(ids(&desk, "ben", 0), Vec::<String>::new());
}

#[test]
fn what_is_over_stays_over() {
    let desk = desk(TIGHT);
    open(&desk, "ann", "a", 0);
    assert!(change(&desk, "ann", "a", TaskState::Working, 0).is_none());
    assert!(change(&desk, "ann", "a", TaskState::Completed, 0).is_some());
    assert!(change(&desk, "ann", "a", TaskState::Canceled, 0).is_none());
    assert_eq!(view(&desk, "ann", "a", 0).unwrap().task.status.state, TaskState::Completed);
}

#[test]
fn numbers_are_bounded() {
    let desk = desk(TIGHT);
    assert!(open(&desk, "ann", "a", 0) && open(&desk, "ann", "b", 0));
    assert!(!open(&desk, "ann", "c", 0), "two at work");
    finish(&desk, "ann", "a", 0);
    assert!(open(&desk, "ann", "c", 0));
    finish(&desk, "ann", "b", 0);
    assert!(open(&desk, "ann", "d", 0));
    // The oldest that is over went.
    assert_eq!(ids(&desk, "ann", 0), ["d", "b", "c"]);
    assert!(open(&desk, "ben", "e", 0) && open(&desk, "ben", "f", 0));
    finish(&desk, "ben", "e", 0);
    // Five in all: the one with the most gives way, not the newcomer's neighbor.
    assert!(open(&desk, "eve", "g", 0));
    assert_eq!(ids(&desk, "ann", 0), ["d", "c"]);
    assert_eq!(ids(&desk, "ben", 0), ["e", "f"]);
}

#[test]
fn whoever_has_only_work_going_on_does_not_keep_others_out() {
    let desk = desk(TIGHT);
    assert!(open(&desk, "bridge\u{1f}1", "a", 0) && open(&desk, "bridge\u{1f}1", "b", 0));
    assert!(open(&desk, "bridge\u{1f}2", "c", 0) && open(&desk, "ben", "d", 0) && open(&desk, "ben", "e", 0));
    finish(&desk, "ben", "d", 0);
    assert!(open(&desk, "ann", "f", 0), "what is over gives way");
    assert_eq!(ids(&desk, "ben", 0), ["e"]);
}

#[test]
fn whoever_names_many_people_does_not_take_what_others_have() {
    let desk = desk(TIGHT);
    for id in ["a", "b"] {
        assert!(open(&desk, "ann", id, 0));
        finish(&desk, "ann", id, 0);
    }
    for (person, id) in ["c", "d", "e", "f", "g"].into_iter().enumerate() {
        let owner = format!("bridge\u{1f}{person}");
        assert!(open(&desk, &owner, id, 0));
        finish(&desk, &owner, id, 0);
    }
    assert_eq!(ids(&desk, "ann", 0).len(), 2, "five in all, and the bridge's own gave way");
}

#[test]
fn age_is_bounded() {
    let desk = desk(TIGHT);
    open(&desk, "ann", "live", 0);
    open(&desk, "ann", "over", 0);
    finish(&desk, "ann", "over", 5);
    assert!(view(&desk, "ann", "over", 14).is_some());
    assert!(view(&desk, "ann", "over", 15).is_none());
    assert!(view(&desk, "ann", "live", 1000).is_some());
}

#[test]
fn sizes_are_bounded() {
    let desk = desk(TIGHT);
    for id in ["a", "b", "c"] {
        assert!(open(&desk, "ann", id, 0));
        let artifact = Artifact {
            artifact_id: "r".to_owned(),
            name: None,
            description: None,
            parts: vec![::a2a::Part::text("x".repeat(4000))],
            metadata: None,
            extensions: None,
        };
        now(desk.add(("ann", id), artifact, Piece::Whole, at(0).0));
        finish(&desk, "ann", id, 0);
    }
    assert_eq!(ids(&desk, "ann", 0), ["c", "b"]);
}

fn wanted(n_bytes: usize) -> Option<Wanted> {
    Some(Wanted { tool: "t".to_owned(), arguments: json!({"a": "x".repeat(n_bytes)}), dry_run: false })
}

#[test]
fn tasks_at_work_are_weighed() {
    let desk = desk(TIGHT);
    let open = |owner: &str, id: &str, n_bytes: usize| {
        now(desk.open(owner, task(id), wanted(n_bytes), Vec::new(), at(0).0)).map(drop)
    };
    assert_eq!(open("ann", "huge", 10_000), Err(Full::Bytes));
    assert_eq!(open("ann", "a", 6000), Ok(()));
    assert_eq!(open("ann", "b", 6000), Err(Full::Bytes), "both are at work");
    assert_eq!(open("ann", "c", 2000), Ok(()));
    // What is over gives way, and its arguments are gone with it.
    finish(&desk, "ann", "a", 0);
    assert_eq!(open("ann", "d", 6000), Ok(()));
    // Fifteen thousand in all.
    assert_eq!(open("ben", "e", 9000), Err(Full::Bytes));
    assert_eq!(open("ben", "f", 5000), Ok(()));
    assert_eq!(open("eve", "g", 5000), Err(Full::Bytes));
}

#[test]
fn what_goes_on_with_a_task_is_weighed() {
    let desk = desk(TIGHT);
    assert!(now(desk.open("ann", task("a"), wanted(4000), Vec::new(), at(0).0)).is_ok());
    change(&desk, "ann", "a", TaskState::InputRequired, 0);
    let mut message = Message::new(::a2a::Role::User, vec![::a2a::Part::text("again")]);
    message.task_id = Some("a".to_owned());
    let go_on = |n_bytes: usize| {
        now(desk.go_on("ann", message.clone(), wanted(n_bytes), at(0))).map(|begun| begun.map(drop))
    };
    assert_eq!(go_on(9000), Some(Err(Unable::Full)));
    assert!(view(&desk, "ann", "a", 0).is_some(), "a message that does not fit drops nothing it is for");
    assert_eq!(go_on(4000), Some(Ok(())));
}

#[test]
fn a_task_that_waits_goes_on() {
    let desk = desk(TIGHT);
    open(&desk, "ann", "a", 0);
    let mut message = Message::new(::a2a::Role::User, vec![::a2a::Part::text("again")]);
    message.task_id = Some("a".to_owned());
    let go_on = |owner: &str, message: &Message| {
        now(desk.go_on(owner, message.clone(), None, at(0))).map(|begun| begun.map(drop))
    };
    assert_eq!(go_on("ann", &message), Some(Err(Unable::Working)));
    change(&desk, "ann", "a", TaskState::InputRequired, 0);
    assert_eq!(go_on("ben", &message), None);
    let elsewhere = Message { context_id: Some("other".to_owned()), ..message.clone() };
    assert_eq!(go_on("ann", &elsewhere), Some(Err(Unable::OtherContext)));
    assert_eq!(go_on("ann", &message), Some(Ok(())));
    for _ in 2..MOST_TURNS {
        change(&desk, "ann", "a", TaskState::InputRequired, 0);
        assert_eq!(go_on("ann", &message), Some(Ok(())));
    }
    change(&desk, "ann", "a", TaskState::InputRequired, 0);
    assert_eq!(go_on("ann", &message), Some(Err(Unable::TooOften)));
    finish(&desk, "ann", "a", 0);
    assert_eq!(go_on("ann", &message), Some(Err(Unable::Over)));
}

/// What the guide says of a busy caller.
#[test]
fn hundreds_of_tasks_are_kept_and_only_the_newest_of_more() {
    let desk = desk(TASK_BOUNDS);
    let add = |number: usize| {
        assert!(open(&desk, "ann", &format!("t{number}"), 0), "{number}");
        finish(&desk, "ann", &format!("t{number}"), 0);
    };
    (0..TASK_BOUNDS.per_owner).for_each(add);
    assert!(view(&desk, "ann", "t0", 3599).is_some());
    add(TASK_BOUNDS.per_owner);
    assert!(view(&desk, "ann", "t0", 0).is_none() && view(&desk, "ann", "t1", 0).is_some());
    assert!(view(&desk, "ann", "t1", 3600).is_none(), "an hour");
}

fn words(text: &str) -> Artifact {
    Artifact {
        artifact_id: text.to_owned(),
        name: None,
        description: None,
        parts: vec![::a2a::Part::text(text)],
        metadata: None,
        extensions: None,
    }
}

#[test]
fn whoever_works_on_a_task_hears_that_it_is_to_stop_and_its_followers_how_it_ends() {
    let desk = desk(TIGHT);
    let begun = now(desk.open("ann", task("a"), None, Vec::new(), at(0).0)).unwrap();
    let (mut work, mut client) = (begun.news, now(desk.follow("ann", "a", at(0).0)).unwrap().news.unwrap());
    assert!(now(desk.cancel(("ben", "a"), at(0))).is_none(), "not Ben's");
    assert!(matches!(now(desk.cancel(("ann", "a"), at(0))), Some(Stopping::Told(Some(_)))));
    now(desk.add(("ann", "a"), words("half"), Piece::Whole, at(0).0));
    change(&desk, "ann", "a", TaskState::Canceled, 0);
    for news in [&mut work, &mut client] {
        assert!(matches!(news.try_recv(), Ok(News::Stop)));
        let told = [news.try_recv().unwrap(), news.try_recv().unwrap()];
        assert!(matches!(&told, [News::Event(half), News::Event(over)]
            if matches!(**half, StreamResponse::ArtifactUpdate(_))
                && matches!(&**over, StreamResponse::StatusUpdate(update) if update.status.state == TaskState::Canceled)));
        assert!(matches!(news.try_recv(), Err(broadcast::error::TryRecvError::Closed)));
    }
    assert!(now(desk.follow("ann", "a", at(0).0)).unwrap().news.is_none());
    assert!(matches!(now(desk.cancel(("ann", "a"), at(0))), Some(Stopping::Over)));
}

#[test]
fn a_task_that_waits_is_cancelled_at_once() {
    let desk = desk(TIGHT);
    open(&desk, "ann", "a", 0);
    change(&desk, "ann", "a", TaskState::InputRequired, 0);
    let Some(Stopping::Done(Settled(record))) = now(desk.cancel(("ann", "a"), at(0))) else {
        panic!("nobody works on it");
    };
    assert_eq!(record.task.status.state, TaskState::Canceled);
}

#[test]
fn changes_at_once_are_all_kept() {
    let desk = desk(TASK_BOUNDS);
    open(&desk, "ann", "a", 0);
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let desk = &desk;
            threads.spawn(move || {
                for number in 0..25 {
                    let artifact = words(&format!("{thread} {number}"));
                    now(desk.add(("ann", "a"), artifact, Piece::Whole, at(0).0));
                }
            });
        }
    });
    assert_eq!(view(&desk, "ann", "a", 0).unwrap().task.artifacts.as_ref().unwrap().len(), 100);
}

/// Every answer of the desk without its store.
async fn unanswered(desk: &Desk) -> Vec<Option<StateError>> {
    let key = ("ann", "a");
    let mut message = Message::new(::a2a::Role::User, vec![::a2a::Part::text("again")]);
    message.task_id = Some("a".to_owned());
    vec![
        desk.open("ann", task("a"), wanted(1), Vec::new(), at(0).0).await.err(),
        desk.go_on("ann", message, None, at(0)).await.err(),
        desk.view("ann", "a", at(0).0).await.err(),
        desk.follow("ann", "a", at(0).0).await.err(),
        desk.all_of("ann", at(0).0).await.err(),
        desk.change(key, TaskState::Working, None, at(0)).await.err(),
        desk.add(key, words("x"), Piece::Whole, at(0).0).await.err(),
        desk.delete_push(key, "p", at(0).0).await.err(),
        desk.cancel(key, at(0)).await.err(),
    ]
}

#[tokio::test(start_paused = true)]
async fn without_a_store_every_operation_fails_in_time() {
    for outage in Outage::ALL {
        let desk = Desk::new(outage.server_state().tasks);
        let began = tokio::time::Instant::now();
        let unanswered = unanswered(&desk).await;
        let n_waited = u32::from(outage == Outage::Silent) * u32::try_from(unanswered.len()).unwrap();
        assert_eq!(began.elapsed(), TIMEOUT * n_waited, "{outage:?}");
        for error in unanswered {
            let fault = Fault::from(error.unwrap_or_else(|| panic!("{outage:?}"))).answer(&json!(1));
            assert_eq!(fault.pointer("/error/code"), Some(&json!(-32052)), "{outage:?}");
            let reason = fault.pointer("/error/data/0/reason");
            assert_eq!(reason, Some(&json!("STATE_UNAVAILABLE")), "{outage:?}");
        }
    }
}

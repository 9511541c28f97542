use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TIGHT: Bounds = Bounds {
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
    desk.open(owner, task(id), None, Vec::new(), at(seconds).0).is_ok()
}

fn finish(desk: &Desk, id: &str, seconds: u64) {
    desk.change(id, TaskState::Completed, None, at(seconds));
}

fn ids(desk: &Desk, owner: &str, seconds: u64) -> Vec<String> {
    let found = desk.all_of(owner, at(seconds).0, |kept| Some(kept.task.id.clone()));
    found.into_iter().map(|(_, id)| id).collect()
}

#[test]
fn a_task_is_its_owners() {
    let desk = Desk::new(TIGHT);
    assert!(open(&desk, "ann", "a", 0));
    assert!(desk.view("ann", "a", at(0).0).is_some());
    assert!(desk.view("ben", "a", at(0).0).is_none());
    assert!(desk.view("an", "a", at(0).0).is_none());
    assert!(desk.view("", "a", at(0).0).is_none());
    assert_eq!(ids(&desk, "ben", 0), Vec::<String>::new());
}

#[test]
fn what_is_over_stays_over() {
    let desk = Desk::new(TIGHT);
    open(&desk, "ann", "a", 0);
    assert!(desk.change("a", TaskState::Working, None, at(0)).is_none());
    assert!(desk.change("a", TaskState::Completed, None, at(0)).is_some());
    assert!(desk.change("a", TaskState::Canceled, None, at(0)).is_none());
    assert_eq!(desk.view("ann", "a", at(0).0).unwrap().status.state, TaskState::Completed);
}

#[test]
fn numbers_are_bounded() {
    let desk = Desk::new(TIGHT);
    assert!(open(&desk, "ann", "a", 0) && open(&desk, "ann", "b", 0));
    assert!(!open(&desk, "ann", "c", 0), "two at work");
    finish(&desk, "a", 0);
    assert!(open(&desk, "ann", "c", 0));
    finish(&desk, "b", 0);
    assert!(open(&desk, "ann", "d", 0));
    // The oldest that is over went.
    assert_eq!(ids(&desk, "ann", 0), ["d", "b", "c"]);
    assert!(open(&desk, "ben", "e", 0) && open(&desk, "ben", "f", 0));
    finish(&desk, "e", 0);
    // Five in all: the one with the most gives way, not the newcomer's neighbor.
    assert!(open(&desk, "eve", "g", 0));
    assert_eq!(ids(&desk, "ann", 0), ["d", "c"]);
    assert_eq!(ids(&desk, "ben", 0), ["e", "f"]);
}

#[test]
fn whoever_has_only_work_going_on_does_not_keep_others_out() {
    let desk = Desk::new(TIGHT);
    assert!(open(&desk, "bridge\u{1f}1", "a", 0) && open(&desk, "bridge\u{1f}1", "b", 0));
    assert!(open(&desk, "bridge\u{1f}2", "c", 0) && open(&desk, "ben", "d", 0) && open(&desk, "ben", "e", 0));
    finish(&desk, "d", 0);
    assert!(open(&desk, "ann", "f", 0), "what is over gives way");
    assert_eq!(ids(&desk, "ben", 0), ["e"]);
}

#[test]
fn whoever_names_many_people_does_not_take_what_others_have() {
    let desk = Desk::new(TIGHT);
    for id in ["a", "b"] {
        assert!(open(&desk, "ann", id, 0));
        finish(&desk, id, 0);
    }
    for (person, id) in ["c", "d", "e", "f", "g"].into_iter().enumerate() {
        assert!(open(&desk, &format!("bridge\u{1f}{person}"), id, 0));
        finish(&desk, id, 0);
    }
    assert_eq!(ids(&desk, "ann", 0).len(), 2, "five in all, and the bridge's own gave way");
}

#[test]
fn age_is_bounded() {
    let desk = Desk::new(TIGHT);
    open(&desk, "ann", "live", 0);
    open(&desk, "ann", "over", 0);
    finish(&desk, "over", 5);
    assert!(desk.view("ann", "over", at(14).0).is_some());
    assert!(desk.view("ann", "over", at(15).0).is_none());
    assert!(desk.view("ann", "live", at(1000).0).is_some());
}

#[test]
fn sizes_are_bounded() {
    let desk = Desk::new(TIGHT);
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
        desk.add(id, artifact, Piece::Whole);
        finish(&desk, id, 0);
    }
    assert_eq!(ids(&desk, "ann", 0), ["c", "b"]);
}

fn wanted(n_bytes: usize) -> Option<Wanted> {
    Some(Wanted { tool: "t".to_owned(), arguments: json!({"a": "x".repeat(n_bytes)}), dry_run: false })
}

#[test]
fn tasks_at_work_are_weighed() {
    let desk = Desk::new(TIGHT);
    let open = |owner: &str, id: &str, n_bytes: usize| {
        desk.open(owner, task(id), wanted(n_bytes), Vec::new(), at(0).0).map(drop)
    };
    assert_eq!(open("ann", "huge", 10_000), Err(Full::Bytes));
    assert_eq!(open("ann", "a", 6000), Ok(()));
    assert_eq!(open("ann", "b", 6000), Err(Full::Bytes), "both are at work");
    assert_eq!(open("ann", "c", 2000), Ok(()));
    // What is over gives way, and its arguments are gone with it.
    finish(&desk, "a", 0);
    assert_eq!(open("ann", "d", 6000), Ok(()));
    // Fifteen thousand in all.
    assert_eq!(open("ben", "e", 9000), Err(Full::Bytes));
    assert_eq!(open("ben", "f", 5000), Ok(()));
    assert_eq!(open("eve", "g", 5000), Err(Full::Bytes));
}

#[test]
fn what_goes_on_with_a_task_is_weighed() {
    let desk = Desk::new(TIGHT);
    assert!(desk.open("ann", task("a"), wanted(4000), Vec::new(), at(0).0).is_ok());
    desk.change("a", TaskState::InputRequired, None, at(0));
    let mut message = Message::new(::a2a::Role::User, vec![::a2a::Part::text("again")]);
    message.task_id = Some("a".to_owned());
    let go_on = |n_bytes: usize| {
        desk.go_on("ann", message.clone(), wanted(n_bytes), at(0)).map(|begun| begun.map(drop))
    };
    assert_eq!(go_on(9000), Some(Err(Unable::Full)));
    assert!(desk.view("ann", "a", at(0).0).is_some(), "a message that does not fit drops nothing it is for");
    assert_eq!(go_on(4000), Some(Ok(())));
}

#[test]
fn a_task_that_waits_goes_on() {
    let desk = Desk::new(TIGHT);
    open(&desk, "ann", "a", 0);
    let mut message = Message::new(::a2a::Role::User, vec![::a2a::Part::text("again")]);
    message.task_id = Some("a".to_owned());
    let go_on = |owner: &str, message: &Message| {
        desk.go_on(owner, message.clone(), None, at(0)).map(|begun| begun.map(drop))
    };
    assert_eq!(go_on("ann", &message), Some(Err(Unable::Working)));
    desk.change("a", TaskState::InputRequired, None, at(0));
    assert_eq!(go_on("ben", &message), None);
    let elsewhere = Message { context_id: Some("other".to_owned()), ..message.clone() };
    assert_eq!(go_on("ann", &elsewhere), Some(Err(Unable::OtherContext)));
    assert_eq!(go_on("ann", &message), Some(Ok(())));
    for _ in 2..MOST_TURNS {
        desk.change("a", TaskState::InputRequired, None, at(0));
        assert_eq!(go_on("ann", &message), Some(Ok(())));
    }
    desk.change("a", TaskState::InputRequired, None, at(0));
    assert_eq!(go_on("ann", &message), Some(Err(Unable::TooOften)));
    finish(&desk, "a", 0);
    assert_eq!(go_on("ann", &message), Some(Err(Unable::Over)));
}

/// What the guide says of a busy caller.
#[test]
fn hundreds_of_tasks_are_kept_and_only_the_newest_of_more() {
    let desk = Desk::new(BOUNDS);
    let add = |number: usize| {
        assert!(open(&desk, "ann", &format!("t{number}"), 0), "{number}");
        finish(&desk, &format!("t{number}"), 0);
    };
    (0..BOUNDS.per_owner).for_each(add);
    assert!(desk.view("ann", "t0", at(3599).0).is_some());
    add(BOUNDS.per_owner);
    assert!(desk.view("ann", "t0", at(0).0).is_none() && desk.view("ann", "t1", at(0).0).is_some());
    assert!(desk.view("ann", "t1", at(3600).0).is_none(), "an hour");
}

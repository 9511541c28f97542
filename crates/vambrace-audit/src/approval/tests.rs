use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Barrier};

use tempfile::TempDir;
use vambrace_redact::RedactedText;

use super::*;
use crate::testing::text;

const LIFE: Duration = Duration::from_secs(900);
const START: i64 = 1_700_000_000_000;

struct StillClock(AtomicI64);

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

struct World {
    dir: TempDir,
    clock: Arc<StillClock>,
}

impl World {
    fn new() -> World {
        World { dir: TempDir::new().unwrap(), clock: Arc::new(StillClock(AtomicI64::new(START))) }
    }

    /// As another process would see it.
    fn approvals(&self) -> Approvals {
        Approvals::new(self.dir.path(), self.clock.clone(), LIFE)
    }

    fn set(&self, after_start: i64) {
        self.clock.0.store(START + after_start, Ordering::SeqCst);
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("approvals")
    }

    fn state(&self, id: &str) -> QuestionState {
        let all = self.approvals().list(true).unwrap();
        all.into_iter().find(|question| question.id == id).unwrap().state
    }

    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder()).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn binding(number: usize) -> Binding {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    Binding(bytes)
}

fn question(number: usize, owner: &str) -> NewQuestion {
    NewQuestion {
        binding: binding(number),
        caller: "agent".to_owned(),
        owner: owner.to_owned(),
        tool: "delete_file".to_owned(),
        rule: text("rules[0]"),
        question: text("Delete `a.txt`?"),
        call_id: "call_1".to_owned(),
    }
}

#[test]
fn an_approval_is_taken_once_for_exactly_what_was_asked() {
    let world = World::new();
    let (server, person) = (world.approvals(), world.approvals());
    assert!(server.take(binding(1)).unwrap().is_none());
    assert!(!world.folder().exists(), "looking leaves nothing");
    let asked = server.ask(&question(1, "agent")).unwrap();
    assert_eq!(asked.state, QuestionState::Waiting);
    assert_eq!(asked.expires_at.millis(), START + 900_000);
    assert_eq!(server.ask(&question(1, "agent")).unwrap().id, asked.id, "it waits already");
    assert_ne!(server.ask(&question(2, "agent")).unwrap().id, asked.id);
    assert!(server.take(binding(1)).unwrap().is_none(), "nobody has said yes");

    assert_eq!(person.answer(&asked.id, true, "ann").unwrap().state, QuestionState::Approved);
    assert!(matches!(person.answer(&asked.id, false, "ben"), Err(AnswerError::Answered)));
    assert!(server.take(binding(3)).unwrap().is_none());
    assert_eq!(server.take(binding(1)).unwrap().as_deref(), Some("ann"));
    assert!(server.take(binding(1)).unwrap().is_none());
    assert!(matches!(person.answer(&asked.id, true, "ann"), Err(AnswerError::Answered)));
    assert_eq!(world.state(&asked.id), QuestionState::Used);
    let again = server.ask(&question(1, "agent")).unwrap();
    assert_ne!(again.id, asked.id, "the next time is another question");
    let list = person.list(false).unwrap();
    assert_eq!((list.len(), person.list(true).unwrap().len()), (2, 3));

    let records = crate::list(world.dir.path(), &crate::Filter::default()).unwrap();
    assert_eq!(records.len(), 1, "one answer was given");
    assert_eq!(crate::verify(world.dir.path()).unwrap().broken, None);
}

#[test]
fn a_record_that_is_open_gets_every_answer() {
    let world = World::new();
    let settings = crate::AuditSettings {
        dir: world.dir.path().to_owned(),
        mirror: None,
        durable: false,
        alerts: crate::AlertSettings::default(),
    };
    let log = AuditLog::open(settings, world.clock.clone()).unwrap();
    let approvals = world.approvals();
    for number in 0..5 {
        let asked = approvals.ask(&question(number, "agent")).unwrap();
        approvals.answer_on(Some(&log), &asked.id, true, "ann").unwrap();
        assert_eq!(approvals.take(binding(number)).unwrap().as_deref(), Some("ann"));
    }
    let records = crate::list(world.dir.path(), &crate::Filter::default()).unwrap();
    let segments: BTreeSet<&str> = records.iter().map(|record| record.segment.as_str()).collect();
    assert_eq!((records.len(), segments.len()), (5, 1), "{records:?}");
    assert_eq!(crate::verify(world.dir.path()).unwrap().broken, None);
}

#[test]
fn only_the_user_may_look() {
    let world = World::new();
    world.approvals().ask(&question(1, "agent")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.folder()), 0o700);
    for name in world.files() {
        assert_eq!(mode(&world.folder().join(&name)), 0o600, "{name}");
    }
    fs::set_permissions(world.folder(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(world.approvals().take(binding(1)), Err(AuditError::UnsafePlace { .. })));
    assert!(world.approvals().ask(&question(2, "agent")).is_err());
}

#[test]
fn ids_are_short_and_different() {
    let dir = TempDir::new().unwrap();
    let ids: BTreeSet<String> = (0..1000).map(|_| paper::new_id(dir.path()).unwrap()).collect();
    assert_eq!(ids.len(), 1000);
    for id in ids {
        assert!(id.len() == 13 && paper::parse_name(&format!("{id}.json")).is_some(), "{id}");
        assert_eq!(text(&id).as_str(), id, "the redactor takes none for a secret");
    }
}

#[test]
fn a_no_holds_until_it_expires() {
    let world = World::new();
    let approvals = world.approvals();
    let asked = approvals.ask(&question(1, "agent")).unwrap();
    approvals.answer(&asked.id, false, "ann").unwrap();
    assert!(approvals.take(binding(1)).unwrap().is_none());
    let again = approvals.ask(&question(1, "agent")).unwrap();
    assert_eq!((again.id, again.state), (asked.id.clone(), QuestionState::Rejected));
    world.set(899_999);
    assert_eq!(approvals.ask(&question(1, "agent")).unwrap().id, asked.id);
    world.set(900_000);
    assert_eq!(approvals.ask(&question(1, "agent")).unwrap().state, QuestionState::Waiting);
}

/// Asked at 0 and answered at `answered`; then the clock shows each of the times in turn.
#[track_caller]
fn check_expiry(answered: Option<i64>, times: &[i64], expected: QuestionState) {
    let world = World::new();
    let asked = world.approvals().ask(&question(1, "agent")).unwrap();
    if let Some(time) = answered {
        world.set(time);
        world.approvals().answer(&asked.id, true, "ann").unwrap();
    }
    for time in times {
        world.set(*time);
        world.state(&asked.id);
    }
    assert_eq!(world.state(&asked.id), expected, "{answered:?} {times:?}");
    let open = answered.is_some() && expected == QuestionState::Approved;
    assert_eq!(world.approvals().take(binding(1)).unwrap().is_some(), open, "{answered:?} {times:?}");
    if expected == QuestionState::Expired {
        let refused = world.approvals().answer(&asked.id, true, "ann");
        assert!(matches!(refused, Err(AnswerError::Expired)), "{refused:?}");
    }
}

#[test]
fn questions_and_answers_expire_and_a_clock_set_back_revives_none() {
    use QuestionState::{Approved, Expired, Waiting};
    check_expiry(None, &[899_999], Waiting);
    check_expiry(None, &[900_000], Expired);
    check_expiry(None, &[900_000, 1], Expired);
    check_expiry(None, &[-1000], Waiting);
    check_expiry(None, &[-1001], Expired);
    check_expiry(None, &[-1001, 1], Expired);
    // An answer is good as long as the question was.
    check_expiry(Some(800_000), &[1_699_999], Approved);
    check_expiry(Some(800_000), &[1_700_000], Expired);
    check_expiry(Some(800_000), &[1_700_000, 800_001], Expired);
    check_expiry(Some(800_000), &[798_999], Expired);
}

#[test]
fn the_store_is_bounded_for_one_and_for_all() {
    let world = World::new();
    let approvals = world.approvals();
    for number in 0..MOST_WAITING_OF_ONE {
        approvals.ask(&question(number, "one")).unwrap();
    }
    let refused = approvals.ask(&question(MOST_WAITING_OF_ONE, "one")).unwrap_err();
    assert_eq!(refused.brief(), "50 questions wait for a person already");
    // Another is not held up, and what waits is still found.
    let other = approvals.ask(&question(MOST_WAITING_OF_ONE, "other")).unwrap();
    approvals.ask(&question(0, "one")).unwrap();
    approvals.answer(&other.id, true, "ann").unwrap();
    assert!(approvals.take(binding(MOST_WAITING_OF_ONE)).unwrap().is_some());
    world.set(900_000);
    approvals.ask(&question(7, "one")).unwrap();
}

/// Written by hand: a thousand fsyncs would take their time.
fn plant(world: &World, number: usize, owner: &str, shelf: Shelf) {
    let id = paper::new_id(&world.folder()).unwrap();
    let asked_at = Timestamp::from_millis(START + i64::try_from(number).unwrap());
    let paper = Paper::new(&question(number, owner), id.clone(), asked_at, after(asked_at, LIFE));
    let path = world.folder().join(paper::name(&id, shelf));
    fs::write(&path, paper.to_json()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn one_bridge_does_not_fill_the_book_for_everybody() {
    let world = World::new();
    let approvals = world.approvals();
    approvals.ask(&question(0, "person 0")).unwrap();
    for number in 1..MOST_WAITING_OF_CALLER - 1 {
        plant(&world, number, &format!("person {number}"), Shelf::Open);
    }
    approvals.ask(&question(5000, "the last")).unwrap();
    let refused = approvals.ask(&question(5001, "one more")).unwrap_err();
    assert_eq!(refused.brief(), "200 questions wait for a person already");
    let other = NewQuestion { caller: "other".to_owned(), ..question(5001, "one more") };
    approvals.ask(&other).unwrap();
}

#[test]
fn a_full_store_refuses_and_what_is_over_makes_room() {
    let world = World::new();
    let approvals = world.approvals();
    approvals.ask(&question(0, "owner 0")).unwrap();
    for number in 1..MOST_WAITING {
        plant(&world, number, &format!("owner {number}"), Shelf::Open);
    }
    let refused = approvals.ask(&question(5000, "new")).unwrap_err();
    assert!(matches!(refused, AuditError::TooManyQuestions { waiting: MOST_WAITING }), "{refused}");
    // All of them expire; of what is over, the newest thousand stay.
    for number in 2000..2010 {
        plant(&world, number, "x", Shelf::Used);
    }
    fs::write(world.folder().join("ap_aaaaaaaaaa.json.new"), "half").unwrap();
    world.set(1_000_000);
    approvals.ask(&question(5000, "new")).unwrap();
    let all = approvals.list(true).unwrap();
    assert_eq!(all.len(), MOST_OVER + 1);
    assert_eq!(all.iter().map(|question| question.asked_at.millis()).min(), Some(START + 10));
    assert!(!world.files().iter().any(|name| name.ends_with(".new")));
}

#[test]
fn files_that_are_not_ours_are_ignored_and_told() {
    type Plant = fn(&Path, &str);
    let rows: [(&str, Plant, &str); 9] = [
        ("cut", |path, text| fs::write(path, text.split_at(text.len() / 2).0).unwrap(), "not a whole"),
        ("empty", |path, _| fs::write(path, "").unwrap(), "not a whole"),
        ("another's id", |path, text| fs::write(path, text.replace("\"ap_", "\"ap_b")).unwrap(), "cannot be"),
        ("more", |path, text| fs::write(path, text.replace("}", ",\"x\":1}")).unwrap(), "not a whole"),
        (
            "half an answer",
            |path, text| {
                fs::write(path, text.replace("\"by\":\"ann\",", "")).unwrap();
            },
            "cannot be",
        ),
        (
            "open to others",
            |path, _| {
                fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
            },
            "others may",
        ),
        (
            "a second name",
            |path, _| fs::hard_link(path, path.with_file_name("link.new")).unwrap(),
            "second name",
        ),
        (
            "a link",
            |path, _| {
                fs::rename(path, path.with_extension("away")).unwrap();
                symlink(path.with_extension("away"), path).unwrap();
            },
            "cannot be opened",
        ),
        (
            "a folder",
            |path, _| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            },
            "cannot be opened",
        ),
    ];
    for (what, plant, why) in rows {
        let world = World::new();
        let approvals = world.approvals();
        let asked = approvals.ask(&question(1, "agent")).unwrap();
        approvals.answer(&asked.id, true, "ann").unwrap();
        let path = world.folder().join(paper::name(&asked.id, Shelf::Open));
        plant(&path, &fs::read_to_string(&path).unwrap());
        assert!(approvals.take(binding(1)).unwrap().is_none(), "{what}");
        let ignored = approvals.ignored().unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let told = ignored.iter().find(|ignored| ignored.name == name).unwrap_or_else(|| panic!("{what}"));
        assert!(told.why.contains(why), "{what}: {told:?}");
        assert_eq!(approvals.ask(&question(1, "agent")).unwrap().state, QuestionState::Waiting, "{what}");
    }
}

#[test]
fn only_a_file_of_our_own_is_read() {
    let check = |me, owner, mode, n_names, ours: bool| {
        assert_eq!(
            paper::not_ours(me, owner, mode, n_names).is_none(),
            ours,
            "{me} {owner} {mode:o} {n_names}"
        );
    };
    check(1000, 1000, 0o100_600, 1, true);
    check(0, 0, 0o100_600, 1, true);
    check(1000, 1001, 0o100_600, 1, false);
    check(0, 1000, 0o100_600, 1, false);
    check(1000, 0, 0o100_600, 1, false);
    check(1000, 1000, 0o100_620, 1, false);
    check(1000, 1000, 0o100_604, 1, false);
    check(1000, 1000, 0o100_600, 2, false);
}

#[test]
fn names_of_other_files_are_none() {
    for name in ["ap_aaaaaaaaaa.json", "ap_aaaaaaaaaa.used.json", "ap_zzzzzzzzz9.expired.json"] {
        assert!(paper::parse_name(name).is_some(), "{name}");
    }
    for name in [
        "ap_aaaaaaaaa.json",
        "ap_aaaaaaaaaaa.json",
        "ap_aaaaaaaaa0.json",
        "ap_AAAAAAAAAA.json",
        "é",
        "ap_aaaaaaaaaa.new.json",
        "xx_aaaaaaaaaa.json",
        "ap_aaaaaaaaaa",
        "",
        "lock",
    ] {
        assert!(paper::parse_name(name).is_none(), "{name}");
    }
}

#[test]
fn of_sixteen_takers_exactly_one_wins() {
    const TAKERS: usize = 16;
    let world = World::new();
    for round in 0..8 {
        let asked = world.approvals().ask(&question(round, "agent")).unwrap();
        world.approvals().answer(&asked.id, true, "ann").unwrap();
        let barrier = Barrier::new(TAKERS);
        let wins = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..TAKERS)
                .map(|_| {
                    scope.spawn(|| {
                        let own = world.approvals();
                        barrier.wait();
                        own.take(binding(round)).unwrap().is_some()
                    })
                })
                .collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(wins, 1, "round {round}");
    }
}

/// The rename alone decides, also between processes of which one does not wait for the lock.
#[test]
fn a_paper_that_was_shelved_meanwhile_is_not_taken_again() {
    let world = World::new();
    let approvals = world.approvals();
    let asked = approvals.ask(&question(1, "agent")).unwrap();
    approvals.answer(&asked.id, true, "ann").unwrap();
    let (paper, _) = approvals.look().unwrap().papers.remove(0);
    approvals.shelve(&paper, Shelf::Used).unwrap();
    assert!(approvals.shelve(&paper, Shelf::Used).is_err());
    assert!(approvals.take(binding(1)).unwrap().is_none());
}

#[test]
fn an_answer_that_cannot_be_recorded_is_none() {
    let world = World::new();
    let approvals = world.approvals();
    let asked = approvals.ask(&question(1, "agent")).unwrap();
    fs::write(world.dir.path().join("segments"), "not a folder").unwrap();
    assert!(matches!(approvals.answer(&asked.id, true, "ann"), Err(AnswerError::Audit(_))));
    assert!(approvals.take(binding(1)).unwrap().is_none());
}

#[test]
fn long_texts_are_cut_and_owners_are_not() {
    let world = World::new();
    let long = RedactedText::fixed(Box::leak("\u{1}".repeat(100_000).into_boxed_str()));
    let (one, other) = ("o".repeat(100_000), "o".repeat(100_001));
    for (number, owner) in [(1, &one), (2, &other)] {
        let new = NewQuestion {
            question: long.clone(),
            rule: long.clone(),
            caller: "c".repeat(100_000),
            ..question(number, owner)
        };
        world.approvals().ask(&new).unwrap();
    }
    let all = world.approvals().list(true).unwrap();
    assert_eq!((all.len(), world.approvals().ignored().unwrap().len()), (2, 0));
    assert_ne!(all[0].owner, all[1].owner);
}

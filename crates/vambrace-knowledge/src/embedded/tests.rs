use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::TempDir;
use vambrace_types::{Caller, Door, Role};

use super::*;
use crate::Sharing;

fn store(dir: &TempDir) -> EmbeddedStore {
    EmbeddedStore::new(dir.path().join("state/memory.db"))
}

fn person(name: &str) -> Owner {
    Sharing::Person.owner(&Caller::named(name, Role::Dev, Door::Rest)).unwrap()
}

fn fact(text: &str) -> NewMemory {
    NewMemory { kind: Kind::Fact, text: text.to_owned(), author: "ann".to_owned(), category: None }
}

fn note(text: &str) -> NewMemory {
    NewMemory { kind: Kind::Note, ..fact(text) }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[track_caller]
fn check(store: &EmbeddedStore, query: &str, expected: &[&str]) {
    let found = store.search(&person("ann"), query, 10).unwrap();
    let texts: Vec<&str> = found.iter().map(|memory| memory.text.as_str()).collect();
    assert_eq!(texts, expected, "{query:?}");
}

#[test]
fn the_best_comes_first_and_the_newest_among_equals() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let texts = [
        "We deploy on Tuesdays.",
        "The database password rotates on deploy.",
        "Lunch is at noon.",
        "Größe und Farbe",
        "東京の会議室は三階です",
        "We deploy on Fridays.",
    ];
    for (place, text) in (0..).zip(texts) {
        store.save(&person("ann"), &fact(text), at(place)).unwrap();
    }
    check(
        &store,
        "when do we deploy on tuesdays?",
        &["We deploy on Tuesdays.", "We deploy on Fridays.", "The database password rotates on deploy."],
    );
    check(
        &store,
        "deploying",
        &["We deploy on Fridays.", "We deploy on Tuesdays.", "The database password rotates on deploy."],
    );
    check(&store, "LUNCH", &["Lunch is at noon."]);
    check(&store, "große", &["Größe und Farbe"]); // marks above letters do not matter
    check(&store, "dat", &["The database password rotates on deploy."]); // a beginning
    check(&store, "会議室", &["東京の会議室は三階です"]); // no spaces in this script
    check(&store, "ord rot", &["The database password rotates on deploy."]); // a piece
    check(&store, "breakfast", &[]);
    check(&store, "", &[]);
    check(&store, "\u{0}", &[]);
}

/// Specification 001's own question.
#[test]
fn words_of_one_stem_find_each_other() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let texts = ["We deploy on Tuesdays.", "Payments are due in May.", "The deployment takes an hour."];
    for (place, text) in (0..).zip(texts) {
        store.save(&person("ann"), &fact(text), at(place)).unwrap();
    }
    let deploys = &["We deploy on Tuesdays.", "The deployment takes an hour."];
    for query in ["What is our deployment process?", "deployment", "deploy", "deploying", "deployers"] {
        let mut found: Vec<String> =
            store.search(&person("ann"), query, 10).unwrap().into_iter().map(|memory| memory.text).collect();
        found.sort_unstable_by_key(|text| deploys.iter().position(|deploy| deploy == text));
        assert_eq!(found, deploys, "{query}");
    }
    check(&store, "when to pay", &["Payments are due in May."]);
}

#[test]
fn the_language_of_the_index_is_not_obeyed() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    store.save(&person("ann"), &fact("alpha beta"), at(1)).unwrap();
    store.save(&person("ben"), &fact("gamma"), at(2)).unwrap();
    for query in [
        "\"",
        "\"\"",
        "alpha\" OR \"gamma",
        "text:gamma",
        "gamma OR owner",
        "NEAR(gamma, 1)",
        "gamma*",
        "^gamma",
        "{text category} : gamma",
        "- gamma",
        "gamma AND NOT zeta",
        "(",
        ")",
        "'; DROP TABLE memory; --",
        "+",
        "%",
        "_",
    ] {
        let found = store.search(&person("ann"), query, 10).unwrap();
        assert!(found.iter().all(|memory| memory.text == "alpha beta"), "{query}: {found:?}");
    }
    assert_eq!(store.newest(&person("ben"), 10).unwrap().len(), 1);
}

#[test]
fn another_owners_memory_is_not_found() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let (ann, ben) = (person("ann"), person("ben"));
    let id = store.save(&ann, &fact("ann's own"), at(1)).unwrap();
    assert_eq!(store.find(&ben, &id), Err(StoreError::NotFound));
    assert_eq!(store.update(&ben, &id, "ben was here", "ben", at(2)), Err(StoreError::NotFound));
    assert_eq!(store.delete(&ben, &id), Err(StoreError::NotFound));
    assert_eq!(store.search(&ben, "own", 10), Ok(Vec::new()));
    assert_eq!(store.overwrite(&ben, &note("mine"), at(3)).unwrap().1, 0);
    assert_eq!(store.find(&ann, &id).unwrap().text, "ann's own");
    store.update(&ann, &id, "renewed", "ann", at(4)).unwrap();
    assert_eq!(store.search(&ann, "own", 10), Ok(Vec::new())); // the index follows
    assert_eq!(store.search(&ann, "renewed", 10).unwrap()[0].changed, at(4));
    store.delete(&ann, &id).unwrap();
    assert_eq!(store.delete(&ann, &id), Err(StoreError::NotFound));
    assert_eq!(store.search(&ann, "renewed", 10), Ok(Vec::new()));
}

#[test]
fn notes_are_overwritten_and_facts_stay() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let ann = person("ann");
    store.save(&ann, &fact("a fact"), at(1)).unwrap();
    store.save(&ann, &note("one"), at(2)).unwrap();
    store.save(&ann, &note("two"), at(3)).unwrap();
    assert_eq!(store.overwrite(&ann, &note("three"), at(4)).unwrap().1, 2);
    let texts: Vec<String> = store.newest(&ann, 10).unwrap().into_iter().map(|memory| memory.text).collect();
    assert_eq!(texts, ["a fact", "three"]);
    assert_eq!(store.newest(&ann, 1).unwrap()[0].text, "three");
}

#[test]
fn a_full_memory_says_so_and_keeps_what_it_has() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir).with_at_most(2);
    let (ann, ben) = (person("ann"), person("ben"));
    store.save(&ann, &note("one"), at(1)).unwrap();
    store.save(&ann, &note("two"), at(2)).unwrap();
    assert_eq!(store.save(&ann, &fact("three"), at(3)), Err(StoreError::Full { most: 2 }));
    store.save(&ben, &fact("one"), at(4)).unwrap(); // each for itself
    assert_eq!(store.overwrite(&ann, &note("four"), at(5)).unwrap().1, 2);
    store.save(&ann, &fact("five"), at(6)).unwrap();
    assert_eq!(store.newest(&ann, 10).unwrap().len(), 2);
}

#[test]
fn bytes_are_counted_together() {
    let dir = TempDir::new().unwrap();
    let (ann, ben) = (person("ann"), person("ben"));
    // The author counts too.
    let store = store(&dir).with_at_most_bytes(2 * ("ann".len() as u64 + 10));
    let full = || StoreError::FullOfBytes { most: 26 };
    let first = store.save(&ann, &fact("0123456789"), at(1)).unwrap();
    assert_eq!(store.save(&ann, &fact("0123456789x"), at(1)), Err(full()));
    store.save(&ann, &note("éééé89"), at(1)).unwrap();
    assert_eq!(store.save(&ann, &fact(""), at(2)), Err(full()));
    store.save(&ben, &fact("0123456789"), at(2)).unwrap();
    // What is replaced makes room for itself.
    store.update(&ann, &first, "9876543210", "ann", at(3)).unwrap();
    assert_eq!(store.update(&ann, &first, "9876543210x", "ann", at(3)), Err(full()));
    store.overwrite(&ann, &note("0123456789"), at(4)).unwrap();
    assert_eq!(store.overwrite(&ann, &note("0123456789x"), at(4)), Err(full()));
    assert_eq!(store.newest(&ann, 10).unwrap().len(), 2);
}

/// With as much patience as there were tries before, nobody would see the end of this.
#[test]
#[expect(clippy::disallowed_methods, reason = "how long it waited is what is tested")]
fn opening_waits_once_for_whoever_holds_the_file() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("state/memory.db");
    store(&dir).save(&person("ann"), &fact("x"), at(1)).unwrap();
    let mut other = Connection::open(&file).unwrap();
    let held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let patience = Duration::from_millis(300);
    let store = EmbeddedStore { patience, ..store(&dir) };
    let start = std::time::Instant::now();
    assert_eq!(store.save(&person("ann"), &fact("y"), at(2)), Err(StoreError::Busy));
    let waited = start.elapsed();
    // As long as before for one try is far away.
    assert!(waited >= patience && waited < patience + Duration::from_secs(5), "{waited:?}");
    held.rollback().unwrap();
    store.save(&person("ann"), &fact("y"), at(3)).unwrap();
}

#[test]
fn looking_makes_nothing_and_the_file_is_ours_alone() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    assert_eq!(store.search(&person("ann"), "x", 10), Ok(Vec::new()));
    assert_eq!(store.find(&person("ann"), "m-1"), Err(StoreError::NotFound));
    assert!(!dir.path().join("state").exists());
    store.save(&person("ann"), &fact("x"), at(1)).unwrap();
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(dir.path().join("state")).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        names.insert(entry.file_name().into_string().unwrap());
    }
    assert_eq!(names, ["memory.db", "memory.db-shm", "memory.db-wal"].map(str::to_owned).into());
}

/// THREAT: P03.
#[test]
fn a_link_in_the_place_of_the_file_is_not_followed() {
    for name in ["memory.db", "memory.db-wal", "memory.db-shm", "memory.db-journal"] {
        let dir = TempDir::new().unwrap();
        let (state, target) = (dir.path().join("state"), dir.path().join("target"));
        std::fs::create_dir(&state).unwrap();
        std::fs::write(&target, "").unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&target, state.join(name)).unwrap();
        let saved = store(&dir).save(&person("ann"), &fact("x"), at(1));
        assert!(saved.is_err(), "{name}: {saved:?}");
        let about = std::fs::metadata(&target).unwrap();
        assert_eq!((about.len(), about.permissions().mode() & 0o777), (0, 0o644), "{name}");
    }
    // The way to the state folder may have links, as the way to a home has.
    let dir = TempDir::new().unwrap();
    std::fs::create_dir(dir.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", dir.path().join("home")).unwrap();
    let store = EmbeddedStore::new(dir.path().join("home/state/memory.db"));
    store.save(&person("ann"), &fact("x"), at(1)).unwrap();
    assert!(dir.path().join("real/state/memory.db").exists());
}

#[test]
fn a_file_of_the_future_or_of_somebody_else_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("state/memory.db");
    store(&dir).save(&person("ann"), &fact("x"), at(1)).unwrap();
    Connection::open(&file).unwrap().execute("UPDATE schema_version SET version = 2", []).unwrap();
    assert_eq!(store(&dir).newest(&person("ann"), 1), Err(StoreError::Newer { found: 2 }));
    std::fs::write(&file, "no database, but long enough to be looked at".repeat(100)).unwrap();
    assert!(matches!(store(&dir).newest(&person("ann"), 1), Err(StoreError::Broken { .. })));
}

#[test]
fn what_was_forgotten_is_not_in_the_file() {
    let dir = TempDir::new().unwrap();
    let ann = person("ann");
    {
        let store = store(&dir);
        let id = store.save(&ann, &fact("zyzzogeton in the garden"), at(1)).unwrap();
        store.delete(&ann, &id).unwrap();
    }
    // Closed: the journal was brought home.
    for entry in std::fs::read_dir(dir.path().join("state")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(10).any(|window| window == b"zyzzogeton"));
    }
}

#[test]
fn sixteen_threads_and_as_many_stores_save_and_search() {
    const EACH: usize = 20;
    let dir = TempDir::new().unwrap();
    let shared = Arc::new(store(&dir));
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (shared, dir) = (Arc::clone(&shared), &dir);
            scope.spawn(move || {
                // Every other one is like a process of its own.
                let own = store(dir);
                let store = if thread % 2 == 0 { &*shared } else { &own };
                let owner = person(&format!("p{}", thread % 4));
                for n in 0..EACH {
                    let text = format!("thread {thread} number {n} common");
                    let id = store.save(&owner, &fact(&text), at(1)).unwrap();
                    assert_eq!(store.find(&owner, &id).unwrap().text, text);
                    assert!(!store.search(&owner, "common", 5).unwrap().is_empty());
                }
            });
        }
    });
    for owner in 0..4 {
        assert_eq!(shared.newest(&person(&format!("p{owner}")), 1000).unwrap().len(), 4 * EACH);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Save(bool, String),
    Note(bool, String),
    Overwrite(bool, String),
    /// Of anybody: by the place among all ids ever given.
    Update(bool, usize, String),
    Delete(bool, usize),
    Search(bool, String),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || "[abc\"*: ]{0,8}|common|\\PC{0,12}";
    let step = prop_oneof![
        (any::<bool>(), text()).prop_map(|(who, text)| Step::Save(who, text)),
        (any::<bool>(), text()).prop_map(|(who, text)| Step::Note(who, text)),
        (any::<bool>(), text()).prop_map(|(who, text)| Step::Overwrite(who, text)),
        (any::<bool>(), 0..20_usize, text()).prop_map(|(who, which, text)| Step::Update(who, which, text)),
        (any::<bool>(), 0..20_usize).prop_map(|(who, which)| Step::Delete(who, which)),
        (any::<bool>(), text()).prop_map(|(who, text)| Step::Search(who, text)),
    ];
    proptest::collection::vec(step, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Held against two maps that know nothing of each other.
    #[test]
    fn two_owners_never_meet(steps in steps()) {
        let dir = TempDir::new().unwrap();
        let store = store(&dir);
        let owner = |who: bool| person(if who { "ann" } else { "ben" });
        let mut model: [BTreeMap<String, (Kind, String)>; 2] = Default::default();
        let mut ids: Vec<String> = Vec::new();
        for step in steps {
            match step {
                Step::Save(who, text) => {
                    let id = store.save(&owner(who), &fact(&text), at(1)).unwrap();
                    ids.push(id.clone());
                    model[usize::from(who)].insert(id, (Kind::Fact, text));
                }
                Step::Note(who, text) => {
                    let id = store.save(&owner(who), &note(&text), at(1)).unwrap();
                    ids.push(id.clone());
                    model[usize::from(who)].insert(id, (Kind::Note, text));
                }
                Step::Overwrite(who, text) => {
                    let (id, _) = store.overwrite(&owner(who), &note(&text), at(1)).unwrap();
                    ids.push(id.clone());
                    model[usize::from(who)].retain(|_, (kind, _)| *kind == Kind::Fact);
                    model[usize::from(who)].insert(id, (Kind::Note, text));
                }
                Step::Update(who, which, text) => {
                    let id = ids.get(which).cloned().unwrap_or_default();
                    let done = store.update(&owner(who), &id, &text, "x", at(2));
                    let expected = match model[usize::from(who)].get_mut(&id) {
                        Some(entry) => {
                            entry.1 = text;
                            Ok(())
                        }
                        None => Err(StoreError::NotFound),
                    };
                    prop_assert_eq!(done, expected);
                }
                Step::Delete(who, which) => {
                    let id = ids.get(which).cloned().unwrap_or_default();
                    let there = model[usize::from(who)].remove(&id).is_some();
                    prop_assert_eq!(store.delete(&owner(who), &id).is_ok(), there);
                }
                Step::Search(who, query) => {
                    for memory in store.search(&owner(who), &query, 50).unwrap() {
                        let known = model[usize::from(who)].get(&memory.id).map(|(_, text)| text);
                        prop_assert_eq!(known, Some(&memory.text));
                    }
                }
            }
        }
        for who in [false, true] {
            let stored: BTreeMap<String, String> = store
                .newest(&owner(who), 1000)
                .unwrap()
                .into_iter()
                .map(|memory| (memory.id, memory.text))
                .collect();
            let expected: BTreeMap<String, String> =
                model[usize::from(who)].iter().map(|(id, (_, text))| (id.clone(), text.clone())).collect();
            prop_assert_eq!(stored, expected);
        }
    }
}

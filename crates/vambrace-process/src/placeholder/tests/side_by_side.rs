//! Several processes that serve one folder.

use super::*;

fn journal(place: &Place) -> Arc<RunJournal> {
    Arc::new(RunJournal::open(&place.state, &walker(&place.work)).unwrap())
}

/// What a run that begins now takes for old.
fn old(journal: &Arc<RunJournal>, walker: &Walker) -> Arc<View> {
    journal.turn().unwrap().without_plants(walker.walk().unwrap())
}

fn protected(view: &View) -> Vec<String> {
    let name = |path: &Path| path.strip_prefix(&view.service).unwrap().to_str().unwrap().to_owned();
    view.protected.iter().chain(&view.git_files).map(|seen| name(&seen.path)).collect()
}

#[test]
fn what_came_during_a_run_of_another_process_is_not_old() {
    let place = place();
    make(&place.work, &[".envrc", "closed/x", "sub/.vscode/x"]);
    let walker = walker(&place.work);
    let (one, other, third) = (journal(&place), journal(&place), journal(&place));
    let first = old(&one, &walker);
    let running = one.turn().unwrap().begin(&first).unwrap();
    make(&place.work, &[".npmrc", "sub/.git", "secrets/x"]);
    std::fs::remove_dir_all(place.work.join("sub/.vscode")).unwrap();
    make(&place.work, &["sub/.vscode/x"]);
    let second = old(&other, &walker);
    assert_eq!(protected(&second), [".envrc"], "another folder under an old name is another folder");
    assert_eq!(second.masked, [], "what may hide something of the other");
    assert_eq!(new_protected(&second, &walker.walk().unwrap()).len(), 3);
    // The first ends; the second began beside it and vouches for no more than it knew.
    let beside = other.turn().unwrap().begin(&second).unwrap();
    drop(running);
    assert_eq!(protected(&old(&third, &walker)), [".envrc"]);
    drop(beside);
    assert_eq!(protected(&old(&third, &walker)).len(), 4, "nothing runs, so all is as it is");
}

#[test]
fn placeholders_and_other_rules_and_services_are_not_mistaken() {
    let place = place();
    make(&place.work, &["sub/x"]);
    let ours = walker(&place.work);
    let (one, other) = (journal(&place), journal(&place));
    let before = old(&one, &ours);
    let _running = one.turn().unwrap().begin(&before).unwrap();
    let _held = Placeholders::default().hold(&place.work, &place.work);
    // The first covers them for its programs, so what a person puts there is a person's.
    assert_eq!(protected(&old(&other, &ours)).len() + old(&other, &ours).repositories.len(), NAMES.len());
    make(&place.work, &["sub/.envrc"]);
    let of_sub = walker_of(&place.work, "sub");
    let sub = Arc::new(RunJournal::open(&place.state, &of_sub).unwrap());
    assert_eq!(protected(&old(&sub, &of_sub)), [".envrc"]);
    // Rules of its own: what only they protect was never listed by the first, and may be as old as the project.
    let strict = walker_with(&place.work, "", &["*.pem"]);
    assert_ne!(strict.rules(), ours.rules());
    let strict_journal = Arc::new(RunJournal::open(&place.state, &strict).unwrap());
    assert!(protected(&old(&strict_journal, &strict)).contains(&"sub/.envrc".to_owned()));
}

/// THREAT: P07, a run that ends while another process looks has been swept or is still seen.
#[test]
fn nobody_ends_a_run_while_another_looks() {
    let place = place();
    let walker = walker(&place.work);
    let (one, other) = (journal(&place), journal(&place));
    let running = one.turn().unwrap().begin(&walker.walk().unwrap()).unwrap();
    let turn = other.turn().unwrap();
    std::thread::scope(|scope| {
        let ended = scope.spawn(move || drop(running));
        for _ in 0..100 {
            assert!(!turn.without_plants(walker.walk().unwrap()).service.as_os_str().is_empty());
            assert!(!ended.is_finished());
            std::thread::yield_now();
        }
        drop(turn);
        ended.join().unwrap();
    });
}

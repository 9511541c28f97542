use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use vambrace_policy::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks};
use vambrace_types::Bearings;

use super::*;
use crate::workspace::Walker;

mod behind;
mod killed;
mod side_by_side;

struct Place {
    _root: tempfile::TempDir,
    base: PathBuf,
    state: PathBuf,
    work: PathBuf,
}

fn place() -> Place {
    let root = tempfile::tempdir().unwrap();
    let base = root.path().canonicalize().unwrap();
    let (state, work) = (base.join("state"), base.join("work"));
    std::fs::create_dir(&state).unwrap();
    std::fs::create_dir(&work).unwrap();
    Place { _root: root, base, state, work }
}

fn walker(work: &Path) -> Walker {
    walker_of(work, "")
}

fn walker_of(work: &Path, service: &str) -> Walker {
    walker_with(work, service, &[])
}

fn walker_with(work: &Path, service: &str, block: &[&str]) -> Walker {
    let settings = ScopeSettings {
        bearings: Bearings::new(&[work.to_str().unwrap()], service, &[]),
        isolation: Isolation::Strict,
        block_patterns: block.iter().map(|text| (*text).to_owned()).collect(),
        shared_inside_own: false,
        symlinks: Symlinks::Inside,
        hard_links: HardLinks::ReadOnly,
    };
    Walker::new(work.to_owned(), Arc::new(Scope::new(settings).unwrap()))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[track_caller]
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::yield_now();
    }
}

/// As somebody for whom a closed folder is closed.
fn as_nobody(place: &Place, work: impl FnOnce() + Send) {
    for folder in [&place.base, &place.state, &place.work] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
    }
    crate::nobody::as_nobody(work);
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn make(work: &Path, paths: &[&str]) {
    for path in paths {
        let path = work.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
}

/// This test binary again, in the part of `as_another_process` that `word` names.
fn another(word: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["placeholder::tests::as_another_process", "--exact", "--nocapture", word])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Does its work only as the child of other tests. Words that name no test select none, so they carry what to do.
#[test]
fn as_another_process() {
    for word in std::env::args() {
        match word.split_once(':') {
            Some(("loops", work)) => hold_and_release(Path::new(work)),
            Some(("hold", work)) => {
                let _held = Placeholders::default().hold(Path::new(work), Path::new(work));
                println!("\nheld");
                std::io::stdin().read_line(&mut String::new()).unwrap();
            }
            Some(("plant", base)) => killed::run_a_program_that_plants(Path::new(base)),
            _ => {}
        }
    }
}

/// While something is held, its name leads to the same folder.
fn hold_and_release(work: &Path) {
    let all = Placeholders::default();
    for round in 0..100 {
        let held = all.hold(work, work);
        assert_eq!(held.paths().len(), NAMES.len(), "round {round}");
        let before: Vec<_> = held.paths().iter().map(|path| Identity::of(path).unwrap()).collect();
        // Every third round overlaps with another cage of the same process.
        let second = (round % 3 == 0).then(|| all.hold(work, work));
        for _ in 0..20 {
            let now: Vec<_> = held.paths().iter().map(|path| Identity::of(path).unwrap()).collect();
            assert_eq!(now, before, "round {round}");
            std::thread::yield_now();
        }
        drop(held);
        if let Some(second) = second {
            let now: Vec<_> = second.paths().iter().map(|path| Identity::of(path).unwrap()).collect();
            assert_eq!(now, before, "round {round}");
        }
    }
}

#[test]
fn several_processes_share_one_folder() {
    let place = place();
    let word = format!("loops:{}", place.work.display());
    let children: Vec<Child> = (0..3).map(|_| another(&word)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| hold_and_release(&place.work));
        scope.spawn(|| hold_and_release(&place.work));
    });
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
    assert_eq!(names(&place.work), Vec::<String>::new());
}

fn killed_while_holding(work: &Path) {
    let mut child = another(&format!("hold:{}", work.display()));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "held"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_a_kill_left_is_used_again_and_removed() {
    let place = place();
    killed_while_holding(&place.work);
    assert_eq!(names(&place.work).len(), NAMES.len());
    std::fs::write(place.work.join(".husky/pre-commit"), "").unwrap();
    let held = Placeholders::default().hold(&place.work, &place.work);
    assert_eq!(held.paths().len(), NAMES.len() - 1);
    drop(held);
    assert_eq!(names(&place.work), [".husky"]);
    assert_eq!(mode(&place.work.join(".husky")), 0o755);
}

#[test]
fn a_maker_that_goes_leaves_what_another_holds() {
    let place = place();
    let (one, other) = (Placeholders::default(), Placeholders::default());
    let first = one.hold(&place.work, &place.work);
    let second = other.hold(&place.work, &place.work);
    assert_eq!(second.paths(), first.paths());
    drop(first);
    assert_eq!(names(&place.work).len(), NAMES.len());
    drop(second);
    assert_eq!(names(&place.work), Vec::<String>::new());
}

#[test]
fn places_stand_while_someone_holds_them() {
    let place = place();
    std::fs::create_dir(place.work.join(".vscode")).unwrap();
    std::os::unix::fs::symlink("elsewhere", place.work.join(".cursor")).unwrap();
    let all = Placeholders::default();
    let first = all.hold(&place.work, &place.work);
    assert_eq!(first.paths().len(), NAMES.len() - 2); // two are the project's own
    let second = all.hold(&place.work, &place.work);
    assert_eq!(second.paths(), first.paths());
    drop(first);
    assert_eq!(names(&place.work).len(), NAMES.len());
    drop(second);
    assert_eq!(names(&place.work), [".cursor", ".vscode"]);
}

#[test]
fn what_a_person_put_there_stays() {
    let place = place();
    let all = Placeholders::default();
    let walker = walker(&place.work);
    let held = all.hold(&place.work, &place.work);
    let before = walker.walk().unwrap();
    std::fs::write(place.work.join(".claude/settings.json"), "{}").unwrap();
    std::fs::remove_dir(place.work.join(".cursor")).unwrap();
    std::fs::write(place.work.join(".cursor"), "x").unwrap();
    // Another run holds it too, so the folder was covered while it was filled.
    assert_eq!(all.planted(&before, &walker.walk().unwrap(), Cover::Mounts), [place.work.join(".cursor")]);
    drop(held);
    assert_eq!(names(&place.work), [".claude", ".cursor"]);
    assert_eq!(mode(&place.work.join(".claude")), 0o755);
    let held = all.hold(&place.work, &place.work);
    let before = walker.walk().unwrap();
    assert_eq!(all.planted(&before, &walker.walk().unwrap(), Cover::Mounts), Vec::<PathBuf>::new());
    drop(held);
    assert_eq!(names(&place.work), [".claude", ".cursor"]);
}

#[test]
fn placeholders_are_not_taken_for_planted_ones_until_they_are_filled() {
    let place = place();
    let walker = walker(&place.work);
    let (ours, theirs) = (Placeholders::default(), Placeholders::default());
    let before = walker.walk().unwrap();
    let held = theirs.hold(&place.work, &place.work);
    assert_eq!(ours.planted(&before, &walker.walk().unwrap(), Cover::Mounts), Vec::<PathBuf>::new());
    // An ordinary folder in its place, one that is not at the top, and one with something in it.
    std::fs::remove_dir(place.work.join(".claude")).unwrap();
    std::fs::create_dir(place.work.join(".claude")).unwrap();
    std::fs::create_dir_all(place.work.join("sub/.vscode")).unwrap();
    std::fs::set_permissions(place.work.join("sub/.vscode"), PermissionsExt::from_mode(0o1755)).unwrap();
    std::fs::write(place.work.join(".husky/pre-commit"), "").unwrap();
    let planted = ours.planted(&before, &walker.walk().unwrap(), Cover::Mounts);
    let expected = [".claude", ".husky", "sub/.vscode"].map(|name| place.work.join(name));
    assert_eq!(planted, expected);
    drop(held);
    assert_eq!(names(&place.work), [".claude", ".husky", "sub"]);
}

/// A cage without a private root does not cover what another process holds.
#[test]
fn a_place_that_was_not_covered_is_planted_when_filled() {
    let place = place();
    let walker = walker(&place.work);
    let (ours, theirs) = (Placeholders::default(), Placeholders::default());
    let _held = theirs.hold(&place.work, &place.work);
    drop(ours.hold(&place.work, &place.work));
    let before = walker.walk().unwrap();
    std::fs::write(place.work.join(".claude/settings.json"), "{}").unwrap();
    std::fs::set_permissions(place.work.join(".claude"), PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(ours.planted(&before, &walker.walk().unwrap(), Cover::Mounts), [place.work.join(".claude")]);
}

#[test]
fn a_program_that_keeps_the_lock_does_not_keep_us_waiting() {
    let place = place();
    killed_while_holding(&place.work);
    let folder = std::fs::File::open(place.work.join(".claude")).unwrap();
    folder.lock().unwrap();
    let held = Placeholders::default().hold(&place.work, &place.work);
    assert_eq!(held.paths().len(), NAMES.len());
    drop(held);
    assert_eq!(names(&place.work), [".claude"]);
}

/// A program may take its own user the right to change the service.
#[test]
fn a_closed_service_keeps_no_placeholder_and_its_mode() {
    for closed in [0o555, 0o500, 0o400, 0o111, 0o000] {
        let place = place();
        as_nobody(&place, || {
            let own = place.work.join("own");
            std::fs::create_dir(&own).unwrap();
            let all = Placeholders::default();
            let held = all.hold(&own, &place.work);
            assert_eq!(held.paths().len(), NAMES.len());
            set_mode(&own, closed);
            drop(held);
            assert_eq!(mode(&own), closed);
            set_mode(&own, 0o700);
            assert_eq!(names(&own), Vec::<String>::new(), "{closed:o}");
        });
    }
}

/// Its owner, who the program is, could open it and write.
#[test]
fn a_service_that_is_read_only_gets_placeholders_too() {
    let place = place();
    as_nobody(&place, || {
        let own = place.work.join("own");
        std::fs::create_dir(&own).unwrap();
        set_mode(&own, 0o555);
        let held = Placeholders::default().hold(&own, &place.work);
        assert_eq!((held.paths().len(), names(&own).len(), mode(&own)), (NAMES.len(), NAMES.len(), 0o555));
        drop(held);
        assert_eq!((names(&own).len(), mode(&own)), (0, 0o555));
    });
}

#[test]
fn a_service_in_a_repository_gets_no_repository_of_its_own() {
    let place = place();
    let service = place.work.join("a");
    std::fs::create_dir(&service).unwrap();
    killed_while_holding(&service);
    std::fs::create_dir_all(place.work.join(".git")).unwrap();
    let held = Placeholders::default().hold(&service, &place.work);
    assert!(!held.paths().contains(&service.join(".git")));
    assert!(!service.join(".git").exists(), "one that a kill left is removed");
    assert!(held.paths().contains(&service.join(".claude")));
}

#[test]
fn a_link_in_the_place_of_the_service_gets_nothing() {
    let place = place();
    let outside = place.base.join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, place.work.join("a")).unwrap();
    let held = Placeholders::default().hold(&place.work.join("a"), &place.work);
    assert_eq!((held.paths().len(), names(&outside).len()), (0, 0));
}

/// One run of ours had a private root and still holds the places; the next one had none.
#[test]
fn a_place_that_we_hold_is_planted_when_nothing_covered_it() {
    let place = place();
    let walker = walker(&place.work);
    let all = Placeholders::default();
    let _held = all.hold(&place.work, &place.work);
    let before = walker.walk().unwrap();
    std::fs::write(place.work.join(".claude/settings.json"), "{}").unwrap();
    let after = walker.walk().unwrap();
    assert_eq!(all.planted(&before, &after, Cover::Mounts), Vec::<PathBuf>::new());
    assert_eq!(all.planted(&before, &after, Cover::Nothing), [place.work.join(".claude")]);
}

#[test]
fn a_service_that_was_moved_takes_its_places_along() {
    let place = place();
    let service = place.work.join("a");
    std::fs::create_dir(&service).unwrap();
    let all = Placeholders::default();
    let _first = all.hold(&service, &place.work);
    std::fs::rename(&service, place.work.join("b")).unwrap();
    std::fs::create_dir(&service).unwrap();
    let second = all.hold(&service, &place.work);
    assert_eq!(second.paths().len(), NAMES.len());
    assert_eq!(names(&service).len(), NAMES.len(), "made anew in the folder that has the name now");
}

//! Recovery from every state a crash can leave, each built by hand.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use vambrace_files::Recovery;

use crate::world::{Choices, World};

const FILES: [&str; 3] = ["a.txt", "b.txt", "d/c.txt"];

fn temporary(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').map_or((String::new(), path), |(f, n)| (format!("{f}/"), n));
    format!("{folder}.vambrace-{name}.tmp")
}

/// A journal as version 2 writes it: if this has to change, old journals can no longer be read.
fn journal_of(root: &Path, paths: &[&str]) -> Vec<u8> {
    let stat = |path: &Path| fs::metadata(path).unwrap();
    let own = stat(root);
    let place = root.canonicalize().unwrap();
    let mut text = format!("vambrace-journal-2\0{}\0{}\0{}\0", own.ino(), place.display(), paths.len());
    for path in paths {
        let file = stat(&root.join(path));
        let (inode, size) = (file.ino(), file.size());
        text.push_str(&format!("{path}\0{inode}\0{size}\0{}\0{}\0", file.ctime(), file.ctime_nsec()));
    }
    text.push_str("end\0");
    text.into_bytes()
}

struct Crash {
    world: World,
}

impl Crash {
    /// Three old files, a journal of the given kind, and copies of the first `n_copies`.
    fn new(kind: &str, n_copies: usize) -> Crash {
        let world = World::new();
        for path in FILES {
            world.put(path, "old");
        }
        fs::create_dir_all(world.journal()).unwrap();
        fs::write(world.journal().join(format!("77-0.{kind}")), journal_of(&world.inside(""), &FILES))
            .unwrap();
        for path in FILES.iter().take(n_copies) {
            world.put(&temporary(path), "new");
        }
        Crash { world }
    }

    fn place(self, n_placed: usize) -> Crash {
        for path in FILES.iter().take(n_placed) {
            fs::rename(self.world.inside(&temporary(path)), self.world.inside(path)).unwrap();
        }
        self
    }

    #[track_caller]
    fn check(&self, expected: [&str; 3], finished: &[&str], reverted: &[&str], conflicts: &[&str]) {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let recovery = self.world.files.recover().unwrap();
        let expected_recovery = Recovery {
            finished: owned(finished),
            reverted: owned(reverted),
            conflicts: owned(conflicts),
            postponed: Vec::new(),
        };
        assert_eq!(recovery, expected_recovery);
        assert_eq!(FILES.map(|path| self.world.raw(path)), expected);
        self.world.check_clean();
        assert_eq!(
            self.world.files.recover().unwrap(),
            Recovery::default(),
            "the second time there is nothing left"
        );
    }
}

#[test]
fn every_step_of_an_edit() {
    const OLD: [&str; 3] = ["old"; 3];
    const NEW: [&str; 3] = ["new"; 3];
    Crash::new("prepare", 0).check(OLD, &[], &[], &[]);
    Crash::new("prepare", 1).check(OLD, &[], &FILES[..1], &[]);
    Crash::new("prepare", 3).check(OLD, &[], &FILES, &[]);
    Crash::new("commit", 3).check(NEW, &FILES, &[], &[]);
    Crash::new("commit", 3).place(1).check(NEW, &FILES, &[], &[]);
    Crash::new("commit", 3).place(2).check(NEW, &FILES, &[], &[]);
    Crash::new("commit", 3).place(3).check(NEW, &FILES, &[], &[]);
}

#[test]
fn what_somebody_changed_since_stays_theirs() {
    let crash = Crash::new("commit", 3).place(1);
    crash.world.put("b.txt", "theirs, longer");
    crash.check(["new", "theirs, longer", "new"], &["a.txt", "d/c.txt"], &[], &["b.txt"]);
}

#[test]
fn a_link_where_a_file_was_is_a_conflict_and_leads_nowhere() {
    let crash = Crash::new("commit", 3);
    let secret = crash.world.outside("secret");
    fs::write(&secret, "secret").unwrap();
    fs::remove_file(crash.world.inside("b.txt")).unwrap();
    std::os::unix::fs::symlink(&secret, crash.world.inside("b.txt")).unwrap();
    crash.check(["new", "secret", "new"], &["a.txt", "d/c.txt"], &[], &["b.txt"]);
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
    assert!(fs::symlink_metadata(crash.world.inside("b.txt")).unwrap().is_symlink());
}

#[test]
fn a_folder_moved_outside_meanwhile_is_not_followed() {
    let crash = Crash::new("commit", 3);
    fs::rename(crash.world.inside("d"), crash.world.outside("d")).unwrap();
    std::os::unix::fs::symlink("../outside/d", crash.world.inside("d")).unwrap();
    let recovery = crash.world.files.recover().unwrap();
    assert_eq!(recovery.conflicts, ["d/c.txt"]);
    assert_eq!(fs::read_to_string(crash.world.outside("d/c.txt")).unwrap(), "old");
}

#[test]
fn a_torn_journal_changes_nothing() {
    for length in [0, 1, 20, 60] {
        let crash = Crash::new("prepare", 0);
        let path = crash.world.journal().join("77-0.prepare");
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..length]).unwrap();
        crash.check(["old"; 3], &[], &[], &[]);
    }
}

#[test]
fn a_living_process_keeps_its_journal() {
    let crash = Crash::new("commit", 3);
    let held = File::open(crash.world.journal().join("77-0.commit")).unwrap();
    held.lock().unwrap();
    assert_eq!(crash.world.files.recover().unwrap(), Recovery::default());
    assert_eq!(FILES.map(|path| crash.world.raw(path)), ["old"; 3]);
    drop(held);
    crash.check(["new"; 3], &FILES, &[], &[]);
}

#[test]
fn a_journal_of_another_workspace_is_left_alone() {
    let other = World::new();
    other.put("x.txt", "other");
    let world = World::new();
    for path in FILES {
        world.put(path, "old");
    }
    fs::create_dir_all(world.journal()).unwrap();
    let theirs = journal_of(&other.inside(""), &["x.txt"]);
    // Process numbers repeat, above all in containers: the same number must not overwrite another's journal.
    let own = std::process::id();
    let names = ["prepare", "commit"].map(|kind| world.journal().join(format!("{own}-0.{kind}")));
    for kind in [0, 1] {
        fs::write(&names[kind], &theirs).unwrap();
        assert_eq!(world.files.recover().unwrap(), Recovery::default());
        world.edit_all(&FILES.map(|path| (path, "new"))).unwrap();
        assert_eq!(fs::read(&names[kind]).unwrap(), theirs, "{kind}");
        assert_eq!(FILES.map(|path| world.raw(path)), ["new"; 3]);
        fs::remove_file(&names[kind]).unwrap();
    }
    world.check_clean();
}

/// A rival that edits the same file right now keeps its unfinished copy beside it.
#[test]
fn recovery_does_not_take_a_rivals_copy() {
    let crash = Crash::new("commit", 0);
    let rival = crate::world::World::at(crash.world.base(), &crate::world::Choices::default());
    let (_, _) = rival
        .edit_with(&["a.txt"], &mut |_, old| {
            assert_eq!(old, "old");
            fs::write(crash.world.inside(&temporary("a.txt")), "half of the rival's").unwrap();
            let quick = crate::world::Choices {
                lock: vambrace_files::LockPolicy::new(
                    std::time::Duration::ZERO,
                    std::time::Duration::from_secs(30),
                ),
                ..crate::world::Choices::default()
            };
            let third = World::at(crash.world.base(), &quick);
            third.files.recover().unwrap();
            assert_eq!(crash.world.raw("a.txt"), "old");
            Ok("the rival's".to_owned())
        })
        .unwrap();
    assert_eq!(crash.world.raw("a.txt"), "the rival's");
}

/// Old, and without the copy that would make it new: that is not what was committed.
#[test]
fn a_committed_file_without_its_copy_is_finished_only_if_it_is_new() {
    let crash = Crash::new("commit", 3).place(1);
    fs::remove_file(crash.world.inside(&temporary("b.txt"))).unwrap();
    crash.check(["new", "old", "new"], &["a.txt", "d/c.txt"], &[], &["b.txt"]);
}

/// What stands at a copy's name and is no copy is neither placed nor removed.
#[test]
fn what_is_not_a_copy_is_not_placed() {
    let crash = Crash::new("commit", 3);
    let secret = crash.world.outside("secret");
    fs::write(&secret, "secret").unwrap();
    let copy = crash.world.inside(&temporary("b.txt"));
    fs::remove_file(&copy).unwrap();
    fs::hard_link(&secret, &copy).unwrap();
    let recovery = crash.world.files.recover().unwrap();
    assert_eq!(recovery.conflicts, ["b.txt"]);
    assert_eq!(FILES.map(|path| crash.world.raw(path)), ["new", "old", "new"]);
    assert!(copy.exists());
}

#[test]
fn a_busy_file_is_left_for_the_next_start() {
    let crash = Crash::new("commit", 3);
    let lock = vambrace_files::LockPolicy::new(Duration::ZERO, Duration::from_secs(30));
    let hasty = World::at(crash.world.base(), &Choices { lock, ..Choices::default() });
    // Somebody whose signature we do not know holds it.
    crash.world.put(".lock.b.txt", "another tool");
    let recovery = hasty.files.recover().unwrap();
    assert_eq!((recovery.finished.len(), recovery.postponed), (2, vec!["b.txt".to_owned()]));
    assert_eq!(FILES.map(|path| crash.world.raw(path)), ["new", "old", "new"]);
    assert_eq!(crash.world.raw(".lock.b.txt"), "another tool");
    fs::remove_file(crash.world.inside(".lock.b.txt")).unwrap();
    crash.check(["new"; 3], &FILES, &[], &[]);
}

/// A name without a file behind it is what a living process leaves when it renames or ends its journal just now.
#[test]
fn a_journal_that_ends_while_it_is_looked_at_is_no_error() {
    let crash = Crash::new("commit", 3);
    std::os::unix::fs::symlink("gone", crash.world.journal().join("78-0.prepare")).unwrap();
    assert_eq!(crash.world.files.recover().unwrap().finished, FILES);
}

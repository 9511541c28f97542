//! Whatever happens to the tree, a walk that remembers gives what a walk without memory gives.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Barrier;

use rustix::fs::{CWD, RenameFlags};

use super::*;
use crate::nobody::as_nobody;

const NAMES: &[&str] = &[
    "a",
    "b",
    "c",
    "docs",
    "policies",
    "shared",
    ".env",
    ".claude",
    ".git",
    "secrets",
    ".vscode",
    ".mcp.json",
    "x.pem",
    "node_modules",
    "private",
    "n.txt",
    "HEAD",
    "objects",
    "refs",
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }

    fn name(&mut self) -> &'static str {
        // The first names more often, so that paths meet.
        let n = if self.below(2) == 0 { 4 } else { NAMES.len() };
        NAMES[self.below(n)]
    }

    fn path(&mut self, base: &Path) -> PathBuf {
        (0..=self.below(4)).fold(base.to_owned(), |path, _| path.join(self.name()))
    }
}

/// Where things are moved to and from, and folders that are held open so that their inodes live on.
struct Outside {
    folder: PathBuf,
    held: Vec<std::fs::File>,
}

fn exchange(one: &Path, other: &Path) {
    let _ = rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
}

/// One change, or an attempt at one.
fn change(random: &mut Random, base: &Path, outside: &mut Outside) {
    let (path, other) = (random.path(base), random.path(base));
    let away = outside.folder.join(random.name());
    match random.below(19) {
        0..=2 => drop(std::fs::create_dir_all(&path)),
        3 | 4 => drop(std::fs::write(&path, "x")),
        5 => drop(std::fs::remove_dir_all(&path)),
        6 => drop(std::fs::remove_file(&path)),
        7 => drop(std::fs::rename(&path, &other)),
        8 => exchange(&path, &other),
        9 => drop(symlink("../a", &path)),
        10 => drop(std::fs::hard_link(&path, &other)),
        11 => {
            let mode = [0o700, 0o500, 0o400, 0o300, 0o100, 0][random.below(6)];
            drop(std::fs::set_permissions(&path, Permissions::from_mode(mode)));
        }
        12 => drop(std::fs::rename(&path, &away)),
        13 => drop(std::fs::rename(&away, &path)),
        14 => {
            drop(std::fs::create_dir_all(away.join(random.name())));
            exchange(&path, &away);
        }
        15 => {
            drop(std::fs::create_dir(&path).and_then(|()| std::fs::remove_dir(&path)));
            drop(std::fs::create_dir(&path));
        }
        16 => drop(UnixListener::bind(&path)),
        17 => {
            for name in ["HEAD", "objects", "refs"] {
                drop(std::fs::create_dir_all(path.join(name)));
            }
        }
        _ => {
            outside.held.extend(std::fs::File::open(&path));
            drop(std::fs::remove_dir_all(&path));
            drop(std::fs::create_dir(&path));
        }
    }
}

fn open_up(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            drop(std::fs::set_permissions(entry.path(), Permissions::from_mode(0o700)));
            open_up(&entry.path());
        }
    }
}

struct Arena {
    place: Place,
    outside: PathBuf,
}

/// A workspace that belongs to whoever makes it, and a folder beside it.
fn arena() -> Arena {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap();
    let (base, outside) = (path.join("work"), path.join("outside"));
    for folder in [&path, &base, &outside] {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    }
    Arena { place: Place { _root: root, base }, outside }
}

#[track_caller]
fn check(service: &str, isolation: Isolation, seed: u64) {
    let Arena { place, outside } = arena();
    as_nobody(|| {
        let mut outside = Outside { folder: outside, held: Vec::new() };
        let mut random = Random(seed);
        std::fs::create_dir_all(place.base.join(service)).unwrap();
        let scope = place.scope(service, isolation);
        let walker = |limits| Walker::with_limits(place.base.clone(), Arc::clone(&scope), limits);
        let (watched, stamped) = (walker(WATCHES), walker(NO_WATCHES));
        for step in 0..150 {
            for _ in 0..=random.below(3) {
                change(&mut random, &place.base, &mut outside);
            }
            let expected = walker(NO_WATCHES).walk();
            assert_eq!(watched.walk(), expected, "watched, seed {seed}, step {step}");
            assert_eq!(stamped.walk(), expected, "stamped, seed {seed}, step {step}");
        }
        open_up(&place.base);
        assert_eq!(watched.walk(), walker(NO_WATCHES).walk());
        open_up(&outside.folder);
    });
}

#[test]
fn memory_and_a_fresh_look_agree() {
    for seed in 1..=2 {
        check("", Isolation::Strict, seed);
        check("a", Isolation::Strict, 10 + seed);
        check("a/b", Isolation::Shared, 20 + seed);
        // The service lies in a shared folder, so there are two ways to it.
        check("shared/a", Isolation::Strict, 30 + seed);
    }
}

/// Many hands at once, and a walker that looks on: when all is quiet, it has missed nothing.
#[test]
fn nothing_is_missed_while_others_work() {
    let Arena { place, outside } = arena();
    let walker = place.walker("", Isolation::Strict);
    for round in 0..10 {
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for hand in 0..3 {
                let mut outside = Outside { folder: outside.clone(), held: Vec::new() };
                let (start, base) = (&start, &place.base);
                scope.spawn(move || {
                    let mut random = Random(round * 3 + hand);
                    start.wait();
                    (0..300).for_each(|_| change(&mut random, base, &mut outside));
                });
            }
            start.wait();
            (0..30).for_each(|_| drop(walker.walk()));
        });
        assert_eq!(walker.walk(), place.walker("", Isolation::Strict).walk(), "round {round}");
    }
}

/// The kernel drops events when its queue is full, and then the walk must not believe the silence.
#[test]
fn a_full_queue_is_noticed() {
    let place = Place::new();
    place.make(&["a/one", "b/c/"]);
    let walker = place.walker("", Isolation::Strict);
    walker.walk().unwrap();
    let most = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let most: usize = most.trim().parse().unwrap();
    let (one, other) = (place.base.join("a/one"), place.base.join("a/other"));
    for _ in 0..=most / 4 {
        std::fs::rename(&one, &other).unwrap();
        std::fs::rename(&other, &one).unwrap();
    }
    place.make(&["b/c/.env", "b/new/.env"]);
    assert_eq!(place.short(masked(&walker.walk().unwrap())), ["b/c/.env", "b/new/.env"]);
    // And watches again from there on.
    place.make(&["b/.env"]);
    assert_eq!(place.short(masked(&walker.walk().unwrap())), ["b/.env", "b/c/.env", "b/new/.env"]);
    assert_eq!(walker.memory.lock().unwrap().tree.n_watched(), 5);
}

/// Too many events to read: a walk that asks every folder. Too few watches: one that asks those without.
#[test]
fn limits_cost_time_and_not_truth() {
    let all = [".env", "a/.env", "a/b/.env", "c/.env"];
    for (watches, events, n_watched) in [(0, 100, 0), (3, 100, 3), (4, 100, 4), (100, 3, 4)] {
        let place = Place::new();
        place.make(&["a/b/", "c/"]);
        let walker = place.limited("", Isolation::Strict, WatchLimits { after_walks: 0, watches, events });
        walker.walk().unwrap();
        place.make(&all);
        assert_eq!(place.short(masked(&walker.walk().unwrap())), all, "{watches} {events}");
        assert_eq!(walker.memory.lock().unwrap().tree.n_watched(), n_watched, "{watches} {events}");
    }
}

/// A file or folder that takes the place of another of its name is another one.
#[test]
fn a_replacement_is_another_one() {
    let place = Place::new();
    place.make(&["a/.mcp.json", "a/.vscode/x", "new/tasks", ".git/config", "fresh/config", "next"]);
    let walker = place.walker("", Isolation::Strict);
    let identity = |list: fn(&View) -> &Vec<Seen>, name: &str| {
        let view = walker.walk().unwrap();
        list(&view).iter().find(|seen| seen.path == place.base.join(name)).unwrap().identity
    };
    for (list, name, by) in [
        ((|view| &view.protected) as fn(&View) -> &Vec<Seen>, "a/.mcp.json", "next"),
        (|view| &view.protected, "a/.vscode", "new"),
        (|view| &view.repositories, ".git", "fresh"),
    ] {
        let before = identity(list, name);
        exchange(&place.base.join(name), &place.base.join(by));
        assert_ne!(identity(list, name), before, "{name}");
        exchange(&place.base.join(name), &place.base.join(by));
        assert_eq!(identity(list, name), before, "{name}");
    }
}

/// Zones and what lies above them are not watched from above.
#[test]
fn zones_may_come_go_and_be_replaced() {
    let place = Place::new();
    place.make(&["top/service/.env", "docs/policies/.env", "other/policies/x.pem", "other/service/y.pem"]);
    let walker = place.walker("top/service", Isolation::Strict);
    let look = |expected: [&[&str]; 2]| {
        let view = walker.walk().unwrap();
        let found = [masked(&view), view.zones.clone()].map(|paths| place.short(paths));
        assert_eq!(found, expected.map(|paths| paths.to_vec()));
    };
    look([&["docs/policies/.env", "top/service/.env"], &["docs/policies", "top/service"]]);
    exchange(&place.base.join("docs"), &place.base.join("other"));
    look([&["docs/policies/x.pem", "top/service/.env"], &["docs/policies", "top/service"]]);
    exchange(&place.base.join("top"), &place.base.join("docs"));
    look([&["top/service/y.pem"], &["top/service"]]);
    // Empty, and shown all the same.
    place.make(&["shared/"]);
    look([&["top/service/y.pem"], &["shared", "top/service"]]);
}

/// Most file systems give the number of an inode that is gone to the next one.
#[test]
fn a_folder_made_again_is_another_one() {
    for service in ["", "folder"] {
        let place = Place::new();
        place.make(&["folder/"]);
        let walker = place.walker(service, Isolation::Strict);
        for name in ["folder/.env", "folder/a.pem", "folder/b.pem"] {
            walker.walk().unwrap();
            std::fs::remove_dir_all(place.base.join("folder")).unwrap();
            place.make(&[name]);
            assert_eq!(place.short(masked(&walker.walk().unwrap())), [name]);
        }
    }
}

/// Who may enter a folder decides about everything below it.
#[test]
fn a_closed_way_closes_what_it_led_to() {
    for service in ["", "a"] {
        let Arena { place, .. } = arena();
        as_nobody(|| {
            place.make(&["a/b/c/.env"]);
            let walker = place.walker(service, Isolation::Strict);
            // A folder whose names can be read and nothing else is as closed as one that shows nothing.
            for closed in [0o400, 0o600, 0o300, 0o000] {
                for mode in [0o700, closed] {
                    std::fs::set_permissions(place.base.join("a"), Permissions::from_mode(mode)).unwrap();
                    let found = walker.walk().map(|view| place.short(masked(&view)));
                    let expected = match (mode, service) {
                        (0o700, _) => Ok(vec!["a/b/c/.env".to_owned()]),
                        (_, "") => Ok(vec!["a".to_owned()]),
                        _ => Err(ViewError::NoService),
                    };
                    assert_eq!(found, expected, "{service} {mode:o}");
                }
            }
            std::fs::set_permissions(place.base.join("a"), Permissions::from_mode(0o700)).unwrap();
            assert_eq!(place.short(masked(&walker.walk().unwrap())), ["a/b/c/.env"]);
        });
    }
}

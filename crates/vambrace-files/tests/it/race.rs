//! A rival moves links and folders while the door works. Whatever he does, no outside byte comes in and none changes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags};
use vambrace_files::LockPolicy;

use crate::world::{Choices, World, names_beneath};

/// In every outside file, and in no inside one.
const MARK: &str = "OUTSIDE";
const SWAPS: usize = 4_000;

/// What may come back besides an answer. Nothing else may: above all no `InternalError`, no `IoError`.
const EXPECTED: [&str; 11] = [
    "AlreadyExists",
    "BlockedPath",
    "FileChanged",
    "FileNotFound",
    "IsADirectory",
    "LinkRefused",
    // The kernel has one word for leaving and for crossing; the second look, which tells them apart, may see a new tree.
    "MountRefused",
    "NotADirectory",
    "PathOutsideProject",
    "ResourceBusy",
    // The rival moved one of two files to the place of the other.
    "ValidationError",
];

fn world() -> World {
    let second = std::time::Duration::from_secs(1);
    let world = World::with(&Choices { lock: LockPolicy::new(second, 60 * second), ..Choices::default() });
    for path in ["f.txt", "sub/f.txt", "outside_only.txt", "sub/outside_only.txt"] {
        crate::world::put(&world.outside(path), MARK);
    }
    for path in ["d/f.txt", "d/sub/f.txt", "e/f.txt", "e/sub/f.txt", "swap.txt"] {
        world.put(path, "inside");
    }
    symlink("../outside", world.inside("d_link")).unwrap();
    symlink("../outside/f.txt", world.inside("swap_link")).unwrap();
    world
}

/// Exchanges two names in one step, so that one of both always stands at each.
fn exchange(world: &World, one: &str, two: &str) {
    let _ = rustix::fs::renameat_with(CWD, world.inside(one), CWD, world.inside(two), RenameFlags::EXCHANGE);
}

/// The same with a name in a folder; by its handle, because a caged rival cannot reach through a link outside himself.
fn exchange_below(world: &World, folder: &str, name: &str, other: &str) {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if let Ok(folder) = rustix::fs::open(world.inside(folder), flags, Mode::empty()) {
        let _ = rustix::fs::renameat_with(&folder, name, CWD, world.inside(other), RenameFlags::EXCHANGE);
    }
}

/// The rival: a caged program with every right inside the workspace.
fn swap(world: &World) {
    for round in 0..SWAPS {
        exchange(world, "d", "d_link");
        exchange(world, "swap.txt", "swap_link");
        if round % 3 == 0 {
            exchange(world, "d", "e");
        }
        if round % 5 == 0 {
            exchange_below(world, "e", "sub", "d_link");
            exchange_below(world, "e", "sub", "d_link");
        }
        if round % 7 == 0 {
            // The door may have replaced the link; put it back.
            let _ = fs::remove_file(world.inside("swap_link"));
            let _ = symlink("../outside/f.txt", world.inside("swap_link"));
        }
        if round % 11 == 0 && fs::rename(world.inside("e"), world.inside("away")).is_ok() {
            let _ = symlink("../outside", world.inside("e"));
            let _ = fs::remove_file(world.inside("e"));
            if fs::rename(world.inside("away"), world.inside("e")).is_err() {
                // The door made an `e` of its own meanwhile.
                exchange(world, "away", "e");
                let _ = fs::remove_dir_all(world.inside("away"));
            }
        }
    }
}

/// Ends the workers however the rival ends, a panic included.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` over and over while the rival swaps; collects the codes it was refused with.
fn against_the_rival(
    world: &World,
    workers: &[&(dyn Fn(usize) -> Result<(), &'static str> + Sync)],
) -> BTreeSet<&'static str> {
    let over = AtomicBool::new(false);
    let codes = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for worker in workers {
            let (over, codes) = (&over, &codes);
            scope.spawn(move || {
                let mut round = 0;
                while !over.load(Ordering::Relaxed) {
                    if let Err(refused) = worker(round) {
                        codes.lock().unwrap().insert(refused);
                    }
                    round += 1;
                }
            });
        }
        let _over = Over(&over);
        swap(world);
    });
    codes.into_inner().unwrap()
}

#[track_caller]
fn check_outside_untouched(world: &World) {
    let expected = ["f.txt", "outside_only.txt", "sub", "sub/f.txt", "sub/outside_only.txt"];
    assert_eq!(names_beneath(&world.outside("")), expected);
    for path in expected.into_iter().filter(|path| path.ends_with(".txt")) {
        assert_eq!(fs::read_to_string(world.outside(path)).unwrap(), MARK, "{path}");
    }
}

#[track_caller]
fn check_codes(codes: &BTreeSet<&'static str>) {
    let surprising: Vec<_> = codes.iter().filter(|code| !EXPECTED.contains(code)).collect();
    assert!(surprising.is_empty(), "{surprising:?}");
}

const PATHS: [&str; 7] =
    ["d/f.txt", "d/sub/f.txt", "swap.txt", "swap_link", "d_link/f.txt", "e/sub/f.txt", "d/outside_only.txt"];

#[test]
fn no_outside_byte_is_ever_read() {
    let world = world();
    let no_mark = |text: &str| assert!(!text.contains(MARK), "an outside byte came in: {text}");
    let read = |round: usize| world.read(PATHS[round % PATHS.len()]).map(|text| no_mark(&text));
    let list = |round: usize| {
        let folder = [".", "d", "d_link", "e"][round % 4];
        let listing = world.list(folder, true)?;
        listing
            .entries
            .iter()
            .for_each(|entry| assert!(!entry.path.contains("outside_only"), "{}", entry.path));
        Ok(())
    };
    let search = |round: usize| {
        let (_, seen) = world.search([".", "d", "swap.txt", "e"][round % 4], true)?;
        seen.iter().for_each(|(path, _, bytes)| {
            assert!(!path.contains("outside_only"), "{path}");
            no_mark(&String::from_utf8_lossy(bytes));
        });
        Ok(())
    };
    check_codes(&against_the_rival(&world, &[&read, &list, &search]));
    check_outside_untouched(&world);
}

#[test]
fn no_outside_byte_is_ever_changed() {
    let world = world();
    let no_mark = |text: &str| assert!(!text.contains(MARK), "an outside byte came in: {text}");
    let write = |round: usize| {
        let written = world.write(PATHS[round % PATHS.len()], "inside, written")?;
        no_mark(&written.old.unwrap_or_default());
        Ok(())
    };
    let edit = |round: usize| {
        let paths = [PATHS[round % PATHS.len()], "e/f.txt"];
        let apply = &mut |_: &str, old: &str| {
            no_mark(old);
            Ok("inside, edited".to_owned())
        };
        world.edit_with(&paths[..1 + round % 2], apply).map(|_| ())
    };
    let remove_and_make = |round: usize| {
        let path = ["d/new.txt", "d/made/new.txt", "d_link/new.txt", "d/f.txt"][round % 4];
        world.write(path, "inside, new")?;
        world.delete(path)?;
        world.make_folder(["d/made/more", "d_link/made", "e/sub/made"][round % 3]).map(|_| ())
    };
    check_codes(&against_the_rival(&world, &[&write, &edit, &remove_and_make]));
    check_outside_untouched(&world);
}

/// The kernel calls what was just replaced `.env (deleted)`, which no pattern knows: the name must not lose its block.
#[test]
fn a_blocked_file_stays_blocked_while_it_is_replaced() {
    let world = World::new();
    world.put(".env", "BLOCKED");
    symlink(".env", world.inside("innocent.txt")).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _over = Over(&over);
            for _ in 0..SWAPS {
                world.put("next", "BLOCKED");
                fs::rename(world.inside("next"), world.inside(".env")).unwrap();
            }
        });
        while !over.load(Ordering::Relaxed) {
            let refused = world.read("innocent.txt").expect_err("a blocked file was read");
            assert!(["BlockedPath", "FileNotFound"].contains(&refused), "{refused}");
        }
    });
}

/// The same for a folder that is exchanged for a link to a blocked one.
#[test]
fn a_blocked_folder_is_not_reached_by_exchange() {
    let world = World::new();
    world.put("secrets/key.txt", "BLOCKED");
    world.put("d/key.txt", "inside");
    symlink("secrets", world.inside("d_link")).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _over = Over(&over);
            (0..SWAPS).for_each(|_| exchange(&world, "d", "d_link"));
        });
        while !over.load(Ordering::Relaxed) {
            match world.read("d/key.txt") {
                Ok(text) => assert_eq!(text, "inside"),
                Err(refused) => assert_eq!(refused, "BlockedPath"),
            }
            let _ = world.write("d/new.txt", "inside");
            let (_, seen) = world.search(".", true).unwrap();
            assert!(seen.iter().all(|(_, _, bytes)| bytes == b"inside"), "{seen:?}");
        }
    });
    assert_eq!(names_beneath(&world.inside("secrets")), ["key.txt"]);
}

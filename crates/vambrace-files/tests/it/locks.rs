//! One writer at a time, and nobody waits for the dead.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps};
use vambrace_files::LockPolicy;

use crate::child::{Part, Running};
use crate::world::{Choices, Meddle, World};

const HOUR: Duration = Duration::from_secs(3600);

fn impatient() -> Choices {
    Choices { lock: LockPolicy::new(Duration::from_millis(20), HOUR), ..Choices::default() }
}

fn world() -> World {
    let world = World::with(&impatient());
    world.put("a.txt", "old");
    world
}

/// Field 22 of /proc/PID/stat.
fn start_time(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    after_name.split_whitespace().nth(19).unwrap().parse().unwrap()
}

fn age(path: &Path, by: Duration) {
    let modified = fs::metadata(path).unwrap().modified().unwrap() - by;
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    let stamp = Timespec { tv_sec: i64::try_from(since.as_secs()).unwrap(), tv_nsec: 0 };
    let times = Timestamps { last_access: stamp, last_modification: stamp };
    rustix::fs::utimensat(CWD, path, &times, AtFlags::empty()).unwrap();
}

/// A living holder that knows the file alone, as other tools of the convention do.
fn living() -> String {
    format!("{} {}\n", std::process::id(), start_time(std::process::id()))
}

#[test]
fn a_living_holder_is_waited_for_and_then_named() {
    for content in [living(), format!("{}\n", std::process::id())] {
        let world = world();
        world.put(".lock.a.txt", &content);
        let error = world.try_write("a.txt", "new").unwrap_err().to_tool_error();
        assert_eq!(error.code.as_str(), "ResourceBusy");
        assert!(error.message.contains(&format!("process {}", std::process::id())), "{}", error.message);
        assert_eq!(world.edit_all(&[("a.txt", "new")]).unwrap_err(), "ResourceBusy");
        assert_eq!(world.delete("a.txt").unwrap_err(), "ResourceBusy");
        assert_eq!(world.raw("a.txt"), "old");
        assert_eq!(world.raw(".lock.a.txt"), content, "a lock of somebody else stays");
        assert_eq!(world.read("a.txt").unwrap(), "old", "reading needs no lock");
    }
}

#[test]
fn a_stop_ends_the_wait() {
    let world = World::with(&Choices { lock: LockPolicy::new(HOUR, HOUR), ..Choices::default() });
    world.put("a.txt", "old");
    world.put(".lock.a.txt", living());
    world.stop.set();
    assert_eq!(world.write("a.txt", "new").unwrap_err(), "Cancelled");
}

#[test]
fn a_dead_holder_is_not_waited_for() {
    let own = std::process::id();
    let never = 4_194_305_u32; // one above the largest process number Linux gives
    let rows = [
        format!("{never} 1\n"),
        format!("{never}\n"),
        format!("{own} {}\n", start_time(own) + 1), // the number was given to another process since
    ];
    for content in rows {
        let world = World::with(&Choices { lock: LockPolicy::new(HOUR, HOUR), ..Choices::default() });
        world.put("a.txt", "old");
        world.put(".lock.a.txt", &content);
        let written = world.write("a.txt", "new").unwrap();
        assert_eq!(written.warnings, [""; 0], "{content:?}");
        assert_eq!(world.raw("a.txt"), "new");
        world.check_clean();
    }
}

/// The child's part: an edit whose `apply` never returns.
pub(crate) fn hold_until_killed(folder: &Path) {
    let world = World::at(folder, &Choices::default());
    let _ = world.edit_with(&["a.txt"], &mut |_, _| {
        let mut out = std::io::stdout();
        writeln!(out, "holding").unwrap();
        out.flush().unwrap();
        loop {
            std::thread::park();
        }
    });
}

#[test]
fn a_killed_holder_is_not_waited_for() {
    let world = World::with(&impatient());
    world.put("a.txt", "old");
    let mut child = Running::start(Part::Hold, world.base());
    child.wait_for("holding");
    assert_eq!(world.write("a.txt", "no").unwrap_err(), "ResourceBusy");
    child.kill();
    assert_eq!(world.names(), [".lock.a.txt", "a.txt"]);
    assert_eq!(world.write("a.txt", "new").unwrap().warnings, [""; 0]);
    world.check_clean();
}

#[test]
fn a_stale_lock_is_forced_and_said() {
    for content in [living(), String::new(), "garbage".to_owned()] {
        let world = World::with(&Choices::default());
        world.put("a.txt", "old");
        world.put(".lock.a.txt", &content);
        age(&world.inside(".lock.a.txt"), Duration::from_secs(31));
        let written = world.write("a.txt", "new").unwrap();
        // An empty file is one whose maker died before signing it: that is a crash, not a theft.
        assert_eq!(!written.warnings.is_empty(), !content.is_empty(), "{content:?}: {:?}", written.warnings);
        world.check_clean();
    }
}

/// The kernel says that the holder lives, and still: specification 004 gives nobody more than thirty seconds.
#[test]
fn a_stale_lock_of_a_living_process_is_forced_and_its_successor_kept() {
    let world = World::with(&Choices::default());
    world.put("a.txt", "old");
    let mut child = Running::start(Part::Hold, world.base());
    child.wait_for("holding");
    age(&world.inside(".lock.a.txt"), Duration::from_secs(31));
    let (_, warnings) = world.edit_all(&[("a.txt", "new")]).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("a.txt"), "{warnings:?}");
    assert_eq!(world.raw("a.txt"), "new");
    world.check_clean();
}

#[test]
fn a_fresh_lock_is_not_stale() {
    let world = World::with(&Choices {
        lock: LockPolicy::new(Duration::ZERO, Duration::from_secs(30)),
        ..Choices::default()
    });
    world.put("a.txt", "old");
    world.put(".lock.a.txt", living());
    age(&world.inside(".lock.a.txt"), Duration::from_secs(25));
    assert_eq!(world.write("a.txt", "new").unwrap_err(), "ResourceBusy");
}

#[test]
fn what_is_not_a_lock_file_neither_hangs_nor_leads_out() {
    let secret = "4194305 1\n";
    let plant: [(&str, Meddle<'_>); 5] = [
        ("a link outside", &|world| {
            std::os::unix::fs::symlink("../outside/x", world.inside(".lock.a.txt")).unwrap()
        }),
        ("a dangling link", &|world| {
            std::os::unix::fs::symlink("gone", world.inside(".lock.a.txt")).unwrap()
        }),
        ("a folder", &|world| fs::create_dir(world.inside(".lock.a.txt")).unwrap()),
        ("a socket", &|world| {
            let mode = Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(CWD, world.inside(".lock.a.txt"), FileType::Socket, mode, 0).unwrap();
        }),
        ("a link to a loop", &|world| {
            std::os::unix::fs::symlink(".lock.a.txt", world.inside(".lock.a.txt")).unwrap();
        }),
    ];
    for (what, plant) in plant {
        let world = world();
        fs::write(world.outside("x"), secret).unwrap();
        plant(&world);
        let start = Instant::now();
        assert_eq!(world.write("a.txt", "new").unwrap_err(), "ResourceBusy", "{what}");
        assert!(start.elapsed() < Duration::from_secs(5), "{what}");
        assert_eq!(world.raw("a.txt"), "old", "{what}");
        assert_eq!(fs::read_to_string(world.outside("x")).unwrap(), secret, "{what}");
        assert!(!world.inside("gone").exists(), "{what}");
    }
}

/// A rival plants dead locks as fast as he can: every call ends, one way or the other.
#[test]
fn dead_locks_planted_in_a_loop_keep_nobody() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let world = world();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let _ = fs::write(world.inside("planted"), "4194305 1\n");
                let _ = fs::rename(world.inside("planted"), world.inside(".lock.a.txt"));
            }
        });
        let answers: Vec<_> = (0..20).map(|_| world.write("a.txt", "new").map(|_| ())).collect();
        over.store(true, Ordering::Relaxed);
        let expected =
            |answer: &Result<(), &str>| matches!(answer, Ok(()) | Err("ResourceBusy" | "FileChanged"));
        assert!(answers.iter().all(expected), "{answers:?}");
    });
}

/// A second name of an outside file as the lock: read for its holder, never written.
#[test]
fn a_hard_link_as_lock_is_not_written() {
    let world = world();
    fs::write(world.outside("x"), "4194305 1\n").unwrap();
    fs::hard_link(world.outside("x"), world.inside(".lock.a.txt")).unwrap();
    world.write("a.txt", "new").unwrap();
    assert_eq!(fs::read_to_string(world.outside("x")).unwrap(), "4194305 1\n");
    world.check_clean();
}

#[test]
fn eight_threads_lose_no_increment() {
    const THREADS: u64 = 8;
    const TIMES: u64 = 50;
    let patient = LockPolicy::new(Duration::from_secs(300), HOUR);
    let world = World::with(&Choices { lock: patient, ..Choices::default() });
    world.put("counter", "0");
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..TIMES {
                    let add = &mut |_: &str, old: &str| Ok((old.parse::<u64>().unwrap() + 1).to_string());
                    world.edit_with(&["counter"], add).unwrap();
                }
            });
        }
    });
    assert_eq!(world.raw("counter"), (THREADS * TIMES).to_string());
    world.check_clean();
}

/// The same with several files in opposite orders: nobody waits for a lock that waits for his.
#[test]
fn opposite_orders_do_not_wait_for_each_other() {
    let patient = LockPolicy::new(Duration::from_secs(300), HOUR);
    let world = World::with(&Choices { lock: patient, ..Choices::default() });
    world.put("a", "0");
    world.put("b", "0");
    std::thread::scope(|scope| {
        for paths in [["a", "b"], ["b", "a"], ["a", "b"], ["b", "a"]] {
            let world = &world;
            scope.spawn(move || {
                for _ in 0..20 {
                    let add = &mut |_: &str, old: &str| Ok((old.parse::<u64>().unwrap() + 1).to_string());
                    world.edit_with(&paths, add).unwrap();
                }
            });
        }
    });
    assert_eq!((world.raw("a"), world.raw("b")), ("80".to_owned(), "80".to_owned()));
    world.check_clean();
}

/// A name of the pattern is not yet a lock: what does not say who holds it waits for its thirty seconds like any other,
/// and what is no plain file stays for ever.
#[test]
fn what_only_looks_like_a_lock_is_not_removed() {
    for content in ["4194305 1 apples\n", "my notes\n"] {
        let world = world();
        world.put(".lock.a.txt", content);
        assert_eq!(world.write("a.txt", "new").unwrap_err(), "ResourceBusy", "{content:?}");
        assert_eq!(world.raw(".lock.a.txt"), content);
    }
    let world = world();
    let pipe = world.inside(".lock.a.txt");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    age(&pipe, 2 * HOUR);
    assert_eq!(world.write("a.txt", "new").unwrap_err(), "ResourceBusy");
    assert!(pipe.exists());
}

/// Whose lock was taken over while he worked changes nothing any more, and removes nothing of his successor's.
#[test]
fn who_lost_his_lock_places_nothing() {
    let world = World::with(&Choices::default());
    world.put("a.txt", "old");
    let outcome = world.edit_with(&["a.txt"], &mut |_, _| {
        fs::remove_file(world.inside(".lock.a.txt")).unwrap();
        world.put(".lock.a.txt", living());
        Ok("new".to_owned())
    });
    assert_eq!(outcome.map(|_| ()), Err("FileChanged"));
    assert_eq!(world.raw("a.txt"), "old");
    assert_eq!(world.litter(), [".lock.a.txt"]);
}

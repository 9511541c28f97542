//! Attempts to make protected names that are not there, by every call that makes names, and by a path that changes while
//! it is looked at.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use super::facts::Facts;
use super::plant::MOST_TRIES;
use super::{Outcome, all, call_unsafe, failed, words};

const NAMES: [&str; 8] =
    [".envrc", ".git", ".idea", ".Codex", "own.code-workspace", ".helix", ".Env.attack", "secrets"];

/// Each value of the path has to be seen so often; a race that can be won is won within the first few.
const N_RACES: usize = 100;
/// On a machine where the two never run at once.
const MOST_RACES: usize = 10_000;
/// Both fit into one word of memory, and one byte tells them apart: whoever reads a path byte by byte while it changes must
/// not find a third one, whose folder nobody would remove. The first is there already, and ends at its zero.
const HARMLESS: u64 = u64::from_ne_bytes(*b".\0nvrc\0\0");
const PROTECTED: u64 = u64::from_ne_bytes(*b".envrc\0\0");

/// What the table says where nothing is promised.
pub(super) const UNGUARDED: &str = "there is no guard; such names are reported after the run";

/// A call, and how it is made.
type Attempt<'a> = (&'a str, &'a dyn Fn() -> Result<(), Errno>);

pub(super) fn names(facts: &Facts) -> Outcome {
    if !facts.may_write {
        return Outcome::Held("nothing can be written there".to_owned());
    }
    if !facts.guarded {
        return Outcome::Held(UNGUARDED.to_owned());
    }
    // INVARIANT: nothing else is made, so that who is killed here leaves no more than an empty folder.
    for _ in 0..MOST_TRIES {
        let scratch = facts.scratch(&facts.service);
        match rustix::fs::mkdir(&scratch, Mode::RWXU) {
            Ok(()) => {}
            // An operator's rule forbids changes to the whole service.
            Err(Errno::ROFS) => return Outcome::Held("nothing can be written there".to_owned()),
            Err(errno) => return Outcome::Untried(words(errno)),
        }
        if let Some(outcome) = in_folder(&scratch, &facts.service) {
            return outcome;
        }
    }
    // Somebody is quick. In the service itself there is nothing to take away.
    at_the_top(facts)
}

/// A name that nobody has, because it holds what nobody knew before.
fn at_the_top(facts: &Facts) -> Outcome {
    let name = format!("{}.code-workspace", facts.scratch(&facts.service));
    make(&name, &facts.service)
}

/// None if it says nothing.
///
/// THREAT: P07, a program of another cage may take the folder away, take its rights, or put a link to another in its place:
/// where it is then, nothing can be made, or everything. So it is held, and where it lies in the end is what counts.
fn in_folder(scratch: &str, service: &str) -> Option<Outcome> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(scratch, flags, Mode::empty()).ok()?;
    let held = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let made = NAMES.map(|name| (name, make(&format!("{held}/{name}"), &held)));
    let moved = NAMES.map(|name| (name, failed(moved_and_back(scratch, &format!("{service}/{name}")))));
    let raced = [("a path that changes", race(&held))];
    let outcome = all(made.into_iter().chain(moved).chain(raced));
    let there = std::fs::read_link(&held).ok()?;
    let found = rustix::fs::fstat(&folder).ok()?;
    // Under its own name or another one. Somebody may have put a file in it.
    let _cleaned = rustix::fs::rmdir(&there);
    let is_whole = found.st_nlink > 0 && Mode::from_raw_mode(found.st_mode).contains(Mode::RWXU);
    let says_something = match outcome {
        Outcome::Broken(_) => true,
        Outcome::Held(_) | Outcome::Untried(_) => is_whole,
    };
    (there.starts_with(service) && says_something).then_some(outcome)
}

fn make(path: &str, folder: &str) -> Outcome {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    let attempts: [Attempt<'_>; 6] = [
        ("bind", &|| bind(path)),
        ("open", &|| rustix::fs::open(path, flags, Mode::RUSR).map(drop)),
        ("mkdir", &|| rustix::fs::mkdir(path, Mode::RWXU)),
        ("mknod", &|| rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0)),
        ("symlink", &|| rustix::fs::symlink("nothing", path)),
        ("link", &|| link(folder, path)),
    ];
    all(attempts.map(|(call, attempt)| {
        let outcome = failed(attempt());
        let _cleaned = rustix::fs::unlink(path);
        let _cleaned = rustix::fs::rmdir(path);
        (call, outcome)
    }))
}

/// A file that has no name yet. Some file systems have none such.
fn link(folder: &str, path: &str) -> Result<(), Errno> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder, flags, Mode::RUSR)?;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)
}

/// The way through /proc keeps the address short, which the kernel asks for.
fn bind(path: &str) -> Result<(), Errno> {
    let (folder, name) = path.rsplit_once('/').ok_or(Errno::INVAL)?;
    let folder = rustix::fs::open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    let address = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
    rustix::net::bind(&socket, &SocketAddrUnix::new(address)?)
}

fn moved_and_back(from: &str, to: &str) -> Result<(), Errno> {
    rustix::fs::rename(from, to)?;
    let _back = rustix::fs::rename(to, from);
    Ok(())
}

fn race(folder: &str) -> Outcome {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder: OwnedFd = match rustix::fs::open(folder, flags, Mode::empty()) {
        Ok(folder) => folder,
        Err(errno) => return Outcome::Untried(words(errno)),
    };
    let (name, is_over) = (AtomicU64::new(HARMLESS), AtomicBool::new(false));
    let begun = Barrier::new(2);
    std::thread::scope(|scope| {
        let flip = || {
            begun.wait();
            while !is_over.load(Ordering::Relaxed) {
                name.store(PROTECTED, Ordering::Relaxed);
                name.store(HARMLESS, Ordering::Relaxed);
            }
        };
        let flipping = std::thread::Builder::new().spawn_scoped(scope, flip);
        if flipping.is_err() {
            return Outcome::Untried("no second thread could be started".to_owned());
        }
        begun.wait();
        let mut outcome = Outcome::Held("no race of many was won".to_owned());
        let (mut n_harmless, mut n_protected) = (0, 0);
        for _ in 0..MOST_RACES {
            match call_unsafe::make_folder(&folder, &name) {
                Err(Errno::EXIST) => n_harmless += 1,
                Ok(()) | Err(_) => n_protected += 1,
            }
            if rustix::fs::unlinkat(&folder, ".envrc", AtFlags::REMOVEDIR).is_ok() {
                outcome = Outcome::Broken("it was made".to_owned());
                break;
            }
            if n_harmless.min(n_protected) >= N_RACES {
                break;
            }
            if n_harmless.abs_diff(n_protected) > N_RACES {
                std::thread::yield_now();
            }
        }
        is_over.store(true, Ordering::Relaxed);
        // LIMIT: on a machine with much to do the two may never meet; every other way was tried.
        if matches!(outcome, Outcome::Held(_)) && (n_protected == 0 || n_harmless == 0) {
            return Outcome::Held("the path never changed in time".to_owned());
        }
        outcome
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::attack::facts::tests::example;

    #[test]
    fn without_a_guard_every_way_succeeds_and_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().to_str().unwrap();
        let inner = format!("{folder}/inner");
        fs::create_dir(&inner).unwrap();
        for name in NAMES {
            let path = format!("{folder}/{name}");
            assert_eq!(make(&path, folder), Outcome::Broken("bind: it worked".to_owned()), "{name}");
            assert_eq!(link(folder, &path), Ok(()));
            fs::remove_file(&path).unwrap();
            assert_eq!(moved_and_back(&inner, &path), Ok(()));
        }
        // Whichever of the two paths is read first.
        for _ in 0..50 {
            assert_eq!(race(folder), Outcome::Broken("it was made".to_owned()));
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn no_third_path_can_be_read_while_one_becomes_the_other() {
        let differ = HARMLESS.to_ne_bytes().into_iter().zip(PROTECTED.to_ne_bytes());
        assert_eq!(differ.filter(|(one, other)| one != other).count(), 1);
    }

    #[test]
    fn what_was_made_counts_although_somebody_filled_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let (service, scratch) = (place.path().to_str().unwrap(), place.path().join("scratch"));
        fs::create_dir(&scratch).unwrap();
        fs::write(scratch.join("file"), "").unwrap();
        let outcome = in_folder(scratch.to_str().unwrap(), service);
        assert_eq!(outcome, Some(Outcome::Broken(".envrc: bind: it worked".to_owned())));
        assert_eq!(in_folder(scratch.to_str().unwrap(), "/elsewhere"), None);
    }

    #[test]
    fn it_is_tried_only_where_it_is_promised() {
        let place = tempfile::tempdir().unwrap();
        let service = place.path().to_str().unwrap().to_owned();
        let facts = Facts { service, guarded: false, may_write: true, ..example() };
        assert_eq!(names(&facts), Outcome::Held(UNGUARDED.to_owned()));
        let facts = Facts { guarded: true, ..facts };
        assert_eq!(names(&facts), Outcome::Broken(".envrc: bind: it worked".to_owned()));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

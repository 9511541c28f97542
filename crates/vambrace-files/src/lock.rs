//! Advisory locks as in specification 004: a file `.lock.NAME` beside the file, waited for five seconds, stale after
//! thirty, and taken over at once when its holder is dead.
//!
//! The lock file is also locked by the kernel (`flock`), which a crash releases. Age and the process number in it are
//! for holders that only know the file: other tools of the same convention, or hosts that share the disk.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, UTIME_NOW,
};
use rustix::io::Errno;

use crate::replace::beside;
use crate::{FilesError, Stop};

#[derive(Debug, Clone, Copy)]
pub struct LockPolicy {
    /// How long to wait for a live holder.
    pub wait: Duration,
    /// How old a lock must be before it is taken over although its holder may live.
    pub stale: Duration,
    pub(crate) poll: Duration,
}

impl Default for LockPolicy {
    fn default() -> LockPolicy {
        LockPolicy::new(Duration::from_secs(5), Duration::from_secs(30))
    }
}

impl LockPolicy {
    pub fn new(wait: Duration, stale: Duration) -> LockPolicy {
        LockPolicy { wait, stale, poll: Duration::from_millis(2) }
    }
}

/// LIMIT: how often a lock may vanish or turn out dead under us in one wait. Rivals who come and go need a few;
/// somebody who plants dead locks in a loop would keep us for ever. THREAT: P09.
const MOST_REPLACED: usize = 10_000;

/// Held while it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    folder: OwnedFd,
    name: String,
    file: OwnedFd,
    /// A stale lock was taken over; the record should say so.
    pub(crate) forced: Option<String>,
}

enum Try {
    Got(OwnedFd),
    /// The file vanished or was replaced under us: look again at once.
    Again,
    /// It was stale and is removed: look again at once, and say so.
    Forced {
        by: String,
    },
    Held {
        by: String,
    },
}

impl Lock {
    pub(crate) fn acquire(
        folder: BorrowedFd<'_>,
        file_name: &str,
        path: &str,
        policy: LockPolicy,
        stop: &Stop,
    ) -> Result<Lock, FilesError> {
        let os = |errno| FilesError::os(path, "lock", errno);
        let folder = folder.try_clone_to_owned().map_err(|error| crate::read::io(path, &error))?;
        let name = lock_name(file_name);
        let give_up = Instant::now() + policy.wait;
        let mut forced = None;
        // Made before the file, which then stands unsigned for as short as can be.
        let own = std::process::id();
        let signature = format!("{own} {}\n", start_time(own).unwrap_or(0));
        let busy = |by: &str| FilesError::Busy { path: path.to_owned(), holder: by.to_owned() };
        let mut n_replaced = 0;
        loop {
            if n_replaced > MOST_REPLACED {
                return Err(busy("somebody who keeps replacing the lock"));
            }
            match attempt(folder.as_fd(), &name, policy).map_err(os)? {
                Try::Got(file) => {
                    let lock = Lock { folder, name, file, forced };
                    lock.sign(&signature).map_err(os)?;
                    return Ok(lock);
                }
                Try::Again => n_replaced += 1,
                Try::Forced { by } => {
                    n_replaced += 1;
                    forced = Some(format!("a stale lock on `{path}` ({by}) was taken over"));
                }
                Try::Held { by } => {
                    if stop.is_set() {
                        return Err(FilesError::Stopped);
                    }
                    if Instant::now() >= give_up {
                        return Err(busy(&by));
                    }
                    // There is no way to sleep on a file of another process but to look again.
                    std::thread::sleep(policy.poll);
                }
            }
        }
    }

    /// Starts the thirty seconds anew, and says whether the lock is still ours: somebody may have taken it over.
    pub(crate) fn renew(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let _ = rustix::fs::futimens(&self.file, &Timestamps { last_access: now, last_modification: now });
        let ours = rustix::fs::fstat(&self.file).map(|stat| identity(&stat));
        ours.is_ok() && ours == look(self.folder.as_fd(), &self.name).map(|stat| identity(&stat))
    }

    /// Who holds it, for people and for other tools: process number and its start time.
    fn sign(&self, signature: &str) -> Result<(), Errno> {
        let file = self.file.try_clone().map_err(|_| Errno::MFILE)?;
        let errno = |error: std::io::Error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
        File::from(file).write_all(signature.as_bytes()).map_err(errno)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Only if it is still ours: after thirty seconds somebody may have taken it over. Renewed, it is nobody's to take.
        if self.renew() {
            let _ = rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty());
        }
    }
}

fn attempt(folder: BorrowedFd<'_>, name: &str, policy: LockPolicy) -> Result<Try, Errno> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mode = Mode::from_raw_mode(0o600);
    let (file, fresh) = match rustix::fs::openat(folder, name, flags | OFlags::CREATE | OFlags::EXCL, mode) {
        Ok(file) => (file, true),
        Err(Errno::EXIST) => match rustix::fs::openat(folder, name, flags, Mode::empty()) {
            Ok(file) => (file, false),
            Err(Errno::NOENT) => return Ok(Try::Again),
            // A link or a folder of that name is nobody's lock and never goes away by itself.
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => {
                return Ok(Try::Held { by: "something that is not a lock file".to_owned() });
            }
            Err(errno) => return Err(errno),
        },
        Err(errno) => return Err(errno),
    };
    let locked = if fresh { lock_fresh(&file, policy) } else { lock_now(&file) };
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(Try::Held { by: "something that is not a lock file".to_owned() });
    }
    match look(folder, name) {
        Ok(there) if identity(&there) == identity(&stat) => {}
        Ok(_) | Err(Errno::NOENT) => return Ok(Try::Again),
        Err(errno) => return Err(errno),
    }
    if locked && fresh {
        return Ok(Try::Got(file));
    }
    let holder = Holder::read(&file);
    let stale = age(&stat) >= policy.stale;
    // A maker signs within microseconds; an unsigned, unlocked file that is a second old has lost its maker.
    let abandoned = holder.process.is_none() && stat.st_size == 0 && age(&stat) >= Duration::from_secs(1);
    // The name is taken afresh in both cases, so that its age is ours.
    if locked && (holder.is_dead() || abandoned) {
        remove(folder, name, &file, &stat)?;
        return Ok(Try::Again);
    }
    if stale {
        return Ok(match remove(folder, name, &file, &stat)? {
            Removed::Yes => Try::Forced { by: holder.describe() },
            Removed::NotThatOne => Try::Again,
        });
    }
    Ok(Try::Held { by: holder.describe() })
}

fn lock_now(file: &OwnedFd) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// The file is ours, but somebody who is looking at it may hold it for an instant.
fn lock_fresh(file: &OwnedFd, policy: LockPolicy) -> bool {
    const TRIES: usize = 50;
    (0..TRIES).any(|_| {
        let locked = lock_now(file);
        if !locked {
            std::thread::sleep(policy.poll);
        }
        locked
    })
}

/// What a lock file says about its maker.
struct Holder {
    process: Option<u32>,
    started: Option<u64>,
}

impl Holder {
    fn read(file: &OwnedFd) -> Holder {
        let mut text = String::new();
        if let Ok(copy) = file.try_clone() {
            let _ = File::from(copy).take(64).read_to_string(&mut text);
        }
        let mut words = text.split_whitespace();
        // More than two words: somebody's file that happens to begin with a number.
        if words.clone().count() > 2 {
            return Holder { process: None, started: None };
        }
        let process = words.next().and_then(|word| word.parse().ok());
        let started = words.next().and_then(|word| word.parse().ok());
        Holder { process, started }
    }

    /// A number that now belongs to a process started at another time is a dead holder too.
    fn is_dead(&self) -> bool {
        let Some(process) = self.process else { return false };
        match (start_time(process), self.started) {
            (None, _) => true,
            (Some(now), Some(then)) => now != then,
            (Some(_), None) => false,
        }
    }

    fn describe(&self) -> String {
        self.process.map_or_else(|| "an unknown holder".to_owned(), |process| format!("process {process}"))
    }
}

/// Field 22 of /proc/PID/stat, counted after the name, which may itself hold spaces and parentheses.
fn start_time(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "a file's age can only be told by the clock that stamped it")]
fn age(stat: &Stat) -> Duration {
    let stamped = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
    SystemTime::now().duration_since(stamped).unwrap_or_default()
}

fn look(folder: BorrowedFd<'_>, name: &str) -> Result<Stat, Errno> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

enum Removed {
    Yes,
    /// It was gone, or somebody else's new lock stood there, which stands there again.
    NotThatOne,
}

/// Removes the lock that was judged, and no other: of two who judge one lock stale, the slower must not remove the lock
/// that the faster has made meanwhile. It is moved to a name nobody else uses, and looked at there.
fn remove(folder: BorrowedFd<'_>, name: &str, file: &OwnedFd, judged: &Stat) -> Result<Removed, Errno> {
    // The number of an open file belongs to one thread of one process.
    let unique = format!(".{}-{}-{}", std::process::id(), file.as_raw_fd(), judged.st_ino);
    let aside = beside("", name, &unique);
    match rustix::fs::renameat(folder, name, folder, &aside) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(Removed::NotThatOne),
        Err(errno) => return Err(errno),
    }
    if look(folder, &aside).is_ok_and(|moved| identity(&moved) == identity(judged)) {
        rustix::fs::unlinkat(folder, &aside, AtFlags::empty())?;
        return Ok(Removed::Yes);
    }
    // When a third one has taken the name, the moved lock is lost; its holder sees that before he places anything.
    if rustix::fs::renameat_with(folder, &aside, folder, name, RenameFlags::NOREPLACE).is_err() {
        rustix::fs::unlinkat(folder, &aside, AtFlags::empty())?;
    }
    Ok(Removed::NotThatOne)
}

fn lock_name(file_name: &str) -> String {
    beside(".lock.", file_name, "")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Two judged one lock stale; the faster has made his own. The slower must leave it.
    #[test]
    fn a_lock_that_was_not_judged_is_put_back() {
        let home = tempfile::tempdir().unwrap();
        let folder = OwnedFd::from(File::open(home.path()).unwrap());
        let path = home.path().join(".lock.a");
        let names = || fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        fs::write(&path, "stale").unwrap();
        let file = OwnedFd::from(File::open(&path).unwrap());
        let judged = rustix::fs::fstat(&file).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "the faster one's").unwrap();
        let removed = remove(folder.as_fd(), ".lock.a", &file, &judged).unwrap();
        assert!(matches!(removed, Removed::NotThatOne));
        assert_eq!(fs::read_to_string(&path).unwrap(), "the faster one's");
        let left: Vec<_> = names();
        assert_eq!(left, [".lock.a"]);
        let judged = look(folder.as_fd(), ".lock.a").unwrap();
        assert!(matches!(remove(folder.as_fd(), ".lock.a", &file, &judged), Ok(Removed::Yes)));
        let left: Vec<_> = names();
        assert!(left.is_empty());
    }
}

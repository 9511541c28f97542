//! Advisory locks as in specification 004: a file `.lock.NAME` beside the file, waited for five seconds, stale after
//! thirty, and taken over at once when its holder is dead.
//!
//! The lock file is also locked by the kernel (`flock`), which a crash releases. Age and the process number in it are
//! for holders that only know the file: other tools of the same convention, or hosts that share the disk.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, Stat};
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

    /// Who holds it, for people and for other tools: process number and its start time.
    fn sign(&self, signature: &str) -> Result<(), Errno> {
        let file = self.file.try_clone().map_err(|_| Errno::MFILE)?;
        let errno = |error: std::io::Error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
        File::from(file).write_all(signature.as_bytes()).map_err(errno)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Only if it is still ours: after thirty seconds somebody may have taken it over.
        let ours = rustix::fs::fstat(&self.file).ok().map(|stat| stat.st_ino);
        let there = look(self.folder.as_fd(), &self.name).ok().map(|stat| stat.st_ino);
        if ours.is_some() && ours == there {
            let _ = remove(self.folder.as_fd(), &self.name);
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
    match look(folder, name) {
        Ok(there) if there.st_ino == stat.st_ino => {}
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
        remove(folder, name)?;
        return Ok(Try::Again);
    }
    if stale {
        remove(folder, name)?;
        return Ok(Try::Forced { by: holder.describe() });
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

fn remove(folder: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn lock_name(file_name: &str) -> String {
    beside(".lock.", file_name, "")
}

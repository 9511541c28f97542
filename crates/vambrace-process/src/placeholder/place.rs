//! One placeholder: an empty folder with the sticky bit, which no tool gives to a folder in a project. It says of itself
//! what it is, so several processes share it without knowing of each other: each keeps a shared lock on it, and who can
//! have it alone removes it. A kill drops the lock.
//!
//! INVARIANT: removed only under the exclusive lock, and only while its name still leads to it.

use std::sync::Arc;

use rustix::event::Timespec;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::mode::or_opened;
use crate::workspace::{Identity, Kind};

const STICKY: u32 = 0o1000;
const MODE: u32 = 0o1755;
/// Each one is a race lost against another process, which has got further by it.
const MOST_TRIES: u32 = 1000;
/// Who has it alone has it for a few calls to the kernel.
const MOST_WAITS: u32 = 200;
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

#[derive(Debug)]
pub(super) struct Place {
    service: Arc<OwnedFd>,
    name: &'static str,
    /// Locked, shared.
    folder: OwnedFd,
    identity: Identity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Make,
    Leave,
}

/// What is under a name, if it is a folder.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) identity: Identity,
    pub(super) is_sticky: bool,
    pub(super) is_empty: bool,
}

impl Place {
    /// Nothing if something of the project has the name.
    pub(super) fn take(service: &Arc<OwnedFd>, name: &'static str, missing: Missing) -> Option<Place> {
        let mut n_waits = 0;
        for _ in 0..MOST_TRIES {
            let folder = match open(service, name) {
                Ok(folder) => folder,
                Err(Errno::NOENT) if missing == Missing::Make => {
                    // THREAT: P07, `chmod 555 .` in one run, `chmod 755 .; mkdir .vscode` in the next.
                    match or_opened(service, || rustix::fs::mkdirat(service, name, Mode::from_raw_mode(MODE)))
                    {
                        Ok(()) | Err(Errno::EXIST) => continue,
                        Err(_) => return None,
                    }
                }
                Err(_) => return None,
            };
            if !is_sticky(&folder) {
                return None;
            }
            // LIMIT: a program that locks the folder alone and does not let go is not waited for. The place is used all the
            // same, and the sweep after the run covers what may come of it.
            if rustix::fs::flock(&folder, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
                && n_waits < MOST_WAITS
            {
                n_waits += 1;
                let _ = rustix::event::poll(&mut [], Some(&WAIT));
                continue;
            }
            // It may have been removed, or made anew by another, before the lock was had.
            if !leads_to(service, name, &folder) {
                continue;
            }
            if !is_sticky(&folder) {
                return None;
            }
            let identity = match Identity::at(service.as_ref(), name.as_ref()) {
                Ok((identity, Kind::Folder)) => identity,
                _ => continue,
            };
            let place = Place { service: Arc::clone(service), name, folder, identity };
            // If not, giving it back makes it an ordinary folder, unless another still holds it.
            return is_empty(&place.folder).then_some(place);
        }
        None
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    fn stands(&self) -> bool {
        self.stands_in(&self.service)
    }

    /// Not so if the service that it was made in was moved, and another folder has its name.
    pub(super) fn stands_in(&self, service: &OwnedFd) -> bool {
        leads_to(service, self.name, &self.folder)
    }

    fn give_back(&self) {
        // On one descriptor: ours is gone before the other is asked for, so of several the last one gets it.
        if rustix::fs::flock(&self.folder, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
        {
            return;
        }
        // A program may have closed the service around it.
        let removed = or_opened(&self.service, || {
            rustix::fs::statat(self.service.as_ref(), self.name, AtFlags::SYMLINK_NOFOLLOW)?;
            if self.stands() && is_sticky(&self.folder) {
                rustix::fs::unlinkat(self.service.as_ref(), self.name, AtFlags::REMOVEDIR)?;
            }
            Ok(())
        });
        if removed == Err(Errno::NOTEMPTY)
            && let Ok(stat) = rustix::fs::fstat(&self.folder)
        {
            // Somebody uses it as a folder of the project, so it becomes one.
            let _ = rustix::fs::fchmod(&self.folder, Mode::from_raw_mode(stat.st_mode & 0o777));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.give_back();
        // Not left to closing: a child between fork and exec has a copy of the descriptor.
        let _ = rustix::fs::flock(&self.folder, FlockOperation::Unlock);
    }
}

pub(super) fn look(service: &OwnedFd, name: &'static str) -> Option<Look> {
    let folder = open(service, name).ok()?;
    let (identity, _) = Identity::at(service, name.as_ref()).ok()?;
    let look = Look { identity, is_sticky: is_sticky(&folder), is_empty: is_empty(&folder) };
    leads_to(service, name, &folder).then_some(look)
}

fn open(service: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(service, name, flags, Mode::empty())
}

/// While a descriptor is open, its inode's number is nobody else's.
fn leads_to(service: &OwnedFd, name: &str, folder: &OwnedFd) -> bool {
    let same = |a: Stat, b: Stat| (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino);
    let named = rustix::fs::statat(service, name, AtFlags::SYMLINK_NOFOLLOW);
    named.is_ok_and(|named| rustix::fs::fstat(folder).is_ok_and(|opened| same(named, opened)))
}

fn is_sticky(folder: &OwnedFd) -> bool {
    let sticky = |stat: Stat| {
        FileType::from_raw_mode(stat.st_mode) == FileType::Directory && stat.st_mode & STICKY != 0
    };
    rustix::fs::fstat(folder).is_ok_and(sticky)
}

fn is_empty(folder: &OwnedFd) -> bool {
    let Ok(entries) = Dir::read_from(folder) else { return false };
    let is_own = |name: &[u8]| name == b"." || name == b"..";
    entries.into_iter().all(|entry| entry.is_ok_and(|entry| is_own(entry.file_name().to_bytes())))
}

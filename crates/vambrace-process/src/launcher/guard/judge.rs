//! Which names a guard refuses, and what it has refused. It knows folders that are held open and the rules of the cage.

use std::ffi::OsStr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::event::Timespec;
use rustix::fs::{AtFlags, FlockOperation, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::place::{Spot, path_of};
use crate::guarded::{Guarded, Made, Rules};
use crate::wire::message::{MOST_REFUSED, Refused};

/// The kernel's answer to a write on what is mounted read-only.
const REFUSED: Errno = Errno::ROFS;
/// Another cell has its turn for a few calls to the kernel, unless somebody has stopped it.
const MOST_WAITS: usize = 200;
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

pub(in crate::launcher) struct Judge {
    rules: Rules,
    turns: Option<Rc<OwnedFd>>,
    /// The devices of folders that no other cell sees.
    private: Vec<u64>,
    refused: Refused,
}

/// While this lives, no other cell judges a name that could be protected, or moves anything.
///
/// THREAT: P07, a folder that one cell judges while another renames it.
pub(super) struct Turn(Option<Rc<OwnedFd>>);

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(turns) = &self.0 {
            let _given_back = rustix::fs::flock(turns, FlockOperation::Unlock);
        }
    }
}

impl Judge {
    /// INVARIANT: before there is a filter around this process. Reading patterns opens files of the system, somewhere in a
    /// library, and such a call would wait for this process for ever.
    pub(in crate::launcher) fn new(guarded: Guarded, turns: Option<OwnedFd>, private: &[PathBuf]) -> Judge {
        let device = |path: &PathBuf| rustix::fs::stat(path).ok().map(|found| found.st_dev);
        // Where a backend has not made them private, they lie with everything else.
        let shared = device(&guarded.service);
        let private = private.iter().filter_map(device).filter(|private| Some(*private) != shared).collect();
        let rules = Rules::new(guarded);
        Judge { rules, turns: turns.map(Rc::new), private, refused: Refused::default() }
    }

    pub(super) fn take_refused(&mut self) -> Refused {
        std::mem::take(&mut self.refused)
    }

    pub(super) fn turn(&self) -> Result<Turn, Errno> {
        let Some(turns) = &self.turns else { return Ok(Turn(None)) };
        for _ in 0..MOST_WAITS {
            match rustix::fs::flock(turns, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Turn(Some(Rc::clone(turns)))),
                Err(Errno::AGAIN | Errno::INTR) => {
                    let _waited = rustix::event::poll(&mut [], Some(&WAIT));
                }
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::BUSY)
    }

    /// Has it made unless it is protected. What is there already is not made again, whoever asks.
    pub(super) fn made<T>(
        &mut self,
        spot: &Spot,
        made: Made,
        make: impl FnOnce() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        // A link is made in a turn, whatever its name: another cell may be about to rename what it takes for a folder.
        if made == Made::New && !self.needs_a_look(spot, made)? {
            return make();
        }
        let _turn = self.turn()?;
        if !self.is_protected(spot, made)? {
            return make();
        }
        match spot.look() {
            Ok(_) => Err(Errno::EXIST),
            Err(_) => Err(self.refuse(spot)),
        }
    }

    pub(super) fn needs_a_look(&mut self, spot: &Spot, made: Made) -> Result<bool, Errno> {
        let by_name = self.rules.may_matter(spot.name.to_bytes(), made);
        Ok(by_name || self.rules.hides(&path_of(spot.folder.as_fd())?))
    }

    /// THREAT: P07, a folder that came from another cage lies nowhere in this one, and its path says nothing.
    pub(super) fn is_protected(&mut self, spot: &Spot, made: Made) -> Result<bool, Errno> {
        if !self.needs_a_look(spot, made)? {
            return Ok(false);
        }
        let folder = self.folder_of(spot)?;
        Ok(folder.is_none_or(|folder| self.rules.refuse(&folder, spot.name.to_bytes(), made)))
    }

    /// Where it lies in this cage, if it does.
    fn folder_of(&self, spot: &Spot) -> Result<Option<PathBuf>, Errno> {
        let (folder, here) = (path_of(spot.folder.as_fd())?, rustix::fs::fstat(&spot.folder)?);
        if here.st_nlink == 0 {
            return Err(Errno::NOENT);
        }
        let there = rustix::fs::lstat(&folder);
        let is_same = there.is_ok_and(|there| (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino));
        Ok(is_same.then_some(folder))
    }

    /// Whether names in what has this name are protected; nothing if it lies nowhere in this cage.
    pub(super) fn is_watched(&mut self, spot: &Spot) -> Result<Option<bool>, Errno> {
        let name = OsStr::from_bytes(spot.name.to_bytes());
        Ok(self.folder_of(spot)?.map(|folder| self.rules.is_watched(&folder.join(name))))
    }

    /// Whether a program may have open what was found. What was masked when the cage was built is a mount point, and shows
    /// nothing; what came later with such a name is a person's.
    pub(super) fn may_be_opened(&mut self, found: BorrowedFd<'_>) -> Result<(), Errno> {
        let path = path_of(found)?;
        // THREAT: P07, what was found by `O_PATH` and unlinked since still holds what it held.
        let unlinked = path.as_os_str().as_bytes().strip_suffix(b" (deleted)");
        let was = unlinked.is_some_and(|path| self.rules.hides(Path::new(OsStr::from_bytes(path))));
        if (was || self.rules.hides(&path)) && !is_mount_point(found)? { Err(Errno::ACCESS) } else { Ok(()) }
    }

    /// The same for another name: it would show under that one what it does not show under its own.
    pub(super) fn may_get_another_name(&mut self, spot: &Spot) -> Result<(), Errno> {
        if self.rules.hides(&spot.path()?) { Err(Errno::ACCESS) } else { Ok(()) }
    }

    /// The same for a folder in which something blocked may lie by the names of both. Who moves a folder to another file
    /// system is told so too, and copies it name by name.
    pub(super) fn may_leave(&mut self, folder: &Spot) -> Result<(), Errno> {
        if self.rules.leads_to_hidden(&folder.path()?) { Err(Errno::XDEV) } else { Ok(()) }
    }

    pub(super) fn is_private(&self, spot: &Spot) -> Result<bool, Errno> {
        self.is_in_private(spot.folder.as_fd())
    }

    pub(super) fn is_in_private(&self, place: BorrowedFd<'_>) -> Result<bool, Errno> {
        Ok(self.private.contains(&rustix::fs::fstat(place)?.st_dev))
    }

    pub(super) fn refuse(&mut self, spot: &Spot) -> Errno {
        self.refused.n_tries += 1;
        let refused = &mut self.refused.paths;
        let is_new = |path: &PathBuf| refused.len() < MOST_REFUSED && !refused.contains(path);
        if let Some(path) = spot.path().ok().filter(is_new) {
            refused.push(path);
        }
        REFUSED
    }
}

fn is_mount_point(found: BorrowedFd<'_>) -> Result<bool, Errno> {
    let found = rustix::fs::statx(found, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
    Ok(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

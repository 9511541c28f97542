//! Takes what a program planted out of the workspace. Moved, not deleted: a person may want to see it.
//!
//! INVARIANT: no link is followed, neither on the way to a thing nor inside it; every step is made from a descriptor.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, RenameFlags};
use rustix::io::Errno;

use super::beneath;
use super::carry::{Budget, carry};
use super::mode::{Mode, open_up, or_opened, set_mode};
use crate::scratch::own_folder;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) from: PathBuf,
    /// Where it is now, or why it is still there.
    pub(crate) to: Result<PathBuf, String>,
}

/// LIMIT: of one run. What is more is said to be still there, and the call fails.
const MOST: usize = 200_000;

/// `new` lies beneath `workspace`; `state` is a folder of ours outside of it. What one run made goes into one folder.
pub(crate) fn quarantine(new: &[PathBuf], workspace: &Path, state: &Path) -> Vec<Moved> {
    if new.is_empty() {
        return Vec::new();
    }
    let shelf = Shelf::new(&state.join("quarantine"));
    let moved = new.iter().enumerate().filter_map(|(number, from)| {
        let to = match &shelf {
            Ok(shelf) if number < MOST => shelf.take(number, from, workspace),
            Ok(_) => Err(io::Error::other("there are too many of them")),
            Err(error) => Err(io::Error::other(error.to_string())),
        };
        // Another process took it away, or a program that is still running moved it and will be swept after.
        let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let is_gone = to.as_ref().is_err_and(is_missing)
            && std::fs::symlink_metadata(from).as_ref().is_err_and(is_missing);
        (!is_gone).then(|| Moved { from: from.clone(), to: to.map_err(|error| error.to_string()) })
    });
    moved.collect()
}

struct Shelf {
    path: PathBuf,
    handle: OwnedFd,
}

impl Shelf {
    fn new(folder: &Path) -> io::Result<Shelf> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        own_folder(folder)?;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                // An earlier process had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let handle = rustix::fs::open(&path, flags, Mode::empty())?;
                    return Ok(Shelf { path, handle });
                }
            }
        }
    }

    fn take(&self, number: usize, from: &Path, workspace: &Path) -> io::Result<PathBuf> {
        let (name, above) = from.file_name().zip(from.parent()).ok_or(io::ErrorKind::InvalidInput)?;
        let parent = beneath::open_folder(workspace, above)?;
        // A name may be as long as names can be, so not all of it fits behind a number.
        let short: String = name.to_string_lossy().chars().take(60).collect();
        let kept = format!("{number}-{short}");
        let mut renamed = move_once(&parent, name, &self.handle, &kept);
        if renamed == Err(Errno::ACCESS) {
            // A folder that changes its parent is itself changed; it belongs to the same user as we do.
            if let Ok(thing) = beneath::open_thing(&parent, Path::new(name)) {
                open_up(&thing)?;
            }
            renamed = move_once(&parent, name, &self.handle, &kept);
        }
        match renamed {
            Ok(()) => return Ok(self.path.join(kept)),
            Err(Errno::XDEV) => {}
            Err(error) => return Err(error.into()),
        }
        // Another file system. First under a name that means nothing to any tool, so that it is harmless whatever follows.
        let aside = aside(&parent, name)?;
        match carry(&parent, OsStr::new(&aside), &self.handle, OsStr::new(&kept), &mut Budget::default()) {
            Ok(()) => Ok(self.path.join(kept)),
            Err(error) => {
                // Nothing in it can be opened by its name any more, whatever it holds.
                if let Ok(thing) = beneath::open_thing(&parent, Path::new(&aside)) {
                    let _ = set_mode(&thing, Mode::empty());
                }
                Err(io::Error::other(format!("it is now `{aside}`, without any rights: {error}")))
            }
        }
    }
}

/// Nothing is replaced. The folder that it leaves may be closed to its owner, by a program.
fn move_once(from: &OwnedFd, name: &OsStr, to: &OwnedFd, kept: &str) -> Result<(), Errno> {
    or_opened(from, || rustix::fs::renameat_with(from, name, to, kept, RenameFlags::NOREPLACE))
}

fn aside(parent: &OwnedFd, name: &OsStr) -> io::Result<String> {
    let plain: String = name.to_string_lossy().trim_start_matches('.').chars().take(60).collect();
    for number in 0..1000_u32 {
        let aside = format!("quarantined-{number}-{plain}.txt");
        match move_once(parent, name, parent, &aside) {
            Ok(()) => return Ok(aside),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests;

//! Replacing a file wholly or not at all: a finished copy beside it, then one rename.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;

use crate::FilesError;

/// A durable copy that has not taken its name yet. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Prepared {
    folder: OwnedFd,
    temporary: String,
    name: String,
    path: String,
    expected: Option<Stat>,
    placed: bool,
}

/// The copy's name follows from the file's, so that whoever holds the file's lock next can remove what a crash left.
pub(crate) fn temporary_name(name: &str) -> String {
    beside(".vambrace-", name, ".tmp")
}

/// A name of ours beside a file's. One too long for the disk keeps its end and gets a number made from all of it, so
/// that two long names that end alike do not share one.
pub(crate) fn beside(before: &str, name: &str, after: &str) -> String {
    const LONGEST: usize = 255;
    let room = LONGEST.saturating_sub(before.len() + after.len());
    if name.len() <= room {
        return format!("{before}{name}{after}");
    }
    // FNV-1a: it must give the same number in every process and version.
    let number = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut kept = name;
    while kept.len() > room.saturating_sub("-0123456789abcdef".len()) {
        let mut characters = kept.chars();
        characters.next();
        kept = characters.as_str();
    }
    format!("{before}{number:016x}-{kept}{after}")
}

impl Prepared {
    /// Writes and syncs the copy. INVARIANT: the caller holds the file's lock.
    pub(crate) fn new(
        folder: OwnedFd,
        name: &str,
        path: &str,
        expected: Option<Stat>,
        bytes: &[u8],
    ) -> Result<Prepared, FilesError> {
        let os = |errno| FilesError::os(path, "write", errno);
        let temporary = temporary_name(name);
        match rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // Somebody put a folder where the copy goes; the file itself is no folder.
            Err(Errno::ISDIR) => return Err(FilesError::os(path, "make a copy beside", Errno::PERM)),
            Err(errno) => return Err(os(errno)),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // New files get what the person's umask says; a replaced file keeps its own mode, set below.
        let mode = expected.map_or(0o666, |stat| stat.st_mode & 0o600);
        let copy = rustix::fs::openat(&folder, &temporary, flags, Mode::from_raw_mode(mode)).map_err(os)?;
        let prepared = Prepared {
            folder,
            temporary,
            name: name.to_owned(),
            path: path.to_owned(),
            expected,
            placed: false,
        };
        let mut file = File::from(copy);
        file.write_all(bytes).map_err(|error| write_error(path, &error))?;
        if let Some(old) = &expected {
            keep_owner_and_mode(&file, old).map_err(os)?;
            keep_attributes(&prepared.folder, name, &file);
        }
        file.sync_all().map_err(|error| write_error(path, &error))?;
        Ok(prepared)
    }

    /// Whether the file is still the one that was read: same file, same size, same moment of change.
    pub(crate) fn check_unchanged(&self) -> Result<(), FilesError> {
        let now = match rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(FilesError::os(&self.path, "look at", errno)),
        };
        if now.as_ref().map(stamp) == self.expected.as_ref().map(stamp) {
            return Ok(());
        }
        Err(FilesError::Changed { path: self.path.clone() })
    }

    /// Gives the copy its name. An error means that nothing was changed.
    pub(crate) fn place(mut self) -> Result<Placed, FilesError> {
        self.check_unchanged()?;
        let flags = match self.expected {
            Some(_) => RenameFlags::empty(),
            // A file that appeared meanwhile is somebody's work.
            None => RenameFlags::NOREPLACE,
        };
        match rustix::fs::renameat_with(&self.folder, &self.temporary, &self.folder, &self.name, flags) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(FilesError::Changed { path: self.path.clone() }),
            Err(errno) => return Err(FilesError::os(&self.path, "replace", errno)),
        }
        self.placed = true;
        match rustix::fs::fsync(&self.folder) {
            Ok(()) => Ok(Placed::Durable),
            Err(_) => {
                Ok(Placed::Unsynced(format!("`{}` was changed, but may not survive a power cut", self.path)))
            }
        }
    }
}

/// A change that has taken place.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Placed {
    Durable,
    /// The disk did not confirm it; the words are for the reply.
    Unsynced(String),
}

impl Placed {
    pub(crate) fn warning(self) -> Option<String> {
        match self {
            Placed::Durable => None,
            Placed::Unsynced(words) => Some(words),
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if !self.placed {
            let _ = rustix::fs::unlinkat(self.folder.as_fd(), &self.temporary, AtFlags::empty());
        }
    }
}

/// Identity and last change of a file: what tells "still the same" from "somebody was here".
/// The kernel sets the time of change itself; the time of modification can be set back by anybody.
pub(crate) fn stamp(stat: &Stat) -> (u64, u64, i64, i64, i64) {
    let nanos = i64::try_from(stat.st_ctime_nsec).unwrap_or(0);
    (stat.st_dev, stat.st_ino, stat.st_size, stat.st_ctime, nanos)
}

fn keep_owner_and_mode(file: &File, old: &Stat) -> Result<(), Errno> {
    let new = rustix::fs::fstat(file)?;
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
        let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        match rustix::fs::fchown(file, Some(owner.0), Some(owner.1)) {
            // An ordinary user cannot give files away; the group alone may still be possible.
            Err(Errno::PERM) => match rustix::fs::fchown(file, None, Some(owner.1)) {
                Ok(()) | Err(Errno::PERM) => {}
                Err(errno) => return Err(errno),
            },
            other => other?,
        }
    }
    // Without the set-id bits, which the kernel too takes from a file that is written. THREAT: a new text must not
    // run as the old one's owner.
    rustix::fs::fchmod(file, Mode::from_raw_mode(old.st_mode & 0o1777))
}

/// Access lists and a person's own attributes. Where they cannot be copied the mode still holds: it is the upper bound of
/// a list, and the file systems that have no lists have none to lose.
fn keep_attributes(folder: &OwnedFd, name: &str, new: &File) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(old) = rustix::fs::openat(folder, name, flags, Mode::empty()) else { return };
    let mut names = vec![0; 4096];
    let Ok(length) = rustix::fs::flistxattr(&old, &mut names) else { return };
    let kept = |name: &&[u8]| name.starts_with(b"user.") || *name == b"system.posix_acl_access";
    for name in names.get(..length).unwrap_or_default().split(|byte| *byte == 0).filter(kept) {
        let mut value = vec![0; 64 << 10];
        if let Ok(length) = rustix::fs::fgetxattr(&old, name, &mut value) {
            let value = value.get(..length).unwrap_or_default();
            let _ = rustix::fs::fsetxattr(new, name, value, XattrFlags::empty());
        }
    }
}

fn write_error(path: &str, error: &std::io::Error) -> FilesError {
    let errno = error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
    FilesError::os(path, "write", errno)
}

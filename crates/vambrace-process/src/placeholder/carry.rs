//! Moves a tree to another file system: copies it, then removes it. The tree may be changing while it is read.
//!
//! INVARIANT: a folder is entered through the descriptor of the one above it, and never through a link, so nothing outside
//! the tree is read or removed.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, OFlags, Stat};
use rustix::io::Errno;

use super::mode::{Mode, open_up, or_opened};

/// What is larger stays in its place under another name.
const MOST_BYTES: u64 = 256 << 20;
const MOST_ENTRIES: usize = 20_000;
/// Each level keeps two descriptors open.
const DEEPEST: usize = 64;

#[derive(Debug)]
pub(super) struct Budget {
    pub(super) bytes: u64,
    pub(super) entries: usize,
    pub(super) levels: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { bytes: MOST_BYTES, entries: MOST_ENTRIES, levels: DEEPEST }
    }
}

/// From one folder into another.
pub(super) fn carry(
    from: &OwnedFd,
    name: &OsStr,
    to: &OwnedFd,
    kept: &OsStr,
    budget: &mut Budget,
) -> io::Result<()> {
    copy(from, name, to, kept, budget)?;
    remove(from, name, DEEPEST)
}

pub(super) fn copy(
    from: &OwnedFd,
    name: &OsStr,
    to: &OwnedFd,
    kept: &OsStr,
    budget: &mut Budget,
) -> io::Result<()> {
    budget.entries = budget.entries.checked_sub(1).ok_or(io::ErrorKind::FileTooLarge)?;
    let stat = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(from, name, Vec::new())?;
            Ok(rustix::fs::symlinkat(target.as_c_str(), to, kept)?)
        }
        FileType::Directory => {
            budget.levels = budget.levels.checked_sub(1).ok_or(io::ErrorKind::FileTooLarge)?;
            let source = open_folder(from, name)?;
            rustix::fs::mkdirat(to, kept, Mode::from_raw_mode(0o700))?;
            let target = open_folder(to, kept)?;
            for name in names(&source)? {
                let name = OsStr::from_bytes(name.as_bytes());
                copy(&source, name, &target, name, budget)?;
            }
            budget.levels += 1;
            Ok(())
        }
        FileType::RegularFile => copy_file(from, name, to, kept, budget),
        // Sockets and pipes mean nothing elsewhere.
        _ => Ok(()),
    }
}

fn copy_file(
    from: &OwnedFd,
    name: &OsStr,
    to: &OwnedFd,
    kept: &OsStr,
    budget: &mut Budget,
) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let source = open_closed(from, name, flags)?;
    let stat = rustix::fs::fstat(&source)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let n_bytes = length(&stat);
    budget.bytes = budget.bytes.checked_sub(n_bytes).ok_or(io::ErrorKind::FileTooLarge)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let target = rustix::fs::openat(to, kept, flags, Mode::from_raw_mode(0o600))?;
    io::copy(&mut io::Read::take(File::from(source), n_bytes), &mut File::from(target))?;
    Ok(())
}

pub(super) fn remove(from: &OwnedFd, name: &OsStr, levels: usize) -> io::Result<()> {
    match or_opened(from, || rustix::fs::unlinkat(from, name, AtFlags::empty())) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        other => return Ok(other?),
    }
    let levels = levels.checked_sub(1).ok_or(io::ErrorKind::FileTooLarge)?;
    let folder = open_folder(from, name)?;
    // A program may have left a folder that even its owner cannot empty.
    let _ = rustix::fs::fchmod(&folder, Mode::from_raw_mode(0o700));
    for name in names(&folder)? {
        remove(&folder, OsStr::from_bytes(name.as_bytes()), levels)?;
    }
    Ok(or_opened(from, || rustix::fs::unlinkat(from, name, AtFlags::REMOVEDIR))?)
}

pub(crate) fn open_folder(above: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open_closed(above, name, flags)
}

/// A program may have left a folder or file that even its owner, who it is, cannot read.
fn open_closed(above: &OwnedFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::openat(above, name, flags, Mode::empty());
    if opened.as_ref().err() != Some(&Errno::ACCESS) {
        return opened;
    }
    let thing = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open_up(&rustix::fs::openat(above, name, thing, Mode::empty())?).map_err(|_| Errno::ACCESS)?;
    rustix::fs::openat(above, name, flags, Mode::empty())
}

/// All of them before the first is handled: a folder that grows while it is read must not be read for ever.
fn names(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            if names.len() >= MOST_ENTRIES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn length(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

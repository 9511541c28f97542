//! Packages as they were unpacked. THREAT: P07, one that ships a `.git` has its settings obeyed by the git of a
//! person who works there (`core.fsmonitor` names a program).
//!
//! LIMIT: what a killed process of ours left is looked through after the next download. A folder that is laid out
//! like a repository without being called `.git` stays, and so do cargo's own checkouts.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

const REPOSITORY: &[u8] = b".git";
/// Names that are held at once while something is removed.
const MOST_AT_ONCE: usize = 10_000;

/// What is looked through at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) entries: usize,
    pub(super) levels: usize,
}

pub(super) const BOUNDS: Bounds = Bounds { entries: 2_000_000, levels: 64 };

/// Every `.git` beneath `home`/`rest`.
pub(super) fn remove_repositories(home: &Path, rest: &str, bounds: Bounds) -> io::Result<()> {
    let mut folder = open_home(home)?;
    for name in rest.split('/').filter(|name| !name.is_empty()) {
        folder = match open_folder(&folder, name.as_ref()) {
            Err(Errno::NOENT) => return Ok(()),
            opened => opened?,
        };
    }
    let mut left = bounds;
    look_through(&folder, &mut left)
}

/// However deep it is.
pub(super) fn remove_whole(above: &Path, name: &str) -> io::Result<()> {
    remove(&open_home(above)?, &CString::new(name)?)
}

fn open_home(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn look_through(folder: &OwnedFd, left: &mut Bounds) -> io::Result<()> {
    let too_much = || io::Error::other("it holds more than is looked through");
    let entries = names(folder, left.entries.saturating_add(1))?;
    left.entries = left.entries.checked_sub(entries.len()).ok_or_else(too_much)?;
    for (name, kind) in entries {
        // Some file systems know no capitals.
        if name.as_bytes().eq_ignore_ascii_case(REPOSITORY) {
            remove(folder, &name)?;
            continue;
        }
        if !matches!(kind, FileType::Directory | FileType::Unknown) {
            continue;
        }
        let inner = match open_folder(folder, as_os(&name)) {
            // Gone, or no folder.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
            opened => opened?,
        };
        left.levels = left.levels.checked_sub(1).ok_or_else(too_much)?;
        look_through(&inner, left)?;
        left.levels += 1;
    }
    Ok(())
}

/// Folders two levels down are moved up before they are emptied, so no depth is too deep.
fn remove(above: &OwnedFd, name: &CStr) -> io::Result<()> {
    let _tried = open_to_owner(above);
    if is_unlinked(above, name)? {
        return Ok(());
    }
    let folder = open_folder(above, as_os(name))?;
    open_to_owner(&folder)?;
    let mut n_moved = 0u64;
    each(&folder, |child| {
        if is_unlinked(&folder, child)? {
            return Ok(());
        }
        let inner = open_folder(&folder, as_os(child))?;
        open_to_owner(&inner)?;
        each(&inner, |deep| {
            if is_unlinked(&inner, deep)? {
                return Ok(());
            }
            // To be moved, a folder has to be writable itself.
            open_to_owner(&open_folder(&inner, as_os(deep))?)?;
            loop {
                n_moved += 1;
                match rustix::fs::renameat(&inner, deep, &folder, format!("moved-{n_moved}")) {
                    Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                    moved => return Ok(moved?),
                }
            }
        })?;
        remove_empty(&folder, child)
    })?;
    remove_empty(above, name)
}

/// Until there is none left; `work` takes each away.
fn each(folder: &OwnedFd, mut work: impl FnMut(&CStr) -> io::Result<()>) -> io::Result<()> {
    loop {
        let some = names(folder, MOST_AT_ONCE)?;
        if some.is_empty() {
            return Ok(());
        }
        for (name, _) in some {
            work(&name)?;
        }
    }
}

/// False for a folder.
fn is_unlinked(above: &OwnedFd, name: &CStr) -> io::Result<bool> {
    match rustix::fs::unlinkat(above, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn remove_empty(above: &OwnedFd, name: &CStr) -> io::Result<()> {
    match rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Not through a link. An archive may hold a folder that its owner, who we are, may not read.
fn open_folder(above: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let open = |flags| {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(above, name, flags, Mode::empty())
    };
    let opened = open(OFlags::RDONLY | OFlags::DIRECTORY);
    if opened.as_ref().err() != Some(&Errno::ACCESS) {
        return opened;
    }
    let closed = open(OFlags::PATH | OFlags::DIRECTORY)?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&closed)?.st_mode);
    // By its descriptor, which gives no right on it: a path could lead elsewhere by now.
    rustix::fs::chmod(format!("/proc/self/fd/{}", closed.as_raw_fd()), mode | Mode::RWXU)
        .map_err(|_| Errno::ACCESS)?;
    open(OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Archives say which modes folders get.
fn open_to_owner(folder: &OwnedFd) -> io::Result<()> {
    let mode = Mode::from_raw_mode(rustix::fs::fstat(folder)?.st_mode);
    if mode.contains(Mode::RWXU) { Ok(()) } else { Ok(rustix::fs::fchmod(folder, mode | Mode::RWXU)?) }
}

fn names(folder: &OwnedFd, n_most: usize) -> io::Result<Vec<(CString, FileType)>> {
    // A folder that may be read and not entered.
    let opened = Dir::read_from(folder).or_else(|error| match open_to_owner(folder) {
        Ok(()) => Dir::read_from(folder),
        Err(_) => Err(error),
    })?;
    let mut found = Vec::new();
    for entry in opened {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if found.len() >= n_most {
            break;
        }
        found.push((name.to_owned(), entry.file_type()));
    }
    Ok(found)
}

fn as_os(name: &CStr) -> &std::ffi::OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(name.to_bytes())
}

#[cfg(test)]
mod tests;

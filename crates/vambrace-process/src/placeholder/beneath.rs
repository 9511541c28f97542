//! Opening things of the workspace while programs in other cages may be changing it.
//!
//! INVARIANT: no link is followed. THREAT: P07, a link on the way would let a program choose what on this machine is moved.

use std::io;
use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

/// A folder of the workspace, as a place to work from.
pub(super) fn open_folder(workspace: &Path, folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
    let root = rustix::fs::open(workspace, flags, Mode::empty())?;
    Ok(open_below(&root, relative(workspace, folder)?, flags)?)
}

/// A path that the kernel has resolved before, and that must still be without links.
pub(super) fn open_exactly(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(CWD, folder, flags, Mode::empty(), NO_LINKS)?)
}

/// The thing itself, be it a link.
pub(super) fn open_thing(root: impl AsFd, relative: &Path) -> io::Result<OwnedFd> {
    Ok(open_below(root, relative, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)?)
}

pub(super) fn relative<'p>(workspace: &Path, path: &'p Path) -> io::Result<&'p Path> {
    let relative = path.strip_prefix(workspace).map_err(|_| io::ErrorKind::InvalidInput)?;
    Ok(if relative.as_os_str().is_empty() { Path::new(".") } else { relative })
}

fn open_below(root: impl AsFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut n_tries = 0;
    loop {
        match rustix::fs::openat2(&root, relative, flags, Mode::empty(), ResolveFlags::BENEATH | NO_LINKS) {
            // The kernel could not rule out that a rename elsewhere led it outside.
            Err(Errno::AGAIN) if n_tries < 100 => n_tries += 1,
            other => return other,
        }
    }
}

//! Modes of things in the workspace, by descriptor: a path could lead elsewhere by now.

use std::io;
use std::os::fd::AsRawFd as _;

use rustix::fd::OwnedFd;
use rustix::fs::FileType;
pub(super) use rustix::fs::Mode;
use rustix::io::Errno;

pub(super) fn mode_of(thing: &OwnedFd) -> io::Result<Mode> {
    Ok(Mode::from_raw_mode(rustix::fs::fstat(thing)?.st_mode))
}

/// Also of a thing that was opened without any right on it.
pub(super) fn set_mode(thing: &OwnedFd, mode: Mode) -> io::Result<()> {
    Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", thing.as_raw_fd()), mode)?)
}

/// Gives its owner back what a program took from a folder or file. Links have no modes.
pub(super) fn open_up(thing: &OwnedFd) -> io::Result<()> {
    let stat = rustix::fs::fstat(thing)?;
    let needed = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Mode::RWXU,
        FileType::RegularFile => Mode::RUSR | Mode::WUSR,
        _ => return Ok(()),
    };
    set_mode(thing, Mode::from_raw_mode(stat.st_mode) | needed)
}

/// Tries once more in a folder that is open to its owner, if that is what it failed for. The folder then gets its mode back.
pub(super) fn or_opened<T>(folder: &OwnedFd, work: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
    let first = work();
    let mode = match (&first, mode_of(folder)) {
        (Err(Errno::ACCESS), Ok(mode)) if !mode.contains(Mode::RWXU) => mode,
        _ => return first,
    };
    if set_mode(folder, mode | Mode::RWXU).is_err() {
        return first;
    }
    let second = work();
    // Unless somebody else has changed it meanwhile.
    if mode_of(folder).is_ok_and(|now| now == mode | Mode::RWXU) {
        let _ = set_mode(folder, mode);
    }
    second
}

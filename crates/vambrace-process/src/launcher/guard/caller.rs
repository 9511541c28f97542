//! The thread that waits for an answer: its memory, its folder, its descriptors, its mask. All of it is read under a number
//! that may have become another thread's meanwhile; whoever reads asks afterwards whether the caller still waits.
//!
//! LIMIT: a program that hides its memory (which also execute-only files do) cannot be read, so it makes no names.

use std::cell::OnceCell;
use std::ffi::CString;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags};

use crate::launcher::pass_unsafe::{Pass, open_for_ourselves};

/// With the zero at its end.
const LONGEST_PATH: usize = 4096;
const PAGE: u64 = 4096;
const LONGEST_STATUS: usize = 1 << 20;
/// One thread and not its whole process.
const THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL as u32);

/// For one call: what was opened for its first path serves its second.
pub(super) struct Caller {
    thread: u32,
    masks: Masks,
    memory: OnceCell<OwnedFd>,
    folder: OnceCell<OwnedFd>,
}

/// How the mask of a program is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Masks {
    /// Nobody has changed one since the programs were started, so all have ours.
    Ours,
    /// The kernel tells it, in a text about much else.
    Told,
}

impl Caller {
    pub(super) fn new(thread: u32, masks: Masks) -> Caller {
        Caller { thread, masks, memory: OnceCell::new(), folder: OnceCell::new() }
    }

    pub(super) fn thread(&self) -> u32 {
        self.thread
    }

    fn memory(&self) -> Result<BorrowedFd<'_>, Errno> {
        held(&self.memory, || self.open("mem", OFlags::RDONLY)).map_err(|_| Errno::PERM)
    }

    /// So many bytes of its memory, read once.
    pub(super) fn bytes(&self, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; length];
        match rustix::io::pread(self.memory()?, &mut bytes, address) {
            Ok(n_read) if n_read == length => Ok(bytes),
            _ => Err(Errno::FAULT),
        }
    }

    /// A path in its memory, read once.
    pub(super) fn text(&self, address: u64) -> Result<Vec<u8>, Errno> {
        let memory = self.memory()?;
        let mut text = Vec::new();
        let mut buffer = [0u8; 512];
        while text.len() < LONGEST_PATH {
            let at = address.checked_add(text.len() as u64).ok_or(Errno::FAULT)?;
            // Not over the end of a page: the next one may not be there.
            let left = usize::try_from(PAGE - at % PAGE).map_err(|_| Errno::FAULT)?;
            let piece = buffer.get_mut(..left.min(512)).ok_or(Errno::FAULT)?;
            let n_read = rustix::io::pread(memory, &mut *piece, at).map_err(|_| Errno::FAULT)?;
            let piece = piece.get(..n_read).filter(|piece| !piece.is_empty()).ok_or(Errno::FAULT)?;
            match piece.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend_from_slice(piece.get(..end).unwrap_or_default());
                    return if text.len() < LONGEST_PATH { Ok(text) } else { Err(Errno::NAMETOOLONG) };
                }
                None => text.extend_from_slice(piece),
            }
        }
        Err(Errno::NAMETOOLONG)
    }

    /// One of its sockets, as its own descriptor is.
    pub(super) fn socket(&self, number: i32, pass: Pass) -> Result<OwnedFd, Errno> {
        let process = Pid::from_raw(self.thread.cast_signed()).ok_or(Errno::SRCH)?;
        let opened = rustix::process::pidfd_open(process, THREAD);
        let opened = match opened {
            // Before Linux 6.9 only by the number of the whole process.
            Err(Errno::INVAL) => rustix::process::pidfd_open(self.process()?, PidfdFlags::empty()),
            other => other,
        };
        pass.take_descriptor(opened?.as_fd(), number)
    }

    /// The program that it runs, as a place.
    pub(super) fn executable(&self) -> Result<OwnedFd, Errno> {
        self.open("exe", OFlags::PATH)
    }

    pub(super) fn process(&self) -> Result<Pid, Errno> {
        let number = read_line(&self.status()?, b"Tgid:").and_then(|text| text.parse().ok());
        number.and_then(Pid::from_raw).ok_or(Errno::SRCH)
    }

    /// Where its relative paths begin.
    pub(super) fn folder(&self) -> Result<BorrowedFd<'_>, Errno> {
        held(&self.folder, || self.open("cwd", OFlags::PATH))
    }

    /// A descriptor of its own, or of another that it may look into, as a place.
    ///
    /// THREAT: P06, the kernel lets this process look into itself.
    pub(super) fn descriptor(&self, thread: u32, number: i32) -> Result<OwnedFd, Errno> {
        if thread == std::process::id() {
            return Err(Errno::ACCESS);
        }
        open(thread, &format!("fd/{number}"), OFlags::PATH).map_err(|errno| match errno {
            Errno::NOENT => Errno::BADF,
            other => other,
        })
    }

    fn open(&self, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        open(self.thread, name, flags)
    }

    /// Which rights it gives to nobody, if they are not those of this process.
    pub(super) fn mask(&self) -> Result<Option<u32>, Errno> {
        if self.masks == Masks::Ours {
            return Ok(None);
        }
        let mask = read_line(&self.status()?, b"Umask:").and_then(|text| u32::from_str_radix(&text, 8).ok());
        mask.map(Some).ok_or(Errno::PERM)
    }

    fn status(&self) -> Result<Vec<u8>, Errno> {
        status(self.thread)
    }
}

/// Whether a thread that waits has got a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupted {
    No,
    /// Another thread of its process may take it.
    Perhaps,
    Surely,
}

pub(super) fn interrupted(thread: u32) -> Interrupted {
    status(thread).map_or(Interrupted::No, |status| read_signals(&status))
}

fn read_signals(status: &[u8]) -> Interrupted {
    let set = |key: &[u8]| {
        read_line(status, key).and_then(|text| u64::from_str_radix(&text, 16).ok()).unwrap_or_default()
    };
    let open = !set(b"SigBlk:");
    let is_alone = read_line(status, b"Threads:").as_deref() == Some("1");
    match (set(b"SigPnd:") & open != 0, set(b"ShdPnd:") & open != 0) {
        (true, _) => Interrupted::Surely,
        (false, true) if is_alone => Interrupted::Surely,
        (false, true) => Interrupted::Perhaps,
        (false, false) => Interrupted::No,
    }
}

fn open(thread: u32, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = CString::new(format!("/proc/{thread}/{name}")).map_err(|_| Errno::INVAL)?;
    open_for_ourselves(rustix::fs::CWD, &path, flags)
}

/// What the kernel says of a thread.
fn status(thread: u32) -> Result<Vec<u8>, Errno> {
    let status = open(thread, "status", OFlags::RDONLY)?;
    let mut text = Vec::new();
    let mut piece = [0u8; 2048];
    // Who is in thousands of groups has a long one.
    while text.len() < LONGEST_STATUS {
        match rustix::io::read(&status, &mut piece)? {
            0 => break,
            n_read => text.extend_from_slice(piece.get(..n_read).unwrap_or_default()),
        }
    }
    Ok(text)
}

fn held(
    place: &OnceCell<OwnedFd>,
    open: impl FnOnce() -> Result<OwnedFd, Errno>,
) -> Result<BorrowedFd<'_>, Errno> {
    if place.get().is_none() {
        let _first = place.set(open()?);
    }
    place.get().map(|held| held.as_fd()).ok_or(Errno::BADF)
}

/// The name of the program, which comes first, cannot hold a line's end as it is written there.
fn read_line(status: &[u8], key: &[u8]) -> Option<String> {
    let mut lines = status.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(key))?;
    Some(std::str::from_utf8(line).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use rustix::fs::Mode;

    use super::*;

    #[test]
    fn a_line_is_found() {
        let read = |status: &[u8]| read_line(status, b"Umask:");
        assert_eq!(read(b"Name:\tsh\nUmask:\t0027\nState:\tS").as_deref(), Some("0027"));
        assert_eq!(read(b"Name:\t\\nUmask: 0\nUmask:\t0077\n").as_deref(), Some("0077"));
        assert_eq!(read(b"Name:\tsh\n"), None);
    }

    #[test]
    fn a_signal_is_seen_if_it_is_not_blocked() {
        let check = |threads: &str, own: &str, shared: &str, blocked: &str, expected| {
            let status =
                format!("Threads:\t{threads}\nSigPnd:\t{own}\nShdPnd:\t{shared}\nSigBlk:\t{blocked}\n");
            assert_eq!(read_signals(status.as_bytes()), expected, "{status}");
        };
        check("1", "0000", "0000", "0000", Interrupted::No);
        check("1", "0000", "4000", "0000", Interrupted::Surely);
        check("1", "0000", "4000", "4000", Interrupted::No);
        check("2", "0000", "4000", "0000", Interrupted::Perhaps);
        check("2", "4000", "0000", "0001", Interrupted::Surely);
        assert_eq!(read_signals(b""), Interrupted::No);
    }

    #[test]
    fn a_caller_is_read_where_it_stands() {
        let thread = u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
        let caller = Caller::new(thread, Masks::Told);
        assert_eq!(caller.descriptor(std::process::id(), 0).map(drop), Err(Errno::ACCESS));
        let text = CString::new("x".repeat(700)).unwrap();
        assert_eq!(caller.text(text.as_ptr() as u64), Ok(text.to_bytes().to_vec()));
        assert_eq!(caller.text(8), Err(Errno::FAULT));
        let long = CString::new("y".repeat(LONGEST_PATH)).unwrap();
        assert_eq!(caller.text(long.as_ptr() as u64), Err(Errno::NAMETOOLONG));
        assert_eq!(caller.descriptor(caller.thread(), 9999).map(drop), Err(Errno::BADF));
        let before = rustix::process::umask(Mode::from_raw_mode(0o31));
        let seen = caller.mask();
        rustix::process::umask(before);
        assert_eq!(seen, Ok(Some(0o31)));
        assert_eq!(Caller::new(std::process::id(), Masks::Ours).mask(), Ok(None));
    }
}

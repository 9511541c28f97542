//! The kernel's side of a guard: a filter that hands calls over, what it hands over, and the answers.

#![expect(unsafe_code, reason = "the kernel's interface for handed-over calls has no safe wrapper")]

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use seccompiler::BpfProgram;

/// Who is handed a call knows soon that it waits, and its answer is known soon; the kernel can then let the two take
/// turns on one processor. Since Linux 6.6.
const TAKE_TURNS: u64 = 1;

/// A call that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) id: u64,
    /// The thread that made it, as this process counts.
    pub(super) thread: u32,
    pub(super) number: i64,
    pub(super) arguments: [u64; 6],
}

#[derive(Debug)]
pub(in crate::launcher) struct Listener(OwnedFd);

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

impl Listener {
    /// Puts the filter on this process for good, and on all that it starts.
    pub(in crate::launcher) fn install(program: &BpfProgram) -> Result<Listener, Errno> {
        // Without the second a signal makes a program call again what was already done. It came with Linux 5.19.
        let both = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        let listener = match set_filter(program, both) {
            Err(Errno::INVAL) => set_filter(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?,
            other => other?,
        };
        // SAFETY: the descriptor is open, and the argument is a number, not a pointer.
        let _sooner =
            unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, TAKE_TURNS) };
        Ok(Listener(listener))
    }

    /// The next call. None if its caller is gone.
    pub(super) fn receive(&self) -> Option<Waiting> {
        // SAFETY: all fields are numbers, for which zero is a value; the kernel asks for a zeroed one.
        let mut told: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structure has the size that is part of the request's number.
        let returned =
            unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut told) };
        (returned == 0).then(|| Waiting {
            id: told.id,
            thread: told.pid,
            number: i64::from(told.data.nr),
            arguments: told.data.args,
        })
    }

    /// Whether the caller still waits. If so, what was found under its number a moment ago was its own.
    pub(super) fn waits(&self, id: u64) -> bool {
        // SAFETY: the request reads one number.
        unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
    }

    /// The call returns this. Whoever is gone is not told.
    pub(super) fn answer(&self, id: u64, result: Result<i32, Errno>) {
        let (val, error) = match result {
            Ok(number) => (i64::from(number), 0),
            Err(errno) => (0, -errno.raw_os_error()),
        };
        self.send(libc::seccomp_notif_resp { id, val, error, flags: 0 });
    }

    /// The caller makes its call itself.
    ///
    /// THREAT: P07, it may be another one by then, as far as it is in memory. Only for calls that make no name.
    pub(super) fn let_go(&self, id: u64) {
        let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        self.send(libc::seccomp_notif_resp { id, val: 0, error: 0, flags });
    }

    fn send(&self, answer: libc::seccomp_notif_resp) {
        // SAFETY: the structure has the size that is part of the request's number, and is only read.
        let _told =
            unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) };
    }

    /// The caller's process gets a new descriptor for this file; the caller goes on waiting.
    pub(super) fn give(
        &self,
        id: u64,
        file: BorrowedFd<'_>,
        closes_on_execute: bool,
    ) -> Result<RawFd, Errno> {
        let given = libc::seccomp_notif_addfd {
            id,
            flags: 0,
            srcfd: file.as_raw_fd() as u32,
            newfd: 0,
            newfd_flags: if closes_on_execute { libc::O_CLOEXEC as u32 } else { 0 },
        };
        // SAFETY: the structure has the size that is part of the request's number, and is only read.
        let returned =
            unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw const given) };
        if returned < 0 { Err(last_error()) } else { Ok(returned) }
    }
}

fn set_filter(program: &BpfProgram, flags: libc::c_ulong) -> Result<OwnedFd, Errno> {
    let length = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    // SAFETY: `sock_filter` of both crates has the kernel's layout; the kernel reads `len` of them and writes none.
    let made =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter) };
    if made < 0 {
        return Err(last_error());
    }
    // The first three are always open, so none of them is new: whoever said that is no kernel.
    let made = RawFd::try_from(made).ok().filter(|made| *made > 2).ok_or(Errno::BADF)?;
    // SAFETY: the call has just made it, and nobody else knows it. It is closed on execution.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

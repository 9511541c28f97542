//! What may wait: an open for the other end of a pipe, a socket for somebody who takes its call. A process of its own waits
//! for each; it makes no name. This one looks after them: who was killed or gets a signal waits no longer.

use std::ffi::CStr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Signal, WaitId, WaitIdOptions};

use super::caller::{self, Caller, Interrupted};
use super::listener_unsafe::{Listener, Waiting};
use crate::launcher::kernel_unsafe::{self, Cloned};
use crate::launcher::pass_unsafe::{Pass, open_for_ourselves};

/// The kernel makes it "call again" or "interrupted", as the handler of the signal wants it, and shows it to nobody.
const CALL_AGAIN: Errno = Errno::from_raw_os_error(512);
/// More are not looked after in time, and programs have a limit on processes to keep.
const MOST: usize = 128;

/// A process that waits for a pipe is gone at once.
const DYING: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// What a connection takes that nobody has to be waited for.
const BRIEFLY: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// More than a call needs that waits for nobody, also on a machine with much to do.
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

#[derive(Default)]
pub(super) struct Helpers(Vec<Helper>);

struct Helper {
    /// Of the call that waits.
    id: u64,
    thread: u32,
    process: OwnedFd,
}

/// Does something in a process of its own and waits for it: it takes no time, but leaves something behind that might.
///
/// THREAT: P07, a copy of a socket of the caller, which may be told to wait when it is closed: whoever closes it last waits.
/// A process that ends does not.
pub(super) fn apart(work: impl FnOnce() -> Result<(), Errno>) -> Result<(), Errno> {
    match kernel_unsafe::clone_process(0, None)? {
        Cloned::Parent { descriptor, .. } => {
            let helper = Helper { id: 0, thread: 0, process: descriptor };
            if !helper.is_gone(&AT_ONCE) {
                helper.end();
            }
            let ended = rustix::process::waitid(WaitId::PidFd(helper.process.as_fd()), WaitIdOptions::EXITED);
            match ended.ok().flatten().and_then(|status| status.exit_status()) {
                Some(0) => Ok(()),
                Some(errno) => Err(Errno::from_raw_os_error(errno)),
                // Programs can end it like one of their own.
                None => Err(Errno::INTR),
            }
        }
        Cloned::Child => {
            let code = work().map_or_else(|errno| errno.raw_os_error(), |()| 0);
            kernel_unsafe::exit_now(code)
        }
    }
}

impl Helper {
    /// It is gone when this returns, unless it hangs in the kernel.
    fn end(&self) {
        let _ended = rustix::process::pidfd_send_signal(&self.process, Signal::KILL);
        self.is_gone(&DYING);
    }

    fn is_gone(&self, most: &Timespec) -> bool {
        let mut watched = [PollFd::new(&self.process, PollFlags::IN)];
        rustix::event::poll(&mut watched, Some(most)).is_ok_and(|n_ready| n_ready > 0)
    }
}

impl Helpers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// INVARIANT: `flags` follow no link that could lead to what this process has open.
    pub(super) fn open(
        &mut self,
        listener: &Listener,
        waiting: &Waiting,
        (folder, name): (BorrowedFd<'_>, &CStr),
        flags: OFlags,
    ) -> Result<(), Errno> {
        self.start(listener, waiting, || {
            let opening = (flags - OFlags::CREATE - OFlags::EXCL) | OFlags::NOCTTY | OFlags::CLOEXEC;
            match open_for_ourselves(folder, name, opening) {
                Ok(file) => {
                    // Not in one step: one that is ended in the middle of it would leave its caller an answer without a
                    // file.
                    let given = listener.give(waiting.id, file.as_fd(), flags.contains(OFlags::CLOEXEC));
                    drop(file);
                    listener.answer(waiting.id, given);
                }
                Err(errno) => listener.answer(waiting.id, Err(errno)),
            }
        })
    }

    /// INVARIANT: the address leads to no name but one that this process has found and judged.
    ///
    /// LIMIT: whom the other side asks for the number of the process is told this one's.
    pub(super) fn connect(
        &mut self,
        listener: &Listener,
        waiting: &Waiting,
        (caller, socket): (&Caller, i32),
        pass: Pass,
        address: &[u8],
    ) -> Result<(), Errno> {
        self.start(listener, waiting, || {
            let connected = caller.socket(socket, pass).and_then(|taken| match listener.waits(waiting.id) {
                true => pass.connect(taken.as_fd(), address),
                false => Err(Errno::SRCH),
            });
            // By now the copy is closed; if the caller's own is too, that may wait, and nobody does with it.
            listener.answer(waiting.id, connected.map(|()| 0));
        })?;
        // Nearly all take no time, and those that wait are few enough to be looked after.
        if let Some(helper) = self.0.pop_if(|helper| helper.is_gone(&BRIEFLY)) {
            let _ended =
                rustix::process::waitid(WaitId::PidFd(helper.process.as_fd()), WaitIdOptions::EXITED);
        }
        Ok(())
    }

    fn start(&mut self, listener: &Listener, waiting: &Waiting, work: impl FnOnce()) -> Result<(), Errno> {
        if self.0.len() >= MOST {
            self.tend(listener);
        }
        if self.0.len() >= MOST {
            return Err(Errno::AGAIN);
        }
        match kernel_unsafe::clone_process(0, None)? {
            Cloned::Parent { descriptor, .. } => {
                self.0.push(Helper { id: waiting.id, thread: waiting.thread, process: descriptor });
                Ok(())
            }
            Cloned::Child => {
                work();
                kernel_unsafe::exit_now(0)
            }
        }
    }

    pub(super) fn tend(&mut self, listener: &Listener) {
        self.0.retain(|helper| {
            let answer = match listener.waits(helper.id) {
                false => None,
                true => match caller::interrupted(helper.thread) {
                    // Programs can end it like one of their own.
                    Interrupted::No if helper.is_gone(&NO_TIME) && listener.waits(helper.id) => {
                        Some(Errno::INTR)
                    }
                    Interrupted::No => return true,
                    Interrupted::Surely => Some(CALL_AGAIN),
                    Interrupted::Perhaps => Some(Errno::INTR),
                },
            };
            helper.end();
            if let Some(errno) = answer {
                listener.answer(helper.id, Err(errno));
            }
            false
        });
    }
}

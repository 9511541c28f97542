//! A terminal of ours that a program gets in place of a person's: what is typed into theirs is copied into ours, and theirs
//! takes on the modes that the program gives to ours. It knows terminals, not programs.
//!
//! THREAT: P07, whoever holds a person's terminal may write to it past the redactor, change its mode and owner, and keeps
//! it after the run. The one of ours goes with the run, and what is written to it is thrown away unless it was asked for.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios};

use crate::lent::is_in_front;

#[derive(Debug)]
pub(crate) struct Terminal<'a> {
    /// Never waits.
    ours: OwnedFd,
    person: BorrowedFd<'a>,
    /// As the person's was.
    before: Termios,
    /// As ours was when theirs was last set by it.
    seen: Termios,
    /// Whether what is written to ours is shown, so that ours does the echo and the line breaks.
    is_shown: bool,
}

impl<'a> Terminal<'a> {
    /// With the end for the program.
    pub(crate) fn like(person: BorrowedFd<'a>, is_shown: bool) -> Result<(Terminal<'a>, OwnedFd), Errno> {
        let ours = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        rustix::pty::grantpt(&ours)?;
        rustix::pty::unlockpt(&ours)?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let theirs = rustix::pty::ioctl_tiocgptpeer(&ours, flags)?;
        rustix::fs::fcntl_setfl(&ours, OFlags::NONBLOCK)?;
        let before = rustix::termios::tcgetattr(person)?;
        rustix::termios::tcsetattr(&theirs, OptionalActions::Now, &before)?;
        let seen = rustix::termios::tcgetattr(&theirs)?;
        let mut made = Terminal { ours, person, before, seen, is_shown };
        made.resize();
        if is_shown {
            made.set_persons();
        }
        Ok((made, theirs))
    }

    /// For reading what was written to it, and for writing what was typed.
    pub(crate) fn end(&self) -> Result<OwnedFd, Errno> {
        rustix::io::fcntl_dupfd_cloexec(&self.ours, 0)
    }

    /// Whether what is typed is for us: in the background the kernel would stop us for reading.
    pub(crate) fn may_be_read(&self) -> bool {
        is_in_front(self.person)
    }

    /// What a program takes for the end of the input.
    pub(crate) fn end_of_input(&self) -> Option<u8> {
        let is_by_line = self.seen.local_modes.contains(LocalModes::ICANON);
        is_by_line.then(|| self.seen.special_codes[SpecialCodeIndex::VEOF])
    }

    /// What has changed on one side since it was last looked at is done on the other.
    ///
    /// LIMIT: a program that turns the echo off is followed when it next writes, and else within a twentieth of a second.
    pub(crate) fn follow(&mut self) {
        if self.is_shown {
            self.resize();
        }
        let Ok(now) = rustix::termios::tcgetattr(&self.ours) else { return };
        if is_same(&now, &self.seen) {
            return;
        }
        self.seen = now;
        self.set_persons();
    }

    fn set_persons(&self) {
        if !is_in_front(self.person) {
            return;
        }
        let mut modes = self.before.clone();
        if self.is_shown {
            modes.make_raw();
            // Keys that interrupt reach us until the program wants them for itself.
            modes.local_modes.set(LocalModes::ISIG, self.seen.local_modes.contains(LocalModes::ISIG));
        } else {
            modes.input_modes = self.seen.input_modes;
            modes.local_modes = self.seen.local_modes;
            modes.special_codes = self.seen.special_codes.clone();
        }
        let _set = rustix::termios::tcsetattr(self.person, OptionalActions::Now, &modes);
    }

    fn resize(&mut self) {
        let sizes = (rustix::termios::tcgetwinsize(self.person), rustix::termios::tcgetwinsize(&self.ours));
        if let (Ok(theirs), Ok(ours)) = sizes
            && (theirs.ws_row, theirs.ws_col) != (ours.ws_row, ours.ws_col)
        {
            let _set = rustix::termios::tcsetwinsize(self.ours.as_fd(), theirs);
        }
    }
}

fn is_same(one: &Termios, other: &Termios) -> bool {
    let codes = [SpecialCodeIndex::VMIN, SpecialCodeIndex::VTIME, SpecialCodeIndex::VINTR];
    (one.input_modes, one.local_modes) == (other.input_modes, other.local_modes)
        && codes.into_iter().all(|code| one.special_codes[code] == other.special_codes[code])
}

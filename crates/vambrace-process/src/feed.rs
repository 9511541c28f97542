//! What a program reads: a text, or what a person's input brings, copied into a pipe or a terminal of ours.
//!
//! THREAT: P07, the input of a person may be a file, a folder or a device of the host. Who holds it can change its mode and
//! times, climb from it with `..`, and write to it, whatever is mounted; so no program ever gets the object itself.

use std::borrow::Cow;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use crate::terminal::Terminal;

/// LIMIT: what is on its way at most, beside what a pipe holds. A program that does not read its input uses so much of it
/// up all the same (docs/threat-model.md).
const CHUNK: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Feed<'a> {
    /// The other end of what the program reads; its writes do not wait. None: it has all.
    to: Option<OwnedFd>,
    /// Read and not written yet, from this place on.
    waiting: Cow<'a, [u8]>,
    n_written: usize,
    from: Option<BorrowedFd<'a>>,
}

impl<'a> Feed<'a> {
    pub(crate) fn nothing() -> Feed<'a> {
        Feed { to: None, waiting: Cow::Borrowed(&[]), n_written: 0, from: None }
    }

    pub(crate) fn text(text: &'a [u8]) -> Result<(Feed<'a>, OwnedFd), Errno> {
        let (read, write) = pipe()?;
        Ok((Feed { to: Some(write), waiting: Cow::Borrowed(text), n_written: 0, from: None }, read))
    }

    pub(crate) fn copied(from: BorrowedFd<'a>) -> Result<(Feed<'a>, OwnedFd), Errno> {
        let (read, write) = pipe()?;
        Ok((Feed { to: Some(write), waiting: Cow::Borrowed(&[]), n_written: 0, from: Some(from) }, read))
    }

    pub(crate) fn typed(from: BorrowedFd<'a>, terminal: &Terminal<'_>) -> Result<Feed<'a>, Errno> {
        let to = Some(terminal.end()?);
        Ok(Feed { to, waiting: Cow::Borrowed(&[]), n_written: 0, from: Some(from) })
    }

    /// What to wait for: room for what was read, else more of it. What is read is never more than one piece ahead.
    pub(crate) fn awaited(&self, terminal: Option<&Terminal<'_>>) -> Option<PollFd<'_>> {
        let to = self.to.as_ref()?;
        if self.n_written < self.waiting.len() {
            return Some(PollFd::new(to, PollFlags::OUT));
        }
        let may_read = terminal.is_none_or(Terminal::may_be_read);
        let from = self.from.as_ref().filter(|_| may_read)?;
        Some(PollFd::from_borrowed_fd(*from, PollFlags::IN))
    }

    /// After `awaited` was ready. A program that does not read its input is no error.
    pub(crate) fn go_on(&mut self, terminal: Option<&Terminal<'_>>) {
        if self.n_written < self.waiting.len() {
            self.write();
        } else {
            self.read(terminal);
        }
        if self.from.is_none() && self.n_written >= self.waiting.len() {
            self.to = None;
        }
    }

    fn write(&mut self) {
        let Some(to) = &self.to else { return };
        let rest = self.waiting.get(self.n_written..).unwrap_or_default();
        match rustix::io::write(to.as_fd(), rest) {
            Ok(n_written) => self.n_written += n_written,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => *self = Feed::nothing(),
        }
    }

    /// Once, because there is known to be something, or the end of it.
    fn read(&mut self, terminal: Option<&Terminal<'_>>) {
        let Some(from) = self.from else { return };
        let mut chunk = vec![0u8; CHUNK];
        match rustix::io::read(from, &mut chunk) {
            Ok(0) => match terminal {
                // Where a person types, more may follow the end.
                Some(terminal) if is_there(from) => self.hold(terminal.end_of_input().into_iter().collect()),
                Some(_) | None => self.from = None,
            },
            Ok(n_read) => {
                chunk.truncate(n_read);
                self.hold(chunk);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.from = None,
        }
    }

    fn hold(&mut self, bytes: Vec<u8>) {
        (self.waiting, self.n_written) = (Cow::Owned(bytes), 0);
    }
}

/// A terminal that is gone is at its end for ever.
fn is_there(terminal: BorrowedFd<'_>) -> bool {
    rustix::termios::tcgetattr(terminal).is_ok()
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&write, OFlags::NONBLOCK)?;
    Ok((read, write))
}

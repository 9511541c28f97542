//! A person's own streams while a program has them. A terminal's settings, and whether its reads and writes wait, belong to
//! the terminal and not to the program: without this they would stay as the program left them, and a shell that finds its
//! terminal so shows nothing of what is typed, or ends.

use std::os::fd::BorrowedFd;

use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, Termios};

/// Gives them back as they were when dropped, however the program ended.
#[derive(Debug)]
pub(crate) struct Lent<'a> {
    streams: Vec<Stream<'a>>,
}

#[derive(Debug)]
struct Stream<'a> {
    descriptor: BorrowedFd<'a>,
    flags: Option<OFlags>,
    /// Of a terminal that is ours to set.
    settings: Option<Termios>,
}

impl<'a> Lent<'a> {
    pub(crate) fn remember(streams: impl IntoIterator<Item = BorrowedFd<'a>>) -> Lent<'a> {
        let remember = |descriptor: BorrowedFd<'a>| Stream {
            descriptor,
            flags: rustix::fs::fcntl_getfl(descriptor).ok(),
            settings: rustix::termios::tcgetattr(descriptor).ok().filter(|_| is_in_front(descriptor)),
        };
        Lent { streams: streams.into_iter().map(remember).collect() }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        for Stream { descriptor, flags, settings } in &self.streams {
            if let Some(flags) = flags {
                let _given_back = rustix::fs::fcntl_setfl(descriptor, *flags);
            }
            if let Some(settings) = settings.as_ref().filter(|_| is_in_front(*descriptor)) {
                // Without waiting for output: a terminal that was stopped by a key would hold us here.
                let _given_back = rustix::termios::tcsetattr(descriptor, OptionalActions::Now, settings);
            }
        }
    }
}

/// In the background the terminal is somebody else's: what they set must stay, and the kernel would stop us for trying. A
/// terminal that is not the one of our session has no front.
fn is_in_front(terminal: BorrowedFd<'_>) -> bool {
    rustix::termios::tcgetpgrp(terminal).map_or(true, |group| group == rustix::process::getpgrp())
}

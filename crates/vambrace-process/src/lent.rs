//! A person's terminals while a program runs. Their settings belong to the terminal and follow what the program does to ours:
//! without this they would stay as the program left them, and a shell that finds its terminal so shows nothing of what is
//! typed.

use std::os::fd::BorrowedFd;

use rustix::termios::{OptionalActions, Termios};

/// Gives them back as they were when dropped, however the program ended.
#[derive(Debug)]
pub(crate) struct Lent<'a>(Vec<(BorrowedFd<'a>, Termios)>);

impl<'a> Lent<'a> {
    /// Of these the terminals that are ours to set.
    pub(crate) fn remember(streams: impl IntoIterator<Item = BorrowedFd<'a>>) -> Lent<'a> {
        let remember = |descriptor: BorrowedFd<'a>| {
            let settings = rustix::termios::tcgetattr(descriptor).ok()?;
            is_in_front(descriptor).then_some((descriptor, settings))
        };
        Lent(streams.into_iter().filter_map(remember).collect())
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        for (descriptor, settings) in self.0.iter().filter(|(descriptor, _)| is_in_front(*descriptor)) {
            // Without waiting for output: a terminal that was stopped by a key would hold us here.
            let _given_back = rustix::termios::tcsetattr(descriptor, OptionalActions::Now, settings);
        }
    }
}

/// In the background the terminal is somebody else's: what they set must stay, and the kernel would stop us for trying. A
/// terminal that is not the one of our session has no front.
pub(crate) fn is_in_front(terminal: BorrowedFd<'_>) -> bool {
    rustix::termios::tcgetpgrp(terminal).map_or(true, |group| group == rustix::process::getpgrp())
}

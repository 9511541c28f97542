//! Whom the kernel kills when memory runs out: a program, not the process that starts it and tells how it ended. It knows
//! one file of /proc.
//!
//! A process hands its score on to its children, and may raise its own and lower it again to where it was. So the runner
//! has the programs' score while it starts one, and its own at all other times. Programs see /proc read-only and keep it.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

/// The highest: also when the whole machine runs out, programs go before anything of the person's.
const FIRST: &[u8] = b"1000";

pub(super) struct Score {
    file: OwnedFd,
    /// As it is written into the file.
    own: Vec<u8>,
}

impl Score {
    /// None where /proc is missing or cannot be written; the kernel then chooses as it likes.
    pub(super) fn open() -> Option<Score> {
        let file =
            rustix::fs::open("/proc/self/oom_score_adj", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
                .ok()?;
        let mut text = [0u8; 16];
        let length = rustix::io::pread(&file, &mut text, 0).ok()?;
        let own = text.get(..length)?.trim_ascii().to_vec();
        Some(Score { file, own })
    }

    /// Whatever is started meanwhile is killed first.
    pub(super) fn raised<T>(score: Option<&Score>, start: impl FnOnce() -> T) -> T {
        let Some(score) = score else { return start() };
        let _raised = rustix::io::pwrite(&score.file, FIRST, 0);
        let started = start();
        let _lowered = rustix::io::pwrite(&score.file, &score.own, 0);
        started
    }
}

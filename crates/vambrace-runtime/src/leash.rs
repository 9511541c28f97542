//! How a call is stopped from outside: cancelled by its caller, or because its caller has gone.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use vambrace_files::Stop;

/// Held by the front end. Clones pull on the same call.
#[derive(Debug, Clone, Default)]
pub struct Leash {
    held: Arc<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// Zero until somebody pulls.
    why: AtomicU8,
    pulled: Notify,
    stop: Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Cancelled,
    CallerGone,
    TimedOut,
    /// An alert ended all calls of the caller.
    Terminated,
}

const CANCELLED: u8 = 1;
const GONE: u8 = 2;
const TIMED_OUT: u8 = 3;
const TERMINATED: u8 = 4;

/// How long work that was told to stop may take to notice, before its answer is no longer waited for.
const GRACE: Duration = Duration::from_secs(5);

impl Leash {
    pub fn cancel(&self) {
        self.pull(CANCELLED);
    }

    pub fn caller_gone(&self) {
        self.pull(GONE);
    }

    /// Whether somebody pulled.
    pub fn is_pulled(&self) -> bool {
        self.held.why.load(Ordering::Acquire) != 0
    }

    pub(crate) fn terminate(&self) {
        self.pull(TERMINATED);
    }

    /// The first reason counts.
    fn pull(&self, why: u8) {
        let _ = self.held.why.compare_exchange(0, why, Ordering::AcqRel, Ordering::Acquire);
        self.held.stop.set();
        self.held.pulled.notify_waiters();
    }

    /// Returns when somebody has pulled.
    async fn pulled(&self) {
        let mut pulled = pin!(self.held.pulled.notified());
        // From here on a pull is heard, so one that came before is seen.
        pulled.as_mut().enable();
        if !self.is_pulled() {
            pulled.await;
        }
    }

    pub(crate) fn stopped(&self) -> Option<Stopped> {
        match self.held.why.load(Ordering::Acquire) {
            CANCELLED => Some(Stopped::Cancelled),
            GONE => Some(Stopped::CallerGone),
            TIMED_OUT => Some(Stopped::TimedOut),
            TERMINATED => Some(Stopped::Terminated),
            _ => None,
        }
    }

    /// Tells the work to stop; also set when `time` is over.
    pub(crate) fn stop_within(&self, time: Duration) -> Stop {
        self.held.stop.within(time)
    }

    /// Resolves when work that waits was told to stop and did not. Work that holds its thread looks
    /// at its `Stop` itself.
    pub(crate) async fn lost_patience(&self, time: Duration) {
        if tokio::time::timeout(time, self.pulled()).await.is_err() {
            self.pull(TIMED_OUT);
        }
        tokio::time::sleep(GRACE).await;
    }
}

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

    /// Sets `stop` when somebody pulls or the time is up, in a task of its own, because the work may hold its thread.
    pub(crate) fn watch(&self, limit: Duration, stop: Stop) -> Watch {
        let leash = self.clone();
        // The task may come late to a call that was over before it began.
        if leash.is_pulled() {
            stop.set();
        }
        Watch::Task(tokio::spawn(async move { leash.patience(limit, &stop).await }))
    }

    /// The same for work that is too short to be watched: only what it waits for is cut short.
    pub(crate) fn watch_here(&self, limit: Duration, stop: Stop) -> Watch {
        if self.is_pulled() {
            stop.set();
        }
        Watch::Here { leash: self.clone(), limit, stop }
    }

    async fn patience(&self, limit: Duration, stop: &Stop) {
        if tokio::time::timeout(limit, self.pulled()).await.is_err() {
            self.pull(TIMED_OUT);
        }
        stop.set();
        tokio::time::sleep(GRACE).await;
    }
}

/// The watcher of one call; it goes when the call is done.
pub(crate) enum Watch {
    Task(tokio::task::JoinHandle<()>),
    Here { leash: Leash, limit: Duration, stop: Stop },
}

impl Watch {
    /// Resolves when the work was told to stop and did not.
    pub(crate) async fn lost_patience(&mut self) {
        match self {
            Watch::Task(task) => {
                let _ = task.await;
            }
            Watch::Here { leash, limit, stop } => leash.patience(*limit, stop).await,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        match self {
            Watch::Task(task) => task.abort(),
            Watch::Here { .. } => {}
        }
    }
}

//! How a call is stopped from outside: cancelled by its caller, or because its caller has gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use vambrace_files::Stop;

/// Held by the front end. Clones pull on the same call.
#[derive(Debug, Clone, Default)]
pub struct Leash {
    token: CancellationToken,
    why: Arc<AtomicU8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Cancelled,
    CallerGone,
    TimedOut,
}

const CANCELLED: u8 = 1;
const GONE: u8 = 2;
const TIMED_OUT: u8 = 3;

/// How long work that was told to stop may take to notice, before its answer is no longer waited for.
const GRACE: Duration = Duration::from_secs(5);

impl Leash {
    pub fn cancel(&self) {
        self.pull(CANCELLED);
    }

    pub fn caller_gone(&self) {
        self.pull(GONE);
    }

    /// The first reason counts.
    fn pull(&self, why: u8) {
        let _ = self.why.compare_exchange(0, why, Ordering::Relaxed, Ordering::Relaxed);
        self.token.cancel();
    }

    pub(crate) fn stopped(&self) -> Option<Stopped> {
        match self.why.load(Ordering::Relaxed) {
            CANCELLED => Some(Stopped::Cancelled),
            GONE => Some(Stopped::CallerGone),
            TIMED_OUT => Some(Stopped::TimedOut),
            _ => None,
        }
    }

    /// Sets `stop` when somebody pulls or the time is up, in a task of its own, because the work may hold its thread.
    pub(crate) fn watch(&self, limit: Duration, stop: Stop) -> Watch {
        let leash = self.clone();
        // The task may come late to a call that was over before it began.
        if leash.token.is_cancelled() {
            stop.set();
        }
        let task = tokio::spawn(async move {
            if tokio::time::timeout(limit, leash.token.cancelled()).await.is_err() {
                leash.pull(TIMED_OUT);
            }
            stop.set();
            tokio::time::sleep(GRACE).await;
        });
        Watch(task)
    }
}

/// The watcher of one call; it goes when the call is done.
pub(crate) struct Watch(tokio::task::JoinHandle<()>);

impl Watch {
    /// Resolves when the work was told to stop and did not.
    pub(crate) async fn lost_patience(&mut self) {
        let _ = (&mut self.0).await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

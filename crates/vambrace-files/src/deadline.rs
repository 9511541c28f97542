//! When to give up: a moment, or somebody's wish.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set when the caller cancels, and over when the call's time is; long work looks at it between steps.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    told: Arc<AtomicBool>,
    at: Option<Instant>,
}

impl Stop {
    /// The same, which is also set when so much time has passed.
    pub fn within(&self, time: Duration) -> Stop {
        Stop { told: Arc::clone(&self.told), at: Instant::now().checked_add(time) }
    }

    pub fn set(&self) {
        self.told.store(true, Ordering::Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.told.load(Ordering::Relaxed) || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

/// Ends when its time is up or its `Stop` is set.
#[derive(Debug, Clone)]
pub struct Deadline {
    at: Instant,
    stop: Stop,
}

impl Deadline {
    pub fn after(time: Duration, stop: Stop) -> Deadline {
        Deadline { at: Instant::now() + time, stop }
    }

    pub fn is_over(&self) -> bool {
        self.stop.is_set() || Instant::now() >= self.at
    }
}

/// Ends when the calling thread has worked for so long, however long that took on a busy machine. For one thread.
#[derive(Debug)]
pub struct WorkLimit {
    not_before: Instant,
    worked: Duration,
    stop: Stop,
}

impl WorkLimit {
    pub fn of(work: Duration, stop: Stop) -> WorkLimit {
        WorkLimit { not_before: Instant::now() + work, worked: thread_time() + work, stop }
    }

    pub fn is_over(&self) -> bool {
        // No thread works longer than the clock on the wall, which is cheaper to ask.
        self.stop.is_set() || (Instant::now() >= self.not_before && thread_time() >= self.worked)
    }
}

fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanos)
}

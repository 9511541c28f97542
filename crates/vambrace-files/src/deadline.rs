//! When to give up: a moment, or somebody's wish.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set once by the walk when the caller cancels or the call runs out of time; long work looks at it between steps.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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

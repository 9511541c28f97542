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

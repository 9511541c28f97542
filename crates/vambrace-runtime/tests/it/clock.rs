//! A clock that stands still until told, and that lets a test act at an exact moment of a call.
//!
//! The corridor reads the clock when a call begins and before it is concluded, the record when it stamps a line. Those
//! are the seams between the stages, so a hook here can look at the disk, or break it, between any two of them.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use vambrace_audit::Clock;
use vambrace_types::Timestamp;

pub(crate) const START: i64 = 1_700_000_000_000;

type Hook = Box<dyn FnMut(usize) + Send>;

pub(crate) struct TestClock {
    millis: AtomicI64,
    n_reads: AtomicUsize,
    hook: Mutex<Option<Hook>>,
}

impl TestClock {
    pub(crate) fn new() -> TestClock {
        TestClock { millis: AtomicI64::new(START), n_reads: AtomicUsize::new(0), hook: Mutex::new(None) }
    }

    pub(crate) fn pass(&self, millis: i64) {
        self.millis.fetch_add(millis, Ordering::SeqCst);
    }

    /// From now on `hook` hears of every reading, counted from 1.
    pub(crate) fn on_reading(&self, hook: impl FnMut(usize) + Send + 'static) {
        self.n_reads.store(0, Ordering::SeqCst);
        *self.hook.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(hook));
    }

    pub(crate) fn n_reads(&self) -> usize {
        self.n_reads.load(Ordering::SeqCst)
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        // The record's own thread stamps heads whenever it likes; only the readings of calls come in a fixed order.
        if std::thread::current().name() != Some("audit") {
            let number = self.n_reads.fetch_add(1, Ordering::SeqCst) + 1;
            if let Some(hook) = self.hook.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
                hook(number);
            }
        }
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }
}

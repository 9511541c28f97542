//! The calls that are being walked, so that all of one caller's can be ended at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vambrace_types::Caller;

use crate::Leash;

/// Holds as many entries as there are calls at once, which the front ends bound.
#[derive(Debug, Default)]
pub(crate) struct Underway {
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    last: u64,
    /// Owners, and how to stop their calls.
    leashes: HashMap<u64, (String, Leash)>,
}

impl Underway {
    pub(crate) fn enter(self: &Arc<Self>, owner: String, leash: Leash) -> Entered {
        let mut calls = self.calls();
        calls.last += 1;
        let number = calls.last;
        calls.leashes.insert(number, (owner, leash));
        Entered { underway: Arc::clone(self), number }
    }

    /// Ends every call of this caller, or of this person behind it.
    pub(crate) fn terminate(&self, caller: &Caller) {
        let owner = caller.owner();
        self.calls()
            .leashes
            .values()
            .filter(|(who, _)| *who == owner)
            .for_each(|(_, leash)| leash.terminate());
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call's entry; it goes when the call is over, however it ended.
pub(crate) struct Entered {
    underway: Arc<Underway>,
    number: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.underway.calls().leashes.remove(&self.number);
    }
}

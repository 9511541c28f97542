//! Group commit: one sync serves everybody who wrote before it began, and the head follows.
//!
//! Knows segments and heads, not what a record says.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ed25519_dalek::SigningKey;

use crate::disk::Sink;
use crate::segment::{self, Segment};
use crate::{AuditError, Clock};

/// How long records gather before the background thread syncs them.
const GATHER: Duration = Duration::from_millis(50);

/// How often whoever syncs lets others go first.
const TURNS: usize = 64;

pub(crate) struct Shared {
    pub(crate) dir: PathBuf,
    pub(crate) key: SigningKey,
    pub(crate) clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// A sync has ended.
    done: Condvar,
    /// There is something to sync, or it is time to go.
    work: Condvar,
}

pub(crate) struct State {
    /// Reused for every line.
    pub(crate) buffer: String,
    pub(crate) segment: Segment,
    /// Why the segment cannot be used any more; the next record goes to a new one.
    pub(crate) lost: Option<String>,
    /// Records written since the log was opened, over all its segments.
    ticket: u64,
    /// Records that a sync covers.
    synced: u64,
    /// Records that a signed head covers.
    sealed: u64,
    /// Records for which the thread has done what it can: sealed, or tried and failed.
    settled: u64,
    /// Records after the first number and up to the second, whose sync failed.
    failed: (u64, u64),
    /// How many records the last sync covered: as many may come again.
    last_group: u64,
    syncing: bool,
    stop: bool,
}

/// How far a sync goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The records are on disk.
    Data,
    /// And the signed head says so.
    Head,
}

impl State {
    /// Nothing written so far needs the thread any more.
    fn settle(&mut self) {
        self.synced = self.ticket;
        self.sealed = self.ticket;
        self.settled = self.ticket;
    }

    /// Gives the segment up: what it holds beyond the last sync may not survive, and nobody is told that it did.
    pub(crate) fn abandon_segment(&mut self) {
        if self.synced < self.ticket {
            let after = if self.failed.1 == self.synced { self.failed.0 } else { self.synced };
            self.failed = (after, self.ticket);
        }
        self.settle();
    }
}

/// A file without a name is synced with success and lost all the same.
fn sync_linked(sink: &dyn Sink, path: &Path) -> Result<(), AuditError> {
    sink.sync().map_err(AuditError::io("sync", path))?;
    if sink.is_linked().map_err(AuditError::io("look at", path))? {
        return Ok(());
    }
    Err(AuditError::Gone { path: path.to_owned() })
}

impl Shared {
    pub(crate) fn new(dir: PathBuf, key: SigningKey, clock: Arc<dyn Clock>, segment: Segment) -> Shared {
        let state = State {
            buffer: String::with_capacity(4096),
            segment,
            lost: None,
            ticket: 0,
            synced: 0,
            sealed: 0,
            settled: 0,
            failed: (0, 0),
            last_group: 0,
            syncing: false,
            stop: false,
        };
        Shared { dir, key, clock, state: Mutex::new(state), done: Condvar::new(), work: Condvar::new() }
    }

    /// A panic elsewhere must not silence the record: the state only changes after a line is whole.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no sync is under way, so that the segment may be exchanged.
    pub(crate) fn quiet<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.done.wait_while(state, |state| state.syncing).unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a record that was just written, and returns its ticket.
    pub(crate) fn count(&self, state: &mut State) -> u64 {
        // The thread sleeps only when all is settled, so one wake per group is enough.
        if state.ticket == state.settled {
            self.work.notify_one();
        }
        state.ticket += 1;
        state.ticket
    }

    /// Returns when the record with this ticket is safe. The first to come does the work for all.
    pub(crate) fn sync_to(&self, ticket: u64, depth: Depth) -> Result<(), AuditError> {
        let mut state = self.lock();
        loop {
            let (after, upto) = state.failed;
            if ticket > after && ticket <= upto {
                // A second sync might claim success for pages that the kernel has already given up.
                return Err(AuditError::io("sync", &state.segment.path)(std::io::ErrorKind::Other.into()));
            }
            let reached = match depth {
                Depth::Data => state.synced,
                Depth::Head => state.sealed,
            };
            if reached >= ticket {
                return Ok(());
            }
            if state.syncing {
                state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state = self.sync_now(state, depth)?;
        }
    }

    /// Syncs everything written so far, without holding up those who write on.
    fn sync_now<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        depth: Depth,
    ) -> Result<MutexGuard<'a, State>, AuditError> {
        state.syncing = true;
        state = self.gather(state);
        let (sink, name, path) =
            (Arc::clone(&state.segment.sink), state.segment.name.clone(), state.segment.path.clone());
        let (tip, ticket) = (state.segment.tip, state.ticket);
        let needs_sync = state.synced < ticket;
        state.last_group = ticket - state.synced;
        drop(state);

        let synced = if needs_sync { sync_linked(&*sink, &path) } else { Ok(()) };
        let headed = match (&synced, depth) {
            (Ok(()), Depth::Head) => {
                Some(segment::write_head(&self.dir, &name, tip, self.clock.now(), &self.key))
            }
            (Ok(()), Depth::Data) | (Err(_), _) => None,
        };

        let mut state = self.lock();
        state.syncing = false;
        if let Err(cause) = &synced {
            state.failed = (state.synced, ticket);
            state.lost = Some(cause.to_string());
        }
        state.synced = state.synced.max(ticket);
        if matches!(headed, Some(Ok(()))) {
            state.sealed = state.sealed.max(ticket);
        }
        if headed.is_some() || synced.is_err() {
            state.settled = state.settled.max(ticket);
        }
        self.done.notify_all();
        synced?;
        headed.transpose()?;
        Ok(state)
    }

    /// Those whom the last sync released are about to write again: a sync that waits for them serves them all, one
    /// that does not serves only itself. A lone caller never waits here.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        for _ in 0..TURNS {
            if state.ticket - state.synced >= state.last_group {
                break;
            }
            drop(state);
            std::thread::yield_now();
            state = self.lock();
        }
        state
    }

    /// The last words for a segment that is about to be left behind. The caller has waited for `quiet`.
    pub(crate) fn finish_segment(&self, state: &mut State) -> Result<(), AuditError> {
        sync_linked(&*state.segment.sink, &state.segment.path)?;
        segment::write_head(&self.dir, &state.segment.name, state.segment.tip, self.clock.now(), &self.key)?;
        state.settle();
        Ok(())
    }

    /// Syncs and signs whatever is not yet.
    pub(crate) fn seal(&self) -> Result<(), AuditError> {
        let ticket = self.lock().ticket;
        self.sync_to(ticket, Depth::Head)
    }

    /// The background thread. It sleeps while there is nothing to do.
    pub(crate) fn run(&self) {
        loop {
            let idle = |state: &mut State| !state.stop && state.settled == state.ticket;
            let state = self.work.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
            let (state, _) = self
                .work
                .wait_timeout_while(state, GATHER, |state| !state.stop)
                .unwrap_or_else(PoisonError::into_inner);
            if state.stop {
                return;
            }
            drop(state);
            // A failure is kept in the state: it is told to whoever waits, and the next record goes elsewhere.
            let _ = self.seal();
        }
    }

    pub(crate) fn stop(&self) {
        self.lock().stop = true;
        self.work.notify_all();
    }
}

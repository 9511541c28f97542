//! Group commit: one sync serves everybody who wrote before it began, and the head follows.
//!
//! Knows segments and heads, not what a record says.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use ed25519_dalek::SigningKey;

use crate::disk::Sink;
use crate::segment::{self, Segment};
use crate::{AuditError, Clock};

/// How long records gather before the background thread syncs them.
const GATHER: Duration = Duration::from_millis(50);

/// How often whoever syncs lets others go first.
const TURNS: usize = 64;

/// How often the lock is tried before it is waited for: about as long as two lines take.
const SPINS: usize = 500;

pub(crate) struct Shared {
    pub(crate) dir: PathBuf,
    pub(crate) key: SigningKey,
    pub(crate) clock: Arc<dyn Clock>,
    state: Mutex<State>,
    progress: Progress,
    /// A sync has ended: for whoever wants to exchange the segment.
    done: Condvar,
    /// A sync has ended: for those who wait until their record is safe. A gate of its own, because they are many, and
    /// all of them at the lock of the state would keep each other and the writers waiting.
    gate: Mutex<()>,
    opened: Condvar,
    /// There is something to sync, or it is time to go.
    work: Condvar,
}

/// What can be seen without the lock. Changed only under it.
#[derive(Default)]
struct Progress {
    /// As in the state.
    ticket: AtomicU64,
    /// As in the state, but not beyond what a sync has covered or tried.
    synced: AtomicU64,
    /// Whether `synced` may count records that are lost. Then only the state knows which.
    any_failed: AtomicBool,
    /// How many syncs have ended.
    n_ended: AtomicU64,
}

impl Progress {
    /// Whether the record is on disk for certain.
    fn is_safe(&self, ticket: u64) -> bool {
        // INVARIANT: a failure is noted before `synced` passes the records that it concerns.
        self.synced.load(Ordering::Acquire) >= ticket && !self.any_failed.load(Ordering::Acquire)
    }
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
    /// Whether something else waits for the thread.
    more: bool,
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
            more: false,
            stop: false,
        };
        Shared {
            dir,
            key,
            clock,
            state: Mutex::new(state),
            progress: Progress::default(),
            done: Condvar::new(),
            gate: Mutex::default(),
            opened: Condvar::new(),
            work: Condvar::new(),
        }
    }

    /// Gives the segment up, at once: what it holds beyond the last sync may not survive, and nobody is told that it did,
    /// though a second sync might say so. The next record goes to a new one.
    pub(crate) fn give_up(&self, state: &mut State, why: String) {
        if state.synced < state.ticket {
            // One range for all failures. Whoever was safe between two of them and has not looked yet is told otherwise,
            // which is the better mistake.
            let after = if state.failed.1 > 0 { state.failed.0 } else { state.synced };
            state.failed = (after, state.ticket);
            self.progress.any_failed.store(true, Ordering::Release);
        }
        state.settle();
        state.lost = Some(why);
    }

    /// A panic elsewhere must not silence the record: the state only changes after a line is whole.
    ///
    /// It is mostly held for a few microseconds, and putting a thread to sleep and waking it takes longer than that.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        for _ in 0..SPINS {
            match self.state.try_lock() {
                Ok(state) => return state,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
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
        self.progress.ticket.store(state.ticket, Ordering::Release);
        state.ticket
    }

    /// Returns when the record with this ticket is safe. The first to come does the work for all.
    pub(crate) fn sync_to<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        ticket: u64,
        depth: Depth,
    ) -> Result<(), AuditError> {
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
                let n_ended = self.progress.n_ended.load(Ordering::Acquire);
                drop(state);
                self.wait_for_end(n_ended);
                if depth == Depth::Data && self.progress.is_safe(ticket) {
                    return Ok(());
                }
                state = self.lock();
                continue;
            }
            state = self.sync_now(state, depth)?;
        }
    }

    /// Returns when more syncs have ended than this.
    fn wait_for_end(&self, n_ended: u64) {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let still = |_: &mut ()| self.progress.n_ended.load(Ordering::Acquire) == n_ended;
        drop(self.opened.wait_while(gate, still).unwrap_or_else(PoisonError::into_inner));
    }

    /// Tells that a sync has ended. Under the lock of the state, so that whoever sees `syncing` waits for this.
    fn end_sync(&self, state: &mut State) {
        state.syncing = false;
        self.progress.synced.store(state.synced, Ordering::Release);
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.progress.n_ended.fetch_add(1, Ordering::AcqRel);
        drop(gate);
        self.opened.notify_all();
        self.done.notify_all();
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
        match &synced {
            Ok(()) => state.synced = state.synced.max(ticket),
            // Those too that were written meanwhile: they lie in the same file.
            Err(cause) => self.give_up(&mut state, cause.to_string()),
        }
        if matches!(headed, Some(Ok(()))) {
            state.sealed = state.sealed.max(ticket);
        }
        if headed.is_some() {
            state.settled = state.settled.max(ticket);
        }
        self.end_sync(&mut state);
        synced?;
        headed.transpose()?;
        Ok(state)
    }

    /// Those whom the last sync released are about to write again: a sync that waits for them serves them all, one
    /// that does not serves only itself. A lone caller never waits here.
    fn gather<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let enough = state.synced + state.last_group;
        if state.ticket >= enough {
            return state;
        }
        drop(state);
        for _ in 0..TURNS {
            if self.progress.ticket.load(Ordering::Acquire) >= enough {
                break;
            }
            std::thread::yield_now();
        }
        self.lock()
    }

    /// The last words for a segment that is about to be left behind, or that it is given up. A head that cannot be written
    /// is tried again. The caller has waited for `quiet`.
    pub(crate) fn finish_segment(&self, state: &mut State) -> Result<(), AuditError> {
        if let Err(cause) = sync_linked(&*state.segment.sink, &state.segment.path) {
            self.give_up(state, cause.to_string());
            return Ok(());
        }
        segment::write_head(&self.dir, &state.segment.name, state.segment.tip, self.clock.now(), &self.key)?;
        state.settle();
        Ok(())
    }

    /// Syncs and signs whatever is not yet.
    pub(crate) fn seal(&self) -> Result<(), AuditError> {
        let state = self.lock();
        let ticket = state.ticket;
        self.sync_to(state, ticket, Depth::Head)
    }

    /// There is more to do for the thread than records.
    pub(crate) fn expect_more(&self) {
        self.lock().more = true;
        self.work.notify_one();
    }

    /// The background thread. It sleeps while there is nothing to do.
    pub(crate) fn run(&self, do_more: impl Fn()) {
        loop {
            let idle = |state: &mut State| !state.stop && !state.more && state.settled == state.ticket;
            let state = self.work.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
            let (mut state, _) = self
                .work
                .wait_timeout_while(state, GATHER, |state| !state.stop)
                .unwrap_or_else(PoisonError::into_inner);
            if state.stop {
                return;
            }
            state.more = false;
            drop(state);
            do_more();
            // A failure is kept in the state: it is told to whoever waits, and the next record goes elsewhere.
            let _ = self.seal();
        }
    }

    pub(crate) fn stop(&self) {
        self.lock().stop = true;
        self.work.notify_all();
    }
}

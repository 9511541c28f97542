//! Group commit: one sync serves everybody who wrote before it began, and the head follows.
//!
//! Knows segments and heads, not what a record says.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// As in the state: also those that are lost.
    written: AtomicU64,
    /// As in the state, but not beyond what a sync has covered or tried.
    synced: AtomicU64,
    /// The last record that may be lost; of those up to it, only the state knows which.
    failed_upto: AtomicU64,
    /// How many syncs have ended.
    n_ended: AtomicU64,
}

impl Progress {
    /// Whether the record is on disk for certain.
    fn is_safe(&self, ticket: u64) -> bool {
        self.has_passed(&self.synced, ticket)
    }

    /// Whether the record is in its file for certain.
    fn is_written(&self, ticket: u64) -> bool {
        self.has_passed(&self.written, ticket)
    }

    fn has_passed(&self, count: &AtomicU64, ticket: u64) -> bool {
        // INVARIANT: a failure is noted before a count passes the records that it concerns.
        count.load(Ordering::Acquire) >= ticket && self.failed_upto.load(Ordering::Acquire) < ticket
    }
}

pub(crate) struct State {
    pub(crate) segment: Segment,
    /// Why the segment cannot be used any more; the next record goes to a new one.
    pub(crate) lost: Option<String>,
    /// Records of the chain since the log was opened, over all its segments.
    ticket: u64,
    /// Records that are in their file, or are lost.
    written: u64,
    /// Records that a sync covers.
    synced: u64,
    /// Records that a signed head covers.
    sealed: u64,
    /// Records for which the thread has done what it can: sealed, or tried and failed.
    settled: u64,
    /// Records after the first number and up to the second, of which some could not be written or synced.
    failed: (u64, u64),
    /// The file of the last of them.
    failed_in: PathBuf,
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
    /// The error of a record that may be lost.
    fn lost_one(&self, ticket: u64, action: &'static str) -> Result<(), AuditError> {
        let (after, upto) = self.failed;
        if ticket > after && ticket <= upto {
            return Err(AuditError::io(action, &self.failed_in)(std::io::ErrorKind::Other.into()));
        }
        Ok(())
    }

    /// Nothing written so far needs the thread any more.
    fn settle(&mut self) {
        self.written = self.ticket;
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
            segment,
            lost: None,
            ticket: 0,
            written: 0,
            synced: 0,
            sealed: 0,
            settled: 0,
            failed: (0, 0),
            failed_in: PathBuf::new(),
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
        self.fail_from(state, state.synced);
        state.segment.forget_gathered();
        state.settle();
        self.progress.written.store(state.written, Ordering::Release);
        state.lost = Some(why);
    }

    /// All records behind this one are lost.
    fn fail_from(&self, state: &mut State, after: u64) {
        if after < state.ticket {
            // One range for all failures. Whoever was safe between two of them and has not looked yet is told otherwise,
            // which is the better mistake.
            let after = if state.failed.1 > 0 { state.failed.0.min(after) } else { after };
            state.failed = (after, state.ticket);
            state.failed_in.clone_from(&state.segment.path);
            self.progress.failed_upto.store(state.ticket, Ordering::Release);
        }
    }

    /// Puts into the file what was gathered. What cannot be written is told to those whom it concerns, and is no part of the
    /// chain.
    pub(crate) fn write_out(&self, state: &mut State) -> Result<(), AuditError> {
        let result = state.segment.write_out();
        match &result {
            Ok(()) => {}
            Err(AuditError::Gone { path }) => {
                self.give_up(state, format!("`{}` was deleted", path.display()))
            }
            Err(_) => self.fail_from(state, state.written),
        }
        state.written = state.ticket;
        self.progress.written.store(state.written, Ordering::Release);
        result
    }

    /// Returns when the record with this ticket is in its file. The first to come writes for all.
    pub(crate) fn write_to(&self, ticket: u64) -> Result<(), AuditError> {
        if self.progress.is_written(ticket) {
            return Ok(());
        }
        let mut state = self.lock();
        if state.written < ticket {
            return self.write_out(&mut state);
        }
        state.lost_one(ticket, "write")
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

    /// Counts a record that was just added to the chain, and returns its ticket.
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
            let reached = match depth {
                Depth::Data => state.synced,
                Depth::Head => state.sealed,
            };
            if reached >= ticket {
                // A second sync might claim success for pages that the kernel has already given up, so there is none.
                return state.lost_one(ticket, "sync");
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
        state = self.wait_for_others(state);
        // Whoever it concerns is told; what was written before is synced all the same.
        if self.write_out(&mut state).is_err() && state.lost.is_some() {
            self.end_sync(&mut state);
            return Ok(state);
        }
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
    fn wait_for_others<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
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
        if self.write_out(state).is_err() && state.lost.is_some() {
            return Ok(());
        }
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

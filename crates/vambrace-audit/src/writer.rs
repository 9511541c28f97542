//! The one thread that syncs, signs heads and exchanges segments, and the queue before it.
//!
//! Where records need not be durable, whoever brings one writes it, under the lock. Where they must
//! be, they are queued: the thread writes everything that is there, syncs once and answers all.
//! Knows segments and heads, not what a record says.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ed25519_dalek::SigningKey;
use vambrace_types::Timestamp;

use crate::chain::Tip;
use crate::disk::Sink;
use crate::event::EventKind;
use crate::line::{self, EventLine};
use crate::receipt::{Group, Line, Place};
use crate::registry::{Founding, Registry};
use crate::segment::{self, Lines, Segment};
use crate::words::{RecordKind, Severity};
use crate::{AuditError, Clock};

/// How long records gather before a head is signed for them.
pub(crate) const GATHER: Duration = Duration::from_millis(50);

/// LIMIT: of what is queued. Whoever finds the queue full waits until the thread has taken it.
pub(crate) const MOST_QUEUED: usize = 1 << 20;

pub(crate) struct Shared {
    pub(crate) dir: PathBuf,
    pub(crate) key: SigningKey,
    pub(crate) clock: Arc<dyn Clock>,
    is_durable: bool,
    state: Mutex<State>,
    /// There is something to do for the thread.
    work: Condvar,
    /// The queue was taken.
    room: Condvar,
}

pub(crate) struct State {
    /// Only the thread takes it away: to exchange the segment, and in a durable log to write.
    pub(crate) chain: Option<Chain>,
    pub(crate) queue: Queue,
    /// Those who wait until everything is signed.
    sealing: Option<Arc<Group>>,
    /// Since when a head is missing.
    unsealed_since: Option<Timestamp>,
    /// Whether something else waits for the thread.
    more: bool,
    stop: bool,
}

/// Records that are written and answered together.
#[derive(Default)]
pub(crate) struct Queue {
    records: Vec<Queued>,
    text: String,
    group: Arc<Group>,
}

struct Queued {
    time: Timestamp,
    kind: RecordKind,
    /// Where it ends in the text.
    end: usize,
}

pub(crate) struct Chain {
    pub(crate) segment: Segment,
    /// Why the segment cannot be used any more; the next record goes to a new one.
    lost: Option<String>,
    /// Whether the last record may be lost.
    is_missing_one: bool,
    /// How many records its signed head covers.
    n_sealed: u64,
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.text.len()
    }

    fn push(&mut self, time: Timestamp, kind: RecordKind, rest: &str) -> Line {
        self.text.push_str(rest);
        self.records.push(Queued { time, kind, end: self.text.len() });
        Line::Queued(Arc::clone(&self.group), self.records.len() - 1)
    }
}

impl Chain {
    fn is_usable(&self) -> bool {
        self.lost.is_none() && !self.segment.is_full()
    }

    /// Adds records to the chain and the file: all of them or none.
    fn write<T>(&mut self, add: impl FnOnce(&mut Lines) -> T) -> Result<T, AuditError> {
        let added = attempt(|| self.segment.append(add));
        self.is_missing_one = added.is_err();
        match &added {
            Err(AuditError::Gone { path }) => self.lost = Some(format!("`{}` was deleted", path.display())),
            Err(cause @ AuditError::WriterPanicked) => self.give_up(cause),
            Ok(_) | Err(_) => {}
        }
        added
    }

    /// What the segment holds beyond the last sync may not survive, though a second sync might say
    /// that it did.
    fn give_up(&mut self, cause: &AuditError) {
        self.lost = Some(cause.to_string());
        self.is_missing_one = true;
    }

    /// For whoever asks whether everything is safe.
    fn complete(&self) -> Result<(), AuditError> {
        if self.is_missing_one {
            return Err(AuditError::io("write", &self.segment.path)(std::io::ErrorKind::Other.into()));
        }
        Ok(())
    }
}

/// A panic is an error like others: whoever waits is told, and the thread goes on.
fn attempt<T>(work: impl FnOnce() -> Result<T, AuditError>) -> Result<T, AuditError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(AuditError::WriterPanicked))
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
    pub(crate) fn new(
        dir: PathBuf,
        key: SigningKey,
        clock: Arc<dyn Clock>,
        segment: Segment,
        is_durable: bool,
    ) -> Shared {
        let n_sealed = segment.tip.count;
        let state = State {
            chain: Some(Chain { segment, lost: None, is_missing_one: false, n_sealed }),
            queue: Queue::default(),
            sealing: None,
            unsealed_since: None,
            more: false,
            stop: false,
        };
        let (work, room) = (Condvar::new(), Condvar::new());
        Shared { dir, key, clock, is_durable, state: Mutex::new(state), work, room }
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.is_durable
    }

    /// A panic elsewhere must not silence the record: the chain only changes after a line is whole.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a record, or queues it: `rest` is all but its beginning. Gives the time in it.
    pub(crate) fn append(&self, kind: RecordKind, rest: &str) -> (Timestamp, Line) {
        let is_full = |state: &mut State| state.queue.n_bytes() >= MOST_QUEUED;
        let mut state = self.room.wait_while(self.lock(), is_full).unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that times do not run backwards within a segment.
        let time = self.clock.now();
        if let State { chain: Some(chain), queue, unsealed_since, .. } = &mut *state
            && !self.is_durable
            && queue.len() == 0
            && chain.is_usable()
        {
            let written = chain.write(|lines| lines.add(time, kind, rest));
            if unsealed_since.is_none() {
                *unsealed_since = Some(time);
                self.work.notify_one();
            }
            return (time, Line::Written(written));
        }
        let line = state.queue.push(time, kind, rest);
        if state.queue.len() == 1 {
            self.work.notify_one();
        }
        (time, line)
    }

    /// Returns when everything written so far is synced and signed.
    pub(crate) fn seal(&self) -> Result<(), AuditError> {
        let mut state = self.lock();
        if let State { chain: Some(chain), queue, .. } = &*state
            && queue.len() == 0
            && (chain.lost.is_some() || chain.n_sealed == chain.segment.tip.count)
        {
            return chain.complete();
        }
        let group = Arc::clone(state.sealing.get_or_insert_default());
        drop(state);
        self.work.notify_one();
        group.wait()
    }

    /// There is more to do for the thread than records.
    pub(crate) fn expect_more(&self) {
        self.lock().more = true;
        self.work.notify_one();
    }

    pub(crate) fn stop(&self) {
        self.lock().stop = true;
        self.work.notify_one();
    }

    /// The thread. It sleeps while there is nothing to do, and ends when everything is written and
    /// signed.
    pub(crate) fn run(&self, do_more: impl Fn()) {
        let is_called = |state: &State| state.stop || state.sealing.is_some() || state.queue.len() > 0;
        loop {
            let idle = |state: &mut State| !is_called(state) && state.unsealed_since.is_none() && !state.more;
            let state = self.work.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
            let gathering = self.work.wait_timeout_while(state, GATHER, |state| !is_called(state));
            let (mut state, waited) = gathering.unwrap_or_else(PoisonError::into_inner);
            let now = self.clock.now();
            let is_long_ago =
                |since| now < since || u128::from(now.millis_since(since)) >= GATHER.as_millis();
            let (stop, sealing) = (state.stop, state.sealing.take());
            let is_due = stop || waited.timed_out() || state.unsealed_since.is_some_and(is_long_ago);
            let more = is_due && std::mem::take(&mut state.more);
            drop(state);
            self.commit();
            if more {
                let _ = catch_unwind(AssertUnwindSafe(&do_more));
            }
            if is_due || sealing.is_some() {
                let sealed = self.seal_now();
                // Without anybody who asks, a failure is kept in the chain, and the next record
                // goes elsewhere.
                sealing.inspect(|group| group.answer(sealed.map(|()| Vec::new())));
            }
            if stop {
                return;
            }
        }
    }

    /// Writes what is queued, in a durable log to the disk, and answers everybody.
    fn commit(&self) {
        let mut state = self.lock();
        let Some(first) = state.queue.records.first().map(|record| record.time) else { return };
        let Some(mut chain) = state.chain.take() else { return };
        drop(state);
        let ready = if chain.is_usable() { Ok(()) } else { attempt(|| self.exchange(&mut chain, first)) };
        let mut state = self.lock();
        let queue = std::mem::take(&mut state.queue);
        self.room.notify_all();
        // Where everybody writes for itself, the lock is kept, so that nobody queues behind these.
        let kept = (!self.is_durable).then_some(state);
        let written = ready.and_then(|()| self.write(&mut chain, &queue));
        let mut state = kept.unwrap_or_else(|| self.lock());
        state.unsealed_since.get_or_insert(first);
        chain.is_missing_one = written.is_err();
        state.chain = Some(chain);
        drop(state);
        queue.group.answer(written);
    }

    fn write(&self, chain: &mut Chain, queue: &Queue) -> Result<Vec<Place>, AuditError> {
        let places = chain.write(|lines| {
            let mut start = 0;
            let place = |record: &Queued| {
                let rest = queue.text.get(start..record.end).unwrap_or_default();
                start = record.end;
                lines.add(record.time, record.kind, rest)
            };
            queue.records.iter().map(place).collect()
        })?;
        if self.is_durable {
            attempt(|| sync_linked(&*chain.segment.sink, &chain.segment.path))
                .inspect_err(|cause| chain.give_up(cause))?;
        }
        Ok(places)
    }

    /// Syncs and signs what is in the file, without holding up those who write on.
    fn seal_now(&self) -> Result<(), AuditError> {
        let mut state = self.lock();
        state.unsealed_since = None;
        let Some(chain) = &state.chain else { return Ok(()) };
        if chain.lost.is_some() || chain.n_sealed == chain.segment.tip.count {
            return chain.complete();
        }
        let Segment { sink, name, path, tip, .. } = &chain.segment;
        let (sink, name, path, tip) = (Arc::clone(sink), name.clone(), path.clone(), *tip);
        let complete = chain.complete();
        drop(state);
        let synced = attempt(|| sync_linked(&*sink, &path));
        let headed = synced.is_ok().then(|| attempt(|| self.write_head(&name, tip)));
        if let Some(chain) = &mut self.lock().chain {
            match (&synced, &headed) {
                (Err(cause), _) => chain.give_up(cause),
                (Ok(()), Some(Ok(()))) => chain.n_sealed = tip.count,
                (Ok(()), Some(Err(_)) | None) => {}
            }
        }
        synced.and(headed.unwrap_or(Ok(()))).and(complete)
    }

    fn write_head(&self, name: &str, tip: Tip) -> Result<(), AuditError> {
        segment::write_head(&self.dir, name, tip, self.clock.now(), &self.key)
    }

    /// Exchanges a full or lost segment for a new one. Never for an idle old one: a call's outcome
    /// then always stands behind its intent in the order of the registry.
    fn exchange(&self, chain: &mut Chain, first: Timestamp) -> Result<(), AuditError> {
        if chain.lost.is_none() {
            match attempt(|| sync_linked(&*chain.segment.sink, &chain.segment.path)) {
                // One that cannot be written is tried again.
                Ok(()) => self.write_head(&chain.segment.name, chain.segment.tip)?,
                Err(cause) => chain.give_up(&cause),
            }
        }
        let now = self.clock.now();
        let mut registry = Registry::open(&self.dir, now, Founding::Refused)?;
        if registry.key().verifying_key() != self.key.verifying_key() {
            return Err(AuditError::broken(&self.dir, "the record was exchanged for another"));
        }
        let segment = Segment::make(&self.dir, &mut registry, now)?;
        let old = std::mem::replace(&mut chain.segment, segment);
        chain.n_sealed = 0;
        if let Some(why) = chain.lost.take() {
            let message = format!("segment {} was given up: {why}", old.name);
            let mut rest = String::new();
            line::event(&mut rest, &EventLine::own(EventKind::SegmentLost, Severity::Critical, &message));
            let _place = chain.write(|lines| lines.add(first, RecordKind::Event, &rest))?;
        }
        Ok(())
    }
}

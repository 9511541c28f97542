//! Proof that a line is on record, and the wait for it. Only the log makes one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::AuditError;
use crate::chain::Hash;

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// In its segment, from one.
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
}

/// What is told beside the place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    pub(crate) warning: Option<String>,
    pub(crate) alerts: Vec<String>,
}

/// A written outcome or event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Receipt {
    place: Place,
    beside: Beside,
}

impl Receipt {
    /// The place of the line in its segment, from one.
    pub fn seq(&self) -> u64 {
        self.place.seq
    }

    /// SHA-256 of the line, in hexadecimal.
    pub fn hash(&self) -> String {
        self.place.hash.to_hex()
    }

    /// What went wrong beside the record itself: the mirror, the security stream or the alert rules.
    pub fn warning(&self) -> Option<&str> {
        self.beside.warning.as_deref()
    }

    /// The names of the alert rules that this line set off.
    pub fn alerts(&self) -> &[String] {
        &self.beside.alerts
    }
}

/// A written intent: what hands are given out for. Neither `Clone` nor constructible elsewhere.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct IntentReceipt {
    place: Place,
}

impl IntentReceipt {
    pub fn seq(&self) -> u64 {
        self.place.seq
    }

    pub fn hash(&self) -> String {
        self.place.hash.to_hex()
    }
}

/// A line on its way to its file. It is written whether or not anybody waits for it; whoever waits
/// gets the receipt, or learns that the line may be lost.
#[derive(Debug)]
#[must_use]
pub struct Recording<T> {
    /// Taken when it is answered.
    line: Option<Line>,
    beside: Beside,
    prove: fn(Place, Beside) -> T,
}

/// What became of a line so far.
#[derive(Debug)]
pub(crate) enum Line {
    Written(Result<Place, AuditError>),
    /// Which of its group it is.
    Queued(Arc<Group>, usize),
}

impl<T> Recording<T> {
    /// Holds this thread until the line is in its file, and in a durable log on the disk.
    pub fn wait(mut self) -> Result<T, AuditError> {
        if let Some(Line::Queued(group, _)) = &self.line {
            group.done.wait();
        }
        self.answer().unwrap_or(Err(AuditError::WriterPanicked))
    }

    /// `None` while nothing is known, and after it was answered.
    fn answer(&mut self) -> Option<Result<T, AuditError>> {
        let placed = match self.line.take()? {
            Line::Written(placed) => placed,
            Line::Queued(group, index) => match group.done.get() {
                None => {
                    self.line = Some(Line::Queued(group, index));
                    return None;
                }
                Some(Ok(places)) => places.get(index).copied().ok_or(AuditError::WriterPanicked),
                Some(Err(cause)) => Err(cause.again()),
            },
        };
        Some(placed.map(|place| (self.prove)(place, std::mem::take(&mut self.beside))))
    }
}

impl Recording<IntentReceipt> {
    pub(crate) fn of_intent(line: Line) -> Recording<IntentReceipt> {
        let prove = |place, _| IntentReceipt { place };
        Recording { line: Some(line), beside: Beside::default(), prove }
    }
}

impl Recording<Receipt> {
    pub(crate) fn new(line: Line, beside: Beside) -> Recording<Receipt> {
        Recording { line: Some(line), beside, prove: |place, beside| Receipt { place, beside } }
    }

    /// As the receipt's, known at once.
    pub fn alerts(&self) -> &[String] {
        &self.beside.alerts
    }
}

impl<T> Future for Recording<T> {
    type Output = Result<T, AuditError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(Line::Queued(group, index)) = &self.line {
            group.wake_when_done(*index, context.waker());
        }
        self.answer().map_or(Poll::Pending, Poll::Ready)
    }
}

/// Those who are answered together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    done: OnceLock<Result<Vec<Place>, AuditError>>,
    /// By place in the group.
    wakers: Mutex<Vec<Option<Waker>>>,
}

impl Group {
    /// Answers everybody, in the order in which they came. Only the first answer counts.
    pub(crate) fn answer(&self, result: Result<Vec<Place>, AuditError>) {
        let _ = self.done.set(result);
        let wakers = std::mem::take(&mut *self.wakers.lock().unwrap_or_else(PoisonError::into_inner));
        for waker in wakers.into_iter().flatten() {
            // The others are woken all the same.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }

    pub(crate) fn wait(&self) -> Result<(), AuditError> {
        self.done.wait().as_ref().map_or_else(|cause| Err(cause.again()), |_| Ok(()))
    }

    fn wake_when_done(&self, index: usize, waker: &Waker) {
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        // INVARIANT: the answer is there before the wakers are taken, so whoever comes too late
        // sees it.
        if self.done.get().is_some() {
            return;
        }
        if wakers.len() <= index {
            wakers.resize(index + 1, None);
        }
        if let Some(place) = wakers.get_mut(index) {
            *place = Some(waker.clone());
        }
    }
}

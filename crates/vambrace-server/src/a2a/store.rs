//! Tasks, each with its owner. Bounded in number, size and age; time is an argument. Whoever is not the owner of
//! a task finds nothing: every way from outside asks for the owner first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::a2a::{
    Artifact, Message, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use serde_json::json;
use tokio::sync::{Semaphore, broadcast};
use vambrace_audit::rfc3339;
use vambrace_runtime::Leash;
use vambrace_types::{Timestamp, credential_of};

use super::message::Wanted;
use super::push::Push;

/// How many tasks are kept, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) per_owner: usize,
    pub(super) live_per_owner: usize,
    pub(super) in_all: usize,
    pub(super) bytes_per_owner: usize,
    pub(super) bytes_in_all: usize,
    pub(super) life: Duration,
}

pub(super) const BOUNDS: Bounds = Bounds {
    // LIMIT: of a caller with more, the oldest that is over gives way, and the guide says so.
    per_owner: 1024,
    live_per_owner: 64,
    in_all: 8192,
    bytes_per_owner: 16 << 20,
    bytes_in_all: 64 << 20,
    life: Duration::from_secs(3600),
};

/// LIMIT: a task that waits for a person is asked about at most so often.
const MOST_TURNS: usize = 16;
/// LIMIT: longer messages are not kept in a task's history.
const LARGEST_MESSAGE: usize = 64 << 10;
/// LIMIT: addresses for the news of one task.
const MOST_PUSHES: usize = 8;
/// A run has four events; who lags behind more of them misses the oldest.
const MOST_NEWS: usize = 16;
/// Deliveries of news under way at once; further ones are dropped.
const MOST_DELIVERIES: usize = 64;

pub(super) type News = Arc<StreamResponse>;

pub(super) struct Desk {
    tasks: Mutex<Tasks>,
    bounds: Bounds,
    pub(super) deliveries: Arc<Semaphore>,
}

#[derive(Default)]
struct Tasks {
    kept: BTreeMap<String, Kept>,
    /// Grows with every change, so that changes have an order.
    n_changes: u64,
}

/// A task as it is kept.
pub(super) struct Kept {
    owner: String,
    pub(super) task: Task,
    /// The call it is about; made again when a person has answered.
    pub(super) wanted: Option<Wanted>,
    pub(super) leash: Leash,
    pub(super) pushes: Vec<Push>,
    /// Gone when the task is over.
    news: Option<broadcast::Sender<News>>,
    touched: Duration,
    pub(super) change: u64,
    n_turns: usize,
    n_bytes: usize,
}

/// Which part of an artifact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Whole,
    First,
    Last,
}

/// Why there is no room for a further task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    Number,
    /// What is at work is not dropped for something new.
    Bytes,
}

/// Why a message cannot go on with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unable {
    OtherContext,
    Over,
    Working,
    TooOften,
    /// Its message does not fit beside what is kept already.
    Full,
}

/// A task that was begun or goes on: how it looks, and what happens to it from now on.
pub(super) struct Begun {
    pub(super) task: Task,
    pub(super) news: broadcast::Receiver<News>,
    pub(super) leash: Leash,
    pub(super) wanted: Option<Wanted>,
}

/// Where a task has stopped, and whom to tell.
pub(super) struct Settled {
    pub(super) task: Task,
    pub(super) pushes: Vec<Push>,
}

pub(super) fn is_live(state: &TaskState) -> bool {
    matches!(state, TaskState::Submitted | TaskState::Working)
}

pub(super) fn status(state: TaskState, message: Option<Message>, now: Timestamp) -> TaskStatus {
    TaskStatus { state, message, timestamp: serde_json::from_value(json!(rfc3339(now))).ok() }
}

fn size_of(value: &impl serde::Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

impl Desk {
    pub(super) fn new(bounds: Bounds) -> Desk {
        Desk { tasks: Mutex::default(), bounds, deliveries: Arc::new(Semaphore::new(MOST_DELIVERIES)) }
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open(
        &self,
        owner: &str,
        mut task: Task,
        wanted: Option<Wanted>,
        pushes: Vec<Push>,
        now: Duration,
    ) -> Result<Begun, Full> {
        let mut tasks = self.tasks();
        tasks.sweep(now, self.bounds.life);
        keep_short(task.history.as_mut());
        let n_bytes = weigh(&task, wanted.as_ref(), &pushes);
        tasks.make_room(owner, n_bytes, self.bounds)?;
        let (sender, news) = broadcast::channel(MOST_NEWS);
        let leash = Leash::default();
        let begun = Begun { task: task.clone(), news, leash: leash.clone(), wanted: wanted.clone() };
        let change = tasks.next_change();
        let kept = Kept {
            owner: owner.to_owned(),
            n_bytes,
            task,
            wanted,
            leash,
            pushes,
            news: Some(sender),
            touched: now,
            change,
            n_turns: 1,
        };
        tasks.kept.insert(begun.task.id.clone(), kept);
        Ok(begun)
    }

    /// A further message for a task that waits. `None`: there is no such task for this owner.
    pub(super) fn go_on(
        &self,
        owner: &str,
        message: Message,
        wanted: Option<Wanted>,
        now: (Duration, Timestamp),
    ) -> Option<Result<Begun, Unable>> {
        let id = message.task_id.clone().unwrap_or_default();
        let mut tasks = self.tasks();
        tasks.sweep(now.0, self.bounds.life);
        let kept = tasks.kept.get(&id).filter(|kept| kept.owner == owner)?;
        if let Err(unable) = kept.may_take(&message) {
            return Some(Err(unable));
        }
        let more = size_of(&message) + wanted.as_ref().map_or(0, Wanted::n_bytes);
        if tasks.make_bytes(owner, Some(&id), more, self.bounds).is_err() {
            return Some(Err(Unable::Full));
        }
        let change = tasks.next_change();
        let kept = tasks.kept.get_mut(&id)?;
        Some({
            kept.n_turns += 1;
            kept.change = change;
            kept.touched = now.0;
            let asked = kept.task.status.message.take();
            kept.task.history.get_or_insert_default().extend(asked.into_iter().chain([message]));
            keep_short(kept.task.history.as_mut());
            kept.task.status = status(TaskState::Submitted, None, now.1);
            kept.leash = Leash::default();
            kept.wanted = wanted.or_else(|| kept.wanted.take());
            kept.n_bytes = kept.weigh();
            let (sender, news) = match kept.news.take() {
                Some(sender) => {
                    let news = sender.subscribe();
                    (sender, news)
                }
                None => broadcast::channel(MOST_NEWS),
            };
            kept.news = Some(sender);
            Ok(Begun {
                task: kept.task.clone(),
                news,
                leash: kept.leash.clone(),
                wanted: kept.wanted.clone(),
            })
        })
    }

    /// INVARIANT: the only way from outside to a task; the owner is asked for first. THREAT: P13.
    pub(super) fn of<T>(
        &self,
        owner: &str,
        id: &str,
        now: Duration,
        look: impl FnOnce(&mut Kept, u64) -> T,
    ) -> Option<T> {
        let mut tasks = self.tasks();
        tasks.sweep(now, self.bounds.life);
        let change = tasks.next_change();
        let kept = tasks.kept.get_mut(id).filter(|kept| kept.owner == owner)?;
        Some(look(kept, change))
    }

    pub(super) fn view(&self, owner: &str, id: &str, now: Duration) -> Option<Task> {
        self.of(owner, id, now, |kept, _| kept.task.clone())
    }

    /// The owner's tasks, the one that changed last first.
    pub(super) fn all_of<T>(
        &self,
        owner: &str,
        now: Duration,
        pick: impl Fn(&Kept) -> Option<T>,
    ) -> Vec<(u64, T)> {
        let mut tasks = self.tasks();
        tasks.sweep(now, self.bounds.life);
        let own = tasks.kept.values().filter(|kept| kept.owner == owner);
        let mut found: Vec<(u64, T)> = own.filter_map(|kept| Some((kept.change, pick(kept)?))).collect();
        found.sort_by_key(|(change, _)| std::cmp::Reverse(*change));
        found
    }

    /// For the work itself, which knows its task. A task that is over stays as it is.
    pub(super) fn change(
        &self,
        id: &str,
        state: TaskState,
        message: Option<Message>,
        now: (Duration, Timestamp),
    ) -> Option<Settled> {
        let mut tasks = self.tasks();
        let change = tasks.next_change();
        let kept = tasks.kept.get_mut(id)?;
        kept.change_to(state, message, change, now)
    }

    pub(super) fn add(&self, id: &str, artifact: Artifact, piece: Piece) {
        let mut tasks = self.tasks();
        let Some(kept) = tasks.kept.get_mut(id) else { return };
        let (append, last_chunk) = match piece {
            Piece::Whole => (None, Some(true)),
            Piece::First => (None, Some(false)),
            Piece::Last => (Some(true), Some(true)),
        };
        kept.tell(StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: kept.task.id.clone(),
            context_id: kept.task.context_id.clone(),
            artifact: artifact.clone(),
            append,
            last_chunk,
            metadata: None,
        }));
        let artifacts = kept.task.artifacts.get_or_insert_default();
        let before = artifacts.iter_mut().find(|old| old.artifact_id == artifact.artifact_id);
        match (before, piece) {
            (Some(before), Piece::Last) => before.parts.extend(artifact.parts),
            (Some(before), Piece::Whole | Piece::First) => *before = artifact,
            (None, Piece::Whole | Piece::First | Piece::Last) => artifacts.push(artifact),
        }
        kept.n_bytes = kept.weigh();
        let owner = kept.owner.clone();
        tasks.shrink(&owner, id, self.bounds);
    }
}

fn weigh(task: &Task, wanted: Option<&Wanted>, pushes: &[Push]) -> usize {
    size_of(task) + wanted.map_or(0, Wanted::n_bytes) + pushes.iter().map(Push::n_bytes).sum::<usize>()
}

/// Histories hold what fits.
fn keep_short(history: Option<&mut Vec<Message>>) {
    if let Some(history) = history {
        history.retain(|message| size_of(message) <= LARGEST_MESSAGE);
    }
}

impl Kept {
    pub(super) fn listen(&self) -> Option<broadcast::Receiver<News>> {
        self.news.as_ref().map(broadcast::Sender::subscribe)
    }

    fn weigh(&self) -> usize {
        weigh(&self.task, self.wanted.as_ref(), &self.pushes)
    }

    fn may_take(&self, message: &Message) -> Result<(), Unable> {
        if message.context_id.as_ref().is_some_and(|context| *context != self.task.context_id) {
            return Err(Unable::OtherContext);
        }
        match self.task.status.state {
            TaskState::Submitted | TaskState::Working => return Err(Unable::Working),
            TaskState::InputRequired | TaskState::AuthRequired => {}
            TaskState::Completed
            | TaskState::Failed
            | TaskState::Canceled
            | TaskState::Rejected
            | TaskState::Unspecified => return Err(Unable::Over),
        }
        if self.n_turns >= MOST_TURNS { Err(Unable::TooOften) } else { Ok(()) }
    }

    /// Whether there was room for it.
    pub(super) fn add_push(&mut self, push: Push) -> bool {
        self.pushes.retain(|old| old.id != push.id);
        let fits = self.pushes.len() < MOST_PUSHES;
        if fits {
            self.pushes.push(push);
        }
        self.n_bytes = self.weigh();
        fits
    }

    fn tell(&self, news: StreamResponse) {
        // Nobody may be listening.
        let _ = self.news.as_ref().map(|sender| sender.send(Arc::new(news)));
    }

    pub(super) fn change_to(
        &mut self,
        state: TaskState,
        message: Option<Message>,
        change: u64,
        now: (Duration, Timestamp),
    ) -> Option<Settled> {
        if self.task.status.state.is_terminal() {
            return None;
        }
        self.touched = now.0;
        self.change = change;
        self.task.status = status(state, message, now.1);
        self.tell(StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task.id.clone(),
            context_id: self.task.context_id.clone(),
            status: self.task.status.clone(),
            metadata: None,
        }));
        if is_live(&self.task.status.state) {
            return None;
        }
        if self.task.status.state.is_terminal() {
            self.news = None;
            // Its arguments may be as large as a request.
            self.wanted = None;
        }
        self.n_bytes = self.weigh();
        Some(Settled { task: self.task.clone(), pushes: self.pushes.clone() })
    }
}

impl Tasks {
    fn next_change(&mut self) -> u64 {
        self.n_changes += 1;
        self.n_changes
    }

    fn sweep(&mut self, now: Duration, life: Duration) {
        self.kept
            .retain(|_, kept| is_live(&kept.task.status.state) || now.saturating_sub(kept.touched) < life);
    }

    fn make_room(&mut self, owner: &str, n_bytes: usize, bounds: Bounds) -> Result<(), Full> {
        let own = || self.kept.values().filter(|kept| kept.owner == owner);
        if own().filter(|kept| is_live(&kept.task.status.state)).count() >= bounds.live_per_owner {
            return Err(Full::Number);
        }
        if own().count() >= bounds.per_owner && !self.drop_oldest(owner, None) {
            return Err(Full::Number);
        }
        // THREAT: P12, who has the most gives way: one caller's flood does not take what others have.
        if self.kept.len() >= bounds.in_all {
            let owner = self.largest(|_| 1).ok_or(Full::Number)?;
            if !self.drop_oldest(&owner, None) {
                return Err(Full::Number);
            }
        }
        self.make_bytes(owner, None, n_bytes, bounds)
    }

    /// Room for so many more bytes of this owner. What is over gives way, oldest first; what is at work does not.
    fn make_bytes(
        &mut self,
        owner: &str,
        except: Option<&str>,
        more: usize,
        bounds: Bounds,
    ) -> Result<(), Full> {
        // LIMIT: what would never fit drops nothing.
        if more > bounds.bytes_per_owner {
            return Err(Full::Bytes);
        }
        let held = |tasks: &Tasks, of: Option<&str>| -> usize {
            let counted = tasks.kept.values().filter(|kept| of.is_none_or(|owner| kept.owner == owner));
            counted.map(|kept| kept.n_bytes).sum()
        };
        while held(self, Some(owner)) + more > bounds.bytes_per_owner {
            if !self.drop_oldest(owner, except) {
                return Err(Full::Bytes);
            }
        }
        while held(self, None) + more > bounds.bytes_in_all {
            let largest = self.largest(|kept| kept.n_bytes).ok_or(Full::Bytes)?;
            if !self.drop_oldest(&largest, except) {
                return Err(Full::Bytes);
            }
        }
        Ok(())
    }

    fn shrink(&mut self, owner: &str, fresh: &str, bounds: Bounds) {
        let own = |tasks: &Tasks| -> usize {
            tasks.kept.values().filter(|kept| kept.owner == owner).map(|kept| kept.n_bytes).sum()
        };
        while own(self) > bounds.bytes_per_owner && self.drop_oldest(owner, Some(fresh)) {}
        while self.kept.values().map(|kept| kept.n_bytes).sum::<usize>() > bounds.bytes_in_all {
            let Some(owner) = self.largest(|kept| kept.n_bytes) else { return };
            if !self.drop_oldest(&owner, Some(fresh)) {
                return;
            }
        }
    }

    /// Who has the most, of those behind the credential that has the most: whoever may say for whom it calls could
    /// otherwise divide itself into many small ones.
    fn largest(&self, weight: impl Fn(&Kept) -> usize) -> Option<String> {
        let mut credentials: BTreeMap<&str, usize> = BTreeMap::new();
        let mut owners: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
        for kept in self.kept.values() {
            *credentials.entry(credential_of(&kept.owner)).or_default() += weight(kept);
            let (held, gives) = owners.entry(&kept.owner).or_default();
            *held += weight(kept);
            *gives |= !is_live(&kept.task.status.state);
        }
        // Only those who have something that may go: what is at work does not.
        let givers = owners.into_iter().filter(|(_, (_, gives))| *gives);
        let largest = givers.max_by_key(|(owner, (held, _))| (credentials.get(credential_of(owner)), *held));
        largest.map(|(owner, _)| owner.to_owned())
    }

    /// The owner's oldest task that is not at work.
    fn drop_oldest(&mut self, owner: &str, except: Option<&str>) -> bool {
        let idle = self.kept.iter().filter(|(id, kept)| {
            kept.owner == owner && !is_live(&kept.task.status.state) && Some(id.as_str()) != except
        });
        let oldest = idle.min_by_key(|(_, kept)| kept.change).map(|(id, _)| id.clone());
        oldest.and_then(|id| self.kept.remove(&id)).is_some()
    }
}

#[cfg(test)]
mod tests;

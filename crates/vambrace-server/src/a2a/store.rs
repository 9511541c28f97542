//! What happens to tasks. A store keeps them, each with its owner; whoever is not the owner of a
//! task finds nothing. Time is an argument.

use std::sync::Arc;
use std::time::Duration;

use ::a2a::{
    Artifact, Message, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use serde_json::json;
use tokio::sync::{Semaphore, broadcast};
use vambrace_audit::rfc3339;
use vambrace_state::{
    Edit, Followed, Full, News, Push, Room, StateError, TIMEOUT, TaskRecord, TaskStore, Wanted, size_of,
    within,
};
use vambrace_types::Timestamp;

/// LIMIT: a task that waits for a person is asked about at most so often.
const MOST_TURNS: usize = 16;
/// LIMIT: longer messages are not kept in a task's history.
const LARGEST_MESSAGE: usize = 64 << 10;
/// LIMIT: addresses for the news of one task.
const MOST_PUSHES: usize = 8;
/// Deliveries of news under way at once; further ones are dropped.
const MOST_DELIVERIES: usize = 64;

pub(super) struct Desk {
    store: Arc<dyn TaskStore>,
    pub(super) deliveries: Arc<Semaphore>,
}

/// Which part of an artifact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Whole,
    First,
    Last,
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
    pub(super) record: Arc<TaskRecord>,
    pub(super) news: broadcast::Receiver<News>,
}

/// What became of the wish to cancel a task.
pub(super) enum Stopping {
    Over,
    /// Whoever works on it was told; the channel closes when it is over.
    Told(Option<broadcast::Receiver<News>>),
    /// Nobody worked on it.
    Done(Settled),
}

/// Where a task has stopped, and whom to tell.
pub(super) struct Settled(pub(super) Arc<TaskRecord>);

/// By the clock of the limits and by that of people.
pub(super) type Now = (Duration, Timestamp);

pub(super) fn status(state: TaskState, message: Option<Message>, now: Timestamp) -> TaskStatus {
    TaskStatus { state, message, timestamp: serde_json::from_value(json!(rfc3339(now))).ok() }
}

impl Desk {
    pub(super) fn new(store: Arc<dyn TaskStore>) -> Desk {
        Desk { store, deliveries: Arc::new(Semaphore::new(MOST_DELIVERIES)) }
    }

    pub(super) async fn open(
        &self,
        owner: &str,
        mut task: Task,
        wanted: Option<Wanted>,
        pushes: Vec<Push>,
        now: Duration,
    ) -> Result<Result<Begun, Full>, StateError> {
        keep_short(task.history.as_mut());
        let record = TaskRecord { owner: owner.to_owned(), task, wanted, pushes, n_turns: 1 };
        let news = within(TIMEOUT, self.store.open(record.clone(), now)).await?;
        Ok(news.map(|news| Begun { record: Arc::new(record), news }))
    }

    /// A further message for a task that waits. `None`: there is no such task for this owner.
    pub(super) async fn go_on(
        &self,
        owner: &str,
        message: Message,
        wanted: Option<Wanted>,
        now: Now,
    ) -> Result<Option<Result<Begun, Unable>>, StateError> {
        let id = message.task_id.clone().unwrap_or_default();
        // Before it goes on, so that nothing of it is missed.
        let Some(followed) = self.follow(owner, &id, now.0).await? else { return Ok(None) };
        let more = size_of(&message) + wanted.as_ref().map_or(0, Wanted::n_bytes);
        let edited = self
            .edit((owner, &id), Room::Demanded(more), now.0, |record| match may_take(record, &message) {
                Err(unable) => (None, Err(unable)),
                Ok(()) => {
                    take(record, message.clone(), wanted.clone(), now.1);
                    (Some(Edit { is_step: true, news: None }), Ok(()))
                }
            })
            .await?;
        Ok(edited.map(|edited| {
            let (record, taken) = edited.map_err(|_| Unable::Full)?;
            taken?;
            Ok(Begun { record, news: followed.news.ok_or(Unable::Over)? })
        }))
    }

    pub(super) async fn view(
        &self,
        owner: &str,
        id: &str,
        now: Duration,
    ) -> Result<Option<Arc<TaskRecord>>, StateError> {
        within(TIMEOUT, self.store.view(owner, id, now)).await
    }

    pub(super) async fn follow(
        &self,
        owner: &str,
        id: &str,
        now: Duration,
    ) -> Result<Option<Followed>, StateError> {
        within(TIMEOUT, self.store.follow(owner, id, now)).await
    }

    /// The owner's tasks, the one that changed last first.
    pub(super) async fn all_of(
        &self,
        owner: &str,
        now: Duration,
    ) -> Result<Vec<(u64, Arc<TaskRecord>)>, StateError> {
        within(TIMEOUT, self.store.all_of(owner, now)).await
    }

    /// A task that is over stays as it is.
    pub(super) async fn change(
        &self,
        (owner, id): (&str, &str),
        state: TaskState,
        message: Option<Message>,
        now: Now,
    ) -> Result<Option<Settled>, StateError> {
        let edited = self
            .edit((owner, id), Room::Granted, now.0, |record| {
                let edit = step_to(record, state.clone(), message.clone(), now.1);
                let is_settled = edit.is_some() && !record.is_live();
                (edit, is_settled)
            })
            .await?;
        let edited = edited.and_then(Result::ok);
        Ok(edited.filter(|(_, is_settled)| *is_settled).map(|(record, _)| Settled(record)))
    }

    pub(super) async fn add(
        &self,
        (owner, id): (&str, &str),
        artifact: Artifact,
        piece: Piece,
        now: Duration,
    ) -> Result<(), StateError> {
        let add = |record: &mut TaskRecord| (Some(added(record, artifact.clone(), piece)), ());
        self.edit((owner, id), Room::Granted, now, add).await.map(drop)
    }

    /// Whether there was room for it. `None`: there is no such task for this owner.
    pub(super) async fn add_push(
        &self,
        (owner, id): (&str, &str),
        push: Push,
        now: Duration,
    ) -> Result<Option<bool>, StateError> {
        let edited = self
            .edit((owner, id), Room::Granted, now, |record| {
                record.pushes.retain(|old| old.id != push.id);
                let fits = record.pushes.len() < MOST_PUSHES;
                if fits {
                    record.pushes.push(push.clone());
                }
                (Some(Edit::default()), fits)
            })
            .await?;
        Ok(edited.and_then(Result::ok).map(|(_, fits)| fits))
    }

    /// `None`: there is no such task for this owner.
    pub(super) async fn delete_push(
        &self,
        (owner, id): (&str, &str),
        push: &str,
        now: Duration,
    ) -> Result<Option<()>, StateError> {
        let edited = self
            .edit((owner, id), Room::Granted, now, |record| {
                record.pushes.retain(|old| old.id != push);
                (Some(Edit::default()), ())
            })
            .await?;
        Ok(edited.map(drop))
    }

    /// `None`: there is no such task for this owner.
    pub(super) async fn cancel(
        &self,
        (owner, id): (&str, &str),
        now: Now,
    ) -> Result<Option<Stopping>, StateError> {
        enum Was {
            Over,
            Live,
            Idle,
        }
        let Some(followed) = self.follow(owner, id, now.0).await? else { return Ok(None) };
        let edited = self
            .edit((owner, id), Room::Granted, now.0, |record| {
                if record.is_over() {
                    (None, Was::Over)
                } else if record.is_live() {
                    (Some(Edit { is_step: false, news: Some(News::Stop) }), Was::Live)
                } else {
                    (step_to(record, TaskState::Canceled, None, now.1), Was::Idle)
                }
            })
            .await?;
        Ok(edited.and_then(Result::ok).map(|(record, was)| match was {
            Was::Over => Stopping::Over,
            Was::Live => Stopping::Told(followed.news),
            Was::Idle => Stopping::Done(Settled(record)),
        }))
    }

    /// Changes a record, and says what `edit` said when it was kept.
    async fn edit<T: Send>(
        &self,
        (owner, id): (&str, &str),
        room: Room,
        now: Duration,
        mut edit: impl FnMut(&mut TaskRecord) -> (Option<Edit>, T) + Send,
    ) -> Result<Option<Result<(Arc<TaskRecord>, T), Full>>, StateError> {
        let mut said = None;
        let mut edit = |record: &mut TaskRecord| {
            let (edit, words) = edit(record);
            said = Some(words);
            edit
        };
        let changed = within(TIMEOUT, self.store.change(owner, id, room, now, &mut edit)).await?;
        Ok(changed.and_then(|changed| match (changed, said) {
            (Ok(record), Some(said)) => Some(Ok((record, said))),
            (Ok(_), None) => None,
            (Err(full), _) => Some(Err(full)),
        }))
    }
}

/// Histories hold what fits.
fn keep_short(history: Option<&mut Vec<Message>>) {
    if let Some(history) = history {
        history.retain(|message| size_of(message) <= LARGEST_MESSAGE);
    }
}

fn may_take(record: &TaskRecord, message: &Message) -> Result<(), Unable> {
    if message.context_id.as_ref().is_some_and(|context| *context != record.task.context_id) {
        return Err(Unable::OtherContext);
    }
    match record.task.status.state {
        TaskState::Submitted | TaskState::Working => return Err(Unable::Working),
        TaskState::InputRequired | TaskState::AuthRequired => {}
        TaskState::Completed
        | TaskState::Failed
        | TaskState::Canceled
        | TaskState::Rejected
        | TaskState::Unspecified => return Err(Unable::Over),
    }
    if record.n_turns >= MOST_TURNS { Err(Unable::TooOften) } else { Ok(()) }
}

fn take(record: &mut TaskRecord, message: Message, wanted: Option<Wanted>, now: Timestamp) {
    record.n_turns += 1;
    let asked = record.task.status.message.take();
    record.task.history.get_or_insert_default().extend(asked.into_iter().chain([message]));
    keep_short(record.task.history.as_mut());
    record.task.status = status(TaskState::Submitted, None, now);
    record.wanted = wanted.or_else(|| record.wanted.take());
}

fn step_to(
    record: &mut TaskRecord,
    state: TaskState,
    message: Option<Message>,
    now: Timestamp,
) -> Option<Edit> {
    if record.is_over() {
        return None;
    }
    record.task.status = status(state, message, now);
    if record.is_over() {
        // Its arguments may be as large as a request.
        record.wanted = None;
    }
    let event = StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
        task_id: record.task.id.clone(),
        context_id: record.task.context_id.clone(),
        status: record.task.status.clone(),
        metadata: None,
    });
    Some(Edit { is_step: true, news: Some(News::Event(Arc::new(event))) })
}

fn added(record: &mut TaskRecord, artifact: Artifact, piece: Piece) -> Edit {
    let (append, last_chunk) = match piece {
        Piece::Whole => (None, Some(true)),
        Piece::First => (None, Some(false)),
        Piece::Last => (Some(true), Some(true)),
    };
    let event = StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: record.task.id.clone(),
        context_id: record.task.context_id.clone(),
        artifact: artifact.clone(),
        append,
        last_chunk,
        metadata: None,
    });
    let artifacts = record.task.artifacts.get_or_insert_default();
    let before = artifacts.iter_mut().find(|old| old.artifact_id == artifact.artifact_id);
    match (before, piece) {
        (Some(before), Piece::Last) => before.parts.extend(artifact.parts),
        (Some(before), Piece::Whole | Piece::First) => *before = artifact,
        (None, Piece::Whole | Piece::First | Piece::Last) => artifacts.push(artifact),
    }
    Edit { is_step: false, news: Some(News::Event(Arc::new(event))) }
}

#[cfg(test)]
mod tests;

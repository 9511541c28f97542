//! Tasks of A2A, each with its owner. What may happen to a task is the server's to say; a store
//! keeps it, within bounds of number, size and age, and tells those who follow it.

mod local;

use std::sync::Arc;
use std::time::Duration;

use a2a::{StreamResponse, Task, TaskState};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::broadcast;
use vambrace_auth::Moment;
use vambrace_types::Secret;

use crate::Answer;

pub use local::LocalTasks;

/// How many tasks are kept, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct TaskBounds {
    pub per_owner: usize,
    pub live_per_owner: usize,
    pub in_all: usize,
    pub bytes_per_owner: usize,
    pub bytes_in_all: usize,
    /// Of one that is not at work, since its last step.
    pub life: Duration,
}

pub const TASK_BOUNDS: TaskBounds = TaskBounds {
    // LIMIT: of a caller with more, the oldest that is over gives way, and the guide says so.
    per_owner: 1024,
    live_per_owner: 64,
    in_all: 8192,
    bytes_per_owner: 16 << 20,
    bytes_in_all: 64 << 20,
    life: Duration::from_secs(3600),
};

/// A task as it is kept.
#[derive(Debug, Clone)]
pub struct TaskRecord {
    pub owner: String,
    pub task: Task,
    /// The call it is about; made again when a person has answered.
    pub wanted: Option<Wanted>,
    pub pushes: Vec<Push>,
    /// How often its owner has sent a message to it.
    pub n_turns: usize,
}

/// A call as a message words it.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    pub tool: String,
    pub arguments: Value,
    pub dry_run: bool,
}

/// Where one task's news go.
#[derive(Debug, Clone)]
pub struct Push {
    pub id: String,
    pub url: String,
    pub token: Option<Secret<String>>,
    pub authentication: Option<Authentication>,
    /// The shapes that whoever set it understands.
    pub revision: Revision,
}

#[derive(Debug, Clone)]
pub struct Authentication {
    pub scheme: String,
    pub credentials: Option<Secret<String>>,
}

/// Which revision's names and shapes a request uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    V1,
    V03,
}

/// What those hear who follow a task.
#[derive(Debug, Clone)]
pub enum News {
    Event(Arc<StreamResponse>),
    /// Its owner wants its work to stop. For whoever works on it.
    Stop,
}

/// A task as it is, and what happens to it from then on: nothing in between is missed.
#[derive(Debug)]
pub struct Followed {
    pub record: Arc<TaskRecord>,
    /// `None`: it is over. The channel closes when it is.
    pub news: Option<broadcast::Receiver<News>>,
}

/// What was done to a record.
#[derive(Debug, Default)]
pub struct Edit {
    /// Whether it was a step of the task: its age starts anew, and of its owner's tasks it is the
    /// one that changed last.
    pub is_step: bool,
    pub news: Option<News>,
}

/// What gives way when an edited record is larger than before. Never what is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// So many further bytes must fit, or the record stays as it was.
    Demanded(usize),
    /// The record is kept, and others give way as far as they can.
    Granted,
}

/// Why there is no room for a further task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    Number,
    /// What is at work is not dropped for something new.
    Bytes,
}

/// INVARIANT: every function takes the owner, and finds nothing of any other. THREAT: P13.
pub trait TaskStore: Send + Sync {
    /// Keeps a new task. Must be atomic across replicas: counting, making room and keeping are one
    /// step.
    ///
    /// LIMIT: a task whose process died at work is at work for ever. One process takes its tasks
    /// along; a store that outlives it has to find them.
    fn open(&self, record: TaskRecord, now: Moment) -> Answer<'_, Result<broadcast::Receiver<News>, Full>>;

    fn view(&self, owner: &str, id: &str, now: Moment) -> Answer<'_, Option<Arc<TaskRecord>>>;

    fn follow(&self, owner: &str, id: &str, now: Moment) -> Answer<'_, Option<Followed>>;

    /// The owner's tasks, the one that changed last first, each with a number that grows with every
    /// change.
    fn all_of(&self, owner: &str, now: Moment) -> Answer<'_, Vec<(u64, Arc<TaskRecord>)>>;

    /// Changes a task and tells those who follow it. `None`: the owner has no such task. Must be
    /// atomic across replicas: no change gets lost, and what `edit` saw is what it changed. So
    /// `edit` may be run again, on what another replica has made of the record meanwhile, and does
    /// nothing but look and edit. Where it returns `None` nothing is changed.
    fn change<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        room: Room,
        now: Moment,
        edit: &'a mut (dyn FnMut(&mut TaskRecord) -> Option<Edit> + Send),
    ) -> Answer<'a, Option<Result<Arc<TaskRecord>, Full>>>;
}

impl TaskRecord {
    pub fn is_live(&self) -> bool {
        is_live(&self.task.status.state)
    }

    pub fn is_over(&self) -> bool {
        self.task.status.state.is_terminal()
    }

    fn n_bytes(&self) -> usize {
        size_of(&self.task)
            + self.wanted.as_ref().map_or(0, Wanted::n_bytes)
            + self.pushes.iter().map(Push::n_bytes).sum::<usize>()
    }
}

impl Wanted {
    pub fn n_bytes(&self) -> usize {
        self.tool.len() + self.arguments.to_string().len()
    }
}

impl Push {
    /// What it takes to keep it.
    pub fn n_bytes(&self) -> usize {
        let secret = |secret: Option<&Secret<String>>| secret.map_or(0, |secret| secret.expose().len());
        let info = self.authentication.as_ref();
        self.id.len()
            + self.url.len()
            + secret(self.token.as_ref())
            + info.map_or(0, |info| info.scheme.len() + secret(info.credentials.as_ref()))
    }
}

/// Whether it is at work.
pub fn is_live(state: &TaskState) -> bool {
    matches!(state, TaskState::Submitted | TaskState::Working)
}

/// As text.
pub fn size_of(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

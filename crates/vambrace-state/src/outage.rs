//! Stores that are out of order, for tests of what happens then.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;
use vambrace_auth::{Draw, Moment};

use crate::{
    Answer, Bucket, Edit, Followed, Full, News, RateBuckets, Room, ServerState, SessionStore, StateError,
    TaskRecord, TaskStore, TooManySessions, WrongCredentials,
};

/// Every kind of store at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// Says at once that it is away.
    Away,
    /// Never says anything.
    Silent,
}

impl Outage {
    pub const ALL: [Outage; 2] = [Outage::Away, Outage::Silent];

    /// To any question.
    pub fn answer<T: Send + 'static>(self) -> Answer<'static, T> {
        Box::pin(async move {
            match self {
                Outage::Away => Err(StateError::Away { why: "connection refused".to_owned() }),
                Outage::Silent => std::future::pending().await,
            }
        })
    }

    pub fn server_state(self) -> ServerState {
        let store = Arc::new(self);
        ServerState { rates: store.clone(), failures: store.clone(), tasks: store.clone(), sessions: store }
    }
}

impl RateBuckets for Outage {
    fn draw(&self, _: Bucket<'_>, _: Moment) -> Answer<'_, Draw> {
        self.answer()
    }
}

impl WrongCredentials for Outage {
    fn blocked(&self, _: IpAddr, _: Moment) -> Answer<'_, Option<Duration>> {
        self.answer()
    }

    fn failed(&self, _: IpAddr, _: Moment) -> Answer<'_, bool> {
        self.answer()
    }
}

impl SessionStore for Outage {
    fn open(
        &self,
        _: &Arc<str>,
        _: &str,
        _: Moment,
    ) -> Answer<'_, Result<Option<Arc<str>>, TooManySessions>> {
        self.answer()
    }

    fn has(&self, _: &str, _: &str, _: Moment) -> Answer<'_, bool> {
        self.answer()
    }

    fn last_used(&self, _: &str) -> Answer<'_, Option<Moment>> {
        self.answer()
    }

    fn end(&self, _: &str) -> Answer<'_, ()> {
        self.answer()
    }
}

impl TaskStore for Outage {
    fn open(&self, _: TaskRecord, _: Moment) -> Answer<'_, Result<broadcast::Receiver<News>, Full>> {
        self.answer()
    }

    fn view(&self, _: &str, _: &str, _: Moment) -> Answer<'_, Option<Arc<TaskRecord>>> {
        self.answer()
    }

    fn follow(&self, _: &str, _: &str, _: Moment) -> Answer<'_, Option<Followed>> {
        self.answer()
    }

    fn all_of(&self, _: &str, _: Moment) -> Answer<'_, Vec<(u64, Arc<TaskRecord>)>> {
        self.answer()
    }

    fn change<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: Room,
        _: Moment,
        _: &'a mut (dyn FnMut(&mut TaskRecord) -> Option<Edit> + Send),
    ) -> Answer<'a, Option<Result<Arc<TaskRecord>, Full>>> {
        self.answer()
    }
}

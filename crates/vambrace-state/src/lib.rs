//! What several processes may share: the traits of its stores, and those of them that keep it in
//! this process.
//!
//! Whoever uses a store does not know which one it is, and asks through [`within`]. What happens
//! when a store is away, or does not answer within [`TIMEOUT`]:
//!
//! | store | answer |
//! |---|---|
//! | [`RateBuckets`] | 503 `StateUnavailable` with `Retry-After`: nobody is served uncounted |
//! | [`WrongCredentials`] | the same: no credential is looked at, no guess is answered |
//! | [`TaskStore`] | JSON-RPC error -32052 `STATE_UNAVAILABLE`; no call is begun |
//! | [`SessionStore`] | 503 `StateUnavailable` with `Retry-After`, never 404 |
//! | `MemoryStore` (`vambrace-knowledge`) | the tool fails with `StateUnavailable` |
//!
//! What asks whether a process is well (`/health` and the like) is counted by that process alone
//! and asks no store: one that is away must not make every process look dead.
//!
//! A 404 would make a client of MCP begin a new session and lose what the old one holds. A call of
//! A2A that is under way when its store goes away is finished and on record; its caller gets the
//! error, and operators get a line. While nobody can see whether a client came back, its call is
//! not cancelled. Operators are told why a store is away; callers are not.
//!
//! A [`Moment`](vambrace_auth::Moment) counts from the start of one process. A store that several
//! share takes the time from its own clock, so that all agree, and uses what it is given for
//! nothing else than differences.

mod answer;
mod outage;
mod rate;
mod session;
mod task;

use std::sync::Arc;

use vambrace_auth::Rate;

pub use answer::{Answer, StateError, TIMEOUT, ready, within};
pub use outage::Outage;
pub use rate::{Bucket, LocalFailures, LocalRates, MOST_KEYS, RateBuckets, WrongCredentials};
pub use session::{LocalSessions, SESSION_BOUNDS, SessionBounds, SessionStore, TooManySessions};
pub use task::{
    Authentication, Edit, Followed, Full, LocalTasks, News, Push, Revision, Room, TASK_BOUNDS, TaskBounds,
    TaskRecord, TaskStore, Wanted, is_live, size_of,
};

/// The stores of a server. Memories are not among them: they belong to the tools, with and without
/// a server.
#[derive(Clone)]
pub struct ServerState {
    pub rates: Arc<dyn RateBuckets>,
    pub failures: Arc<dyn WrongCredentials>,
    pub tasks: Arc<dyn TaskStore>,
    pub sessions: Arc<dyn SessionStore>,
}

impl ServerState {
    /// Kept in this process, and gone with it.
    pub fn local(rate: Rate) -> ServerState {
        ServerState {
            rates: Arc::new(LocalRates::new(rate)),
            failures: Arc::new(LocalFailures::default()),
            tasks: Arc::new(LocalTasks::new(TASK_BOUNDS)),
            sessions: Arc::new(LocalSessions::new(SESSION_BOUNDS)),
        }
    }
}

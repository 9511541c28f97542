//! Which sessions of MCP are open, and whose they are. What happens in a session stays with the
//! process that opened it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vambrace_auth::Moment;
use vambrace_types::credential_of;

use crate::{Answer, ready};

/// Of one owner, in all, and of all for whom one credential speaks.
#[derive(Debug, Clone, Copy)]
pub struct SessionBounds {
    pub of_one: usize,
    pub in_all: usize,
    pub of_credential: usize,
}

pub const SESSION_BOUNDS: SessionBounds = SessionBounds {
    // An owner that opens more loses the one it used least: most clients never say that they are
    // done.
    of_one: 64,
    in_all: 1024,
    // THREAT: P12, whoever may name people can name any number of them.
    of_credential: 1024 / 4 * 3,
};

/// As many sessions as there may be are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManySessions;

pub trait SessionStore: Send + Sync {
    /// Notes a new session, and says which one of the same owner went for it. Must be atomic across
    /// replicas: counting and noting are one step, and one session goes for one that comes. THREAT:
    /// P13, nobody's session goes for somebody else's.
    fn open(
        &self,
        id: &Arc<str>,
        owner: &str,
        now: Moment,
    ) -> Answer<'_, Result<Option<Arc<str>>, TooManySessions>>;

    /// Whether this owner has this session, which is thereby used.
    fn has(&self, id: &str, owner: &str, now: Moment) -> Answer<'_, bool>;

    /// `None`: there is no such session.
    fn last_used(&self, id: &str) -> Answer<'_, Option<Moment>>;

    /// What is not there has ended already.
    fn end(&self, id: &str) -> Answer<'_, ()>;
}

/// The sessions of this process.
#[derive(Debug)]
pub struct LocalSessions {
    bounds: SessionBounds,
    held: Mutex<HashMap<Arc<str>, Held>>,
}

#[derive(Debug)]
struct Held {
    owner: String,
    used: Moment,
}

impl LocalSessions {
    pub fn new(bounds: SessionBounds) -> LocalSessions {
        LocalSessions { bounds, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Arc<str>, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for one more, and which session had to go for it.
    fn make_room(
        &self,
        held: &mut HashMap<Arc<str>, Held>,
        owner: &str,
    ) -> Result<Option<Arc<str>>, TooManySessions> {
        let own = held.iter().filter(|(_, held)| held.owner == owner);
        if own.clone().count() >= self.bounds.of_one {
            let oldest = own.min_by_key(|(_, held)| held.used).map(|(id, _)| Arc::clone(id));
            let oldest = oldest.ok_or(TooManySessions)?;
            held.remove(&oldest);
            return Ok(Some(oldest));
        }
        let of_credential =
            held.values().filter(|held| credential_of(&held.owner) == credential_of(owner)).count();
        if held.len() >= self.bounds.in_all || of_credential >= self.bounds.of_credential {
            return Err(TooManySessions);
        }
        Ok(None)
    }
}

impl SessionStore for LocalSessions {
    fn open(
        &self,
        id: &Arc<str>,
        owner: &str,
        now: Moment,
    ) -> Answer<'_, Result<Option<Arc<str>>, TooManySessions>> {
        let mut held = self.held();
        let room = self.make_room(&mut held, owner);
        if room.is_ok() {
            held.insert(Arc::clone(id), Held { owner: owner.to_owned(), used: now });
        }
        ready(room)
    }

    fn has(&self, id: &str, owner: &str, now: Moment) -> Answer<'_, bool> {
        ready(match self.held().get_mut(id) {
            Some(held) if held.owner == owner => {
                held.used = now;
                true
            }
            Some(_) | None => false,
        })
    }

    fn last_used(&self, id: &str) -> Answer<'_, Option<Moment>> {
        ready(self.held().get(id).map(|held| held.used))
    }

    fn end(&self, id: &str) -> Answer<'_, ()> {
        self.held().remove(id);
        ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TIMEOUT, within};

    async fn open(
        sessions: &LocalSessions,
        id: &str,
        owner: &str,
    ) -> Result<Option<Arc<str>>, TooManySessions> {
        within(TIMEOUT, sessions.open(&Arc::from(id), owner, Moment::ZERO)).await.unwrap()
    }

    #[tokio::test]
    async fn whoever_names_many_people_leaves_room_for_others() {
        let sessions = LocalSessions::new(SESSION_BOUNDS);
        let named = |number: usize| format!("bridge\u{1f}person{number}@example.com");
        for number in 0..SESSION_BOUNDS.of_credential {
            assert_eq!(open(&sessions, &number.to_string(), &named(number)).await, Ok(None), "{number}");
        }
        assert_eq!(open(&sessions, "more", &named(100_000)).await, Err(TooManySessions));
        assert_eq!(open(&sessions, "other", "bridgex").await, Ok(None));
    }
}

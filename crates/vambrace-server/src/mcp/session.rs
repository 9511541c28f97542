//! Sessions of the revisions that have them (up to 2025-11-25). A session belongs to whoever opened it: for everybody
//! else it does not exist. Their number is bounded, for one owner and in all, and idle ones end by themselves.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::Stream;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionTransport,
};
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};

use vambrace_types::credential_of;

use crate::mcp::threshold::{Departure, Threshold};

/// An owner that opens more loses the one it used least: most clients never say that they are done.
const MOST_OF_ONE: usize = 64;
const MOST_IN_ALL: usize = 1024;
/// Of all for whom one caller speaks. THREAT: P12, whoever may name people can name any number of them.
const MOST_OF_CREDENTIAL: usize = MOST_IN_ALL / 4 * 3;
/// Longer than any call may take, because a silent call counts as idle.
const IDLE: Duration = Duration::from_secs(900);
/// How long a client that hung up on a call may take to come back. The revision says that hanging up alone is no
/// cancellation; nothing for so long is one.
const RETURN: Duration = Duration::from_secs(5);
/// A client that does not take its events loses them beyond this many.
const EVENTS: usize = 64;

/// All sessions of a running server.
pub(super) struct Sessions {
    manager: LocalSessionManager,
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    held: HashMap<SessionId, Held>,
    /// Owners of those that are being opened; they count already.
    coming: Vec<String>,
}

impl Shelf {
    /// How many there are of the credential by which this owner came.
    fn of_credential(&self, owner: &str) -> usize {
        let owners = self.held.values().map(|held| held.owner.as_str());
        let owners = owners.chain(self.coming.iter().map(String::as_str));
        owners.filter(|other| credential_of(other) == credential_of(owner)).count()
    }
}

/// Room for a session that is being opened, given back when it is dropped.
struct Place<'s> {
    sessions: &'s Sessions,
    owner: String,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let coming = &mut self.sessions.shelf().coming;
        if let Some(own) = coming.iter().position(|owner| *owner == self.owner) {
            coming.swap_remove(own);
        }
    }
}

struct Held {
    owner: String,
    used: Instant,
}

impl Default for Sessions {
    fn default() -> Sessions {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE);
        manager.session_config.channel_capacity = EVENTS;
        Sessions { manager, shelf: Mutex::default() }
    }
}

impl Sessions {
    /// Whether this owner has this session.
    pub(super) fn has(&self, id: &str, owner: &str) -> bool {
        match self.shelf().held.get_mut(id) {
            Some(held) if held.owner == owner => {
                held.used = Instant::now();
                true
            }
            Some(_) | None => false,
        }
    }

    /// Whether anything came from this session's client since.
    fn was_used_since(&self, id: &SessionId, moment: Instant) -> bool {
        self.shelf().held.get(id).is_some_and(|held| held.used > moment)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for one more, and which session had to go for it. THREAT: P13, nobody's session goes for somebody else's.
    fn room_for(&self, owner: &str) -> Result<(Place<'_>, Option<SessionId>), SessionError> {
        let mut shelf = self.shelf();
        let own = shelf.held.iter().filter(|(_, held)| held.owner == owner);
        let n_coming = shelf.coming.iter().filter(|coming| *coming == owner).count();
        let mut leaving = None;
        if own.clone().count() + n_coming >= MOST_OF_ONE {
            let oldest = own.min_by_key(|(_, held)| held.used).map(|(id, _)| Arc::clone(id));
            let oldest = oldest.ok_or(SessionError::Full)?;
            shelf.held.remove(&oldest);
            leaving = Some(oldest);
        } else if shelf.held.len() + shelf.coming.len() >= MOST_IN_ALL
            || shelf.of_credential(owner) >= MOST_OF_CREDENTIAL
        {
            return Err(SessionError::Full);
        }
        shelf.coming.push(owner.to_owned());
        Ok((Place { sessions: self, owner: owner.to_owned() }, leaving))
    }

    async fn end(&self, id: &SessionId) -> Result<(), SessionError> {
        self.shelf().held.remove(id);
        Ok(self.manager.close_session(id).await?)
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("as many sessions as there may be are open")]
    Full,
    #[error("there is no such session")]
    NotFound,
    #[error(transparent)]
    Library(#[from] LocalSessionManagerError),
}

/// The sessions as one request may see them.
pub(super) struct Visit {
    pub(super) sessions: Arc<Sessions>,
    pub(super) owner: String,
    /// Shared with the handler of the session that this request may open.
    pub(super) departure: Departure,
    full: AtomicBool,
}

impl Visit {
    pub(super) fn new(sessions: Arc<Sessions>, owner: String) -> Visit {
        Visit { sessions, owner, departure: Departure::is_the_only_end(), full: AtomicBool::new(false) }
    }

    /// Whether a session was refused because there are too many.
    pub(super) fn met_the_limit(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    fn own(&self, id: &SessionId) -> Result<&LocalSessionManager, SessionError> {
        if self.sessions.has(id, &self.owner) {
            Ok(&self.sessions.manager)
        } else {
            Err(SessionError::NotFound)
        }
    }
}

impl SessionManager for Visit {
    type Error = SessionError;
    type Transport = Threshold<SessionTransport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let (place, leaving) =
            self.sessions.room_for(&self.owner).inspect_err(|_| self.full.store(true, Ordering::Relaxed))?;
        if let Some(leaving) = leaving {
            self.sessions.manager.close_session(&leaving).await?;
        }
        let (id, transport) = self.sessions.manager.create_session().await?;
        self.departure.is_yet_to_come();
        let held = Held { owner: self.owner.clone(), used: Instant::now() };
        self.sessions.shelf().held.insert(Arc::clone(&id), held);
        drop(place);
        Ok((id, Threshold::new(transport, self.departure.clone())))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.own(id)?.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        match self.own(id) {
            Ok(manager) => Ok(manager.has_session(id).await?),
            Err(_) => Ok(false),
        }
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        if self.own(id).is_ok() {
            self.sessions.end(id).await?;
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let call = match &message {
            JsonRpcMessage::Request(request) => match request.request {
                ClientRequest::CallToolRequest(_) => Some(request.id.clone()),
                _ => None,
            },
            _ => None,
        };
        let events = self.own(id)?.create_stream(id, message).await?;
        let unanswered = call.map(|call| Unanswered {
            sessions: Arc::clone(&self.sessions),
            session: Arc::clone(id),
            call,
            is_answered: false,
        });
        Ok(Events { events: Box::pin(events), unanswered })
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        Ok(self.own(id)?.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.own(id)?.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.own(id)?.resume(id, last_event_id).await?)
    }
}

/// The events of one request. They are dropped when the client hangs up.
struct Events {
    events: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    unanswered: Option<Unanswered>,
}

impl Stream for Events {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let next = self.events.as_mut().poll_next(context);
        if let (Poll::Ready(None), Some(call)) = (&next, &mut self.unanswered) {
            call.is_answered = true;
        }
        next
    }
}

/// A call whose client still waits. Dropped before the end: the client hung up.
struct Unanswered {
    sessions: Arc<Sessions>,
    session: SessionId,
    call: RequestId,
    is_answered: bool,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        let (false, Ok(runtime)) = (self.is_answered, tokio::runtime::Handle::try_current()) else { return };
        let (sessions, session) = (Arc::clone(&self.sessions), Arc::clone(&self.session));
        let (call, left) = (self.call.clone(), Instant::now());
        runtime.spawn(async move {
            tokio::time::sleep(RETURN).await;
            if sessions.was_used_since(&session, left) {
                return;
            }
            let reason = Some("The client hung up and did not come back.".to_owned());
            let said = CancelledNotificationParam::new(Some(call), reason);
            let said = ClientNotification::CancelledNotification(CancelledNotification::new(said));
            // A call that is over by now is not there to be cancelled.
            let _ = sessions.manager.accept_message(&session, ClientJsonRpcMessage::notification(said)).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sessions_are_bounded_in_all_and_nobody_pushes_others_out() {
        let sessions = Arc::new(Sessions::default());
        let visit = |owner: &str| Visit::new(Arc::clone(&sessions), owner.to_owned());
        let mut kept = Vec::new();
        for number in 0..MOST_IN_ALL {
            kept.push(visit(&format!("owner{}", number / MOST_OF_ONE)).create_session().await.unwrap());
        }
        let late = visit("late");
        assert!(matches!(late.create_session().await, Err(SessionError::Full)));
        assert!(late.met_the_limit());
        // Somebody who has many gets one more for one of its own.
        let (newest, _transport) = visit("owner0").create_session().await.unwrap();
        let first = &kept.first().unwrap().0;
        assert!(sessions.has(&newest, "owner0") && !sessions.has(first, "owner0"));
        assert!(kept.iter().skip(MOST_OF_ONE).all(|(id, _)| !sessions.has(id, "owner0")));
        assert_eq!(sessions.shelf().held.len(), MOST_IN_ALL);
        // Nobody ends what is not theirs; what its owner ends makes room.
        visit("late").close_session(&newest).await.unwrap();
        assert!(sessions.has(&newest, "owner0"));
        visit("owner0").close_session(&newest).await.unwrap();
        assert!(visit("late").create_session().await.is_ok());
    }

    #[test]
    fn whoever_names_many_people_leaves_room_for_others() {
        let sessions = Sessions::default();
        let named = |number: usize| format!("bridge\u{1f}person{number}@example.com");
        let places: Vec<Place<'_>> = (0..MOST_OF_CREDENTIAL)
            .map(|number| sessions.room_for(&named(number)).unwrap_or_else(|_| panic!("{number}")).0)
            .collect();
        assert!(matches!(sessions.room_for(&named(places.len())), Err(SessionError::Full)));
        assert!(sessions.room_for("bridgex").is_ok());
    }

    #[test]
    fn sessions_that_are_being_opened_count() {
        let sessions = Sessions::default();
        let owner = |number: usize| format!("owner{}", number / MOST_OF_ONE);
        let mut places: Vec<Place<'_>> =
            (0..MOST_IN_ALL).map(|number| sessions.room_for(&owner(number)).unwrap().0).collect();
        let is_full = |owner: &str| matches!(sessions.room_for(owner), Err(SessionError::Full));
        assert!(is_full("late") && is_full("owner0"));
        places.remove(0);
        assert!(!is_full("late") && !is_full("owner0"));
        places.clear();
        assert!(sessions.shelf().coming.is_empty());
    }
}

//! Sessions of the revisions that have them (up to 2025-11-25). A session belongs to whoever opened it: for everybody
//! else it does not exist. Their number is bounded, for one owner and in all, and idle ones end by themselves.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
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

use vambrace_auth::Moment;
use vambrace_state::{SessionStore, StateError, TIMEOUT, TooManySessions, within};

use crate::mcp::threshold::{Departure, Threshold};

/// Longer than any call may take, because a silent call counts as idle.
const IDLE: Duration = Duration::from_secs(900);
/// How long a client that hung up on a call may take to come back. The revision says that hanging up alone is no
/// cancellation; nothing for so long is one.
const RETURN: Duration = Duration::from_secs(5);
/// A client that does not take its events loses them beyond this many.
const EVENTS: usize = 64;

/// All sessions of a running server: which there are is noted in a store, what happens in them is
/// here.
pub(super) struct Sessions {
    manager: LocalSessionManager,
    store: Arc<dyn SessionStore>,
    started: Instant,
}

impl Sessions {
    pub(super) fn new(store: Arc<dyn SessionStore>) -> Sessions {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE);
        manager.session_config.channel_capacity = EVENTS;
        Sessions { manager, store, started: Instant::now() }
    }

    fn now(&self) -> Moment {
        self.started.elapsed()
    }

    /// Whether this owner has this session.
    pub(super) async fn has(&self, id: &str, owner: &str) -> Result<bool, StateError> {
        within(TIMEOUT, self.store.has(id, owner, self.now())).await
    }

    /// Whether anything came from this session's client since, as far as anybody knows.
    async fn may_have_been_used_since(&self, id: &SessionId, moment: Moment) -> bool {
        match within(TIMEOUT, self.store.last_used(id)).await {
            Ok(used) => used.is_some_and(|used| used > moment),
            Err(_) => true,
        }
    }

    async fn end(&self, id: &SessionId) -> Result<(), SessionError> {
        // Here it ends in any case: to the store it is idle from now on.
        let noted = within(TIMEOUT, self.store.end(id)).await;
        self.manager.close_session(id).await?;
        Ok(noted?)
    }
}

/// A session that is being opened. It ends when this is dropped before it is open.
struct Opening {
    sessions: Arc<Sessions>,
    id: Option<SessionId>,
}

impl Drop for Opening {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let sessions = Arc::clone(&self.sessions);
        runtime.spawn(async move {
            let _ = sessions.end(&id).await;
        });
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("as many sessions as there may be are open")]
    Full,
    #[error("there is no such session")]
    NotFound,
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Library(#[from] LocalSessionManagerError),
}

/// What stood in the way of a request.
#[derive(Debug)]
pub(super) enum Trouble {
    /// A session was refused because there are too many.
    Full,
    /// The store of sessions did not answer.
    Away(StateError),
}

/// The sessions as one request may see them.
pub(super) struct Visit {
    pub(super) sessions: Arc<Sessions>,
    pub(super) owner: String,
    /// Shared with the handler of the session that this request may open.
    pub(super) departure: Departure,
    trouble: OnceLock<Trouble>,
}

impl Visit {
    pub(super) fn new(sessions: Arc<Sessions>, owner: String) -> Visit {
        Visit { sessions, owner, departure: Departure::is_the_only_end(), trouble: OnceLock::new() }
    }

    /// Why the library's answer is not the one that the client gets.
    pub(super) fn trouble(&self) -> Option<&Trouble> {
        self.trouble.get()
    }

    async fn own(&self, id: &SessionId) -> Result<&LocalSessionManager, SessionError> {
        match self.sessions.has(id, &self.owner).await {
            Ok(true) => Ok(&self.sessions.manager),
            Ok(false) => Err(SessionError::NotFound),
            Err(error) => Err(self.away(error)),
        }
    }

    fn away(&self, error: StateError) -> SessionError {
        let _ = self.trouble.set(Trouble::Away(error.clone()));
        SessionError::State(error)
    }
}

impl SessionManager for Visit {
    type Error = SessionError;
    type Transport = Threshold<SessionTransport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let sessions = &self.sessions;
        let (id, transport) = sessions.manager.create_session().await?;
        let mut opening = Opening { sessions: Arc::clone(sessions), id: Some(Arc::clone(&id)) };
        let opened = within(TIMEOUT, sessions.store.open(&id, &self.owner, sessions.now())).await;
        let leaving = opened.map_err(|error| self.away(error))?.map_err(|TooManySessions| {
            let _ = self.trouble.set(Trouble::Full);
            SessionError::Full
        })?;
        if let Some(leaving) = leaving {
            sessions.manager.close_session(&leaving).await?;
        }
        opening.id = None;
        self.departure.is_yet_to_come();
        Ok((id, Threshold::new(transport, self.departure.clone())))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.own(id).await?.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        match self.own(id).await {
            Ok(manager) => Ok(manager.has_session(id).await?),
            Err(SessionError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        match self.own(id).await {
            Ok(_) => self.sessions.end(id).await,
            Err(SessionError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
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
        let events = self.own(id).await?.create_stream(id, message).await?;
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
        Ok(self.own(id).await?.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.own(id).await?.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.own(id).await?.resume(id, last_event_id).await?)
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
        let (call, left) = (self.call.clone(), sessions.now());
        runtime.spawn(async move {
            tokio::time::sleep(RETURN).await;
            if sessions.may_have_been_used_since(&session, left).await {
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
    use vambrace_state::{LocalSessions, Outage, SESSION_BOUNDS};

    use super::*;

    const OF_ONE: usize = SESSION_BOUNDS.of_one;
    const IN_ALL: usize = SESSION_BOUNDS.in_all;

    async fn has(sessions: &Sessions, id: &str, owner: &str) -> bool {
        sessions.has(id, owner).await.unwrap()
    }

    #[tokio::test]
    async fn sessions_are_bounded_in_all_and_nobody_pushes_others_out() {
        let sessions = Arc::new(Sessions::new(Arc::new(LocalSessions::new(SESSION_BOUNDS))));
        let visit = |owner: &str| Visit::new(Arc::clone(&sessions), owner.to_owned());
        let mut kept = Vec::new();
        for number in 0..IN_ALL {
            kept.push(visit(&format!("owner{}", number / OF_ONE)).create_session().await.unwrap());
        }
        let late = visit("late");
        assert!(matches!(late.create_session().await, Err(SessionError::Full)));
        assert!(matches!(late.trouble(), Some(Trouble::Full)));
        // Somebody who has many gets one more for one of its own.
        let (newest, _transport) = visit("owner0").create_session().await.unwrap();
        let first = &kept.first().unwrap().0;
        assert!(has(&sessions, &newest, "owner0").await && !has(&sessions, first, "owner0").await);
        for (id, _) in kept.iter().skip(OF_ONE) {
            assert!(!has(&sessions, id, "owner0").await);
        }
        for (number, (id, _)) in kept.iter().enumerate().skip(1) {
            assert!(has(&sessions, id, &format!("owner{}", number / OF_ONE)).await, "{number}");
        }
        // Nobody ends what is not theirs; what its owner ends makes room.
        visit("late").close_session(&newest).await.unwrap();
        assert!(has(&sessions, &newest, "owner0").await);
        visit("owner0").close_session(&newest).await.unwrap();
        assert!(visit("late").create_session().await.is_ok());
    }

    #[tokio::test]
    async fn sessions_that_are_opened_at_once_are_counted_one_by_one() {
        let sessions = Arc::new(Sessions::new(Arc::new(LocalSessions::new(SESSION_BOUNDS))));
        let visits: Vec<Visit> = (0..IN_ALL + 10)
            .map(|number| Visit::new(Arc::clone(&sessions), format!("owner{}", number / OF_ONE)))
            .collect();
        let opened = futures_util::future::join_all(visits.iter().map(Visit::create_session)).await;
        let (open, full): (Vec<_>, Vec<_>) = opened.into_iter().partition(Result::is_ok);
        assert_eq!((open.len(), full.len()), (IN_ALL, 10));
        assert!(full.iter().all(|refused| matches!(refused, Err(SessionError::Full))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_does_not_answer_neither_opens_nor_denies_a_session() {
        for outage in Outage::ALL {
            let sessions = Arc::new(Sessions::new(outage.server_state().sessions));
            let visit = Visit::new(Arc::clone(&sessions), "ann".to_owned());
            assert!(matches!(visit.create_session().await, Err(SessionError::State(_))), "{outage:?}");
            assert!(matches!(visit.trouble(), Some(Trouble::Away(_))), "{outage:?}");
            let visit = Visit::new(Arc::clone(&sessions), "ann".to_owned());
            let id = SessionId::from("s");
            assert!(matches!(visit.has_session(&id).await, Err(SessionError::State(_))), "{outage:?}");
            assert!(matches!(visit.trouble(), Some(Trouble::Away(_))), "{outage:?}");
            // A call is not cancelled because nobody knows whether its client came back.
            assert!(sessions.may_have_been_used_since(&id, Moment::ZERO).await, "{outage:?}");
            // Nothing is left of what was not opened.
            tokio::time::sleep(TIMEOUT * 2).await;
            assert_eq!(sessions.manager.sessions.read().await.len(), 0, "{outage:?}");
        }
    }
}

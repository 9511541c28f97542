//! What stands between the protocol library and the pipes.
//!
//! Before the greeting the library ends at the first message that is not a request, and shows that message in its
//! error. Here such messages are passed over, so that noise neither ends the server nor reaches a terminal. And the
//! library cancels calls alike when a client cancels and when it has gone; the end of the input tells which it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use crate::mcp::revision::SPOKEN;

/// Whether the client has closed its end.
#[derive(Debug, Clone, Default)]
pub(super) struct Departure(Arc<AtomicBool>);

impl Departure {
    /// For a request that nobody can cancel but by leaving.
    pub(super) fn is_the_only_end() -> Departure {
        Departure(Arc::new(AtomicBool::new(true)))
    }

    /// Somebody stays who can leave later.
    pub(super) fn is_yet_to_come(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(super) fn has_come(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

pub(super) struct Threshold<T> {
    inner: T,
    greeted: bool,
    departure: Departure,
}

impl<T> Threshold<T> {
    pub(super) fn new(inner: T, departure: Departure) -> Threshold<T> {
        Threshold { inner, greeted: false, departure }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Threshold<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            match self.inner.receive().await {
                None => {
                    self.departure.0.store(true, Ordering::Relaxed);
                    return None;
                }
                Some(JsonRpcMessage::Request(request)) => {
                    self.greeted |= greets(&request.request);
                    return Some(JsonRpcMessage::Request(request));
                }
                Some(message) if self.greeted => return Some(message),
                Some(_) => {}
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

/// What the library takes for the beginning: the handshake of the older revisions, or a request that carries its own
/// context in the newer ones. A ping or a look at what is offered begins nothing.
fn greets(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let known = |version| SPOKEN.contains(&version);
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(known)
        }
    }
}

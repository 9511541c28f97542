//! MCP over streamable HTTP: revisions 2025-11-25 (and older ones, with sessions) and 2026-07-28 on one endpoint.
//!
//! A service of the protocol library is made for every request, so that the list of tools, the sessions and the handler
//! are those of the caller that this request showed. It holds nothing but references.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::{HeaderValue, Method, StatusCode, header, request};
use rmcp::ServerHandler;
use rmcp::model::ErrorData;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use vambrace_json::{Fault, Limits, What};
use vambrace_types::{Caller, Door, ErrorCode};

use crate::http::{Admitted, Conformance, Front, Problem, Seen, whole};
use crate::mcp::asking::{Dialogs, Questions};
use crate::mcp::conformance::Fixtures;
use crate::mcp::handler::Gate;
use crate::mcp::metadata::{METADATA, metadata};
use crate::mcp::session::{Sessions, Trouble, Visit};
use crate::mcp::short_way::{self, ShortWay};

const SESSION: &str = "mcp-session-id";
const ENDPOINT: &str = "/mcp";

/// The metadata of RFC 9728, for everybody: of the whole, and of this endpoint.
pub(crate) fn public_router() -> Router<Arc<Front>> {
    Router::new().route(METADATA, get(metadata)).route(&format!("{METADATA}/mcp"), get(metadata))
}

/// `/mcp`, behind the admission.
pub(crate) struct Endpoint {
    sessions: Arc<Sessions>,
    questions: Arc<Questions>,
    /// For the fixtures of the conformance kit.
    rounds: Arc<Questions>,
    has_short_way: bool,
}

impl Endpoint {
    pub(crate) fn new(front: &Front) -> Endpoint {
        let is_plain = front.settings.conformance != Conformance::Mcp;
        Endpoint {
            sessions: Arc::new(Sessions::new(Arc::clone(&front.state.sessions))),
            questions: Arc::new(Questions::new(front.settings.dialogs)),
            rounds: Arc::new(Questions::new(if is_plain { Dialogs::None } else { Dialogs::All })),
            has_short_way: is_plain && short_way::is_open(&front.corridor),
        }
    }

    pub(crate) async fn serve(&self, front: &Arc<Front>, admitted: Admitted, request: Request) -> Response {
        let (mut parts, body) = request.into_parts();
        // THREAT: P13, somebody else's session is no session.
        let id = parts.headers.get(SESSION).map(|id| id.to_str().unwrap_or_default());
        if let Some(id) = id {
            match self.sessions.has(id, &admitted.owner()).await {
                Ok(true) => {}
                Ok(false) => return no_session(),
                Err(error) => {
                    return front.away(&error, Seen::of(admitted.address, &parts)).into_response();
                }
            }
        }
        let Ok(body) = whole(body).await else {
            return Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                ErrorCode::MessageTooLarge,
                "The message is longer than this service takes, or broke off.",
            )
            .suggestion("Send less at once; large files can be written in parts with edit_file.")
            .into_response();
        };
        // Before a library reads it.
        if !body.is_empty()
            && let Err(fault) = vambrace_json::check(&body, Limits::message(front.settings.max_body))
        {
            front.tell_of_json(&fault, admitted.address, &parts);
            return if says_json(&parts) { refusal(told_of(&fault)) } else { no_json() };
        }
        if let Some(call) = self.has_short_way.then(|| ShortWay::find(&parts, &body)).flatten() {
            // While nothing of the request is held, the connection reads the next one into the same memory.
            drop((parts, body));
            let (caller, chain) = admitted.into_caller(Door::McpHttp);
            return call.go(front, &self.questions, caller, chain).await;
        }
        if is_long_greeting(&body) {
            return refusal(ErrorData::invalid_request(
                "`initialize` is refused: at most 256 KB, 2,000 values and names, nested 16 deep.",
                None,
            ));
        }
        let (caller, address) = (admitted.caller(Door::McpHttp), admitted.address);
        // For the handler, whom the library hands the request's head.
        parts.extensions.insert(admitted);
        // In a box: what the library needs for the long way is many times what a call needs.
        Box::pin(self.answer(front, (caller, address), parts, body)).await
    }

    async fn answer(
        &self,
        front: &Arc<Front>,
        (caller, address): (Caller, IpAddr),
        parts: request::Parts,
        body: Bytes,
    ) -> Response {
        let visit = Arc::new(Visit::new(Arc::clone(&self.sessions), caller.owner()));
        let gate = Gate::for_http(front, caller, Arc::clone(&self.questions), visit.departure.clone());
        // A call that is under way when the server ends is finished; a stream that waits for news ends with it.
        let ending =
            if parts.method == Method::GET { front.ending.clone() } else { CancellationToken::new() };
        let (method, is_end) = (parts.method.clone(), parts.method == Method::DELETE);
        let says_json = says_json(&parts);
        let request = Request::from_parts(parts, Body::from(body));
        let response = match front.settings.conformance {
            Conformance::Mcp => {
                through(Fixtures::new(gate, Arc::clone(&self.rounds)), &visit, ending, request).await
            }
            Conformance::Off | Conformance::A2a => through(gate, &visit, ending, request).await,
        };
        if let Some(Trouble::Away(error)) = visit.trouble() {
            let seen = Seen { address, method: &method, path: ENDPOINT, id: None };
            return front.away(error, seen).into_response();
        }
        // Some clients take only these two words for a session that was ended.
        if is_end && response.status() == StatusCode::ACCEPTED {
            return StatusCode::NO_CONTENT.into_response();
        }
        // The library blames the type of the body for what is wrong inside.
        if says_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return refusal(ErrorData::invalid_request("This is no message of the protocol.", None));
        }
        response
    }
}

fn no_session() -> Response {
    Problem::new(StatusCode::NOT_FOUND, ErrorCode::RouteNotFound, "There is no such session.")
        .suggestion("Open a new one with `initialize`.")
        .into_response()
}

fn too_many_sessions() -> Response {
    let mut response =
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::NotReady, "Too many sessions are open.")
            .suggestion("Try again in a minute, or use revision 2026-07-28, which needs none.")
            .into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    response
}

/// LIMIT: of `initialize`, because the library keeps it as long as the session. THREAT: P09, every
/// session of an owner could hold 16 MB.
const GREETING: Limits = Limits { bytes: 256 << 10, depth: 16, nodes: 2_000 };

fn is_long_greeting(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    vambrace_json::check(body, GREETING).is_err()
        && vambrace_json::checked::<Message<'_>>(body).is_ok_and(|message| message.method == "initialize")
}

fn says_json(parts: &request::Parts) -> bool {
    let kind = parts.headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

fn no_json() -> Response {
    let message = "The body must be JSON, and its Content-Type must say so.";
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::RequestRefused, message)
        .suggestion("Send Content-Type: application/json.")
        .into_response()
}

/// What the reader did not take.
pub(super) fn told_of(fault: &Fault) -> ErrorData {
    match fault.what() {
        What::Syntax | What::Shape => ErrorData::parse_error(format!("This is not JSON: {fault}."), None),
        What::TooLong | What::TooDeep | What::TooMany | What::NameTwice | What::ReservedName => {
            ErrorData::invalid_request(format!("The message is refused: {fault}."), None)
        }
    }
}

fn refusal(error: ErrorData) -> Response {
    let shape = json!({"jsonrpc": "2.0", "id": null, "error": error});
    (StatusCode::BAD_REQUEST, Json(shape)).into_response()
}

async fn through<H: ServerHandler + Clone>(
    handler: H,
    visit: &Arc<Visit>,
    ending: CancellationToken,
    request: Request,
) -> Response {
    // Host, Origin and length were looked at by the admission, with the operator's lists.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(usize::MAX)
        .with_json_response(true)
        .with_cancellation_token(ending);
    let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(visit), config);
    let response = service.handle(request).await;
    match visit.trouble() {
        Some(Trouble::Full) => too_many_sessions(),
        // What is answered then, is told as well.
        Some(Trouble::Away(_)) | None => response.map(Body::new),
    }
}

#[cfg(test)]
mod tests;

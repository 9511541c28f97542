//! Agent2Agent 1.0, with the method names and shapes of 0.3 for older clients. A message that names a tool
//! becomes a call of the corridor, and its reply a task that belongs to the caller.

mod card;
mod conformance;
mod message;
mod older;
mod operation;
mod push;
mod rpc;
mod send;
mod spelling;
mod store;
mod work;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures_util::{Stream, StreamExt as _};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value;
use vambrace_json::Limits;
use vambrace_types::{ChainRules, Door};

use self::operation::Visit;
use self::rpc::{Call, Fault, Method, Revision, Wrong};
use self::store::Desk;
use crate::http::{Admitted, Front, is_stopped};

#[derive(Debug, Clone)]
pub struct A2aSettings {
    pub enabled: bool,
    /// Our own name in call chains, and how long those may be.
    pub chain: ChainRules,
    /// What people and agents read on the card.
    pub agent_name: String,
    /// The address others reach us at; unset: what the request's `Host` says.
    pub agent_url: Option<String>,
}

/// `/.well-known/agent-card.json`, for everybody.
pub(crate) fn public_router() -> Router<Arc<Front>> {
    Router::new()
        .route("/.well-known/agent-card.json", get(card::public))
        .route("/.well-known/agent.json", get(card::public_older))
}

/// Keeps a stream open through proxies that end what is silent.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// `/a2a/invoke`, behind the admission.
pub(crate) struct Endpoint {
    desk: Arc<Desk>,
}

impl Endpoint {
    pub(crate) fn new(front: &Front) -> Endpoint {
        Endpoint { desk: Arc::new(Desk::new(Arc::clone(&front.state.tasks))) }
    }

    /// Whatever came by POST.
    pub(crate) async fn invoke(&self, front: &Arc<Front>, admitted: Admitted, request: Request) -> Response {
        if !front.settings.a2a.enabled {
            return card::absent().into_response();
        }
        // In a box, like the other ways that need much room.
        Box::pin(invoke(Arc::clone(front), admitted, Arc::clone(&self.desk), request)).await
    }
}

async fn invoke(front: Arc<Front>, admitted: Admitted, desk: Arc<Desk>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let most = front.settings.max_body;
    if !is_json(&head.headers) {
        let fault = Fault::new(Wrong::ContentType, "The body must be application/json.");
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, Json(fault.answer(&Value::Null))).into_response()
    } else {
        let refuse = |status: StatusCode, message: String| {
            let fault = Fault::new(Wrong::NoRequest, message);
            (status, Json(fault.answer(&Value::Null))).into_response()
        };
        let reading = axum::body::to_bytes(body, most);
        match tokio::time::timeout(front.settings.read_timeout, reading).await {
            Ok(Ok(body)) => {
                let value = match vambrace_json::read(&body, Limits::message(most)) {
                    Ok(value) => value,
                    Err(fault) => {
                        front.tell_of_json(&fault, admitted.address, &head);
                        return Json(Fault::of_json(&fault).answer(&Value::Null)).into_response();
                    }
                };
                drop(body);
                let (caller, chain) = admitted.into_caller(Door::A2a);
                let front = Arc::clone(&front);
                let visit = Visit { front, desk, caller, chain, revision: Revision::V1 };
                answer(visit, &head.headers, value).await
            }
            Ok(Err(_)) => {
                refuse(StatusCode::PAYLOAD_TOO_LARGE, format!("The body is larger than {most} bytes."))
            }
            Err(_) => refuse(StatusCode::REQUEST_TIMEOUT, "The body did not come in time.".to_owned()),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(essence.as_str(), "application/json" | "application/a2a+json")
}

/// Errors are JSON-RPC's own, with status 200.
async fn answer(mut visit: Visit, headers: &HeaderMap, message: Value) -> Response {
    let Call { id, method, revision, params } = match rpc::read(message) {
        Ok(call) => call,
        Err((id, fault)) => return Json(fault.answer(&id)).into_response(),
    };
    let version = headers.get("a2a-version").map(|value| value.to_str().unwrap_or("?"));
    if let Err(fault) = rpc::check_version(version) {
        return Json(fault.answer(&id)).into_response();
    }
    visit.revision = revision;
    // INVARIANT: before anybody looks at a member.
    let params = match revision {
        Revision::V1 => spelling::plain(params).map_err(|twice| {
            let name: String = twice.0.chars().take(200).collect();
            Fault::new(Wrong::Params, format!("The field `{name}` stands in two spellings."))
                .suggestion("Send it once, as in the JSON form of the protocol.")
        }),
        Revision::V03 => Ok(older::params(method, params)),
    };
    let params = match params {
        Ok(params) => params,
        Err(fault) => return Json(fault.answer(&id)).into_response(),
    };
    // Messages are calls, which the walk refuses and puts on record. THREAT: P12, the rest is looking and changing too.
    let goes_on = params.pointer("/message/taskId").is_some_and(|id| !id.is_null() && id != "");
    let is_call = matches!(method, Method::Send | Method::Stream) && !goes_on;
    if !is_call && is_stopped(&visit.front.corridor, &visit.caller).unwrap_or(true) {
        return Json(Fault::stopped().answer(&id)).into_response();
    }
    let result = match method {
        Method::Send => visit.send(params).await,
        Method::Get => visit.get(params).await,
        Method::List => visit.list(params).await,
        Method::Cancel => visit.cancel(params).await,
        Method::SetPush => visit.set_push(params).await,
        Method::GetPush => visit.get_push(params).await,
        Method::ListPush => visit.list_push(params).await,
        Method::DeletePush => visit.delete_push(params).await,
        Method::ExtendedCard => Ok(card::extended(&visit.front, headers, &visit.caller, revision)),
        Method::Stream => match visit.stream(params).await {
            Ok(events) => return streaming(id, revision, events),
            Err(fault) => Err(fault),
        },
        Method::Subscribe => match visit.subscribe(params).await {
            Ok(events) => return streaming(id, revision, events),
            Err(fault) => Err(fault),
        },
    };
    let result = result.map(|result| match revision {
        Revision::V1 => result,
        Revision::V03 => older::result(method, result),
    });
    Json(match result {
        Ok(result) => rpc::result(&id, &result),
        Err(fault) => fault.answer(&id),
    })
    .into_response()
}

fn streaming(id: Value, revision: Revision, events: impl Stream<Item = Value> + Send + 'static) -> Response {
    let events = events.map(move |event| {
        let event = match revision {
            Revision::V1 => event,
            Revision::V03 => older::event(event),
        };
        Ok::<_, Infallible>(Event::default().data(rpc::result(&id, &event).to_string()))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response();
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests;

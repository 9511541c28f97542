//! Around every request, public ones too: the address's own bucket, the limits of size and time, and the
//! headers that every answer has.

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use tokio::time::timeout;
use vambrace_auth::{Draw, client_address};
use vambrace_runtime::Level;

use super::arriving::{Arriving, Fate, Watch};
use super::routes::{Place, Routes};
use super::teller::Seen;
use super::{Front, Problem, answer, hosts, limits, request_id};

/// Where a request came from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) peer: IpAddr,
    /// The client's own, behind proxies.
    pub(super) address: IpAddr,
}

/// The bucket that an answer tells about, put into its extensions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown(pub(super) Draw);

/// Specification 001's limit of a question's body.
const QUERY_BODY: usize = 1024 * 1024;

pub(super) async fn around(
    front: &Arc<Front>,
    routes: &Routes,
    peer: IpAddr,
    mut request: Request<Incoming>,
) -> Response {
    let id = request_id::of(request.headers());
    request.headers_mut().insert(request_id::HEADER, id.clone());
    let settings = &front.settings;
    let arrival = Arrival { peer, address: address(front, peer, request.headers()) };
    let origin = listed_origin(front, request.headers());
    let (method, path) = (request.method(), request.uri().path());
    let place = routes.place(path);
    let told = front.corridor.log().wants(Level::Debug).then(|| (method.clone(), path.to_owned()));
    let is_strange = hosts::is_strange(&request, front);
    let watch = (!request.body().is_end_stream()).then(Watch::default);
    let seen = Seen { address: arrival.address, method, path, id: Some(&id) };
    let (mut answer, draw) = match limits::arriving(front, is_strange, seen).await {
        Err(problem) => (problem.into_response(), None),
        Ok(draw) if is_preflight(&request) => (preflight(origin.as_ref()), Some(draw)),
        Ok(draw) => {
            let most = if path.starts_with("/api/query") { QUERY_BODY } else { settings.max_body };
            (served(front, (routes, place), arrival, (request, watch.as_ref()), most).await, Some(draw))
        }
    };
    // Whoever turned it away, and wherever.
    front.metrics.request(&place.counts, answer.status());
    let shown = answer.extensions_mut().remove::<Shown>().map(|shown| shown.0).or(draw);
    // For those below and what the connection adds, so that the map does not grow step by step.
    let n_headers = answer.headers().len();
    answer.headers_mut().reserve(answer::MOST_HEADERS.saturating_sub(n_headers));
    if let Some(shown) = shown {
        answer::tell_limits(answer.headers_mut(), settings.rate, shown);
    }
    let mut answer = answer::named(answer, &id);
    answer.headers_mut().insert(request_id::HEADER, id);
    dress(answer.headers_mut(), origin);
    // What nobody has read stands between this answer and the next request, so there is none; the client is told.
    if watch.is_some_and(|watch| watch.fate() != Fate::Whole) {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some((method, path)) = told {
        let id = answer.headers().get(request_id::HEADER);
        let seen = Seen { address: arrival.address, method: &method, path: &path, id };
        front.bell.answered(front, seen, answer.status());
    }
    answer
}

async fn served(
    front: &Arc<Front>,
    (routes, place): (&Routes, &Place),
    arrival: Arrival,
    (request, watch): (Request<Incoming>, Option<&Watch>),
    most: usize,
) -> Response {
    if watch.is_some() {
        if request.body().size_hint().lower() > most as u64 {
            return answer::too_large(most).into_response();
        }
        if let Some(problem) = coded(request.headers()) {
            return problem.into_response();
        }
    }
    let time = front.settings.read_timeout;
    let request = request.map(|body| match watch {
        Some(watch) => Body::new(Arriving::new(body, most, time, watch.clone())),
        None => Body::empty(),
    });
    let path = request.uri().path();
    let (method, is_api) = (request.method().clone(), path.starts_with("/api"));
    let limit = if place.may_call() { front.settings.call_timeout } else { front.settings.request_timeout };
    let Some(answer) = within(limit, pin!(routes.answer(front, arrival, place, request))).await else {
        return answer::out_of_time().into_response();
    };
    let status = answer.status();
    if !status.is_success() {
        match watch.map_or(Fate::Whole, Watch::fate) {
            Fate::Unread | Fate::Whole => {}
            Fate::TooLarge => return answer::too_large(most).into_response(),
            Fate::TooSlow => return answer::too_slow().into_response(),
        }
    }
    if status == StatusCode::METHOD_NOT_ALLOWED && !is_json(&answer) {
        let allow = answer.headers().get(header::ALLOW).cloned();
        let mut answer = answer::wrong_method(&method).into_response();
        allow.into_iter().for_each(|allow| {
            answer.headers_mut().insert(header::ALLOW, allow);
        });
        return answer;
    }
    // What a library refuses by itself, in its own words; some of them do not even say that it is text.
    if status.is_client_error() && ((is_api && is_text(&answer)) || is_untold(&answer)) {
        return reworded(answer).await;
    }
    if method == Method::GET && has_type(&answer, "text/event-stream") {
        // A standing stream has no end of its own.
        let ending = front.ending.clone().cancelled_owned();
        return answer.map(|body| Body::from_stream(body.into_data_stream().take_until(ending)));
    }
    answer
}

/// THREAT: P12, a body that somebody on the way unpacks is another one than the one that we read.
fn coded(headers: &HeaderMap) -> Option<Problem> {
    let words = |name: HeaderName| {
        let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
        values.flat_map(|value| value.split(',')).map(str::trim).collect::<Vec<_>>()
    };
    let chunked = words(header::TRANSFER_ENCODING);
    if !chunked.is_empty() && !matches!(*chunked, [one] if one.eq_ignore_ascii_case("chunked")) {
        return Some(answer::strange_transfer());
    }
    let is_plain = |word: &&str| word.eq_ignore_ascii_case("identity");
    (!words(header::CONTENT_ENCODING).iter().all(is_plain)).then(answer::strange_coding)
}

/// What comes at once needs no clock: most calls would set it and take it back.
async fn within<F: Future>(limit: Duration, mut answering: Pin<&mut F>) -> Option<F::Output> {
    match poll_fn(|context| Poll::Ready(answering.as_mut().poll(context))).await {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => timeout(limit, answering).await.ok(),
    }
}

/// LIMIT: of a refusal in the framework's words.
const LONGEST_WORDS: usize = 4096;

async fn reworded(answer: Response) -> Response {
    let status = answer.status();
    let words = axum::body::to_bytes(answer.into_body(), LONGEST_WORDS).await.unwrap_or_default();
    let words = String::from_utf8_lossy(&words).into_owned();
    Problem::new(status, vambrace_types::ErrorCode::ValidationError, words)
        .suggestion("Read /openapi.json for what this route takes.")
        .into_response()
}

fn has_type(answer: &Response, wanted: &str) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with(wanted))
}

fn is_json(answer: &Response) -> bool {
    has_type(answer, "application/json")
}

fn is_text(answer: &Response) -> bool {
    has_type(answer, "text/plain")
}

/// Words without a type.
fn is_untold(answer: &Response) -> bool {
    !answer.headers().contains_key(header::CONTENT_TYPE) && answer.body().size_hint().lower() > 0
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

fn address(front: &Front, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let settings = &front.settings;
    // What is not text names nobody; left out, it would move the others.
    let forwarded: Vec<&str> =
        headers.get_all(FORWARDED_FOR).iter().map(|value| value.to_str().unwrap_or("unreadable")).collect();
    client_address(peer, &forwarded, &settings.trusted_proxies, settings.forwarded_for)
}

fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ORIGIN)
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The origin of the page whose script sends this, if the operator listed it.
fn listed_origin(front: &Front, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let is_listed = |origin: &str| hosts::is_listed(origin, front);
    origin.to_str().is_ok_and(is_listed).then(|| origin.clone())
}

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, x-api-key, x-request-id, mcp-session-id, mcp-protocol-version, \
     mcp-method, mcp-name, last-event-id, a2a-version, a2a-extensions",
);
const EXPOSED: HeaderValue =
    HeaderValue::from_static("mcp-session-id, retry-after, www-authenticate, x-request-id");

fn preflight(origin: Option<&HeaderValue>) -> Response {
    if origin.is_none() {
        let message = "Scripts of this page may not call.";
        return Problem::new(StatusCode::FORBIDDEN, vambrace_types::ErrorCode::RequestRefused, message)
            .suggestion("The operator can list the page's origin in server.allowed_origins.")
            .into_response();
    }
    let mut answer = StatusCode::NO_CONTENT.into_response();
    answer.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    answer.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    answer
}

/// What every answer says to browsers. Nothing here is meant to be shown by one.
const ALWAYS: [(HeaderName, HeaderValue); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

fn dress(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    for (name, value) in ALWAYS {
        headers.insert(name, value);
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
    }
}

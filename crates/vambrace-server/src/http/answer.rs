//! What goes wrong before a call, in the shape of its route (decision C21).

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode, Uri, header};
use serde_json::{Value, json};
use vambrace_auth::{Draw, IgnoredHeader, Rate, Refusal};
use vambrace_json::Fault;
use vambrace_types::ErrorCode;

use super::around::Shown;

/// JSON text, with room for all headers that are put around it: a map that grows step by step is copied each time.
pub(crate) fn json(status: StatusCode, body: String) -> Response {
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = status;
    let mut headers = HeaderMap::with_capacity(MOST_HEADERS);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *answer.headers_mut() = headers;
    answer
}

/// Of most answers, those of `around` counted. One more would double the map.
pub(super) const MOST_HEADERS: usize = 12;

/// When to try again what a store away has prevented.
const COME_AGAIN: Duration = Duration::from_secs(5);

/// `{"success": false, "message": …, "error": {"code", "message", "suggestion", "request_id"}}`; 429 is what
/// specification 001 shows.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: ErrorCode,
    message: String,
    suggestion: String,
    draw: Option<Draw>,
    challenge: Option<HeaderValue>,
    is_attack: bool,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Problem {
        let message = message.into();
        Problem {
            status,
            code,
            message,
            suggestion: String::new(),
            draw: None,
            challenge: None,
            is_attack: false,
        }
    }

    pub(crate) fn suggestion(mut self, suggestion: impl Into<String>) -> Problem {
        self.suggestion = suggestion.into();
        self
    }

    /// Because of this.
    pub(crate) fn about(mut self, fault: &Fault) -> Problem {
        self.is_attack = fault.what().is_attack();
        self
    }

    pub(super) fn is_attack(&self) -> bool {
        self.is_attack
    }

    pub(crate) fn too_many(draw: Draw) -> Problem {
        let mut problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimitExceeded, "");
        problem.draw = Some(draw);
        problem
    }

    /// Not 001's words: whoever sends less often is let in no sooner.
    pub(super) fn locked_out(wait: Duration) -> Problem {
        let seconds = seconds(wait).max(1);
        let message = format!(
            "Too many wrong credentials came from this address, so it is locked out for {seconds} more seconds."
        );
        let mut problem =
            Problem::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimitExceeded, message).suggestion(
                "Correct the credential, wait that long and try again; until then a right one is refused as well.",
            );
        problem.draw = Some(Draw { allowed: false, remaining: 0, retry_after: wait, full_after: wait });
        problem
    }

    /// A store that the request needs did not answer. Nobody knows how much is left, so nothing is.
    pub(crate) fn away() -> Problem {
        let message = "The service cannot reach its shared state, so it did not serve the request.";
        let mut problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::StateUnavailable, message)
            .suggestion("Send the request again in a few seconds; if it stays, tell the operator.");
        problem.draw =
            Some(Draw { allowed: false, remaining: 0, retry_after: COME_AGAIN, full_after: COME_AGAIN });
        problem
    }

    pub(crate) fn refused(refusal: &Refusal) -> Problem {
        if let Refusal::UnreadableIdentity(IgnoredHeader { name, why }) = refusal {
            return Problem::headers(format!("The header `{name}` cannot be read: {}.", why.as_str()))
                .suggestion("Send it as it is meant, or leave it out.");
        }
        if *refusal == Refusal::NoContext {
            return Problem::new(StatusCode::FORBIDDEN, ErrorCode::NotAMember, refusal.message())
                .suggestion(refusal.next_step());
        }
        Problem::new(StatusCode::UNAUTHORIZED, ErrorCode::Unauthenticated, refusal.message())
            .suggestion(refusal.next_step())
            .challenged("Bearer realm=\"vambrace\"")
    }

    /// What `WWW-Authenticate` says.
    pub(super) fn challenged(mut self, challenge: &str) -> Problem {
        self.challenge = HeaderValue::from_str(challenge).ok();
        self
    }

    pub(super) fn headers(message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, ErrorCode::RequestRefused, message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = if self.message.is_empty() && self.draw.is_some() {
            let body = json!({"success": false, "message": "Rate limit exceeded. Please try again later."});
            (self.status, Json(body)).into_response()
        } else {
            let words = Words { code: self.code, message: self.message, suggestion: self.suggestion };
            let mut response = (self.status, Json(words.body(None))).into_response();
            response.extensions_mut().insert(words);
            response
        };
        if let Some(draw) = self.draw {
            let wait = HeaderValue::from(seconds(draw.retry_after).max(1));
            response.headers_mut().insert(header::RETRY_AFTER, wait);
            // The limits that are told are those that were met.
            response.extensions_mut().insert(Shown(draw));
        }
        if let Some(challenge) = self.challenge {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// What a problem says, put into its answer's extensions: the name of the request is known outside.
#[derive(Debug, Clone)]
struct Words {
    code: ErrorCode,
    message: String,
    suggestion: String,
}

impl Words {
    fn body(&self, id: Option<&str>) -> Value {
        let Words { code, message, suggestion } = self;
        let mut error = json!({"code": code.as_str(), "message": message, "suggestion": suggestion});
        if let (Some(id), Value::Object(error)) = (id, &mut error) {
            error.insert("request_id".to_owned(), json!(id));
        }
        json!({"success": false, "message": message, "error": error})
    }
}

/// A problem tells the name of its request, the one that stands in the header.
pub(super) fn named(mut answer: Response, id: &HeaderValue) -> Response {
    let Some(words) = answer.extensions_mut().remove::<Words>() else { return answer };
    // The router may have written down the length of the words without the name.
    answer.headers_mut().remove(header::CONTENT_LENGTH);
    answer.map(|_| Body::from(words.body(id.to_str().ok()).to_string()))
}

/// Rounded up, so that whoever waits so long has waited long enough.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

pub(super) fn tell_limits(headers: &mut HeaderMap, rate: Rate, draw: Draw) {
    for (name, number) in [
        (LIMIT, u64::from(rate.burst)),
        (REMAINING, u64::from(draw.remaining)),
        (RESET, seconds(draw.full_after)),
    ] {
        // Digits always fit. The value is the text itself; made from the number it would be a copy of it.
        if let Ok(value) = HeaderValue::try_from(number.to_string()) {
            headers.insert(name, value);
        }
    }
}

/// LIMIT: of what is repeated of a path.
const LONGEST_PATH: usize = 256;

/// Nothing is served there.
pub(super) async fn nowhere(uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(LONGEST_PATH).collect();
    Problem::new(StatusCode::NOT_FOUND, ErrorCode::RouteNotFound, format!("There is no route `{path}`."))
        .suggestion("Read /openapi.json for the routes.")
}

/// Other methods are served there; the answer's own `Allow` says which.
pub(super) fn wrong_method(method: &Method) -> Problem {
    let message = format!("The method {method} is not offered here.");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::RouteNotFound, message)
        .suggestion("Use one of the methods in the Allow header.")
}

pub(super) fn too_large(most: usize) -> Problem {
    let message = format!("The request's body has more than {most} bytes.");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::MessageTooLarge, message)
        .suggestion("Send less at once.")
}

pub(super) fn strange_coding() -> Problem {
    let message = "The request's body is compressed or otherwise encoded.";
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::RequestRefused, message)
        .suggestion("Send it as it is, without Content-Encoding.")
}

pub(super) fn strange_transfer() -> Problem {
    let message = "The request has a transfer coding other than `chunked`.";
    Problem::new(StatusCode::NOT_IMPLEMENTED, ErrorCode::RequestRefused, message)
        .suggestion("Send the body with Content-Length, or chunked and nothing else.")
}

pub(super) fn too_slow() -> Problem {
    Problem::new(
        StatusCode::REQUEST_TIMEOUT,
        ErrorCode::Timeout,
        "The request's body did not arrive in time.",
    )
    .suggestion("Send the request again.")
}

pub(super) fn out_of_time() -> Problem {
    Problem::new(
        StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::Timeout,
        "The request took longer than a request may take.",
    )
    .suggestion("Ask for less at once.")
}

pub(super) fn fault() -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::InternalError, "Something went wrong inside.")
        .suggestion("Try again; if it stays, tell the operator.")
}

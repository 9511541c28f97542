//! A request's body as JSON: bounded in size, depth and time, and nothing else.

use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::Value;
use vambrace_json::{Fault, Limits, What};
use vambrace_types::ErrorCode;

use crate::http::Problem;

/// What a body may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) bytes: usize,
    pub(super) time: Duration,
}

/// The JSON object that was sent; none for an empty body.
pub(super) async fn read(headers: &HeaderMap, body: Body, bounds: Bounds) -> Result<Option<Value>, Problem> {
    let is_other = headers.get(header::CONTENT_TYPE).is_some_and(|kind| !kind.to_str().is_ok_and(is_json));
    if is_other {
        return Err(unsupported());
    }
    let reading = Limited::new(body, bounds.bytes).collect();
    let bytes = match tokio::time::timeout(bounds.time, reading).await {
        Ok(Ok(whole)) => whole.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("The body is longer than {} bytes and was not read.", bounds.bytes);
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::MessageTooLarge, message)
                .suggestion("Send less at once; large files can be written in parts with edit_file."));
        }
        Ok(Err(_)) => return Err(invalid("The body could not be read to its end.")),
        Err(_) => {
            let message = "The body did not arrive in time.";
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, message)
                .suggestion("Send the request again, without pauses."));
        }
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    if !headers.contains_key(header::CONTENT_TYPE) {
        return Err(unsupported());
    }
    match vambrace_json::read(&bytes, Limits::message(bounds.bytes)) {
        Ok(value @ Value::Object(_)) => Ok(Some(value)),
        Ok(_) => Err(invalid("The body must be a JSON object.")),
        Err(fault) => Err(refused(&fault)),
    }
}

fn refused(fault: &Fault) -> Problem {
    match fault.what() {
        What::Syntax | What::Shape => invalid(&format!("The body is not JSON: {fault}.")),
        What::TooLong | What::TooDeep | What::TooMany | What::NameTwice | What::ReservedName => {
            invalid(&format!("The body is refused: {fault}.")).about(fault)
        }
    }
}

fn is_json(kind: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

fn unsupported() -> Problem {
    let message = "The body must be JSON, and its Content-Type must say so.";
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::RequestRefused, message)
        .suggestion("Send Content-Type: application/json.")
}

pub(super) fn invalid(message: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, ErrorCode::ValidationError, message)
        .suggestion("Compare the request with /openapi.json.")
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;

    use super::*;

    const BOUNDS: Bounds = Bounds { bytes: 300, time: Duration::from_secs(60) };

    #[track_caller]
    fn check(kind: Option<&str>, body: &str, expected: Result<Option<&str>, u16>) {
        let mut headers = HeaderMap::new();
        if let Some(kind) = kind {
            headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let read = runtime.block_on(read(&headers, Body::from(body.to_owned()), BOUNDS));
        let read = read.map(|value| value.map(|value| value.to_string()));
        let expected = expected.map(|value| value.map(str::to_owned));
        assert_eq!(
            read.map_err(|problem| problem.into_response().status().as_u16()),
            expected,
            "{kind:?} {body}"
        );
    }

    #[test]
    fn only_small_flat_json_objects_are_bodies() {
        let json = Some("application/json");
        check(None, "", Ok(None));
        check(json, "", Ok(None));
        check(Some("text/plain"), "", Err(415)); // what a page of another origin may send without asking
        check(json, "{}", Ok(Some("{}")));
        check(Some("Application/JSON ; charset=utf-8"), "{\"a\":1}", Ok(Some("{\"a\":1}")));
        check(None, "{}", Err(415));
        check(Some("application/jsonx"), "{}", Err(415));
        check(Some("text/json"), "{}", Err(415));
        for body in
            ["null", "[]", "\"a\"", "1", "{", "{} {}", "{\"a\":1e999}", "{\"a\":\"\u{0}\"}", "{'a':1}"]
        {
            check(json, body, Err(400));
        }
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        check(json, &nested(63), Ok(Some(&nested(63))));
        check(json, &nested(64), Err(400));
        check(json, r#"{"a":1,"\u0061":2}"#, Err(400));
        check(json, r#"{"path":{"$serde_json::private::RawValue":"\"a.txt\""}}"#, Err(400));
        let long = |n: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(n));
        check(json, &long(292), Ok(Some(&long(292))));
        check(json, &long(293), Err(413));
    }
}

//! What the proxy itself says to a program.

use std::convert::Infallible;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Bytes;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use vambrace_policy::url::{UrlRefusal, Voice};

use super::Outcome;
use crate::NetError;

pub(super) type Body = UnsyncBoxBody<Bytes, hyper::Error>;
pub(super) type Answer = Response<Body>;

/// Why a request is not passed on.
#[derive(Debug)]
pub(super) enum Refused {
    /// It is none that a proxy can serve, or one of two minds.
    Malformed {
        why: &'static str,
    },
    Url(UrlRefusal),
    Failed(NetError),
}

impl From<UrlRefusal> for Refused {
    fn from(refusal: UrlRefusal) -> Refused {
        Refused::Url(refusal)
    }
}

impl From<NetError> for Refused {
    fn from(error: NetError) -> Refused {
        match error {
            NetError::Refused(refusal) => Refused::Url(refusal),
            error => Refused::Failed(error),
        }
    }
}

impl Refused {
    /// For the ledger.
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Refused::Malformed { why } => Outcome::Refused(UrlRefusal::Unparsable { why: (*why).to_owned() }),
            Refused::Url(refusal) => Outcome::Refused(refusal.clone()),
            Refused::Failed(error) => Outcome::Failed { why: error.to_tool_error(Voice::Seed000).message },
        }
    }

    pub(super) fn answer(&self) -> Answer {
        match self {
            Refused::Malformed { why } => {
                let mut answer = text(StatusCode::BAD_REQUEST, format!("{why}\n"));
                // Where such a request ends is anybody's guess.
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                answer
            }
            Refused::Url(refusal) => {
                let lines = format!("{}\n{}\n", refusal.text(Voice::Seed000), refusal.suggestion());
                text(StatusCode::FORBIDDEN, lines)
            }
            Refused::Failed(error) => {
                let status = match error {
                    NetError::TimedOut { .. } => StatusCode::GATEWAY_TIMEOUT,
                    _ => StatusCode::BAD_GATEWAY,
                };
                let told = error.to_tool_error(Voice::Seed000);
                text(status, format!("{}\n{}\n", told.message, told.suggestion))
            }
        }
    }
}

pub(super) fn empty(status: StatusCode) -> Answer {
    let never = |never: Infallible| match never {};
    let mut answer = Response::new(Empty::new().map_err(never).boxed_unsync());
    *answer.status_mut() = status;
    answer
}

fn text(status: StatusCode, text: String) -> Answer {
    let never = |never: Infallible| match never {};
    let mut answer = Response::new(Full::new(Bytes::from(text)).map_err(never).boxed_unsync());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

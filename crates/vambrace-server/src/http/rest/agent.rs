//! `/api/query` and its stream (specification 001). There is no agent yet: what is asked is looked at, and nobody answers.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use http::StatusCode;
use serde_json::Value;
use vambrace_types::ErrorCode;

use super::body::{self, Bounds, invalid};
use super::query as after;
use crate::http::{Admitted, Front, Problem};

/// Specification 001: one megabyte.
pub(super) const LONGEST: usize = 1 << 20;

pub(super) async fn query(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Result<(), Problem> {
    after::none(request.uri())?;
    let (head, sent) = request.into_parts();
    let bounds = Bounds { bytes: LONGEST, time: front.settings.read_timeout };
    let asked = body::read(&head.headers, sent, bounds).await;
    let asked = asked.map_err(|problem| front.told(problem, admitted.address, &head))?.unwrap_or_default();
    let is_asked = asked.get("query").and_then(Value::as_str).is_some_and(|query| !query.trim().is_empty());
    if !is_asked {
        return Err(invalid("`query` must be a text that is not empty."));
    }
    let message = "No language model is configured, so questions cannot be answered.";
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::NoModel, message)
        .suggestion("Call tools directly: GET /api/tools lists them, POST /api/tools/{name} calls one."))
}

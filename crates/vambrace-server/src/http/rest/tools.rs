//! `/api/tools`: what the caller may use, and one call.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use http::{HeaderValue, StatusCode, header};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use vambrace_runtime::{Corridor, Leash, Reply, ToolDescription};
use vambrace_types::{Door, ErrorCode, Family};

use super::body::{self, Bounds};
use super::query;
use crate::http::{Admitted, Calling, Front, Problem, answer};
use crate::wire;

pub(super) async fn list(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    query::none(request.uri())?;
    let caller = admitted.caller(Door::Rest);
    let tools: Vec<Value> = front.corridor.tools_for(&caller).into_iter().map(describe).collect();
    Ok(Json(json!({"success": true, "tools": tools})))
}

fn describe(tool: ToolDescription) -> Value {
    let hints = tool.about.hints;
    json!({
        "name": tool.about.name.as_str(),
        "title": tool.about.title,
        "description": tool.about.description,
        "input_schema": tool.schema,
        "annotations": {
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    #[serde(default)]
    dry_run: bool,
}

/// The row of the table, which answers other methods; a POST is led to `call` before the router is asked.
pub(super) async fn routed(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Response {
    call(&front, admitted, request).await
}

/// One call, of the tool that the path names.
pub(in crate::http) async fn call(front: &Front, admitted: Admitted, request: Request) -> Response {
    called(front, admitted, request).await.unwrap_or_else(Problem::into_response)
}

async fn called(front: &Front, admitted: Admitted, request: Request) -> Result<Response, Problem> {
    let tool = request.uri().path().rsplit('/').next().unwrap_or_default();
    let tool = percent_decode_str(tool).decode_utf8();
    let tool = tool.map_err(|_| body::invalid("The tool's name is not UTF-8 text."))?.into_owned();
    let wish: Wish = query::read(request.uri())?;
    let (head, sent) = request.into_parts();
    let bounds = Bounds { bytes: front.settings.max_body, time: front.settings.read_timeout };
    let arguments = body::read(&head.headers, sent, bounds).await;
    let arguments = arguments.map_err(|problem| front.told(problem, admitted.address, &head))?;
    // While nothing of the request is held, the connection reads the next one into the same memory.
    drop(head);
    let (caller, chain) = admitted.into_caller(Door::Rest);
    let calling = Calling {
        caller,
        session: Corridor::new_session(),
        tool,
        arguments: arguments.unwrap_or_else(|| Value::Object(Map::new())),
        dry_run: wish.dry_run,
        chain,
    };
    let Some(reply) = front.call(calling, Leash::default()).await else {
        let message = "Vambrace met an internal fault or is shutting down.";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::NotReady, message)
            .suggestion("Wait a moment and look whether the call is on record before you make it again."));
    };
    let status = status(&reply);
    let mut response = answer::json(status, wire::tool_result_json(&reply));
    if status == StatusCode::CONFLICT {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    Ok(response)
}

/// 2xx: the call was judged, and made or put to a person. What the world then said is in the result: a file that is not
/// there is an answer. 4xx and 5xx: it was not made. 429 is never used here: it has a shape of its own.
fn status(reply: &Reply) -> StatusCode {
    let status = reply.error().map_or(StatusCode::OK, |error| status_of(error.code));
    // A person said no: nothing is left to wait for. A preview says that one would have to be asked.
    let is_refused = reply.ticket().is_none() && !reply.metadata().dry_run;
    if status == StatusCode::ACCEPTED && is_refused { StatusCode::FORBIDDEN } else { status }
}

fn status_of(code: ErrorCode) -> StatusCode {
    match (code, code.family()) {
        (ErrorCode::ToolNotFound, _) => StatusCode::NOT_FOUND,
        (
            ErrorCode::AuditUnavailable
            | ErrorCode::StateUnavailable
            | ErrorCode::PostureBroken
            | ErrorCode::IsolationTooWeak
            | ErrorCode::NotReady,
            _,
        ) => StatusCode::SERVICE_UNAVAILABLE,
        (_, Family::Invalid) => StatusCode::UNPROCESSABLE_ENTITY,
        (_, Family::Denied) => StatusCode::FORBIDDEN,
        (_, Family::Ask) => StatusCode::ACCEPTED,
        (_, Family::Busy) => StatusCode::CONFLICT,
        (_, Family::Failed) => StatusCode::OK,
        (_, Family::Internal) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: ErrorCode, expected: u16) {
        assert_eq!(status_of(code).as_u16(), expected, "{code:?}");
    }

    #[test]
    fn every_family_has_its_status() {
        check(ErrorCode::ValidationError, 422);
        check(ErrorCode::ToolNotFound, 404);
        check(ErrorCode::PermissionDenied, 403);
        check(ErrorCode::MetadataAddress, 403);
        check(ErrorCode::ApprovalRequired, 202);
        check(ErrorCode::ResourceBusy, 409);
        check(ErrorCode::TooManyPrograms, 409);
        check(ErrorCode::FileNotFound, 200);
        check(ErrorCode::Timeout, 200);
        check(ErrorCode::AuditUnavailable, 503);
        check(ErrorCode::StateUnavailable, 503);
        check(ErrorCode::InternalError, 500);
        // 429 has exactly two members, and 401 is before any call.
        for code in ErrorCode::ALL {
            assert!(!matches!(status_of(*code).as_u16(), 401 | 429), "{code:?}");
        }
    }
}

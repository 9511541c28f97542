//! `/api/tokens/task`: a token for one task, for those who hand work to others. It can only narrow
//! what its maker has.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::{Extension, Json};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use vambrace_audit::{Event, EventKind, Severity, rfc3339};
use vambrace_auth::{LONGEST_TASK, Task, TaskKey};
use vambrace_policy::covers;
use vambrace_runtime::chance;
use vambrace_types::{Caller, Door, ErrorCode, Role, Timestamp, ToolMode, Tree};

use super::body::{self, Bounds, invalid};
use super::query;
use crate::http::{Admitted, Front, Problem};
use crate::mcp::DryRun;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// Seconds.
    #[serde(default = "hour")]
    ttl: u64,
    role: Option<String>,
    tool: Option<String>,
}

fn hour() -> u64 {
    3600
}

/// LIMIT: a wish is a few words.
const LONGEST: usize = 4096;

pub(super) async fn make(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    query::none(request.uri())?;
    let caller = admitted.caller(Door::Rest);
    front.refuse_stopped(&caller)?;
    if front.settings.dry_run == DryRun::Always {
        return Err(forbidden("This server was started with --dry-run: it only shows, and makes no token."));
    }
    let key = front.settings.tasks.as_ref().ok_or_else(no_key)?;
    if caller.task.is_some() {
        return Err(forbidden("A task makes no tokens for others."));
    }
    let (head, sent) = request.into_parts();
    let bounds = Bounds { bytes: LONGEST, time: front.settings.read_timeout };
    let said = body::read(&head.headers, sent, bounds).await;
    let said = said.map_err(|problem| front.told(problem, admitted.address, &head))?;
    let wish: Wish = serde_json::from_value(said.unwrap_or_else(|| json!({})))
        .map_err(|error| invalid(&format!("The wish does not fit: {error}.")))?;
    let now = front.corridor.clock().now();
    let task = task(&caller, wish, now)?;
    let token = token(key, &task)?;
    record(&front, &caller, &task).await?;
    Ok(Json(json!({
        "success": true,
        "token": token,
        "task": task.id,
        "context": task.context,
        "role": task.role.map(Role::as_str),
        "tool": task.mode.map(ToolMode::describe),
        "expires_at": rfc3339(task.expires_at),
    })))
}

/// THREAT: P13, what its maker may not do, the task may not; policy asks both roles and both modes
/// with every call.
fn task(caller: &Caller, wish: Wish, now: Timestamp) -> Result<Task, Problem> {
    if !(1..=LONGEST_TASK).contains(&wish.ttl) {
        return Err(invalid(&format!("`ttl` is between 1 and {LONGEST_TASK} seconds.")));
    }
    let role = match wish.role.as_deref() {
        None => caller.role,
        Some(text) => Role::parse(text).map_err(|unknown| invalid(&format!("{unknown}.")))?,
    };
    if !covers(caller.role, role) {
        let message = format!("Your role `{}` does not include `{}`.", caller.role.as_str(), role.as_str());
        return Err(forbidden(&message));
    }
    let mode = wish.tool.as_deref().map(ToolMode::parse).transpose();
    Ok(Task {
        caller_id: caller.id.clone(),
        email: caller.email.clone(),
        user: caller.user.clone(),
        subject: caller.subject.clone(),
        voice: caller.voice,
        id: chance::<8>().iter().map(|byte| format!("{byte:02x}")).collect(),
        context: caller.context.as_ref().map(|name| name.to_string()),
        role: Some(role),
        mode: mode.map_err(|unknown| invalid(&format!("{unknown}.")))?,
        expires_at: now.plus(Duration::from_secs(wish.ttl)),
    })
}

fn token(key: &TaskKey, task: &Task) -> Result<String, Problem> {
    key.make(task).map(|token| token.expose().clone()).ok_or_else(no_key)
}

/// No token that nobody knows of: who gave it to whom, and for what, is on record first.
async fn record(front: &Front, caller: &Caller, task: &Task) -> Result<(), Problem> {
    let redactor = front.corridor.redactor_for_call(front.corridor.clock().now());
    let optional = |text: Option<&str>| text.map_or(Tree::Null, Tree::text);
    let details = Tree::map([
        ("task", Tree::text(&task.id)),
        ("context", optional(task.context.as_deref())),
        ("role", optional(task.role.map(Role::as_str))),
        ("tool", optional(task.mode.map(ToolMode::describe))),
        ("expires_at", Tree::Text(rfc3339(task.expires_at))),
    ]);
    let event = Event {
        kind: EventKind::TaskToken,
        severity: Severity::Info,
        caller: Some(caller.id.clone()),
        by: None,
        call_id: None,
        message: redactor.text(&format!("made a token for task {}", task.id)).value,
        details: redactor.plain_tree(details).value,
    };
    let audit = front.corridor.audit().map_err(|_| unrecorded())?;
    audit.event(&event).await.map(drop).map_err(|_| unrecorded())
}

fn unrecorded() -> Problem {
    let message = "The audit log cannot be written, so no token was made.";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::AuditUnavailable, message)
        .suggestion("Ask the operator to look at the state folder.")
}

fn forbidden(message: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, ErrorCode::PermissionDenied, message)
        .suggestion("Ask for less, or ask the operator for a token (`vambrace token task`).")
}

fn no_key() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::InternalError,
        "There is no key for task tokens.",
    )
    .suggestion("Ask the operator to look at the state folder.")
}

//! `/api/approvals`: questions that wait for a person. Agents see their own; operators see all of them and answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::{Extension, Json};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use vambrace_audit::{AnswerError, AuditError, Question, QuestionState};
use vambrace_types::{Caller, Door, ErrorCode, Rank};

use super::body::{self, Bounds, invalid};
use super::query;
use crate::http::{Admitted, Front, Problem};
use crate::mcp::DryRun;
use crate::wire;

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Which {
    #[default]
    Waiting,
    All,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    #[serde(default)]
    state: Which,
}

pub(super) async fn list(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let Wish { state } = query::read(request.uri())?;
    let caller = admitted.caller(Door::Rest);
    front.refuse_stopped(&caller)?;
    // Few read at once, as with the record; who answers does not wait behind them.
    let place = Arc::clone(&front.readers).acquire_owned().await.map_err(|_| unavailable())?;
    let mut questions = all(&front, Some(place)).await?;
    questions.retain(|question| sees(&caller, question));
    if state == Which::Waiting {
        questions.retain(|question| question.state == QuestionState::Waiting);
    }
    questions.truncate(super::record::MOST);
    let shown: Vec<Value> = questions.iter().map(wire::question).collect();
    Ok(Json(json!({"success": true, "approvals": shown})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    id: String,
    decision: Decision,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Approve,
    Reject,
}

/// LIMIT: an answer is two short words.
const LONGEST: usize = 4096;

pub(super) async fn answer(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    query::none(request.uri())?;
    let caller = admitted.caller(Door::Rest);
    front.refuse_stopped(&caller)?;
    match caller.rank {
        Rank::Operator => {}
        Rank::Agent => return Err(forbidden("Only an operator may answer questions.")),
    }
    if front.settings.dry_run == DryRun::Always {
        return Err(forbidden(
            "This server was started with --dry-run: it only shows, and answers no question.",
        ));
    }
    let (head, sent) = request.into_parts();
    let bounds = Bounds { bytes: LONGEST, time: front.settings.read_timeout };
    let said = body::read(&head.headers, sent, bounds).await;
    let said = said.map_err(|problem| front.told(problem, admitted.address, &head))?.unwrap_or_default();
    let Said { id, decision } = serde_json::from_value(said)
        .map_err(|error| invalid(&format!("The answer does not fit: {error}.")))?;
    let questions = all(&front, None).await?;
    let question = questions.iter().find(|question| question.id == id).ok_or_else(not_found)?;
    // THREAT: P13, an agent with an operator's key would approve what it asked itself.
    if is_own(&caller, question) {
        return Err(forbidden("Nobody answers a question of their own."));
    }
    // Again: the body may have taken its time.
    front.refuse_stopped(&caller)?;
    let answering = Arc::clone(&front);
    let answered = tokio::task::spawn_blocking(move || {
        answering.corridor.answer(&id, matches!(decision, Decision::Approve), &caller.id)
    });
    let question = answered.await.map_err(|_| unavailable())?.map_err(refused)?;
    Ok(Json(json!({"success": true, "approval": wire::question(&question)})))
}

/// One person may come with several names: a token with a user name and one without.
fn is_own(caller: &Caller, question: &Question) -> bool {
    let names = [&caller.email, &caller.user, &caller.subject].into_iter().flatten();
    let mut names = names.chain([&caller.id]);
    let asked_by = || question.owner.split('\u{1f}').chain([question.caller.as_str()]);
    // People write their names and addresses as they like.
    names.any(|name| asked_by().any(|part| part.to_lowercase() == name.to_lowercase()))
}

fn sees(caller: &Caller, question: &Question) -> bool {
    match caller.rank {
        Rank::Operator => true,
        Rank::Agent => question.caller == caller.id && question.owner == caller.owner(),
    }
}

async fn all(front: &Arc<Front>, place: Option<OwnedSemaphorePermit>) -> Result<Vec<Question>, Problem> {
    let looking = Arc::clone(front);
    let listing = tokio::task::spawn_blocking(move || -> Result<Vec<Question>, AuditError> {
        let listed = looking.corridor.approvals().map_or(Ok(Vec::new()), |approvals| approvals.list(true));
        drop(place);
        listed
    });
    listing.await.map_err(|_| unavailable())?.map_err(|_| unavailable())
}

fn refused(error: AnswerError) -> Problem {
    match error {
        AnswerError::NotFound(_) => not_found(),
        AnswerError::Answered => Problem::new(
            StatusCode::CONFLICT,
            ErrorCode::ApprovalNotFound,
            "The question is answered already.",
        )
        .suggestion("GET /api/approvals?state=all shows who answered."),
        AnswerError::Expired => {
            Problem::new(StatusCode::GONE, ErrorCode::ApprovalNotFound, "The question has expired.")
                .suggestion("The call has to be made again, which asks again.")
        }
        AnswerError::Audit(_) => unavailable(),
    }
}

fn not_found() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, ErrorCode::ApprovalNotFound, "No question has this id.")
        .suggestion("GET /api/approvals lists the questions that wait.")
}

fn forbidden(message: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, ErrorCode::PermissionDenied, message)
        .suggestion("Another operator can answer it, or a person with `vambrace approvals`.")
}

fn unavailable() -> Problem {
    let message = "The questions cannot be read or answered.";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::AuditUnavailable, message)
        .suggestion("Ask the operator to look at the state folder.")
}

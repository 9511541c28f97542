//! `/api/audit` and `/api/alerts`: the record, for those whose it is. Operators see everybody's.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::{Extension, Json};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use vambrace_audit::{AuditError, Filter, Verdict, alerts, counted_as, list, show};
use vambrace_json::Limits;
use vambrace_types::{Caller, Door, ErrorCode, Rank};

use super::body::invalid;
use super::query;
use crate::http::{Admitted, Front, Problem};
use crate::wire;

/// How many are shown when nothing is said, and at most.
pub(super) const USUAL: usize = 20;
pub(super) const MOST: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    last: Option<usize>,
    caller: Option<String>,
    tool: Option<String>,
    decision: Option<String>,
    request: Option<String>,
}

pub(super) async fn audit(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let wish: Wish = query::read(request.uri())?;
    let verdict = match wish.decision.as_deref() {
        None => None,
        Some(word) => Some(
            Verdict::parse(word).ok_or_else(|| invalid("`decision` must be `allow`, `ask` or `deny`."))?,
        ),
    };
    let caller = admitted.caller(Door::Rest);
    front.refuse_stopped(&caller)?;
    // All that is about one request, as far as it can be shown at once.
    let last = bounded(wish.last.or(wish.request.is_some().then_some(MOST)))?;
    let filter = Filter {
        // One more shows that there are more.
        last: Some(last + 1),
        caller: wish.caller,
        owner: owner(&caller),
        tool: wish.tool,
        verdict,
        request: wish.request,
        ..Filter::default()
    };
    let entries = looking(&front, move |dir| list(dir, &filter)).await?;
    let n_older = entries.len().saturating_sub(last);
    let records: Vec<Value> = entries.iter().skip(n_older).map(wire::audit_entry).collect();
    Ok(Json(json!({"success": true, "records": records, "more": n_older > 0})))
}

pub(super) async fn one(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    call_id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    query::none(request.uri())?;
    let Path(call_id) = call_id.map_err(|_| invalid("The call id is not UTF-8 text."))?;
    let caller = admitted.caller(Door::Rest);
    front.refuse_stopped(&caller)?;
    let owner = owner(&caller);
    let found = looking(&front, move |dir| show(dir, &call_id)).await?;
    // THREAT: P13, a foreign call's id answers as one that never was.
    let records: Vec<Value> = found
        .iter()
        .filter(|record| owner.is_none() || record.owner == owner)
        .filter_map(|record| vambrace_json::read(record.json.as_bytes(), Limits::document(usize::MAX)).ok())
        .collect();
    if records.is_empty() {
        let message = "No record that you may see has this call id.";
        return Err(Problem::new(StatusCode::NOT_FOUND, ErrorCode::RouteNotFound, message)
            .suggestion("GET /api/audit lists the calls that you may see."));
    }
    Ok(Json(json!({"success": true, "records": records})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HowMany {
    last: Option<usize>,
}

pub(super) async fn alarms(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let HowMany { last } = query::read(request.uri())?;
    let last = bounded(last)?;
    let caller = admitted.caller(Door::Rest);
    front.refuse_stopped(&caller)?;
    let mut found = looking(&front, alerts).await?;
    match caller.rank {
        Rank::Operator => {}
        // The same name under which violations are counted, so the person's own where one is behind the caller.
        Rank::Agent => found.retain(|alert| alert.caller == counted_as(&caller)),
    }
    found.drain(..found.len().saturating_sub(last));
    let shown: Vec<Value> = found.iter().map(wire::alert).collect();
    Ok(Json(json!({"success": true, "alerts": shown})))
}

/// Whose records are shown; none: everybody's.
fn owner(caller: &Caller) -> Option<String> {
    match caller.rank {
        Rank::Operator => None,
        Rank::Agent => Some(caller.owner()),
    }
}

fn bounded(last: Option<usize>) -> Result<usize, Problem> {
    match last {
        None => Ok(USUAL),
        Some(last) if (1..=MOST).contains(&last) => Ok(last),
        Some(_) => Err(invalid(&format!("`last` must be from 1 to {MOST}."))),
    }
}

/// Reading the record may take a while, so only a few do at once, each on a thread of its own. The place is given back when
/// the reading ends, not when its client has gone.
async fn looking<T: Send + 'static>(
    front: &Front,
    look: impl FnOnce(&FilePath) -> Result<T, AuditError> + Send + 'static,
) -> Result<T, Problem> {
    let unavailable = || {
        let message = "The record cannot be read.";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::AuditUnavailable, message)
            .suggestion("Ask the operator to run `vambrace audit verify`.")
    };
    let place = Arc::clone(&front.readers).acquire_owned().await.map_err(|_| unavailable())?;
    let dir = front.settings.audit_dir.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let found = look(&dir);
        drop(place);
        found
    });
    reading.await.map_err(|_| unavailable())?.map_err(|_| unavailable())
}

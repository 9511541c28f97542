//! `/health`, `/ready` and `/live`: for whoever keeps this running. Public, so nothing here tells more than
//! that.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use serde_json::{Map, Value, json};
use vambrace_audit::rfc3339;

use super::Front;

/// What keeps a server running asks these.
pub(super) fn is_probe(path: &str) -> bool {
    matches!(path, "/health" | "/ready" | "/live" | "/metrics")
}

pub(super) fn router() -> Router<Arc<Front>> {
    Router::new().route("/health", get(health)).route("/ready", get(ready)).route("/live", get(live))
}

/// Specification 001's body.
async fn health(State(front): State<Arc<Front>>) -> Json<Value> {
    let dependencies = dependencies(&front);
    let is_well = dependencies.iter().all(|(_, trouble)| trouble.is_none());
    let listed: Map<String, Value> = dependencies
        .into_iter()
        .map(|(name, trouble)| {
            let told = match trouble {
                None => json!({"status": "healthy"}),
                Some(trouble) => json!({"status": "unhealthy", "error": trouble}),
            };
            (name.to_owned(), told)
        })
        .collect();
    Json(json!({
        "status": if is_well { "healthy" } else { "degraded" },
        "service": "vambrace",
        "mode": "agent",
        "dependencies": listed,
        "timestamp": rfc3339(front.corridor.clock().now()),
    }))
}

/// Each with what is wrong, in words that strangers may read.
fn dependencies(front: &Front) -> Vec<(&'static str, Option<&'static str>)> {
    let mut all = vec![
        ("audit", front.corridor.audit().err().map(|_| "the record cannot be written")),
        ("isolation", front.corridor.unbroken().err().map(|_| "the self-test did not hold")),
    ];
    if let Some(keys) = &front.keys {
        all.push(("jwks", (!keys.are_loaded()).then_some("no keys are loaded")));
    }
    all
}

async fn ready(State(front): State<Arc<Front>>) -> Response {
    let is_ready = !front.ending.is_cancelled() && front.corridor.unbroken().is_ok();
    let (status, word) = match is_ready {
        true => (StatusCode::OK, "ready"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready"),
    };
    (status, Json(json!({"status": word}))).into_response()
}

async fn live() -> Json<Value> {
    Json(json!({"status": "alive"}))
}

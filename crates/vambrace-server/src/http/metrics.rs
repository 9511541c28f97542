//! What operators measure. Every label comes from a closed set: route templates, tools that exist, kinds that we name.
//! THREAT: P13, a caller that chooses a label fills the memory of whoever scrapes.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use vambrace_audit::QuestionState;
use vambrace_auth::{Moment, Refusal};
use vambrace_runtime::Reply;
use vambrace_types::ErrorCode;

use super::Front;

/// Which limit turned a request away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Address,
    Caller,
    /// Too many wrong credentials.
    Failures,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: String,
    decision: &'static str,
}

/// Names that the operator chose, so they are few.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ContextLabels {
    context: String,
    decision: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

/// The counters of one route, found once: this is done for every request.
pub(super) struct RouteCounts {
    route: &'static str,
    by_class: [OnceLock<Counter>; 5],
}

impl RouteCounts {
    /// `route` is a template.
    pub(super) fn of(route: &'static str) -> RouteCounts {
        RouteCounts { route, by_class: Default::default() }
    }

    #[cfg(test)]
    pub(super) fn route(&self) -> &'static str {
        self.route
    }
}

pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    calls: Family<CallLabels, Counter>,
    context_calls: Family<ContextLabels, Counter>,
    call_duration: Histogram,
    refused: Family<KindLabels, Counter>,
    limited: Family<KindLabels, Counter>,
    connections: Gauge,
    waiting: Gauge,
    uptime: Gauge<f64, AtomicU64>,
    /// When the questions were last counted. Held while counting, so one scrape does it and the others pass by.
    counted: tokio::sync::Mutex<Option<Moment>>,
}

/// Seconds; a quick read takes under a millisecond, a test run up to five minutes.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0, 60.0, 300.0];
/// Everybody may scrape, so the folder of questions is looked at no more often than this.
const COUNT_AGAIN: Duration = Duration::from_secs(5);
pub(super) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let metrics = Metrics {
            registry: Registry::with_prefix("vambrace"),
            requests: Family::default(),
            calls: Family::default(),
            context_calls: Family::default(),
            call_duration: Histogram::new(BUCKETS),
            refused: Family::default(),
            limited: Family::default(),
            connections: Gauge::default(),
            waiting: Gauge::default(),
            uptime: Gauge::default(),
            counted: tokio::sync::Mutex::default(),
        };
        metrics.registered()
    }

    fn registered(mut self) -> Metrics {
        let registry = &mut self.registry;
        registry.register("http_requests", "Requests by route and class of status", self.requests.clone());
        registry.register("calls", "Calls by tool and decision", self.calls.clone());
        let by_context = self.context_calls.clone();
        registry.register("context_calls", "Calls in contexts by context and decision", by_context);
        registry.register_with_unit(
            "call_duration",
            "How long calls took",
            Unit::Seconds,
            self.call_duration.clone(),
        );
        registry.register("auth_failures", "Refused requests by kind of credential", self.refused.clone());
        registry.register("rate_limited", "Requests turned away by a limit", self.limited.clone());
        registry.register("connections", "Open connections", self.connections.clone());
        registry.register("approvals_waiting", "Questions that wait for a person", self.waiting.clone());
        registry.register_with_unit("uptime", "Since the start", Unit::Seconds, self.uptime.clone());
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "What is running", build);
        self
    }

    /// `counts` are those of the route that was met.
    pub(super) fn request(&self, counts: &RouteCounts, status: StatusCode) {
        const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        let (Some(counter), Some(status)) = (counts.by_class.get(class), CLASSES.get(class)) else { return };
        let labels = || RequestLabels { route: counts.route, status };
        counter.get_or_init(|| self.requests.get_or_create(&labels()).clone()).inc();
    }

    pub(crate) fn call(&self, reply: &Reply, context: Option<&str>, took: Duration) {
        // A tool that does not exist has the name that its caller gave it.
        let unknown = reply.error().is_some_and(|error| error.code == ErrorCode::ToolNotFound);
        let tool = if unknown { "unknown" } else { reply.tool() }.to_owned();
        let decision = match reply.verdict() {
            // There was nothing to decide about.
            vambrace_runtime::Verdict::Allow if unknown => "none",
            vambrace_runtime::Verdict::Allow => "allow",
            vambrace_runtime::Verdict::Ask => "ask",
            vambrace_runtime::Verdict::Deny => "deny",
        };
        self.calls.get_or_create(&CallLabels { tool, decision }).inc();
        if let Some(context) = context {
            let labels = ContextLabels { context: context.to_owned(), decision };
            self.context_calls.get_or_create(&labels).inc();
        }
        self.call_duration.observe(took.as_secs_f64());
    }

    pub(crate) fn refused(&self, refusal: &Refusal) {
        let kind = match refusal {
            Refusal::InvalidInternalToken => "internal_token",
            Refusal::InvalidToken(_) | Refusal::ExpiredToken | Refusal::UnknownKey => "bearer_token",
            Refusal::InvalidApiKey => "api_key",
            Refusal::InvalidSlackSignature => "slack_signature",
            Refusal::UnreadableIdentity(_) => "identity",
            Refusal::NoContext => "context",
            Refusal::Missing => "missing",
        };
        self.refused.get_or_create(&KindLabels { kind }).inc();
    }

    pub(crate) fn limited(&self, limit: Limit) {
        let kind = match limit {
            Limit::Address => "address",
            Limit::Caller => "caller",
            Limit::Failures => "failures",
        };
        self.limited.get_or_create(&KindLabels { kind }).inc();
    }

    /// Counts a connection for as long as the guard is held.
    pub(crate) fn connected(&self) -> Connected {
        self.connections.inc();
        Connected(self.connections.clone())
    }
}

pub(crate) struct Connected(Gauge);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// `GET /metrics`.
pub(super) async fn show(State(front): State<Arc<Front>>) -> Response {
    count_questions(&front).await;
    let metrics = &front.metrics;
    metrics.uptime.set(front.moment().as_secs_f64());
    let mut text = String::new();
    match encode(&mut text, &metrics.registry) {
        Ok(()) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn count_questions(front: &Arc<Front>) {
    let Ok(mut counted) = front.metrics.counted.try_lock() else { return };
    let now = front.moment();
    if counted.is_some_and(|then| now.saturating_sub(then) < COUNT_AGAIN) {
        return;
    }
    *counted = Some(now);
    let looking = Arc::clone(front);
    let n_waiting = tokio::task::spawn_blocking(move || {
        let questions = looking.corridor.approvals().and_then(|approvals| approvals.list(false).ok())?;
        Some(questions.iter().filter(|question| question.state == QuestionState::Waiting).count())
    });
    if let Ok(Some(n_waiting)) = n_waiting.await {
        front.metrics.waiting.set(i64::try_from(n_waiting).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_shown_under_closed_labels() {
        let metrics = Metrics::new();
        metrics.request(&RouteCounts::of("/api/tools/{name}"), StatusCode::OK);
        metrics.request(&RouteCounts::of("none"), StatusCode::NOT_FOUND);
        metrics.refused(&Refusal::InvalidToken("expired"));
        metrics.refused(&Refusal::UnknownKey);
        metrics.limited(Limit::Failures);
        let first = metrics.connected();
        drop(metrics.connected());
        let mut text = String::new();
        encode(&mut text, &metrics.registry).unwrap();
        for line in [
            "vambrace_http_requests_total{route=\"/api/tools/{name}\",status=\"2xx\"} 1",
            "vambrace_http_requests_total{route=\"none\",status=\"4xx\"} 1",
            "vambrace_auth_failures_total{kind=\"bearer_token\"} 2",
            "vambrace_rate_limited_total{kind=\"failures\"} 1",
            "vambrace_connections 1",
            "vambrace_call_duration_seconds_count 0",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line} in\n{text}");
        }
        drop(first);
    }
}

//! Where a path leads. What makes calls is reached directly; the rest is axum's to route.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use futures_util::FutureExt as _;
use http::{HeaderValue, Method, StatusCode, header};
use tower::Service as _;

use super::around::{Arrival, Shown};
use super::metrics::RouteCounts;
use super::rest::{Access, ROUTES, TOOL};
use super::{Admitted, Front, admit, answer, health, rest, status};
use crate::{a2a, mcp};

/// Everything that is served.
pub(super) struct Routes {
    places: matchit::Router<Place>,
    nowhere: Place,
    /// INVARIANT: what needs a credential is here and not in `outside`, so a path that is taken for another one still
    /// shows nothing to strangers.
    inside: Router,
    outside: Router,
    mcp: mcp::Endpoint,
    a2a: a2a::Endpoint,
}

/// Where a path leads, and what is counted there.
pub(super) struct Place {
    leads: Leads,
    pub(super) counts: RouteCounts,
}

impl Place {
    /// Tools have limits of their own; a request that is cut off before them leaves its caller without the answer.
    pub(super) fn may_call(&self) -> bool {
        matches!(self.leads, Leads::Tool | Leads::Mcp | Leads::A2a)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leads {
    Outside,
    Inside,
    Tool,
    Mcp,
    A2a,
}

const MCP: &str = "/mcp";
const A2A: &str = "/a2a/invoke";

/// Public, and not in the table: older names, and what is not there.
const MORE: [&str; 2] = ["/.well-known/agent.json", "/.well-known/{*rest}"];

impl Routes {
    pub(super) fn new(front: &Arc<Front>) -> Routes {
        let inside = Router::new()
            .route("/", get(status::page))
            .merge(rest::router())
            // INVARIANT: what is not there is not told to strangers either.
            .fallback(answer::nowhere);
        let outside = Router::new()
            .merge(health::router())
            .merge(rest::public_router())
            .merge(
                mcp::public_router()
                    .merge(a2a::public_router())
                    .route_layer(from_fn_with_state(Arc::clone(front), admit::meant_for_us)),
            )
            // The rest of it is public too, and there is nothing.
            .route("/.well-known/{*rest}", any(answer::nowhere));
        Routes {
            places: places(),
            nowhere: Place { leads: Leads::Inside, counts: RouteCounts::of("none") },
            inside: inside.with_state(Arc::clone(front)),
            outside: outside.with_state(Arc::clone(front)),
            mcp: mcp::Endpoint::new(front),
            a2a: a2a::Endpoint::new(front),
        }
    }

    pub(super) fn place(&self, path: &str) -> &Place {
        self.places.at(meant(path)).map_or(&self.nowhere, |found| found.value)
    }

    pub(super) async fn answer(
        &self,
        front: &Arc<Front>,
        arrival: Arrival,
        place: &Place,
        request: Request,
    ) -> Response {
        // Pinned where it is: what is passed on as a value is held twice, by every connection.
        unpanicked(pin!(self.led(front, arrival, place.leads, request))).await
    }

    async fn led(
        &self,
        front: &Arc<Front>,
        arrival: Arrival,
        leads: Leads,
        mut request: Request,
    ) -> Response {
        if leads == Leads::Outside {
            request.extensions_mut().insert(arrival);
            return routed(&self.outside, request).await;
        }
        let (admitted, draw, request) = match admit::admit(front, arrival, request).await {
            Ok(admitted) => admitted,
            Err(problem) => return problem.into_response(),
        };
        let mut answer = self.inside(front, admitted, leads, request).await;
        answer.extensions_mut().insert(Shown(draw));
        answer
    }

    async fn inside(
        &self,
        front: &Arc<Front>,
        admitted: Admitted,
        leads: Leads,
        mut request: Request,
    ) -> Response {
        let is_post = request.method() == Method::POST;
        match leads {
            Leads::Mcp => self.mcp.serve(front, admitted, request).await,
            Leads::A2a if is_post => self.a2a.invoke(front, admitted, request).await,
            Leads::A2a => {
                let allow = [(header::ALLOW, HeaderValue::from_static("POST"))];
                (StatusCode::METHOD_NOT_ALLOWED, allow).into_response()
            }
            Leads::Tool if is_post => rest::call(front, admitted, request).await,
            Leads::Tool | Leads::Inside | Leads::Outside => {
                request.extensions_mut().insert(admitted);
                routed(&self.inside, request).await
            }
        }
    }
}

/// Clients that join our address and a path of theirs put a slash behind it.
fn meant(path: &str) -> &str {
    match path {
        "/mcp/" => MCP,
        "/a2a/invoke/" => A2A,
        path => path,
    }
}

/// A fault in a handler is one answer, and the server lives. Its words are not for the caller.
async fn unpanicked(answering: impl Future<Output = Response>) -> Response {
    let answer = AssertUnwindSafe(answering).catch_unwind().await;
    answer.unwrap_or_else(|_| answer::fault().into_response())
}

fn places() -> matchit::Router<Place> {
    let mut places = matchit::Router::new();
    let listed = ROUTES.iter().map(|route| (route.path, route.access));
    for (path, access) in listed.chain(MORE.map(|path| (path, Access::Public))) {
        let leads = match (path, access) {
            (MCP, _) => Leads::Mcp,
            (A2A, _) => Leads::A2a,
            (path, _) if path == TOOL.path => Leads::Tool,
            (_, Access::Public) => Leads::Outside,
            (_, Access::Credential) => Leads::Inside,
        };
        // A path stands in the table once for each of its methods.
        let _ = places.insert(path, Place { leads, counts: RouteCounts::of(path) });
    }
    places
}

async fn routed(router: &Router, request: Request) -> Response {
    match router.clone().call(request).await {
        Ok(answer) => answer,
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_fault_is_one_answer_without_its_words() {
        let answer = unpanicked(async { panic!("words of the inside") }).await;
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = axum::body::to_bytes(answer.into_body(), 10_000).await.unwrap();
        assert!(!String::from_utf8_lossy(&body).contains("words of"));
        let sound = unpanicked(async { "sound".into_response() }).await;
        assert_eq!(sound.status(), StatusCode::OK);
    }

    #[track_caller]
    fn check(path: &str, expected: Option<(&str, Leads)>) {
        let places = places();
        let found = places.at(path).ok().map(|found| (found.value.counts.route(), found.value.leads));
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn a_path_leads_where_the_table_says() {
        check("/mcp", Some(("/mcp", Leads::Mcp)));
        check("/a2a/invoke", Some(("/a2a/invoke", Leads::A2a)));
        check("/api/tools", Some(("/api/tools", Leads::Inside)));
        check("/api/tools/read_file", Some(("/api/tools/{name}", Leads::Tool)));
        check("/api/tools/a/b", None);
        for (path, same) in
            [("/mcp/", MCP), ("/a2a/invoke/", A2A), ("/mcp//", "/mcp//"), ("/api/tools/", "/api/tools/")]
        {
            assert_eq!(meant(path), same);
        }
        check("/nowhere", None);
        check("/health", Some(("/health", Leads::Outside)));
        check("/.well-known/anything/else", Some(("/.well-known/{*rest}", Leads::Outside)));
        for path in MORE {
            assert_eq!(places().at(path).unwrap().value.leads, Leads::Outside, "{path}");
        }
        for route in ROUTES {
            let places = places();
            let is_outside = places.at(route.path).unwrap().value.leads == Leads::Outside;
            assert_eq!(is_outside, route.access == Access::Public, "{}", route.path);
        }
    }
}

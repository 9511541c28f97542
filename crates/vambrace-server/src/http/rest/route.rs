//! What a row of the table says, and how a router is made of rows.

use std::sync::Arc;

use axum::Router;
use axum::routing::MethodRouter;
use http::StatusCode;
use serde_json::Value;
use vambrace_types::ErrorCode;

use super::table::ROUTES;
use crate::http::{Front, Problem};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Verb {
    Get,
    Post,
    Delete,
}

impl Verb {
    /// As a path item of the document names it.
    pub(in crate::http) fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::Post => "post",
            Verb::Delete => "delete",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Access {
    Public,
    Credential,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::http) enum Place {
    Path,
    Query,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Parameter {
    pub(in crate::http) name: &'static str,
    pub(in crate::http) place: Place,
    pub(in crate::http) about: &'static str,
    pub(in crate::http) schema: fn() -> Value,
}

/// What a body is. Names are those of the document's schemas.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) enum Content {
    Json(&'static str),
    /// One or the other.
    Either(&'static str, &'static str),
    /// JSON, or a stream of events that hold it.
    JsonOrEvents(&'static str),
    Text(&'static str),
}

#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Answer {
    /// None: every status that no other answer names.
    pub(in crate::http) status: Option<u16>,
    pub(in crate::http) about: &'static str,
    pub(in crate::http) content: Content,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::http) enum Handler {
    Here(fn() -> MethodRouter<Arc<Front>>),
    /// Another protocol's router serves it; the table describes it.
    Elsewhere,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Route {
    pub(in crate::http) verb: Verb,
    pub(in crate::http) path: &'static str,
    pub(in crate::http) access: Access,
    pub(in crate::http) id: &'static str,
    pub(in crate::http) summary: &'static str,
    pub(in crate::http) parameters: &'static [Parameter],
    /// The schema of the JSON that it takes.
    pub(in crate::http) body: Option<&'static str>,
    pub(in crate::http) answers: &'static [Answer],
    pub(in crate::http) handler: Handler,
}

/// The rows with this access that are served here.
pub(super) fn router(access: Access) -> Router<Arc<Front>> {
    let mut paths: Vec<(&str, MethodRouter<Arc<Front>>)> = Vec::new();
    for route in ROUTES.iter().filter(|route| route.access == access) {
        let Handler::Here(handler) = route.handler else { continue };
        // One entry for a path, whatever its methods: a path has one answer to the methods that it does not know.
        match paths.iter_mut().find(|(path, _)| *path == route.path) {
            Some((_, methods)) => *methods = std::mem::take(methods).merge(handler()),
            None => paths.push((route.path, handler())),
        }
    }
    let add = |router: Router<Arc<Front>>, (path, methods): (&str, MethodRouter<Arc<Front>>)| {
        router.route(path, methods.fallback(no_such_method))
    };
    paths.into_iter().fold(Router::new(), add)
}

async fn no_such_method() -> Problem {
    let message = "Nothing is served here under this method.";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::RouteNotFound, message)
        .suggestion("The Allow header names the methods; /openapi.json describes every route.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_makes_routers() {
        // Two rows of one method and path would panic here.
        let _ = router(Access::Credential).merge(router(Access::Public));
    }

    #[test]
    fn rows_are_told_apart_and_their_parts_fit() {
        for (place, route) in ROUTES.iter().enumerate() {
            let earlier = &ROUTES[..place];
            assert!(!earlier.iter().any(|other| other.id == route.id), "{}", route.id);
            let named: Vec<&str> = route
                .parameters
                .iter()
                .filter(|parameter| matches!(parameter.place, Place::Path))
                .map(|parameter| parameter.name)
                .collect();
            let parts = route.path.split('/');
            let in_path: Vec<&str> =
                parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            assert_eq!(named, in_path, "{}", route.path);
        }
    }
}

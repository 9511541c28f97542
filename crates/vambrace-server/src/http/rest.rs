//! The REST interface under `/api`, and what is public. The routes stand in one table (`table`): the router and
//! `/openapi.json` are both made from it.

mod agent;
mod approvals;
mod body;
mod query;
mod record;
mod route;
mod table;
mod task;
mod tools;

use std::sync::Arc;

use axum::Router;

use super::Front;

pub(super) use query::none as no_query;
pub(super) use route::{Access, Answer, Content, Parameter, Place, Route};
pub(super) use table::{ROUTES, TOOL};
pub(super) use tools::call;

pub(super) fn router() -> Router<Arc<Front>> {
    route::router(Access::Credential)
}

pub(super) fn public_router() -> Router<Arc<Front>> {
    route::router(Access::Public)
}

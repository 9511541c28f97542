//! The Model Context Protocol, revisions 2025-11-25 and 2026-07-28 (and older ones that clients still speak).

mod asking;
mod conformance;
mod handler;
mod http;
mod metadata;
mod pipe;
mod progress;
mod revision;
mod session;
mod short_way;
mod stdio;
mod threshold;

pub use asking::{Dialogs, Questions};
pub use handler::{DryRun, Gate};
pub(crate) use http::{Endpoint, public_router};
pub use stdio::serve_stdio;

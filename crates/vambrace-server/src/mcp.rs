//! The Model Context Protocol, revisions 2025-11-25 and 2026-07-28 (and older ones that clients still speak).

mod handler;
mod oversize;
mod stdio;

pub use handler::Gate;
pub use stdio::serve_stdio;

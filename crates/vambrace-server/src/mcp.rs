//! The Model Context Protocol, revisions 2025-11-25 and 2026-07-28 (and older ones that clients still speak).

mod handler;
mod oversize;
mod progress;
mod stdio;
mod threshold;

pub use handler::{DryRun, Gate};
pub use stdio::serve_stdio;

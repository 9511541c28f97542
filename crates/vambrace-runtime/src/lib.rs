//! The corridor. Every call through every door walks `walk`, and there is no other way to a tool.
//!
//! This crate puts the parts together and knows the order of the stages. It knows no wire format: front ends hand in an
//! `Incoming` and render the `Reply` they get.

mod corridor;
mod incoming;
mod leash;
mod reply;
mod stage;
mod table;
mod walk;

pub use corridor::{Corridor, CorridorParts, OnAuditFailure, Relearn};
pub use incoming::{Answer, Approver, Incoming};
pub use leash::Leash;
pub use reply::{Reply, ReplyError, Verdict};
pub use table::ToolDescription;
pub use vambrace_audit::Purpose;

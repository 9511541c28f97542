//! The corridor. Every call through every door walks `walk`, and there is no other way to a tool.
//!
//! This crate puts the parts together and knows the order of the stages. It knows no wire format: front ends hand in an
//! `Incoming` and render the `Reply` they get.

mod catalog;
mod chance;
mod context;
mod corridor;
mod executor;
mod incoming;
mod leash;
mod log;
mod redaction;
mod reply;
mod stage;
mod underway;
mod walk;

pub use catalog::{ToolDescription, ToolSource};
pub use chance::chance;
pub use context::{Context, Contexts};
pub use corridor::{Corridor, CorridorParts, OnAuditFailure};
pub use incoming::{Answer, Approver, Incoming};
pub use leash::Leash;
pub use log::{Level, Log, LogLine, NoLog};
pub use redaction::{MarkPrograms, Redaction, Relearn, Relearned};
pub use reply::{Answerer, Reply, ReplyError, Ticket, Verdict};
pub use vambrace_audit::Purpose;

//! The corridor. Every call through every door walks `walk`, and there is no other way to a tool.
//!
//! This crate puts the parts together and knows the order of the stages. It knows no wire format: front ends hand in an
//! `Incoming` and render the `Reply` they get.

mod brief;
mod chance;
mod corridor;
mod incoming;
mod leash;
mod log;
mod reply;
mod stage;
mod table;
mod underway;
mod walk;

pub use brief::BRIEF_TURNS;
pub use chance::chance;
pub use corridor::{Corridor, CorridorParts, MarkPrograms, OnAuditFailure, Relearn, Relearned};
pub use incoming::{Answer, Approver, Incoming};
pub use leash::Leash;
pub use log::{Level, Log, LogLine, NoLog};
pub use reply::{Answerer, Reply, ReplyError, Ticket, Verdict};
pub use table::ToolDescription;
pub use vambrace_audit::Purpose;

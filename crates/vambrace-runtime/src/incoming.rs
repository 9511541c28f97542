//! A call as a front end hands it in: who, what, and how to be told and stopped.

use std::sync::Arc;

use serde_json::Value;
use vambrace_audit::Purpose;
use vambrace_process::Live;
use vambrace_tools::ProgressSink;
use vambrace_types::{Caller, Chain, SessionId};

use crate::Leash;

pub struct Incoming {
    pub caller: Caller,
    pub session: SessionId,
    /// As it was sent; not trusted.
    pub tool: String,
    pub arguments: Value,
    /// Plan, decide, stop.
    pub dry_run: bool,
    pub purpose: Purpose,
    pub leash: Leash,
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// Where a program's output goes as it comes, instead of being collected.
    pub live: Option<Arc<dyn Live>>,
    /// Somebody who can be asked; without one, what needs a person is refused.
    pub approver: Option<Arc<dyn Approver>>,
    /// The agents through which it came, for those that it goes on to.
    pub chain: Chain,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Yes { by: String },
    No,
}

/// Puts a question to a person and waits for the answer. The texts are redacted.
pub trait Approver: Send + Sync {
    fn ask(&self, tool: &str, question: &str) -> Answer;
}

//! A call as a front end hands it in: who, what, and how to be told and stopped.

use std::sync::Arc;

use serde_json::Value;
use vambrace_audit::Purpose;
use vambrace_tools::ProgressSink;
use vambrace_types::{Caller, SessionId};

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
}

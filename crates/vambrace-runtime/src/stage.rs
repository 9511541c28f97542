//! The stages of the walk that are more than a line.

mod conclude;
mod record;
mod validate;

use std::sync::Arc;

use serde_json::Value;
use vambrace_audit::CallEntry;
use vambrace_policy::{Action, Denial, Permit, Question, Severity};
use vambrace_tools::ProgressSink;
use vambrace_types::{CallId, Enforcement, Timestamp, ToolError, ToolName};

pub(crate) use conclude::conclude;
pub(crate) use record::{record_intent, standing};
pub(crate) use validate::{decode, scan};

use crate::corridor::{chance, or_empty};
use crate::{Corridor, Incoming, Leash};

/// What is known of a call from its first moment.
pub(crate) struct Call {
    pub(crate) entry: CallEntry,
    pub(crate) arguments: Value,
    pub(crate) leash: Leash,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) started: Timestamp,
    /// What the arguments name as their path, for the security stream.
    pub(crate) target: String,
}

impl Call {
    /// `tool` is the tool's own name; an alias or an unknown name is kept in the input's record.
    pub(crate) fn begin(corridor: &Corridor, incoming: Incoming, tool: &'static str) -> Call {
        let parts = &corridor.parts;
        let started = parts.clock.now();
        let arguments = or_empty(incoming.arguments);
        let input = parts.redactor.plain_tree(validate::tree_of(&arguments)).value;
        let text_of = |key: &str| arguments.get(key).and_then(Value::as_str);
        let target = text_of("path").unwrap_or_default().to_owned();
        let reason = text_of("reason").map(|reason| parts.redactor.text(reason).value);
        // Nobody's tool may be anything, a secret too; a name with a redaction in it is no name.
        let cleaned = parts.redactor.text(&incoming.tool).value;
        let name = ToolName::parse(cleaned.as_str()).unwrap_or_else(|| ToolName::of("unknown"));
        let known = tool != "unknown";
        let entry = CallEntry {
            call_id: CallId::new(started, chance()),
            session_id: incoming.session,
            caller: incoming.caller,
            tool: if known { ToolName::of(tool) } else { name },
            input,
            reason,
            dry_run: incoming.dry_run,
            purpose: incoming.purpose,
            volume: Some(parts.instruments.files.volume()),
        };
        Call { entry, arguments, leash: incoming.leash, progress: incoming.progress, started, target }
    }
}

/// What the walk has learned so far; it survives a panic of the tool.
pub(crate) struct Trail {
    pub(crate) rule: String,
    pub(crate) severity: Severity,
    pub(crate) enforcement: Enforcement,
    pub(crate) warnings: Vec<String>,
    /// Secrets that the tool covered itself.
    pub(crate) n_redacted: usize,
}

impl Default for Trail {
    fn default() -> Trail {
        // The files door enforces by the kernel or not at all, so its calls are fully enforced.
        let enforcement = Enforcement::Full;
        Trail {
            rule: String::new(),
            severity: Severity::Info,
            enforcement,
            warnings: Vec::new(),
            n_redacted: 0,
        }
    }
}

impl Trail {
    pub(crate) fn allowed_by<A: Action>(&mut self, permit: &Permit<A>) {
        self.rule = permit.rule().to_owned();
        self.severity = permit.obligations().severity;
    }
}

/// Why an attempt did not bring an output.
pub(crate) enum Setback {
    Error(ToolError),
    Ask(Question),
    Panicked,
}

impl From<ToolError> for Setback {
    fn from(error: ToolError) -> Setback {
        Setback::Error(error)
    }
}

impl From<Denial> for Setback {
    fn from(denial: Denial) -> Setback {
        Setback::Error(denial.to_tool_error())
    }
}

/// Tells the runtime that this thread will be held, so that it moves other work away.
pub(crate) fn in_place(work: &mut dyn FnMut()) {
    tokio::task::block_in_place(work);
}

//! The stages of the walk that are more than a line.

mod alarm;
mod authorize;
mod binding;
mod conclude;
mod contact;
mod decide;
mod execute;
mod permission;
mod prove;
mod question;
mod record;
mod validate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;
use vambrace_audit::CallEntry;
use vambrace_net::Contact;
use vambrace_policy::{Action, Denial, Permit, Question, Severity};
use vambrace_process::Live;
use vambrace_redact::{RedactedText, RedactedTree, Redactor};
use vambrace_tools::{Notes, ProgressSink, Tool, thread};
use vambrace_types::{CallId, Chain, Enforcement, ErrorCode, RawOutput, Timestamp, ToolError, ToolName};

pub(crate) use authorize::authorize;
pub(crate) use conclude::conclude;
pub(crate) use decide::{decide, look};
pub(crate) use execute::execute;
pub(crate) use prove::{prove, prove_before};
pub(crate) use record::record_intent;
pub(crate) use validate::validate;

use decide::{look_until, patience};

use crate::chance::chance;
use crate::context::Context;
use crate::{Approver, Corridor, Incoming, Leash, Ticket};

/// The name of a tool that there is not.
pub(crate) const UNKNOWN: ToolName = ToolName::of("unknown");

/// What is known of a call from its first moment.
pub(crate) struct Call {
    /// What its caller works in.
    pub(crate) context: Arc<Context>,
    pub(crate) entry: CallEntry,
    /// The redactor with the numbers of this call.
    pub(crate) redactor: Redactor,
    pub(crate) arguments: Value,
    pub(crate) leash: Leash,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) live: Option<Arc<dyn Live>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) chain: Chain,
    pub(crate) started: Timestamp,
    /// What the arguments name as their paths, for the security stream.
    pub(crate) target: String,
    /// The command that the arguments name, for the security stream.
    pub(crate) command: Option<String>,
}

/// What a call shows of itself, cleaned for the record.
pub(crate) struct Shown {
    input: RedactedTree,
    reason: Option<RedactedText>,
    request_id: Option<RedactedText>,
    dry_run: bool,
    /// Of a tool that there is not; none: what was given is no name.
    name: Option<ToolName>,
    target: String,
    command: Option<String>,
}

impl Shown {
    pub(crate) fn nothing() -> Shown {
        Shown {
            input: RedactedTree::null(),
            reason: None,
            request_id: None,
            dry_run: false,
            name: None,
            target: String::new(),
            command: None,
        }
    }

    /// Takes the wish for a preview out of the arguments, which are an object afterwards unless they are something else.
    pub(crate) fn of(redactor: &Redactor, incoming: &mut Incoming, tool: &ToolName) -> Shown {
        let redactor = &redactor.for_record();
        let arguments = &mut incoming.arguments;
        *arguments = or_empty(std::mem::take(arguments));
        let dry_run = wishes_dry_run(arguments);
        let reason = arguments.get("reason").and_then(Value::as_str);
        // Nobody's tool may be anything, a secret too; a name with a redaction in it is no name.
        let unknown = (*tool == UNKNOWN).then(|| redactor.text(&incoming.tool).value);
        Shown {
            input: redactor.plain_tree(validate::tree_of(arguments)).value,
            reason: reason.map(|reason| redactor.text(reason).value),
            // Whoever asks may choose it, so it may be a secret.
            request_id: incoming.chain.request_id.as_deref().map(|id| redactor.name(id)),
            dry_run,
            name: unknown.and_then(|cleaned| ToolName::parse(cleaned.as_str())),
            target: targets(arguments),
            command: command(arguments),
        }
    }
}

/// LIMIT: cleaning so much text takes a millisecond at the worst; more is not for a thread that others share.
const MOST_IN_PLACE: usize = 16 << 10;

/// The call, or the little that is left of it when its arguments or its name make us fall over:
/// who, and when.
pub(crate) async fn begin(
    corridor: &Corridor,
    context: Arc<Context>,
    mut incoming: Incoming,
    tool: &ToolName,
) -> Result<Call, Call> {
    let is_due = || context.redaction.is_due(|| corridor.clock().now());
    let looks_at_disk = catch_unwind(AssertUnwindSafe(is_due)).unwrap_or(false);
    if looks_at_disk || n_text_bytes(&incoming.arguments) > MOST_IN_PLACE {
        thread::leave_shared().await;
    }
    let moment = || {
        let started = corridor.clock().now();
        (started, thread::in_place_if(looks_at_disk, || corridor.redactor_in(&context, started)))
    };
    let begun = catch_unwind(AssertUnwindSafe(|| {
        let (started, redactor) = moment();
        let shown = Shown::of(&redactor, &mut incoming, tool);
        (started, redactor, shown)
    }));
    match begun {
        Ok((started, redactor, shown)) => Ok(Call::begin(context, incoming, tool, started, redactor, shown)),
        Err(_) => {
            incoming.arguments = Value::Null;
            let (started, redactor) = moment();
            Err(Call::begin(context, incoming, tool, started, redactor, Shown::nothing()))
        }
    }
}

impl Call {
    /// `tool` is the tool's own name; an alias or an unknown name is kept in the input's record.
    fn begin(
        context: Arc<Context>,
        incoming: Incoming,
        tool: &ToolName,
        started: Timestamp,
        redactor: Redactor,
        shown: Shown,
    ) -> Call {
        let name = shown.name.unwrap_or_else(|| tool.clone());
        let entry = CallEntry {
            call_id: CallId::new(started, chance()),
            session_id: incoming.session,
            caller: incoming.caller,
            address: incoming.chain.address,
            request_id: shown.request_id,
            tool: name,
            input: shown.input,
            reason: shown.reason,
            dry_run: shown.dry_run || incoming.dry_run,
            purpose: incoming.purpose,
            volume: Some(context.instruments.files.volume()),
        };
        Call {
            context,
            entry,
            redactor,
            arguments: incoming.arguments,
            leash: incoming.leash,
            progress: incoming.progress,
            live: incoming.live,
            approver: incoming.approver,
            chain: incoming.chain,
            started,
            target: shown.target,
            command: shown.command,
        }
    }
}

/// How much text there is to clean, as far as it matters.
fn n_text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(n_text_bytes).sum(),
        Value::Object(entries) => entries.iter().map(|(name, value)| name.len() + n_text_bytes(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// Any call through any door may ask to be only shown (decision C34), so no tool has an argument of this name. Whatever
/// is not plainly `false` counts as the wish: a mistake in it must not become a change.
fn wishes_dry_run(arguments: &mut Value) -> bool {
    let wish = arguments.as_object_mut().and_then(|arguments| arguments.shift_remove("dry_run"));
    wish.is_some_and(|wish| wish != Value::Bool(false))
}

/// Every path and URL that the arguments name, whether or not they fit the tool.
fn targets(arguments: &Value) -> String {
    // LIMIT: the security stream needs to know where a caller reached, not all of a long list. The text itself is cut
    // by the record, after it was redacted.
    const MOST: usize = 20;
    let files = arguments.get("files").and_then(Value::as_array);
    let named = std::iter::once(arguments).chain(files.into_iter().flatten());
    let url = arguments.get("url").and_then(Value::as_str);
    let mut paths = named.filter_map(|entry| entry.get("path").and_then(Value::as_str)).chain(url);
    let shown = paths.by_ref().take(MOST).collect::<Vec<_>>().join(", ");
    match paths.count() {
        0 => shown,
        n_left_off => format!("{shown} and {n_left_off} more"),
    }
}

/// A line, or a program and its arguments, whether or not they fit the tool.
fn command(arguments: &Value) -> Option<String> {
    let program = arguments.get("command").or_else(|| arguments.get("program")).and_then(Value::as_str)?;
    let args = arguments.get("args").or_else(|| arguments.get("arguments")).and_then(Value::as_array);
    let words = args.into_iter().flatten().filter_map(Value::as_str);
    Some(std::iter::once(program).chain(words).collect::<Vec<_>>().join(" "))
}

/// What the walk has learned so far; it survives a panic of the tool.
pub(crate) struct Trail {
    pub(crate) rule: String,
    pub(crate) severity: Severity,
    pub(crate) enforcement: Enforcement,
    pub(crate) warnings: Vec<String>,
    /// Secrets that the tool covered itself.
    pub(crate) n_redacted: usize,
    /// Protected names that programs made and that were taken away.
    pub(crate) planted: Vec<String>,
    /// Hosts that its requests and programs asked for.
    pub(crate) contacts: Vec<Contact>,
    /// Whether operators heard already that and why it was refused.
    pub(crate) refusal_is_told: bool,
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
            planted: Vec::new(),
            contacts: Vec::new(),
            refusal_is_told: false,
        }
    }
}

impl Trail {
    pub(crate) fn allowed_by<A: Action>(&mut self, permit: &Permit<A>) {
        self.rule = permit.rule().to_owned();
        self.severity = permit.obligations().severity;
    }

    pub(crate) fn learn(&mut self, notes: Notes) {
        self.warnings.extend(notes.warnings);
        self.n_redacted = notes.n_redacted;
        self.planted = notes.planted;
        self.contacts = notes.contacts;
        self.enforcement = notes.enforcement.unwrap_or(self.enforcement);
    }
}

/// Why an attempt did not bring an output.
pub(crate) enum Setback {
    Error(ToolError),
    Ask(Unanswered),
    Panicked,
}

/// What a person has to decide and has not, or not for it.
pub(crate) struct Unanswered {
    pub(crate) question: Question,
    /// Where it waits.
    pub(crate) ticket: Option<Ticket>,
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

/// Stage 6½. What comes after the stop is nobody's any more.
pub(crate) async fn preview<T: Tool>(
    tool: &T,
    call: &Call,
    permit: &Permit<T::Action>,
) -> Result<RawOutput, Setback> {
    let stopped = || ToolError::new(ErrorCode::Cancelled, "The preview was stopped.");
    let stop = call.leash.stop_within(patience(permit.action().time(), call.context.limits.time));
    let look = look_until(call, stop.clone());
    let seen =
        thread::hold(|| if stop.is_set() { Err(stopped()) } else { tool.preview(permit, &look) }).await;
    if stop.is_set() { Err(stopped().into()) } else { Ok(seen?) }
}

/// Work that may wait only sometimes: making room for others costs more than a line of the audit log.
async fn hold_if<T>(waits: bool, work: impl FnOnce() -> T) -> T {
    if waits { thread::hold(work).await } else { work() }
}

/// An empty object, for calls without arguments.
fn or_empty(arguments: Value) -> Value {
    if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments }
}

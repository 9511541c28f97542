//! Stage 5: what was sent becomes what is meant. And the secret scan that policy weighs in stage 6.

use serde::de::DeserializeOwned;
use serde_json::Value;
use vambrace_policy::{Action, Facts, OnWrite, Sighting, SightingKind};
use vambrace_redact::{FindingKind, Redactor, holds_placeholder};
use vambrace_tools::{CallContext, Tool, sent_secrets};
use vambrace_types::{ErrorCode, ToolError, Tree};

use super::Call;

/// Stage 5. Pure, but for what the tool's own context says.
pub(crate) fn validate<T: Tool>(tool: &T, call: &Call) -> Result<T::Action, ToolError> {
    let args = decode::<T::Args>(call)?;
    let (context, policy) = (&call.context, &call.context.policy);
    let planning = CallContext {
        bearings: policy.scope().bearings(),
        limits: context.limits,
        command: policy.command(),
        toolbox: &context.toolbox,
        dry_run: call.entry.dry_run,
        caller: &call.entry.caller,
        chain: &call.chain,
        call_id: &call.entry.call_id,
    };
    tool.plan(args, &planning)
}

fn decode<Args: DeserializeOwned>(call: &Call) -> Result<Args, ToolError> {
    // A list would fill the fields in their order, and its paths would go unseen by the security stream. THREAT: P03.
    if !call.arguments.is_object() {
        let message = format!("The arguments of `{}` must be an object.", call.entry.tool.as_str());
        return Err(ToolError::new(ErrorCode::ValidationError, message)
            .suggestion("Send them by name, as in the tool's input schema."));
    }
    // Where it does not fit is asked only when it does not: keeping the place costs more than reading.
    if let Ok(args) = Args::deserialize(&call.arguments) {
        return Ok(args);
    }
    serde_path_to_error::deserialize(&call.arguments).map_err(|error| {
        let tool = call.entry.tool.as_str();
        let message = match error.path().to_string().as_str() {
            "." => format!("The arguments of `{tool}` do not fit: {}.", error.inner()),
            path => format!("The argument `{path}` of `{tool}` does not fit: {}.", error.inner()),
        };
        ToolError::new(ErrorCode::ValidationError, message)
            .suggestion("Compare them with the tool's input schema.")
    })
}

/// What stands in the texts that the action would write: names of rules, never values.
pub(super) fn scan<A: Action>(redactor: &Redactor, on_write: OnWrite, action: &A) -> Facts {
    let mut facts = Facts::default();
    for text in action.written() {
        facts.placeholder |= holds_placeholder(text);
        if !on_write.scans() {
            continue;
        }
        for finding in redactor.scan(text.as_bytes()) {
            let rule = finding.rule.to_string();
            let (kind, names) = match finding.kind {
                FindingKind::Known => (SightingKind::Known, Some(&mut facts.known_secrets)),
                FindingKind::Pattern => (SightingKind::Pattern, Some(&mut facts.secret_patterns)),
                FindingKind::Entropy => (SightingKind::Entropy, None),
            };
            if let Some(names) = names.filter(|names| !names.contains(&rule)) {
                names.push(rule.clone());
            }
            facts.sightings.push(Sighting { kind, rule, line: finding.line });
        }
    }
    let sent = sent_secrets(redactor, &action.sent());
    facts.placeholder |= sent.placeholder;
    facts.sent_secrets = sent.sent_secrets;
    facts
}

pub(super) fn tree_of(value: &Value) -> Tree {
    match value {
        Value::Null => Tree::Null,
        Value::Bool(value) => Tree::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Tree::Int(value),
            None => Tree::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Tree::Text(text.clone()),
        Value::Array(items) => Tree::List(items.iter().map(tree_of).collect()),
        Value::Object(entries) => {
            Tree::Map(entries.iter().map(|(key, value)| (key.clone().into(), tree_of(value))).collect())
        }
    }
}

//! The serializable twins: how replies look to the outside. `docs/reference` and other programs rely on these shapes.

use serde_json::{Map, Number, Value, json};
use vambrace_runtime::{Reply, ReplyError, Verdict};
use vambrace_types::{Metadata, Status, Tree};

/// A `ToolResult`, the shape every door carries (specification 004).
pub fn tool_result(reply: &Reply) -> Value {
    let status = match reply.status() {
        Status::Success => "success",
        Status::Error => "error",
    };
    let mut result = Map::new();
    result.insert("status".to_owned(), json!(status));
    result.insert("data".to_owned(), value_of(reply.data().as_tree()));
    result.insert("error".to_owned(), reply.error().map_or(Value::Null, error));
    result.insert("metadata".to_owned(), metadata(reply.metadata()));
    Value::Object(result)
}

/// A decision object, as `check` prints it.
pub fn decision(reply: &Reply, input: &str) -> Value {
    let (code, message, suggestion) = match reply.error() {
        Some(error) => (error.code.as_str(), error.message.as_str(), error.suggestion.as_str()),
        None => ("Allowed", "The call would be made.", ""),
    };
    json!({
        "decision": decision_word(reply),
        "code": code,
        "rule": reply.rule().as_str(),
        "message": message,
        "suggestion": suggestion,
        "input": input,
    })
}

/// A call that could not be judged counts as denied: an error never allows.
pub fn decision_word(reply: &Reply) -> &'static str {
    match (reply.verdict(), reply.status()) {
        (Verdict::Allow, Status::Success) => "allow",
        (Verdict::Ask, _) => "ask",
        (Verdict::Deny, _) | (Verdict::Allow, Status::Error) => "deny",
    }
}

fn error(error: &ReplyError) -> Value {
    let mut shape = Map::new();
    shape.insert("code".to_owned(), json!(error.code.as_str()));
    shape.insert("message".to_owned(), json!(error.message.as_str()));
    shape.insert("suggestion".to_owned(), json!(error.suggestion.as_str()));
    if let Some(details) = &error.details {
        shape.insert("details".to_owned(), value_of(details.as_tree()));
    }
    Value::Object(shape)
}

fn metadata(metadata: &Metadata) -> Value {
    let mut shape = json!({
        "call_id": metadata.call_id.as_str(),
        "duration_ms": metadata.duration_ms,
        "security_checks": metadata.security_checks.as_str(),
        "dry_run": metadata.dry_run,
        "truncated": metadata.truncated,
        "redactions": metadata.redactions,
        "enforcement": metadata.enforcement.as_str(),
        "checkpoint": metadata.checkpoint,
    });
    if let (Value::Object(shape), false) = (&mut shape, metadata.warnings.is_empty()) {
        shape.insert("warnings".to_owned(), json!(metadata.warnings));
    }
    shape
}

pub fn value_of(tree: &Tree) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(*value),
        Tree::Int(value) => Value::Number((*value).into()),
        Tree::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        Tree::Text(text) => Value::String(text.clone()),
        Tree::List(items) => Value::Array(items.iter().map(value_of).collect()),
        Tree::Map(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.to_string(), value_of(value))).collect())
        }
    }
}

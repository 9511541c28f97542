//! The serializable twins: how replies look to the outside. `docs/reference` and other programs rely on these shapes.

mod result;

use serde_json::{Number, Value, json};
use vambrace_audit::{AlertRecord, Entry, Question, QuestionState, rfc3339};
use vambrace_runtime::{Reply, Verdict};
use vambrace_types::{ErrorCode, Metadata, Status, Tree};

pub(crate) use result::ToolResult;

/// A `ToolResult`, the shape every door carries (specification 004).
pub fn tool_result(reply: &Reply) -> Value {
    ToolResult::of(reply).value()
}

/// The same as text.
pub(crate) fn tool_result_json(reply: &Reply) -> String {
    let mut out = String::with_capacity(room_for(reply));
    ToolResult::of(reply).write(&mut out);
    out
}

/// About as many bytes as the result has, so that a long one is not copied while it grows.
pub(crate) fn room_for(reply: &Reply) -> usize {
    const REST: usize = 1024;
    fn bulk(tree: &Tree) -> usize {
        match tree {
            Tree::Text(text) => text.len() + text.len() / 8,
            Tree::List(items) => items.iter().map(|item| bulk(item) + 8).sum(),
            Tree::Map(entries) => entries.iter().map(|(key, value)| key.len() + bulk(value) + 8).sum(),
            Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) => 8,
        }
    }
    bulk(reply.data().as_tree()) + REST
}

/// The same shape for a call that was refused before it could walk.
pub(crate) fn unwalked(code: ErrorCode, message: &str, suggestion: &str, about: &Metadata) -> Value {
    json!({
        "status": "error",
        "data": null,
        "error": {"code": code.as_str(), "message": message, "suggestion": suggestion},
        "metadata": result::metadata(about),
    })
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

/// A record in short, as `audit list` prints it.
pub fn audit_entry(entry: &Entry) -> Value {
    let mut value = json!({
        "timestamp": rfc3339(entry.time),
        "kind": entry.kind.as_str(),
        "event": entry.event,
        "call_id": entry.call_id,
        "caller_id": entry.caller,
        "client_ip": entry.client_ip,
        "request_id": entry.request_id,
        "tool": entry.tool,
        "decision": entry.verdict.map(vambrace_audit::Verdict::as_str),
        "rule": entry.rule,
        "ending": entry.ending,
        "code": entry.code,
        "message": entry.message,
        "dry_run": entry.dry_run,
        "duration_ms": entry.duration_ms,
        "severity": entry.severity,
    });
    if let Some(fields) = value.as_object_mut().filter(|_| !entry.marks.is_empty()) {
        let marks = entry
            .marks
            .iter()
            .map(|mark| json!({"marker": mark.marker, "fingerprint": mark.fingerprint.to_string()}));
        fields.insert("marks".to_owned(), Value::Array(marks.collect()));
    }
    value
}

/// An alert, as `audit alerts` prints it.
pub fn alert(alert: &AlertRecord) -> Value {
    json!({
        "timestamp": rfc3339(alert.time),
        "rule": alert.rule,
        "caller": alert.caller,
        "action": alert.action,
        "call_id": alert.call_id,
    })
}

/// A question that waits for a person, or waited.
pub fn question(question: &Question) -> Value {
    json!({
        "id": question.id,
        "caller_id": question.caller,
        "tool": question.tool,
        "rule": question.rule,
        "question": question.question,
        "call_id": question.call_id,
        "asked_at": rfc3339(question.asked_at),
        "expires_at": rfc3339(question.expires_at),
        "state": question_state(question.state),
        "by": question.by,
    })
}

fn question_state(state: QuestionState) -> &'static str {
    match state {
        QuestionState::Waiting => "waiting",
        QuestionState::Approved => "approved",
        QuestionState::Rejected => "rejected",
        QuestionState::Used => "used",
        QuestionState::Expired => "expired",
    }
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

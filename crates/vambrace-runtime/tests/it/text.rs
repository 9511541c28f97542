//! Replies and records as JSON, to look into and to compare with what a scenario expects.

use serde_json::{Map, Number, Value, json};
use vambrace_runtime::{Reply, ReplyError};
use vambrace_types::{Metadata, Status, Tree};

/// Everything that a front end can see of a reply.
pub(crate) fn shown(reply: &Reply) -> Value {
    let status = match reply.status() {
        Status::Success => "success",
        Status::Error => "error",
    };
    json!({
        "status": status,
        "tool": reply.tool(),
        "verdict": reply.verdict().as_str(),
        "rule": reply.rule().as_str(),
        "data": value_of(reply.data().as_tree()),
        "error": reply.error().map(error),
        "metadata": metadata(reply.metadata()),
    })
}

fn error(error: &ReplyError) -> Value {
    let mut shown = json!({
        "code": error.code.as_str(),
        "message": error.message.as_str(),
        "suggestion": error.suggestion.as_str(),
    });
    if let (Some(details), Value::Object(shown)) = (&error.details, &mut shown) {
        shown.insert("details".to_owned(), value_of(details.as_tree()));
    }
    shown
}

fn metadata(metadata: &Metadata) -> Value {
    json!({
        "call_id": metadata.call_id.as_str(),
        "duration_ms": metadata.duration_ms,
        "security_checks": metadata.security_checks.as_str(),
        "dry_run": metadata.dry_run,
        "truncated": metadata.truncated,
        "redactions": metadata.redactions,
        "enforcement": metadata.enforcement.as_str(),
        "checkpoint": metadata.checkpoint,
        "warnings": metadata.warnings,
    })
}

pub(crate) fn value_of(tree: &Tree) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(*value),
        Tree::Int(value) => Value::Number((*value).into()),
        Tree::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        Tree::Text(text) => Value::String(text.clone()),
        Tree::List(items) => Value::Array(items.iter().map(value_of).collect()),
        Tree::Map(entries) => {
            let entry = |(key, value): &(_, Tree)| (ToString::to_string(key), value_of(value));
            Value::Object(entries.iter().map(entry).collect::<Map<_, _>>())
        }
    }
}

/// What differs, as paths with both sides. In an expected text `*` stands for any run of characters, and a text that
/// is only `*` for any value.
pub(crate) fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut all = Vec::new();
    compare("", expected, found, &mut all);
    all
}

fn compare(at: &str, expected: &Value, found: &Value, all: &mut Vec<String>) {
    match (expected, found) {
        (Value::String(pattern), _) if pattern == "*" => {}
        (Value::String(pattern), Value::String(text)) if fits(pattern, text) => {}
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (place, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{at}[{place}]"), left, right, all);
            }
        }
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
                let nothing = Value::String("(absent)".to_owned());
                let (left, right) = (left.get(key).unwrap_or(&nothing), right.get(key).unwrap_or(&nothing));
                compare(&format!("{at}.{key}"), left, right, all);
            }
        }
        (expected, found) if expected == found => {}
        (expected, found) => all.push(format!("{at}: expected {expected}, found {found}")),
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let (middle, tail) = rest.rsplit_once('*').map_or((None, rest), |(middle, tail)| (Some(middle), tail));
    for part in middle.into_iter().flat_map(|middle| middle.split('*')) {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(tail)
}

#[test]
fn a_star_stands_for_any_run() {
    for (pattern, text, expected) in [
        ("a", "a", true),
        ("a", "b", false),
        ("a*c", "abc", true),
        ("a*c", "ac", true),
        ("a*c", "abd", false),
        ("*b*d*", "abcde", true),
        ("*d*b*", "abcde", false),
        ("ab*ba", "aba", false), // the ends may not overlap
    ] {
        assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
    }
}

/// Puts `*` where two runs never agree.
pub(crate) fn without_chance(value: &Value) -> Value {
    const VOLATILE: [&str; 3] = ["call_id", "prev", "volume"];
    match value {
        Value::Object(entries) => {
            let clean = |(key, value): (&String, &Value)| {
                let value = if VOLATILE.contains(&key.as_str()) { json!("*") } else { without_chance(value) };
                (key.clone(), value)
            };
            Value::Object(entries.iter().map(clean).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_chance).collect()),
        Value::String(text) => Value::String(without_handles(text)),
        other => other.clone(),
    }
}

fn without_handles(text: &str) -> String {
    const HANDLE: usize = "out_".len() + 24;
    let mut clean = text.to_owned();
    while let Some(at) = clean.find("out_").filter(|at| clean.len() >= at + HANDLE) {
        clean.replace_range(at..at + HANDLE, "*");
    }
    clean
}

//! What an agent says, out of the shapes in which agents say it. Pure.

use serde_json::Value;
use vambrace_json::Limits;

/// In this order (specification 001).
const FIELDS: [&str; 8] = ["answer", "response", "text", "result", "output", "content", "data", "message"];

/// LIMIT: a larger body is not taken apart. Ten megabytes of `[0,0,…]` are a hundred times as much in a tree.
const LARGEST: usize = 1 << 20;

fn json(body: &str) -> Option<Value> {
    vambrace_json::read(body.as_bytes(), Limits::document(LARGEST)).ok()
}

/// The first known field, or everything.
pub(super) fn of_rest(body: String) -> String {
    let words = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match json(&body) {
        Some(Value::String(text)) => text,
        Some(Value::Object(entries)) => {
            let known = FIELDS.iter().filter_map(|field| entries.get(*field));
            known.filter(|value| !value.is_null()).map(words).next().unwrap_or(body)
        }
        Some(_) | None => body,
    }
}

/// The text of the message, or of what the task made. The error is in the agent's own words.
pub(super) fn of_a2a(body: &str) -> Result<String, String> {
    let Some(Value::Object(answer)) = json(body) else {
        return Err("what it said is not JSON-RPC.".to_owned());
    };
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str);
        return Err(message.map_or_else(|| error.to_string(), str::to_owned));
    }
    let Some(result) = answer.get("result") else { return Err("there is no result in it.".to_owned()) };
    // Up to 0.3 the task or the message is the result itself.
    if let Some(message) = result.get("message").or(result.get("parts").map(|_| result)) {
        return Ok(texts(message));
    }
    let task = result.get("task").unwrap_or(result);
    let state = task.pointer("/status/state").and_then(Value::as_str).unwrap_or_default();
    let told = task.pointer("/status/message").map(texts).unwrap_or_default();
    let artifacts = task.get("artifacts").and_then(Value::as_array);
    let made: Vec<String> =
        artifacts.into_iter().flatten().map(texts).filter(|text| !text.is_empty()).collect();
    let made = made.join("\n");
    let plain = state.trim_start_matches("TASK_STATE_").to_ascii_lowercase();
    match (plain.as_str(), made.is_empty()) {
        ("failed" | "rejected" | "canceled" | "auth_required", _) => {
            Err(format!("its task is {plain}. {}", if told.is_empty() { made } else { told }))
        }
        (_, false) => Ok(made),
        (_, true) if !told.is_empty() => Ok(told),
        (_, true) => Err(format!("its task is {}.", if plain.is_empty() { "unknown" } else { &plain })),
    }
}

/// The parts of a message or of an artifact that are text.
fn texts(holder: &Value) -> String {
    let parts = holder.get("parts").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        assert_eq!(of_rest(body.to_owned()), expected, "{body}");
    }

    #[test]
    fn rest_answers() {
        check("", "");
        check("plain words", "plain words");
        check(r#""words""#, "words");
        check("[1, 2]", "[1, 2]");
        check(r#"{"other": 1}"#, r#"{"other": 1}"#);
        check(r#"{"message": "m", "answer": "a"}"#, "a");
        check(r#"{"answer": null, "data": {"n": 1}}"#, r#"{"n":1}"#);
        check(r#"{"answer": ""}"#, "");
        for (place, field) in FIELDS.iter().enumerate() {
            let body: serde_json::Map<String, Value> =
                FIELDS[place..].iter().rev().map(|name| (name.to_string(), Value::from(*name))).collect();
            check(&Value::Object(body).to_string(), field);
        }
        let large = format!(r#"{{"answer": "{}"}}"#, "x".repeat(LARGEST));
        check(&large, &large);
    }

    #[track_caller]
    fn check_a2a(result: &str, expected: Result<&str, &str>) {
        let body = format!(r#"{{"jsonrpc": "2.0", "id": 1, {result}}}"#);
        match (of_a2a(&body), expected) {
            (Ok(said), Ok(expected)) => assert_eq!(said, expected, "{result}"),
            (Err(why), Err(part)) => assert!(why.contains(part), "{why} {result}"),
            (said, _) => panic!("{said:?} {result}"),
        }
    }

    #[test]
    fn a2a_answers() {
        let parts = r#"[{"text": "one"}, {"data": {}}, {"kind": "text", "text": "two"}]"#;
        check_a2a(&format!(r#""result": {{"message": {{"parts": {parts}}}}}"#), Ok("one\ntwo"));
        check_a2a(&format!(r#""result": {{"kind": "message", "parts": {parts}}}"#), Ok("one\ntwo"));
        let task = |state: &str, artifacts: &str| {
            format!(
                r#"{{"status": {{"state": "{state}", "message": {{"parts": [{{"text": "told"}}]}}}},
                    "artifacts": {artifacts}}}"#
            )
        };
        let made = format!(r#"[{{"parts": {parts}}}, {{"parts": []}}, {{"parts": [{{"text": "three"}}]}}]"#);
        let done = task("TASK_STATE_COMPLETED", &made);
        check_a2a(&format!(r#""result": {{"task": {done}}}"#), Ok("one\ntwo\nthree"));
        check_a2a(&format!(r#""result": {}"#, task("completed", &made)), Ok("one\ntwo\nthree"));
        check_a2a(&format!(r#""result": {}"#, task("input-required", "[]")), Ok("told"));
        check_a2a(&format!(r#""result": {}"#, task("TASK_STATE_FAILED", &made)), Err("failed. told"));
        check_a2a(r#""result": {"task": {"status": {"state": "TASK_STATE_WORKING"}}}"#, Err("working"));
        check_a2a(r#""result": {}"#, Err("unknown"));
        check_a2a(r#""error": {"code": -32001, "message": "no task"}"#, Err("no task"));
        check_a2a(r#""error": 7"#, Err("7"));
        check_a2a(r#""x": 1"#, Err("no result"));
        assert!(of_a2a("<html>").is_err());
        assert!(of_a2a("[]").is_err());
    }
}

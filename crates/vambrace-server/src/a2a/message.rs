//! What a message asks for. Until there is a model, only a data part `{"tool", "arguments"}` asks for something.

use ::a2a::{Message, Part, PartContent, Role, SendMessageRequest};
use serde_json::{Map, Value};
use vambrace_state::Wanted;
use vambrace_types::SessionId;

use super::rpc::{Fault, Wrong};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    Call(Wanted),
    /// Words for a model.
    Words,
}

/// Which halves of an answer a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) text: bool,
    pub(super) data: bool,
}

const MOST_PARTS: usize = 64;
const LONGEST_ID: usize = 256;

fn params(message: impl Into<String>) -> Fault {
    Fault::new(Wrong::Params, message)
}

/// An identifier that a client chose (specification 003's rule).
pub(super) fn check_id(what: &str, id: &str) -> Result<(), Fault> {
    SessionId::parse(id).map(drop).map_err(|_| {
        params(format!(
            "`{what}` must be 1 to {LONGEST_ID} bytes, without `..`, slashes, backslashes and control characters."
        ))
    })
}

/// Everything that can be said about a message without knowing any task.
pub(super) fn wish(message: &Message) -> Result<Wish, Fault> {
    check_id("messageId", &message.message_id)?;
    for (what, id) in [("contextId", &message.context_id), ("taskId", &message.task_id)] {
        if let Some(id) = id {
            check_id(what, id)?;
        }
    }
    if message.role != Role::User {
        return Err(params("`role` must be ROLE_USER."));
    }
    if message.parts.is_empty() || message.parts.len() > MOST_PARTS {
        return Err(params(format!("A message has 1 to {MOST_PARTS} parts.")));
    }
    let mut wanted = None;
    for part in &message.parts {
        let Some(data) = content(part)? else { continue };
        if wanted.replace(call(data)?).is_some() {
            return Err(params("A message may hold one data part: one call."));
        }
    }
    Ok(wanted.map_or(Wish::Words, Wish::Call))
}

/// The data of a data part. Files are not taken: nothing here would read them.
fn content(part: &Part) -> Result<Option<&Value>, Fault> {
    let unsupported = || {
        Fault::new(Wrong::ContentType, "A part has a media type that is not supported.")
            .suggestion("Send text/plain, or a data part of application/json.")
    };
    let essence = part.media_type.as_deref().map(essence);
    match (&part.content, essence.as_deref()) {
        (PartContent::Text(_), None | Some("text/plain" | "text" | "")) => Ok(None),
        (PartContent::Data(data), None | Some("application/json" | "")) => Ok(Some(data)),
        (PartContent::Text(_) | PartContent::Data(_), Some(_))
        | (PartContent::Raw(_) | PartContent::Url(_), _) => Err(unsupported()),
    }
}

fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn call(data: &Value) -> Result<Wanted, Fault> {
    let shape = || {
        params("A data part must be an object with `tool`, and may have `arguments` and `dry_run`.")
            .suggestion("GetExtendedAgentCard shows a skill for each tool that you may use.")
    };
    let data = data.as_object().ok_or_else(shape)?;
    if data.keys().any(|key| !matches!(key.as_str(), "tool" | "arguments" | "dry_run")) {
        return Err(shape());
    }
    let tool = data.get("tool").and_then(Value::as_str).ok_or_else(shape)?;
    let arguments = match data.get("arguments") {
        None => Value::Object(Map::new()),
        Some(Value::Object(arguments)) => whole_numbers(&Value::Object(arguments.clone())),
        Some(_) => return Err(shape()),
    };
    let dry_run = match data.get("dry_run") {
        None => false,
        Some(Value::Bool(dry_run)) => *dry_run,
        Some(_) => return Err(shape()),
    };
    Ok(Wanted { tool: tool.to_owned(), arguments, dry_run })
}

/// Clients that are made from the protocol's own definition know one kind of number, and send 30 as 30.0.
fn whole_numbers(value: &Value) -> Value {
    /// LIMIT: beyond this a double does not hold every whole number.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => {
            let whole = number
                .as_f64()
                .filter(|_| number.is_f64())
                .filter(|float| float.fract() == 0.0 && float.abs() <= LARGEST);
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the limit")]
            whole.map_or_else(|| value.clone(), |float| Value::from(float as i64))
        }
        Value::Array(items) => Value::Array(items.iter().map(whole_numbers).collect()),
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, member)| (name.clone(), whole_numbers(member))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// None named: both.
pub(super) fn accepted(request: &SendMessageRequest) -> Result<Accepted, Fault> {
    let configuration = request.configuration.as_ref();
    let modes = configuration.and_then(|configuration| configuration.accepted_output_modes.as_deref());
    let modes: Vec<String> = modes.unwrap_or_default().iter().map(|mode| essence(mode)).collect();
    if modes.is_empty() {
        return Ok(Accepted { text: true, data: true });
    }
    let any = |names: &[&str]| modes.iter().any(|mode| mode == "*/*" || names.contains(&mode.as_str()));
    let accepted = Accepted {
        text: any(&["text/plain", "text/*", "text"]),
        data: any(&["application/json", "application/*", "data"]),
    };
    if accepted.text || accepted.data {
        return Ok(accepted);
    }
    Err(Fault::new(Wrong::ContentType, "None of the accepted output modes can be served.")
        .suggestion("Accept text/plain or application/json."))
}

/// How much of a task's history an answer holds.
pub(super) fn history_length(length: Option<i32>) -> Result<Option<usize>, Fault> {
    length
        .map(|length| usize::try_from(length).map_err(|_| params("`historyLength` must not be negative.")))
        .transpose()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(parts: Value, expected: Result<Option<Value>, Wrong>) {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": parts});
        let message: Message = serde_json::from_value(message).unwrap();
        let found = wish(&message).map(|wish| match wish {
            Wish::Call(wanted) => Some(json!([wanted.tool, wanted.arguments, wanted.dry_run])),
            Wish::Words => None,
        });
        assert_eq!(found.map_err(|fault| fault.wrong()), expected, "{:?}", message.parts);
    }

    #[test]
    fn wishes() {
        check(json!([{"text": "hello"}]), Ok(None));
        check(json!([{"data": {"tool": "t"}}]), Ok(Some(json!(["t", {}, false]))));
        check(
            json!([{"text": "please"}, {"data": {"tool": "t", "arguments": {"a": 1}, "dry_run": true}}]),
            Ok(Some(json!(["t", {"a": 1}, true]))),
        );
        // What a client made from protocol buffers sends.
        check(
            json!([{"data": {"tool": "t", "arguments": {"a": 30.0, "b": [1.5, -2.0], "c": 1e300}}}]),
            Ok(Some(json!(["t", {"a": 30, "b": [1.5, -2], "c": 1e300}, false]))),
        );
        check(json!([{"data": {"tool": "t"}}, {"data": {"tool": "t"}}]), Err(Wrong::Params));
        check(json!([{"data": {"tool": 7}}]), Err(Wrong::Params));
        check(json!([{"data": {}}]), Err(Wrong::Params));
        check(json!([{"data": [1]}]), Err(Wrong::Params));
        check(json!([{"data": {"tool": "t", "arguments": []}}]), Err(Wrong::Params));
        check(json!([{"data": {"tool": "t", "dry_run": "yes"}}]), Err(Wrong::Params));
        check(json!([{"data": {"tool": "t", "caller": "root"}}]), Err(Wrong::Params));
        check(json!([]), Err(Wrong::Params));
        check(Value::Array(vec![json!({"text": "x"}); 64]), Ok(None));
        check(Value::Array(vec![json!({"text": "x"}); 65]), Err(Wrong::Params));
        check(json!([{"raw": "eA=="}]), Err(Wrong::ContentType));
        check(json!([{"url": "https://example.com/"}]), Err(Wrong::ContentType));
        check(json!([{"text": "x", "mediaType": "Text/Plain; charset=utf-8"}]), Ok(None));
        check(json!([{"text": "x", "mediaType": "text/html"}]), Err(Wrong::ContentType));
        check(json!([{"data": {"tool": "t"}, "mediaType": "application/x-tar"}]), Err(Wrong::ContentType));
    }

    #[test]
    fn output_modes() {
        for (modes, expected) in [
            (json!([]), Some((true, true))),
            (json!(["text/plain"]), Some((true, false))),
            (json!(["application/json"]), Some((false, true))),
            (json!(["*/*"]), Some((true, true))),
            (json!(["image/png", "TEXT/*"]), Some((true, false))),
            (json!(["image/png"]), None),
        ] {
            let request = json!({
                "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]},
                "configuration": {"acceptedOutputModes": modes},
            });
            let accepted = accepted(&serde_json::from_value(request).unwrap());
            assert_eq!(accepted.ok().map(|accepted| (accepted.text, accepted.data)), expected, "{modes}");
        }
    }
}

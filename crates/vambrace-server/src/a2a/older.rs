//! The shapes of A2A 0.3, for clients that use its method names: from its parameters to those of 1.0, and from results
//! of 1.0 to its own. Values only; what they mean is decided elsewhere.

use serde_json::{Map, Value, json};

use super::rpc::Method;

/// What is not understood stays as it is, and is refused by whoever reads it.
pub(super) fn params(method: Method, params: Value) -> Value {
    let Value::Object(mut params) = params else { return params };
    match method {
        Method::Send | Method::Stream => {
            if let Some(message) = params.get_mut("message") {
                new_message(message);
            }
            if let Some(Value::Object(configuration)) = params.get_mut("configuration") {
                let blocking = configuration.remove("blocking");
                if let Some(Value::Bool(blocking)) = blocking {
                    configuration.insert("returnImmediately".to_owned(), json!(!blocking));
                }
                if let Some(push) = configuration.remove("pushNotificationConfig") {
                    configuration.insert("taskPushNotificationConfig".to_owned(), new_push(push));
                }
            }
        }
        Method::SetPush => {
            let task = params.remove("taskId").unwrap_or_default();
            let mut push = new_push(params.remove("pushNotificationConfig").unwrap_or_default());
            if let Value::Object(push) = &mut push {
                push.insert("taskId".to_owned(), task);
            }
            return push;
        }
        Method::GetPush | Method::DeletePush | Method::ListPush => {
            if let Some(task) = params.remove("id") {
                params.insert("taskId".to_owned(), task);
            }
            // 0.3 lets the client leave it out where a task has one.
            if let Some(id) = params.remove("pushNotificationConfigId") {
                params.insert("id".to_owned(), id);
            }
        }
        Method::Get | Method::List | Method::Cancel | Method::Subscribe | Method::ExtendedCard => {}
    }
    Value::Object(params)
}

fn new_message(message: &mut Value) {
    let Value::Object(message) = message else { return };
    message.remove("kind");
    let role = message.get("role").and_then(Value::as_str).map(|role| match role {
        "user" => "ROLE_USER",
        "agent" => "ROLE_AGENT",
        _ => "unknown",
    });
    if let Some(role) = role {
        message.insert("role".to_owned(), json!(role));
    }
    for part in message.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten() {
        new_part(part);
    }
}

fn new_part(part: &mut Value) {
    let Value::Object(members) = part else { return };
    members.remove("kind");
    if let Some(Value::Object(mut file)) = members.remove("file") {
        for (old, new) in [("bytes", "raw"), ("uri", "url"), ("name", "filename"), ("mimeType", "mediaType")]
        {
            if let Some(value) = file.remove(old) {
                members.insert(new.to_owned(), value);
            }
        }
    }
}

fn new_push(push: Value) -> Value {
    let Value::Object(mut push) = push else { return push };
    if let Some(Value::Object(authentication)) = push.get_mut("authentication") {
        let first = authentication.remove("schemes").and_then(|schemes| schemes.get(0).cloned());
        if let Some(scheme) = first {
            authentication.insert("scheme".to_owned(), scheme);
        }
    }
    Value::Object(push)
}

/// A result, or what one event of a stream holds.
pub(super) fn result(method: Method, result: Value) -> Value {
    match method {
        Method::Send | Method::Stream | Method::Subscribe => event(result),
        Method::Get | Method::Cancel => task(result),
        Method::SetPush | Method::GetPush => push(result),
        Method::ListPush => {
            let configs = result.get("configs").and_then(Value::as_array).cloned().unwrap_or_default();
            Value::Array(configs.into_iter().map(push).collect())
        }
        Method::DeletePush => Value::Null,
        Method::List | Method::ExtendedCard => result,
    }
}

/// `{"task": …}`, `{"message": …}`, `{"statusUpdate": …}` and `{"artifactUpdate": …}` say in a `kind` what they are.
pub(super) fn event(event: Value) -> Value {
    let Value::Object(members) = event else { return event };
    let Some((name, inner)) = members.into_iter().next() else { return Value::Null };
    match name.as_str() {
        "task" => task(inner),
        "message" => message(inner),
        "statusUpdate" => {
            let mut update = with_status(inner);
            let state = update.get("status").and_then(|status| status.get("state")).and_then(Value::as_str);
            let last = state.is_some_and(|state| {
                matches!(state, "completed" | "failed" | "canceled" | "rejected" | "input-required")
            });
            if let Value::Object(update) = &mut update {
                update.insert("kind".to_owned(), json!("status-update"));
                update.insert("final".to_owned(), json!(last));
            }
            update
        }
        "artifactUpdate" => {
            let mut update = inner;
            if let Value::Object(update) = &mut update {
                update.insert("kind".to_owned(), json!("artifact-update"));
                if let Some(artifact) = update.get_mut("artifact") {
                    parts(artifact);
                }
            }
            update
        }
        _ => inner,
    }
}

pub(super) fn task(task: Value) -> Value {
    let mut task = with_status(task);
    if let Value::Object(members) = &mut task {
        members.insert("kind".to_owned(), json!("task"));
        members.get_mut("artifacts").and_then(Value::as_array_mut).into_iter().flatten().for_each(parts);
        for entry in members.get_mut("history").and_then(Value::as_array_mut).into_iter().flatten() {
            *entry = message(entry.take());
        }
    }
    task
}

fn message(mut message: Value) -> Value {
    parts(&mut message);
    if let Value::Object(members) = &mut message {
        let role = if members.get("role") == Some(&json!("ROLE_AGENT")) { "agent" } else { "user" };
        members.insert("role".to_owned(), json!(role));
        members.insert("kind".to_owned(), json!("message"));
    }
    message
}

fn with_status(mut holder: Value) -> Value {
    if let Some(Value::Object(status)) = holder.get_mut("status") {
        let state = status.get("state").and_then(Value::as_str).unwrap_or_default();
        let state = match state.strip_prefix("TASK_STATE_") {
            Some("UNSPECIFIED") | None => "unknown".to_owned(),
            Some(word) => word.to_ascii_lowercase().replace('_', "-"),
        };
        status.insert("state".to_owned(), json!(state));
        if let Some(inner) = status.get_mut("message") {
            *inner = message(inner.take());
        }
    }
    holder
}

fn parts(holder: &mut Value) {
    for part in holder.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten() {
        let Value::Object(members) = part else { continue };
        let kind = ["text", "data"].into_iter().find(|kind| members.contains_key(*kind));
        let mut media_type = members.remove("mediaType");
        if kind.is_none() {
            let mut file = Map::new();
            let name = members.remove("filename");
            for (old, value) in [
                ("bytes", members.remove("raw")),
                ("uri", members.remove("url")),
                ("name", name),
                ("mimeType", media_type.take()),
            ] {
                if let Some(value) = value {
                    file.insert(old.to_owned(), value);
                }
            }
            members.insert("file".to_owned(), Value::Object(file));
        }
        members.insert("kind".to_owned(), json!(kind.unwrap_or("file")));
    }
}

fn push(config: Value) -> Value {
    let Value::Object(mut config) = config else { return config };
    let task = config.remove("taskId").unwrap_or_default();
    if let Some(Value::Object(authentication)) = config.get_mut("authentication")
        && let Some(scheme) = authentication.remove("scheme")
    {
        authentication.insert("schemes".to_owned(), json!([scheme]));
    }
    json!({"taskId": task, "pushNotificationConfig": config})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_those_of_today() {
        let old = json!({
            "message": {"kind": "message", "role": "user", "messageId": "m", "parts": [
                {"kind": "text", "text": "a"},
                {"kind": "data", "data": {"tool": "t"}},
                {"kind": "file", "file": {"bytes": "eA==", "mimeType": "text/plain", "name": "n"}},
            ]},
            "configuration": {"blocking": false, "pushNotificationConfig":
                {"url": "u", "authentication": {"schemes": ["Bearer"], "credentials": "c"}}},
        });
        let new = json!({
            "message": {"role": "ROLE_USER", "messageId": "m", "parts": [
                {"text": "a"},
                {"data": {"tool": "t"}},
                {"raw": "eA==", "mediaType": "text/plain", "filename": "n"},
            ]},
            "configuration": {"returnImmediately": true, "taskPushNotificationConfig":
                {"url": "u", "authentication": {"scheme": "Bearer", "credentials": "c"}}},
        });
        assert_eq!(params(Method::Send, old), new);
        let old = json!({"taskId": "t", "pushNotificationConfig": {"url": "u"}});
        assert_eq!(params(Method::SetPush, old), json!({"taskId": "t", "url": "u"}));
        let old = json!({"id": "t", "pushNotificationConfigId": "p"});
        assert_eq!(params(Method::GetPush, old), json!({"taskId": "t", "id": "p"}));
    }

    #[test]
    fn results_become_those_of_then() {
        let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]});
        let new = json!({"task": {
            "id": "t", "contextId": "c",
            "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": message},
            "artifacts": [{"artifactId": "a", "parts": [{"data": {}, "mediaType": "application/json"}, {"url": "u"}]}],
            "history": [message],
        }});
        let message = json!({"messageId": "m", "role": "agent", "kind": "message",
            "parts": [{"text": "x", "kind": "text"}]});
        let old = json!({
            "id": "t", "contextId": "c", "kind": "task",
            "status": {"state": "input-required", "message": message},
            "artifacts": [{"artifactId": "a", "parts": [
                {"data": {}, "kind": "data"}, {"kind": "file", "file": {"uri": "u"}},
            ]}],
            "history": [message],
        });
        assert_eq!(result(Method::Send, new), old);
        let update = json!({"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_WORKING"}}});
        let expected =
            json!({"taskId": "t", "status": {"state": "working"}, "kind": "status-update", "final": false});
        assert_eq!(event(update), expected);
        let configs =
            json!({"configs": [{"taskId": "t", "url": "u", "authentication": {"scheme": "Basic"}}]});
        let expected = json!([{"taskId": "t", "pushNotificationConfig":
            {"url": "u", "authentication": {"schemes": ["Basic"]}}}]);
        assert_eq!(result(Method::ListPush, configs), expected);
    }
}

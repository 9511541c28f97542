//! JSON-RPC 2.0 as A2A uses it: one request, one answer. Batches and notifications are refused: an agent that acts
//! without saying so is of no use.

use ::a2a::{error_code, error_reason};
use serde_json::{Value, json};
use vambrace_json::What;

pub(super) use vambrace_state::Revision;
use vambrace_state::StateError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    SetPush,
    GetPush,
    ListPush,
    DeletePush,
    ExtendedCard,
}

const METHODS: &[(&str, Method, Revision)] = &[
    ("SendMessage", Method::Send, Revision::V1),
    ("SendStreamingMessage", Method::Stream, Revision::V1),
    ("GetTask", Method::Get, Revision::V1),
    ("ListTasks", Method::List, Revision::V1),
    ("CancelTask", Method::Cancel, Revision::V1),
    ("SubscribeToTask", Method::Subscribe, Revision::V1),
    ("CreateTaskPushNotificationConfig", Method::SetPush, Revision::V1),
    ("GetTaskPushNotificationConfig", Method::GetPush, Revision::V1),
    ("ListTaskPushNotificationConfigs", Method::ListPush, Revision::V1),
    ("DeleteTaskPushNotificationConfig", Method::DeletePush, Revision::V1),
    ("GetExtendedAgentCard", Method::ExtendedCard, Revision::V1),
    ("message/send", Method::Send, Revision::V03),
    ("message/stream", Method::Stream, Revision::V03),
    ("tasks/get", Method::Get, Revision::V03),
    ("tasks/cancel", Method::Cancel, Revision::V03),
    ("tasks/resubscribe", Method::Subscribe, Revision::V03),
    ("tasks/pushNotificationConfig/set", Method::SetPush, Revision::V03),
    ("tasks/pushNotificationConfig/get", Method::GetPush, Revision::V03),
    ("tasks/pushNotificationConfig/list", Method::ListPush, Revision::V03),
    ("tasks/pushNotificationConfig/delete", Method::DeletePush, Revision::V03),
    ("agent/getAuthenticatedExtendedCard", Method::ExtendedCard, Revision::V03),
];

/// Why a request is not answered with a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    Unparsable,
    NoRequest,
    NoMethod,
    Params,
    NoTask,
    NotCancelable,
    Unsupported,
    ContentType,
    Version,
    /// Too much at once; the code is from the range that servers may use for themselves, as the next one.
    Busy,
    /// The store of tasks did not answer.
    Away,
    /// A person stopped the caller, or whether one did cannot be seen.
    Stopped,
}

impl Wrong {
    fn code(self) -> i32 {
        match self {
            Wrong::Unparsable => error_code::PARSE_ERROR,
            Wrong::NoRequest => error_code::INVALID_REQUEST,
            Wrong::NoMethod => error_code::METHOD_NOT_FOUND,
            Wrong::Params => error_code::INVALID_PARAMS,
            Wrong::NoTask => error_code::TASK_NOT_FOUND,
            Wrong::NotCancelable => error_code::TASK_NOT_CANCELABLE,
            Wrong::Unsupported => error_code::UNSUPPORTED_OPERATION,
            Wrong::ContentType => error_code::CONTENT_TYPE_NOT_SUPPORTED,
            Wrong::Version => error_code::VERSION_NOT_SUPPORTED,
            Wrong::Busy => -32050,
            Wrong::Stopped => -32051,
            Wrong::Away => -32052,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Wrong::Busy => "RESOURCE_BUSY",
            Wrong::Stopped => "CALLER_STOPPED",
            Wrong::Away => "STATE_UNAVAILABLE",
            Wrong::Unparsable
            | Wrong::NoRequest
            | Wrong::NoMethod
            | Wrong::Params
            | Wrong::NoTask
            | Wrong::NotCancelable
            | Wrong::Unsupported
            | Wrong::ContentType
            | Wrong::Version => error_reason(self.code()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    wrong: Wrong,
    message: String,
    suggestion: String,
}

impl Fault {
    pub(super) fn new(wrong: Wrong, message: impl Into<String>) -> Fault {
        Fault { wrong, message: message.into(), suggestion: String::new() }
    }

    pub(super) fn suggestion(mut self, suggestion: impl Into<String>) -> Fault {
        self.suggestion = suggestion.into();
        self
    }

    #[cfg(test)]
    pub(super) fn wrong(&self) -> Wrong {
        self.wrong
    }

    /// One sentence for a task that is absent and for a task of somebody else. THREAT: P13.
    pub(super) fn no_task() -> Fault {
        Fault::new(Wrong::NoTask, "Task not found.")
            .suggestion("ListTasks shows the tasks that are yours; they are kept for up to an hour.")
    }

    /// Of a body that cannot be read.
    pub(super) fn of_json(fault: &vambrace_json::Fault) -> Fault {
        match fault.what() {
            What::Syntax | What::Shape => {
                Fault::new(Wrong::Unparsable, format!("The body is not JSON: {fault}."))
            }
            // Nobody knows whether the rest is JSON.
            What::TooDeep => Fault::new(Wrong::Unparsable, format!("The body is refused: {fault}.")),
            What::TooLong | What::TooMany | What::NameTwice | What::ReservedName => {
                Fault::new(Wrong::NoRequest, format!("The body is refused: {fault}."))
            }
        }
    }

    pub(super) fn stopped() -> Fault {
        Fault::new(Wrong::Stopped, "The caller is suspended until a person releases it.")
            .suggestion("Ask the operator, who can release it with `vambrace resume`.")
    }

    pub(super) fn answer(&self, id: &Value) -> Value {
        let mut detail = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": self.wrong.reason(),
            "domain": "a2a-protocol.org",
        });
        if let (Value::Object(detail), false) = (&mut detail, self.suggestion.is_empty()) {
            detail.insert("metadata".to_owned(), json!({"suggestion": self.suggestion}));
        }
        json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": self.wrong.code(), "message": self.message, "data": [detail]},
        })
    }
}

/// Why it is away is for operators.
impl From<StateError> for Fault {
    fn from(error: StateError) -> Fault {
        let message = match error {
            StateError::Away { .. } => "The service cannot reach its tasks.",
            StateError::Late { .. } => "The service waited too long for its tasks.",
        };
        Fault::new(Wrong::Away, message).suggestion(
            "Try again in a few seconds. Before you send a call again, look for it with ListTasks.",
        )
    }
}

pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Value,
    pub(super) method: Method,
    pub(super) revision: Revision,
    pub(super) params: Value,
}

const LONGEST_ID: usize = 256;

/// The error comes with the id under which it is told.
pub(super) fn read(value: Value) -> Result<Call, (Value, Fault)> {
    let nameless = |fault| (Value::Null, fault);
    let no_request = |message: &str| Fault::new(Wrong::NoRequest, message);
    let mut members = match value {
        Value::Object(members) => members,
        Value::Array(_) => {
            return Err(nameless(
                no_request("Batches are not accepted.").suggestion("Send one request at a time."),
            ));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(nameless(no_request("A request is an object.")));
        }
    };
    let id = match members.remove("id") {
        Some(Value::String(id)) if id.len() <= LONGEST_ID => Value::String(id),
        Some(Value::Number(id)) if id.is_i64() || id.is_u64() => Value::Number(id),
        None | Some(_) => {
            return Err(nameless(
                no_request("A request needs an id, a string or a whole number.")
                    .suggestion("Nothing was done: notifications are not accepted."),
            ));
        }
    };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err((id, no_request("`jsonrpc` must be \"2.0\".")));
    }
    let Some(Value::String(name)) = members.remove("method") else {
        return Err((id, no_request("`method` must be a string.")));
    };
    let Some((_, method, revision)) = METHODS.iter().find(|(known, _, _)| *known == name) else {
        let fault = Fault::new(Wrong::NoMethod, "There is no such method.")
            .suggestion("The methods are those of A2A 1.0, and the names of 0.3 for older clients.");
        return Err((id, fault));
    };
    let params = match members.remove("params") {
        None | Some(Value::Null) => json!({}),
        Some(Value::Object(params)) => Value::Object(params),
        Some(_) => return Err((id, Fault::new(Wrong::Params, "`params` must be an object."))),
    };
    Ok(Call { id, method: *method, revision: *revision, params })
}

/// Whether we speak the revision that a client says it speaks. The names tell the rest.
pub(super) fn check_version(version: Option<&str>) -> Result<(), Fault> {
    let Some(version) = version.map(str::trim).filter(|version| !version.is_empty()) else { return Ok(()) };
    let mut numbers = version.split('.');
    let known = matches!((numbers.next(), numbers.next()), (Some("1"), Some("0")) | (Some("0"), Some("3")));
    let rest = numbers.all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    if known && rest {
        return Ok(());
    }
    Err(Fault::new(Wrong::Version, "This version of A2A is not supported.")
        .suggestion("Send `A2A-Version: 1.0` or `0.3`."))
}

#[cfg(test)]
mod tests {
    use vambrace_json::Limits;

    use super::*;

    #[track_caller]
    fn check(body: &str, expected: Result<(Method, Revision), (Value, i32)>) {
        let read = vambrace_json::read(body.as_bytes(), Limits::message(4096))
            .map_err(|fault| (Value::Null, Fault::of_json(&fault)))
            .and_then(read);
        let read = read.map(|call| (call.method, call.revision));
        assert_eq!(read.map_err(|(id, fault)| (id, fault.wrong.code())), expected, "{body}");
    }

    #[test]
    fn requests() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}"#,
            Ok((Method::Get, Revision::V1)),
        );
        check(r#"{"jsonrpc":"2.0","id":"a","method":"tasks/get"}"#, Ok((Method::Get, Revision::V03)));
        check("", Err((Value::Null, -32700)));
        check("{", Err((Value::Null, -32700)));
        check(&"[".repeat(200), Err((Value::Null, -32700)));
        check(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask"}"#, Err((Value::Null, -32600)));
        check(r#"{"$serde_json::private::RawValue":"{}"}"#, Err((Value::Null, -32600)));
        check("[]", Err((Value::Null, -32600)));
        check("7", Err((Value::Null, -32600)));
        check(r#"{"jsonrpc":"2.0","method":"GetTask"}"#, Err((Value::Null, -32600)));
        check(r#"{"jsonrpc":"2.0","id":null,"method":"GetTask"}"#, Err((Value::Null, -32600)));
        check(r#"{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}"#, Err((Value::Null, -32600)));
        check(r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#, Err((Value::Null, -32600)));
        check(r#"{"jsonrpc":"1.0","id":1,"method":"GetTask"}"#, Err((json!(1), -32600)));
        check(r#"{"id":1,"method":"GetTask"}"#, Err((json!(1), -32600)));
        check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Err((json!(1), -32600)));
        check(r#"{"jsonrpc":"2.0","id":1,"method":"gettask"}"#, Err((json!(1), -32601)));
        check(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}"#, Err((json!(1), -32602)));
    }

    #[test]
    fn versions() {
        for (version, expected) in [
            (None, true),
            (Some(""), true),
            (Some("1.0"), true),
            (Some("1.0.2"), true),
            (Some("0.3"), true),
            (Some("0.3.0"), true),
            (Some("1"), false),
            (Some("1.1"), false),
            (Some("2.0"), false),
            (Some("99.0"), false),
            (Some("0.2"), false),
            (Some("1.0.x"), false),
            (Some("1.0."), false),
        ] {
            assert_eq!(check_version(version).is_ok(), expected, "{version:?}");
        }
    }
}

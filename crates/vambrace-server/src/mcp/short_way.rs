//! A plain `tools/call` of revision 2026-07-28, without the detour through the library's tasks and channels.
//!
//! INVARIANT: what goes this way is answered as the library would answer it. Whatever is not exactly as expected here
//! (another header, an unknown member, a progress token, an answer to a question) takes the long way.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, Method, StatusCode, header, request};
use rmcp::model::{ClientCapabilities, ErrorData, NumberOrString, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use vambrace_runtime::{Corridor, Leash};
use vambrace_types::{Caller, Chain, Door, Role, write_json_text};

use crate::http::{Calling, Front, answer};
use crate::mcp::asking::{Asked, Questions, Way, input_required, patience};
use crate::mcp::handler::{UNANSWERED, write_rendered};
use crate::wire;

const REVISION: &str = "2026-07-28";
const METHOD: &str = "tools/call";

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const CALLED_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'b> {
    #[serde(borrow)]
    jsonrpc: Cow<'b, str>,
    id: RequestId,
    #[serde(borrow)]
    method: Cow<'b, str>,
    #[serde(borrow)]
    params: Params<'b>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params<'b> {
    name: String,
    arguments: Option<Map<String, Value>>,
    #[serde(borrow)]
    _meta: Meta<'b>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta<'b> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    revision: Cow<'b, str>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: ClientCapabilities,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    _info: Option<Info<'b>>,
}

/// What most clients say of themselves; the library knows more members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Info<'b> {
    #[serde(borrow, rename = "name")]
    _name: Cow<'b, str>,
    #[serde(borrow, rename = "version")]
    _version: Cow<'b, str>,
    #[serde(borrow, rename = "title")]
    _title: Option<Cow<'b, str>>,
}

/// A call that may go this way.
pub(super) struct ShortWay {
    id: RequestId,
    tool: String,
    arguments: Value,
    capabilities: ClientCapabilities,
}

impl ShortWay {
    /// INVARIANT: the body is checked.
    pub(super) fn find(parts: &request::Parts, body: &[u8]) -> Option<ShortWay> {
        if parts.method != Method::POST || !has_plain_headers(&parts.headers) {
            return None;
        }
        let message: Message<'_> = vambrace_json::checked(body).ok()?;
        let Params { name, arguments, _meta: meta } = message.params;
        let fits = message.jsonrpc == "2.0"
            && message.method == METHOD
            && meta.revision == REVISION
            && only(&parts.headers, &NAME).is_some_and(|named| named == name && is_plain(&name));
        fits.then(|| ShortWay {
            id: message.id,
            tool: name,
            arguments: Value::Object(arguments.unwrap_or_default()),
            capabilities: meta.capabilities,
        })
    }

    pub(super) async fn go(
        self,
        front: &Front,
        questions: &Questions,
        caller: Caller,
        chain: Chain,
    ) -> Response {
        let ShortWay { id, tool, arguments, capabilities } = self;
        let way = Way::returning(questions, &capabilities);
        let kept = (way == Way::Return).then(|| (caller.clone(), arguments.clone()));
        let (session, dry_run) = (Corridor::new_session(), false);
        let calling = Calling { caller, session, tool: tool.clone(), arguments, dry_run, chain };
        let Some(reply) = front.call(calling, Leash::default()).await else {
            return told(&id, "error", &ErrorData::internal_error(UNANSWERED, None));
        };
        if let (Some(ticket), Some((caller, arguments))) = (reply.ticket(), &kept) {
            let asked = Asked { caller, tool: &tool, arguments };
            if let Some(result) = input_required(questions, ticket, &asked, patience(ticket, &front.corridor))
            {
                return told(&id, "result", &result);
            }
        }
        let mut body = String::with_capacity(2 * wire::room_for(&reply));
        begin(&mut body, &id, "result");
        write_rendered(&reply, &mut body);
        body.push('}');
        answer::json(StatusCode::OK, body)
    }
}

/// A message up to what it says.
fn begin(body: &mut String, id: &RequestId, said: &str) {
    body.push_str(r#"{"jsonrpc":"2.0","id":"#);
    match id {
        // Writing to a string cannot fail.
        NumberOrString::Number(id) => drop(write!(body, "{id}")),
        NumberOrString::String(id) => write_json_text(id, body),
    }
    let _ = write!(body, r#","{said}":"#);
}

fn told(id: &RequestId, said: &str, what: &impl Serialize) -> Response {
    let Ok(what) = serde_json::to_string(what) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut body = String::new();
    begin(&mut body, id, said);
    body.push_str(&what);
    body.push('}');
    answer::json(StatusCode::OK, body)
}

/// The one value of a header that was sent once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

fn has_plain_headers(headers: &HeaderMap) -> bool {
    only(headers, &PROTOCOL_VERSION) == Some(REVISION)
        && only(headers, &CALLED_METHOD) == Some(METHOD)
        && only(headers, &header::CONTENT_TYPE) == Some("application/json")
        && only(headers, &header::ACCEPT)
            .is_some_and(|kinds| kinds.contains("application/json") && kinds.contains("text/event-stream"))
        && !headers.keys().any(|name| name.as_str().starts_with("mcp-param-") || name == "mcp-session-id")
}

/// Not to be taken for something encoded.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether no tool wants arguments repeated in headers; otherwise the library has to look at every call.
pub(super) fn is_open(corridor: &Arc<Corridor>) -> bool {
    let roles = [Role::Dev, Role::Sre, Role::ReleaseManager, Role::ProductOwner];
    let mut tools =
        roles.into_iter().flat_map(|role| corridor.tools_for(&Caller::local(role, Door::McpHttp)));
    !tools.any(|tool| json!(tool.schema).to_string().contains("x-mcp-header"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": METHOD, "params": {
            "name": "read_file", "arguments": {"path": "a"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": REVISION,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            },
        }})
    }

    const HEADERS: [(&str, &str); 5] = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", REVISION),
        ("mcp-method", METHOD),
        ("mcp-name", "read_file"),
    ];

    #[track_caller]
    fn check(headers: &[(&str, &str)], body: &str, expected: bool) {
        check_method(&Method::POST, headers, body, expected);
    }

    #[track_caller]
    fn check_method(method: &Method, headers: &[(&str, &str)], body: &str, expected: bool) {
        let mut request = http::Request::builder().method(method).uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(
            ShortWay::find(&parts, body.as_bytes()).is_some(),
            expected,
            "{method} {headers:?} {body}"
        );
    }

    #[test]
    fn only_what_is_exactly_as_expected_goes_the_short_way() {
        let plain = message().to_string();
        check(&HEADERS, &plain, true);
        for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH, Method::HEAD] {
            check_method(&method, &HEADERS, &plain, false);
        }
        for left_out in 0..HEADERS.len() {
            let mut headers = HEADERS.to_vec();
            let one = headers.remove(left_out);
            check(&headers, &plain, false);
            check(&[&headers[..], &[one, one]].concat(), &plain, false);
            check(&[&headers[..], &[(one.0, "x")]].concat(), &plain, false);
        }
        for more in [("mcp-session-id", "x"), ("mcp-param-path", "a")] {
            check(&[&HEADERS[..], &[more]].concat(), &plain, false);
        }
        check(&[&HEADERS[..], &[("x-anything", "x")]].concat(), &plain, true);
        let rows: [(&str, Value); 13] = [
            ("/jsonrpc", json!("1.0")),
            ("/id", json!(null)),
            ("/id", json!(1.5)),
            ("/method", json!("tools/list")),
            ("/params/name", json!("write_file")),
            ("/params/name", json!(7)),
            ("/params/arguments", json!([])),
            ("/params/_meta", json!(null)),
            ("/params/_meta/io.modelcontextprotocol~1protocolVersion", json!("2025-11-25")),
            ("/params/_meta/io.modelcontextprotocol~1clientCapabilities", json!(7)),
            ("/params/_meta/io.modelcontextprotocol~1clientInfo", json!({"name": 7})),
            ("/params", json!(null)),
            ("", json!([message()])),
        ];
        for (place, value) in rows {
            let mut changed = message();
            *changed.pointer_mut(place).unwrap() = value;
            check(&HEADERS, &changed.to_string(), false);
        }
        for (place, key) in [
            ("", "x"),
            ("/params", "requestState"),
            ("/params", "inputResponses"),
            ("/params/_meta", "progressToken"),
        ] {
            let mut changed = message();
            changed.pointer_mut(place).unwrap()[key] = json!("x");
            check(&HEADERS, &changed.to_string(), false);
        }
        let twice = plain.replacen("\"id\":1", "\"id\":1,\"id\":2", 1);
        check(&HEADERS, &twice, false);
        check(&HEADERS, "", false);
    }
}

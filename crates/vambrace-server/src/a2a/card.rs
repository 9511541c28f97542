//! The agent card: what everybody may know of us, and what a caller may use. Who asks in the words of a revision gets its
//! members: strict readers of 1.0 take no others.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use vambrace_types::{Caller, ErrorCode};

use super::rpc::Revision;
use crate::http::{Front, Problem};

const DESCRIPTION: &str = "Governed tools for agents: files, programs, git and the web, with every call decided, caged, \
    cleaned of secrets and put on record. Send a data part {\"tool\": …, \"arguments\": {…}}; the answer is a task whose \
    artifact is the tool's result.";

/// In seconds: a card changes with a new version or configuration, at a restart.
const CACHE: &str = "public, max-age=300";

/// What the public card tells of us: kinds of work, not anybody's list.
const GENERAL: &[(&str, &str, &str, &[&str])] = &[
    (
        "files",
        "Work with files",
        "Read, search, write and edit the files of the workspace.",
        &["files", "edit"],
    ),
    ("programs", "Run programs", "Run commands, tests and linters in a cage.", &["shell", "test"]),
    ("git", "Work with git", "Look at changes, stage, commit and switch branches.", &["git"]),
    ("web", "Fetch from the web", "Fetch pages and send requests to public addresses.", &["web"]),
];

/// Where others reach us, without a slash at the end.
fn place(front: &Front, headers: &HeaderMap) -> String {
    let settings = &front.settings;
    if let Some(url) = settings.a2a.agent_url.as_ref().or(settings.public_url.as_ref()) {
        return url.trim_end_matches('/').to_owned();
    }
    let is_common = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    // THREAT: P12, a card is copied into other programs; a host with a path in it is none.
    let host = host.filter(|host| !host.is_empty() && host.bytes().all(is_common)).unwrap_or("localhost");
    format!("http://{host}")
}

fn card(front: &Front, headers: &HeaderMap, skills: &[Value]) -> Value {
    let url = format!("{}/a2a/invoke", place(front, headers));
    let modes = ["text/plain", "application/json"];
    json!({
        "name": front.settings.a2a.agent_name,
        "description": DESCRIPTION,
        "version": env!("CARGO_PKG_VERSION"),
        "supportedInterfaces": [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
        ],
        "capabilities": {"streaming": true, "pushNotifications": true, "extendedAgentCard": true},
        "securitySchemes": {
            "apiKey": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
            "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
        },
        "securityRequirements": [
            {"schemes": {"apiKey": {"list": []}}},
            {"schemes": {"bearer": {"list": []}}},
        ],
        "defaultInputModes": modes,
        "defaultOutputModes": modes,
        "skills": skills,
    })
}

/// The same with what 0.3 calls otherwise.
fn with_older(mut card: Value) -> Value {
    let interfaces = card.get("supportedInterfaces").and_then(Value::as_array);
    let url = interfaces.and_then(|all| all.first()).and_then(|first| first.get("url")).cloned();
    let add = |object: Option<&mut Value>, more: Value| {
        if let (Some(Value::Object(object)), Value::Object(more)) = (object, more) {
            object.extend(more);
        }
    };
    add(
        card.pointer_mut("/securitySchemes/apiKey"),
        json!({"type": "apiKey", "in": "header", "name": "X-API-Key"}),
    );
    add(card.pointer_mut("/securitySchemes/bearer"), json!({"type": "http", "scheme": "bearer"}));
    let older = json!({
        "url": url,
        "preferredTransport": "JSONRPC",
        "protocolVersion": "0.3.0",
        "supportsAuthenticatedExtendedCard": true,
        "security": [{"apiKey": []}, {"bearer": []}],
    });
    add(Some(&mut card), older);
    card
}

/// The card of a caller who is known: one skill for each tool that it may use.
pub(super) fn extended(front: &Front, headers: &HeaderMap, caller: &Caller, revision: Revision) -> Value {
    let skills: Vec<Value> = front
        .corridor
        .tools_for(caller)
        .into_iter()
        .map(|tool| {
            let about = tool.about;
            let tag = |is: bool, yes: &'static str, no: &'static str| if is { yes } else { no };
            json!({
                "id": about.name.as_str(),
                "name": about.title,
                "description": about.description,
                "tags": ["tool", tag(about.hints.read_only, "reads", "changes"),
                         tag(about.hints.open_world, "network", "local")],
                "examples": [json!({"tool": about.name.as_str(), "arguments": {}}).to_string()],
                "inputModes": ["application/json"],
                "outputModes": ["application/json", "text/plain"],
            })
        })
        .collect();
    let card = card(front, headers, &skills);
    match revision {
        Revision::V1 => card,
        Revision::V03 => with_older(card),
    }
}

/// What a client of 0.3 cannot read without it comes where it is asked for: by the header that names a version, or at the
/// older address.
fn is_older(headers: &HeaderMap) -> bool {
    let version = headers.get("a2a-version").and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version.trim() == "0.3" || version.trim().starts_with("0.3."))
}

pub(super) async fn public(State(front): State<Arc<Front>>, headers: HeaderMap) -> Response {
    let revision = if is_older(&headers) { Revision::V03 } else { Revision::V1 };
    public_card(&front, &headers, revision)
}

/// At the address of older clients.
pub(super) async fn public_older(State(front): State<Arc<Front>>, headers: HeaderMap) -> Response {
    public_card(&front, &headers, Revision::V03)
}

fn public_card(front: &Front, headers: &HeaderMap, revision: Revision) -> Response {
    if !front.settings.a2a.enabled {
        return absent().into_response();
    }
    let skills: Vec<Value> = GENERAL
        .iter()
        .map(|(id, name, description, tags)| {
            json!({"id": id, "name": name, "description": description, "tags": tags})
        })
        .collect();
    let card = card(front, headers, &skills);
    let card = match revision {
        Revision::V1 => card,
        Revision::V03 => with_older(card),
    };
    let digest = Sha256::digest(card.to_string().as_bytes());
    let tag: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let known = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, CACHE.to_owned()),
        (header::VARY, "Host, A2A-Version".to_owned()),
    ];
    if is_held(headers, &tag) {
        return (StatusCode::NOT_MODIFIED, known).into_response();
    }
    (known, Json(card)).into_response()
}

/// Whether the client has this one already (RFC 9110, weak comparison).
fn is_held(headers: &HeaderMap, tag: &str) -> bool {
    let lists = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .map(|held| held.trim().trim_start_matches("W/"))
        .any(|held| held == "*" || held == tag)
}

/// The door is closed: as if it were not there.
pub(super) fn absent() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, ErrorCode::RouteNotFound, "Calls between agents are switched off.")
        .suggestion("The operator switches them on with `a2a.enabled: true`.")
}

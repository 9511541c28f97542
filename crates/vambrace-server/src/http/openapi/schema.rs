//! The shapes that routes take and give, as JSON Schema (2020-12, as OpenAPI 3.1 has it).

use serde_json::{Map, Value, json};
use vambrace_auth::LONGEST_TASK;
use vambrace_types::ErrorCode;

pub(super) fn security() -> Value {
    json!({
        "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        "bearer": {"type": "http", "scheme": "bearer", "description": "A JWT, or an API key."},
        "internalToken": {"type": "apiKey", "in": "header", "name": "X-Internal-Token"},
    })
}

pub(super) fn all() -> Map<String, Value> {
    let mut schemas = Map::new();
    let mut add = |name: &str, schema: Value| schemas.insert(name.to_owned(), schema);
    add("Anything", json!({}));
    add(
        "Arguments",
        json!({"type": "object", "description": "A tool's arguments, as its input schema says."}),
    );
    add("JsonRpc", json!({"type": "object", "description": "A JSON-RPC 2.0 message."}));
    add("ErrorCode", codes());
    add("Error", error());
    add("Problem", problem());
    add("TooMany", too_many());
    add("Metadata", metadata());
    add("ToolResult", tool_result());
    add("ToolList", list("tools", &tool()));
    add("RecordList", records());
    add("WholeRecords", list("records", &json!({"type": "object"})));
    add("AlertList", list("alerts", &alert()));
    add("Question", question());
    add("ApprovalList", list("approvals", &json!({"$ref": "#/components/schemas/Question"})));
    add("Approval", success("approval", &json!({"$ref": "#/components/schemas/Question"})));
    add("ApprovalAnswer", answer());
    add("Query", query());
    add("TaskWish", task_wish());
    add("TaskToken", task_token());
    schemas
}

fn task_wish() -> Value {
    json!({
        "type": "object",
        "properties": {
            "ttl": {"type": "integer", "minimum": 1, "maximum": LONGEST_TASK, "default": 3600,
                "description": "How long the token is good, in seconds."},
            "role": {"type": "string", "description": "A role that yours includes. Default: yours."},
            "tool": {"type": "string", "description": "The tool mode: none, read, write, command, all, or a list."},
        },
        "additionalProperties": false,
    })
}

fn task_token() -> Value {
    let text_or_null = json!({"type": ["string", "null"]});
    exactly(json!({
        "success": {"const": true},
        "token": {"type": "string"},
        "task": {"type": "string"},
        "context": text_or_null,
        "role": text_or_null,
        "tool": text_or_null,
        "expires_at": {"type": "string"},
    }))
}

/// All of them required, and no others.
fn exactly(properties: Value) -> Value {
    let names: Vec<String> =
        properties.as_object().into_iter().flat_map(Map::keys).map(String::clone).collect();
    json!({"type": "object", "required": names, "properties": properties, "additionalProperties": false})
}

fn success(name: &str, schema: &Value) -> Value {
    exactly(json!({"success": {"const": true}, name: schema}))
}

fn list(name: &str, item: &Value) -> Value {
    success(name, &json!({"type": "array", "items": item}))
}

fn records() -> Value {
    exactly(json!({
        "success": {"const": true},
        "records": {"type": "array", "items": record()},
        "more": {"type": "boolean", "description": "Whether there are older ones."},
    }))
}

fn codes() -> Value {
    let words: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    json!({"type": "string", "enum": words})
}

fn error() -> Value {
    json!({
        "type": "object",
        "required": ["code", "message", "suggestion"],
        "properties": {
            "code": {"$ref": "#/components/schemas/ErrorCode"},
            "message": {"type": "string"},
            "suggestion": {"type": "string"},
            "details": {"description": "For an approval: `approval_id` and `expires_at`."},
        },
        "additionalProperties": false,
    })
}

fn problem() -> Value {
    exactly(json!({
        "success": {"const": false},
        "message": {"type": "string"},
        "error": exactly(json!({
            "code": {"$ref": "#/components/schemas/ErrorCode"},
            "message": {"type": "string"},
            "suggestion": {"type": "string"},
            "request_id": {"type": "string", "description": "As in the header X-Request-ID."},
        })),
    }))
}

/// Specification 001: exactly these two members.
fn too_many() -> Value {
    exactly(json!({
        "success": {"const": false},
        "message": {"const": "Rate limit exceeded. Please try again later."},
    }))
}

fn metadata() -> Value {
    let mut shape = exactly(json!({
        "call_id": {"type": "string"},
        "duration_ms": {"type": "integer", "minimum": 0},
        "security_checks": {"enum": ["passed", "denied", "approval_required"]},
        "dry_run": {"type": "boolean"},
        "truncated": {"type": "boolean"},
        "redactions": {"type": "integer", "minimum": 0},
        "enforcement": {"enum": ["none", "host", "partial", "full"]},
        "checkpoint": {"type": ["string", "null"]},
    }));
    if let Some(properties) = shape.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("warnings".to_owned(), json!({"type": "array", "items": {"type": "string"}}));
    }
    shape
}

fn tool_result() -> Value {
    let mut shape = exactly(json!({
        "status": {"enum": ["success", "error"]},
        "data": {},
        "error": {"anyOf": [{"$ref": "#/components/schemas/Error"}, {"type": "null"}]},
        "metadata": {"$ref": "#/components/schemas/Metadata"},
    }));
    if let Some(entries) = shape.as_object_mut() {
        let error =
            json!({"status": {"const": "error"}, "data": {"type": "null"}, "error": {"type": "object"}});
        let success = json!({"status": {"const": "success"}, "error": {"type": "null"}});
        entries.insert("oneOf".to_owned(), json!([{"properties": success}, {"properties": error}]));
    }
    shape
}

fn tool() -> Value {
    exactly(json!({
        "name": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "input_schema": {"type": "object"},
        "annotations": exactly(json!({
            "readOnlyHint": {"type": "boolean"},
            "destructiveHint": {"type": "boolean"},
            "idempotentHint": {"type": "boolean"},
            "openWorldHint": {"type": "boolean"},
        })),
    }))
}

fn record() -> Value {
    let text = json!({"type": ["string", "null"]});
    let mut shape = exactly(json!({
        "timestamp": {"type": "string", "format": "date-time"},
        "kind": {"enum": ["intent", "outcome", "event"]},
        "event": text, "call_id": text, "caller_id": text, "client_ip": text, "request_id": text, "tool": text,
        "decision": {"enum": ["allow", "ask", "deny", null]},
        "rule": text, "ending": text, "code": text, "message": text,
        "dry_run": {"type": "boolean"},
        "duration_ms": {"type": ["integer", "null"]},
        "severity": text,
    }));
    if let Some(properties) = shape.get_mut("properties").and_then(Value::as_object_mut) {
        let mark = exactly(json!({"marker": {"type": "string"}, "fingerprint": {"type": "string"}}));
        properties.insert("marks".to_owned(), json!({"type": "array", "items": mark}));
    }
    shape
}

fn alert() -> Value {
    exactly(json!({
        "timestamp": {"type": "string", "format": "date-time"},
        "rule": {"type": "string"},
        "caller": {"type": "string"},
        "action": {"type": "string"},
        "call_id": {"type": "string"},
    }))
}

fn question() -> Value {
    exactly(json!({
        "id": {"type": "string"},
        "caller_id": {"type": "string"},
        "tool": {"type": "string"},
        "rule": {"type": "string"},
        "question": {"type": "string"},
        "call_id": {"type": "string"},
        "asked_at": {"type": "string", "format": "date-time"},
        "expires_at": {"type": "string", "format": "date-time"},
        "state": {"enum": ["waiting", "approved", "rejected", "used", "expired"]},
        "by": {"type": ["string", "null"]},
    }))
}

fn answer() -> Value {
    exactly(json!({"id": {"type": "string"}, "decision": {"enum": ["approve", "reject"]}}))
}

/// Specification 001 has more members; they count once there is an agent.
fn query() -> Value {
    let query = json!({"type": "string", "pattern": "\\S"});
    json!({"type": "object", "required": ["query"], "properties": {"query": query}})
}

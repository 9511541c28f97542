//! `/openapi.json`: OpenAPI 3.1, made from the table of routes and from the tools that the caller may use, so it says
//! what is served and nothing else.

mod schema;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::{Extension, Json};
use serde_json::{Map, Value, json};
use vambrace_runtime::ToolDescription;
use vambrace_types::Door;

use super::rest::{self, Access, Answer, Content, Place, ROUTES, Route, TOOL};
use super::{Admitted, Front, Problem};

/// `GET /openapi.json`.
pub(super) async fn show(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    rest::no_query(request.uri())?;
    let tools = front.corridor.tools_for(&admitted.caller(Door::Rest));
    let server = front.settings.public_url.as_deref().unwrap_or("/");
    Ok(Json(document(&tools, server)))
}

fn document(tools: &[ToolDescription], server: &str) -> Value {
    let mut paths = Map::new();
    let mut add = |path: &str, verb: &str, operation: Value| {
        let item = paths.entry(path.to_owned()).or_insert_with(|| json!({}));
        if let Some(item) = item.as_object_mut() {
            item.insert(verb.to_owned(), operation);
        }
    };
    for route in ROUTES {
        add(route.path, route.verb.as_str(), operation(route));
    }
    let mut schemas = schema::all();
    for tool in tools {
        let name = tool.about.name.as_str();
        add(&format!("/api/tools/{name}"), TOOL.verb.as_str(), tool_operation(tool));
        schemas.insert(arguments(name), rebased(tool.schema.clone(), &arguments(name)));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Vambrace",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Governed tools for AI agents. Every call is decided, recorded and redacted.",
        },
        "servers": [{"url": server}],
        "security": credentials(),
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": schema::security()},
    })
}

/// One of them is enough.
fn credentials() -> Value {
    json!([{"apiKey": []}, {"bearer": []}, {"internalToken": []}])
}

fn operation(route: &Route) -> Value {
    let mut operation = Map::new();
    operation.insert("operationId".to_owned(), json!(route.id));
    operation.insert("summary".to_owned(), json!(route.summary));
    operation.insert(
        "security".to_owned(),
        match route.access {
            Access::Public => json!([]),
            Access::Credential => credentials(),
        },
    );
    let parameters: Vec<Value> = route.parameters.iter().map(parameter).collect();
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), Value::Array(parameters));
    }
    if let Some(body) = route.body {
        operation.insert("requestBody".to_owned(), request_body(&reference(body), body != "Arguments"));
    }
    operation.insert("responses".to_owned(), Value::Object(responses(route)));
    Value::Object(operation)
}

fn tool_operation(tool: &ToolDescription) -> Value {
    let name = tool.about.name.as_str();
    let mut shape = operation(&TOOL);
    if let Some(operation) = shape.as_object_mut() {
        operation.insert("operationId".to_owned(), json!(format!("callTool.{name}")));
        operation.insert("summary".to_owned(), json!(tool.about.title));
        operation.insert("description".to_owned(), json!(tool.about.description));
        let in_query = TOOL.parameters.iter().filter(|parameter| matches!(parameter.place, Place::Query));
        operation.insert("parameters".to_owned(), in_query.map(parameter).collect());
        let has_required =
            tool.schema.get("required").and_then(Value::as_array).is_some_and(|r| !r.is_empty());
        operation.insert("requestBody".to_owned(), request_body(&reference(&arguments(name)), has_required));
    }
    shape
}

fn parameter(parameter: &rest::Parameter) -> Value {
    let (place, required) = match parameter.place {
        Place::Path => ("path", true),
        Place::Query => ("query", false),
    };
    json!({
        "name": parameter.name,
        "in": place,
        "required": required,
        "description": parameter.about,
        "schema": (parameter.schema)(),
    })
}

fn request_body(schema: &Value, required: bool) -> Value {
    json!({"required": required, "content": {"application/json": {"schema": schema}}})
}

const fn problem(status: u16, about: &'static str) -> Answer {
    Answer { status: Some(status), about, content: Content::Json("Problem") }
}

/// What every route may answer, beside its own.
const ALWAYS: [Answer; 3] = [
    Answer { status: Some(429), about: "Too many requests.", content: Content::Json("TooMany") },
    problem(500, "A fault of Vambrace."),
    problem(504, "The request took longer than it may."),
];

/// What every route that asks for a credential may answer, beside its own.
const BEFORE: [Answer; 5] = [
    problem(400, "The request's headers do not fit."),
    problem(401, "No valid credential."),
    problem(403, "The request's Origin or sender is refused."),
    problem(421, "The request's Host is not this service."),
    problem(508, "The chain of agents is too long or leads back here."),
];

fn responses(route: &Route) -> Map<String, Value> {
    let common = match route.access {
        Access::Public => &[][..],
        Access::Credential => &BEFORE[..],
    };
    let mut shown: Vec<&Answer> = route.answers.iter().collect();
    let is_own = |common: &&Answer| route.answers.iter().any(|answer| answer.status == common.status);
    shown.extend(ALWAYS.iter().chain(common).filter(|common| !is_own(common)));
    shown.sort_by_key(|answer| answer.status.unwrap_or(u16::MAX));
    shown.into_iter().map(response).collect()
}

fn response(answer: &Answer) -> (String, Value) {
    let mut shape = json!({
        "description": answer.about,
        "headers": {"X-Request-ID": {"description": "Names this request.", "schema": {"type": "string"}}},
    });
    let content = match answer.content {
        Content::Json(name) => json!({"application/json": {"schema": reference(name)}}),
        Content::Either(one, other) => {
            let schema = json!({"anyOf": [reference(one), reference(other)]});
            json!({"application/json": {"schema": schema}})
        }
        Content::JsonOrEvents(name) => {
            let schema = json!({"schema": reference(name)});
            json!({"application/json": schema, "text/event-stream": {}, "text/plain": {}, "text/html": {}})
        }
        Content::Text(kind) => {
            let mut content = Map::new();
            content.insert(kind.to_owned(), json!({"schema": {"type": "string"}}));
            Value::Object(content)
        }
    };
    if let Some(shape) = shape.as_object_mut() {
        shape.insert("content".to_owned(), content);
        if answer.status == Some(429) {
            let retry = json!({"description": "Seconds to wait.", "schema": {"type": "string"}});
            if let Some(headers) = shape.get_mut("headers").and_then(Value::as_object_mut) {
                headers.insert("Retry-After".to_owned(), retry);
            }
        }
    }
    let status = answer.status.map_or("default".to_owned(), |status| status.to_string());
    (status, shape)
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The name of the schema of a tool's arguments.
fn arguments(tool: &str) -> String {
    format!("Arguments.{tool}")
}

/// A tool's schema is a document of its own; inside ours, its references start further down.
fn rebased(schema: Map<String, Value>, name: &str) -> Value {
    fn walk(node: &mut Value, root: &str) {
        match node {
            Value::Object(entries) => {
                for (key, value) in entries.iter_mut() {
                    match value {
                        Value::String(target) if key == "$ref" => {
                            if let Some(inside) = target.strip_prefix('#') {
                                *target = format!("{root}{inside}");
                            }
                        }
                        other => walk(other, root),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| walk(item, root)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut schema = Value::Object(schema);
    walk(&mut schema, &format!("#/components/schemas/{name}"));
    schema
}

#[cfg(test)]
mod tests;

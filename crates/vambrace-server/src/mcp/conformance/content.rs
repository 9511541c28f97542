//! What the fixtures answer with, by the kit's own words. Shapes are written as JSON, as the kit describes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

const ABOUT: &str = "A fixture of the conformance kit.";
/// One red pixel.
const PNG: [u8; 69] = [
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 144,
    119, 83, 222, 0, 0, 0, 12, 73, 68, 65, 84, 120, 156, 99, 248, 207, 192, 0, 0, 3, 1, 1, 0, 201, 254, 146,
    239, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];
/// Two samples of silence.
const WAV: [u8; 46] = [
    82, 73, 70, 70, 38, 0, 0, 0, 87, 65, 86, 69, 102, 109, 116, 32, 16, 0, 0, 0, 1, 0, 1, 0, 64, 31, 0, 0,
    64, 31, 0, 0, 1, 0, 8, 0, 100, 97, 116, 97, 2, 0, 0, 0, 128, 128,
];

fn image() -> Value {
    json!({"type": "image", "data": STANDARD.encode(PNG), "mimeType": "image/png"})
}

pub(super) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

/// The tools that only answer.
pub(super) fn answer(tool: &str) -> Option<Value> {
    let content = match tool {
        "test_simple_text" => vec![text("This is a simple text response for testing.")],
        "test_image_content" => vec![image()],
        "test_audio_content" => {
            vec![json!({"type": "audio", "data": STANDARD.encode(WAV), "mimeType": "audio/wav"})]
        }
        "test_embedded_resource" => {
            let text = "This is an embedded resource content.";
            vec![resource("test://embedded-resource", "text/plain", text)]
        }
        "test_multiple_content_types" => {
            let data = json!({"test": "data", "value": 123}).to_string();
            vec![
                text("Multiple content types test:"),
                image(),
                resource("test://mixed-content-resource", "application/json", &data),
            ]
        }
        "test_error_handling" => {
            let content = [text("This tool intentionally returns an error for testing")];
            return Some(json!({"content": content, "isError": true}));
        }
        "json_schema_2020_12_tool" | "test_custom_headers" => vec![text("Nothing was done.")],
        _ => return None,
    };
    Some(json!({"content": content}))
}

/// Every fixture that can be called.
const TOOLS: [&str; 25] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_custom_headers",
    "json_schema_2020_12_tool",
];

pub(super) fn tools() -> Value {
    TOOLS
        .iter()
        .map(|name| {
            let schema = match *name {
                "json_schema_2020_12_tool" => broad_schema(),
                "test_custom_headers" => {
                    let region = json!({"type": "string", "x-mcp-header": "Region"});
                    json!({"type": "object", "properties": {"region": region}})
                }
                "test_sampling" => with_one("prompt"),
                "test_elicitation" => with_one("message"),
                _ => json!({"type": "object", "properties": {}}),
            };
            json!({"name": name, "description": ABOUT, "inputSchema": schema})
        })
        .collect()
}

fn with_one(name: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})
}

/// Keywords that must come out as they went in.
fn broad_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

pub(super) fn prompts() -> Value {
    let argument = |name: &str| json!({"name": name, "description": "An argument.", "required": true});
    let prompt =
        |name: &str, given: Vec<Value>| json!({"name": name, "description": ABOUT, "arguments": given});
    json!({"prompts": [
        prompt("test_simple_prompt", vec![]),
        prompt("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
        prompt("test_prompt_with_embedded_resource", vec![argument("resourceUri")]),
        prompt("test_prompt_with_image", vec![]),
        prompt("test_input_required_result_prompt", vec![]),
    ]})
}

/// The prompts that only answer.
pub(super) fn prompt(name: &str, arguments: &Value) -> Option<Value> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let content = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            resource(argument("resourceUri"), "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        _ => return None,
    };
    let messages: Value =
        content.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    Some(json!({"messages": messages}))
}

pub(super) fn resources() -> Value {
    let resource = |name: &str, kind: &str| {
        let uri = format!("test://{name}");
        json!({"uri": uri, "name": name, "description": ABOUT, "mimeType": kind})
    };
    json!({"resources": [
        resource("static-text", "text/plain"),
        resource("static-binary", "image/png"),
        resource("watched-resource", "text/plain"),
    ]})
}

pub(super) fn templates() -> Value {
    json!({"resourceTemplates": [{
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": ABOUT,
        "mimeType": "application/json",
    }]})
}

pub(super) fn read(uri: &str) -> Option<Value> {
    let contents = match uri {
        "test://static-text" => json!({
            "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource.",
        }),
        "test://static-binary" => {
            json!({"uri": uri, "mimeType": "image/png", "blob": STANDARD.encode(PNG)})
        }
        "test://watched-resource" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "Watched resource content."})
        }
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
    };
    Some(json!({"contents": [contents]}))
}

/// A form with a default for every primitive type.
pub(super) fn form_with_defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        },
        "required": [],
    })
}

/// A form with every kind of choice.
pub(super) fn form_with_choices() -> Value {
    let titled = |word: &str| {
        json!([
            {"const": "value1", "title": format!("First {word}")},
            {"const": "value2", "title": format!("Second {word}")},
            {"const": "value3", "title": format!("Third {word}")},
        ])
    };
    let options = ["option1", "option2", "option3"];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
        },
        "required": [],
    })
}

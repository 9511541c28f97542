//! The fixtures of revision 2026-07-28 that need several rounds: what they still have to ask.

use rmcp::model::{ClientCapabilities, ErrorData, InputResponses, RequestStateCodec};
use serde_json::{Map, Value, json};

/// What a round ends with.
pub(super) enum Round {
    Done(String),
    Ask { requests: Value, state: Option<String> },
}

/// One round of one fixture, or `None` if it is not one of these.
pub(super) fn round(
    tool: &str,
    codec: &RequestStateCodec,
    can: &ClientCapabilities,
    responses: Option<&InputResponses>,
    state: Option<&str>,
) -> Option<Result<Round, ErrorData>> {
    let said = |key: &str| responses.and_then(|responses| responses.get(key));
    let ask = |requests: Value| Ok(Round::Ask { requests, state: None });
    let sealed =
        |requests: Value, step: &str| Ok(Round::Ask { requests, state: Some(codec.seal(step.as_bytes())) });
    let opened = state.map(|state| {
        codec.open(state).map_err(|_| ErrorData::invalid_params("The request state was altered.", None))
    });
    // An altered state is refused whatever comes with it.
    let step = match opened.transpose() {
        Ok(step) => step,
        Err(error) => return tool.starts_with("test_input_required").then_some(Err(error)),
    };
    let field = |key: &str, field: &str| {
        said(key).and_then(|said| said.get("content")?.get(field)).filter(|value| !value.is_null()).cloned()
    };
    Some(match tool {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            match field("user_name", "name").as_ref().and_then(Value::as_str) {
                Some(name) => Ok(Round::Done(format!("Hello, {name}!"))),
                None => ask(json!({"user_name": elicit("What is your name?", "name", "string")})),
            }
        }
        "test_input_required_result_sampling" => match said("capital_question") {
            Some(said) => Ok(Round::Done(format!("Sampled: {}", text_of(said)))),
            None => ask(json!({"capital_question": sample("What is the capital of France?", 100)})),
        },
        "test_input_required_result_list_roots" => match said("client_roots") {
            Some(said) => Ok(Round::Done(format!("Roots: {}", said.get("roots").unwrap_or(&Value::Null)))),
            None => ask(json!({"client_roots": list_roots()})),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            match (step, said("confirm")) {
                (Some(_), Some(_)) => Ok(Round::Done("state-ok".to_owned())),
                _ => sealed(json!({"confirm": elicit("Please confirm", "ok", "boolean")}), "confirm"),
            }
        }
        "test_input_required_result_multiple_inputs" => {
            match (step, said("user_name"), said("greeting"), said("client_roots")) {
                (Some(_), Some(_), Some(greeting), Some(_)) => {
                    Ok(Round::Done(format!("All inputs came: {}", text_of(greeting))))
                }
                _ => sealed(
                    json!({
                        "user_name": elicit("What is your name?", "name", "string"),
                        "greeting": sample("Generate a greeting", 50),
                        "client_roots": list_roots(),
                    }),
                    "all",
                ),
            }
        }
        "test_input_required_result_multi_round" => match (step.as_deref(), said("step1"), said("step2")) {
            (Some(b"two"), _, Some(_)) => Ok(Round::Done("Both steps are done.".to_owned())),
            (Some(b"one"), Some(_), _) | (Some(b"two"), _, None) => {
                let color = elicit("Step 2: What is your favorite color?", "color", "string");
                sealed(json!({"step2": color}), "two")
            }
            _ => sealed(json!({"step1": elicit("Step 1: What is your name?", "name", "string")}), "one"),
        },
        "test_input_required_result_capabilities" => {
            if responses.is_some_and(|responses| !responses.is_empty()) {
                return Some(Ok(Round::Done("Done.".to_owned())));
            }
            // Nothing is asked of a client that cannot answer.
            let mut requests = Map::new();
            if can.elicitation.is_some() {
                requests.insert("user_name".to_owned(), elicit("What is your name?", "name", "string"));
            }
            if can.sampling.is_some() {
                requests.insert("greeting".to_owned(), sample("Generate a greeting", 50));
            }
            if can.roots.is_some() {
                requests.insert("client_roots".to_owned(), list_roots());
            }
            if requests.is_empty() {
                Ok(Round::Done("Nothing can be asked.".to_owned()))
            } else {
                ask(Value::Object(requests))
            }
        }
        _ => return None,
    })
}

/// The prompt that asks first.
pub(super) fn prompt_round(responses: Option<&InputResponses>) -> Round {
    let said = responses.and_then(|responses| responses.get("user_context"));
    match said.and_then(|said| said.get("content")?.get("context")?.as_str()) {
        Some(context) => Round::Done(format!("Use this context: {context}")),
        None => {
            let question = elicit("What context should the prompt use?", "context", "string");
            Round::Ask { requests: json!({"user_context": question}), state: None }
        }
    }
}

fn elicit(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    })
}

fn sample(text: &str, most: u32) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": most}})
}

fn list_roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

fn text_of(said: &Value) -> String {
    said.pointer("/content/text").and_then(Value::as_str).unwrap_or_default().to_owned()
}

//! The operator's JSON Schema for a declared tool's arguments, compiled once.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value, json};
use vambrace_types::{ErrorCode, ToolError};

/// LIMIT: more of them than a model can use at once.
const MOST_PROBLEMS: usize = 5;

pub(crate) struct ArgumentSchema {
    shown: Map<String, Value>,
    /// `None` for a schema that does not compile: then no call fits.
    validator: Option<Validator>,
}

impl ArgumentSchema {
    /// Without a schema there are no arguments.
    pub(crate) fn compile(schema: &Map<String, Value>) -> ArgumentSchema {
        let nothing = || {
            Map::from_iter([
                ("type".to_owned(), json!("object")),
                ("properties".to_owned(), json!({})),
                ("additionalProperties".to_owned(), json!(false)),
            ])
        };
        let shown = if schema.is_empty() { nothing() } else { schema.clone() };
        // Patterns by the engine that cannot be made to run for ever: the text comes from the agent. THREAT: P09.
        let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
        let validator = options.build(&Value::Object(shown.clone())).ok();
        ArgumentSchema { shown, validator }
    }

    pub(crate) fn shown(&self) -> Map<String, Value> {
        self.shown.clone()
    }

    pub(crate) fn check(&self, tool: &str, arguments: &Value) -> Result<(), ToolError> {
        let Some(validator) = &self.validator else {
            let message = format!(
                "The `input_schema` of `{tool}` is not a schema that can be used, so no call fits it."
            );
            return Err(ToolError::new(ErrorCode::ValidationError, message)
                .suggestion("Tell the operator; the tool works when its declaration is corrected."));
        };
        let describe = |error: jsonschema::ValidationError<'_>| {
            let place = error.instance_path().to_string();
            // The value itself may be a secret or very long, and the caller knows it.
            let what = error.masked_with("the value").to_string();
            if place.is_empty() { what } else { format!("`{place}`: {what}") }
        };
        let problems: Vec<String> =
            validator.iter_errors(arguments).take(MOST_PROBLEMS).map(describe).collect();
        if problems.is_empty() {
            return Ok(());
        }
        let message = format!("The arguments do not fit `{tool}`: {}.", problems.join("; "));
        Err(ToolError::new(ErrorCode::ValidationError, message)
            .suggestion("Send the arguments as the tool's schema describes them."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, arguments: Value, expected: Option<&str>) {
        let Value::Object(schema) = schema else { panic!("a schema is an object") };
        let problem = ArgumentSchema::compile(&schema).check("greet", &arguments).err();
        match (&problem, expected) {
            (None, None) => {}
            (Some(error), Some(part)) => {
                assert_eq!(error.code, ErrorCode::ValidationError);
                assert!(error.message.contains(part), "{}", error.message);
            }
            (found, expected) => panic!("{arguments}: {found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn arguments_fit_the_schema_or_are_refused() {
        let schema = || {
            json!({
                "type": "object",
                "properties": {"city": {"type": "string", "pattern": "^[a-z]+$"}, "days": {"type": "integer", "maximum": 7}},
                "required": ["city"],
                "additionalProperties": false
            })
        };
        check(schema(), json!({"city": "bern"}), None);
        check(schema(), json!({"city": "bern", "days": 7}), None);
        check(schema(), json!({}), Some("city"));
        check(schema(), json!({"city": 5}), Some("`/city`"));
        check(schema(), json!({"city": "Bern"}), Some("`/city`"));
        check(schema(), json!({"city": "bern", "days": 8}), Some("`/days`"));
        check(schema(), json!({"city": "bern", "x": 1}), Some("x"));
    }

    #[test]
    fn without_a_schema_nothing_is_taken() {
        check(json!({}), json!({}), None);
        check(json!({}), json!({"x": 1}), Some("x"));
    }

    #[test]
    fn a_schema_that_is_none_refuses_everything() {
        check(json!({"type": "nonsense"}), json!({}), Some("input_schema"));
        check(json!({"$ref": "http://127.0.0.1:9/schema.json"}), json!({}), Some("input_schema"));
        check(json!({"properties": {"a": {"pattern": "(?=x)"}}}), json!({}), Some("input_schema"));
    }
}

//! Names of fields as the protocol's definition spells them (`task_id`) beside those of its JSON form (`taskId`): whoever
//! reads JSON of Protocol Buffers has to take both, and some clients send the former.

use serde_json::{Map, Value};

/// A field that stands in both spellings; readers could believe different ones.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Twice(pub(super) String);

/// The same with the names of the JSON form. What a caller keeps under `data` and `metadata` is its own.
pub(super) fn plain(value: Value) -> Result<Value, Twice> {
    match value {
        Value::Object(members) => {
            let mut plain = Map::with_capacity(members.len());
            for (name, value) in members {
                let is_own = matches!(name.as_str(), "data" | "metadata");
                let name = if is_snake(&name) { camel(&name) } else { name };
                let value = if is_own { value } else { self::plain(value)? };
                if plain.contains_key(&name) {
                    return Err(Twice(name));
                }
                plain.insert(name, value);
            }
            Ok(Value::Object(plain))
        }
        Value::Array(items) => items.into_iter().map(plain).collect::<Result<_, _>>().map(Value::Array),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value),
    }
}

/// `task_id`, and nothing that only looks like it: what nobody else takes for a field is none to us either.
fn is_snake(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.contains('_') && name.split('_').all(is_word)
}

fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut starts_word = false;
    for one in name.chars() {
        match one {
            '_' => starts_word = true,
            one if starts_word => {
                camel.push(one.to_ascii_uppercase());
                starts_word = false;
            }
            one => camel.push(one),
        }
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(given: Value, expected: &Value) {
        assert_eq!(plain(given.clone()).as_ref(), Ok(expected), "{given}");
    }

    #[test]
    fn both_spellings_are_one() {
        for given in [json!(null), json!([1, "a_b"]), json!({"id": "a_b", "historyLength": 1})] {
            check(given.clone(), &given);
        }
        check(json!({"history_length": 1}), &json!({"historyLength": 1}));
        check(
            json!({"message": {"message_id": "m_1", "parts": [{"media_type": "a", "data": {"a_b": {"c_d": 1}}}]},
                   "configuration": {"task_push_notification_config": {"task_id": "t"}},
                   "metadata": {"x_y": 1}}),
            &json!({"message": {"messageId": "m_1", "parts": [{"mediaType": "a", "data": {"a_b": {"c_d": 1}}}]},
                    "configuration": {"taskPushNotificationConfig": {"taskId": "t"}},
                    "metadata": {"x_y": 1}}),
        );
    }

    #[test]
    fn what_is_no_spelling_stays() {
        for name in ["taskId_", "_taskId", "task__id", "task_Id", "data_", "metadata_", "_", "täsk_id"] {
            let given = json!({name: {"id": 1}});
            check(given.clone(), &given);
        }
    }

    #[test]
    fn a_field_stands_once() {
        for given in [json!({"taskId": "a", "task_id": "b"}), json!({"a": [{"task_id": "a", "taskId": "a"}]})]
        {
            assert_eq!(plain(given.clone()), Err(Twice("taskId".to_owned())), "{given}");
        }
    }
}

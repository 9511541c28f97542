//! What an approval is good for: exactly what was asked about, as one hash.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use vambrace_audit::Binding;
use vambrace_types::{Role, write_json_text};

/// Everything that a person's word is about. Pure.
#[derive(Debug, Clone)]
pub(super) struct Asked<'a> {
    pub(super) owner: &'a str,
    /// Where its caller speaks: what is said in one conversation is not for another.
    pub(super) channel: Option<&'a str>,
    pub(super) role: Role,
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Value,
    /// What would be started.
    pub(super) vectors: &'a [Vec<String>],
    pub(super) policy: [u8; 32],
    pub(super) volume: u64,
    /// Every path that would be touched, and what stood there.
    pub(super) touched: &'a [(String, Vec<String>)],
}

impl Asked<'_> {
    /// INVARIANT: every part has its length in front and every list its number, so no two things asked about run together
    /// to the same bytes.
    pub(super) fn binding(&self) -> Binding {
        let mut hash = Hash(Sha256::new());
        hash.text("vambrace approval 2");
        hash.text(self.owner);
        hash.count(usize::from(self.channel.is_some()));
        hash.text(self.channel.unwrap_or_default());
        hash.text(self.role.as_str());
        hash.text(self.tool);
        hash.text(&canonical(self.arguments));
        hash.count(self.vectors.len());
        for words in self.vectors {
            hash.texts(words);
        }
        hash.bytes(&self.policy);
        hash.bytes(&self.volume.to_le_bytes());
        hash.count(self.touched.len());
        for (path, stamps) in self.touched {
            hash.text(path);
            hash.texts(stamps);
        }
        Binding(hash.0.finalize().into())
    }
}

struct Hash(Sha256);

impl Hash {
    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn texts(&mut self, texts: &[String]) {
        self.count(texts.len());
        texts.iter().for_each(|text| self.text(text));
    }
}

/// One spelling for one value: keys in the order of their bytes.
fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (place, (key, value)) in entries.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_json_text(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::String(text) => write_json_text(text, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    /// Owner and channel first.
    type Parts = (Who, String, Value, Vec<Vec<String>>, [u8; 32], u64, Vec<(String, Vec<String>)>, usize);
    type Who = (String, Option<String>);

    fn binding(
        ((owner, channel), tool, arguments, vectors, policy, volume, touched, role): &Parts,
    ) -> Binding {
        Asked {
            owner,
            channel: channel.as_deref(),
            role: Role::ALL[role % 4],
            tool,
            arguments,
            vectors,
            policy: *policy,
            volume: *volume,
            touched,
        }
        .binding()
    }

    /// Few letters, so that parts would often run together if they could.
    fn word() -> impl Strategy<Value = String> {
        "[ab\"\\\\]{0,3}"
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2i64..3).prop_map(Value::from),
            word().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(Value::from),
                vec((word(), inner), 0..3).prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    fn parts() -> impl Strategy<Value = Parts> {
        (
            (word(), proptest::option::of(word())),
            word(),
            value(),
            vec(vec(word(), 0..3), 0..3),
            prop_oneof![Just([0; 32]), any::<[u8; 32]>()],
            0u64..3,
            vec((word(), vec(word(), 0..3)), 0..3),
            0usize..4,
        )
    }

    /// The same with the keys of every object the other way round.
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(entries) => {
                let entries = entries.iter().rev().map(|(key, value)| (key.clone(), reversed(value)));
                Value::Object(entries.collect::<Map<_, _>>())
            }
            Value::Array(items) => items.iter().map(reversed).collect(),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn no_change_of_any_part_keeps_the_binding(one in parts(), other in parts()) {
            prop_assert_eq!(one == other, binding(&one) == binding(&other));
            let changed: [Parts; 8] = std::array::from_fn(|place| {
                let mut changed = one.clone();
                match place {
                    0 => changed.0 = other.0.clone(),
                    1 => changed.1 = other.1.clone(),
                    2 => changed.2 = other.2.clone(),
                    3 => changed.3 = other.3.clone(),
                    4 => changed.4 = other.4,
                    5 => changed.5 = other.5,
                    6 => changed.6 = other.6.clone(),
                    _ => changed.7 = other.7,
                }
                changed
            });
            for changed in changed {
                prop_assert_eq!(changed == one, binding(&changed) == binding(&one), "{:?}", changed);
            }
        }

        #[test]
        fn the_order_of_keys_is_no_difference(one in parts()) {
            let mut other = one.clone();
            other.2 = reversed(&one.2);
            prop_assert_eq!(binding(&one), binding(&other));
        }
    }

    #[test]
    fn one_value_has_one_spelling() {
        let check = |value: Value, expected: &str| assert_eq!(canonical(&value), expected);
        check(
            json!({"b": [1, {"d": null, "c": "x\"\n"}], "a": 1.5}),
            r#"{"a":1.5,"b":[1,{"c":"x\"\n","d":null}]}"#,
        );
        check(json!({}), "{}");
        check(json!([true, -1, "é"]), r#"[true,-1,"é"]"#);
    }
}

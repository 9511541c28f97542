//! The settings in force, one line each, with secrets masked and origins named.

use serde_json::Value as Json;

use crate::check::join;
use crate::layer::Origin;
use crate::load::Loaded;
use crate::schema;
use crate::shape::Shape;

/// One setting in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownValue {
    pub key: String,
    /// The value as JSON, with secrets masked.
    pub value: String,
    pub origin: Origin,
}

/// Every setting in force, in the order of the schema.
pub fn show(loaded: &Loaded) -> Vec<ShownValue> {
    // Serializing is safe to show: see `value`.
    let json = serde_json::to_value(&loaded.config).unwrap_or_default();
    let mut shown = Vec::new();
    walk(&json, schema::shape(), "", &mut |key, value| {
        let origin = loaded.origins.of(&key);
        shown.push(ShownValue { key, value: value.to_string(), origin });
    });
    shown
}

fn walk(json: &Json, shape: &Shape, path: &str, show: &mut dyn FnMut(String, &Json)) {
    match (json, shape) {
        (Json::Object(members), Shape::Struct(_)) => {
            for (key, member) in members {
                if let Some(field) = shape.field(key) {
                    walk(member, &field.shape, &join(path, key), show);
                }
            }
        }
        (Json::Object(members), Shape::Map { .. }) if !members.is_empty() => {
            for (key, member) in members {
                show(join(path, key), member);
            }
        }
        (leaf, _) => show(path.to_owned(), leaf),
    }
}

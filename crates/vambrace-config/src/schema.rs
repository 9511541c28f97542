//! The JSON Schema of the configuration, and the shape read from it.

use std::sync::OnceLock;

use serde_json::{Value as Json, json};

use crate::casing::MOVED;
use crate::section::Config;
use crate::shape::Shape;

/// The JSON Schema of a configuration file: titles, descriptions, defaults, and the keys that have two homes.
pub fn schema() -> Json {
    let mut schema = generated();
    for (from, to) in MOVED {
        add_other_home(&mut schema, from, to);
    }
    schema
}

/// The shape of the whole configuration. It never changes while the program runs.
pub(crate) fn shape() -> &'static Shape {
    static SHAPE: OnceLock<Shape> = OnceLock::new();
    SHAPE.get_or_init(|| Shape::of_schema(&generated()))
}

fn generated() -> Json {
    let mut schema = schemars::schema_for!(Config).to_value();
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".to_owned(), json!("Vambrace configuration"));
    }
    schema
}

fn add_other_home(schema: &mut Json, from: &str, to: &str) {
    let described = json!({"description": format!("Another home of `{to}`; see there.")});
    let Some(Json::Object(properties)) = schema.get_mut("properties") else { return };
    match from.rsplit_once('.') {
        None => {
            properties.insert(from.to_owned(), described);
        }
        // `net.http` lies in a definition, `jwt` at the top: both are closed maps of the moved keys alone.
        Some((home, name)) => {
            let (place, section) = match home.split_once('.') {
                Some((_, inner)) => (schema.pointer_mut("/$defs/Net/properties"), inner),
                None => (schema.pointer_mut("/properties"), home),
            };
            let Some(Json::Object(properties)) = place else { return };
            let inner = properties.entry(section).or_insert_with(
                || json!({"type": "object", "additionalProperties": false, "properties": {}}),
            );
            if let Some(Json::Object(inner)) = inner.get_mut("properties") {
                inner.insert(name.to_owned(), described);
            }
        }
    }
}

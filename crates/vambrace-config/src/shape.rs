//! What a value may look like, read from the JSON Schema of the sections.
//!
//! One source of truth: the types make the schema, the schema makes the shape, and the shape drives the spelling of
//! keys, the checks, the merge and the display. It knows nothing about any particular section.

use serde_json::Value as Json;

#[derive(Debug, Clone)]
pub(crate) enum Shape {
    /// Data of somebody else's form, such as a tool's input schema.
    Any,
    Null,
    Bool,
    Integer(Range),
    Number(Range),
    Text(TextForm),
    Words(Vec<String>),
    /// A number of seconds, or text with a unit.
    Period,
    List(Box<Shape>),
    /// Keys are data: names, headers, languages. They are never respelled.
    Map {
        keys: MapKeys,
        values: Box<Shape>,
    },
    Struct(Vec<Field>),
    /// One of several, told apart by their kind.
    Choice(Vec<Shape>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextForm {
    Plain,
    /// Never shown.
    Secret,
    Cidr,
    SocketAddress,
    Sha256,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapKeys {
    Names,
    /// Never shown.
    Secrets,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) required: bool,
    pub(crate) description: String,
}

impl Shape {
    /// Reads a schema that `schemars` made. What it does not use is not understood and comes out as `Any`.
    pub(crate) fn of_schema(root: &Json) -> Shape {
        shape(root, root)
    }

    pub(crate) fn fields(&self) -> &[Field] {
        match self {
            Shape::Struct(fields) => fields,
            Shape::Any
            | Shape::Null
            | Shape::Bool
            | Shape::Integer(_)
            | Shape::Number(_)
            | Shape::Text(_)
            | Shape::Words(_)
            | Shape::Period
            | Shape::List(_)
            | Shape::Map { .. }
            | Shape::Choice(_) => &[],
        }
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields().iter().find(|field| field.name == name)
    }

    /// In words, for a message.
    pub(crate) fn expectation(&self) -> String {
        match self {
            Shape::Any => "any value".to_owned(),
            Shape::Null => "nothing".to_owned(),
            Shape::Bool => "true or false".to_owned(),
            Shape::Integer(_) => "a whole number".to_owned(),
            Shape::Number(_) => "a number".to_owned(),
            Shape::Text(_) => "text".to_owned(),
            Shape::Words(words) => match words.as_slice() {
                [word] => format!("`{word}`"),
                [] | [_, _, ..] => "a word".to_owned(),
            },
            Shape::Period => "a period of time (seconds, or text such as `500ms`, `5m`, `24h`)".to_owned(),
            Shape::List(_) => "a list".to_owned(),
            Shape::Map { .. } | Shape::Struct(_) => "a map".to_owned(),
            Shape::Choice(shapes) => {
                let named =
                    shapes.iter().filter(|shape| !matches!(shape, Shape::Null)).map(Shape::expectation);
                named.collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

fn shape(schema: &Json, root: &Json) -> Shape {
    if let Some(target) = schema.get("$ref").and_then(Json::as_str) {
        let target = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or(Shape::Any, |target| shape(target, root));
    }
    if let Some(one) = schema.get("const").and_then(Json::as_str) {
        return Shape::Words(vec![one.to_owned()]);
    }
    if let Some(words) = schema.get("enum").and_then(Json::as_array) {
        return Shape::Words(words.iter().filter_map(Json::as_str).map(str::to_owned).collect());
    }
    if let Some(options) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Json::as_array) {
        return choice(options.iter().map(|option| shape(option, root)));
    }
    if schema.get("format").and_then(Json::as_str) == Some("period") {
        let nullable =
            schema.get("type").and_then(Json::as_array).is_some_and(|types| types.contains(&"null".into()));
        return if nullable { choice([Shape::Period, Shape::Null].into_iter()) } else { Shape::Period };
    }
    match schema.get("type") {
        Some(Json::String(name)) => of_type(name, schema, root),
        Some(Json::Array(names)) => {
            choice(names.iter().filter_map(Json::as_str).map(|name| of_type(name, schema, root)))
        }
        _ => Shape::Any,
    }
}

fn of_type(name: &str, schema: &Json, root: &Json) -> Shape {
    match name {
        "null" => Shape::Null,
        "boolean" => Shape::Bool,
        "integer" => Shape::Integer(range(schema)),
        "number" => Shape::Number(range(schema)),
        "string" => Shape::Text(text_form(schema)),
        "array" => Shape::List(Box::new(schema.get("items").map_or(Shape::Any, |items| shape(items, root)))),
        "object" => object(schema, root),
        _ => Shape::Any,
    }
}

fn object(schema: &Json, root: &Json) -> Shape {
    let required = |name: &str| {
        schema
            .get("required")
            .and_then(Json::as_array)
            .is_some_and(|names| names.iter().any(|known| known == name))
    };
    match (schema.get("properties").and_then(Json::as_object), schema.get("additionalProperties")) {
        (Some(properties), _) => {
            let field = |(name, property): (&String, &Json)| Field {
                name: name.clone(),
                shape: shape(property, root),
                required: required(name),
                description: property
                    .get("description")
                    .and_then(Json::as_str)
                    .unwrap_or_default()
                    .to_owned(),
            };
            Shape::Struct(properties.iter().map(field).collect())
        }
        (None, Some(values)) => {
            let secret = schema.get("x-secret-keys") == Some(&Json::Bool(true));
            let keys = if secret { MapKeys::Secrets } else { MapKeys::Names };
            Shape::Map { keys, values: Box::new(shape(values, root)) }
        }
        (None, None) => Shape::Any,
    }
}

/// Words of several options become one set, nested choices one choice.
fn choice(options: impl Iterator<Item = Shape>) -> Shape {
    let mut words = Vec::new();
    let mut others = Vec::new();
    for option in options {
        match option {
            Shape::Words(more) => words.extend(more),
            Shape::Choice(more) => others.extend(more),
            other @ (Shape::Any
            | Shape::Null
            | Shape::Bool
            | Shape::Integer(_)
            | Shape::Number(_)
            | Shape::Text(_)
            | Shape::Period
            | Shape::List(_)
            | Shape::Map { .. }
            | Shape::Struct(_)) => others.push(other),
        }
    }
    if !words.is_empty() {
        others.push(Shape::Words(words));
    }
    match others.len() {
        1 => others.pop().unwrap_or(Shape::Any),
        _ => Shape::Choice(others),
    }
}

fn range(schema: &Json) -> Range {
    let bound = |name: &str| schema.get(name).and_then(Json::as_f64);
    // What the type can hold is part of its range. Near the top of `u64` an `f64` cannot tell neighbors apart, so the
    // bound stays clear of it.
    let widest = match schema.get("format").and_then(Json::as_str) {
        Some("uint64") => Some(9e18),
        Some("uint32") => Some(f64::from(u32::MAX)),
        Some(_) | None => None,
    };
    Range { min: bound("minimum"), max: bound("maximum").or(widest) }
}

fn text_form(schema: &Json) -> TextForm {
    match schema.get("format").and_then(Json::as_str) {
        Some("secret") => TextForm::Secret,
        Some("cidr") => TextForm::Cidr,
        Some("socket-address") => TextForm::SocketAddress,
        Some("sha256") => TextForm::Sha256,
        Some(_) | None => TextForm::Plain,
    }
}

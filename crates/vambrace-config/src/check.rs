//! Compares a tree with the shape: unknown keys, kinds, words, ranges and forms, all of them reported.
//!
//! It knows shapes, not sections; what several keys say together is checked in `consistency`.

use crate::node::{Entry, Node, Value, Written};
use crate::problem::{ConfigError, Problem, nearest};
use crate::shape::{MapKeys, Range, Shape, TextForm};
use crate::value::{Cidr, MASK, Period, Sha256Hex, SocketAddress};

/// What the checks found: mistakes, and keys that nobody knows (an error or a warning, as the operator decided).
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) errors: Vec<ConfigError>,
    pub(crate) unknown: Vec<ConfigError>,
}

/// Checks a tree. Text from the environment becomes the number or truth value that its key needs, and unknown keys are
/// taken out, so that what remains has the shape.
pub(crate) fn check(root: &mut Node, shape: &Shape) -> Findings {
    let mut findings = Findings::default();
    visit(root, shape, "", &mut findings);
    findings
}

pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The option of a choice that a value belongs to by its kind; a shape that is no choice is its own only option.
pub(crate) fn option_for<'s>(node: &Node, shape: &'s Shape) -> Option<&'s Shape> {
    match shape {
        Shape::Choice(options) => options.iter().find(|option| fits(node, option)),
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
        | Shape::Struct(_) => Some(shape),
    }
}

fn fits(node: &Node, shape: &Shape) -> bool {
    match (&node.value, shape) {
        (_, Shape::Any) => true,
        (Value::Null, Shape::Null) => true,
        (Value::Bool(_), Shape::Bool) => true,
        (Value::Int(_), Shape::Integer(_) | Shape::Number(_) | Shape::Period) => true,
        (Value::Float(_), Shape::Number(_) | Shape::Period) => true,
        (Value::Text(_), Shape::Text(_) | Shape::Words(_) | Shape::Period) => true,
        (Value::List(_), Shape::List(_)) => true,
        (Value::Map(_), Shape::Map { .. } | Shape::Struct(_)) => true,
        (_, Shape::Choice(options)) => options.iter().any(|option| fits(node, option)),
        (
            _,
            Shape::Null
            | Shape::Bool
            | Shape::Integer(_)
            | Shape::Number(_)
            | Shape::Text(_)
            | Shape::Words(_)
            | Shape::Period
            | Shape::List(_)
            | Shape::Map { .. }
            | Shape::Struct(_),
        ) => false,
    }
}

fn visit(node: &mut Node, shape: &Shape, path: &str, findings: &mut Findings) {
    convert(node, shape);
    let at = node.at;
    let fail = |problem| ConfigError::new(path, problem).at(at);
    let Some(shape) = option_for(node, shape).filter(|option| fits(node, option)) else {
        let problem = Problem::WrongType { expected: shape.expectation().into(), found: node.kind() };
        let error = fail(problem);
        findings.errors.push(match misspelled(node, shape) {
            Some(hint) => error.hint(hint),
            None => error,
        });
        return;
    };
    let written = node.written;
    let is_period = period(node).is_some();
    match (&mut node.value, shape) {
        (Value::Int(number), Shape::Integer(range) | Shape::Number(range))
            if !within(*number as f64, *range) =>
        {
            findings.errors.push(fail(Problem::OutOfRange { allowed: described(*number as f64, *range) }));
        }
        (Value::Float(number), Shape::Number(range)) if !within(*number, *range) => {
            findings.errors.push(fail(Problem::OutOfRange { allowed: described(*number, *range) }));
        }
        (Value::Text(text), Shape::Words(words)) if !words.contains(text) => {
            findings.errors.push(unknown_word(text, written, words, path).at(at));
        }
        (Value::Text(text), Shape::Text(form)) => {
            if let Some(expected) = misformed(text, *form) {
                findings.errors.push(fail(Problem::BadForm { expected }));
            }
        }
        (Value::Int(_) | Value::Float(_) | Value::Text(_), Shape::Period) if !is_period => {
            let expected = "a period of time: seconds, or text such as `500ms`, `5m`, `24h`; more than zero, at most 366d";
            findings.errors.push(fail(Problem::BadForm { expected }));
        }
        (Value::List(items), Shape::List(inner)) => {
            for (index, item) in items.iter_mut().enumerate() {
                visit(item, inner, &format!("{path}[{index}]"), findings);
            }
        }
        (Value::Map(entries), Shape::Map { keys, values }) => {
            for entry in entries {
                let name = match keys {
                    MapKeys::Names => entry.key.as_str(),
                    MapKeys::Secrets => MASK,
                };
                visit(&mut entry.node, values, &join(path, name), findings);
            }
        }
        (Value::Map(entries), Shape::Struct(_)) => {
            members(entries, shape, path, findings);
            for field in shape.fields().iter().filter(|field| field.required) {
                if !entries.iter().any(|entry| entry.key == field.name) {
                    findings
                        .errors
                        .push(ConfigError::new(&join(path, &field.name), Problem::MissingKey).at(at));
                }
            }
        }
        _ => {}
    }
}

fn members(entries: &mut Vec<Entry>, shape: &Shape, path: &str, findings: &mut Findings) {
    entries.retain_mut(|entry| {
        let key = join(path, &entry.key);
        let Some(field) = shape.field(&entry.key) else {
            findings.unknown.push(unknown_key(&entry.key, shape, path).at(entry.at));
            return false;
        };
        visit(&mut entry.node, &field.shape, &key, findings);
        true
    });
}

fn unknown_key(key: &str, shape: &Shape, path: &str) -> ConfigError {
    // LIMIT: a key is shown up to this length; longer ones are not names.
    let shown: String = key.chars().take(64).collect();
    let error = ConfigError::new(&join(path, &shown), Problem::UnknownKey);
    let names = shape.fields().iter().map(|field| field.name.as_str());
    if let Some(name) = nearest(key, names) {
        return error.hint(format!("did you mean `{}`?", join(path, name)));
    }
    // The right name in the wrong section is the second commonest slip.
    match known_elsewhere(key) {
        Some(home) => error.hint(format!("did you mean `{home}`?")),
        None => error,
    }
}

fn known_elsewhere(key: &str) -> Option<String> {
    let shape = crate::schema::shape();
    let mut homes = shape.fields().iter().flat_map(|section| {
        let nested = section.shape.fields().iter().filter(|field| field.name == key);
        let nested = nested.map(|field| format!("{}.{}", section.name, field.name));
        nested.chain((section.name == key).then(|| section.name.clone()))
    });
    match (homes.next(), homes.next()) {
        (Some(home), None) => Some(home),
        (Some(_) | None, _) => None,
    }
}

fn unknown_word(text: &str, written: Written, words: &[String], path: &str) -> ConfigError {
    let shown = match written {
        Written::InTheFile => Some(text.chars().take(64).collect::<String>().into()),
        Written::WithTheEnvironment => None,
    };
    let error = ConfigError::new(path, Problem::UnknownWord { word: shown, allowed: words.into() });
    match (written, nearest(text, words.iter().map(String::as_str))) {
        (Written::InTheFile, Some(word)) => error.hint(format!("did you mean `{word}`?")),
        (Written::InTheFile | Written::WithTheEnvironment, _) => error,
    }
}

/// The environment holds only text; where a key needs a number or a truth value, its text is read as one.
/// A section with all its keys commented out is an empty section, not a wrong value.
fn convert(node: &mut Node, shape: &Shape) {
    if let (Value::Null, Shape::Struct(_) | Shape::Map { .. }) = (&node.value, shape) {
        node.value = Value::Map(Vec::new());
    }
    let (Value::Text(text), Written::WithTheEnvironment) = (&node.value, node.written) else { return };
    let options = if let Shape::Choice(options) = shape { options } else { std::slice::from_ref(shape) };
    let converted = options.iter().find_map(|option| match option {
        Shape::Bool => text.parse().ok().map(Value::Bool),
        Shape::Integer(_) => text.parse().ok().map(Value::Int),
        Shape::Number(_) => text.parse().ok().map(Value::Float),
        _ => None,
    });
    if let Some(value) = converted
        && !options.iter().any(|option| matches!(option, Shape::Text(_)))
    {
        node.value = value;
    }
}

pub(crate) fn period(node: &Node) -> Option<Period> {
    match &node.value {
        Value::Int(whole) => Period::from_seconds(*whole as f64),
        Value::Float(number) => Period::from_seconds(*number),
        Value::Text(text) => Period::parse(text),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
    }
}

fn misformed(text: &str, form: TextForm) -> Option<&'static str> {
    let (valid, expected) = match form {
        TextForm::Plain | TextForm::Secret => (!text.contains('\0'), "text without NUL"),
        TextForm::Cidr => (Cidr::is_valid(text), "an address or a range such as `10.0.0.0/8`"),
        TextForm::SocketAddress => {
            (SocketAddress::is_valid(text), "an address with a port such as `127.0.0.1:5353`")
        }
        TextForm::Sha256 => (Sha256Hex::is_valid(text), "a SHA-256 digest of 64 hexadecimal digits"),
    };
    (!valid).then_some(expected)
}

fn within(number: f64, range: Range) -> bool {
    number.is_finite()
        && range.min.is_none_or(|min| number >= min)
        && range.max.is_none_or(|max| number <= max)
}

fn described(number: f64, range: Range) -> String {
    match (range.min, range.max) {
        (Some(min), Some(max)) if min == max => format!("{min}"),
        (Some(min), _) if number < min => format!("at least {min}"),
        (_, Some(max)) if number > max => format!("at most {max}"),
        (Some(_) | None, Some(_) | None) => "finite".to_owned(),
    }
}

/// The commonest ways to write a value of the wrong kind.
fn misspelled(node: &Node, shape: &Shape) -> Option<&'static str> {
    match (&node.value, shape) {
        (Value::Text(_), Shape::Bool) => Some("write `true` or `false`, without quotes"),
        (Value::Text(_), Shape::Integer(_) | Shape::Number(_)) => {
            Some("write a number, without quotes or unit")
        }
        (Value::Text(_) | Value::Int(_) | Value::Bool(_), Shape::List(_)) => Some("write `[…]` around it"),
        _ => None,
    }
}

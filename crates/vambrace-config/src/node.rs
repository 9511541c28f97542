//! The one tree that every format becomes: values that remember where they were written.
//!
//! It knows neither formats nor sections.

use serde_json::Number;

/// Where something was written: line and column, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    pub(crate) const START: Place = Place { line: 1, column: 1 };

    pub(crate) fn new(line: u64, column: u64) -> Place {
        let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Place { line: narrow(line), column: narrow(column) }
    }

    /// The place of a byte of `text`; columns count characters, as editors do.
    pub(crate) fn of_offset(text: &str, offset: usize) -> Place {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() as u64 + 1;
        Place::new(line, column)
    }
}

/// Whether the environment had a part in a value. Such a value may be a secret and is never shown in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    InTheFile,
    WithTheEnvironment,
}

/// No `Debug` here and below: the texts may be secrets.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) at: Place,
    pub(crate) written: Written,
}

#[derive(Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) at: Place,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn new(value: Value, at: Place) -> Node {
        Node { value, at, written: Written::InTheFile }
    }

    pub(crate) fn empty_map(at: Place) -> Node {
        Node::new(Value::Map(Vec::new()), at)
    }

    pub(crate) fn text(text: &str, at: Place) -> Node {
        Node::new(Value::Text(text.to_owned()), at)
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Int(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::List(_)
            | Value::Map(_) => None,
        }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_) => &[],
        }
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The value at a dotted path, whose steps may have an index: `tools.declared[0].name`.
    pub(crate) fn at_path(&self, path: &str) -> Option<&Node> {
        path.split('.').try_fold(self, |node, step| {
            match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
                Some((key, index)) => match &node.get(key)?.value {
                    Value::List(items) => items.get(index.parse::<usize>().ok()?),
                    Value::Null
                    | Value::Bool(_)
                    | Value::Int(_)
                    | Value::Float(_)
                    | Value::Text(_)
                    | Value::Map(_) => None,
                },
                None => node.get(step),
            }
        })
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Entry> {
        match &mut self.value {
            Value::Map(entries) => {
                let place = entries.iter().position(|entry| entry.key == key)?;
                Some(entries.remove(place))
            }
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_) => None,
        }
    }

    pub(crate) fn from_json(json: &serde_json::Value, at: Place) -> Node {
        let value = match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(truth) => Value::Bool(*truth),
            serde_json::Value::Number(number) => match number.as_i128() {
                Some(whole) => Value::Int(whole),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(text) => Value::Text(text.clone()),
            serde_json::Value::Array(items) => {
                Value::List(items.iter().map(|item| Node::from_json(item, at)).collect())
            }
            serde_json::Value::Object(members) => {
                let entry =
                    |(key, member)| Entry { key: String::clone(key), at, node: Node::from_json(member, at) };
                Value::Map(members.iter().map(entry).collect())
            }
        };
        Node::new(value, at)
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(truth) => serde_json::Value::Bool(*truth),
            Value::Int(whole) => {
                Number::from_i128(*whole).map_or(serde_json::Value::Null, serde_json::Value::Number)
            }
            Value::Float(number) => {
                Number::from_f64(*number).map_or(serde_json::Value::Null, serde_json::Value::Number)
            }
            Value::Text(text) => serde_json::Value::String(text.clone()),
            Value::List(items) => serde_json::Value::Array(items.iter().map(Node::to_json).collect()),
            Value::Map(entries) => serde_json::Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect(),
            ),
        }
    }

    pub(crate) fn depth(&self) -> usize {
        let deepest = match &self.value {
            Value::List(items) => items.iter().map(Node::depth).max(),
            Value::Map(entries) => entries.iter().map(|entry| entry.node.depth()).max(),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => None,
        };
        deepest.map_or(1, |below| below + 1)
    }
}

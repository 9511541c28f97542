//! Putting layers on top of each other, and remembering which one each value came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::check::join;
use crate::node::{Entry, Node, Value};
use crate::section::ProfileName;
use crate::shape::Shape;

/// Where a value was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    Profile(ProfileName),
    File { path: PathBuf, line: u32 },
    Environment(String),
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Profile(name) => write!(f, "profile {}", name.as_str()),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Environment(name) => write!(f, "environment variable {name}"),
            Origin::Flag => f.write_str("command line"),
        }
    }
}

/// Which layer each value came from. What nobody set is a default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<String, Origin>);

impl Origins {
    /// The origin of a key. An entry of a list came from where its list came from.
    pub fn of(&self, key: &str) -> Origin {
        let key = key.split('[').next().unwrap_or(key);
        self.0.get(key).cloned().unwrap_or(Origin::Default)
    }
}

/// What a layer is, so that each of its values can say where it came from.
#[derive(Debug, Clone)]
pub(crate) enum Layer {
    Profile(ProfileName),
    File(PathBuf),
    Environment(&'static str),
    Flags,
}

impl Layer {
    fn origin(&self, line: u32) -> Origin {
        match self {
            Layer::Profile(name) => Origin::Profile(*name),
            Layer::File(path) => Origin::File { path: path.clone(), line },
            Layer::Environment(name) => Origin::Environment((*name).to_owned()),
            Layer::Flags => Origin::Flag,
        }
    }
}

/// Puts a checked tree on top of another: sections by key, maps of data by entry, everything else whole.
pub(crate) fn merge(base: &mut Node, over: Node, shape: &Shape, layer: &Layer, origins: &mut Origins) {
    if let (Value::Map(base), Value::Map(over)) = (&mut base.value, over.value) {
        merge_entries(base, over, shape, "", &mut |key, line| {
            origins.0.insert(key, layer.origin(line));
        });
    }
}

fn merge_entries(
    base: &mut Vec<Entry>,
    over: Vec<Entry>,
    shape: &Shape,
    path: &str,
    record: &mut dyn FnMut(String, u32),
) {
    for entry in over {
        let key = join(path, &entry.key);
        // Entries of a map of data have no field in the shape, and are replaced whole.
        let inside = shape.field(&entry.key).map(|field| &field.shape);
        match (base.iter_mut().find(|below| below.key == entry.key), inside) {
            (Some(below), Some(inside @ (Shape::Struct(_) | Shape::Map { .. }))) => {
                if let (Value::Map(below), Value::Map(above)) = (&mut below.node.value, entry.node.value) {
                    merge_entries(below, above, inside, &key, record);
                }
            }
            (Some(below), _) => {
                record(key, entry.at.line);
                *below = entry;
            }
            (None, _) => {
                record(key, entry.at.line);
                base.push(entry);
            }
        }
    }
}

//! Where settings come from: files in four formats, each turned into the same located tree.
//!
//! It knows formats and files. It knows no section and no layer.

pub(crate) mod file;
mod json;
mod toml;
mod yaml;

use std::path::Path;

use crate::node::{Node, Place, Value};
use crate::problem::{ConfigError, Problem};

/// What is read of one file.
pub(crate) const FILE_LIMIT: u64 = 1 << 20;
/// How deep maps and lists may lie in each other. The settings need eight; input schemas of tools need more.
pub(crate) const DEPTH_LIMIT: usize = 48;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Yaml,
    Json,
    Json5,
    Toml,
}

impl Format {
    pub(crate) const EXTENSIONS: [(&'static str, Format); 5] = [
        ("yaml", Format::Yaml),
        ("yml", Format::Yaml),
        ("json", Format::Json),
        ("json5", Format::Json5),
        ("toml", Format::Toml),
    ];

    pub(crate) fn of(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?;
        Self::EXTENSIONS.into_iter().find(|(known, _)| *known == extension).map(|(_, format)| format)
    }
}

/// Reads a text into a tree whose root is a map. Keys are unique within each map.
pub(crate) fn parse(text: &str, format: Format) -> Result<Node, ConfigError> {
    // An editor's mark, not content.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = match format {
        Format::Yaml => yaml::parse(text),
        Format::Json => json::parse(text, json::Dialect::Json),
        Format::Json5 => json::parse(text, json::Dialect::Json5),
        Format::Toml => toml::parse(text),
    }?;
    if root.depth() > DEPTH_LIMIT {
        return Err(ConfigError::new("", Problem::TooDeep { limit: DEPTH_LIMIT }));
    }
    no_reserved(&root)?;
    match root.value {
        Value::Map(_) => Ok(root),
        // A file with nothing but comments sets nothing.
        Value::Null => Ok(Node::empty_map(Place::START)),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            Err(ConfigError::new("", Problem::NotAMap { found: root.kind() }).at(root.at))
        }
    }
}

/// API_KEYS and its like: JSON in an environment variable.
pub(crate) fn parse_json_text(text: &str) -> Result<Node, ConfigError> {
    let root = json::parse(text, json::Dialect::Json)?;
    no_reserved(&root)?;
    Ok(root)
}

/// THREAT: P09, the tree becomes a `serde_json::Value` and then settings, some of which are values themselves, and the
/// library obeys these names.
fn no_reserved(node: &Node) -> Result<(), ConfigError> {
    match &node.value {
        Value::List(items) => items.iter().try_for_each(no_reserved),
        Value::Map(entries) => entries.iter().try_for_each(|entry| {
            if entry.key.starts_with(vambrace_json::RESERVED) {
                return Err(ConfigError::new("", Problem::ReservedKey).at(entry.at));
            }
            no_reserved(&entry.node)
        }),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => Ok(()),
    }
}

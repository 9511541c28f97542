//! The commented starter file that `config init` writes: short, and every line of it valid once uncommented.

use serde_json::Value as Json;

use crate::layer::{Layer, Origins, merge};
use crate::load::{Filling, defaults, understand};
use crate::schema;
use crate::section::ProfileName;
use crate::shape::Shape;

/// The sections that most people touch; the rest is in the reference.
const SECTIONS: [&str; 10] = [
    "scope",
    "tools.command_policy",
    "tools.url_policy",
    "allowed_commands",
    "secrets",
    "redact",
    "sandbox",
    "net",
    "limits",
    "audit",
];

const HEADER: &str = "\
## Vambrace configuration. Every line that begins with `# ` shows a setting with the value it has now:
## remove the `# ` and change it. `vambrace config schema` describes all settings, `vambrace config show` those in force.
## A file in the workspace may only tighten what the operator's file (--config, or the user's config folder) grants.
";

const RULES: &str = "\
# # What the operator allows, asks about or denies beyond the built-in rules. Deny beats ask beats allow.
# rules:
#   - {tool: write_file, path: \"deploy/**\", decision: ask, reason: \"Deployments are reviewed.\"}
";

/// A starter file for a profile, which loads as it stands and with every line uncommented.
pub fn init_text(profile: ProfileName) -> String {
    let shape = schema::shape();
    let json = settings(profile);
    let mut text = format!("{HEADER}\nversion: 1\nprofile: {}\n", profile.as_str());
    let mut open = "";
    for path in SECTIONS {
        let (outer, name) = path.split_once('.').unwrap_or(("", path));
        let mut lines = String::new();
        if open != outer && !outer.is_empty() {
            lines.push_str(&format!("{outer}:\n"));
        }
        let section =
            if outer.is_empty() { Some(shape) } else { shape.field(outer).map(|field| &field.shape) };
        let value = crate::strength::at_path(&json, path);
        if let Some(section) = section {
            let indent = if outer.is_empty() { 0 } else { 2 };
            write_setting(&mut lines, section, name, value, indent);
        }
        // Sections that share a parent must stay together, without an empty line that would end the thought.
        if open != outer || outer.is_empty() {
            text.push('\n');
        }
        open = outer;
        for line in lines.lines() {
            text.push_str(&format!("# {line}\n"));
        }
    }
    format!("{text}\n{RULES}")
}

fn settings(profile: ProfileName) -> Json {
    let mut tree = defaults();
    if let Ok(mut root) = profile.tree() {
        understand(&mut root, Filling::Nothing);
        merge(&mut tree, root, schema::shape(), &Layer::Profile(profile), &mut Origins::default());
    }
    tree.to_json()
}

fn write_setting(lines: &mut String, section: &Shape, name: &str, value: &Json, indent: usize) {
    let Some(field) = section.field(name) else { return };
    let pad = " ".repeat(indent);
    for line in field.description.lines() {
        lines.push_str(&format!("{pad}# {line}\n"));
    }
    match (&field.shape, value) {
        (Shape::Struct(fields), Json::Object(members)) => {
            lines.push_str(&format!("{pad}{name}:\n"));
            for inner in fields {
                let member = members.get(&inner.name).unwrap_or(&Json::Null);
                write_setting(lines, &field.shape, &inner.name, member, indent + 2);
            }
        }
        (_, value) => lines.push_str(&format!("{pad}{name}: {}\n", flow(value))),
    }
}

/// A value on one line. JSON is YAML; plain words need no quotes.
fn flow(value: &Json) -> String {
    match value {
        Json::String(word) if is_plain(word) => word.clone(),
        Json::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => value.to_string(),
    }
}

fn is_plain(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '-' | '.'))
        && !matches!(word, "true" | "false" | "null")
}

//! One spelling for every key: snake_case, whichever of the two the file uses; and one place for keys with two homes.
//!
//! Keys that are data (headers, secrets, languages, variables) are left as they are, because only struct fields of the
//! shape are respelled.

use std::collections::BTreeMap;

use crate::check::{join, option_for};
use crate::node::{Entry, Node, Value};
use crate::problem::{ConfigError, Problem};
use crate::shape::{MapKeys, Shape};

/// Keys that two documents put in two places: as written there, and where they live here.
pub(crate) const MOVED: [(&str, &str); 6] = [
    ("net.http.redirects", "net.redirects"),
    ("net.http.methods", "net.methods"),
    ("net.http.headers", "net.headers"),
    ("jwt.trust", "auth.jwt.trust"),
    ("model", "llm.model"),
    ("system_prompt", "llm.system_prompt"),
];

pub(crate) fn normalize(root: &mut Node, shape: &Shape, errors: &mut Vec<ConfigError>) {
    respell(root, shape, "", errors);
    for (from, to) in MOVED {
        relocate(root, from, to, errors);
    }
}

fn respell(node: &mut Node, shape: &Shape, path: &str, errors: &mut Vec<ConfigError>) {
    let Some(shape) = option_for(node, shape) else { return };
    match (&mut node.value, shape) {
        (Value::Map(entries), Shape::Struct(_)) => {
            let mut spellings: BTreeMap<String, String> = BTreeMap::new();
            for entry in entries {
                let canonical = canonical(&entry.key, shape, path);
                let key = join(path, &canonical);
                match spellings.get(&canonical) {
                    Some(other) => {
                        let problem = Problem::BothSpellings { other: other.clone() };
                        errors.push(ConfigError::new(&join(path, &entry.key), problem).at(entry.at));
                    }
                    None => {
                        spellings.insert(canonical.clone(), entry.key.clone());
                    }
                }
                entry.key = canonical;
                if let Some(field) = shape.field(&entry.key) {
                    respell(&mut entry.node, &field.shape, &key, errors);
                }
            }
        }
        (Value::Map(entries), Shape::Map { keys, values }) => {
            for entry in entries {
                let name = match keys {
                    MapKeys::Names => entry.key.as_str(),
                    MapKeys::Secrets => crate::value::MASK,
                };
                respell(&mut entry.node, values, &join(path, name), errors);
            }
        }
        (Value::List(items), Shape::List(shape)) => {
            for (index, item) in items.iter_mut().enumerate() {
                respell(item, shape, &format!("{path}[{index}]"), errors);
            }
        }
        _ => {}
    }
}

/// The known name that a key spells, or the key itself.
fn canonical(key: &str, shape: &Shape, path: &str) -> String {
    let snake = snake_case(key);
    let moved = |name: &str| {
        let full = join(path, name);
        MOVED.iter().any(|(from, _)| {
            from.strip_prefix(full.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    if shape.field(key).is_none() && (shape.field(&snake).is_some() || moved(&snake)) {
        snake
    } else {
        key.to_owned()
    }
}

fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for character in key.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

fn relocate(root: &mut Node, from: &str, to: &str, errors: &mut Vec<ConfigError>) {
    let Some(entry) = remove(root, from) else { return };
    if root.at_path(to).is_some() {
        let problem = Problem::BothSpellings { other: to.to_owned() };
        errors.push(ConfigError::new(from, problem).at(entry.at));
        return;
    }
    insert(root, to, entry);
}

/// Takes a value out, and the map around it when nothing else is left in it.
fn remove(node: &mut Node, path: &str) -> Option<Entry> {
    let Some((first, rest)) = path.split_once('.') else { return node.take(path) };
    let Value::Map(entries) = &mut node.value else { return None };
    let inner = entries.iter_mut().find(|entry| entry.key == first)?;
    let taken = remove(&mut inner.node, rest)?;
    if inner.node.entries().is_empty() {
        entries.retain(|entry| entry.key != first);
    }
    Some(taken)
}

/// Puts a value where it lives, making the maps on the way at the value's own place.
pub(crate) fn insert(node: &mut Node, path: &str, entry: Entry) {
    // A section that is something other than a map is reported by the checks; the moved key does not repair it.
    let Value::Map(entries) = &mut node.value else { return };
    match path.split_once('.') {
        None => entries.push(Entry { key: path.to_owned(), ..entry }),
        Some((first, rest)) => {
            if let Some(inner) = entries.iter_mut().find(|entry| entry.key == first) {
                return insert(&mut inner.node, rest, entry);
            }
            let mut inner = Node::empty_map(entry.at);
            let at = entry.at;
            insert(&mut inner, rest, entry);
            entries.push(Entry { key: first.to_owned(), at, node: inner });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn camel_case_becomes_snake_case() {
        #[track_caller]
        fn check(key: &str, expected: &str) {
            assert_eq!(snake_case(key), expected);
        }
        check("commandPolicy", "command_policy");
        check("maxBodyBytes", "max_body_bytes");
        check("allow_private", "allow_private");
        check("agentURL", "agent_u_r_l");
    }
}

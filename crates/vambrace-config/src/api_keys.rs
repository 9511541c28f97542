//! Specification 001's forms of `api_keys`, all turned into the one list form.
//!
//! THREAT: P02. In two of the forms a map's key is the secret, so no message here names a key or a value.

use std::collections::BTreeSet;

use vambrace_auth::{KeyDigest, is_reserved_caller};
use vambrace_types::is_invisible;

use crate::node::{Entry, Node, Value};
use crate::problem::{ConfigError, Problem};

/// What marks a text as a secret when both sides of an entry are plain text.
const SECRET_PREFIX: &str = "ka_";

/// Rewrites a checked `api_keys` value. What cannot be understood without guessing is reported.
pub(crate) fn canonicalize(node: &mut Node, errors: &mut Vec<ConfigError>) {
    let at = node.at;
    let keys = match std::mem::replace(&mut node.value, Value::Null) {
        Value::List(items) => items,
        Value::Map(entries) => entries.into_iter().filter_map(|entry| from_entry(entry, errors)).collect(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    for key in &keys {
        let text = |name: &str| key.get(name).and_then(Node::as_text).filter(|text| !text.is_empty());
        match (text("secret"), text("secret_sha256")) {
            // THREAT: P13, of two entries with one secret the later would decide who calls, unseen. As digests, so
            // that a plain one and a digest of it are the same.
            (Some(secret), None) if !seen.insert(KeyDigest::of(secret).to_hex()) => errors.push(twice(key)),
            (None, Some(digest)) if !seen.insert(digest.to_ascii_lowercase()) => errors.push(twice(key)),
            (Some(_), None) | (None, Some(_)) => {}
            (Some(_), Some(_)) => {
                errors.push(
                    wrong("an entry has both `secret` and `secret_sha256`").at(key.at).hint("keep one"),
                );
            }
            (None, None) => {
                errors
                    .push(wrong("an entry has no secret").at(key.at).hint("set `secret` or `secret_sha256`"));
            }
        }
        match text("caller_id") {
            None => errors.push(wrong("an entry has no caller").at(key.at).hint("set `caller_id`")),
            Some(caller) if is_reserved_caller(caller.trim()) => {
                let what = "an entry has the caller's name of another credential";
                let hint = "`slack-bridge`, `slack` and `unauthenticated` are given by Vambrace itself";
                errors.push(wrong(what).at(key.at).hint(hint));
            }
            Some(caller) if caller.chars().any(|one| one.is_control() || is_invisible(one)) => {
                let what = "a caller's name has control characters or invisible ones";
                errors.push(wrong(what).at(key.at).hint("use letters, digits and `-`"));
            }
            Some(_) => {}
        }
    }
    *node = Node::new(Value::List(keys), at);
}

fn from_entry(entry: Entry, errors: &mut Vec<ConfigError>) -> Option<Node> {
    let Entry { key, at, node } = entry;
    match node.value {
        // secret: {caller_id, role}
        Value::Map(mut members) => {
            members.push(Entry { key: "secret".to_owned(), at, node: Node::text(&key, at) });
            Some(Node::new(Value::Map(members), at))
        }
        // secret: caller, or caller: secret
        Value::Text(text) => match (key.starts_with(SECRET_PREFIX), text.starts_with(SECRET_PREFIX)) {
            (true, false) => Some(pair(&text, &key, at)),
            (false, true) => Some(pair(&key, &text, at)),
            (true, true) | (false, false) => {
                let hint = "one side of a pair must begin with `ka_` so that it is the secret; \
                            or write a list of {caller_id, role, secret}";
                errors.push(wrong("it is not clear which side of an entry is the secret").at(at).hint(hint));
                None
            }
        },
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) => None,
    }
}

fn pair(caller: &str, secret: &str, at: crate::node::Place) -> Node {
    let entry = |key: &str, text: &str| Entry { key: key.to_owned(), at, node: Node::text(text, at) };
    Node::new(Value::Map(vec![entry("caller_id", caller), entry("secret", secret)]), at)
}

fn twice(key: &Node) -> ConfigError {
    wrong("the same secret stands in two entries").at(key.at)
}

fn wrong(what: &str) -> ConfigError {
    ConfigError::new("api_keys", Problem::Conflict(what.to_owned()))
}

//! `${VAR}`, `${VAR:-default}` and `$$` in values, filled in after parsing.
//!
//! THREAT: filling in before parsing would let a value with a line break or a brace write settings of its own. Keys are
//! never filled in, and what was filled in is not looked at again.

use std::collections::BTreeMap;

use crate::check::join;
use crate::node::{Node, Value, Written};
use crate::problem::{ConfigError, Problem};
use crate::source::file::Trust;

/// One value with everything filled in. References in a row must not multiply large variables without end.
const FILLED_LIMIT: usize = 64 * 1024;

pub(crate) fn fill(
    root: &mut Node,
    environment: &BTreeMap<String, String>,
    trust: Trust,
    errors: &mut Vec<ConfigError>,
) {
    visit(root, "", &Filler { environment, trust }, errors);
}

struct Filler<'e> {
    environment: &'e BTreeMap<String, String>,
    trust: Trust,
}

fn visit(node: &mut Node, path: &str, filler: &Filler<'_>, errors: &mut Vec<ConfigError>) {
    match &mut node.value {
        Value::Text(text) if text.contains('$') => match filler.fill(text) {
            Ok(Filled { text: filled, written }) => {
                *text = filled;
                node.written = written;
            }
            Err(error) => errors.push(ConfigError { key: path.to_owned(), ..error }.at(node.at)),
        },
        Value::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                visit(item, &format!("{path}[{index}]"), filler, errors);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                // Keys of `api_keys` are secrets, so nothing below it is named.
                let inner = if path == "api_keys" { path.to_owned() } else { join(path, &entry.key) };
                visit(&mut entry.node, &inner, filler, errors);
            }
        }
        Value::Text(_) | Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

struct Filled {
    text: String,
    written: Written,
}

impl Filler<'_> {
    fn fill(&self, text: &str) -> Result<Filled, ConfigError> {
        let mut filled = String::new();
        let mut written = Written::InTheFile;
        let mut rest = text;
        while let Some((plain, after)) = rest.split_once('$') {
            filled.push_str(plain);
            if let Some(after) = after.strip_prefix('$') {
                filled.push('$');
                rest = after;
            } else if let Some(after) = after.strip_prefix('{') {
                let Some((reference, after)) = after.split_once('}') else {
                    return Err(broken().hint("a `${` has no closing `}`; write `$$` for a dollar sign"));
                };
                filled.push_str(self.look_up(reference)?);
                written = Written::WithTheEnvironment;
                rest = after;
            } else {
                filled.push('$');
                rest = after;
            }
            if filled.len() > FILLED_LIMIT {
                return Err(ConfigError::new("", Problem::FilledTooLarge { limit: FILLED_LIMIT }));
            }
        }
        filled.push_str(rest);
        Ok(Filled { text: filled, written })
    }

    fn look_up<'r>(&'r self, reference: &'r str) -> Result<&'r str, ConfigError> {
        // THREAT: P02. An agent that writes the project file must not copy a variable to where it can read it.
        if self.trust == Trust::Project {
            return Err(
                ConfigError::new("", Problem::ReferenceInProject).hint("write `$$` for a dollar sign")
            );
        }
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        if !is_name(name) {
            return Err(explain(reference));
        }
        let value = self.environment.get(name).map(String::as_str);
        match (value, default) {
            (Some("") | None, Some(default)) => Ok(default),
            (Some(value), _) => Ok(value),
            (None, None) => {
                let error = ConfigError::new("", Problem::UnsetVariable(name.to_owned()));
                Err(error.hint(format!("set it, or give a default: `${{{name}:-default}}`")))
            }
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn broken() -> ConfigError {
    ConfigError::new("", Problem::BadReference)
}

/// Two other tools' spellings are common enough to name the right one.
fn explain(reference: &str) -> ConfigError {
    match reference.split_once(':') {
        Some(("ENV", name)) if is_name(name) => broken().hint(format!("write `${{{name}}}`")),
        Some((name, _)) if is_name(name) => {
            broken().hint(format!("a default is written `${{{name}:-default}}`"))
        }
        Some(_) | None => broken().hint("write `${NAME}` or `${NAME:-default}`, and `$$` for a dollar sign"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, Problem> {
        let environment = BTreeMap::from([
            ("NAME".to_owned(), "value".to_owned()),
            ("EMPTY".to_owned(), String::new()),
            ("TRICKY".to_owned(), "a: b\n${NAME} $$".to_owned()),
            ("LARGE".to_owned(), "x".repeat(40_000)),
        ]);
        let filler = Filler { environment: &environment, trust: Trust::Operator };
        filler.fill(text).map(|filled| filled.text).map_err(|error| error.problem)
    }

    #[test]
    fn references_are_filled_in_once() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        }
        check("${NAME}", "value");
        check("a ${NAME} b ${NAME}", "a value b value");
        check("${MISSING:-default}", "default");
        check("${EMPTY:-default}", "default");
        check("${NAME:-default}", "value");
        check("${MISSING:-}", "");
        check("${EMPTY}", "");
        check("$$", "$");
        check("$${NAME}", "${NAME}");
        check("$NAME costs 5$", "$NAME costs 5$");
        check("${TRICKY}", "a: b\n${NAME} $$");
    }

    #[test]
    fn broken_references_stop() {
        #[track_caller]
        fn check(text: &str, expected: Problem) {
            assert_eq!(filled(text), Err(expected), "{text}");
        }
        check("${MISSING}", Problem::UnsetVariable("MISSING".to_owned()));
        check("${NAME", Problem::BadReference);
        check("${}", Problem::BadReference);
        check("${NAME:default}", Problem::BadReference);
        check("${ENV:NAME}", Problem::BadReference);
        check("${1NAME}", Problem::BadReference);
        check("${LARGE}${LARGE}", Problem::FilledTooLarge { limit: FILLED_LIMIT });
    }
}

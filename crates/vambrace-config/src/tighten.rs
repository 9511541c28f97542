//! The rule for project files: they may only tighten, because agents can write them.
//!
//! THREAT: an injected prompt that edits `vambrace.yaml` and waits for the next start.

use serde_json::Value as Json;

use crate::check::join;
use crate::node::{Entry, Node, Value};
use crate::problem::{ConfigError, Problem};
use crate::shape::Shape;
use crate::strength::{Comparison, Order, Project, at_path, compare, row};

/// Judges a project's tree against what holds, and joins its denials to those that hold. What comes back with no error
/// can be merged like any other layer.
pub(crate) fn tighten(project: &mut Node, holds: &Node, shape: &Shape, errors: &mut Vec<ConfigError>) {
    for key in set_keys(project, shape, "") {
        let Some(order) = row(&key.path).map(|row| row.order) else { continue };
        if let (Order::Denials | Order::Rules, Some(below)) = (order, holds.at_path(&key.path)) {
            join_lists(project, &key.path, below);
        }
    }
    let holding = holds.to_json();
    let offered = overlaid(&holding, &project.to_json());
    for key in set_keys(project, shape, "") {
        judge(&key, project, &holding, &offered, errors);
    }
}

struct SetKey {
    path: String,
    at: crate::node::Place,
}

/// The keys that a tree sets, down to where the sections end.
fn set_keys(node: &Node, shape: &Shape, path: &str) -> Vec<SetKey> {
    let below = |entry: &Entry| {
        let path = join(path, &entry.key);
        match shape.field(&entry.key).map(|field| &field.shape) {
            Some(inside @ Shape::Struct(_)) => set_keys(&entry.node, inside, &path),
            Some(_) | None => vec![SetKey { path, at: entry.at }],
        }
    };
    node.entries().iter().flat_map(below).collect()
}

fn judge(key: &SetKey, project: &Node, holding: &Json, offered: &Json, errors: &mut Vec<ConfigError>) {
    let fail = |problem| ConfigError::new(&key.path, problem).at(key.at);
    let operator_only = || fail(Problem::OperatorOnly).hint("it belongs in the operator's file (--config)");
    let Some(row) = row(&key.path) else {
        errors.push(operator_only());
        return;
    };
    if let Order::Rules = row.order {
        errors.extend(allowing_rules(project));
    }
    match (row.project, compare(row, holding, offered)) {
        (Project::Tighten, Comparison::Same | Comparison::Tighter) => {}
        (Project::Repeat, Comparison::Same) => {}
        (Project::Repeat, Comparison::Tighter | Comparison::Weaker) => errors.push(operator_only()),
        (Project::Refuse, Comparison::Same | Comparison::Tighter | Comparison::Weaker) => {
            errors.push(operator_only())
        }
        (Project::Tighten, Comparison::Weaker) => {
            let mut holds = at_path(holding, row.key).to_string();
            if holds.chars().count() > 80 {
                holds = holds.chars().take(79).chain(['…']).collect();
            }
            errors.push(fail(Problem::Loosens { holds }).hint(advice(row.order)));
        }
    }
}

fn advice(order: Order) -> &'static str {
    match order {
        Order::Switch { .. } | Order::Ranks(_) | Order::Unordered => {
            "the operator's file (--config) may say it"
        }
        Order::Ceiling => "a project file may only lower it",
        Order::Grants => "a project file may only leave entries out",
        Order::Programs => {
            "a project file may only leave programs out; an empty list stands for the built-in ones, of which the \
             operator alone may name toolchains"
        }
        Order::Inherited => "a project file may only leave names out",
        Order::Denials | Order::Rules => "a project file may only add entries",
    }
}

/// A project's own `allow` rules, one mistake each. The operator's stand in front and are not the project's.
fn allowing_rules(project: &Node) -> Vec<ConfigError> {
    let Some(Value::List(rules)) = project.get("rules").map(|node| &node.value) else { return Vec::new() };
    let own = rules.iter().filter(|rule| rule.at != HELD);
    let allowing = own.filter(|rule| rule.get("decision").and_then(Node::as_text) == Some("allow"));
    let error = |rule: &Node| {
        let problem = Problem::Loosens { holds: "rules of a project file say `ask` or `deny`".to_owned() };
        ConfigError::new("rules", problem).at(rule.at).hint("the operator's file (--config) may say it")
    };
    allowing.map(error).collect()
}

/// The place of entries that were there before the project file; no file has a line 0.
const HELD: crate::node::Place = crate::node::Place { line: 0, column: 0 };

fn join_lists(project: &mut Node, path: &str, below: &Node) {
    let Value::List(held) = &below.value else { return };
    let Some(Value::List(own)) = value_at(project, path) else { return };
    let known: Vec<Json> = held.iter().map(Node::to_json).collect();
    own.retain(|entry| !known.contains(&entry.to_json()));
    let held = held.iter().map(|entry| Node { at: HELD, ..entry.clone() });
    own.splice(0..0, held);
}

fn value_at<'n>(node: &'n mut Node, path: &str) -> Option<&'n mut Value> {
    let Value::Map(entries) = &mut node.value else { return None };
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let entry = entries.iter_mut().find(|entry| entry.key == first)?;
    match rest {
        Some(rest) => value_at(&mut entry.node, rest),
        None => Some(&mut entry.node.value),
    }
}

/// The configuration as it would be, for comparison only.
fn overlaid(base: &Json, over: &Json) -> Json {
    match (base, over) {
        (Json::Object(base), Json::Object(over)) => {
            let mut joined = base.clone();
            for (key, value) in over {
                let below = base.get(key).unwrap_or(&Json::Null);
                joined.insert(key.clone(), overlaid(below, value));
            }
            Json::Object(joined)
        }
        (_, over) => over.clone(),
    }
}

//! TOML. The only module that knows that library.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::node::{Entry, Node, Place, Value};
use crate::problem::{ConfigError, Problem};

pub(super) fn parse(text: &str) -> Result<Node, ConfigError> {
    let lines = Lines::of(text);
    match DeTable::parse(text) {
        Ok(table) => {
            let at = Place::START;
            Ok(Node::new(map(table.into_inner(), &lines), at))
        }
        Err(error) => {
            let at = error.span().map_or(Place::START, |span| lines.place(span.start));
            let problem = match error.message() {
                "duplicate key" => Problem::DuplicateKey,
                message => Problem::Syntax(format!("this is not valid TOML here: {message}")),
            };
            Err(ConfigError::new("", problem).at(at))
        }
    }
}

fn map(table: DeTable<'_>, lines: &Lines<'_>) -> Value {
    let entry = |(key, value): (Spanned<_>, Spanned<DeValue<'_>>)| {
        let at = lines.place(key.span().start);
        Entry { key: std::borrow::Cow::into_owned(key.into_inner()), at, node: node(value, lines) }
    };
    Value::Map(table.into_iter().map(entry).collect())
}

fn node(value: Spanned<DeValue<'_>>, lines: &Lines<'_>) -> Node {
    let at = lines.place(value.span().start);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(whole) => Value::Int(whole),
            Err(_) => Value::Float(f64::NAN),
        },
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(truth) => Value::Bool(truth),
        // No setting is a date; as text it meets the right message.
        DeValue::Datetime(date) => Value::Text(date.to_string()),
        DeValue::Array(items) => Value::List(items.into_iter().map(|item| node(item, lines)).collect()),
        DeValue::Table(table) => map(table, lines),
    };
    Node::new(value, at)
}

/// The beginnings of lines, so that each place is found by halving instead of by reading the text again.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl Lines<'_> {
    fn of(text: &str) -> Lines<'_> {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        Place::new(line as u64, column as u64 + 1)
    }
}

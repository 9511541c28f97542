//! What is weaker than strict: shown at the start, written to the audit.

use serde_json::Value as Json;

use crate::layer::{Origin, Origins};
use crate::section::Config;
use crate::strength::{Comparison, Order, ROWS, at_path, compare};

/// A setting that is weaker than strict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weaker {
    pub key: String,
    /// What it says, as JSON.
    pub value: String,
    /// What strict says, as JSON.
    pub strict: String,
    pub origin: Origin,
}

pub(crate) fn weaker(config: &Config, origins: &Origins) -> Vec<Weaker> {
    let (strict, effective) = (json(&Config::default()), json(config));
    let rows = ROWS.iter().filter(|row| match row.order {
        Order::Unordered | Order::Rules => false,
        Order::Switch { .. }
        | Order::Ranks(_)
        | Order::Ceiling
        | Order::Grants
        | Order::Programs
        | Order::Denials
        | Order::Inherited => compare(row, &strict, &effective) == Comparison::Weaker,
    });
    let found = rows.map(|row| Weaker {
        key: row.key.to_owned(),
        value: at_path(&effective, row.key).to_string(),
        strict: at_path(&strict, row.key).to_string(),
        origin: origins.of(row.key),
    });
    found.collect()
}

/// Serializing is safe to show: see `value`.
fn json(config: &Config) -> Json {
    serde_json::to_value(config).unwrap_or_default()
}

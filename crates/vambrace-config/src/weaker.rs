//! What is weaker than strict: shown at the start, written to the audit.

use serde_json::Value as Json;

use crate::layer::{Origin, Origins};
use crate::section::{Config, OneOrMany};
use crate::strength::{Comparison, Order, ROWS, at_path, compare};

/// A setting that is weaker than strict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weaker {
    pub key: String,
    /// What it says, as JSON; where it is missing, what follows from that.
    pub value: String,
    /// What strict says, as JSON or in words.
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
    found.chain(unnamed(config, origins)).collect()
}

/// THREAT: P13, one issuer signs for many applications, and one place may hold the keys of several issuers: a token that was
/// given to somebody else is as good as one for us where neither name is asked for.
fn unnamed(config: &Config, origins: &Origins) -> Vec<Weaker> {
    let jwt = &config.auth.jwt;
    if jwt.jwks.as_deref().is_none_or(str::is_empty) {
        return Vec::new();
    }
    let has_audience = match &jwt.audience {
        None => false,
        Some(OneOrMany::One(_)) => true,
        Some(OneOrMany::Many(names)) => !names.is_empty(),
    };
    let has_issuer = jwt.issuer.as_ref().is_some_and(|issuer| !issuer.is_empty());
    let rows = [
        (
            has_audience,
            "auth.jwt.audience",
            "not set: tokens for other applications of the issuer are accepted",
            "a name of this service",
        ),
        (
            has_issuer,
            "auth.jwt.issuer",
            "not set: tokens of every issuer whose key is in the key set are accepted",
            "the issuer's name",
        ),
    ];
    let missing = rows.into_iter().filter(|(is_set, ..)| !is_set);
    let found = missing.map(|(_, key, value, strict)| Weaker {
        key: key.to_owned(),
        value: value.to_owned(),
        strict: strict.to_owned(),
        origin: origins.of(key),
    });
    found.collect()
}

/// Serializing is safe to show: see `value`.
fn json(config: &Config) -> Json {
    serde_json::to_value(config).unwrap_or_default()
}

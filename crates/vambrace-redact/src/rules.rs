//! The rules, by area. Each is a row with a text that it finds and one just beside it that it does not; further such texts
//! are in `testdata/secrets.tsv`.

mod address;
mod agent;
mod analytics;
mod azure;
mod beside_name;
mod chat;
mod ci;
mod cloud;
mod code;
mod database;
mod device;
mod extra;
mod file;
mod finance;
mod form;
mod further;
mod general;
mod gitlab;
mod header;
mod hook;
mod hosting;
mod identity;
mod infrastructure;
mod lookup;
mod mail;
mod model;
mod monitoring;
mod named;
mod payment;
mod prefix;
mod quality;
mod regional;
mod registry;
mod saas;
mod search;
mod shop;
mod social;
mod structure;
mod vault;
mod warehouse;
mod work;

use std::sync::LazyLock;

use crate::rule::{Pattern, Rule};

/// Every rule, the more telling ones first.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    AREAS.iter().copied().flatten()
}

static AREAS: &[&[Rule]] = &[
    code::RULES,
    gitlab::RULES,
    quality::RULES,
    registry::RULES,
    ci::RULES,
    infrastructure::RULES,
    cloud::RULES,
    azure::RULES,
    regional::RULES,
    hosting::RULES,
    database::RULES,
    search::RULES,
    warehouse::RULES,
    vault::RULES,
    identity::RULES,
    model::RULES,
    agent::RULES,
    hook::RULES,
    chat::RULES,
    payment::RULES,
    shop::RULES,
    mail::RULES,
    monitoring::RULES,
    analytics::RULES,
    social::RULES,
    work::RULES,
    saas::RULES,
    lookup::RULES,
    finance::RULES,
    extra::RULES,
    address::RULES,
    beside_name::RULES,
    device::RULES,
    file::RULES,
    further::RULES,
    header::RULES,
    named::RULES,
    prefix::RULES,
    general::RULES,
];

/// The rule of names and their values, and its number.
pub(crate) fn assignment() -> Option<(usize, &'static Rule)> {
    static FOUND: LazyLock<Option<(usize, &'static Rule)>> =
        LazyLock::new(|| rules().enumerate().find(|(_, rule)| matches!(rule.pattern, Pattern::Assignment)));
    *FOUND
}

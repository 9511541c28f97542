//! The rules, by area. Each is a row; `testdata/secrets.tsv` holds for each at least one text that it must find and
//! one just beside it that it must not.

mod cloud;
mod code;
mod general;
mod service;

use crate::rule::{Pattern, Rule};

/// Every rule, the more telling ones first.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [code::RULES, cloud::RULES, service::RULES, general::RULES].into_iter().flatten()
}

pub(crate) fn assignment() -> Option<&'static Rule> {
    rules().find(|rule| matches!(rule.pattern, Pattern::Assignment))
}

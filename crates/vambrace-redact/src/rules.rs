//! The rules. They are data, in `rules/` beside `src/`; the build script makes them a table.

mod form;
mod structure;

use std::sync::LazyLock;

use crate::rule::{Case, Lead, Pattern, Rank, Rule, Sight};
use crate::{block, check, command, cookie, jwk, kubernetes, netrc, pem, rule, unattended};

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Every rule, the more telling ones first.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter()
}

/// The rule of names and their values, and its number.
pub(crate) fn assignment() -> Option<(usize, &'static Rule)> {
    static FOUND: LazyLock<Option<(usize, &'static Rule)>> =
        LazyLock::new(|| rules().enumerate().find(|(_, rule)| matches!(rule.pattern, Pattern::Assignment)));
    *FOUND
}

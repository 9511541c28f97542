//! The rules. They are data, in `rules/` beside `src/`; the build script makes them a table.

mod form;
mod structure;

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::index::buckets::Buckets;
use crate::index::gram::Entry;
use crate::rule::{Case, Lead, Pattern, Rank, Rule, Sight};
use crate::{block, check, class, command, cookie, jwk, kubernetes, netrc, pem, unattended};

const fn entry(gram: u32, needle: u16, keyword: u8, n_rest: u8, rest: u32) -> Entry {
    Entry { gram, needle, keyword, n_rest, rest }
}

// `RULES`, `INDEX` and `ASSIGNMENT_KEYWORDS`.
include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Every rule, the more telling ones first.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter()
}

pub(crate) fn built_in(number: usize) -> Option<&'static Rule> {
    RULES.get(number)
}

/// The rule of names and their values, and its number.
pub(crate) fn assignment() -> Option<(usize, &'static Rule)> {
    static FOUND: LazyLock<Option<(usize, &'static Rule)>> =
        LazyLock::new(|| rules().enumerate().find(|(_, rule)| matches!(rule.pattern, Pattern::Assignment)));
    *FOUND
}

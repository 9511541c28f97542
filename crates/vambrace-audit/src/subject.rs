//! The name under which a caller is counted and stopped. Never cut: two callers must not share one, nor one have two.

use std::borrow::Cow;

use crate::chain::Hash;

/// Longer names are counted by their hash.
const LONGEST_NAME: usize = 256;
/// Room for such a name in JSON, every byte escaped.
pub(crate) const JSON_LIMIT: usize = LONGEST_NAME * 6 + 2;

pub(crate) fn of(caller: &str) -> Cow<'_, str> {
    if caller.len() <= LONGEST_NAME {
        return Cow::Borrowed(caller);
    }
    Cow::Owned(format!("sha256:{}", Hash::of(caller.as_bytes()).to_hex()))
}

//! The one reader for JSON that somebody else wrote. It knows no I/O, no clock and nobody's shapes.
//!
//! THREAT: P09, P13. `serde_json`'s own reader of values obeys names: an object whose first name is
//! `$serde_json::private::RawValue` is replaced by what its text says, read with a fresh limit on its depth (a library of
//! ours switches that on for everybody). So 18 KB end the process, and what was judged need not be what is used. It also
//! takes any number of values, of which each may cost a hundred times its text, and of two equal names it takes the last.
//! Here every name is a name, names are unique, and depth and number of values have limits.
//!
//! What this reader has read or checked may be given to `serde_json` and to libraries that use it; `serde_json::from_value`
//! is as safe as the value. Everything else that reads JSON is banned by clippy.toml.

mod build;
mod fault;

use serde::Deserialize;
use serde_json::Value;

use build::{Budget, Build, Seed};
pub use fault::{Fault, What};

/// Names that `serde_json` obeys begin with this; nobody else has a use for it.
pub const RESERVED: &str = "$serde_json::private::";

/// How much JSON is read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    /// Lists and objects within each other.
    pub depth: usize,
    /// Values, and names of members. In a tree each costs up to about 250 bytes, however short its text.
    pub nodes: usize,
}

impl Limits {
    /// What a caller sends. At most about 25 MB of tree, besides the texts themselves.
    pub const fn message(bytes: usize) -> Limits {
        Limits { bytes, depth: 64, nodes: 100_000 }
    }

    /// What a program, a service or a file says: one at a time, and lists of numbers are usual.
    pub const fn document(bytes: usize) -> Limits {
        Limits { bytes, depth: 100, nodes: 250_000 }
    }
}

/// Reads a value. Memory is in proportion to the limits, whatever the bytes are.
pub fn read(bytes: &[u8], limits: Limits) -> Result<Value, Fault> {
    build(bytes, limits).map(|(value, _)| value)
}

/// Whether `read` would take it, without making a value: for bytes that a library will read by itself.
pub fn check(bytes: &[u8], limits: Limits) -> Result<(), Fault> {
    build::<()>(bytes, limits).map(|((), _)| ())
}

/// Reads a shape. What it borrows is borrowed from the bytes.
pub fn read_as<'de, T: Deserialize<'de>>(bytes: &'de [u8], limits: Limits) -> Result<T, Fault> {
    check(bytes, limits)?;
    checked(bytes)
}

/// The same for bytes that `check` took.
pub fn checked<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Fault> {
    #[expect(clippy::disallowed_methods, reason = "this is the reader, and the bytes are checked")]
    serde_json::from_slice(bytes).map_err(|error| Fault::of(&error, Some(What::Shape)))
}

/// One line of a file that we wrote ourselves, where there are too many of them to look at each twice.
///
/// INVARIANT: no part of the shape is a `serde_json::Value`, so no name means anything, and what the shape does not
/// name is passed over without a tree.
pub fn own_line<'de, T: Deserialize<'de>>(line: &'de [u8]) -> Option<T> {
    #[expect(clippy::disallowed_methods, reason = "this is the reader, and the shape holds no value")]
    serde_json::from_slice(line).ok()
}

/// What was made, and of how many nodes.
fn build<B: Build>(bytes: &[u8], limits: Limits) -> Result<(B, usize), Fault> {
    if bytes.len() > limits.bytes {
        return Err(Fault::too_long(limits.bytes));
    }
    let budget = Budget::new(limits);
    #[expect(clippy::disallowed_methods, reason = "this is the reader; the seed counts, and obeys no name")]
    let mut text = serde_json::Deserializer::from_slice(bytes);
    let built = serde::de::DeserializeSeed::deserialize(Seed::<B>::new(&budget), &mut text)
        .and_then(|built| text.end().map(|()| built));
    built.map(|built| (built, budget.n_nodes())).map_err(|error| Fault::of(&error, budget.fault()))
}

/// Whether a member may have this name.
fn is_reserved(name: &str) -> bool {
    name.starts_with(RESERVED)
}

#[cfg(test)]
mod tests;

//! What the redactor promises, seen from outside.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod chunks;
mod corpus;
mod marking;
mod mended;
mod property;
mod random;
mod rule_files;
mod spelling;
mod spelling_random;
mod table;
mod tree;
mod truncate;

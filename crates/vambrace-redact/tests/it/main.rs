//! What the redactor promises, seen from outside.

#![expect(clippy::unwrap_used, clippy::panic, clippy::string_slice, reason = "a test fails by panicking")]

mod property;
mod table;
mod tree;
mod truncate;

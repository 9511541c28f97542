//! The engine from outside: scenarios, properties, and input made to hurt.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod diff;
mod hostile;
mod patterns;
mod properties;
mod scenarios;
mod syntax;
mod tool_error;

use vambrace_edit::{Captures, Edit, MatchMode, Operation};

/// A budget that never ends.
fn unhurried() -> bool {
    false
}

fn edit(operation: Operation, mode: MatchMode, spec: &str, content: &str, count: usize) -> Edit {
    Edit {
        operation,
        mode,
        spec: spec.to_owned(),
        content: content.to_owned(),
        count,
        captures: Captures::Literal,
    }
}

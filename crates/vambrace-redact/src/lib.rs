//! Takes secrets out of everything that leaves, and cuts what is too long.
//!
//! Pure: no file, no clock, no environment; what is secret is passed in. It knows no tool, no front end and no
//! policy. It protects against accidents: whoever may run programs can always spell a secret in a way that no
//! filter knows (specification 004, section 7).

mod assignment;
mod check;
mod cleaned;
mod cover;
mod custom;
mod encode;
mod engine;
mod environment;
mod index;
mod known;
mod pem;
mod placeholder;
mod redactor;
mod rule;
mod rules;
mod stream;
mod text;
pub mod truncate;

#[cfg(test)]
mod oracle;

pub use cover::{cover, cover_bytes};
pub use custom::RedactorError;
pub use environment::{KnownEnv, known_from_environment};
pub use known::KnownValue;
pub use pem::FARTHEST;
pub use placeholder::{PLACEHOLDER_PREFIX, RuleName, holds_placeholder};
pub use redactor::{Finding, FindingKind, Redactor, RedactorSettings};
pub use rule::Rule;
pub use rules::rules;
pub use stream::{Stream, StreamStats};
pub use text::{RedactedText, RedactedTree, Redaction};

//! Takes secrets out of everything that leaves, and cuts what is too long.
//!
//! Pure: no file, no clock, no environment; what is secret is passed in. It knows no tool, no front end and no
//! policy. It protects against accidents: whoever may run programs can always spell a secret in a way that no
//! filter knows (specification 004, section 7).

mod assignment;
mod beside;
mod block;
mod check;
mod class;
mod cleaned;
mod command;
mod cookie;
mod cover;
mod custom;
mod encode;
mod engine;
mod environment;
mod finding;
mod fingerprint;
mod index;
mod jwk;
mod known;
mod kubernetes;
mod lexicon;
mod likeness;
mod marks;
mod matcher;
mod netrc;
mod pem;
mod placeholder;
mod proof;
mod published;
mod redactor;
mod replace;
mod rule;
mod rules;
mod runs;
mod seams;
mod stream;
mod text;
pub mod truncate;
mod unattended;

#[cfg(test)]
mod oracle;

pub use cover::{cover, cover_bytes};
pub use custom::RedactorError;
pub use environment::{KnownEnv, is_dull, known_from_environment, looks_random};
pub use finding::{Finding, FindingKind};
pub use fingerprint::{BadFingerprint, Baseline, Fingerprint, FingerprintKey};
pub use known::KnownValue;
pub use marks::{Mark, Marking};
pub use pem::FARTHEST;
pub use placeholder::{PLACEHOLDER_PREFIX, RuleName, holds_placeholder};
pub use proof::{RuleProblem, prove_rules};
pub use redactor::{Redactor, RedactorSettings};
pub use rule::Rule;
pub use rules::rules;
pub use runs::Entropy;
pub use stream::{Stream, StreamStats};
pub use text::{RedactedText, RedactedTree, Redaction};

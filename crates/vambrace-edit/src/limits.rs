//! Every bound of the engine, in one place.

/// The text before and after the edits, and the contents of all edits together.
pub const TEXT_BYTES: usize = 16 << 20;
/// Edits in one call.
pub const EDITS: usize = 256;
/// The `spec` of one edit in exact mode.
pub const SPEC_BYTES: usize = 64 << 10;
/// Matches of all edits in one call.
pub const MATCHES: usize = 100_000;

/// A regular expression or syntax pattern, as written.
pub const PATTERN_BYTES: usize = 4 << 10;
/// Nesting of groups in a regular expression.
pub const PATTERN_NESTING: u32 = 64;
/// A compiled regular expression; this is what stops counted repetitions such as `(\w{1,100}){100}`.
pub const COMPILED_BYTES: usize = 1 << 20;

/// A text in syntax mode.
pub const SYNTAX_BYTES: usize = 1 << 20;
/// Depth of a syntax tree. The matcher compares subtrees by recursion, and threads have small stacks.
pub const SYNTAX_DEPTH: usize = 512;
/// Depth of a syntax pattern.
pub const SYNTAX_PATTERN_DEPTH: usize = 64;
/// Nodes looked at while one place of the file is compared with the pattern.
pub const SYNTAX_STEPS: u64 = 4_000_000;

/// Lines on both sides of a change that the precise diff still looks at.
pub const DIFF_LINES: usize = 8_000;

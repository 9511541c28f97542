//! The edit engine: text and edits in, text or a refusal out.
//!
//! It knows nothing of files, locks, clocks, wire formats or permissions. Time is a [`Budget`] that the caller
//! implements; every other bound is a constant in [`limits`].
//!
//! # What an edit means
//!
//! - Every edit is matched against the *original* text, and the counts of all edits are checked before anything
//!   is built. Then all edits are applied at once, or none. The order in which they are listed does not matter.
//! - `count` must equal the number of matches. There is no "already done" rule: zero matches with the replacement
//!   already in place is still a refusal, because a silent success would hide a mistake in `spec`.
//! - Matches of one edit do not overlap; they are found from left to right, and in syntax mode the outermost wins.
//! - Two edits conflict when one changes bytes that the other matched. Bytes, not lines, as specification 004
//!   words it: two edits on one line that do not touch have one obvious result, and refusing them would force
//!   agents to merge edits by hand.
//!
//! # Insertions
//!
//! `append_after` and `prepend_before` put the content on lines of its own:
//!
//! - Blanks between the anchor and the edge of its line belong to the anchor, so an indented anchor keeps its
//!   indentation and trailing blanks stay where they were.
//! - A line ending goes between anchor and content, unless the anchor already has one on that side or the content
//!   brings one. If the anchor's own line ending was used up that way, the content gets one on its far side too.
//! - The content is otherwise taken as it is: its indentation is the caller's, and when the anchor ends in the
//!   middle of a line, the rest of that line follows the content.
//! - Two insertions at the same point are refused, because nothing says which comes first; except that what follows
//!   the text before the point comes before what precedes the text behind it, each on lines of its own.
//!
//! # Line endings
//!
//! A file is CRLF when more than half of its lines end so. The exact and syntax modes see LF only, so an agent's
//! LF finds CRLF; the regex mode sees the bytes as they are, and its `^` and `$` know both endings. In a CRLF file,
//! every LF of the content becomes CRLF. A byte-order mark stays and is never part of a match. Bytes outside the
//! matches are not touched, so a final newline, or its absence, stays too.

mod apply;
mod budget;
mod diff;
mod error;
mod fill;
mod find;
mod language;
pub mod limits;
mod pattern;
mod request;
mod spans;
mod text;

pub use apply::{Applied, apply, apply_around};
pub use budget::{Budget, OutOfTime};
pub use diff::{diff_for_deleted, diff_for_new, unified_diff};
pub use error::{EditError, Oversize};
pub use language::Language;
pub use pattern::{Matches, Pattern, PatternError};
pub use request::{Captures, Edit, MatchMode, Operation};

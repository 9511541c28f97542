//! Private keys in PEM form: a block of many lines, swallowed whole.

use crate::check;

/// What must be seen from `-----BEGIN` on to know that a key follows and not just talk about keys.
pub(crate) const OPENING: usize = 640;
/// THREAT: a missing END line must not hide the rest of an endless stream, nor must it show the end of a key.
/// LIMIT: a block is taken to be over after this many bytes.
pub(crate) const LONGEST_BLOCK: usize = 64 * 1024;
/// How far from a place a finding can begin or end that has to do with it. Whoever looks at a part of a text must let
/// the redactor see this much around it.
pub const FARTHEST: usize = LONGEST_BLOCK + 8 * 1024;
pub(crate) const END: &str = "-----END";
/// What must be seen from END on.
pub(crate) const CLOSING: usize = 96;

/// A header is longer than any name of a key type.
const LONGEST_HEADER: usize = 96;
/// Code that mentions the header has no such run of base64; the shortest key has one of 64.
const BODY_RUN: usize = 32;

/// If a key begins at `place`, how long its header line is.
pub(crate) fn opens(hay: &[u8], place: usize) -> Option<usize> {
    let window = hay.get(place..hay.len().min(place + OPENING))?;
    let title = window.strip_prefix(b"-----BEGIN ")?;
    let title_len = memchr::memmem::find(title.get(..title.len().min(LONGEST_HEADER))?, b"-----")?;
    let name = title.get(..title_len)?;
    // No key type has a bracket in its name, but a placeholder has, and a header that only a redaction put together is
    // none: the key would go in the second pass and not in the first.
    let key = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    if !key || name.contains(&b'[') {
        return None;
    }
    let header = b"-----BEGIN ".len() + title_len + b"-----".len();
    let body = window.get(header..)?;
    let body = memchr::memmem::find(body, END.as_bytes()).and_then(|end| body.get(..end)).unwrap_or(body);
    let run =
        body.split(|byte| !crate::rule::base64(*byte)).any(|run| run.len() >= BODY_RUN && check::varied(run));
    run.then_some(header)
}

/// Where the END line that begins at `place` is over.
pub(crate) fn closes(hay: &[u8], place: usize) -> usize {
    let after = place + END.len();
    let rest = hay.get(after..hay.len().min(place + CLOSING)).unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    memchr::memmem::find(line, b"-----").map_or(after, |dashes| after + dashes + b"-----".len())
}

//! Private keys in PEM form: a block of many lines, swallowed whole.

use crate::check;
use crate::redactor::Found;

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
    let title = window.strip_prefix(b"-----BEGIN")?;
    let title_len = dashes(title.get(..title.len().min(LONGEST_HEADER))?)?;
    let name = title.get(..title_len)?;
    // No key type has a bracket in its name, but a placeholder has, and a header that only a redaction put together is
    // none: the key would go in the second pass and not in the first.
    // In an address, blanks are written as a plus sign or in percents.
    let mut words = name.split(|byte| matches!(byte, b' ' | b'+' | b'%'));
    let key = words.any(|word| matches!(word, b"PRIVATE" | b"20PRIVATE"))
        && words.next().is_some_and(|word| matches!(word, b"KEY" | b"20KEY"));
    if !key || name.contains(&b'[') {
        return None;
    }
    let header = b"-----BEGIN".len() + title_len + b"-----".len();
    let body = window.get(header..)?;
    let body = memchr::memmem::find(body, END.as_bytes()).and_then(|end| body.get(..end)).unwrap_or(body);
    let run = body
        .split(|byte| !crate::class::base64(*byte))
        .any(|run| run.len() >= BODY_RUN && check::varied(run) && !run.iter().all(u8::is_ascii_hexdigit));
    run.then_some(header)
}

fn dashes(line: &[u8]) -> Option<usize> {
    line.windows(5).position(|window| window == b"-----")
}

/// Where the END line that begins at `place` is over.
pub(crate) fn closes(hay: &[u8], place: usize) -> usize {
    let after = place + END.len();
    let rest = hay.get(after..hay.len().min(place + CLOSING)).unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    dashes(line).map_or(after, |dashes| after + dashes + b"-----".len())
}

/// PuTTY's files name the number of lines that are private, and their seal behind them.
pub(crate) fn putty(seen: &[u8], place: usize) -> Vec<Found> {
    let Some(rest) = seen.get(place..) else { return Vec::new() };
    let mut found = Vec::new();
    let mut start = 0;
    for (number, line) in rest.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.trim_ascii();
        let from = place + start + (line.len() - line.trim_ascii_start().len());
        start += line.len();
        let body =
            text.len() >= 20 && text.iter().all(|byte| crate::class::base64(*byte)) && check::varied(text);
        let last = number > 1 && text.len() >= 2 && text.iter().all(|byte| crate::class::base64(*byte));
        if number > 0 && (body || (last && !found.is_empty())) {
            found.push(Found { value: from..from + text.len(), extent: from..from + text.len() });
        } else if number > 0 {
            break;
        }
    }
    found
}

//! A secret apart from its name: `api_key: |` and then the value on the line below, or `name: API_KEY` and then
//! `value: …`.

use crate::redactor::Found;
use crate::{assignment, check};

/// Between a name and the word `value`: quotes, a comma, a line break with its blanks.
const LONGEST_GAP: usize = 48;
const LONGEST_NAME: usize = 80;

/// `place` is at the colon behind the name.
pub(crate) fn find(seen: &[u8], place: usize) -> Vec<Found> {
    value(seen, place).into_iter().collect()
}

fn value(seen: &[u8], place: usize) -> Option<Found> {
    let rest = seen.get(place..)?;
    let start = memchr::memchr(b'\n', rest)? + 1;
    let below = rest.get(start..)?;
    let mut lines = below.split(|byte| *byte == b'\n');
    let line = lines.next()?;
    let value = line.trim_ascii();
    let column = |line: &[u8]| line.iter().take_while(|byte| **byte == b' ').count();
    // Several lines are a text, a certificate, a script; a key of that form is found by its own rule.
    let alone = lines.next().is_none_or(|next| next.trim_ascii().is_empty() || column(next) < column(line));
    if column(line) == 0 || !alone || !assignment::is_secret_line(seen, place, value) {
        return None;
    }
    let first = place + start + (line.len() - line.trim_ascii_start().len());
    let range = first..first + value.len();
    Some(Found { extent: place..range.end, value: range })
}

/// `place` is at the word `value` or `default`, whose name stands before it.
pub(crate) fn named(seen: &[u8], place: usize) -> Vec<Found> {
    named_value(seen, place).into_iter().collect()
}

fn named_value(seen: &[u8], place: usize) -> Option<Found> {
    let rest = seen.get(place..)?;
    let joint = rest.iter().take(24).position(|byte| matches!(byte, b':' | b'='))? + 1;
    let opening = rest
        .get(joint..)?
        .iter()
        .take(4)
        .take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\'))
        .count();
    let from = joint + opening;
    let stops = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\n' | b'\r' | b'\\' | b',' | b'}');
    let value = rest.get(from..)?.split(stops).next()?.trim_ascii_end();
    let between =
        |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b',' | b'{' | b'-');
    let before = seen.get(..place)?;
    let name_end = place - before.iter().rev().take(LONGEST_GAP).take_while(|byte| between(byte)).count();
    let name_start = name_end.saturating_sub(LONGEST_NAME);
    let name = before.get(name_start..name_end)?;
    let is_named = [b"name".as_slice(), b"Name", b"key", b"Key", b"variable"]
        .iter()
        .any(|word| check::contains(name, word));
    if !is_named || !assignment::is_secret_line(seen, name_end, value) {
        return None;
    }
    let range = place + from..place + from + value.len();
    Some(Found { extent: name_start..range.end, value: range })
}

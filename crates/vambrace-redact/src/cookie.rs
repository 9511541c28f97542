//! `Cookie:` and `Set-Cookie:`: every value that keeps a session, by its name or by its randomness.

use crate::redactor::Found;
use crate::{check, likeness};

const SHORTEST: usize = 8;
/// A value without a telling name has to be as long and as odd as this.
const SHORTEST_UNNAMED: usize = 20;
const ODD: i32 = 40;
const NAMES: [&str; 14] = [
    "sess",
    "sid",
    "token",
    "auth",
    "jwt",
    "remember",
    "login",
    "secret",
    "key",
    "credential",
    "sso",
    "ticket",
    "access",
    "user",
];
/// Attributes, and what every page shows.
const OTHERS: [&str; 8] = ["path", "domain", "expires", "max-age", "samesite", "csrf", "xsrf", "_ga"];

/// `place` is at the word `cookie`.
pub(crate) fn find(seen: &[u8], place: usize) -> Vec<Found> {
    let Some(rest) = seen.get(place..) else { return Vec::new() };
    let Some(colon) = rest.iter().take(12).position(|byte| matches!(byte, b':' | b',')) else {
        return Vec::new();
    };
    let list = rest.get(colon + 1..).unwrap_or_default();
    let opening = list.iter().take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b'[')).count();
    let list = list.get(opening..).unwrap_or_default();
    let end = memchr::memchr3(b'"', b'\'', b'\\', list).unwrap_or(list.len());
    let list = list.get(..end).unwrap_or_default();
    let mut found = Vec::new();
    let mut start = place + colon + 1 + opening;
    for pair in list.split(|byte| *byte == b';') {
        let pair_start = start;
        start += pair.len() + 1;
        let Some(equals) = memchr::memchr(b'=', pair) else { continue };
        let (name, value) = pair.split_at_checked(equals).unwrap_or_default();
        // THREAT: P02, another header in the same line is read in its turn, or it would be read again and again.
        if name.contains(&b':') {
            break;
        }
        let value = value.get(1..).unwrap_or_default().trim_ascii_end();
        if is_session(name.trim_ascii(), value) {
            let value_start = pair_start + equals + 1;
            let range = value_start..value_start + value.len();
            found.push(Found { extent: place..range.end, value: range });
        }
    }
    found
}

fn is_session(name: &[u8], value: &[u8]) -> bool {
    let among = |words: &[&str]| words.iter().any(|word| check::contains_folded(name, word.as_bytes()));
    if value.len() < SHORTEST || value.iter().any(|byte| byte.is_ascii_whitespace()) || among(&OTHERS) {
        return false;
    }
    let oddness = likeness::oddness(value);
    let telling = (among(&NAMES) && oddness >= 8) || (value.len() >= SHORTEST_UNNAMED && oddness >= ODD);
    telling && check::not_dummy(value)
}

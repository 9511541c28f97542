//! JSON web keys: an object with a `kty`, and the members of it that are nobody else's business.

use crate::check;
use crate::redactor::Found;

/// As in RFC 7518: the private numbers of RSA and elliptic keys, and the key itself of the symmetric kind.
const PRIVATE: [&[u8]; 7] = [b"d", b"p", b"q", b"dp", b"dq", b"qi", b"k"];
const SHORTEST: usize = 20;
/// Within this, `"d":"…"` is over if its value is too short.
const FIRST_LOOK: usize = 24;
/// THREAT: P02, an object of many thousand members would be read again at each of them.
const MOST_MEMBERS: usize = 24;

/// `"d": 12` is no key: a value of some length has to begin on the same line.
pub(crate) fn glance(seen: &[u8], place: usize) -> bool {
    let rest = seen.get(place..).unwrap_or_default();
    rest.starts_with(b"\"kty")
        || members(rest.get(..rest.len().min(FIRST_LOOK)).unwrap_or_default()).next().is_none()
}

/// `place` is at the quote before `kty`, `d` or `k`. Everything private of the object from there on is taken; that the
/// object is a key is known at once, or its `kty` follows.
pub(crate) fn find(seen: &[u8], place: usize) -> Vec<Found> {
    let Some(rest) = seen.get(place..) else { return Vec::new() };
    let at_kty = rest.starts_with(b"\"kty");
    // Most places end here: what follows is no value of that length.
    if !at_kty && members(rest.get(..rest.len().min(FIRST_LOOK)).unwrap_or_default()).next().is_some() {
        return Vec::new();
    }
    let kty = memchr::memmem::find(rest.get(1..).unwrap_or_default(), b"\"kty");
    // A second one begins another object, and is read in its turn.
    let rest_of_it = if at_kty { rest.get(..kty.unwrap_or(rest.len())).unwrap_or_default() } else { rest };
    let length = memchr::memchr(b'}', rest_of_it).unwrap_or(rest_of_it.len());
    let object = rest_of_it.get(..length).unwrap_or_default();
    if !at_kty && kty.is_none_or(|kty| kty >= length) {
        return Vec::new();
    }
    let found = |value: &[u8]| {
        let start = place + (value.as_ptr() as usize).checked_sub(rest.as_ptr() as usize)?;
        let range = start..start + value.len();
        Some(Found { value: range.clone(), extent: range })
    };
    members(object)
        .take(MOST_MEMBERS)
        .filter(|(name, value)| PRIVATE.contains(name) && value.len() >= SHORTEST && check::not_dummy(value))
        .filter_map(|(_, value)| found(value))
        .collect()
}

/// Names and values that are texts. Anything else between quotes only shifts the reading to the next pair.
fn members(object: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = object;
    std::iter::from_fn(move || {
        loop {
            let (name, after) = text(rest)?;
            let after = after.trim_ascii_start();
            let Some(value) = after.strip_prefix(b":") else {
                rest = after;
                continue;
            };
            let value = value.trim_ascii_start();
            if !matches!(value, [b'"', ..] | [b'\\', b'"', ..]) {
                rest = value;
                continue;
            }
            let (value, after) = text(value)?;
            rest = after;
            return Some((name, value));
        }
    })
}

/// The next text in quotes, and what comes after it. The quotes may be escaped, both alike.
fn text(from: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = memchr::memchr(b'"', from)?;
    let inside = from.get(open + 1..)?;
    let close = memchr::memchr(b'"', inside)?;
    let value = inside.get(..close)?;
    Some((value.strip_suffix(b"\\").unwrap_or(value), inside.get(close + 1..)?))
}

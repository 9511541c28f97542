//! The name of one request, in what goes in and what comes out: the client's own where it is one, else a fresh one.

use std::fmt::Write as _;

use http::{HeaderMap, HeaderName, HeaderValue};
use vambrace_runtime::chance;

pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");
const LONGEST: usize = 128;

/// THREAT: P02, asking whether a text is one of our secrets. What is known plays no part here, so that the answer to a
/// stranger does not either; log and record hide what is to be hidden.
pub(super) fn of(headers: &HeaderMap) -> HeaderValue {
    let mut given = headers.get_all(HEADER).iter();
    match (given.next(), given.next()) {
        (Some(id), None) if is_plain(id.as_bytes()) => id.clone(),
        _ => fresh(),
    }
}

/// What may stand in a log or a header of another service without being quoted.
pub(crate) fn is_plain(id: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    (1..=LONGEST).contains(&id.len()) && id.iter().all(plain)
}

/// A UUID of version 4: nobody takes one for a secret who was not told to.
fn fresh() -> HeaderValue {
    let [a, b, c, d, e, f, g, h, rest @ ..] = chance::<16>();
    let number = |bytes: &[u8]| bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let version = number(&[g, h]) & 0x0fff | 0x4000;
    let [variant @ .., _, _, _, _, _, _] = rest;
    let [_, _, node @ ..] = rest;
    let variant = number(&variant) & 0x3fff | 0x8000;
    let (first, second, node) = (number(&[a, b, c, d]), number(&[e, f]), number(&node));
    let mut id = String::with_capacity(36);
    // Writing to a string cannot fail.
    let _ = write!(id, "{first:08x}-{second:04x}-{version:04x}-{variant:04x}-{node:012x}");
    HeaderValue::try_from(id).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &[&str], kept: bool) {
        let mut headers = HeaderMap::new();
        for id in given {
            headers.append(HEADER, id.parse().unwrap());
        }
        let id = of(&headers);
        assert_eq!(given.iter().any(|given| *given == id), kept, "{given:?} {id:?}");
        assert!(is_plain(id.as_bytes()), "{id:?}");
    }

    #[test]
    fn a_plain_id_is_kept_and_another_replaced() {
        check(&["a"], true);
        check(&["550e8400-e29b-41d4-a716-446655440000"], true);
        check(&["trace:1.2_3"], true);
        check(&[&"a".repeat(128)], true);
        check(&[&"a".repeat(129)], false);
        check(&[], false);
        check(&[""], false);
        check(&["a b"], false);
        check(&["a\"b"], false);
        check(&["a", "b"], false);
    }

    #[test]
    fn a_fresh_id_has_the_form_of_a_uuid() {
        let (one, other) = (fresh(), fresh());
        assert_ne!(one, other);
        for id in [one, other] {
            let id = id.to_str().unwrap().to_owned();
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            let at = |place: usize| id.as_bytes()[place];
            assert!(at(14) == b'4' && b"89ab".contains(&at(19)), "{id}");
        }
    }
}

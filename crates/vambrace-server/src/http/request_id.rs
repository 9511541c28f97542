//! The name of one request, in what goes in and what comes out: the client's own where it is one, else a fresh one.

use http::{HeaderMap, HeaderName, HeaderValue};
use vambrace_runtime::chance;

pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");
const LONGEST: usize = 128;

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

fn fresh() -> HeaderValue {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value & 15)).copied().unwrap_or_default();
    let mut id = [[0; 2]; 16];
    for (pair, byte) in id.iter_mut().zip(chance::<16>()) {
        *pair = [digit(byte >> 4), digit(byte)];
    }
    HeaderValue::from_bytes(id.as_flattened()).unwrap_or_else(|_| HeaderValue::from_static("none"))
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
}

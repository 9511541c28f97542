//! What many rules of the files have in common, and the tests of the form of a value that they
//! name. `build/names.rs` says under which names.

use crate::check::{
    contains, encoded_pair, entropy, is_password, jumbled, mixed, not_dummy, odd, plausible, token_header,
    varied,
};
use crate::class::{hex, token, word};
use crate::encode;
use crate::rule::Rule;

/// A token with a prefix of its own and of known length: what is longer is something else.
pub(super) const PREFIXED: Rule = Rule { right: token, entropy: 3.0, ..Rule::TOKEN };

/// A token whose form alone says too little, in a regular expression that begins with the name.
pub(super) const NAMED_TOKEN: Rule = Rule { right: token, check: mixed, entropy: 3.0, ..Rule::NAMED };

/// Hexadecimal digits or a UUID beside a name.
pub(super) const BESIDE_HEX: Rule = Rule { right: inside, check: plausible, entropy: 2.5, ..Rule::NAMED };

/// Letters and digits beside a name.
pub(super) const BESIDE_MIXED: Rule = Rule { right: inside, check: scattered, entropy: 3.0, ..Rule::NAMED };

/// A byte that shows that a value of fixed length goes on, and therefore is another one.
fn inside(byte: u8) -> bool {
    token(byte) || matches!(byte, b'+' | b'/')
}

/// Digits are strewn among the letters, or capitals are; a word has digits at its end and few
/// capitals.
pub(super) fn scattered(value: &[u8]) -> bool {
    let kinds = |judge: fn(&u8) -> bool| {
        let pairs = value.windows(2).filter(|pair| pair.iter().all(u8::is_ascii_alphanumeric));
        pairs.filter(|pair| matches!(pair, [a, b] if judge(a) != judge(b))).count()
    };
    let n_small = value.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let both_cases = n_small * 6 >= value.len() && (value.len() - n_small) * 3 >= value.len();
    let strewn =
        kinds(u8::is_ascii_digit) >= 3 || (both_cases && kinds(u8::is_ascii_lowercase) * 3 >= value.len());
    // Made up, and yet no word: `abcdefghij` and then as many digits.
    let n_digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let halves = n_digits * 3 >= value.len() && n_digits * 3 <= value.len() * 2 && mixed(value);
    (strewn || halves) && plausible(value)
}

/// Random letters are of both cases in good number; an identifier has a capital per word.
pub(super) fn cased(value: &[u8]) -> bool {
    let n_small = value.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let n_other = value.len() - n_small;
    n_small * 6 >= value.len() && n_other * 4 >= value.len() && varied(value)
}

/// `jumbled` for what has no digits.
pub(super) fn jumbled_letters(value: &[u8]) -> bool {
    cased(value) && (jumbled(value) || value.contains(&b'-'))
}

/// Keys of language models: two digits, because class names in style sheets begin with the same
/// three bytes.
pub(super) fn model_key(value: &[u8]) -> bool {
    mixed(value) && value.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
}

pub(super) fn anything(_: &[u8]) -> bool {
    true
}

pub(super) fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

pub(super) fn not_hex(value: &[u8]) -> bool {
    !value.iter().all(|byte| hex(*byte))
}

pub(super) fn few_tildes(value: &[u8]) -> bool {
    value.iter().filter(|byte| **byte == b'~').count() < 8
}

pub(super) fn mixed_or_cased(value: &[u8]) -> bool {
    mixed(value) || cased(value)
}

pub(super) fn cased_or_odd(value: &[u8]) -> bool {
    cased(value) || odd(value)
}

/// What stands behind the scheme of an Authorization header.
pub(super) fn authorization(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let three_kinds = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    encoded_pair(value) || odd(value) || (value.len() >= 16 && mixed(value) && three_kinds)
}

/// A value of another header; `WINBIO_PRESENCE_0` and `my-service.local` are names.
pub(super) fn header_value(value: &[u8]) -> bool {
    mixed(value) && (odd(value) || value.len() >= 20) && odd(value) && not_dummy(value)
}

/// Letters, digits and a sign, or both cases with a digit.
pub(super) fn many_kinds(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let signed = has(|byte| b"!@#$%^&*?+=".contains(byte));
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && (signed || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)))
}

/// A password, and not a port with a query that has an address in it.
pub(super) fn url_password(value: &[u8]) -> bool {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let port = digits > 0 && matches!(value.get(digits), Some(b'?' | b'#' | b'&'));
    !port && is_password(value)
}

/// `password=form.value`, `pwd=getenv`: minified code has no spaces either.
pub(super) fn not_code(value: &[u8]) -> bool {
    let name = value
        .iter()
        .all(|byte| word(*byte) || matches!(byte, b'.' | b'(' | b')' | b'[' | b']' | b':' | b'!'));
    let code = name && !has_digit(value)
        || value.iter().any(|byte| matches!(byte, b'(' | b')' | b'[' | b']'))
        || value.starts_with(b"%");
    !code
}

pub(super) fn long_token_header(value: &[u8]) -> bool {
    value.len() >= 40 && token_header(value)
}

/// The text inside has the three letters that every such token begins with, and a dot.
pub(super) fn encoded_jwt(value: &[u8]) -> bool {
    encode::decode_base64(value)
        .is_some_and(|inner| inner.starts_with(b"eyJ") && inner.contains(&b'.') && token_header(&inner))
}

/// The header line of a private key, in base64.
pub(super) fn private_key_header(value: &[u8]) -> bool {
    let header = encode::decode_base64(value.get(..80).unwrap_or(value)).unwrap_or_default();
    contains(&header, b"PRIVATE KEY-----")
}

/// Random text decodes to anything; a user and a password can be typed.
pub(super) fn printable(value: &[u8]) -> bool {
    encode::decode_base64(value)
        .is_some_and(|pair| pair.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' '))
}

/// The row of one letter is in every such token; what is around it has to be random.
pub(super) fn long_lived(value: &[u8]) -> bool {
    let (head, tail) = value.split_at(value.len().min(11));
    mixed(tail) && entropy(head) >= 2.5 && tail.get(10..).is_some_and(|tail| entropy(tail) >= 3.5)
}

/// Prose goes on with a word (`enable password authentication`), so there is a digit or a sign.
pub(super) fn device_word(value: &[u8]) -> bool {
    let odd = |byte: &u8| !byte.is_ascii_alphabetic() && !matches!(byte, b'.' | b',' | b'-' | b'_' | b':');
    let tail = value.get(1..value.len().saturating_sub(1)).unwrap_or_default();
    let hash = matches!(value, [b'$', b'0'..=b'9', b'$', ..]);
    hash || (tail.iter().any(odd) && is_password(value))
}

/// Two digits of a salt, then bytes as pairs of digits.
pub(super) fn paired(value: &[u8]) -> bool {
    value.len().is_multiple_of(2) && varied(value)
}

/// The usual names of an SNMP community are known to everybody.
pub(super) fn community(value: &[u8]) -> bool {
    !matches!(value, b"public" | b"private" | b"community") && is_password(value)
}

/// Words that every sentence has and no list of seed words.
const OF_SENTENCES: [&str; 14] =
    ["the", "and", "for", "are", "with", "from", "not", "was", "has", "which", "its", "but", "into", "each"];

pub(super) fn word_list(value: &[u8]) -> bool {
    let mut words = value.split(|byte| *byte == b' ');
    !words.any(|word| OF_SENTENCES.iter().any(|other| word == other.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(judge: fn(&[u8]) -> bool, value: &str, expected: bool) {
        assert_eq!(judge(value.as_bytes()), expected, "{value:?}");
    }

    #[test]
    fn words_are_not_random() {
        check(scattered, "a1b2c3d4e5f6g7h8", true);
        check(scattered, "everyordinaryword2024", false);
        check(scattered, "release-2024-beta1", false);
        check(scattered, "SomeClassOfTheProgram", false);
        check(scattered, "fYmZihQviArcjJgQ", true);
        check(cased, "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH", true);
        check(cased, "everyOrdinaryIdentifierOfThisLength", false);
        check(model_key, "a1b2c3", true);
        check(model_key, "component1", false);
    }
}

//! Beginnings of rows that many services share, and tests of the form of a value without a prefix.
//!
//! A keyword of a named value may be the rare end of a name (`tadog` for `datadog`): the index looks at the
//! first four bytes of a keyword, and those of many names are ordinary (`data`, `face`, `inte`).

use crate::check::{jumbled, mixed, plausible};
use crate::rule::{Rule, token};

/// A token with a prefix of its own and of known length: what is longer is something else.
pub(super) const PREFIXED: Rule = Rule { right: token, entropy: 3.0, ..Rule::TOKEN };

/// A token whose form alone says too little, in a regular expression that begins with the name.
pub(super) const NAMED_TOKEN: Rule = Rule { right: token, check: mixed, entropy: 3.0, ..Rule::NAMED };

/// Hexadecimal digits or a UUID beside a name.
pub(super) const BESIDE_HEX: Rule = Rule { right: inside, check: plausible, entropy: 2.5, ..Rule::NAMED };

/// Letters and digits beside a name.
pub(super) const BESIDE_MIXED: Rule = Rule { right: inside, check: scattered, entropy: 3.0, ..Rule::NAMED };

/// A byte that shows that a value of fixed length goes on, and therefore is another one.
pub(super) fn inside(byte: u8) -> bool {
    token(byte) || matches!(byte, b'+' | b'/')
}

/// A byte of base64 before the match; `=` is left out because it joins a name and a value.
pub(super) fn encoded(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Digits are strewn among the letters, or capitals are; a word has digits at its end and few capitals.
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
    n_small * 6 >= value.len() && n_other * 4 >= value.len() && crate::check::varied(value)
}

/// `jumbled` for what has no digits.
pub(super) fn jumbled_letters(value: &[u8]) -> bool {
    cased(value) && (jumbled(value) || value.contains(&b'-'))
}

/// Keys of language models: two digits, because class names in style sheets begin with the same three bytes.
pub(super) fn model_key(value: &[u8]) -> bool {
    mixed(value) && value.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
}

/// Before a Slack token stands no part of a name or of a host.
pub(super) fn slack_left(byte: u8) -> bool {
    token(byte) || byte == b'.'
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

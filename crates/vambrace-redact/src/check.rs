//! Looks at a supposed secret alone and says whether it can be one. Pure byte work, called only on matches.

use crate::encode;

/// `xxxx`, `****`, `1111`: a stand-in uses one or two characters, a secret more. Four, not more, because an
/// answer that shows a dull secret does more harm than one that hides a stand-in.
pub(crate) fn varied(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in value {
        if let Some(slot) = seen.get_mut(usize::from(byte.to_ascii_lowercase())) {
            *slot = true;
        }
    }
    let longest_run = value.chunk_by(|a, b| a.eq_ignore_ascii_case(b)).map(<[u8]>::len).max().unwrap_or(0);
    seen.iter().filter(|seen| **seen).count() >= 4 && longest_run * 2 < value.len()
}

/// Words that say "put your own here".
const DUMMY_WORDS: [&str; 26] = [
    "example",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "your_",
    "your-",
    "yourpass",
    "yourtoken",
    "yourkey",
    "yoursecret",
    "xxxx",
    "****",
    "####",
    "....",
    "redacted",
    "dummy",
    "insert",
    "replace",
    "undefined",
    "process.env",
    "os.environ",
    "getenv",
    "environ[",
    "not_set",
    "notset",
];

/// References to a value that is elsewhere, and stand-ins.
pub(crate) fn not_dummy(value: &[u8]) -> bool {
    let refers = matches!(
        value,
        [b'$' | b'<' | b'{' | b'[' | b'*' | b'#' | b'@' | b'&', ..] | [b'%', .., b'%'] | [b'.', b'.', ..]
    ) || contains(value, b"${")
        || contains(value, b"$(")
        || contains(value, b"{{")
        || contains(value, b"#{")
        || contains(value, b"%(")
        || contains(value, b"[REDACTED");
    // Stand-ins are short; looking at the beginning alone bounds the work that hostile text can cause.
    let beginning = value.get(..value.len().min(64)).unwrap_or_default();
    !refers && varied(value) && !DUMMY_WORDS.iter().any(|word| contains_folded(beginning, word.as_bytes()))
}

/// A password in a URL or on a command line: any text but the usual words of documentation.
pub(crate) fn is_password(value: &[u8]) -> bool {
    const WORDS: [&str; 14] = [
        "pass",
        "passwd",
        "password",
        "pwd",
        "secret",
        "token",
        "yyy",
        "test",
        "key",
        "apikey",
        "user",
        "credentials",
        "mypassword",
        "mysecret",
    ];
    let word = WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()));
    !word && value.len() >= 3 && (not_dummy(value) || dressed(value))
}

/// `{ZqL5…}`: braces around something that is not a name.
fn dressed(value: &[u8]) -> bool {
    matches!(value, [b'{', inner @ .., b'}'] if not_dummy(inner) && inner.iter().any(u8::is_ascii_digit))
}

/// For forms that ordinary identifiers also have: a secret has digits between its letters.
pub(crate) fn mixed(value: &[u8]) -> bool {
    not_dummy(value) && value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Random letters change case all the time; identifiers do so at word breaks.
pub(crate) fn jumbled(value: &[u8]) -> bool {
    let ups = value.iter().filter(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).count();
    let pairs = value.windows(2);
    let changes = pairs.filter(|pair| matches!(pair, [a, b] if kind(*a) != kind(*b))).count();
    ups * 5 >= value.len() && changes * 3 >= value.len() && not_dummy(value)
}

fn kind(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// Base64 of `user:password`, as Docker and the Basic scheme write it.
pub(crate) fn encoded_pair(value: &[u8]) -> bool {
    encode::decode_base64(value)
        .is_some_and(|pair| pair.contains(&b':') && std::str::from_utf8(&pair).is_ok())
}

/// Unlike most, this form is common (three bytes, then letters), so its own first part has to decode.
pub(crate) fn token_header(value: &[u8]) -> bool {
    let header = value.split(|byte| *byte == b'.').next().unwrap_or_default();
    let decoded = encode::decode_base64(header).unwrap_or_default();
    contains(&decoded, b"\"") && decoded.first() == Some(&b'{')
}

pub(crate) fn contains(hay: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(hay, needle).is_some()
}

/// `needle` is in lower case.
pub(crate) fn contains_folded(hay: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else { return true };
    memchr::memchr2_iter(*first, first.to_ascii_uppercase(), hay).any(|place| {
        hay.get(place..place + needle.len()).is_some_and(|found| found.eq_ignore_ascii_case(needle))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(judge: fn(&[u8]) -> bool, value: &str, expected: bool) {
        assert_eq!(judge(value.as_bytes()), expected, "{value:?}");
    }

    #[test]
    fn stand_ins_are_not_secrets() {
        check(varied, "xxxxxxxxxxxx", false);
        check(varied, "XXXX-xxxx-XXXX", false);
        check(varied, "a1B2a1B2a1B2", true);
        check(not_dummy, "${PASSWORD}", false);
        check(not_dummy, "$PASSWORD", false);
        check(not_dummy, "<your password>", false);
        check(not_dummy, "{{ .Values.password }}", false);
        check(not_dummy, "%PASSWORD%", false);
        check(not_dummy, "changeme123", false);
        check(not_dummy, "correct-horse-9", true);
        check(is_password, "password", false);
        check(is_password, "s3cr3t!pw", true);
        check(jumbled, "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY", true);
        check(jumbled, "everyOrdinaryIdentifierOfThisLength", false);
        check(encoded_pair, "dXNlcjpwYXNz", true);
        check(encoded_pair, "dXNlcnBhc3Nz", false);
    }
}

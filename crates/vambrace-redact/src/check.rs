//! Looks at a supposed secret alone and says whether it can be one. Pure byte work, called only on matches.

use std::sync::LazyLock;

use crate::{encode, likeness};

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

/// Shannon's measure: bits per byte, as the bytes are spread in the value itself.
pub(crate) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u16; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count = count.saturating_add(1);
        }
    }
    let total = value.len() as f32;
    let bits = |count: u16| {
        let share = f32::from(count) / total;
        -share * share.log2()
    };
    counts.into_iter().filter(|count| *count > 0).map(bits).sum()
}

/// Words that say "put your own here". A value is looked at in lower case.
const DUMMY_WORDS: [&str; 32] = [
    "example",
    "changeme",
    "change-me",
    "change_me",
    "change_this",
    "changethis",
    "placeholder",
    "your_",
    "your-",
    "yourpass",
    "yourtoken",
    "yourkey",
    "yoursecret",
    "yourapi",
    "my_api_key",
    "my-api-key",
    "xxxx",
    "****",
    "####",
    "....",
    "____",
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
/// The same words by their first byte.
static BY_FIRST: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let begin_with = |first: u8| {
        let mine = |word: &&str| word.as_bytes().first() == Some(&first);
        DUMMY_WORDS.into_iter().filter(mine).collect()
    };
    (0..=u8::MAX).map(begin_with).collect()
});
/// Stand-ins are short; looking at the beginning alone bounds the work that hostile text can cause.
const LONGEST_DUMMY: usize = 64;

/// Neither a reference to a value that is elsewhere nor a stand-in.
pub(crate) fn not_dummy(value: &[u8]) -> bool {
    plausible(value) && !is_made_up(value)
}

/// The same where a prefix or a name already speaks for a secret: there a row of the alphabet may be one that is in use, and
/// hiding a made-up one does no harm.
pub(crate) fn plausible(value: &[u8]) -> bool {
    !refers(value) && varied(value) && !says_so(value)
}

/// `$NAME`, `${{ name }}`, `<name>`, `%NAME%`, `&name`: where the value comes from. A password may begin with any of these
/// signs, so the rest has to look like a name too.
pub(crate) fn refers(value: &[u8]) -> bool {
    let is_name = |rest: &[u8]| {
        rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && rest
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-'))
    };
    let is_word = |rest: &[u8]| is_name(rest) && !rest.iter().any(u8::is_ascii_digit);
    let opened = match value {
        [b'$', rest @ ..] => is_name(rest),
        [b'@' | b'&' | b'*' | b'#', rest @ ..] => is_word(rest),
        [b'<', .., b'>']
        | [b'{', .., b'}']
        | [b'[', .., b']']
        | [b'%', .., b'%']
        | [b'.', b'.', b'/', ..] => true,
        _ => false,
    };
    let inside = |pair: &[u8]| matches!(pair, [b'$' | b'#' | b'{', b'{'] | [b'$' | b'%', b'(']);
    let closes = |byte: &u8| matches!(byte, b'}' | b')');
    opened || (value.windows(2).any(inside) && value.iter().any(closes)) || contains(value, b"[REDACTED")
}

/// Words of documentation.
fn says_so(value: &[u8]) -> bool {
    let beginning = value.get(..value.len().min(LONGEST_DUMMY)).unwrap_or_default();
    let mut lower = [0u8; LONGEST_DUMMY];
    for (small, byte) in lower.iter_mut().zip(beginning) {
        *small = byte.to_ascii_lowercase();
    }
    let lower = lower.get(..beginning.len()).unwrap_or_default();
    // THREAT: P02, one pass for all words: hostile text has this asked for every few bytes of it.
    (0..lower.len()).any(|at| {
        let rest = lower.get(at..).unwrap_or_default();
        let begins = rest.first().and_then(|first| BY_FIRST.get(usize::from(*first)));
        begins.is_some_and(|words| words.iter().any(|word| rest.starts_with(word.as_bytes())))
    })
}

/// The alphabet or the digits in a row, one word again and again.
fn is_made_up(value: &[u8]) -> bool {
    let beginning = value.get(..value.len().min(LONGEST_DUMMY)).unwrap_or_default();
    is_sequence(beginning) || is_refrain(beginning)
}

/// `1234567890abcdef`, `abcdefgh-1234`: one or two rows of letters or digits, and nothing else. More of them is how
/// people make up keys that have to look like keys.
fn is_sequence(value: &[u8]) -> bool {
    let follows = |a: &u8, b: &u8| b.checked_sub(*a) == Some(1) || (*a == b'9' && *b == b'0');
    let mut rows = value.split(|byte| !byte.is_ascii_alphanumeric()).flat_map(|part| part.chunk_by(follows));
    let all = rows.by_ref().take(3).try_fold(0usize, |n_rows, row| (row.len() >= 4).then_some(n_rows + 1));
    matches!(all, Some(1..=2)) && rows.next().is_none()
}

/// `secretsecret`: a word of letters, repeated to the end.
fn is_refrain(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_alphabetic)
        && (4..=value.len() / 2).any(|length| {
            value.get(..length).is_some_and(|unit| value.chunks(length).all(|chunk| unit.starts_with(chunk)))
        })
}

/// What documentation and tests write where a password goes.
const PASSWORD_WORDS: [&str; 38] = [
    "postgres",
    "redis",
    "guest",
    "mysql",
    "rabbitmq",
    "minio",
    "minioadmin",
    "db_password",
    "pass",
    "passwd",
    "password",
    "passw0rd",
    "passphrase",
    "pwd",
    "pw",
    "secret",
    "token",
    "yyy",
    "zzz",
    "test",
    "tests",
    "testing",
    "key",
    "apikey",
    "user",
    "username",
    "credentials",
    "mypass",
    "mypassword",
    "mysecret",
    "none",
    "null",
    "true",
    "false",
    "string",
    "admin",
    "root",
    "default",
];

/// A password in a URL or on a command line: any text but the usual words of documentation.
pub(crate) fn is_password(value: &[u8]) -> bool {
    value.len() >= 3 && !is_password_word(value) && (not_dummy(value) || dressed(value))
}

pub(crate) fn is_password_word(value: &[u8]) -> bool {
    PASSWORD_WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

/// `{ZqL5…}`: braces around something that is not a name.
fn dressed(value: &[u8]) -> bool {
    matches!(value, [b'{', inner @ .., b'}'] if not_dummy(inner) && inner.iter().any(u8::is_ascii_digit))
}

/// For forms that ordinary identifiers also have: a secret has digits between its letters.
pub(crate) fn mixed(value: &[u8]) -> bool {
    plausible(value) && value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Random letters change case all the time; identifiers do so at word breaks.
pub(crate) fn jumbled(value: &[u8]) -> bool {
    let ups = value.iter().filter(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).count();
    let pairs = value.windows(2);
    let changes = pairs.filter(|pair| matches!(pair, [a, b] if kind(*a) != kind(*b))).count();
    ups * 5 >= value.len() && changes * 3 >= value.len() && plausible(value)
}

fn kind(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// The check digit of payment cards.
pub(crate) fn luhn(value: &[u8]) -> bool {
    let digits = value.iter().rev().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'));
    let weigh = |(place, digit): (usize, u32)| match (place % 2, digit * 2) {
        (0, _) => digit,
        (_, double) => double / 10 + double % 10,
    };
    digits.clone().count() >= 13 && digits.enumerate().map(weigh).sum::<u32>() % 10 == 0
}

/// Base64 of `user:password`, as Docker and the Basic scheme write it.
pub(crate) fn encoded_pair(value: &[u8]) -> bool {
    encode::decode_base64(value)
        .is_some_and(|pair| pair.contains(&b':') && std::str::from_utf8(&pair).is_ok())
}

/// Unlike most, this form is common (three bytes, then letters), so its own first part has to decode to the header of a
/// token.
pub(crate) fn token_header(value: &[u8]) -> bool {
    let header = value.split(|byte| *byte == b'.').next().unwrap_or_default();
    let decoded = encode::decode_base64(header).unwrap_or_default();
    let names: [&[u8]; 5] = [b"\"alg\"", b"\"typ\"", b"\"enc\"", b"\"kid\"", b"\"cty\""];
    decoded.first() == Some(&b'{') && names.iter().any(|name| contains(&decoded, name))
}

/// Random to the eye: no word and no identifier has such neighbors.
pub(crate) fn odd(value: &[u8]) -> bool {
    likeness::oddness(value) >= 8 && not_dummy(value)
}

/// Bytes are compared one by one: a searcher takes longer to make than most values are long.
pub(crate) fn contains(hay: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else { return true };
    memchr::memchr_iter(*first, hay)
        .any(|place| hay.get(place..).is_some_and(|rest| rest.starts_with(needle)))
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
        check(not_dummy, "1234567890abcdef", false);
        check(not_dummy, "1234567890abcdeg", true); // the last letter is out of the row
        check(not_dummy, "abcdefgh-1234", false);
        check(not_dummy, "12345678-abcd-1234-abcd-1234567890ab", true);
        check(not_dummy, "SecretWordSecretWord", false);
        check(not_dummy, "SecretWordSecretWore", true);
        check(is_password, "password", false);
        check(is_password, "s3cr3t!pw", true);
        check(jumbled, "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY", true);
        check(jumbled, "everyOrdinaryIdentifierOfThisLength", false);
        check(encoded_pair, "dXNlcjpwYXNz", true);
        check(encoded_pair, "dXNlcnBhc3Nz", false);
    }
}

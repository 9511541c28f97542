//! Does a value look like a secret, given how it is written and what its name promises?

use super::name::Class;
use crate::{check, likeness};

const SHORTEST: usize = 6;
/// No shorter text is random enough to tell.
const SHORTEST_RANDOM: usize = 8;
/// As much of a value as tells what it is.
const LONGEST_LOOK: usize = 72;
/// Above this, a text is no word; higher where code has its identifiers.
const ODD: i32 = 8;
const ODDER: i32 = 16;

const FILE_ENDINGS: [&str; 16] = [
    ".pem", ".key", ".json", ".txt", ".yaml", ".yml", ".crt", ".p12", ".py", ".rs", ".js", ".html", ".pfx",
    ".jks", ".com", ".php",
];
/// What such names are assigned when they choose a procedure.
const PROCEDURES: [&str; 12] = [
    "sha1", "sha256", "sha512", "md5", "pbkdf2", "bcrypt", "argon2", "base64", "utf8", "utf-8", "oauth2",
    "aes",
];
/// In a bare value, the name of another variable or type.
const OWN_WORDS: [&str; 8] = ["token", "secret", "passw", "credential", "pwd", "apikey", "_key", "auth"];

/// How the value is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Quoted,
    /// `NAME=value`, as in a shell or an environment file: all of the word is the value.
    Environment,
    /// `--password value`, `Server=a;Password=value;`: nothing but a value can stand there.
    Given,
    /// All of its line, behind its name: a configuration file, or code.
    Line,
    Bare,
}

pub(super) fn is_secret(class: Class, manner: Manner, value: &[u8]) -> bool {
    // THREAT: P02, a text of nothing but names and long values would be judged to its end at each of them.
    let value = value.get(..value.len().min(LONGEST_LOOK)).unwrap_or_default();
    let n_escapes = value.iter().filter(|byte| **byte == b'%').count();
    if value.len() < SHORTEST + 2 * n_escapes || value.iter().any(u8::is_ascii_whitespace) {
        return false;
    }
    let telling = match (class, manner) {
        (Class::Password, Manner::Quoted) => is_random(value, ODD) || is_chosen(value),
        (Class::Password, Manner::Given) => is_random(value, ODD) || has_both(value) || is_phrase(value),
        (Class::Password, Manner::Environment) => is_chosen(value) || is_phrase(value),
        (Class::Password, Manner::Line) => is_random(value, ODD) || (is_chosen(value) && !is_code(value)),
        (Class::Secret, Manner::Environment) => {
            is_random(value, ODD) || (value.len() >= 8 && has_digit(value) && !is_wordy(value))
        }
        (Class::Secret, Manner::Quoted | Manner::Given) => is_random(value, ODD),
        (Class::Secret, Manner::Line) | (_, Manner::Bare) => is_random(value, ODDER) && !is_code(value),
    };
    // The cheap questions first: the names are frequent, and most values are words.
    telling && !is_number(value) && !elsewhere(value) && check::not_dummy(value)
}

/// Paths, addresses, file names, calls and expressions lead to a value; they are not one.
fn elsewhere(value: &[u8]) -> bool {
    let pairs = |pair: &[u8]| {
        matches!(
            pair,
            [b'[', b'^' | b'a' | b'A' | b'0']
                | [b':', b':']
                | [b'-', b'>']
                | [b'(', b')']
                | [b'(', b'?']
                | [b'.', b'*' | b'+']
                | [b'{', b'}']
                | [b'%', b's']
                | [b'\\', b'd' | b'w' | b's' | b'S' | b'b' | b'[' | b'.']
        )
    };
    let path = matches!(value, [b'/', ..]) && !is_base64(value);
    path || matches!(value, [b'~', ..] | [b'.', b'/', ..] | [b'.', b'.', ..] | [_, b':', b'\\' | b'/', ..])
        || value.windows(2).any(pairs)
        || is_procedure(value)
        || check::contains(value, b"://")
        || [b"arn:".as_slice(), b"SHA256:"].iter().any(|head| value.starts_with(head))
        || FILE_ENDINGS.iter().any(|ending| value.ends_with(ending.as_bytes()))
}

/// The beginning of a long value: is it worth reading on?
pub(super) fn may_be_random(beginning: &[u8]) -> bool {
    // Hardly any random text of that length has no digit, and nothing is quicker to see.
    has_digit(beginning) && likeness::oddness(beginning) >= 0 && !is_wordy(beginning)
}

/// Letters and digits as chance throws them: no word, no identifier, no version.
fn is_random(value: &[u8], odd: i32) -> bool {
    if value.len() < SHORTEST_RANDOM || is_wordy(value) {
        return false;
    }
    let oddness = likeness::oddness(value);
    let has_random_part = || {
        value
            .split(|byte| !byte.is_ascii_alphanumeric())
            .any(|part| part.len() >= 16 && likeness::oddness(part) >= ODDER)
    };
    let jumbled = || odd == ODD && value.len() >= 16 && has_digit(value) && check::jumbled(value);
    oddness >= odd
        || has_random_part()
        || jumbled()
        || is_hex(value)
        || (value.len() >= 16 && oddness >= 0 && has_digit(value))
}

/// One in 64 begins with a slash, like a path.
fn is_base64(value: &[u8]) -> bool {
    let slashes = value.iter().filter(|byte| **byte == b'/').count();
    value.len() >= 20
        && value.iter().all(|byte| crate::class::base64(*byte))
        && slashes * 8 < value.len()
        && likeness::oddness(value) >= 2 * ODDER
}

fn is_hex(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    value.len() >= 16 && value.iter().all(u8::is_ascii_hexdigit) && digits >= 4 && digits < value.len()
}

/// `65536`, `49699u32`, `0x1f`: code counts with them.
fn is_number(value: &[u8]) -> bool {
    let end = [
        b"u8".as_slice(),
        b"u16",
        b"u32",
        b"u64",
        b"usize",
        b"i8",
        b"i16",
        b"i32",
        b"i64",
        b"UL",
        b"L",
        b"n",
    ];
    let stem = end.iter().find_map(|suffix| value.strip_suffix(*suffix)).unwrap_or(value);
    let hex = stem.strip_prefix(b"0x").unwrap_or_default();
    let code = stem.len() < value.len() && stem.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_');
    code || (!hex.is_empty()
        && hex.len() <= 16
        && hex.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'_'))
}

fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// `unexpected-token-2`, `jackson-0.11.2`, `X509_KEY_USAGE`: words and short numbers between separators.
fn is_wordy(value: &[u8]) -> bool {
    if value.iter().any(|byte| b"!@#$%^&*+=~?".contains(byte)) {
        return false;
    }
    let separator = |byte: &u8| !byte.is_ascii_alphanumeric() && byte.is_ascii();
    let plain = |part: &[u8]| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        let turns = part.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).count();
        part.len() <= 3
            || digits == part.len() && digits <= 8
            || turns <= 3 && digits <= 4 && likeness::oddness(part) <= 4
    };
    value.split(separator).all(plain)
}

/// A word with a digit or a sign, as people make them up: `hunter2`, `P@ssword`.
fn is_chosen(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let letters = has(u8::is_ascii_alphabetic);
    let both_cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let marked = value.windows(3).any(|three| {
        matches!(three, [a, mark, b] if b"!@#$%^&*".contains(mark) && a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric())
    });
    let signs = has(|byte| b"!@#$%^&*+=~?".contains(byte));
    let long = value.len() > SHORTEST || both_cases || signs;
    let address = check::contains(value, b"@") && check::contains(value, b".");
    let with_digit = has_digit(value) && (letters || !signs) && long;
    !address && (with_digit || (both_cases && marked))
}

fn has_both(value: &[u8]) -> bool {
    is_chosen(value) || (has_digit(value) && value.iter().any(u8::is_ascii_alphabetic))
}

/// The value of a key of which nothing else is known: hexadecimal or a UUID, which no identifier looks like, or quite
/// random.
pub(super) fn is_key(value: &[u8]) -> bool {
    // The sign that ends a key or the text behind it is as random as the rest.
    let value = value.get(..value.len().min(LONGEST_LOOK)).unwrap_or_default();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let hex = || value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit);
    let uuid = || {
        value.len() == 36
            && value.split(|byte| *byte == b'-').map(<[u8]>::len).eq([8, 4, 4, 4, 12])
            && value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
    };
    let random = || {
        value.len() >= 20
            && value.iter().all(|byte| crate::class::base64(*byte) || matches!(byte, b'-' | b'_' | b'.'))
            && likeness::oddness(value) >= 2 * ODDER
    };
    digits >= 3 && digits < value.len() && (hex() || uuid() || random())
}

/// For a place where only a value can stand, a word is enough.
fn is_phrase(value: &[u8]) -> bool {
    value.len() >= 8 && value.iter().any(u8::is_ascii_alphabetic) && !check::is_password_word(value)
}

fn is_procedure(value: &[u8]) -> bool {
    value.len() <= 24 && PROCEDURES.iter().any(|name| check::contains_folded(value, name.as_bytes()))
}

/// `config.token2`, `MY_TOKEN_2`, `Sha256Token`: in code, a value without quotes is the name of something.
fn is_code(value: &[u8]) -> bool {
    let name = |part: &[u8]| {
        part.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && part.iter().all(|byte| crate::class::word(*byte))
    };
    let dotted = value.contains(&b'.') && value.split(|byte| *byte == b'.').all(name);
    let constant =
        name(value) && value.contains(&b'_') && value.iter().all(|byte| !byte.is_ascii_lowercase());
    let own = name(value) && OWN_WORDS.iter().any(|word| check::contains_folded(value, word.as_bytes()));
    dotted || constant || own || value.ends_with(b":")
}

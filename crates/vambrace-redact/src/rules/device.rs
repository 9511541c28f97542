//! Passwords in the configuration of network devices and of Windows.

use crate::check::{is_password, varied};
use crate::redactor::Found;
use crate::rule::{
    Case,
    Pattern::{Parsed, Regex},
    Rule, Sight, word,
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "cisco-enable-password",
        about: "passwords and hashes of Cisco devices",
        keywords: &["enable password ", "enable secret "],
        pattern: Regex(r"(?i)enable (?:password|secret) (?:level [0-9]{1,2} )?(?:[0-9] )?(?-i:(\S{6,100}))"),
        check: device_word,
        hit: &["enable ", "passwor", "d q72UW", "BLAC4k"],
        miss: &["enable ", "passwor", "d prote", "ction"],
        ..Rule::NAMED
    },
    Rule {
        name: "cisco-coded-password",
        about: "passwords of Cisco devices in the reversible form",
        keywords: &["password 7 ", "key 7 ", "secret 7 "],
        pattern: Regex("(?i)(?:password|key|secret) 7 ([0-9]{2}[0-9A-F]{6,100})"),
        right: word,
        check: paired,
        hit: &["passwor", "d 7 09A", "4332457", "DA1D16"],
        miss: &["passwor", "d 7 096", "81A5"],
        ..Rule::NAMED
    },
    Rule {
        name: "cisco-key",
        about: "keys of Cisco devices",
        keywords: &["pac key 0 ", "pac key 6 ", "server-key 0 ", "tacacs-server key ", "radius-server key "],
        pattern: Regex(r"(?i)[a-z-]{3,14} key (?:[0-9] )?(?-i:(\S{6,100}))"),
        check: device_word,
        hit: &["pac key", " 0 MOCa", "4wQ6php", "s"],
        miss: &["pac key", " 0 keyw", "ord"],
        ..Rule::NAMED
    },
    Rule {
        name: "snmp-community",
        about: "communities of SNMP, which serve as passwords",
        keywords: &["snmp-server community "],
        pattern: Regex(r"(?i)snmp-server community (?:[0-9] )?(?-i:(\S{4,64}))"),
        check: community,
        hit: &["snmp-se", "rver co", "mmunity", " q03nZa", "YvYQ RO"],
        miss: &["snmp-se", "rver co", "mmunity", " public", " RO"],
        ..Rule::NAMED
    },
    Rule {
        name: "rdp-password",
        about: "passwords in files of Remote Desktop",
        keywords: &["password 51:b:"],
        pattern: Regex("(?i)password 51:b:([0-9A-F]{32,})"),
        reach: 4096,
        check: varied,
        hit: &[
            "passwor", "d 51:b:", "144E313", "A549B98", "5DAF2DA", "550BC51", "1F38F21", "3CCA196",
            "F58F037", "59F61E0", "AD19",
        ],
        miss: &["passwor", "d 51:b:", "16B4679", "5FD1A4A", "FA6EAB8", "31A2FF9", "433"],
        ..Rule::NAMED
    },
    Rule {
        name: "unattend-password",
        about: "passwords in answer files of the setup of Windows",
        keywords: &["<administratorpassword>", "<password>"],
        case: Case::Any,
        pattern: Parsed(Sight::Lines, unattended),
        reach: 400,
        hit: &["<AdministratorPassword>", "<Value>", "Kq7", "vTz2w", "</Value>"],
        miss: &["<AdministratorPassword>", "<Name>", "Kq7", "vTz2w", "</Name>"],
        ..Rule::NAMED
    },
];

/// Prose goes on with a word (`enable password authentication`), so there is a digit or a sign.
fn device_word(value: &[u8]) -> bool {
    let odd = |byte: &u8| !byte.is_ascii_alphabetic() && !matches!(byte, b'.' | b',' | b'-' | b'_' | b':');
    let tail = value.get(1..value.len().saturating_sub(1)).unwrap_or_default();
    let hash = matches!(value, [b'$', b'0'..=b'9', b'$', ..]);
    hash || (tail.iter().any(odd) && is_password(value))
}

/// Two digits of a salt, then bytes as pairs of digits.
fn paired(value: &[u8]) -> bool {
    value.len().is_multiple_of(2) && varied(value)
}

/// The usual two are known to everybody.
fn community(value: &[u8]) -> bool {
    !matches!(value, b"public" | b"private" | b"community") && is_password(value)
}

/// `place` is at the element around `<Value>`; white space and line breaks may stand between the two.
fn unattended(seen: &[u8], place: usize) -> Vec<Found> {
    unattended_value(seen, place).into_iter().collect()
}

fn unattended_value(seen: &[u8], place: usize) -> Option<Found> {
    const INNER: &[u8] = b"<value>";
    let element = memchr::memchr(b'>', seen.get(place..)?)? + 1;
    let gap = seen.get(place + element..)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let inner = place + element + gap;
    let start = inner + INNER.len();
    seen.get(inner..start).filter(|found| found.eq_ignore_ascii_case(INNER))?;
    let rest = seen.get(start..)?;
    let end = start + memchr::memchr2(b'<', b'\n', rest)?;
    seen.get(start..end).filter(|value| is_password(value))?;
    Some(Found { value: start..end, extent: place..end })
}

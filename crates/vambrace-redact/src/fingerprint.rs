//! A secret's short name: enough to recognize it again, and nothing to learn it from.
//!
//! Two kinds. The record's fingerprints are keyed, so that a copy of the record alone lets nobody try values. A baseline
//! lies in the project for everybody to read; it holds what somebody has decided is no secret.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use vambrace_types::Secret;

use crate::cleaned::without_controls;

/// Written as 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    fn of(digest: &[u8]) -> Fingerprint {
        Fingerprint(digest.first_chunk().copied().unwrap_or_default())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A text that is no fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadFingerprint;

impl fmt::Display for BadFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fingerprint is 32 hexadecimal digits")
    }
}

impl std::error::Error for BadFingerprint {}

impl FromStr for Fingerprint {
    type Err = BadFingerprint;

    fn from_str(text: &str) -> Result<Fingerprint, BadFingerprint> {
        // A sign would be taken by the number's own parser.
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(BadFingerprint);
        }
        let number = u128::from_str_radix(text, 16).map_err(|_| BadFingerprint)?;
        Ok(Fingerprint(number.to_be_bytes()))
    }
}

/// The key of the record's fingerprints. Without it nobody can tell which value one belongs to.
#[derive(Debug, Clone)]
pub struct FingerprintKey(Secret<Vec<u8>>);

impl FingerprintKey {
    pub fn new(key: Secret<Vec<u8>>) -> FingerprintKey {
        FingerprintKey(key)
    }

    /// Of the value alone, so that whoever looks it up need not know which rule found it.
    pub fn fingerprint(&self, value: &[u8]) -> Fingerprint {
        keyed(self.0.expose(), value)
    }
}

/// Control characters do not count: they are dropped from everything that is shown.
pub(crate) fn keyed(key: &[u8], value: &[u8]) -> Fingerprint {
    // HMAC takes keys of any length, so there is no other case.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Fingerprint([0; 16]) };
    mac.update(&without_controls(value));
    Fingerprint::of(&mac.finalize().into_bytes())
}

/// Findings that somebody has looked at and accepted: an example in the documentation, a key of the test suite.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    salt: String,
    accepted: HashSet<Fingerprint>,
}

impl Baseline {
    pub fn new(salt: &str, accepted: impl IntoIterator<Item = Fingerprint>) -> Baseline {
        Baseline { salt: salt.to_owned(), accepted: accepted.into_iter().collect() }
    }

    pub fn fingerprint(salt: &str, rule: &str, value: &[u8]) -> Fingerprint {
        let mut hash = Sha256::new();
        for part in [salt.as_bytes(), rule.as_bytes(), &without_controls(value)] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Fingerprint::of(&hash.finalize())
    }

    pub fn is_empty(&self) -> bool {
        self.accepted.is_empty()
    }

    pub fn len(&self) -> usize {
        self.accepted.len()
    }

    pub(crate) fn accepts(&self, rule: &str, value: &[u8]) -> bool {
        !self.is_empty() && self.accepted.contains(&Baseline::fingerprint(&self.salt, rule, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_as_it_is_written() {
        let key = FingerprintKey::new(Secret::new(vec![7; 32]));
        let fingerprint = key.fingerprint(b"plain value");
        let text = fingerprint.to_string();
        assert_eq!(text.len(), 32);
        assert_eq!(text.parse(), Ok(fingerprint));
        assert_eq!(text.to_uppercase().parse(), Ok(fingerprint));
        let short = text.get(1..).unwrap();
        for wrong in ["", "0", short, &format!("+{short}"), &format!("{text}0"), &"g".repeat(32)] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(BadFingerprint), "{wrong}");
        }
    }

    #[test]
    fn another_key_salt_rule_or_value_is_another_fingerprint() {
        let key = |byte: u8| FingerprintKey::new(Secret::new(vec![byte; 32]));
        assert_ne!(key(1).fingerprint(b"value"), key(2).fingerprint(b"value"));
        assert_ne!(key(1).fingerprint(b"value"), key(1).fingerprint(b"valuf"));
        assert_eq!(key(1).fingerprint(b"va\x00lue"), key(1).fingerprint(b"value"));
        let one = Baseline::fingerprint("salt", "rule", b"value");
        assert_eq!(Baseline::fingerprint("salt", "rule", b"value\x1b"), one);
        assert_ne!(Baseline::fingerprint("salty", "rule", b"value"), one);
        // The parts do not run together.
        assert_ne!(Baseline::fingerprint("saltr", "ule", b"value"), one);
        assert_ne!(Baseline::fingerprint("salt", "rulev", b"alue"), one);
    }
}

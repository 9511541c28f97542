//! Keys of other services and agents. Only their digests are kept.

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use vambrace_types::Role;

/// What is kept of a secret: its SHA-256. Our secrets are random, so nothing slower is needed.
#[derive(Clone, Copy)]
pub struct KeyDigest([u8; 32]);

impl std::fmt::Debug for KeyDigest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("KeyDigest")
    }
}

impl KeyDigest {
    pub fn of(secret: &str) -> KeyDigest {
        KeyDigest(Sha256::digest(secret.as_bytes()).into())
    }

    pub fn from_bytes(digest: [u8; 32]) -> KeyDigest {
        KeyDigest(digest)
    }

    /// 64 hexadecimal digits, as in `secret_sha256`.
    pub fn from_hex(text: &str) -> Option<KeyDigest> {
        let mut digest = [0; 32];
        if text.len() != 2 * digest.len() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (byte, at) in digest.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
        }
        Some(KeyDigest(digest))
    }

    pub fn to_hex(&self) -> String {
        crate::token::hex(&self.0)
    }

    /// Takes the same time wherever the first difference is, and however long the secrets were.
    pub(crate) fn matches(&self, other: &KeyDigest) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

#[derive(Debug, Clone)]
pub struct ApiKey {
    pub caller_id: String,
    pub role: Role,
    pub digest: KeyDigest,
    /// Whether it may say on whose behalf it calls.
    pub may_assert_identity: bool,
    /// Whether it may look at everybody's records and answer questions.
    pub operator: bool,
}

/// Every entry is compared, so the time does not tell which one was close.
pub(crate) fn find<'k>(keys: &'k [ApiKey], offered: &str) -> Option<&'k ApiKey> {
    let offered = KeyDigest::of(offered);
    keys.iter()
        .fold(None, |found, key| if bool::from(key.digest.matches(&offered)) { Some(key) } else { found })
}

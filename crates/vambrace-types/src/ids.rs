//! Identifiers. Randomness and time are arguments, so this stays pure.

use crate::Timestamp;

/// Names one call, sorts by time: `call_` and 26 characters of Crockford base 32 (48 bits of time, 80 of chance).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(String);

impl CallId {
    pub fn new(now: Timestamp, chance: [u8; 10]) -> CallId {
        let time = u128::from(u64::try_from(now.millis()).unwrap_or(0) & 0xffff_ffff_ffff);
        let chance = chance.iter().fold(0u128, |bits, byte| (bits << 8) | u128::from(*byte));
        CallId(base32("call_", time << 80 | chance))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn base32(before: &str, mut bits: u128) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut text = [b'0'; 26];
    for place in text.iter_mut().rev() {
        let digit = usize::try_from(bits & 31).unwrap_or(0);
        *place = ALPHABET.get(digit).copied().unwrap_or(b'0');
        bits >>= 5;
    }
    [before, str::from_utf8(&text).unwrap_or_default()].concat()
}

/// A conversation, by the rule of specification 003.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdError {
    Empty,
    TooLong,
    DotDot,
    Separator,
    Control,
}

impl SessionId {
    pub const LONGEST: usize = 256;

    /// Not empty, at most 256 bytes, no `..`, no slash or backslash, no NUL or control character except tab.
    pub fn parse(text: &str) -> Result<SessionId, IdError> {
        if text.is_empty() {
            return Err(IdError::Empty);
        }
        if text.len() > Self::LONGEST {
            return Err(IdError::TooLong);
        }
        if text.contains("..") {
            return Err(IdError::DotDot);
        }
        if text.contains(['/', '\\']) {
            return Err(IdError::Separator);
        }
        if text.chars().any(|c| c.is_control() && c != '\t') {
            return Err(IdError::Control);
        }
        Ok(SessionId(text.to_owned()))
    }

    /// `sess_` and 32 hexadecimal digits.
    pub fn random(chance: [u8; 16]) -> SessionId {
        // One number instead of sixteen: every call without a session has one of these.
        SessionId(format!("sess_{:032x}", u128::from_be_bytes(chance)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for IdError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            IdError::Empty => "session id is empty",
            IdError::TooLong => "session id is longer than 256 bytes",
            IdError::DotDot => "session id contains `..`",
            IdError::Separator => "session id contains a slash or backslash",
            IdError::Control => "session id contains a control character",
        })
    }
}

impl std::error::Error for IdError {}

/// The device a root was opened on; a call whose root has moved to another is refused (specification 004).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VolumeId(u64);

impl VolumeId {
    pub const fn new(device: u64) -> VolumeId {
        VolumeId(device)
    }

    pub const fn device(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn session(text: &str, expected: Result<(), IdError>) {
        assert_eq!(SessionId::parse(text).map(|_| ()), expected, "{text:?}");
    }

    #[test]
    fn session_ids_follow_specification_003() {
        session("thread-C1-1700000000.1", Ok(()));
        session("with\ttab", Ok(()));
        session("", Err(IdError::Empty));
        session(&"a".repeat(256), Ok(()));
        session(&"a".repeat(257), Err(IdError::TooLong));
        session("a..b", Err(IdError::DotDot));
        session("a.b", Ok(()));
        session("a/b", Err(IdError::Separator));
        session("a\\b", Err(IdError::Separator));
        session("a\0b", Err(IdError::Control));
        session("a\nb", Err(IdError::Control));
        session("a\u{7f}b", Err(IdError::Control));
    }

    #[test]
    fn call_ids_sort_by_time() {
        let early = CallId::new(Timestamp::from_millis(1), [0xff; 10]);
        let late = CallId::new(Timestamp::from_millis(2), [0; 10]);
        assert!(early < late);
        assert_eq!(early.as_str().len(), "call_".len() + 26);
    }
}

//! Slack's signature of a request: `v0=` and the HMAC-SHA256 of `v0:TIMESTAMP:BODY`.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use vambrace_types::Timestamp;

/// A request older or newer than this may be a replay. The edge itself is fine.
const WINDOW_SECONDS: u64 = 300;

/// The signing secret, ready for use. The secret itself is not kept.
#[derive(Clone)]
pub struct SlackKey(Hmac<Sha256>);

impl fmt::Debug for SlackKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SlackKey")
    }
}

impl SlackKey {
    /// The empty text means none: everybody could sign with it.
    pub fn new(secret: &str) -> Option<SlackKey> {
        let secret = Some(secret.as_bytes()).filter(|secret| !secret.is_empty())?;
        Hmac::new_from_slice(secret).ok().map(SlackKey)
    }

    /// What can be said without the body: whether the rest could be one of ours at all.
    fn offered(timestamp: &str, signature: &str, now: Timestamp) -> Option<[u8; 32]> {
        let is_fresh = seconds(timestamp)
            .is_some_and(|then| now.millis().div_euclid(1000).abs_diff(then) <= WINDOW_SECONDS);
        signature.strip_prefix("v0=").and_then(from_hex).filter(|_| is_fresh)
    }

    pub(crate) fn may_sign(timestamp: &str, signature: &str, now: Timestamp) -> bool {
        SlackKey::offered(timestamp, signature, now).is_some()
    }

    pub(crate) fn signed(&self, timestamp: &str, body: &[u8], signature: &str, now: Timestamp) -> bool {
        let Some(offered) = SlackKey::offered(timestamp, signature, now) else { return false };
        let mut mac = self.0.clone();
        for part in [b"v0:", timestamp.as_bytes(), b":", body] {
            mac.update(part);
        }
        mac.verify_slice(&offered).is_ok()
    }
}

/// Digits alone: a sign or a space would be another text with the same number.
fn seconds(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Slack writes small letters; a signature has one spelling.
fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let digit = |digit: &u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(bytes)
}

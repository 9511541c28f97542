//! Short-lived tokens that bind a second call to what the first one showed. A token is a keyed hash of everything it
//! stands for, so nothing has to be stored and a token for one push is worthless for another.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use vambrace_audit::Clock;
use vambrace_types::{ErrorCode, Secret, ToolError};

pub struct Confirmations {
    key: OnceLock<Option<Secret<Vec<u8>>>>,
    make_key: MakeKey,
    clock: Arc<dyn Clock>,
}

/// Where the key comes from: somewhere that outlives this process.
/// Without one there are no tokens.
pub type MakeKey = Box<dyn Fn() -> Option<Secret<Vec<u8>>> + Send + Sync>;

/// How long a person or a model may think about it.
pub(crate) const LIFE: Duration = Duration::from_secs(300);

impl std::fmt::Debug for Confirmations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Confirmations")
    }
}

impl Confirmations {
    /// The key is asked for when the first token is.
    pub fn new(make_key: MakeKey, clock: Arc<dyn Clock>) -> Confirmations {
        Confirmations { key: OnceLock::new(), make_key, clock }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.now().millis() / 1000).unwrap_or(0)
    }

    pub(crate) fn issue(&self, parts: &[&str]) -> String {
        let until = self.now() + LIFE.as_secs();
        let mut token = format!("{until:x}.");
        for byte in self.keyed(until, parts).map(|keyed| keyed.finalize().into_bytes()).unwrap_or_default() {
            token.push_str(&format!("{byte:02x}"));
        }
        token
    }

    pub(crate) fn check(&self, token: &str, parts: &[&str]) -> Result<(), ToolError> {
        let refuse = |why: &str| {
            ToolError::new(ErrorCode::ConfirmationInvalid, format!("The confirmation token {why}."))
                .suggestion("Call again without `confirm` to see what would be done and to get a new token.")
        };
        let (until, digest) = token.split_once('.').ok_or_else(|| refuse("is not one of ours"))?;
        let until = u64::from_str_radix(until, 16).map_err(|_| refuse("is not one of ours"))?;
        let digest = decode(digest).ok_or_else(|| refuse("is not one of ours"))?;
        let keyed = self.keyed(until, parts).ok_or_else(|| refuse("cannot be checked"))?;
        // In constant time, by the library.
        keyed.verify_slice(&digest).map_err(|_| refuse("was made for something else"))?;
        if self.now() > until {
            return Err(refuse("is too old"));
        }
        Ok(())
    }

    fn keyed(&self, until: u64, parts: &[&str]) -> Option<Hmac<Sha256>> {
        let mut keyed =
            Hmac::<Sha256>::new_from_slice(self.key.get_or_init(|| (self.make_key)()).as_ref()?.expose())
                .ok()?;
        keyed.update(&until.to_le_bytes());
        for part in parts {
            // With their lengths, or two neighbours could be cut elsewhere.
            keyed.update(&(part.len() as u64).to_le_bytes());
            keyed.update(part.as_bytes());
        }
        Some(keyed)
    }
}

fn decode(hex: &str) -> Option<Vec<u8>> {
    let bytes = hex.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    bytes.collect()
}

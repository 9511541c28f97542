//! The key that signs heads, and the public half that a verifier pins.

use std::path::{Path, PathBuf};

use ed25519_dalek::{SigningKey, VerifyingKey};
use vambrace_types::Secret;

use crate::chain::{hex, unhex};
use crate::{AuditError, disk};

const SEED_BYTES: usize = 32;

pub(crate) fn private_path(dir: &Path) -> PathBuf {
    dir.join("audit.key")
}

pub(crate) fn public_path(dir: &Path) -> PathBuf {
    dir.join("audit.pub")
}

/// Makes both halves. The caller holds the registry's lock and has seen that there is none yet.
pub(crate) fn make(dir: &Path) -> Result<SigningKey, AuditError> {
    let mut seed = [0u8; SEED_BYTES];
    getrandom::fill(&mut seed).map_err(AuditError::NoRandomness)?;
    let seed = Secret::new(seed);
    let key = SigningKey::from_bytes(seed.expose());
    let public = format!("{}\n", hex(key.verifying_key().as_bytes()));
    disk::replace(&private_path(dir), seed.expose()).map_err(AuditError::io("write", &private_path(dir)))?;
    disk::replace(&public_path(dir), public.as_bytes())
        .map_err(AuditError::io("write", &public_path(dir)))?;
    Ok(key)
}

pub(crate) fn load(dir: &Path) -> Result<SigningKey, AuditError> {
    let path = private_path(dir);
    let bytes = disk::read_small(&path, SEED_BYTES as u64).map_err(AuditError::io("read", &path))?;
    let bytes = Secret::new(bytes);
    let seed: [u8; SEED_BYTES] = bytes
        .expose()
        .as_slice()
        .try_into()
        .map_err(|_| AuditError::broken(&path, "the key does not have 32 bytes"))?;
    let seed = Secret::new(seed);
    Ok(SigningKey::from_bytes(seed.expose()))
}

/// The pinned key, or why there is none.
pub(crate) fn pinned(dir: &Path) -> Result<VerifyingKey, String> {
    let bytes =
        disk::read_small(&public_path(dir), 128).map_err(|cause| format!("cannot be read: {cause}"))?;
    let text = String::from_utf8_lossy(&bytes);
    parse_public(text.trim_end()).ok_or_else(|| "is not a public key".to_owned())
}

pub(crate) fn parse_public(text: &str) -> Option<VerifyingKey> {
    VerifyingKey::from_bytes(&unhex(text)?).ok()
}

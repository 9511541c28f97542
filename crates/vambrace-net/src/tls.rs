//! Whom we trust, and the local authority that programs trust when the operator wants credentials put
//! into HTTPS.

mod client;

pub(crate) use client::Trust;

mod authority;

pub use authority::LocalAuthority;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsError(pub String);

impl std::fmt::Display for TlsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

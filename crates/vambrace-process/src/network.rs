//! The way out of a cage, where there is one: a socket on its loopback that somebody outside serves.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::spec::Mount;

/// Where programs find it. The network is the cage's own, so the port is always free when the first program starts.
pub const PROXY_PORT: u16 = 3128;

/// Where a cage shows what programs trust, when they have to trust our proxy's word too.
pub(crate) const CERTIFICATES: &str = "/run/vambrace/certificates.pem";
pub(crate) const OWN_CERTIFICATE: &str = "/run/vambrace/proxy.pem";

/// What stands between the programs of one job and the world. This door knows sockets; what goes through one is another's.
pub trait Network: Sync {
    /// Takes the listening socket, made inside the cage, and serves it until what it returns is dropped.
    fn serve(&self, listener: OwnedFd) -> io::Result<Box<dyn Send>>;

    /// What programs have to trust beside the system's certificates, as PEM.
    fn certificate(&self) -> Option<String>;

    /// Further variables, such as placeholders of credentials.
    fn variables(&self) -> Vec<(String, String)>;
}

/// Where systems keep all certificates in one file.
const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// LIMIT: a larger bundle is none. The usual one has a quarter of a mebibyte.
const LARGEST_BUNDLE: u64 = 4 << 20;

/// The files in which programs find this certificate, with those of the system and alone.
pub(crate) fn certificates(own: &str) -> Vec<Mount> {
    let text = |at: &str, text: String| Mount::Text { at: PathBuf::from(at), text };
    let system = BUNDLES.iter().find_map(|path| bundle(path)).unwrap_or_default();
    let gap = if system.is_empty() || system.ends_with('\n') { "" } else { "\n" };
    vec![text(CERTIFICATES, format!("{system}{gap}{own}")), text(OWN_CERTIFICATE, own.to_owned())]
}

fn bundle(path: &str) -> Option<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).ok()?;
    let n_read = file.take(LARGEST_BUNDLE + 1).read_to_string(&mut text).ok()?;
    (n_read as u64 <= LARGEST_BUNDLE).then_some(text)
}

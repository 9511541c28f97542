//! Whom we trust: the certificates of the system, and never nobody.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use vambrace_policy::url::Host;

use crate::NetError;

/// How TLS is spoken. There is no setting that skips a certificate.
#[derive(Clone)]
pub(crate) struct Trust(Result<Arc<ClientConfig>, String>);

impl Trust {
    /// The certificates of the system, read once in this process. Reads files.
    pub(crate) fn system() -> Trust {
        static SYSTEM: OnceLock<Trust> = OnceLock::new();
        SYSTEM.get_or_init(|| Trust(system_roots().and_then(config))).clone()
    }

    #[cfg(test)]
    pub(crate) fn only(roots: RootCertStore) -> Trust {
        Trust(config(roots))
    }

    /// TLS over a connection to this host, whose certificate has to be for it.
    pub(crate) async fn wrap(
        &self,
        host: &Host,
        stream: TcpStream,
    ) -> Result<Box<TlsStream<TcpStream>>, NetError> {
        let untrusted = |why: String| NetError::Untrusted { host: host.to_string(), why };
        let config = self.0.clone().map_err(untrusted)?;
        let name = server_name(host).map_err(untrusted)?;
        let connected = TlsConnector::from(config).connect(name, stream).await;
        connected.map(Box::new).map_err(|error| {
            let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            match tls {
                Some(rustls::Error::InvalidCertificate(why)) => untrusted(words(why)),
                Some(why) => NetError::BadAnswer { host: host.to_string(), why: tls_words(why) },
                None => NetError::Unreachable { host: host.to_string(), why: crate::connect::words(&error) },
            }
        })
    }
}

fn tls_words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidMessage(_)
        | rustls::Error::InappropriateMessage { .. }
        | rustls::Error::InappropriateHandshakeMessage { .. } => "it does not speak TLS".to_owned(),
        rustls::Error::PeerIncompatible(_) => "it speaks no kind of TLS that is safe".to_owned(),
        rustls::Error::NoApplicationProtocol => "it does not speak HTTP/1.1".to_owned(),
        rustls::Error::AlertReceived(_) => "it would not speak TLS with us".to_owned(),
        other => other.to_string(),
    }
}

/// What a person can do something about, in words; the rest as the library calls it.
fn words(error: &CertificateError) -> String {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet".to_owned()
        }
        CertificateError::Revoked => "it was revoked".to_owned(),
        CertificateError::UnknownIssuer => "nobody whom this machine trusts has signed it".to_owned(),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another name".to_owned()
        }
        CertificateError::BadEncoding | CertificateError::BadSignature => "it is damaged".to_owned(),
        // An authority's own certificate in place of a server's, above all.
        CertificateError::Other(_) => "it is not a certificate for a server".to_owned(),
        other => other.to_string(),
    }
}

fn server_name(host: &Host) -> Result<ServerName<'static>, String> {
    match host {
        Host::Name(name) => {
            ServerName::try_from(name.clone()).map_err(|_| "no certificate can be for this name".to_owned())
        }
        Host::Address(IpAddr::V4(address)) => Ok(ServerName::IpAddress((*address).into())),
        Host::Address(IpAddr::V6(address)) => Ok(ServerName::IpAddress((*address).into())),
    }
}

fn system_roots() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (n_roots, _) = roots.add_parsable_certificates(found.certs);
    match (n_roots, found.errors.first()) {
        (0, Some(error)) => Err(format!("this machine has no certificates of authorities ({error})")),
        (0, None) => Err("this machine has no certificates of authorities".to_owned()),
        (_, _) => Ok(roots),
    }
}

fn config(roots: RootCertStore) -> Result<Arc<ClientConfig>, String> {
    // Named here and not as the default of the process: whoever sets one cannot change ours.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests;

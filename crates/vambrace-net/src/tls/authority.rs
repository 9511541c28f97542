//! The local authority: a key in memory, and certificates for the hosts that have credentials.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, NameConstraints, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use vambrace_policy::url::{Host, HostPattern};

use super::TlsError;

/// LIMIT: certificates kept. A wildcard binding can have any number of hosts.
const MOST_LEAVES: usize = 64;

/// A certificate authority of this process alone, for the hosts that have credentials.
pub struct LocalAuthority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
    leaves: Mutex<HashMap<Host, Arc<ServerConfig>>>,
}

impl fmt::Debug for LocalAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalAuthority").finish_non_exhaustive()
    }
}

impl LocalAuthority {
    /// One for every host there is, which is for tests only.
    #[cfg(test)]
    pub(crate) fn new() -> Result<LocalAuthority, TlsError> {
        LocalAuthority::make(None)
    }

    /// With a key that never leaves this process, and certificates that count for these hosts only, whoever
    /// may get hold of it.
    pub fn for_hosts<'h>(hosts: impl Iterator<Item = &'h HostPattern>) -> Result<LocalAuthority, TlsError> {
        let mut permitted: Vec<GeneralSubtree> = hosts.map(subtree).collect();
        // A kind of name that is not listed at all would be free.
        if !permitted.iter().any(|tree| matches!(tree, GeneralSubtree::DnsName(_))) {
            permitted.push(GeneralSubtree::DnsName("invalid".to_owned()));
        }
        let is_address = |tree: &GeneralSubtree| matches!(tree, GeneralSubtree::IpAddress(_));
        let excluded = match permitted.iter().any(is_address) {
            true => Vec::new(),
            false => vec![
                GeneralSubtree::IpAddress(CidrSubnet::from_v4_prefix([0; 4], 0)),
                GeneralSubtree::IpAddress(CidrSubnet::from_v6_prefix([0; 16], 0)),
            ],
        };
        LocalAuthority::make(Some(NameConstraints {
            permitted_subtrees: permitted,
            excluded_subtrees: excluded,
        }))
    }

    fn make(constraints: Option<NameConstraints>) -> Result<LocalAuthority, TlsError> {
        let key = KeyPair::generate().map_err(told)?;
        let mut params = dated(Vec::new())?;
        // A name of its own: some programs look for an issuer by name and take the first.
        let number = getrandom::u32().map_err(|error| TlsError(error.to_string()))?;
        params.distinguished_name.push(DnType::CommonName, format!("Vambrace local authority {number:08x}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.name_constraints = constraints;
        let pem = params.self_signed(&key).map_err(told)?.pem();
        Ok(LocalAuthority { pem, issuer: Issuer::new(params, key), leaves: Mutex::default() })
    }

    /// What programs have to trust.
    pub fn certificate_pem(&self) -> &str {
        &self.pem
    }

    /// What the proxy shows to a program that asked for this host.
    pub(crate) fn server(&self, host: &Host) -> Result<Arc<ServerConfig>, TlsError> {
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = leaves.get(host) {
            return Ok(Arc::clone(server));
        }
        let server = Arc::new(self.leaf(host)?);
        if leaves.len() >= MOST_LEAVES {
            leaves.clear();
        }
        leaves.insert(host.clone(), Arc::clone(&server));
        Ok(server)
    }

    fn leaf(&self, host: &Host) -> Result<ServerConfig, TlsError> {
        // A key for each: the serial number comes from the key, and an authority gives none twice.
        let key = KeyPair::generate().map_err(told)?;
        let mut params = dated(vec![host.to_string()])?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &self.issuer).map_err(told)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut server =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .and_then(|builder| {
                    builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key)
                })
                .map_err(|error| TlsError(error.to_string()))?;
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(server)
    }
}

/// The dates are wide because nothing rests on them: the key ends with the process.
fn dated(names: Vec<String>) -> Result<CertificateParams, TlsError> {
    let mut params = CertificateParams::new(names).map_err(told)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2099, 1, 1);
    Ok(params)
}

fn subtree(host: &HostPattern) -> GeneralSubtree {
    match host {
        HostPattern::Exactly(Host::Name(name)) | HostPattern::Beneath(name) => {
            GeneralSubtree::DnsName(name.clone())
        }
        HostPattern::Exactly(Host::Address(address)) => {
            let bits = match address {
                IpAddr::V4(_) => 32,
                IpAddr::V6(_) => 128,
            };
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(*address, bits))
        }
    }
}

fn told(error: rcgen::Error) -> TlsError {
    TlsError(error.to_string())
}

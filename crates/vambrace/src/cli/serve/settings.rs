//! From the configuration to the front's settings.

use std::fs;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ipnet::IpNet;
use vambrace_auth::{ForwardedFor, Rate};
use vambrace_config::resolve::chain_rules;
use vambrace_config::section::{ByClient, Config, Jwt, OverStdio, Xff};
use vambrace_server::A2aSettings;
use vambrace_server::http::{Conformance, HttpSettings, KeyFile, KeySource, Members, ReadKeys};
use vambrace_server::mcp::{Dialogs, DryRun};

pub(super) fn settings(
    config: &Config,
    audit_dir: PathBuf,
    conformance: Conformance,
    dry_run: DryRun,
) -> HttpSettings {
    let server = &config.server;
    HttpSettings {
        rate: Rate { per_second: server.rate_limit.per_second, burst: server.rate_limit.burst },
        trusted_proxies: server.trusted_proxies.iter().filter_map(|proxy| net(&proxy.0)).collect(),
        forwarded_for: match server.xff {
            Xff::Rightmost => ForwardedFor::Rightmost,
            Xff::Leftmost => ForwardedFor::Leftmost,
        },
        allowed_hosts: server.allowed_hosts.clone(),
        allowed_origins: server.allowed_origins.clone(),
        public_url: server.public_url.as_ref().map(|url| url.trim_end_matches('/').to_owned()),
        authorization_servers: authorization_servers(&config.auth.jwt),
        max_body: usize::try_from(server.max_body_bytes).unwrap_or(usize::MAX),
        max_connections: usize::try_from(server.max_connections).unwrap_or(usize::MAX),
        header_timeout: server.header_timeout.duration(),
        idle_timeout: server.idle_timeout.duration(),
        read_timeout: server.read_timeout.duration(),
        write_timeout: server.write_timeout.duration(),
        request_timeout: server.request_timeout.duration(),
        call_timeout: call_timeout(config),
        dialogs: dialogs(config.approvals.by_client),
        dry_run,
        members: config.permissions.require_membership.then(|| members(config)),
        keys: keys(config),
        a2a: A2aSettings {
            enabled: config.a2a.enabled,
            chain: chain_rules(config),
            agent_name: config.agent_name.clone(),
            agent_url: config.a2a.agent_url.clone(),
        },
        conformance,
        tasks: None,
        audit_dir,
    }
}

/// THREAT: P13, over HTTP nobody can tell a person's dialog from an agent that answers itself.
fn dialogs(by_client: ByClient) -> Dialogs {
    match by_client {
        ByClient::Always(true) => Dialogs::All,
        ByClient::Over(OverStdio::Stdio) | ByClient::Always(false) => Dialogs::None,
    }
}

/// What a call needs around the tool itself: to wait its turn, to be looked at and to be recorded.
const AROUND_A_TOOL: Duration = Duration::from_secs(15);

fn call_timeout(config: &Config) -> Duration {
    let longest = config.limits.time_max.duration().saturating_add(AROUND_A_TOOL);
    config.server.request_timeout.duration().max(longest)
}

/// One address is a net of its own. The configuration has checked the text.
fn net(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse().ok().map(|address: std::net::IpAddr| IpNet::from(address)))
}

fn members(config: &Config) -> Members {
    let values = |listed: &[vambrace_config::section::Permission]| {
        listed.iter().map(|permission| permission.value.clone()).collect()
    };
    Members {
        emails: values(&config.permissions.allowed_emails),
        groups: values(&config.permissions.allowed_groups),
    }
}

/// Those that are named, else the issuer of our tokens: who has no token learns here where to get one (RFC 9728).
fn authorization_servers(jwt: &Jwt) -> Vec<String> {
    if jwt.authorization_servers.is_empty() {
        return jwt.issuer.iter().filter(|issuer| is_url(issuer)).cloned().collect();
    }
    jwt.authorization_servers.clone()
}

fn keys(config: &Config) -> Option<KeySource> {
    let jwt = &config.auth.jwt;
    let place = jwt.jwks.clone().filter(|place| !place.is_empty())?;
    if is_url(&place) {
        return Some(KeySource::Url(place, jwt.jwks_ttl.duration()));
    }
    let path = PathBuf::from(place);
    let read: ReadKeys = Arc::new(move |known| read(&path, known));
    Some(KeySource::File(read, jwt.jwks_ttl.duration()))
}

pub(super) fn is_url(place: &str) -> bool {
    place.starts_with("https://") || place.starts_with("http://")
}

/// LIMIT: of a key set.
const LARGEST: u64 = 1024 * 1024;

fn read(path: &std::path::Path, known: Option<SystemTime>) -> io::Result<Option<KeyFile>> {
    let file = fs::File::open(path)?;
    let changed = file.metadata()?.modified().ok();
    if known.is_some() && changed == known {
        return Ok(None);
    }
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is larger than a key set may be"));
    }
    Ok(Some(KeyFile { text, changed }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_is_read_again_when_it_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys.json");
        assert!(read(&path, None).is_err());
        fs::write(&path, "{}").unwrap();
        let first = read(&path, None).unwrap().unwrap();
        assert_eq!(first.text, "{}");
        assert!(read(&path, first.changed).unwrap().is_none());
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(read(&path, first.changed).unwrap().is_some());
        fs::write(&path, "x".repeat(1024 * 1024 + 1)).unwrap();
        assert!(read(&path, None).is_err());
    }

    #[test]
    fn one_address_is_a_net() {
        let rows =
            [("10.0.0.0/8", Some("10.0.0.0/8")), ("10.0.0.1", Some("10.0.0.1/32")), ("::1", Some("::1/128"))];
        for (text, expected) in rows {
            assert_eq!(net(text).map(|net| net.to_string()).as_deref(), expected, "{text}");
        }
    }
}

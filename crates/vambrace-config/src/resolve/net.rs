//! What the sections say about other hosts, in the words of the crates that decide about them and reach them.

use std::collections::BTreeMap;

use vambrace_net::{Braces, Credentials, LocalAuthority, Redirects, WebSettings};
use vambrace_policy::RequestRules;
use vambrace_policy::url::{
    AllowEntry, Binding, BoundPlace, HostPattern, HostRules, OnDnsFailure, ProgramGrant, Ranges, Scheme,
    UrlPolicy, UrlRefusal, UrlSettings, Voice, is_ours, is_token,
};

use vambrace_tools::WebLimits;
use vambrace_types::ByteLimit;

use super::ResolveError;
use crate::Cidr;
use crate::section::{self, AllowedDomain, Config, HttpMethod, ProgramHost};

pub(super) fn url_policy(config: &Config) -> Result<UrlPolicy, ResolveError> {
    let policy = &config.tools.url_policy;
    let allowed = policy.allowed_domains.iter().enumerate().map(|(place, domain)| {
        let key = format!("tools.url_policy.allowed_domains[{place}]");
        match domain {
            AllowedDomain::Host(host) => entry(&key, host, None, None, false),
            AllowedDomain::Exact(exact) => {
                entry(&key, &exact.host, exact.port, exact.cidr.as_ref(), exact.allow_metadata)
            }
        }
    });
    let blocked = policy
        .blocked_domains
        .iter()
        .enumerate()
        .map(|(place, host)| pattern(&format!("tools.url_policy.blocked_domains[{place}]"), host));
    Ok(UrlPolicy::new(UrlSettings {
        enabled: policy.enabled,
        allow_private: policy.allow_private,
        allowed: allowed.collect::<Result<_, _>>()?,
        blocked: blocked.collect::<Result<_, _>>()?,
        on_dns_failure: match policy.on_dns_failure {
            section::OnDnsFailure::Deny => OnDnsFailure::Deny,
            section::OnDnsFailure::Defer => OnDnsFailure::Defer,
        },
        ranges: match policy.ranges {
            section::Ranges::Full => Ranges::Full,
            section::Ranges::Seed000 => Ranges::Seed000,
            section::Ranges::Seed001 => Ranges::Seed001,
            section::Ranges::Seed003 => Ranges::Seed003,
        },
        host_rules: match policy.host_rules {
            section::HostRules::Full => HostRules::Full,
            section::HostRules::Seed001 => HostRules::Seed001,
            section::HostRules::Seed003 => HostRules::Seed003,
        },
        bypass_all: policy.allowed_domains_bypass_all,
    }))
}

fn pattern(key: &str, host: &str) -> Result<HostPattern, ResolveError> {
    HostPattern::parse(host).map_err(|error| ResolveError::Host { key: key.to_owned(), error })
}

fn entry(
    key: &str,
    host: &str,
    port: Option<u16>,
    cidr: Option<&Cidr>,
    allow_metadata: bool,
) -> Result<AllowEntry, ResolveError> {
    let entry = AllowEntry { host: pattern(key, host)?, port, within: None, allow_metadata };
    match cidr {
        None => Ok(entry),
        Some(cidr) => {
            entry.with_cidr(&cidr.0).map_err(|error| ResolveError::Host { key: format!("{key}.cidr"), error })
        }
    }
}

pub(super) fn request_rules(config: &Config) -> RequestRules {
    RequestRules {
        methods: methods(&config.net.methods),
        any_header: config.net.headers == section::HeaderRule::Any,
    }
}

fn methods(listed: &[HttpMethod]) -> Vec<String> {
    listed.iter().map(|method| method_name(*method).to_owned()).collect()
}

pub(super) fn method_name(method: HttpMethod) -> &'static str {
    match method {
        HttpMethod::Get => "GET",
        HttpMethod::Head => "HEAD",
        HttpMethod::Post => "POST",
        HttpMethod::Put => "PUT",
        HttpMethod::Patch => "PATCH",
        HttpMethod::Delete => "DELETE",
    }
}

/// What a declared request could never be.
pub(super) fn declared(config: &Config) -> Result<(), ResolveError> {
    for (place, tool) in config.tools.declared.iter().enumerate() {
        let Some(url) = tool.url.as_ref().filter(|_| tool.kind == section::ToolKind::Http) else { continue };
        let wrong = |field, why: String| ResolveError::DeclaredField { place, field, why };
        let text = |refusal: UrlRefusal| wrong("url", refusal.text(Voice::Seed000));
        vambrace_tools::sample_url(url).map_err(text)?;
        for name in tool.headers.keys() {
            if !is_token(name) || is_ours(&name.to_ascii_lowercase()) {
                return Err(wrong("headers", format!("`{name}` is not a header that a tool can set")));
            }
        }
    }
    Ok(())
}

/// The hosts that programs may reach.
pub(super) fn grants(config: &Config) -> Result<Vec<ProgramGrant>, ResolveError> {
    let grants = config.sandbox.net.iter().enumerate().map(|(place, host)| {
        let key = format!("sandbox.net[{place}]");
        match host {
            ProgramHost::Host(text) => {
                let entry =
                    AllowEntry::for_programs(text).map_err(|error| ResolveError::Host { key, error })?;
                Ok(ProgramGrant { entry, programs: Vec::new() })
            }
            ProgramHost::Exact(exact) => Ok(ProgramGrant {
                entry: {
                    let own = AllowEntry::for_programs(&exact.host);
                    own.map_err(|error| ResolveError::Host { key: key.clone(), error })?;
                    entry(&key, &exact.host, exact.port, exact.cidr.as_ref(), false)?
                },
                programs: exact.programs.clone(),
            }),
        }
    });
    grants.collect()
}

/// For the hosts that have a bound secret, and only if the operator wants it.
fn authority(config: &Config, bound: &Credentials) -> Result<Option<LocalAuthority>, ResolveError> {
    if !config.sandbox.local_ca || bound.0.is_empty() {
        return Ok(None);
    }
    let hosts = bound.0.iter().map(|credential| &credential.binding.place.host);
    LocalAuthority::for_hosts(hosts).map(Some).map_err(ResolveError::Tls)
}

pub(super) fn web(config: &Config) -> Result<WebSettings, ResolveError> {
    let credentials = credentials(config)?;
    Ok(WebSettings {
        policy: url_policy(config)?,
        dns_server: config.net.dns_server.as_ref().and_then(|server| server.0.parse().ok()),
        timeout: config.net.timeout.duration(),
        max_body_bytes: config.net.max_body_bytes,
        redirects: match config.net.redirects {
            section::Redirects::Checked => Redirects::Checked,
            section::Redirects::SameHost => Redirects::SameHost,
            section::Redirects::None => Redirects::None,
        },
        authority: authority(config, &credentials)?,
        credentials,
    })
}

pub(super) fn limits(config: &Config) -> WebLimits {
    let page = &config.tools.web_fetch;
    WebLimits {
        time: config.net.timeout.duration(),
        page_time: page.timeout.duration().min(config.net.timeout.duration()),
        page_length: usize::try_from(page.default_max_length).unwrap_or(usize::MAX),
        body: ByteLimit::new(config.net.max_body_bytes),
        braces: match config.net.brace_sanitise {
            section::BraceSanitise::Text => Braces::Text,
            section::BraceSanitise::All => Braces::All,
        },
    }
}

fn credentials(config: &Config) -> Result<Credentials, ResolveError> {
    let values: BTreeMap<_, _> = config.secrets.env.iter().collect();
    let bound = config.secrets.bindings.iter().enumerate().map(|(place, bound)| {
        let wrong = |why: String| ResolveError::Binding { place, why };
        let value = values.get(&bound.secret).map(|value| value.secret().clone());
        let value = value.filter(|value| !value.expose().is_empty());
        let value = value.ok_or_else(|| wrong(format!("`{}` has no value in secrets.env", bound.secret)))?;
        let binding = Binding {
            secret: bound.secret.clone(),
            place: BoundPlace {
                scheme: match bound.scheme {
                    section::BoundScheme::Https => Scheme::Https,
                    section::BoundScheme::Http => Scheme::Http,
                },
                host: pattern(&format!("secrets.bindings[{place}].host"), &bound.host)?,
                port: bound.port,
                path: bound.path.clone(),
                methods: methods(&bound.methods),
            },
            header: bound.header.clone(),
            format: bound.format.clone(),
        };
        binding.check().map_err(|error| wrong(error.why.to_owned()))?;
        Ok((binding, value))
    });
    let bound = bound.collect::<Result<_, ResolveError>>()?;
    Credentials::new(bound).map_err(|why| ResolveError::Binding { place: 0, why })
}

//! The operator's settings for addresses, and the one place where they are applied.

use std::net::IpAddr;

use super::host::NameKind;
use super::port::PortKind;
use super::{AddressClass, AllowEntry, Host, HostPattern, Listing, UrlRefusal, WebUrl, address, host, port};
use crate::Named;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranges {
    Full,
    Seed000,
    Seed001,
    Seed003,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRules {
    Full,
    Seed001,
    Seed003,
}

/// What a name without an address means before the request (decision C1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDnsFailure {
    Deny,
    /// The request is tried, and fails or is checked there.
    Defer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlSettings {
    pub enabled: bool,
    pub allow_private: bool,
    pub allowed: Vec<AllowEntry>,
    pub blocked: Vec<HostPattern>,
    pub on_dns_failure: OnDnsFailure,
    pub ranges: Ranges,
    pub host_rules: HostRules,
    /// Specification 003's letter: a listed host skips every check.
    pub bypass_all: bool,
}

impl Default for UrlSettings {
    fn default() -> UrlSettings {
        UrlSettings {
            enabled: true,
            allow_private: false,
            allowed: Vec::new(),
            blocked: Vec::new(),
            on_dns_failure: OnDnsFailure::Deny,
            ranges: Ranges::Full,
            host_rules: HostRules::Full,
            bypass_all: false,
        }
    }
}

/// What a host may resolve to, and the rule that says so. Given out by `UrlPolicy` for one URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    rule: String,
    pub(super) basis: Basis,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Basis {
    /// The operator switched the rules off, for all hosts or for this one.
    Unchecked,
    /// The same for a program: what was granted to it still says at which addresses.
    Granted(Vec<AllowEntry>),
    Ordinary,
    /// The operator's entries for host and port. One that takes an address is enough.
    Listed(Vec<AllowEntry>),
    /// A place that the operator named for this one kind of request. It may be on a private network and on
    /// this machine, never where metadata are.
    Named,
}

impl Terms {
    /// The rule that let the URL pass, and where it was set.
    pub fn rule(&self) -> &str {
        &self.rule
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlPolicy(UrlSettings);

impl UrlPolicy {
    pub fn new(settings: UrlSettings) -> UrlPolicy {
        UrlPolicy(settings)
    }

    pub fn settings(&self) -> &UrlSettings {
        &self.0
    }

    /// Everything that can be said before a name is resolved. An address in place of a name is judged whole.
    pub fn admit(&self, url: &WebUrl) -> Result<Terms, UrlRefusal> {
        let terms = self.terms(url);
        self.admit_on(&terms, url)?;
        Ok(terms)
    }

    /// The same for a program, which reaches only what was granted to it. A grant counts as an entry of
    /// `allowed_domains`; where the operator has one for the host too, an address that either takes is taken.
    /// What the operator blocks, no grant opens.
    pub fn admit_granted(&self, url: &WebUrl, granted: &[AllowEntry]) -> Result<Terms, UrlRefusal> {
        let granted = granted.iter().filter(|entry| entry.matches(url.host(), url.port()));
        let mut entries: Vec<AllowEntry> = granted.cloned().collect();
        if entries.is_empty() {
            // What nobody may reach is called by its name, for the alerts: a program looks for it like a model does.
            self.admit(url)?;
            return Err(UrlRefusal::NotListed { host: url.host().to_string(), port: url.port() });
        }
        let basis = match self.terms(url).basis {
            Basis::Unchecked | Basis::Granted(_) => Basis::Granted(entries),
            Basis::Ordinary | Basis::Named => Basis::Listed(entries),
            Basis::Listed(own) => {
                entries.extend(own);
                Basis::Listed(entries)
            }
        };
        let terms = Terms { rule: "sandbox.net".to_owned(), basis };
        self.admit_on(&terms, url)?;
        Ok(terms)
    }

    /// For a request that goes to one place of the operator's naming. Whatever else is switched off, metadata
    /// and link-local addresses stay closed: a name that the operator trusts may come to lead there. THREAT:
    /// P05.
    pub fn admit_named(&self, url: &WebUrl, named: &Named) -> Result<Terms, UrlRefusal> {
        if *url.host() != named.host || url.port() != named.port {
            return Err(UrlRefusal::NotListed { host: url.host().to_string(), port: url.port() });
        }
        let terms = Terms { rule: named.rule.clone(), basis: Basis::Named };
        self.admit_on(&terms, url)?;
        Ok(terms)
    }

    /// One address of many: all of them have to pass.
    pub fn check(&self, terms: &Terms, host: &Host, address: IpAddr) -> Result<(), UrlRefusal> {
        // An address in place of a name has one answer, itself.
        if let Host::Address(own) = host
            && *own != address
        {
            let allowed = own.to_string();
            return Err(UrlRefusal::Outside { host: host.to_string(), address, allowed });
        }
        let (entries, taken) = match &terms.basis {
            Basis::Unchecked => return Ok(()),
            Basis::Granted(entries) if entries.iter().any(|entry| entry.holds(address)) => return Ok(()),
            Basis::Granted(entries) => return Err(outside(host, address, entries)),
            Basis::Ordinary => (None, self.takes(address)),
            Basis::Named => (None, named_takes(address)),
            Basis::Listed(entries) => {
                (Some(entries), entries.iter().any(|entry| self.entry_takes(entry, address)))
            }
        };
        if !taken {
            return Err(refused(host, address, entries.map(Vec::as_slice)));
        }
        let itself = Host::Address(address);
        let blocked = self.0.blocked.iter().find(|pattern| pattern.matches(&itself));
        match blocked {
            Some(pattern) => {
                Err(UrlRefusal::Blocked { host: host.to_string(), pattern: pattern.to_string() })
            }
            None => Ok(()),
        }
    }

    /// The operator's lists.
    pub(super) fn terms(&self, url: &WebUrl) -> Terms {
        let key = "tools.url_policy";
        if !self.0.enabled {
            return Terms { rule: format!("{key}.enabled"), basis: Basis::Unchecked };
        }
        let matching: Vec<(usize, &AllowEntry)> = self.matching(url).collect();
        match matching.first() {
            None => Terms { rule: key.to_owned(), basis: Basis::Ordinary },
            Some(_) if self.0.bypass_all => {
                Terms { rule: format!("{key}.allowed_domains_bypass_all"), basis: Basis::Unchecked }
            }
            Some((place, _)) => Terms {
                rule: format!("{key}.allowed_domains[{place}]"),
                basis: Basis::Listed(matching.into_iter().map(|(_, entry)| entry.clone()).collect()),
            },
        }
    }

    fn matching<'p>(&'p self, url: &'p WebUrl) -> impl Iterator<Item = (usize, &'p AllowEntry)> {
        let numbered = self.0.allowed.iter().enumerate();
        numbered.filter(|(_, entry)| entry.matches(url.host(), url.port()))
    }

    fn admit_on(&self, terms: &Terms, url: &WebUrl) -> Result<(), UrlRefusal> {
        self.admit_list(terms, url)?;
        self.admit_metadata(terms, url)?;
        self.admit_name(terms, url)?;
        if let Host::Address(address) = url.host() {
            self.check(terms, url.host(), *address)?;
        }
        self.admit_port(terms, url)
    }

    /// Who is on both lists is allowed if the entry there says more about the host than any that blocks it.
    pub(super) fn admit_list(&self, terms: &Terms, url: &WebUrl) -> Result<(), UrlRefusal> {
        let blocked = self.0.blocked.iter().filter(|pattern| pattern.matches(url.host()));
        let blocked = blocked.max_by_key(|pattern| pattern.weight());
        let allowed = self.matching(url).map(|(_, entry)| entry.host.weight()).max();
        match (&terms.basis, blocked) {
            (Basis::Unchecked | Basis::Granted(_), _) | (_, None) => Ok(()),
            // Named exactly, so only what blocks exactly this host says as much.
            (Basis::Named, Some(pattern)) if pattern.weight() < usize::MAX => Ok(()),
            (Basis::Named, Some(pattern)) => {
                Err(UrlRefusal::Blocked { host: url.host().to_string(), pattern: pattern.to_string() })
            }
            (Basis::Ordinary | Basis::Listed(_), Some(pattern)) if allowed > Some(pattern.weight()) => Ok(()),
            (Basis::Ordinary | Basis::Listed(_), Some(pattern)) => {
                Err(UrlRefusal::Blocked { host: url.host().to_string(), pattern: pattern.to_string() })
            }
        }
    }

    pub(super) fn admit_metadata(&self, terms: &Terms, url: &WebUrl) -> Result<(), UrlRefusal> {
        let name = match url.host() {
            Host::Name(name) => name,
            Host::Address(address) => {
                let checked = self.check(terms, url.host(), *address);
                return checked.or_else(|refusal| match refusal.is_metadata() {
                    true => Err(refusal),
                    false => Ok(()),
                });
            }
        };
        let is_open = match &terms.basis {
            Basis::Unchecked | Basis::Granted(_) => true,
            Basis::Ordinary | Basis::Named => false,
            // An entry that names its addresses is judged by them alone.
            Basis::Listed(entries) => {
                entries.iter().any(|entry| entry.allow_metadata || entry.within.is_some())
            }
        };
        match host::kind(name, self.0.host_rules) {
            NameKind::Metadata if !is_open => Err(UrlRefusal::Metadata { host: name.clone(), address: None }),
            NameKind::Metadata
            | NameKind::Plain
            | NameKind::Localhost
            | NameKind::Kubernetes
            | NameKind::Local => Ok(()),
        }
    }

    /// The form of a name stands for addresses nobody has looked up yet, so where those may be private it may
    /// be local.
    pub(super) fn admit_name(&self, terms: &Terms, url: &WebUrl) -> Result<(), UrlRefusal> {
        let (Host::Name(name), Basis::Ordinary) = (url.host(), &terms.basis) else {
            return Ok(());
        };
        let host = name.clone();
        match host::kind(name, self.0.host_rules) {
            NameKind::Plain | NameKind::Metadata => Ok(()),
            NameKind::Kubernetes => Err(UrlRefusal::Kubernetes { host }),
            NameKind::Localhost | NameKind::Local if self.0.allow_private => Ok(()),
            NameKind::Localhost => Err(UrlRefusal::Localhost { host }),
            NameKind::Local => Err(UrlRefusal::LocalName { host }),
        }
    }

    pub(super) fn admit_port(&self, terms: &Terms, url: &WebUrl) -> Result<(), UrlRefusal> {
        let port = url.port();
        let is_open = match (&terms.basis, port::kind(port)) {
            (_, PortKind::Open) | (Basis::Unchecked | Basis::Granted(_), PortKind::Blocked) => true,
            (_, PortKind::Never) | (Basis::Ordinary, PortKind::Blocked) => false,
            (Basis::Named, PortKind::Blocked) => true,
            (Basis::Listed(entries), PortKind::Blocked) => {
                entries.iter().any(|entry| entry.port == Some(port))
            }
        };
        match is_open {
            true => Ok(()),
            false => Err(UrlRefusal::Port { host: url.host().to_string(), port }),
        }
    }

    /// The rule for hosts that nobody listed.
    fn takes(&self, address: IpAddr) -> bool {
        match address::refused_by(self.0.ranges, address) {
            None | Some(AddressClass::Public) => true,
            Some(AddressClass::PrivateNetwork | AddressClass::Loopback | AddressClass::LinkLocal) => {
                self.0.allow_private
            }
            Some(AddressClass::Metadata | AddressClass::Special(_)) => false,
        }
    }

    /// Decision C4.
    fn entry_takes(&self, entry: &AllowEntry, address: IpAddr) -> bool {
        let class = super::classify(address);
        match (entry.within, class) {
            (_, AddressClass::Metadata) => entry.allow_metadata && entry.holds(address),
            (Some(_), _) => entry.holds(address),
            (None, AddressClass::PrivateNetwork) => true,
            (None, _) => self.takes(address),
        }
    }
}

fn named_takes(address: IpAddr) -> bool {
    match super::classify(address) {
        AddressClass::Public | AddressClass::PrivateNetwork | AddressClass::Loopback => true,
        AddressClass::LinkLocal | AddressClass::Metadata | AddressClass::Special(_) => false,
    }
}

fn outside(host: &Host, address: IpAddr, entries: &[AllowEntry]) -> UrlRefusal {
    let ranges = entries.iter().filter_map(|entry| entry.within).map(|net| net.to_string());
    let allowed = ranges.collect::<Vec<_>>().join(", ");
    UrlRefusal::Outside { host: host.to_string(), address, allowed }
}

fn refused(host: &Host, address: IpAddr, entries: Option<&[AllowEntry]>) -> UrlRefusal {
    let text = host.to_string();
    match (super::classify(address), host, entries) {
        (AddressClass::Metadata, Host::Address(_), _) => {
            UrlRefusal::Metadata { host: text, address: Some(address) }
        }
        (AddressClass::Public, _, Some(entries)) => outside(host, address, entries),
        (class, _, entries) => {
            let listing = match entries {
                None => Listing::Nothing,
                Some(entries) if entries.iter().any(|entry| entry.within.is_none()) => Listing::Plain,
                Some(_) => Listing::Ranges,
            };
            UrlRefusal::Address { host: text, address, class, listing }
        }
    }
}

#[cfg(test)]
mod tests;

//! The operator's lists of hosts.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use super::host::{self, NameKind};
use super::{Host, HostRules};

/// A host name, `*.name` for everything beneath it, or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostPattern {
    Exactly(Host),
    /// The name without the star and its dot. The name itself is not meant.
    Beneath(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPatternError {
    pub text: String,
    pub why: &'static str,
}

impl HostPattern {
    /// Normalised as a URL's host is: case, IDNA, a dot at the end, odd spellings of addresses, brackets.
    pub fn parse(text: &str) -> Result<HostPattern, HostPatternError> {
        let wrong = |why| HostPatternError { text: text.to_owned(), why };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(wrong("a host is missing"));
        }
        if trimmed.contains("://") {
            return Err(wrong("a host stands alone, without a scheme such as `https://`"));
        }
        if trimmed.contains(['/', '\\', '?', '#']) {
            return Err(wrong("a host stands alone, without a path"));
        }
        if trimmed.contains(['@', '%']) {
            return Err(wrong("a host has no `@` and no `%`, so no user, no escapes and no zone"));
        }
        match trimmed.strip_prefix('*') {
            None => Ok(HostPattern::Exactly(exactly(trimmed).map_err(wrong)?)),
            Some("") => Err(wrong("`*` alone would list every host; name the hosts")),
            Some(rest) => match rest.strip_prefix('.').map(exactly) {
                None => Err(wrong("a star stands for whole parts at the front, as in `*.example.com`")),
                Some(Err(why)) => Err(wrong(why)),
                // LIMIT: `*.co.uk` passes; what is a registry's own cannot be seen in a name.
                Some(Ok(Host::Name(name))) if name.contains('.') => Ok(HostPattern::Beneath(name)),
                Some(Ok(Host::Name(_))) => {
                    Err(wrong("a star needs a name of two parts or more, as in `*.example.com`"))
                }
                Some(Ok(Host::Address(_))) => Err(wrong("a star stands before a name, not an address")),
            },
        }
    }

    /// Of two patterns for one host, the greater one says more about it.
    pub(super) fn weight(&self) -> usize {
        match self {
            HostPattern::Exactly(_) => usize::MAX,
            HostPattern::Beneath(name) => name.len(),
        }
    }

    pub fn matches(&self, host: &Host) -> bool {
        match (self, host) {
            (HostPattern::Exactly(Host::Address(own)), Host::Address(address)) => {
                // `::ffff:10.0.0.1` is 10.0.0.1.
                own.to_canonical() == address.to_canonical()
            }
            (HostPattern::Exactly(own), _) => own == host,
            (HostPattern::Beneath(name), Host::Name(host)) => {
                host.strip_suffix(name.as_str()).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
            }
            (HostPattern::Beneath(_), Host::Address(_)) => false,
        }
    }
}

/// One host without a star, through the same code that reads a URL's.
fn exactly(text: &str) -> Result<Host, &'static str> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(Host::Address(address));
    }
    if text.contains('*') {
        return Err("a star stands only at the front, as in `*.example.com`");
    }
    if text.contains(':') && !text.starts_with('[') {
        return Err("a port has no place here, and an IPv6 address has eight parts");
    }
    let parsed = url::Host::parse(text).map_err(|_| "not a host name and not an address")?;
    Host::of(parsed)
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::Exactly(host) => host.fmt(f),
            HostPattern::Beneath(name) => write!(f, "*.{name}"),
        }
    }
}

/// A host that the operator lists (decision C4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowEntry {
    pub host: HostPattern,
    /// The only port. None: any.
    pub port: Option<u16>,
    /// The only addresses that the name may have.
    pub within: Option<IpNet>,
    pub allow_metadata: bool,
}

impl AllowEntry {
    pub fn plain(host: HostPattern) -> AllowEntry {
        AllowEntry { host, port: None, within: None, allow_metadata: false }
    }

    /// `name`, `*.name` or `name:port`, as a person writes it. An IPv6 address with a port stands in
    /// brackets.
    pub fn parse(text: &str) -> Result<AllowEntry, HostPatternError> {
        let trimmed = text.trim();
        let split = match trimmed.rsplit_once(':') {
            Some((host, port)) if host.ends_with(']') => Some((host, port)),
            // More than one colon: an address without brackets, and without a port.
            Some((host, port)) if !host.contains(':') => Some((host, port)),
            Some(_) | None => None,
        };
        let Some((host, port)) = split.filter(|_| !trimmed.contains("://")) else {
            return Ok(AllowEntry::plain(HostPattern::parse(trimmed)?));
        };
        let is_number = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
        match port.parse::<u16>() {
            Ok(port) if is_number && port != 0 => {
                Ok(AllowEntry { port: Some(port), ..AllowEntry::plain(HostPattern::parse(host)?) })
            }
            Ok(_) | Err(_) => {
                Err(HostPatternError { text: text.to_owned(), why: "a port is a number from 1 to 65535" })
            }
        }
    }

    /// The same for programs. In a cage `localhost` is the cage, so a grant of it would open nothing that it names, or
    /// something else: this machine, as its proxy sees it.
    pub fn for_programs(text: &str) -> Result<AllowEntry, HostPatternError> {
        let entry = AllowEntry::parse(text)?;
        let is_own = match &entry.host {
            HostPattern::Exactly(Host::Name(name)) | HostPattern::Beneath(name) => {
                host::kind(name, HostRules::Full) == NameKind::Localhost
            }
            HostPattern::Exactly(Host::Address(address)) => {
                let address = address.to_canonical();
                address.is_loopback() || address.is_unspecified()
            }
        };
        match is_own {
            true => Err(HostPatternError {
                text: text.to_owned(),
                why: "a cage has a localhost of its own; give the service another name",
            }),
            false => Ok(entry),
        }
    }

    /// With the addresses it may have, as `10.0.0.0/8` or one address.
    pub fn with_cidr(self, text: &str) -> Result<AllowEntry, HostPatternError> {
        let net = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
        match net {
            Some(net) => Ok(AllowEntry { within: Some(canonical(net.trunc())), ..self }),
            None => Err(HostPatternError { text: text.to_owned(), why: "not a range of addresses" }),
        }
    }

    pub fn matches(&self, host: &Host, port: u16) -> bool {
        self.host.matches(host) && self.port.is_none_or(|own| own == port)
    }

    pub fn holds(&self, address: IpAddr) -> bool {
        self.within.is_none_or(|net| net.contains(&address.to_canonical()))
    }
}

/// `::ffff:10.0.0.0/104` is 10.0.0.0/8, as an address of it is held against the table as IPv4.
fn canonical(net: IpNet) -> IpNet {
    match (net.addr().to_canonical(), net.prefix_len().checked_sub(96)) {
        (IpAddr::V4(address), Some(length)) if net.addr().is_ipv6() => {
            IpNet::new(address.into(), length).unwrap_or(net)
        }
        (IpAddr::V4(_) | IpAddr::V6(_), _) => net,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let parsed = HostPattern::parse(text).map(|pattern| pattern.to_string());
        assert_eq!(parsed.as_deref(), Ok(expected), "{text:?}");
    }

    #[track_caller]
    fn check_wrong(text: &str, part: &str) {
        let why = HostPattern::parse(text).map_err(|error| error.why);
        assert!(why.as_ref().is_err_and(|why| why.contains(part)), "{text:?}: {why:?}");
    }

    #[test]
    fn a_pattern_is_written_as_a_host_is_read() {
        check("example.com", "example.com");
        check(" Example.COM. ", "example.com");
        check("b\u{fc}cher.example", "xn--bcher-kva.example");
        check("*.Example.com", "*.example.com");
        check("*.b\u{fc}cher.example.", "*.xn--bcher-kva.example");
        check("localhost", "localhost");
        check("0x7f.1", "127.0.0.1");
        check("2130706433", "127.0.0.1");
        check("\u{ff11}27.0.0.1", "127.0.0.1");
        check("::1", "::1");
        check("[::1]", "::1");
        check("[0:0::ffff:7f00:1]", "::ffff:127.0.0.1");
        check("_x.example.com", "_x.example.com");
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        check_wrong("", "missing");
        check_wrong("  ", "missing");
        check_wrong("*", "every host");
        check_wrong("*.com", "two parts");
        check_wrong("*.", "not a host");
        check_wrong("*.*.com", "only at the front");
        check_wrong("a.*.com", "only at the front");
        check_wrong("*a.example.com", "whole parts");
        check_wrong("**.example.com", "whole parts");
        check_wrong("*.127.0.0.1", "not an address");
        check_wrong("*.0x7f000001", "not an address");
        check_wrong("example.com:80", "port");
        check_wrong("[::1]:80", "not a host");
        check_wrong("https://example.com", "scheme");
        check_wrong("example.com/x", "path");
        check_wrong("example.com\\x", "path");
        check_wrong("a@example.com", "`@`");
        check_wrong("ex%61mple.com", "`%`");
        check_wrong("[fe80::1%eth0]", "`%`");
        check_wrong("a..b", "empty part");
        check_wrong("a b.com", "not a host");
        check_wrong("a!b.com", "character");
        check_wrong("1.2.3.4.5", "not a host");
        check_wrong("256.1.1.1", "not a host");
    }

    #[track_caller]
    fn check_match(pattern: &str, host: &str, expected: bool) {
        let HostPattern::Exactly(host) = HostPattern::parse(host).unwrap() else { panic!("{host}") };
        assert_eq!(HostPattern::parse(pattern).unwrap().matches(&host), expected, "{pattern} {host}");
    }

    #[test]
    fn a_star_is_at_least_one_part() {
        check_match("example.com", "example.com", true);
        check_match("example.com", "a.example.com", false);
        check_match("example.com", "example.com.evil.org", false);
        check_match("*.example.com", "a.example.com", true);
        check_match("*.example.com", "a.b.example.com", true);
        check_match("*.example.com", "example.com", false);
        check_match("*.example.com", "aexample.com", false);
        check_match("*.example.com", "a.example.com.evil.org", false);
        check_match("10.0.0.1", "::ffff:10.0.0.1", true);
        check_match("10.0.0.1", "10.0.0.2", false);
        check_match("::1", "127.0.0.1", false);
    }

    #[track_caller]
    fn check_entry(text: &str, expected: Option<(&str, Option<u16>)>) {
        let entry = AllowEntry::parse(text).ok().map(|entry| (entry.host.to_string(), entry.port));
        assert_eq!(entry, expected.map(|(host, port)| (host.to_owned(), port)), "{text:?}");
    }

    #[test]
    fn an_entry_may_name_a_port() {
        check_entry("example.com", Some(("example.com", None)));
        check_entry("*.example.com:8443", Some(("*.example.com", Some(8443))));
        check_entry("example.com:1", Some(("example.com", Some(1))));
        check_entry("example.com:65535", Some(("example.com", Some(65535))));
        check_entry("1.2.3.4:80", Some(("1.2.3.4", Some(80))));
        check_entry("[::1]:80", Some(("::1", Some(80))));
        check_entry("[::1]", Some(("::1", None)));
        check_entry("::1", Some(("::1", None)));
        for wrong in
            ["example.com:", "example.com:0", "example.com:65536", "example.com:+80", "example.com:8o"]
        {
            check_entry(wrong, None);
        }
        for wrong in
            [":80", "*:80", "https://example.com", "https://example.com:80", "a:b:80", "[::1]:", "::1:x"]
        {
            check_entry(wrong, None);
        }
    }

    #[track_caller]
    fn check_for_programs(text: &str, expected: bool) {
        let entry = AllowEntry::for_programs(text);
        assert_eq!(entry.is_ok(), expected, "{text:?}");
        assert!(entry.map_or_else(|error| error.why.contains("of its own"), |_| true), "{text:?}");
        assert!(AllowEntry::parse(text).is_ok(), "{text:?}");
    }

    #[test]
    fn a_cage_has_a_localhost_of_its_own() {
        for own in ["localhost", "LOCALHOST.", "localhost:8080", "a.localhost", "*.a.localhost"] {
            check_for_programs(own, false);
        }
        for own in
            ["127.0.0.1", "127.255.0.1:80", "0x7f.1", "::1", "[::1]:80", "::ffff:127.0.0.1", "0.0.0.0", "::"]
        {
            check_for_programs(own, false);
        }
        for other in ["dev.example", "localhost.example", "*.example.com:80", "128.0.0.1", "::2", "10.0.0.1"]
        {
            check_for_programs(other, true);
        }
        assert!(AllowEntry::for_programs("*.localhost").is_err());
    }

    #[track_caller]
    fn check_range(range: &str, address: &str, expected: bool) {
        let entry = AllowEntry::parse("a.example").unwrap().with_cidr(range).unwrap();
        assert_eq!(entry.holds(address.parse().unwrap()), expected, "{range} {address}");
    }

    #[test]
    fn an_entry_may_name_its_addresses() {
        check_range("10.1.0.0/16", "10.1.0.0", true);
        check_range("10.1.2.3/16", "10.1.255.255", true);
        check_range("10.1.0.0/16", "10.2.0.0", false);
        check_range("10.1.0.0/16", "::ffff:10.1.0.1", true);
        check_range("::ffff:10.1.0.0/112", "10.1.0.1", true);
        check_range("127.0.0.1", "127.0.0.1", true);
        check_range("127.0.0.1", "127.0.0.2", false);
        check_range("::1", "::1", true);
        check_range("fd00::/8", "fe00::", false);
        for wrong in ["", "10.0.0.0/33", "a", "10.0.0/8"] {
            assert!(AllowEntry::parse("a.example").unwrap().with_cidr(wrong).is_err(), "{wrong}");
        }
    }
}

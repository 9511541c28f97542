//! Which names a request may call us by, and which web pages may send one.
//!
//! THREAT: P12, DNS rebinding: a page of `evil.example` lets its own name point to 127.0.0.1 and then talks
//! to us as to its own server. The browser cannot tell, but it says `Host: evil.example` and `Origin:
//! http://evil.example`.

use std::net::{IpAddr, SocketAddr};

/// `host` is the value of the one `Host` header. Loopback and the listener's own address need no listing: a
/// browser names them only when it was really sent there. Whatever else must stand in `allowed`, as `name`
/// (any port) or `name:port`.
pub fn is_host_allowed(host: &str, listen: SocketAddr, allowed: &[String]) -> bool {
    let Some(offered) = Authority::parse(host) else { return false };
    offered.is_loopback()
        || offered.is_address(listen.ip())
        || allowed
            .iter()
            .filter_map(|entry| Authority::parse(entry))
            .any(|entry| entry.name == offered.name && (entry.port.is_none() || entry.port == offered.port))
}

/// No `Origin` is no web page (or a page that only reads what it could read anyway). `null` is a page that
/// hides who it is. A page of our own loopback listener is ours; every other must stand in `allowed`, whole.
pub fn is_origin_allowed(origin: Option<&str>, allowed: &[String], listen: SocketAddr) -> bool {
    let Some(origin) = origin else { return true };
    let Some(offered) = Origin::parse(origin) else { return false };
    let is_ours = listen.ip().to_canonical().is_loopback()
        && offered.scheme == Scheme::Http
        && offered.port == listen.port()
        && offered.authority.is_loopback();
    // A slash at the end is how people copy it from the address line.
    let listed = allowed.iter().filter_map(|entry| Origin::parse(entry.strip_suffix('/').unwrap_or(entry)));
    is_ours || listed.into_iter().any(|entry| entry == offered)
}

#[derive(Debug, PartialEq, Eq)]
enum Name {
    Address(IpAddr),
    /// In lower case, without the root's dot.
    Domain(String),
}

#[derive(Debug, PartialEq, Eq)]
struct Authority {
    name: Name,
    port: Option<u16>,
}

/// LIMIT: the longest name of the DNS, and a port.
const MOST_BYTES: usize = 253 + 1 + 6;

impl Authority {
    fn parse(text: &str) -> Option<Authority> {
        if text.len() > MOST_BYTES {
            return None;
        }
        if let Some(rest) = text.strip_prefix('[') {
            let (address, after) = rest.split_once(']')?;
            let port = match after {
                "" => None,
                after => Some(port(after.strip_prefix(':')?)?),
            };
            let address = address.parse::<std::net::Ipv6Addr>().ok()?;
            return Some(Authority { name: Name::Address(IpAddr::V6(address).to_canonical()), port });
        }
        let (name, port) = match text.split_once(':') {
            // Configurations list IPv6 addresses without brackets.
            Some(_) if text.parse::<std::net::Ipv6Addr>().is_ok() => (text, None),
            Some((name, number)) => (name, Some(port(number)?)),
            None => (text, None),
        };
        if let Ok(address) = name.parse::<IpAddr>() {
            return Some(Authority { name: Name::Address(address.to_canonical()), port });
        }
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let is_label = |label: &str| {
            !label.is_empty()
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        // A last label of digits is an address in one of its old spellings.
        let is_number =
            |label: &str| label.bytes().all(|byte| byte.is_ascii_digit()) || label.starts_with("0x");
        let is_domain = name.split('.').all(is_label) && !name.rsplit('.').next().is_some_and(is_number);
        is_domain.then_some(Authority { name: Name::Domain(name), port })
    }

    fn is_loopback(&self) -> bool {
        match &self.name {
            Name::Address(address) => address.is_loopback(),
            Name::Domain(name) => name == "localhost",
        }
    }

    /// `0.0.0.0` is every address, and therefore nobody's own.
    fn is_address(&self, own: IpAddr) -> bool {
        let own = own.to_canonical();
        match &self.name {
            Name::Address(address) => *address == own && !own.is_unspecified(),
            Name::Domain(_) => false,
        }
    }
}

fn port(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[derive(Debug, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
    /// A browser's extension or an application with a page inside.
    Other(String),
}

#[derive(Debug, PartialEq, Eq)]
struct Origin {
    scheme: Scheme,
    authority: Authority,
    /// Spelled out, so that `https://example.com` and `https://example.com:443` are one.
    port: u16,
}

impl Origin {
    fn parse(text: &str) -> Option<Origin> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            "" => return None,
            other => Scheme::Other(other.to_owned()),
        };
        let Authority { name, port } = Authority::parse(authority)?;
        let port = port.unwrap_or(match scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
            Scheme::Other(_) => 0,
        });
        Some(Origin { scheme, authority: Authority { name, port: None }, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn host(host: &str, listen: &str, allowed: &[&str], expected: bool) {
        let allowed: Vec<String> = allowed.iter().map(|&entry| entry.to_owned()).collect();
        assert_eq!(is_host_allowed(host, listen.parse().unwrap(), &allowed), expected, "{host} at {listen}");
    }

    #[test]
    fn loopback_and_the_own_address_need_no_listing() {
        for listen in ["127.0.0.1:8081", "[::1]:8081"] {
            host("localhost", listen, &[], true);
            host("localhost:8081", listen, &[], true);
            host("LOCALHOST.:8081", listen, &[], true);
            host("127.0.0.1:8081", listen, &[], true);
            host("127.9.9.9", listen, &[], true);
            host("[::1]:8081", listen, &[], true);
            host("[::ffff:127.0.0.1]", listen, &[], true);
            host("192.0.2.7:8081", listen, &[], false);
        }
        host("192.0.2.7:8081", "192.0.2.7:8081", &[], true);
        host("192.0.2.8:8081", "192.0.2.7:8081", &[], false);
        host("192.0.2.7:8081", "[::ffff:192.0.2.7]:8081", &[], true);
        host("0.0.0.0:8081", "0.0.0.0:8081", &[], false); // browsers reach loopback by it
        host("[::]:8081", "[::]:8081", &[], false);
        host("192.0.2.7:8081", "0.0.0.0:8081", &[], false);
    }

    #[test]
    fn other_names_only_when_listed() {
        let listen = "127.0.0.1:8081";
        host("evil.example", listen, &[], false);
        host("evil.example:8081", listen, &["agent.example.com"], false);
        host("agent.example.com", listen, &["agent.example.com"], true);
        host("Agent.Example.COM.:9", listen, &["agent.example.com"], true);
        host("agent.example.com", listen, &["AGENT.example.com."], true);
        host("agent.example.com:8443", listen, &["agent.example.com:8443"], true);
        host("agent.example.com:8444", listen, &["agent.example.com:8443"], false);
        host("agent.example.com", listen, &["agent.example.com:8443"], false);
        host("a.agent.example.com", listen, &["agent.example.com"], false);
        host("agent.example.com.evil.example", listen, &["agent.example.com"], false);
        host("localhost.evil.example", listen, &[], false);
        host("127.0.0.1.evil.example", listen, &[], false);
        host("x.localhost", listen, &[], false);
        host("[2001:db8::1]:80", listen, &["2001:db8::1"], true);
        host("[2001:db8:0::1]:80", listen, &["[2001:db8::1]"], true);
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let listed = ["", "*", "a b", "user@localhost", "a/b", "a..b", "."];
        for text in [
            "",
            ".",
            "..",
            "*",
            "a b",
            " localhost",
            "localhost ",
            "user@localhost",
            "localhost@evil.example",
            "localhost/",
            "localhost#",
            "localhost:",
            "localhost:x",
            "localhost:65536",
            "localhost:80:80",
            "localhost:+80",
            "localhost..",
            "a..b",
            "[::1",
            "::1]",
            "[::1]x",
            "[127.0.0.1]",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "localhost\t",
            "loc\u{e4}lhost",
            "localhost,evil.example",
        ] {
            host(text, "127.0.0.1:8081", &listed, false);
        }
        host(&format!("{}.example", "a.".repeat(200)), "127.0.0.1:8081", &[], false);
    }

    #[track_caller]
    fn origin(origin: Option<&str>, listen: &str, allowed: &[&str], expected: bool) {
        let allowed: Vec<String> = allowed.iter().map(|&entry| entry.to_owned()).collect();
        let found = is_origin_allowed(origin, &allowed, listen.parse().unwrap());
        assert_eq!(found, expected, "{origin:?} at {listen} with {allowed:?}");
    }

    #[test]
    fn pages_are_ours_or_listed() {
        let listen = "127.0.0.1:8081";
        origin(None, listen, &[], true);
        origin(Some("null"), listen, &[], false);
        origin(Some("null"), listen, &["null"], false);
        origin(Some(""), listen, &[], false);
        origin(Some("http://localhost:8081"), listen, &[], true);
        origin(Some("http://127.0.0.1:8081"), listen, &[], true);
        origin(Some("http://[::1]:8081"), listen, &[], true);
        origin(Some("http://localhost:8082"), listen, &[], false); // another program's page
        origin(Some("http://localhost"), listen, &[], false);
        origin(Some("http://localhost"), "127.0.0.1:80", &[], true);
        origin(Some("https://localhost:8081"), listen, &[], false);
        origin(Some("http://localhost:8081"), "192.0.2.7:8081", &[], false);
        origin(Some("http://evil.example:8081"), listen, &[], false);
        origin(Some("http://localhost.evil.example:8081"), listen, &[], false);
        origin(Some("http://localhost:6274"), listen, &["http://localhost:6274"], true);
        origin(Some("https://app.example.com"), listen, &["https://app.example.com/"], true);
        origin(Some("https://app.example.com:443"), listen, &["https://APP.example.com"], true);
        origin(Some("http://app.example.com"), listen, &["https://app.example.com"], false);
        origin(Some("https://app.example.com:8443"), listen, &["https://app.example.com"], false);
        origin(Some("https://app.example.com/x"), listen, &["https://app.example.com"], false);
        origin(Some("https://user@app.example.com"), listen, &["https://app.example.com"], false);
        origin(Some("https://app.example.com"), listen, &["*", "app.example.com"], false);
        origin(Some("vscode-webview://abc"), listen, &["vscode-webview://abc"], true);
        origin(Some("file://"), listen, &["file://"], false);
    }
}

//! A URL that was parsed as browsers do it, before anything else looks at it: `0x7f.1` is 127.0.0.1 from here
//! on.

use std::fmt;
use std::net::IpAddr;

use super::{UrlRefusal, host};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    Http,
    Https,
}

impl Scheme {
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// Lower case, ASCII, without a dot at the end; or an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    Name(String),
    Address(IpAddr),
}

impl Host {
    /// As `url` read it. INVARIANT: every `Host` of a URL or a list is made here.
    pub(super) fn of(parsed: url::Host<String>) -> Result<Host, &'static str> {
        match parsed {
            url::Host::Ipv4(address) => Ok(Host::Address(address.into())),
            url::Host::Ipv6(address) => Ok(Host::Address(address.into())),
            url::Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(&name).to_ascii_lowercase();
                host::well_formed(&name)?;
                Ok(Host::Name(name))
            }
        }
    }
}

impl fmt::Display for Host {
    /// An IPv6 address stands without brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(address) => address.fmt(f),
        }
    }
}

/// http or https, with a host, without credentials and without a fragment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WebUrl {
    url: url::Url,
    scheme: Scheme,
    host: Host,
}

/// LIMIT: bytes of a URL; servers commonly take no more than eight thousand.
const MAX_URL: usize = 16 * 1024;

impl WebUrl {
    pub fn parse(text: &str) -> Result<WebUrl, UrlRefusal> {
        WebUrl::read(text, url::Url::parse)
    }

    /// Where a redirect leads.
    pub fn join(&self, location: &str) -> Result<WebUrl, UrlRefusal> {
        WebUrl::read(location, |text| self.url.join(text))
    }

    fn read(
        text: &str,
        parse: impl FnOnce(&str) -> Result<url::Url, url::ParseError>,
    ) -> Result<WebUrl, UrlRefusal> {
        if text.len() > MAX_URL {
            return Err(unparsable("the URL is too long"));
        }
        let url = parse(text).map_err(|error| match scheme_of(text) {
            // A URL of another kind need not make sense to us to be refused for what it is.
            Some(scheme) if !matches!(scheme.as_str(), "http" | "https") => UrlRefusal::Scheme { scheme },
            Some(_) | None => unparsable(&error.to_string()),
        })?;
        WebUrl::of(url)
    }

    fn of(mut url: url::Url) -> Result<WebUrl, UrlRefusal> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => return Err(UrlRefusal::Scheme { scheme: other.to_owned() }),
        };
        // THREAT: P05, `http://good.example@10.0.0.1/` reads like one host and is the other.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlRefusal::Credentials);
        }
        url.set_fragment(None);
        let parsed = url.host().ok_or_else(|| unparsable("no host"))?.to_owned();
        let host = Host::of(parsed).map_err(unparsable)?;
        // The same host in every form of the URL: with a dot at its end it would have other cookies and
        // another name.
        if let Host::Name(name) = &host {
            url.set_host(Some(name)).map_err(|error| unparsable(&error.to_string()))?;
        }
        Ok(WebUrl { url, scheme, host })
    }

    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.url.port().unwrap_or(self.scheme.default_port())
    }

    /// As it is sent, percent-encoded, beginning with `/`.
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// Path and query, as they are sent.
    pub fn target(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }

    /// What the `Host` header says: the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = match &self.host {
            Host::Name(name) => name.clone(),
            Host::Address(IpAddr::V4(address)) => address.to_string(),
            Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
        };
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    }

    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub fn same_origin(&self, other: &WebUrl) -> bool {
        (self.scheme, &self.host, self.port()) == (other.scheme, &other.host, other.port())
    }
}

/// LIMIT: how often percent signs are undone. Servers behind one another do it once each.
const MOST_UNDONE: usize = 4;

/// A text, and what becomes of it as its percent signs are undone again and again, for whoever looks for something in it.
pub(crate) fn undone(text: &str) -> Vec<String> {
    let mut stages = vec![text.to_owned()];
    for _ in 0..MOST_UNDONE {
        let last = stages.last().map_or("", String::as_str);
        let next = percent_encoding::percent_decode_str(last).decode_utf8_lossy().into_owned();
        if next == last {
            break;
        }
        stages.push(next);
    }
    stages
}

fn unparsable(why: &str) -> UrlRefusal {
    UrlRefusal::Unparsable { why: why.to_owned() }
}

/// What stands before the first colon, where that can be a scheme.
fn scheme_of(text: &str) -> Option<String> {
    let (front, _) = text.trim_start().split_once(':')?;
    let is_scheme = front.starts_with(|first: char| first.is_ascii_alphabetic())
        && front.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then(|| front.to_ascii_lowercase())
}

#[cfg(test)]
mod tests;

//! Why a URL may not be reached, in the words that the specifications fix.

use std::net::IpAddr;

use vambrace_types::ErrorCode;

use super::AddressClass;

/// Whose words a refusal uses: those of specification 001 for `fetch_url`, of 000 for everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    Seed000,
    Seed001,
}

/// What the alert rules of specification 001 count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    Private,
    Metadata,
    Kubernetes,
    /// Nothing that reaches inside: a mistake, or a rule of the operator.
    Other,
}

/// What the operator's lists say about a host whose address is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    Nothing,
    /// The host, but no addresses.
    Plain,
    /// Other addresses.
    Ranges,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlRefusal {
    Unparsable {
        why: String,
    },
    Scheme {
        scheme: String,
    },
    /// `user:password@` in the URL.
    Credentials,
    Port {
        host: String,
        port: u16,
    },
    Localhost {
        host: String,
    },
    Metadata {
        host: String,
        address: Option<IpAddr>,
    },
    Kubernetes {
        host: String,
    },
    /// Local by its form: one label, `.local`, `.internal`.
    LocalName {
        host: String,
    },
    /// On `blocked_domains`.
    Blocked {
        host: String,
        pattern: String,
    },
    Address {
        host: String,
        address: IpAddr,
        class: AddressClass,
        listing: Listing,
    },
    /// A listed host whose entry names other addresses.
    Outside {
        host: String,
        address: IpAddr,
        allowed: String,
    },
    /// Programs reach listed hosts only.
    NotListed {
        host: String,
        port: u16,
    },
    /// The name has no address.
    NoAddress {
        host: String,
    },
    Method {
        method: String,
    },
    Header {
        name: String,
    },
    Redirect {
        why: String,
    },
    /// A program was let through to one host and then named another.
    Mismatch {
        host: String,
        named: String,
    },
    /// The placeholder of a secret, where the secret itself would not go.
    Stray {
        secret: String,
    },
}

impl UrlRefusal {
    pub fn code(&self) -> ErrorCode {
        match self {
            UrlRefusal::Unparsable { .. } | UrlRefusal::Credentials => ErrorCode::UrlInvalid,
            UrlRefusal::Scheme { .. } => ErrorCode::SchemeNotAllowed,
            UrlRefusal::Port { .. } => ErrorCode::PortNotAllowed,
            UrlRefusal::Localhost { .. } | UrlRefusal::LocalName { .. } => ErrorCode::PrivateAddress,
            UrlRefusal::Metadata { .. } => ErrorCode::MetadataAddress,
            UrlRefusal::Kubernetes { .. } => ErrorCode::KubernetesAddress,
            UrlRefusal::Blocked { .. } | UrlRefusal::NotListed { .. } | UrlRefusal::Mismatch { .. } => {
                ErrorCode::HostNotAllowed
            }
            UrlRefusal::Address { class, .. } if *class == AddressClass::Metadata => {
                ErrorCode::MetadataAddress
            }
            UrlRefusal::Address { .. } | UrlRefusal::Outside { .. } => ErrorCode::PrivateAddress,
            UrlRefusal::NoAddress { .. } => ErrorCode::DnsFailed,
            UrlRefusal::Method { .. } => ErrorCode::MethodNotAllowed,
            UrlRefusal::Header { .. } => ErrorCode::HeaderNotAllowed,
            UrlRefusal::Redirect { .. } => ErrorCode::RedirectRefused,
            UrlRefusal::Stray { .. } => ErrorCode::HeaderNotAllowed,
        }
    }

    pub fn attempt(&self) -> Attempt {
        match self {
            UrlRefusal::Metadata { .. } | UrlRefusal::Address { class: AddressClass::Metadata, .. } => {
                Attempt::Metadata
            }
            UrlRefusal::Kubernetes { .. } => Attempt::Kubernetes,
            // `file:` and the like look for something inside, too.
            UrlRefusal::Scheme { .. }
            | UrlRefusal::Localhost { .. }
            | UrlRefusal::LocalName { .. }
            | UrlRefusal::Address { .. }
            | UrlRefusal::Outside { .. } => Attempt::Private,
            UrlRefusal::Unparsable { .. }
            | UrlRefusal::Credentials
            | UrlRefusal::Port { .. }
            | UrlRefusal::Blocked { .. }
            | UrlRefusal::NotListed { .. }
            | UrlRefusal::NoAddress { .. }
            | UrlRefusal::Method { .. }
            | UrlRefusal::Header { .. }
            | UrlRefusal::Redirect { .. }
            | UrlRefusal::Mismatch { .. }
            | UrlRefusal::Stray { .. } => Attempt::Other,
        }
    }

    pub(super) fn is_metadata(&self) -> bool {
        self.attempt() == Attempt::Metadata
    }

    /// The setting that said so.
    pub fn rule(&self) -> &'static str {
        match self {
            UrlRefusal::Unparsable { .. }
            | UrlRefusal::Credentials
            | UrlRefusal::Scheme { .. }
            | UrlRefusal::Port { .. } => "tools.url_policy",
            UrlRefusal::Localhost { .. }
            | UrlRefusal::Metadata { .. }
            | UrlRefusal::Kubernetes { .. }
            | UrlRefusal::LocalName { .. } => "tools.url_policy.host_rules",
            UrlRefusal::Blocked { .. } => "tools.url_policy.blocked_domains",
            UrlRefusal::Address { .. } => "tools.url_policy.ranges",
            UrlRefusal::Outside { .. } => "tools.url_policy.allowed_domains",
            UrlRefusal::NotListed { .. } | UrlRefusal::Mismatch { .. } => "sandbox.net",
            UrlRefusal::NoAddress { .. } => "tools.url_policy.on_dns_failure",
            UrlRefusal::Method { .. } => "net.methods",
            UrlRefusal::Header { .. } => "net.headers",
            UrlRefusal::Redirect { .. } => "net.redirects",
            UrlRefusal::Stray { .. } => "secrets.bindings",
        }
    }

    /// For the caller.
    pub fn text(&self, voice: Voice) -> String {
        match voice {
            Voice::Seed001 => format!("URL validation failed: {}", self.text_001()),
            Voice::Seed000 => self.text_000(),
        }
    }

    /// For the log: what specification 001 tells operators to search for, whichever tool it was.
    pub fn logged(&self) -> String {
        self.text(Voice::Seed001)
    }

    fn text_001(&self) -> String {
        let private = |address| {
            format!("access to private/internal IP addresses is not allowed (resolved to {address})")
        };
        match self {
            UrlRefusal::Localhost { host } | UrlRefusal::Metadata { host, address: None } => by_name(host),
            UrlRefusal::Metadata { host, address: Some(address) }
            | UrlRefusal::Address { host, address, .. } => match NAMED_001.contains(&host.as_str()) {
                true => by_name(host),
                false => private(address),
            },
            UrlRefusal::Kubernetes { .. } => {
                "access to Kubernetes internal services (*.svc.cluster.local) is not allowed".to_owned()
            }
            UrlRefusal::LocalName { host } => {
                format!("access to private/internal IP addresses is not allowed ('{host}' is a local name)")
            }
            UrlRefusal::NoAddress { host } => format!("DNS resolution failed for '{host}'"),
            UrlRefusal::Unparsable { .. }
            | UrlRefusal::Scheme { .. }
            | UrlRefusal::Credentials
            | UrlRefusal::Port { .. }
            | UrlRefusal::Blocked { .. }
            | UrlRefusal::Outside { .. }
            | UrlRefusal::NotListed { .. }
            | UrlRefusal::Method { .. }
            | UrlRefusal::Header { .. }
            | UrlRefusal::Redirect { .. }
            | UrlRefusal::Mismatch { .. }
            | UrlRefusal::Stray { .. } => self.own_text(),
        }
    }

    fn text_000(&self) -> String {
        let denied =
            |host: &str, address: &str| format!("SSRF: private network access denied for {host} ({address})");
        match self {
            UrlRefusal::Localhost { host } => denied(host, "127.0.0.1"),
            UrlRefusal::Metadata { host, address: None } => denied(host, "169.254.169.254"),
            UrlRefusal::Metadata { host, address: Some(address) }
            | UrlRefusal::Address { host, address, .. } => denied(host, &address.to_string()),
            UrlRefusal::Kubernetes { host } | UrlRefusal::LocalName { host } => denied(host, "not resolved"),
            UrlRefusal::NoAddress { host } => format!("DNS resolution failed for {host}"),
            UrlRefusal::Unparsable { .. }
            | UrlRefusal::Scheme { .. }
            | UrlRefusal::Credentials
            | UrlRefusal::Port { .. }
            | UrlRefusal::Blocked { .. }
            | UrlRefusal::Outside { .. }
            | UrlRefusal::NotListed { .. }
            | UrlRefusal::Method { .. }
            | UrlRefusal::Header { .. }
            | UrlRefusal::Redirect { .. }
            | UrlRefusal::Mismatch { .. }
            | UrlRefusal::Stray { .. } => self.own_text(),
        }
    }

    /// Where no specification says it for both, or for either.
    fn own_text(&self) -> String {
        match self {
            UrlRefusal::Unparsable { why } => format!("the URL cannot be read: {why}"),
            // Specification 001's.
            UrlRefusal::Scheme { scheme } => {
                format!("unsupported URL scheme '{scheme}': only http and https are allowed")
            }
            UrlRefusal::Credentials => "the URL holds a user name or a password".to_owned(),
            UrlRefusal::Port { host, port } => format!("port {port} of {host} is not a port for web servers"),
            UrlRefusal::Blocked { host, pattern } => {
                format!("access to {host} is blocked by `{pattern}` in blocked_domains")
            }
            UrlRefusal::Outside { host, address, allowed } => {
                format!(
                    "{host} resolved to {address}, which is outside of the addresses listed for it \
                     ({allowed})"
                )
            }
            UrlRefusal::NotListed { host, port } => {
                format!("network access denied for {host}:{port}: not listed in sandbox.net")
            }
            UrlRefusal::Method { method } => format!("the method `{method}` is not allowed"),
            UrlRefusal::Header { name } => format!("the header `{name}` may not be set"),
            UrlRefusal::Redirect { why } => format!("the redirect was not followed: {why}"),
            UrlRefusal::Mismatch { host, named } => {
                format!("a tunnel to {host} has to begin with TLS for {host}, not with {named}")
            }
            UrlRefusal::Stray { secret } => {
                format!("the placeholder of {secret} goes only where the secret is bound")
            }
            UrlRefusal::Localhost { host }
            | UrlRefusal::Metadata { host, .. }
            | UrlRefusal::Kubernetes { host }
            | UrlRefusal::LocalName { host }
            | UrlRefusal::Address { host, .. }
            | UrlRefusal::NoAddress { host } => format!("access to {host} is not allowed"),
        }
    }

    /// The next useful step, never a way round.
    pub fn suggestion(&self) -> &'static str {
        match self {
            UrlRefusal::Unparsable { .. } => "Write the whole URL, as in https://example.com/page.",
            // `example.com:80/x` and `localhost:80`: whoever wrote it meant a host.
            UrlRefusal::Scheme { scheme } if scheme.contains('.') || scheme == "localhost" => {
                "Write http:// or https:// in front of the host."
            }
            UrlRefusal::Scheme { .. } => "Use an http or https URL; for files of the project use read_file.",
            UrlRefusal::Credentials => {
                "Leave the user name and the password out; the operator can bind a secret to the host."
            }
            UrlRefusal::Port { .. } => "Use the address of a web server, commonly on port 443 or 80.",
            UrlRefusal::Metadata { .. } | UrlRefusal::Address { class: AddressClass::Metadata, .. } => {
                "Work without it: services that hand out the machine's credentials are not for agents."
            }
            UrlRefusal::Address { listing: Listing::Plain, .. } => {
                "Use a public URL; the host is listed, but for loopback and special ranges the operator has to \
                 give its entry a `cidr`."
            }
            UrlRefusal::Localhost { .. }
            | UrlRefusal::LocalName { .. }
            | UrlRefusal::Address { listing: Listing::Nothing, .. } => {
                "Use a public URL; if this service is needed, ask the operator to list it in \
                 tools.url_policy.allowed_domains."
            }
            UrlRefusal::Kubernetes { .. } => {
                "Ask the operator for what you need to know about the cluster, or for a listed address."
            }
            UrlRefusal::Blocked { .. } => "Use another source; the operator does not want this host used.",
            UrlRefusal::Outside { .. } | UrlRefusal::Address { listing: Listing::Ranges, .. } => {
                "Tell the operator: the name leads elsewhere than its entry says."
            }
            UrlRefusal::NotListed { .. } => {
                "Work with what is there, or ask the operator to list the host in sandbox.net."
            }
            UrlRefusal::NoAddress { .. } => "Check the spelling of the host name; it has no address.",
            UrlRefusal::Method { .. } => {
                "Use GET or HEAD, or ask the operator to allow the method in net.methods."
            }
            UrlRefusal::Header { .. } => "Leave the header out; Vambrace sets what the request needs.",
            UrlRefusal::Redirect { .. } => {
                "Use the URL of what you look for itself, with https; one that only leads on and on has no answer."
            }
            UrlRefusal::Mismatch { .. } => "Use https to the host that the tunnel leads to.",
            UrlRefusal::Stray { .. } => {
                "Send it in the bound header to the bound host only, or ask the operator for another binding."
            }
        }
    }
}

/// What specification 001 refuses by its text, before it looks at addresses.
const NAMED_001: &[&str] = &["127.0.0.1", "0.0.0.0", "::1", "169.254.169.254"];

fn by_name(host: &str) -> String {
    format!("access to '{host}' is not allowed (localhost/metadata service)")
}

#[cfg(test)]
mod tests;

//! What variables say about the network: that there is none, or where the way out is.

use crate::network::{CERTIFICATES, OWN_CERTIFICATE, PROXY_PORT};

/// What programs can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Their own loopback.
    Nothing,
    /// Whatever the machine can: the cage has no network of its own, and the operator accepts that.
    Machine,
    Proxy {
        authorities: Authorities,
        /// What the proxy itself adds, such as placeholders of credentials.
        further: Vec<(String, String)>,
    },
}

/// Whose word for a host programs have to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Authorities {
    System,
    /// Also that of our own proxy, which is in the files of `network::certificates`.
    AndOurs,
}

/// Package managers would wait for a network that is not there.
pub(super) const OFFLINE: &[(&str, &str)] = &[
    ("CARGO_NET_OFFLINE", "true"),
    ("GOPROXY", "off"),
    ("GOSUMDB", "off"),
    ("UV_OFFLINE", "1"),
    // npm tries again for more than a minute.
    ("npm_config_fetch_retries", "0"),
];

/// What was installed shall be there after the job: a private home folder goes with the cage, the service stays.
const INSTALLING: &[(&str, &str)] = &[("POETRY_VIRTUALENVS_IN_PROJECT", "1"), ("UV_LINK_MODE", "copy")];

/// Each of them is understood by somebody. There is none for other protocols: only these two are served.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
/// Servers that programs of the cage start for each other.
const DIRECT: [&str; 2] = ["NO_PROXY", "no_proxy"];
const LOOPBACK: &str = "localhost,127.0.0.1,::1";

/// The system's certificates and ours in one file. node adds its file to what it has; all others replace theirs.
const TRUSTING: &[&str] = &[
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "npm_config_cafile",
];

impl Reach {
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        let mut set = |name: &str, value: &str| pairs.push((name.to_owned(), value.to_owned()));
        match self {
            Reach::Nothing => OFFLINE.iter().for_each(|(name, value)| set(name, value)),
            Reach::Machine => INSTALLING.iter().for_each(|(name, value)| set(name, value)),
            Reach::Proxy { authorities, .. } => {
                INSTALLING.iter().for_each(|(name, value)| set(name, value));
                let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
                PROXIES.iter().for_each(|name| set(name, &proxy));
                DIRECT.iter().for_each(|name| set(name, LOOPBACK));
                // node asks for it; other versions do not know the name.
                set("NODE_USE_ENV_PROXY", "1");
                match authorities {
                    Authorities::System => {}
                    Authorities::AndOurs => {
                        TRUSTING.iter().for_each(|name| set(name, CERTIFICATES));
                        set("NODE_EXTRA_CA_CERTS", OWN_CERTIFICATE);
                    }
                }
            }
        }
        pairs
    }

    pub(super) fn further(&self) -> &[(String, String)] {
        match self {
            Reach::Nothing | Reach::Machine => &[],
            Reach::Proxy { further, .. } => further,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reach: &Reach, name: &str, expected: Option<&str>) {
        let variables = reach.variables();
        let found = variables.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
        assert_eq!(found, expected, "{reach:?} {name}");
    }

    #[test]
    fn a_way_out_is_told_in_every_spelling_and_none_is_told_too() {
        let proxy = |authorities| Reach::Proxy { authorities, further: Vec::new() };
        let (plain, ours) = (proxy(Authorities::System), proxy(Authorities::AndOurs));
        let place = Some("http://127.0.0.1:3128");
        for (name, value) in [
            ("http_proxy", place),
            ("HTTP_PROXY", place),
            ("https_proxy", place),
            ("HTTPS_PROXY", place),
            ("no_proxy", Some(LOOPBACK)),
            ("ALL_PROXY", None),
            ("CARGO_NET_OFFLINE", None),
            ("GOPROXY", None),
            ("UV_LINK_MODE", Some("copy")),
        ] {
            check(&plain, name, value);
            check(&ours, name, value);
            check(&Reach::Nothing, name, OFFLINE.iter().find(|(key, _)| *key == name).map(|(_, it)| *it));
        }
        check(&plain, "SSL_CERT_FILE", None);
        check(&ours, "SSL_CERT_FILE", Some(CERTIFICATES));
        check(&ours, "NODE_EXTRA_CA_CERTS", Some(OWN_CERTIFICATE));
        check(&Reach::Machine, "HTTP_PROXY", None);
        check(&Reach::Machine, "UV_OFFLINE", None);
    }
}

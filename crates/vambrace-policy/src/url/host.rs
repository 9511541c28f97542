//! Names that are local by their form.

use super::HostRules;

/// LIMIT: what DNS can carry (RFC 1035).
const MAX_LABEL: usize = 63;
const MAX_NAME: usize = 253;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// Nothing to see in it.
    Plain,
    Localhost,
    Metadata,
    Kubernetes,
    /// Belongs to the network that we stand in.
    Local,
}

/// What a name has to be to be looked up at all. URLs may hold more, and the programs that resolve names do
/// not agree on what the rest means. Lower case and without a dot at the end.
pub(super) fn well_formed(name: &str) -> Result<(), &'static str> {
    if name.len() > MAX_NAME {
        return Err("the host name is longer than 253 characters");
    }
    for label in name.split('.') {
        if label.is_empty() {
            return Err("the host name has an empty part");
        }
        if label.len() > MAX_LABEL {
            return Err("a part of the host name is longer than 63 characters");
        }
        // An underscore is in no host name and in many DNS names.
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if !label.bytes().all(is_plain) {
            return Err("the host name has a character that no name has");
        }
    }
    Ok(())
}

const LOCALHOST: &[&str] = &["localhost", "localdomain", "ip6-localhost", "ip6-loopback"];

const METADATA: &[&str] = &[
    "metadata",
    "metadata.internal",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.azure.com",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "instance-data",
    "instance-data.ec2.internal",
    "rancher-metadata",
    "rancher-metadata.rancher.internal",
];

/// Specification 003's two names; its third is an address.
const METADATA_003: &[&str] = &["metadata.google.internal", "metadata.internal"];

const KUBERNETES: &[&str] = &["cluster.local", "svc"];

const LOCAL: &[&str] = &["local", "internal", "lan", "home.arpa"];

pub(super) fn kind(name: &str, rules: HostRules) -> NameKind {
    match rules {
        HostRules::Full => full(name),
        HostRules::Seed001 if name == "localhost" => NameKind::Localhost,
        HostRules::Seed001 if name == "metadata.google.internal" => NameKind::Metadata,
        HostRules::Seed001 if name.ends_with(".svc.cluster.local") => NameKind::Kubernetes,
        HostRules::Seed003 if METADATA_003.contains(&name) => NameKind::Metadata,
        HostRules::Seed001 | HostRules::Seed003 => NameKind::Plain,
    }
}

fn full(name: &str) -> NameKind {
    let is_one = |names: &[&str]| names.iter().any(|own| is_or_beneath(name, own));
    if METADATA.contains(&name) {
        NameKind::Metadata
    } else if is_one(LOCALHOST) {
        NameKind::Localhost
    } else if is_one(KUBERNETES) {
        NameKind::Kubernetes
    } else if is_one(LOCAL) || !name.contains('.') {
        NameKind::Local
    } else {
        NameKind::Plain
    }
}

/// `name` itself, or anything with `.name` at its end.
pub(super) fn is_or_beneath(name: &str, zone: &str) -> bool {
    name.strip_suffix(zone).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: [NameKind; 3]) {
        let found = [HostRules::Full, HostRules::Seed001, HostRules::Seed003].map(|rules| kind(name, rules));
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn names_are_told_by_their_form() {
        use NameKind::{Kubernetes, Local, Localhost, Metadata, Plain};
        check("localhost", [Localhost, Localhost, Plain]);
        check("a.localhost", [Localhost, Plain, Plain]);
        check("alocalhost.org", [Plain; 3]);
        check("localhost.org", [Plain; 3]);
        check("xlocalhost", [Local, Plain, Plain]);
        check("ip6-localhost", [Localhost, Plain, Plain]);
        check("ip6-loopback", [Localhost, Plain, Plain]);
        check("localhost.localdomain", [Localhost, Plain, Plain]);
        check("printer.local", [Local, Plain, Plain]);
        check("printer.local.org", [Plain; 3]);
        check("a.notlocal", [Plain; 3]);
        check("db.internal", [Local, Plain, Plain]);
        check("router.lan", [Local, Plain, Plain]);
        check("nas.home.arpa", [Local, Plain, Plain]);
        check("in-addr.arpa", [Plain; 3]);
        check("metadata.google.internal", [Metadata; 3]);
        check("metadata.internal", [Metadata, Plain, Metadata]);
        check("metadata", [Metadata, Plain, Plain]);
        check("metadata.goog", [Metadata, Plain, Plain]);
        check("metadata.google", [Plain; 3]);
        check("instance-data", [Metadata, Plain, Plain]);
        check("instance-data.ec2.internal", [Metadata, Plain, Plain]);
        check("rancher-metadata", [Metadata, Plain, Plain]);
        check("kubernetes.default.svc.cluster.local", [Kubernetes, Kubernetes, Plain]);
        check("svc.cluster.local", [Kubernetes, Plain, Plain]);
        check("cluster.local", [Kubernetes, Plain, Plain]);
        check("pod.cluster.local", [Kubernetes, Plain, Plain]);
        check("kubernetes.default.svc", [Kubernetes, Plain, Plain]);
        check("mycluster.local", [Local, Plain, Plain]);
        check("a.svc.org", [Plain; 3]);
        check("intranet", [Local, Plain, Plain]);
        check("example.com", [Plain; 3]);
        check("xn--bcher-kva.example", [Plain; 3]);
    }

    #[track_caller]
    fn check_form(name: &str, expected: bool) {
        assert_eq!(well_formed(name).is_ok(), expected, "{name:?}");
    }

    #[test]
    fn a_name_is_what_dns_can_carry() {
        let label = "a".repeat(63);
        check_form(&label, true);
        check_form(&format!("{label}a"), false);
        let long = format!("{label}.{label}.{label}.{}", "a".repeat(61));
        assert_eq!(long.len(), 253);
        check_form(&long, true);
        check_form(&format!("{long}a"), false);
        check_form("_dmarc.example.com", true);
        check_form("-a.example.com", true);
        for wrong in
            ["", ".", "a..b", ".a", "a.", "a b", "*.a", "a*", "a%b", "a\n", "A.b", "ä.b", "a!b", "a,b"]
        {
            check_form(wrong, false);
        }
    }
}

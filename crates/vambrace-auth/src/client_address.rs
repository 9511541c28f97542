//! Whose request it is, behind proxies.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use ipnet::IpNet;

/// Which address of `X-Forwarded-For` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardedFor {
    /// The first from the right that is not a trusted proxy.
    Rightmost,
    /// The first of all (specification 001's guide).
    Leftmost,
}

/// LIMIT: no real chain is longer.
const MOST_HOPS: usize = 64;

/// `headers` are the values of `X-Forwarded-For` in the order in which they stand.
///
/// THREAT: P12, each proxy adds what it saw on the right, and everything further left may be the sender's
/// invention. So the walk goes from the right and ends at the first address that is nobody's of ours, or at a
/// part that cannot be read: then the one who passed it on is the best that is known.
pub fn client_address(peer: IpAddr, headers: &[&str], trusted: &[IpNet], rule: ForwardedFor) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted_proxy(peer, trusted) {
        return peer;
    }
    let parts =
        || headers.iter().flat_map(|value| value.split(',')).map(str::trim).filter(|part| !part.is_empty());
    match rule {
        ForwardedFor::Leftmost => parts().next().and_then(address).unwrap_or(peer),
        ForwardedFor::Rightmost => {
            let mut reached = peer;
            for part in parts().rev().take(MOST_HOPS) {
                let Some(next) = address(part) else { break };
                reached = next;
                if !is_trusted_proxy(reached, trusted) {
                    break;
                }
            }
            reached
        }
    }
}

/// Whether an address belongs to one of our proxies, however either of them is spelled: a listener for both
/// families sees IPv4 peers as IPv6 ones.
pub fn is_trusted_proxy(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| match (network, address) {
        // `::ffff:10.0.0.0/104` means IPv4 addresses; `::/0` does not.
        (IpNet::V6(mapped), IpAddr::V4(address)) => {
            mapped.prefix_len() >= 96 && mapped.contains(&address.to_ipv6_mapped())
        }
        (IpNet::V4(_) | IpNet::V6(_), _) => network.contains(&address),
    })
}

/// An address as proxies write it: bare, with a port, in brackets, with a zone.
fn address(part: &str) -> Option<IpAddr> {
    let bracketed = part.strip_prefix('[');
    let bare = match bracketed.and_then(|rest| rest.split_once(']')) {
        Some((inside, after)) if after.is_empty() || after.strip_prefix(':').is_some_and(is_port) => inside,
        Some(_) => return None,
        None if bracketed.is_some() => return None,
        None => part,
    };
    let without_zone = match bare.split_once('%') {
        // A zone names an interface of the proxy's machine, of which we know nothing.
        Some((address, zone)) if !zone.is_empty() => address.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        Some(_) => None,
        None => bare.parse().ok(),
    };
    let with_port = || match part.parse::<SocketAddr>() {
        Ok(SocketAddr::V4(address)) => Some(IpAddr::V4(*address.ip())),
        Ok(SocketAddr::V6(_)) | Err(_) => None,
    };
    let found = without_zone.or_else(with_port)?;
    (bracketed.is_none() || found.is_ipv6()).then_some(found.to_canonical())
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

/// By what an address is counted. THREAT: P12, a household or a rented machine has a whole /64 of IPv6
/// addresses, and would have as many buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressKey(IpAddr);

impl AddressKey {
    pub fn of(address: IpAddr) -> AddressKey {
        AddressKey(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        })
    }

    /// The address itself, or the first of its network.
    pub fn ip(self) -> IpAddr {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_as_proxies_write_them() {
        #[track_caller]
        fn check(part: &str, expected: Option<&str>) {
            assert_eq!(address(part).map(|address| address.to_string()).as_deref(), expected, "{part}");
        }
        check("203.0.113.1", Some("203.0.113.1"));
        check("203.0.113.1:443", Some("203.0.113.1"));
        check("203.0.113.1:0", Some("203.0.113.1"));
        check("203.0.113.1:65536", None);
        check("203.0.113.1:", None);
        check("[203.0.113.1]", None);
        check("[203.0.113.1]:80", None);
        check("203.0.113.256", None);
        check("203.0.113", None);
        check("0x7f.1", None);
        check("010.0.0.1", None); // octal for some, decimal for others
        check("2001:db8::1", Some("2001:db8::1"));
        check("[2001:db8::1]", Some("2001:db8::1"));
        check("[2001:db8::1]:443", Some("2001:db8::1"));
        check("[2001:db8::1]:", None);
        check("[2001:db8::1]:+1", None);
        check("[2001:db8::1]x", None);
        check("[2001:db8::1", None);
        check("2001:db8::1]", None);
        check("fe80::1%eth0", Some("fe80::1"));
        check("[fe80::1%25eth0]:80", Some("fe80::1"));
        check("fe80::1%", None);
        check("10.0.0.1%eth0", None);
        check("::ffff:10.0.0.1", Some("10.0.0.1"));
        check("[::ffff:10.0.0.1]:80", Some("10.0.0.1"));
        check("unknown", None);
        check("_hidden", None);
        check("\"10.0.0.1\"", None);
        check("", None);
    }

    #[track_caller]
    fn walk(peer: &str, headers: &[&str], expected: &str, expected_first: &str) {
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "2001:db8:1::/48"].map(|net| net.parse().unwrap()).into();
        let find = |rule| client_address(peer.parse().unwrap(), headers, &trusted, rule).to_string();
        assert_eq!(find(ForwardedFor::Rightmost), expected, "{peer} {headers:?}");
        assert_eq!(find(ForwardedFor::Leftmost), expected_first, "{peer} {headers:?}, leftmost");
    }

    #[test]
    fn the_walk_ends_at_the_first_stranger_or_at_what_cannot_be_read() {
        walk("10.0.0.5", &["1.2.3.4", "203.0.113.1"], "203.0.113.1", "1.2.3.4"); // several headers
        walk("10.0.0.5", &["1.2.3.4, 10.0.0.7", "10.0.0.6"], "1.2.3.4", "1.2.3.4");
        walk("10.0.0.5", &["1.2.3.4,, ,"], "1.2.3.4", "1.2.3.4");
        walk("10.0.0.5", &["", " "], "10.0.0.5", "10.0.0.5");
        walk("10.0.0.5", &["1.2.3.4, garbage"], "10.0.0.5", "1.2.3.4");
        walk("10.0.0.5", &["1.2.3.4, garbage, 10.0.0.9"], "10.0.0.9", "1.2.3.4");
        walk("10.0.0.5", &["garbage, 203.0.113.1"], "203.0.113.1", "10.0.0.5");
        walk("10.0.0.5", &["203.0.113.1:4711, [2001:db8:1::7]:80"], "203.0.113.1", "203.0.113.1");
        walk("::ffff:10.0.0.5", &["::ffff:1.2.3.4"], "1.2.3.4", "1.2.3.4");
        walk("2001:db8:1::5", &["1.2.3.4"], "1.2.3.4", "1.2.3.4");
        walk("2001:db8:2::5", &["1.2.3.4"], "2001:db8:2::5", "2001:db8:2::5");
    }

    #[test]
    fn the_walk_is_bounded() {
        let ours = vec!["10.0.0.9"; MOST_HOPS - 1].join(",");
        walk("10.0.0.5", &["1.2.3.4", &ours], "1.2.3.4", "1.2.3.4");
        walk("10.0.0.5", &["1.2.3.4", "10.0.0.8", &ours], "10.0.0.8", "1.2.3.4");
    }

    #[test]
    fn networks_of_mapped_addresses_mean_ipv4() {
        #[track_caller]
        fn check(address: &str, network: &str, expected: bool) {
            let network = network.parse().unwrap();
            assert_eq!(
                is_trusted_proxy(address.parse().unwrap(), &[network]),
                expected,
                "{address} {network}"
            );
        }
        check("10.0.0.5", "::ffff:10.0.0.0/104", true);
        check("11.0.0.5", "::ffff:10.0.0.0/104", false);
        check("::ffff:10.0.0.5", "10.0.0.0/8", true);
        check("10.0.0.5", "::/0", false);
        check("10.0.0.5", "0.0.0.0/0", true);
        check("2001:db8::1", "0.0.0.0/0", false);
        check("127.0.0.2", "127.0.0.1/8", true); // the bits behind the prefix do not count
    }

    #[test]
    fn ipv6_is_counted_by_network() {
        #[track_caller]
        fn check(address: &str, expected: &str) {
            assert_eq!(AddressKey::of(address.parse().unwrap()).ip().to_string(), expected, "{address}");
        }
        check("203.0.113.1", "203.0.113.1");
        check("::ffff:203.0.113.1", "203.0.113.1");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
        check("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::");
        check("2001:db8:1:3::", "2001:db8:1:3::"); // the next network
        check("::1", "::");
    }
}

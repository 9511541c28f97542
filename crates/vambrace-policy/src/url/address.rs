//! Which addresses are nobody's business: one table of the IANA special-purpose registries, with what hides
//! inside IPv6 addresses taken out and judged for itself.

mod embedded;
mod table;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

use super::Ranges;
use table::{Kind, Row};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressClass {
    Public,
    /// RFC 1918 and unique local: the networks of houses and companies.
    PrivateNetwork,
    Loopback,
    LinkLocal,
    /// Where clouds hand out credentials.
    Metadata,
    /// Every other special purpose, by the registry's name for it.
    Special(&'static str),
}

impl AddressClass {
    /// What fewer settings can open is worse.
    fn badness(self) -> u8 {
        match self {
            AddressClass::Public => 0,
            AddressClass::PrivateNetwork => 1,
            AddressClass::LinkLocal => 2,
            AddressClass::Loopback => 3,
            AddressClass::Special(_) => 4,
            AddressClass::Metadata => 5,
        }
    }

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            AddressClass::Public => "public",
            AddressClass::PrivateNetwork => "private network",
            AddressClass::Loopback => "loopback",
            AddressClass::LinkLocal => "link-local",
            AddressClass::Metadata => "metadata service",
            AddressClass::Special(name) => name,
        }
    }
}

/// What the address really is: the worse of what it is itself and of what it carries.
pub fn classify(address: IpAddr) -> AddressClass {
    // THREAT: P05, `::ffff:127.0.0.1` is this machine: the kernel dials the IPv4 address.
    let address = address.to_canonical();
    let own = own_class(address);
    carried(address).into_iter().map(|inner| own_class(inner.into())).fold(own, |worst, class| {
        match class.badness() > worst.badness() {
            true => class,
            false => worst,
        }
    })
}

/// Canonical.
fn carried(address: IpAddr) -> Vec<Ipv4Addr> {
    match address {
        IpAddr::V4(_) => Vec::new(),
        IpAddr::V6(address) => embedded::addresses(address),
    }
}

/// Specification 000's: whether a request there is refused.
pub fn is_private_ip(address: IpAddr) -> bool {
    classify(address) != AddressClass::Public
}

/// What a set of ranges refuses. None: it has nothing against the address.
pub(super) fn refused_by(ranges: Ranges, address: IpAddr) -> Option<AddressClass> {
    let class = classify(address);
    let listed: &[IpNet] = match ranges {
        Ranges::Full => return (class != AddressClass::Public).then_some(class),
        Ranges::Seed000 => table::SEED000,
        Ranges::Seed001 => table::SEED001,
        Ranges::Seed003 => table::SEED003,
    };
    // THREAT: P05, whatever a specification lists: the kernel dials loopback for an unspecified address, and a gateway dials
    // what an IPv6 address carries.
    let is_in = |address: IpAddr| listed.iter().chain(table::UNSPECIFIED).any(|net| net.contains(&address));
    let address = address.to_canonical();
    let is_listed = is_in(address) || carried(address).into_iter().any(|inner| is_in(inner.into()));
    match (class, is_listed) {
        (AddressClass::Metadata, _) => Some(class),
        // 192.0.0.9 and .10 are public by the registry and inside a range of specification 001.
        (AddressClass::Public, true) => Some(AddressClass::Special("IETF Protocol Assignments")),
        (
            AddressClass::PrivateNetwork
            | AddressClass::Loopback
            | AddressClass::LinkLocal
            | AddressClass::Special(_),
            true,
        ) => Some(class),
        (
            AddressClass::Public
            | AddressClass::PrivateNetwork
            | AddressClass::Loopback
            | AddressClass::LinkLocal
            | AddressClass::Special(_),
            false,
        ) => None,
    }
}

/// The row that an address falls under by itself, for people.
pub(super) fn row_words(address: IpAddr) -> Option<String> {
    row(address.to_canonical()).map(|row| format!("{} {}", row.net, row.name))
}

/// The most specific row.
fn row(address: IpAddr) -> Option<&'static Row> {
    table::ROWS.iter().filter(|row| row.net.contains(&address)).max_by_key(|row| row.net.prefix_len())
}

fn own_class(address: IpAddr) -> AddressClass {
    if table::METADATA.contains(&address) {
        return AddressClass::Metadata;
    }
    let Some(row) = row(address) else {
        let is_allocated = address.is_ipv4() || table::ALLOCATED.iter().any(|net| net.contains(&address));
        return if is_allocated { AddressClass::Public } else { AddressClass::Special("Unallocated") };
    };
    match row.kind {
        Kind::Public => AddressClass::Public,
        Kind::Private => AddressClass::PrivateNetwork,
        Kind::Loopback => AddressClass::Loopback,
        Kind::LinkLocal => AddressClass::LinkLocal,
        Kind::Special => AddressClass::Special(row.name),
    }
}

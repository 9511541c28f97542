//! The IANA IPv4 and IPv6 special-purpose address registries and the multicast ranges, as of 2026-07-18, with
//! the few that stand in no registry any more. Data only.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

pub(super) enum Kind {
    /// Special, and yet reachable from everywhere.
    Public,
    Private,
    Loopback,
    LinkLocal,
    Special,
}

pub(super) struct Row {
    pub(super) net: IpNet,
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

const fn v4([a, b, c, d]: [u8; 4], prefix: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix))
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], prefix: u8) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix))
}

const fn row(net: IpNet, name: &'static str, kind: Kind) -> Row {
    Row { net, name, kind }
}

/// What the registry calls not applicable (6to4, Teredo, ORCHID) is special: no gateway for it is left that
/// anyone should use.
#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    row(v4([0, 0, 0, 0], 8), "This network", Kind::Special),
    row(v4([0, 0, 0, 0], 32), "This host on this network", Kind::Special),
    row(v4([10, 0, 0, 0], 8), "Private-Use", Kind::Private),
    row(v4([100, 64, 0, 0], 10), "Shared Address Space", Kind::Special),
    row(v4([127, 0, 0, 0], 8), "Loopback", Kind::Loopback),
    row(v4([168, 63, 129, 16], 32), "Azure host agent", Kind::Special),
    row(v4([169, 254, 0, 0], 16), "Link Local", Kind::LinkLocal),
    row(v4([172, 16, 0, 0], 12), "Private-Use", Kind::Private),
    row(v4([192, 0, 0, 0], 24), "IETF Protocol Assignments", Kind::Special),
    row(v4([192, 0, 0, 0], 29), "IPv4 Service Continuity Prefix", Kind::Special),
    row(v4([192, 0, 0, 8], 32), "IPv4 dummy address", Kind::Special),
    row(v4([192, 0, 0, 9], 32), "Port Control Protocol Anycast", Kind::Public),
    row(v4([192, 0, 0, 10], 32), "TURN Anycast", Kind::Public),
    row(v4([192, 0, 0, 170], 32), "NAT64/DNS64 Discovery", Kind::Special),
    row(v4([192, 0, 0, 171], 32), "NAT64/DNS64 Discovery", Kind::Special),
    row(v4([192, 0, 2, 0], 24), "TEST-NET-1", Kind::Special),
    row(v4([192, 31, 196, 0], 24), "AS112-v4", Kind::Public),
    row(v4([192, 52, 193, 0], 24), "AMT", Kind::Public),
    row(v4([192, 88, 99, 0], 24), "Deprecated 6to4 Relay Anycast", Kind::Special),
    row(v4([192, 88, 99, 2], 32), "6a44-relay anycast", Kind::Special),
    row(v4([192, 168, 0, 0], 16), "Private-Use", Kind::Private),
    row(v4([192, 175, 48, 0], 24), "Direct Delegation AS112", Kind::Public),
    row(v4([198, 18, 0, 0], 15), "Benchmarking", Kind::Special),
    row(v4([198, 51, 100, 0], 24), "TEST-NET-2", Kind::Special),
    row(v4([203, 0, 113, 0], 24), "TEST-NET-3", Kind::Special),
    row(v4([224, 0, 0, 0], 4), "Multicast", Kind::Special),
    row(v4([240, 0, 0, 0], 4), "Reserved", Kind::Special),
    row(v4([255, 255, 255, 255], 32), "Limited Broadcast", Kind::Special),
    row(v6([0, 0, 0, 0, 0, 0, 0, 0], 96), "IPv4-compatible", Kind::Special),
    row(v6([0, 0, 0, 0, 0, 0, 0, 0], 128), "Unspecified", Kind::Special),
    row(v6([0, 0, 0, 0, 0, 0, 0, 0x1], 128), "Loopback", Kind::Loopback),
    row(v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), "IPv4-mapped", Kind::Special),
    row(v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), "IPv4-translated", Kind::Special),
    row(v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), "IPv4-IPv6 Translation", Kind::Public),
    row(v6([0x64, 0xff9b, 0x1, 0, 0, 0, 0, 0], 48), "IPv4-IPv6 Translation local-use", Kind::Special),
    row(v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), "Discard-Only", Kind::Special),
    row(v6([0x100, 0, 0, 0x1, 0, 0, 0, 0], 64), "Dummy IPv6 Prefix", Kind::Special),
    row(v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "IETF Protocol Assignments", Kind::Special),
    row(v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), "TEREDO", Kind::Special),
    row(v6([0x2001, 0x1, 0, 0, 0, 0, 0, 0x1], 128), "PCP Anycast", Kind::Public),
    row(v6([0x2001, 0x1, 0, 0, 0, 0, 0, 0x2], 128), "TURN Anycast", Kind::Public),
    row(v6([0x2001, 0x1, 0, 0, 0, 0, 0, 0x3], 128), "DNS-SD SRP Anycast", Kind::Public),
    row(v6([0x2001, 0x2, 0, 0, 0, 0, 0, 0], 48), "Benchmarking", Kind::Special),
    row(v6([0x2001, 0x3, 0, 0, 0, 0, 0, 0], 32), "AMT", Kind::Public),
    row(v6([0x2001, 0x4, 0x112, 0, 0, 0, 0, 0], 48), "AS112-v6", Kind::Public),
    row(v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28), "Deprecated ORCHID", Kind::Special),
    row(v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28), "ORCHIDv2", Kind::Public),
    row(v6([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28), "DET", Kind::Public),
    row(v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "Documentation", Kind::Special),
    row(v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "6to4", Kind::Special),
    row(v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), "AS112 Direct Delegation", Kind::Public),
    row(v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "Documentation", Kind::Special),
    row(v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16), "SRv6 SIDs", Kind::Special),
    row(v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "Unique-Local", Kind::Private),
    row(v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "Link-Local Unicast", Kind::LinkLocal),
    row(v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "Site-Local", Kind::Special),
    row(v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "Multicast", Kind::Special),
];

/// What IANA has allocated of the global unicast space (2000::/3), by its registry of IPv6 unicast assignments; nothing
/// else of IPv6 leads anywhere but into somebody's own network. Rows above speak first.
#[rustfmt::skip]
pub(super) static ALLOCATED: &[IpNet] = &[
    v6([0x2001, 0x200, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x400, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x600, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x800, 0, 0, 0, 0, 0, 0], 22),
    v6([0x2001, 0xc00, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0xe00, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x1200, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x1400, 0, 0, 0, 0, 0, 0], 22),
    v6([0x2001, 0x1800, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x1a00, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x1c00, 0, 0, 0, 0, 0, 0], 22),
    v6([0x2001, 0x2000, 0, 0, 0, 0, 0, 0], 19),
    v6([0x2001, 0x4000, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x4200, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x4400, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x4600, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x4800, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x4a00, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x4c00, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x5000, 0, 0, 0, 0, 0, 0], 20),
    v6([0x2001, 0x8000, 0, 0, 0, 0, 0, 0], 19),
    v6([0x2001, 0xa000, 0, 0, 0, 0, 0, 0], 20),
    v6([0x2001, 0xb000, 0, 0, 0, 0, 0, 0], 20),
    v6([0x2003, 0, 0, 0, 0, 0, 0, 0], 18),
    v6([0x2400, 0, 0, 0, 0, 0, 0, 0], 12),
    v6([0x2410, 0, 0, 0, 0, 0, 0, 0], 12),
    v6([0x2600, 0, 0, 0, 0, 0, 0, 0], 12),
    v6([0x2610, 0, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2620, 0, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2630, 0, 0, 0, 0, 0, 0, 0], 12),
    v6([0x2800, 0, 0, 0, 0, 0, 0, 0], 12),
    v6([0x2a00, 0, 0, 0, 0, 0, 0, 0], 12),
    v6([0x2a10, 0, 0, 0, 0, 0, 0, 0], 12),
    v6([0x2c00, 0, 0, 0, 0, 0, 0, 0], 12),
];

#[rustfmt::skip]
pub(super) static METADATA: &[IpAddr] = &[
    // AWS, Azure, GCP, OpenStack and most others.
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    // AWS, containers.
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    // AWS, EKS.
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    // Scaleway.
    IpAddr::V4(Ipv4Addr::new(169, 254, 42, 42)),
    // Tencent.
    IpAddr::V4(Ipv4Addr::new(169, 254, 0, 23)),
    // Alibaba.
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    // Oracle, old.
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    // Azure's host agent, in no special range.
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    // AWS.
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    // AWS, EKS.
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    // GCP.
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    // Scaleway.
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42)),
    // Oracle.
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe)),
    // Akamai.
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 0x1)),
    // Alibaba.
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x100, 0, 0, 0, 0, 0x100, 0x200)),
    // OpenStack.
    IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe)),
];

/// With every specification's ranges.
#[rustfmt::skip]
pub(super) static UNSPECIFIED: &[IpNet] = &[
    v4([0, 0, 0, 0], 8),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128),
];

/// Specification 000's eight.
#[rustfmt::skip]
pub(super) static SEED000: &[IpNet] = &[
    v4([127, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    v4([172, 16, 0, 0], 12),
    v4([192, 168, 0, 0], 16),
    v4([169, 254, 0, 0], 16),
    v6([0, 0, 0, 0, 0, 0, 0, 0x1], 128),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
];

/// Specification 001's seventeen.
#[rustfmt::skip]
pub(super) static SEED001: &[IpNet] = &[
    v4([10, 0, 0, 0], 8),
    v4([172, 16, 0, 0], 12),
    v4([192, 168, 0, 0], 16),
    v4([127, 0, 0, 0], 8),
    v4([169, 254, 0, 0], 16),
    v4([0, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
    v6([0, 0, 0, 0, 0, 0, 0, 0x1], 128),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7),
];

/// Specification 003's nine.
#[rustfmt::skip]
pub(super) static SEED003: &[IpNet] = &[
    v4([10, 0, 0, 0], 8),
    v4([172, 16, 0, 0], 12),
    v4([192, 168, 0, 0], 16),
    v4([127, 0, 0, 0], 8),
    v4([169, 254, 0, 0], 16),
    v4([0, 0, 0, 0], 8),
    v6([0, 0, 0, 0, 0, 0, 0, 0x1], 128),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7),
];

//! IPv4 addresses inside IPv6 addresses, each of which some gateway would take out and dial.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Everything that the address may carry. Not IPv4-mapped ones: they are IPv4 addresses.
pub(super) fn addresses(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let mut inside = Vec::new();
    match [a, b, c, d, e, f] {
        // `::` and `::1` carry nothing; they are what they are.
        [0, 0, 0, 0, 0, 0] if (g, h) == (0, 0) || (g, h) == (0, 1) => {}
        // NAT64 (RFC 6052); IPv4-compatible, which RFC 4291 gave up; IPv4-translated (RFC 2765).
        [0x64, 0xff9b, 0, 0, 0, 0] | [0, 0, 0, 0, 0, 0] | [0, 0, 0, 0, 0xffff, 0] => {
            inside.push(joined(g, h))
        }
        // NAT64 with the local prefix (RFC 8215): its owner chooses one of five lengths, so each is tried.
        // Bits 64 to 71 carry nothing.
        [0x64, 0xff9b, 1, ..] => {
            let [_, _, _, _, _, _, o6, o7, _, o9, o10, o11, o12, ..] = address.octets();
            inside.extend([
                Ipv4Addr::new(o6, o7, o9, o10),
                Ipv4Addr::new(o7, o9, o10, o11),
                Ipv4Addr::new(o9, o10, o11, o12),
                joined(g, h),
            ]);
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => inside.push(joined(high, low)),
        // Teredo (RFC 4380): the server, and the client turned over bit by bit.
        [0x2001, 0, high, low, ..] => inside.extend([joined(high, low), joined(!g, !h)]),
        _ => {}
    }
    // ISATAP (RFC 5214) lives behind any prefix; 0x0200 says that the address is unique in the world.
    if (e & !0x0200, f) == (0, 0x5efe) {
        inside.push(joined(g, h));
    }
    inside
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

//! Addresses held against a table, against a second reading of the registries that works on strings of bits,
//! and against the registries themselves where they are at hand.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use vambrace_policy::url::{AddressClass, classify, is_private_ip};

use crate::url_corpus::corpus;

const ADDRESSES: &str = include_str!("../../../../testdata/addresses.tsv");

fn words(class: AddressClass) -> String {
    match class {
        AddressClass::Public => "public".to_owned(),
        AddressClass::PrivateNetwork => "private".to_owned(),
        AddressClass::Loopback => "loopback".to_owned(),
        AddressClass::LinkLocal => "link-local".to_owned(),
        AddressClass::Metadata => "metadata".to_owned(),
        AddressClass::Special(name) => format!("special: {name}"),
    }
}

#[test]
fn every_address_of_the_table_is_what_it_says() {
    for (place, line) in ADDRESSES.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [text, expected, note] = columns[..] else { panic!("line {}", place + 1) };
        let address = text.parse().unwrap();
        assert_eq!(words(classify(address)), expected, "{text}: {note}");
        assert_eq!(is_private_ip(address), expected != "public", "{text}: {note}");
        // By whatever way it is written.
        if let IpAddr::V4(v4) = address {
            assert_eq!(words(classify(v4.to_ipv6_mapped().into())), expected, "{text}, mapped: {note}");
        }
    }
}

/// `p` private, `l` loopback, `k` link-local, `s` special, `.` public after all; then the bits an address
/// begins with. Written from RFC 6890 and the registries, IPv4 as decimal bytes and IPv6 as whole hexadecimal
/// digits where it can be.
fn v4_begins() -> Vec<(char, String)> {
    let bytes = |kind: char, bytes: &[u8], n_bits: usize| {
        let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
        (kind, bits.chars().take(n_bits).collect())
    };
    vec![
        bytes('s', &[0], 8),
        bytes('p', &[10], 8),
        bytes('s', &[100, 64], 10),
        bytes('l', &[127], 8),
        bytes('k', &[169, 254], 16),
        bytes('p', &[172, 16], 12),
        bytes('s', &[192, 0, 0], 24),
        bytes('.', &[192, 0, 0, 9], 32),
        bytes('.', &[192, 0, 0, 10], 32),
        bytes('s', &[192, 0, 2], 24),
        bytes('s', &[192, 88, 99], 24),
        bytes('p', &[192, 168], 16),
        bytes('s', &[198, 18], 15),
        bytes('s', &[198, 51, 100], 24),
        bytes('s', &[203, 0, 113], 24),
        bytes('s', &[224], 3),
    ]
}

fn v6_begins() -> Vec<(char, String)> {
    let digits = |kind: char, text: &str, more: &str| {
        let digit = |digit: char| format!("{:04b}", digit.to_digit(16).unwrap());
        (kind, text.chars().map(digit).collect::<String>() + more)
    };
    vec![
        digits('s', "000000000000000000000000", ""),
        digits('l', "00000000000000000000000000000001", ""),
        digits('s', "0000000000000000ffff0000", ""),
        digits('s', "0064ff9b0001", ""),
        digits('s', "0100000000000000", ""),
        digits('s', "0100000000000001", ""),
        digits('s', "20010", "000"),
        digits('.', "20010001000000000000000000000001", ""),
        digits('.', "20010001000000000000000000000002", ""),
        digits('.', "20010001000000000000000000000003", ""),
        digits('.', "20010003", ""),
        digits('.', "200100040112", ""),
        digits('.', "2001002", ""),
        digits('.', "2001003", ""),
        digits('s', "20010db8", ""),
        digits('s', "2002", ""),
        digits('s', "3fff0", ""),
        digits('s', "5f00", ""),
        digits('p', "f", "110"),
        digits('k', "fe", "10"),
        digits('s', "fe", "11"),
        digits('s', "ff", ""),
    ]
}

const METADATA: [&str; 16] = [
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "169.254.42.42",
    "169.254.0.23",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:42::42",
    "fd00:c1::a9fe:a9fe",
    "fd00:a9fe:a9fe::1",
    "fd00:100::100:200",
    "fe80::a9fe:a9fe",
];

/// What IANA has given to the registries, and where what is carried inside decides.
const GIVEN: &str = "64:ff9b::/96 \
    2001:200::/23 2001:400::/23 2001:600::/23 2001:800::/22 2001:c00::/23 2001:e00::/23 \
    2001:1200::/23 2001:1400::/22 2001:1800::/23 2001:1a00::/23 2001:1c00::/22 \
    2001:2000::/19 2001:4000::/23 2001:4200::/23 2001:4400::/23 2001:4600::/23 \
    2001:4800::/23 2001:4a00::/23 2001:4c00::/23 2001:5000::/20 2001:8000::/19 \
    2001:a000::/20 2001:b000::/20 2003::/18 2400::/12 2410::/12 2600::/12 2610::/23 \
    2620::/23 2630::/12 2800::/12 2a00::/12 2a10::/12 2c00::/12";

fn is_given(bits: &str) -> bool {
    GIVEN.split(' ').any(|block| {
        let (first, length) = block.split_once('/').unwrap();
        let first = format!("{:0128b}", u128::from(first.parse::<Ipv6Addr>().unwrap()));
        bits.starts_with(first.get(..length.parse().unwrap()).unwrap())
    })
}

/// Of all beginnings that fit, the longest; the letter of the metadata services is `m`.
fn naive_own(address: IpAddr) -> char {
    if METADATA.contains(&address.to_string().as_str()) {
        return 'm';
    }
    let (bits, begins) = match address {
        IpAddr::V4(v4) => (format!("{:032b}", u32::from(v4)), v4_begins()),
        IpAddr::V6(v6) => (format!("{:0128b}", u128::from(v6)), v6_begins()),
    };
    let fitting = begins.into_iter().filter(|(_, front)| bits.starts_with(front.as_str()));
    let nobodys = if address.is_ipv4() || is_given(&bits) { '.' } else { 's' };
    fitting.max_by_key(|(_, front)| front.len()).map_or(nobodys, |(kind, _)| kind)
}

fn naive(address: IpAddr) -> char {
    let IpAddr::V6(v6) = address else { return naive_own(address) };
    let hex = format!("{:032x}", u128::from(v6));
    let part = |from: usize, n_digits: usize| hex.chars().skip(from).take(n_digits).collect::<String>();
    let v4 = |digits: &str| IpAddr::V4(Ipv4Addr::from(u32::from_str_radix(digits, 16).unwrap()));
    if let Some(rest) = hex.strip_prefix("00000000000000000000ffff") {
        return naive_own(v4(rest));
    }
    let mut inside = Vec::new();
    let plain = ["000000000000000000000000", "0064ff9b0000000000000000", "0000000000000000ffff0000"];
    if plain.iter().any(|front| hex.starts_with(front)) && u128::from(v6) > 1 {
        inside.push(part(24, 8));
    }
    if hex.starts_with("0064ff9b0001") {
        // The first digits of each length, without the two that carry nothing.
        inside.extend([part(12, 4) + &part(18, 4), part(14, 2) + &part(18, 6), part(18, 8)]);
        inside.push(part(24, 8));
    }
    if hex.starts_with("2002") {
        inside.push(part(4, 8));
    }
    if hex.starts_with("20010000") {
        inside.push(part(8, 8));
        inside.push(format!("{:08x}", u32::from_str_radix(&part(24, 8), 16).unwrap() ^ u32::MAX));
    }
    if ["00005efe", "02005efe"].contains(&part(16, 8).as_str()) {
        inside.push(part(24, 8));
    }
    let kinds = inside.iter().map(|digits| naive_own(v4(digits)));
    let worst = |kind: &char| ".pklsm".find(*kind).unwrap();
    kinds.chain([naive_own(address)]).max_by_key(worst).unwrap()
}

fn letter(class: AddressClass) -> char {
    match class {
        AddressClass::Public => '.',
        AddressClass::PrivateNetwork => 'p',
        AddressClass::LinkLocal => 'k',
        AddressClass::Loopback => 'l',
        AddressClass::Special(_) => 's',
        AddressClass::Metadata => 'm',
    }
}

/// IPv4 addresses, most of them near an edge.
fn any_v4() -> impl Strategy<Value = Ipv4Addr> {
    let edges: Vec<u32> = ADDRESSES
        .lines()
        .filter_map(|line| line.split('\t').next()?.parse::<Ipv4Addr>().ok())
        .map(u32::from)
        .collect();
    let near = (prop::sample::select(edges), -2_i32..=2).prop_map(|(edge, by)| edge.wrapping_add_signed(by));
    prop_oneof![near, any::<u32>()].prop_map(Ipv4Addr::from)
}

fn any_v6() -> impl Strategy<Value = Ipv6Addr> {
    let edges: Vec<u128> = ADDRESSES
        .lines()
        .filter_map(|line| line.split('\t').next()?.parse::<Ipv6Addr>().ok())
        .map(u128::from)
        .collect();
    let near = (prop::sample::select(edges.clone()), -2_i128..=2)
        .prop_map(|(edge, by)| edge.wrapping_add_signed(by));
    // One bit turned over tells whether a prefix is as long as it should be.
    let turned = (prop::sample::select(edges), 0..128_u32).prop_map(|(edge, bit)| edge ^ (1 << bit));
    let fronts =
        prop::sample::select(vec!["::", "64:ff9b::", "::ffff:0:0", "::ffff:0:0:0", "2600::5efe:0:0"]);
    let carried = (fronts, any_v4()).prop_map(|(front, inner)| {
        u128::from(front.parse::<Ipv6Addr>().unwrap()) | u128::from(u32::from(inner))
    });
    let six_to_four = any_v4().prop_map(|inner| (0x2002 << 112) | (u128::from(u32::from(inner)) << 80));
    let teredo = (any_v4(), any_v4()).prop_map(|(server, client)| {
        (0x2001 << 112) | (u128::from(u32::from(server)) << 64) | u128::from(!u32::from(client))
    });
    prop_oneof![near, turned, carried, six_to_four, teredo, any::<u128>()].prop_map(Ipv6Addr::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn strings_of_bits_say_the_same(v4 in any_v4(), v6 in any_v6()) {
        for address in [IpAddr::from(v4), IpAddr::from(v4.to_ipv6_mapped()), IpAddr::from(v6)] {
            prop_assert_eq!(letter(classify(address)), naive(address), "{}", address);
        }
    }
}

/// How many rows the registries have, to say how many were not read when they are missing.
const N_ROWS: usize = 53;

#[test]
fn the_registries_say_the_same() {
    let Some(text) = corpus("ssrf/iana_special_purpose_2026-07-18.csv") else {
        println!("the registries are not here: {N_ROWS} cases not run");
        return;
    };
    let mut n_rows = 0;
    for line in text.lines().skip(1) {
        let (block, rest) = line.split_once(',').unwrap();
        let reachable = rest.rsplit(',').next().unwrap();
        let first: IpAddr = block.split('/').next().unwrap().parse().unwrap();
        let is_public = match (block, reachable) {
            // These are what they carry: `0.0.0.0` here.
            ("::ffff:0:0/96" | "64:ff9b::/96", _) => false,
            (_, "True") => true,
            (_, "False" | "N/A") => false,
            (_, other) => other.starts_with("True"),
        };
        assert_eq!(!is_private_ip(first), is_public, "{line}");
        n_rows += 1;
    }
    assert_eq!(n_rows, N_ROWS, "registries of another size: update the count");
}

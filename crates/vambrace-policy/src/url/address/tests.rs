use super::*;

/// Refused by 000, 001, 003 and by all there is.
#[track_caller]
fn check(address: &str, expected: [bool; 4]) {
    let ranges = [Ranges::Seed000, Ranges::Seed001, Ranges::Seed003, Ranges::Full];
    let found = ranges.map(|ranges| refused_by(ranges, address.parse().unwrap()).is_some());
    assert_eq!(found, expected, "{address}");
}

#[test]
fn a_specification_refuses_its_own_ranges() {
    let (all, none, full) = ([true; 4], [false; 4], [false, false, false, true]);
    let only_001 = [false, true, false, true];
    check("8.8.8.8", none);
    check("2600::1", none);
    for inside in ["10.0.0.0", "172.31.255.255", "192.168.0.1", "127.0.0.1", "169.254.1.1"] {
        check(inside, all);
        // The kernel dials the IPv4 address.
        check(&format!("::ffff:{inside}"), all);
    }
    for inside in ["::1", "fe80::1", "febf:ffff::", "fc00::", "fdff::1"] {
        check(inside, all);
    }
    for outside in ["172.15.255.255", "172.32.0.0", "192.167.255.255"] {
        check(outside, none);
    }
    // No specification lists what nobody has been given.
    for unallocated in ["fe00::", "2000::", "4000::1", "200::1", "2001:1000::", "2d00::1"] {
        check(unallocated, full);
    }
    // The kernel dials loopback.
    for unspecified in ["0.0.0.0", "0.255.255.255", "::", "::ffff:0.0.0.0", "::2", "64:ff9b::"] {
        check(unspecified, all);
    }
    check("1.0.0.0", none);
    for inside in ["100.64.0.1", "192.0.0.1", "192.0.2.1", "198.19.255.255", "198.51.100.1", "203.0.113.1"] {
        check(inside, only_001);
    }
    check("224.0.0.1", only_001);
    check("255.255.255.255", only_001);
    check("192.0.0.9", [false, true, false, false]);
    for special in ["ff02::1", "2001:db8::1", "fec0::1", "192.88.99.1", "2002:808:808::"] {
        check(special, full);
    }
    // What an IPv6 address carries is held against the same list.
    for carrying in [
        "2002:a00:1::",
        "64:ff9b::a00:1",
        "64:ff9b::7f00:1",
        "::127.0.0.1",
        "::ffff:0:10.0.0.1",
        "2600::5efe:192.168.0.1",
        "2001:0:a00:1::",
    ] {
        check(carrying, all);
    }
    check("64:ff9b::6440:1", only_001);
    check("64:ff9b::808:808", none);
    // Metadata, in a range or not.
    for metadata in
        ["169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "2002:a9fe:a9fe::"]
    {
        check(metadata, all);
    }
}

#[test]
fn the_specifications_have_as_many_ranges_as_they_say() {
    assert_eq!([table::SEED000.len(), table::SEED001.len(), table::SEED003.len()], [8, 17, 9]);
}

#[test]
fn a_row_is_found_by_its_own_range() {
    for row in table::ROWS {
        assert_eq!(row.net, row.net.trunc(), "{}", row.name);
        let same = table::ROWS.iter().filter(|other| other.net == row.net).count();
        assert_eq!(same, 1, "{}", row.net);
    }
    assert_eq!(
        row_words("192.0.0.9".parse().unwrap()).unwrap(),
        "192.0.0.9/32 Port Control Protocol Anycast"
    );
    assert_eq!(row_words("::ffff:10.1.2.3".parse().unwrap()).unwrap(), "10.0.0.0/8 Private-Use");
    assert_eq!(row_words("8.8.8.8".parse().unwrap()), None);
}

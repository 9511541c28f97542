//! Ports behind which no web server is.

/// The Fetch standard's list of bad ports: protocols that can be made to read a request as something of their
/// own.
const BLOCKED: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
    3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PortKind {
    Open,
    /// Only for an entry that names it.
    Blocked,
    /// Port 0 is none.
    Never,
}

pub(super) fn kind(port: u16) -> PortKind {
    match port {
        0 => PortKind::Never,
        port if BLOCKED.contains(&port) => PortKind::Blocked,
        _ => PortKind::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(port: u16, expected: PortKind) {
        assert_eq!(kind(port), expected, "{port}");
    }

    #[test]
    fn blocked_ports_and_their_neighbors() {
        check(0, PortKind::Never);
        check(1, PortKind::Blocked);
        check(2, PortKind::Open);
        check(22, PortKind::Blocked);
        check(24, PortKind::Open);
        check(25, PortKind::Blocked);
        check(80, PortKind::Open);
        check(443, PortKind::Open);
        check(3128, PortKind::Open);
        check(6379, PortKind::Open);
        check(6664, PortKind::Open);
        check(6665, PortKind::Blocked);
        check(6669, PortKind::Blocked);
        check(6670, PortKind::Open);
        check(8080, PortKind::Open);
        check(10080, PortKind::Blocked);
        check(65535, PortKind::Open);
    }

    #[test]
    fn the_list_is_in_order_and_says_nothing_twice() {
        assert!(BLOCKED.is_sorted_by(|a, b| a < b));
    }
}

//! Which revisions of the protocol are spoken. 2025-03-26 is not: its clients may send several messages as one.

use rmcp::model::ProtocolVersion;

/// From the oldest to the newest.
pub(super) const SPOKEN: &[ProtocolVersion] = &[
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// The answer to a handshake: what was asked for, or else the newest that is older, since a client knows those that came
/// before its own, or else the newest that has a handshake.
pub(super) fn agreed(wanted: &ProtocolVersion) -> ProtocolVersion {
    let newest = |most: &str| {
        let with_handshake = SPOKEN.iter().rev().filter(|version| version.has_initialize());
        with_handshake.into_iter().find(|version| version.as_str() <= most).cloned()
    };
    let any = || newest(ProtocolVersion::LATEST_WITH_INITIALIZE.as_str());
    newest(wanted.as_str()).or_else(any).unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &str, expected: &str) {
        let wanted = serde_json::from_value(serde_json::json!(wanted)).unwrap();
        assert_eq!(agreed(&wanted).as_str(), expected, "{wanted}");
    }

    #[test]
    fn the_nearest_revision_that_is_spoken_is_the_answer() {
        check("2025-11-25", "2025-11-25");
        check("2025-06-18", "2025-06-18");
        check("2025-03-26", "2024-11-05");
        check("2024-11-05", "2024-11-05");
        check("2024-10-07", "2025-11-25");
        // Has no handshake.
        check("2026-07-28", "2025-11-25");
        check("2099-01-01", "2025-11-25");
        check("", "2025-11-25");
    }
}

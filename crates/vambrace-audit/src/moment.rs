//! A moment as text and back: RFC 3339 in UTC with milliseconds, and the local form of specification 002.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use vambrace_types::Timestamp;

/// `2026-01-02T03:04:05.678Z`
pub(crate) fn write(time: Timestamp, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{:.3}", instant(time));
}

pub fn text(time: Timestamp) -> String {
    let mut out = String::with_capacity(24);
    write(time, &mut out);
    out
}

pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let instant: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_millis(instant.as_millisecond()))
}

/// `20060102_150405` in this machine's time zone.
pub fn stamp(time: Timestamp) -> String {
    local(time, &TimeZone::system())
}

/// `20060102_150405`, as specification 002 writes it.
pub(crate) fn local(time: Timestamp, zone: &TimeZone) -> String {
    zone.to_datetime(instant(time)).strftime("%Y%m%d_%H%M%S").to_string()
}

/// `20260102T030405678Z`: sorts by time and is a plain file name.
pub(crate) fn file_name(time: Timestamp) -> String {
    text(time).chars().filter(|c| !matches!(c, '-' | ':' | '.')).collect()
}

/// A time outside the calendar is shown as its nearest end.
fn instant(time: Timestamp) -> jiff::Timestamp {
    let nearest = if time.millis() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(time.millis()).unwrap_or(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(millis: i64, expected: &str) {
        let time = Timestamp::from_millis(millis);
        assert_eq!(text(time), expected);
        assert_eq!(parse(expected), Some(time));
    }

    #[test]
    fn moments_are_written_with_milliseconds_and_read_back() {
        check(0, "1970-01-01T00:00:00.000Z");
        check(1_700_000_000_007, "2023-11-14T22:13:20.007Z");
        check(-1, "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn other_forms() {
        let time = Timestamp::from_millis(1_700_000_000_007);
        assert_eq!(local(time, &TimeZone::UTC), "20231114_221320");
        assert_eq!(local(time, &TimeZone::fixed(jiff::tz::offset(2))), "20231115_001320");
        assert_eq!(file_name(time), "20231114T221320007Z");
        assert_eq!(parse("yesterday"), None);
    }
}

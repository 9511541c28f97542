//! A moment as text and back: RFC 3339 in UTC with milliseconds, and the local form of specification 002.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use vambrace_types::Timestamp;

/// The last millisecond that the library knows, close to the end of the year 9999.
const LAST: u64 = 253_402_207_200_999;

/// `2026-01-02T03:04:05.678Z`
pub(crate) fn write(time: Timestamp, out: &mut String) {
    match u64::try_from(time.millis()) {
        Ok(millis) if millis <= LAST => write_common(millis, out),
        // Writing to a string cannot fail.
        Ok(_) | Err(_) => drop(write!(out, "{:.3}", instant(time))),
    }
}

/// By hand, because every record has one and a general formatter takes longer than all the rest of its line.
fn write_common(millis: u64, out: &mut String) {
    let (days, of_day) = (millis / 86_400_000, millis % 86_400_000);
    let (year, month, day) = date(days);
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (second, milli) = (of_day / 1000 % 60, of_day % 1000);
    let digit = |value: u64| b'0' + u8::try_from(value % 10).unwrap_or_default();
    let mut bytes = *b"0000-00-00T00:00:00.000Z";
    let digits = [
        year / 1000,
        year / 100,
        year / 10,
        year,
        month / 10,
        month,
        day / 10,
        day,
        hour / 10,
        hour,
        minute / 10,
        minute,
        second / 10,
        second,
        milli / 100,
        milli / 10,
        milli,
    ];
    for (place, value) in bytes.iter_mut().filter(|byte| **byte == b'0').zip(digits) {
        *place = digit(value);
    }
    out.push_str(str::from_utf8(&bytes).unwrap_or_default());
}

/// The Gregorian date so many days after 1 January 1970. Years are counted from March here, so that the leap day is
/// the last of its year; 400 of them, an era, have 146,097 days.
fn date(days: u64) -> (u64, u64, u64) {
    let since_march_0000 = days + 719_468;
    let (era, of_era) = (since_march_0000 / 146_097, since_march_0000 % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // The months from March on have 31, 30, 31, 30, 31 days, twice: 153 in five.
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let (month, next_year) = if from_march < 10 { (from_march + 3, 0) } else { (from_march - 9, 1) };
    (era * 400 + year_of_era + next_year, month, day)
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
    fn our_own_calendar_is_the_library_s() {
        // A step that is no multiple of anything passes through all months, hours and leap years of three centuries.
        let spread = (0..20_000).map(|n| n * 473_385_600_017 / 1000);
        let edges =
            [0, 951_782_399_999, 951_782_400_000, 951_868_800_000, 4_107_542_400_000, 13_569_465_600_000];
        let end = i64::try_from(LAST).unwrap();
        let beyond = [end - 86_400_000, end, end + 1, -1, i64::MIN, i64::MAX];
        for millis in spread.chain(edges).chain(beyond) {
            let time = Timestamp::from_millis(millis);
            assert_eq!(text(time), format!("{:.3}", instant(time)), "{millis}");
        }
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

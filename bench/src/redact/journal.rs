//! Logs and JSON as machines write them, without secrets: ids, digests, encoded bytes, stack traces. Pure.

use std::fmt::Write as _;

use super::kinds::Alphabet;
use super::plant::{chars, uuid};
use crate::sample::Numbers;

const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "INFO", "WARN", "ERROR"];
const PARTS: [&str; 8] =
    ["api::http", "worker", "scheduler", "db.pool", "cache", "auth.session", "billing", "upload"];
const VERBS: [&str; 6] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"];
const PATHS: [&str; 8] = [
    "/v1/orders",
    "/v1/users/me",
    "/healthz",
    "/assets/app.3f9a1c.js",
    "/v2/tokens/refresh",
    "/login",
    "/api/keys?page=2",
    "/metrics",
];
const SAYINGS: [&str; 10] = [
    "request finished",
    "token refreshed",
    "password changed by user",
    "cache miss for key",
    "retrying after timeout",
    "secret rotated, next in 30 days",
    "connection reset by peer",
    "authorization ok",
    "job queued",
    "no credentials in request",
];

/// At least so many bytes of log lines.
pub(super) fn logs(numbers: &mut Numbers, n_bytes: usize) -> String {
    let mut out = String::with_capacity(n_bytes + 4096);
    while out.len() < n_bytes {
        log_line(numbers, &mut out);
    }
    out
}

/// At least so many bytes of JSON, one record a line.
pub(super) fn records(numbers: &mut Numbers, n_bytes: usize) -> String {
    let mut out = String::with_capacity(n_bytes + 4096);
    while out.len() < n_bytes {
        record(numbers, &mut out);
    }
    out
}

fn log_line(numbers: &mut Numbers, out: &mut String) {
    let (day, hour, minute) = (1 + numbers.below(28), numbers.below(24), numbers.below(60));
    let (second, milli) = (numbers.below(60), numbers.below(1000));
    let (level, part, saying) = (numbers.pick(&LEVELS), numbers.pick(&PARTS), numbers.pick(&SAYINGS));
    // Writing to a string cannot fail.
    let _ = write!(out, "2026-03-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z {level:>5} {part}: ");
    let _ = match numbers.below(16) {
        0..=5 => {
            let (verb, path, took) = (numbers.pick(&VERBS), numbers.pick(&PATHS), numbers.below(900));
            let id = uuid(numbers);
            writeln!(out, "{verb} {path} 200 {took}ms request_id={id} bytes={}", numbers.below(90_000))
        }
        6..=9 => writeln!(out, "{saying} user_id={} session={}", numbers.below(99_999), numbers.below(9999)),
        10 => writeln!(out, "artifact sha256:{} stored", chars(Alphabet::Hex, 64, numbers)),
        11 => writeln!(out, "checked out commit {}", chars(Alphabet::Hex, 40, numbers)),
        12 => writeln!(
            out,
            "payload (base64) {}==",
            chars(Alphabet::Base64, 86 + 4 * numbers.below(40), numbers)
        ),
        13 => writeln!(out, "etag=\"{}\" age={}", chars(Alphabet::Hex, 32, numbers), numbers.below(9000)),
        14 => writeln!(out, "peer 10.{}.{}.7:443 {saying}", numbers.below(250), numbers.below(250)),
        _ => trace(numbers, out),
    };
}

fn trace(numbers: &mut Numbers, out: &mut String) -> std::fmt::Result {
    writeln!(out, "panicked at src/{}.rs:{}:{}", numbers.below(90), numbers.below(900), numbers.below(80))?;
    for depth in 0..3 + numbers.below(9) {
        let hash = chars(Alphabet::Hex, 16, numbers);
        let (part, line) = (numbers.pick(&PARTS).replace('.', "::"), numbers.below(2000));
        writeln!(out, "  {depth:>2}: 0x{} - app::{part}::run::h{hash}", chars(Alphabet::Hex, 12, numbers))?;
        writeln!(out, "             at /build/app/src/{}.rs:{line}:9", numbers.below(90))?;
    }
    Ok(())
}

fn record(numbers: &mut Numbers, out: &mut String) {
    let _ = match numbers.below(6) {
        0 => writeln!(
            out,
            "{{\"name\": \"@scope/part-{}\", \"version\": \"{}.{}.0\", \"integrity\": \"sha512-{}==\", \"dev\": true}}",
            numbers.below(999),
            numbers.below(30),
            numbers.below(30),
            chars(Alphabet::Base64, 86, numbers)
        ),
        1 => writeln!(
            out,
            "{{\"id\": \"{}\", \"kind\": \"{}\", \"n_tries\": {}, \"keys\": [\"a\", \"b\"], \"token_count\": {}}}",
            uuid(numbers),
            numbers.pick(&PARTS),
            numbers.below(9),
            numbers.below(9000)
        ),
        2 => writeln!(
            out,
            "{{\"sha\": \"{}\", \"author\": {{\"name\": \"A. Person\", \"email\": \"a{}@example.com\"}}, \"message\": \"{}\"}}",
            chars(Alphabet::Hex, 40, numbers),
            numbers.below(999),
            numbers.pick(&SAYINGS)
        ),
        3 => writeln!(
            out,
            "{{\"thumbnail\": \"data:image/png;base64,iVBORw0KGgo{}\", \"width\": {}, \"height\": {}}}",
            chars(Alphabet::Base64, 300 + 4 * numbers.below(200), numbers),
            numbers.below(4000),
            numbers.below(4000)
        ),
        4 => writeln!(
            out,
            "{{\"path\": \"{}\", \"status\": {}, \"ms\": {}.{}, \"user\": {{\"id\": {}, \"password_set\": true}}}}",
            numbers.pick(&PATHS),
            200 + numbers.below(300),
            numbers.below(900),
            numbers.below(99),
            numbers.below(99_999)
        ),
        _ => writeln!(
            out,
            "{{\"points\": [{}, {}, {}, {}, {}], \"unit\": \"ms\", \"digest\": \"{}\"}}",
            numbers.below(9999),
            numbers.below(9999),
            numbers.below(9999),
            numbers.below(9999),
            numbers.below(9999),
            chars(Alphabet::Hex, 64, numbers)
        ),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_writes_the_same_lines_and_the_records_are_json() {
        let (a, b) = (logs(&mut Numbers::new(3), 20_000), logs(&mut Numbers::new(3), 20_000));
        assert!(a == b && a.len() >= 20_000 && a.ends_with('\n'));
        let text = records(&mut Numbers::new(4), 20_000);
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    }
}

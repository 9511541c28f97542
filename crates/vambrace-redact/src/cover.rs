//! Applying what was found in a text to a part of it: a part alone may hold half a key, which no rule recognizes.

use crate::Finding;

/// What is left of `part`, which stands at byte `at` of the text that was scanned, and how many findings it touched.
/// THREAT: P02, reading a private key from its second line on.
pub fn cover(part: &str, at: usize, findings: &[Finding]) -> (String, usize) {
    let (bytes, n_covered) = cover_bytes(part.as_bytes(), at, findings);
    // A finding holds whole characters; where the part itself begins inside one, what is left of it is shown as such.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    (text, n_covered)
}

/// The same for bytes that may be no text.
pub fn cover_bytes(part: &[u8], at: usize, findings: &[Finding]) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(part.len());
    let (mut done, mut n_covered) = (0, 0);
    let first = findings.partition_point(|finding| finding.end <= at);
    for finding in findings.iter().skip(first).take_while(|finding| finding.start < at + part.len()) {
        let start = finding.start.saturating_sub(at).max(done);
        out.extend_from_slice(part.get(done..start).unwrap_or_default());
        out.extend_from_slice(finding.marker().as_bytes());
        done = finding.end.saturating_sub(at).min(part.len());
        n_covered += 1;
    }
    out.extend_from_slice(part.get(done..).unwrap_or_default());
    (out, n_covered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Redactor, RedactorSettings};

    #[test]
    fn a_part_of_a_key_is_covered_by_what_is_around_it() {
        let label = ["PRIVATE", "KEY"].join(" ");
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(4);
        let key = format!("-----BEGIN {label}-----\n{body}-----END {label}-----\n");
        let text = format!("before\n{key}after\n");
        let findings = Redactor::new(RedactorSettings::default()).unwrap().scan(text.as_bytes());
        for (from, to) in
            [(40, 60), (0, 50), (100, text.len()), (0, text.len()), (0, 6), (text.len() - 6, text.len())]
        {
            let (shown, n_covered) = cover(text.get(from..to).unwrap(), from, &findings);
            assert!(!shown.contains("MII") && !shown.contains("kiG"), "{from}..{to}: {shown}");
            assert_eq!(n_covered > 0, from < text.len() - 6 && to > 7, "{from}..{to}: {shown}");
        }
        assert_eq!(cover("before", 0, &findings).0, "before");
    }
}

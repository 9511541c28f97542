//! Applying what was found in a text to a part of it: a part alone may hold half a key, which no rule recognizes.

use crate::{Finding, PLACEHOLDER_PREFIX};

/// What is left of `part`, which stands at byte `at` of the text that was scanned, and how many findings it touched.
/// THREAT: P02, reading a private key from its second line on.
pub fn cover(part: &str, at: usize, findings: &[Finding]) -> (String, usize) {
    let mut out = String::with_capacity(part.len());
    let (mut done, mut n_covered) = (0, 0);
    for finding in findings.iter().filter(|finding| finding.end > at && finding.start < at + part.len()) {
        let start = finding.start.saturating_sub(at).max(done);
        let end = finding.end.saturating_sub(at).min(part.len());
        // A finding may begin or end inside a character of the bytes around it; then the whole character goes.
        let start = (0..=start).rev().find(|place| part.is_char_boundary(*place)).unwrap_or(0).max(done);
        let end = (end..=part.len()).find(|place| part.is_char_boundary(*place)).unwrap_or(part.len());
        out.push_str(part.get(done..start).unwrap_or_default());
        out.push_str(&format!("{PLACEHOLDER_PREFIX}{}]", finding.rule));
        done = end;
        n_covered += 1;
    }
    out.push_str(part.get(done..).unwrap_or_default());
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

//! Values under stars, in a stream whose length does not change.

use vambrace_types::Secret;

/// Replaces each value by stars, wherever the stream was cut.
///
/// LIMIT: as it is, percent-encoded and in base64 of its own. A server that encodes it otherwise gives it
/// away; it is one that the operator trusts with it.
pub(crate) struct Cover {
    values: Vec<Secret<Vec<u8>>>,
    /// The end of what came so far, as long as a value may begin in it.
    held: Vec<u8>,
    /// Which bytes of `held` belong to a value already.
    hidden: Vec<bool>,
}

impl Cover {
    /// From pairs of a value and the header that it is sent in.
    pub(crate) fn of<'v>(pairs: impl Iterator<Item = (&'v str, String)>) -> Cover {
        let mut values: Vec<Vec<u8>> = Vec::new();
        for (value, header) in pairs.filter(|(value, _)| !value.is_empty()) {
            let forms = [value.as_bytes().to_vec(), header.into_bytes(), percent(value), base64(value)];
            values.extend(forms);
        }
        values.sort();
        values.dedup();
        let values = values.into_iter().map(Secret::new).collect();
        Cover { values, held: Vec::new(), hidden: Vec::new() }
    }

    /// What can be said of the stream so far; the rest is held back.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(chunk);
        self.hidden.resize(self.held.len(), false);
        for value in &self.values {
            mark(&self.held, value.expose(), &mut self.hidden);
        }
        let keep = self.beginning();
        self.give(self.held.len().saturating_sub(keep))
    }

    /// The rest, at the end of the stream.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        self.give(self.held.len())
    }

    pub(crate) fn n_held(&self) -> usize {
        self.held.len()
    }

    /// A whole text at once.
    pub(crate) fn whole(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut covered = self.push(bytes);
        covered.extend(self.finish());
        covered
    }

    fn give(&mut self, n_bytes: usize) -> Vec<u8> {
        let hidden = self.hidden.drain(..n_bytes);
        self.held
            .drain(..n_bytes)
            .zip(hidden)
            .map(|(byte, hidden)| if hidden { b'*' } else { byte })
            .collect()
    }

    /// How many bytes at the end may be the beginning of a value.
    fn beginning(&self) -> usize {
        let longest = self.values.iter().map(|value| value.expose().len()).max().unwrap_or(0);
        let most = longest.saturating_sub(1).min(self.held.len());
        let begins = |n: &usize| {
            let end = self.held.get(self.held.len() - n..).unwrap_or_default();
            self.values.iter().any(|value| value.expose().len() > *n && value.expose().starts_with(end))
        };
        (1..=most).rev().find(begins).unwrap_or(0)
    }
}

/// Every occurrence, those that overlap too.
fn mark(bytes: &[u8], value: &[u8], hidden: &mut [bool]) {
    let finder = memchr::memmem::Finder::new(value);
    let mut from = 0;
    let mut done = 0;
    while let Some(at) = bytes.get(from..).and_then(|rest| finder.find(rest)).map(|at| from + at) {
        let end = at + value.len();
        if let Some(part) = hidden.get_mut(at.max(done)..end) {
            part.fill(true);
        }
        done = end;
        from = at + 1;
    }
}

fn percent(value: &str) -> Vec<u8> {
    let mut encoded = Vec::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(byte);
        } else {
            encoded.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    encoded
}

/// With padding, as RFC 4648 has it.
fn base64(value: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| DIGITS.get((bits & 63) as usize).copied().unwrap_or(b'=');
    let mut encoded = Vec::new();
    for chunk in value.as_bytes().chunks(3) {
        let byte = |n: usize| u32::from(chunk.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digits = [digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits)];
        let n_digits = chunk.len() + 1;
        encoded.extend(digits.iter().enumerate().map(|(n, digit)| if n < n_digits { *digit } else { b'=' }));
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cover(values: &[&str]) -> Cover {
        Cover::of(values.iter().map(|value| (*value, format!("Bearer {value}"))))
    }

    #[track_caller]
    fn check(values: &[&str], text: &str, expected: &str) {
        let covered = cover(values).whole(text.as_bytes());
        assert_eq!(String::from_utf8_lossy(&covered), expected, "{text}");
        let mut byte_by_byte = cover(values);
        let mut covered: Vec<u8> = text.bytes().flat_map(|byte| byte_by_byte.push(&[byte])).collect();
        covered.extend(byte_by_byte.finish());
        assert_eq!(String::from_utf8_lossy(&covered), expected, "{text}, byte by byte");
    }

    #[test]
    fn every_form_of_a_value_is_covered_and_nothing_else() {
        check(&["pa/ss"], "", "");
        check(&["pa/ss"], "x pa/ss y", "x ***** y");
        check(&["pa/ss"], "x pa/s y", "x pa/s y");
        check(&["pa/ss"], "pa/spa/ss", "pa/s*****");
        check(&["pa/ss"], "Bearer pa/ss", "************");
        check(&["pa/ss"], "Bearer pa/s", "Bearer pa/s");
        check(&["pa/ss"], "pa%2Fss", "*******");
        check(&["pa/ss"], "cGEvc3M=", "********");
        check(&["pa/ss"], "PA/SS", "PA/SS");
        check(&["aba", "bab"], "xababx", "x****x");
        check(&["aa"], "aaaaab", "*****b");
        check(&[""], "Bearer x", "Bearer x");
    }

    #[test]
    fn base64_is_rfc_4648s() {
        let rows =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("~~?", "fn4/")];
        for (text, expected) in rows {
            assert_eq!(String::from_utf8(base64(text)).unwrap(), expected);
        }
    }

    /// The naive way: every value at every place.
    fn oracle(cover: &Cover, bytes: &[u8]) -> Vec<u8> {
        let mut covered = bytes.to_vec();
        for at in 0..bytes.len() {
            for value in &cover.values {
                if bytes[at..].starts_with(value.expose()) {
                    covered[at..at + value.expose().len()].fill(b'*');
                }
            }
        }
        covered
    }

    proptest! {
        #[test]
        fn cuts_make_no_difference(
            values in prop::collection::vec("[ab]{1,5}", 1..4),
            chunks in prop::collection::vec("[abB e]{0,7}", 0..12),
        ) {
            let make = || Cover::of(values.iter().map(|value| (value.as_str(), format!("B {value}"))));
            let mut streaming = make();
            let mut covered = Vec::new();
            for chunk in &chunks {
                covered.extend(streaming.push(chunk.as_bytes()));
            }
            covered.extend(streaming.finish());
            prop_assert_eq!(covered, oracle(&make(), chunks.concat().as_bytes()));
        }
    }
}

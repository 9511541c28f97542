//! Values under stars, in a stream whose length does not change.

use vambrace_types::Secret;

/// Replaces each value by stars, wherever the stream was cut.
///
/// In every form of it that is known.
pub(crate) struct Cover {
    values: Vec<Secret<Vec<u8>>>,
    /// The end of what came so far, as long as a value may begin in it.
    held: Vec<u8>,
    /// Which bytes of `held` belong to a value already.
    hidden: Vec<bool>,
}

impl Cover {
    pub(crate) fn of(values: Vec<Secret<Vec<u8>>>) -> Cover {
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

fn mark(bytes: &[u8], value: &[u8], hidden: &mut [bool]) {
    let mut done = 0;
    for at in occurrences(bytes, value) {
        let end = at + value.len();
        if let Some(part) = hidden.get_mut(at.max(done)..end) {
            part.fill(true);
        }
        done = end;
    }
}

/// Where a value begins, also where one begins in another.
pub(super) fn occurrences<'b>(bytes: &'b [u8], value: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    let finder = memchr::memmem::Finder::new(value);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(bytes.get(from..)?)?;
        from = at + 1;
        Some(at)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::form::forms;
    use super::*;

    fn cover(values: &[&str]) -> Cover {
        Cover::of(values.iter().flat_map(|value| forms(value, &format!("Bearer {value}"))).collect())
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
        check(&["pa/ss"], "pa%2fss", "*******");
        check(&["pa/ss"], "{\"pa\\/ss\"}", "{\"******\"}");
        check(&["pa/ss"], "pa\\u002fss", "**********");
        check(&["pa/ss"], "70612f7373 70612F7373", "********** **********");
        check(&["pa/ss"], "PA/SS", "PA/SS");
        // `user:pa/ss-word`, and the first and the last digit are not the value's alone.
        check(&["pa/ss-word"], "dXNlcjpwYS9zcy13b3Jk", "dXNlcjp*************");
        check(&["aba", "bab"], "xababx", "x****x");
        check(&["aa"], "aaaaab", "*****b");
        check(&[""], "Bearer x", "Bearer x");
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
            let forms = |value: &String| forms(value, &format!("B {value}"));
            let make = || Cover::of(values.iter().flat_map(forms).collect());
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

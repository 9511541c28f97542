//! Bytes without their control characters, and the way back to where each byte stood.
//!
//! Only what lies near a control character can read differently without it, so only that is looked at a second time.

use std::borrow::Cow;

use crate::custom::Whole;
use crate::engine::{Engine, Span, View};
use crate::pem;
use crate::redactor::Finder;

/// How far from a place something can stand that has to do with what is found there, keys excepted.
const NEAR: usize = 20 * 1024;
/// How much is looked at around a control character: what is near, and as much again, so that the cut itself is not near.
const AROUND: usize = 2 * NEAR;

/// What is left of some bytes when their control characters are dropped.
pub(crate) fn without_controls(bytes: &[u8]) -> Cow<'_, [u8]> {
    if next_control(bytes, 0).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut cleaned = Cleaned::from(0);
    cleaned.append(bytes, bytes.len());
    Cow::Owned(cleaned.bytes)
}

/// What shows only when control characters are dropped, and some of what shows anyway. `plain` is what shows with them.
pub(crate) fn find_beneath(finder: &Finder, bytes: &[u8], plain: &[Span]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut control = next_control(bytes, 0);
    while let Some(first) = control {
        let begin = first.saturating_sub(AROUND);
        // A key that is not closed ends after so many bytes, and those that are dropped do not count.
        let inside = plain.partition_point(|span| span.end <= begin);
        let inside = plain.get(inside).filter(|span| span.start < begin);
        let begin = inside.map_or(begin, |span| span.start.saturating_sub(NEAR));
        let mut last = first;
        control = next_control(bytes, first + 1);
        // Those whose surroundings meet are looked at together.
        while let Some(next) = control.filter(|next| next - last <= 2 * AROUND) {
            last = next;
            control = next_control(bytes, next + 1);
        }
        let near = if begin == 0 { 0 } else { begin + NEAR };
        let reached = look_at(finder, bytes, begin, last + 1 + AROUND, &mut |span| {
            // What ends before is the same with and without, or there only because of the cut.
            if span.end > near {
                found.push(span);
            }
        });
        // A key may have carried us beyond the next ones.
        if control.is_some_and(|next| next < reached) {
            control = next_control(bytes, reached.max(last + 1));
        }
    }
    found
}

/// Looks at the bytes from `begin` to `end`, and on while a key is open. Returns how far everything was seen.
fn look_at(finder: &Finder, bytes: &[u8], begin: usize, end: usize, report: &mut dyn FnMut(Span)) -> usize {
    let mut cleaned = Cleaned::from(begin);
    let mut engine = Engine::new(finder);
    let mut end = end;
    loop {
        cleaned.append(bytes, end.min(bytes.len()));
        let whole = if end >= bytes.len() { Whole::Yes } else { Whole::MoreMayCome };
        let view = View { hay: &cleaned.bytes, base: 0, whole };
        engine.advance(view, &mut |span, _| report(cleaned.placed(span)));
        if whole == Whole::Yes {
            return bytes.len();
        }
        if !engine.is_inside_key() {
            return end.saturating_sub(AROUND);
        }
        end += pem::FARTHEST;
    }
}

struct Cleaned {
    bytes: Vec<u8>,
    /// Where the next byte stands.
    next: usize,
    /// From which cleaned byte on, the place of the byte itself. The first entry is for the beginning.
    places: Vec<(usize, usize)>,
}

impl Cleaned {
    fn from(begin: usize) -> Cleaned {
        Cleaned { bytes: Vec::new(), next: begin, places: vec![(0, begin)] }
    }

    /// Appends what stands before `end`.
    fn append(&mut self, bytes: &[u8], end: usize) {
        while let Some(control) = next_control(bytes, self.next).filter(|control| *control < end) {
            self.bytes.extend_from_slice(bytes.get(self.next..control).unwrap_or_default());
            self.next = control + control_at(bytes, control);
            self.places.push((self.bytes.len(), self.next));
        }
        if self.next < end {
            self.bytes.extend_from_slice(bytes.get(self.next..end).unwrap_or_default());
            self.next = end;
        }
    }

    /// Where a cleaned byte stood before.
    fn place(&self, cleaned: usize) -> usize {
        let after = self.places.partition_point(|(from, _)| *from <= cleaned);
        let (from, place) =
            after.checked_sub(1).and_then(|n| self.places.get(n)).copied().unwrap_or_default();
        place + (cleaned - from)
    }

    /// The same finding where its bytes really stand, with what was dropped between them.
    fn placed(&self, span: Span) -> Span {
        let last = self.place(span.end.saturating_sub(1).max(span.start));
        Span { start: self.place(span.start), end: last + 1, ..span }
    }
}

/// How many bytes long the control character at `place` is; 0 for none. As `vambrace_types::clean_controls`.
fn control_at(bytes: &[u8], place: usize) -> usize {
    match bytes.get(place) {
        Some(b'\n' | b'\r' | b'\t') => 0,
        Some(0x00..=0x1f | 0x7f) => 1,
        // U+0080 to U+009F
        Some(0xc2) if bytes.get(place + 1).is_some_and(|next| (0x80..=0x9f).contains(next)) => 2,
        Some(_) | None => 0,
    }
}

/// The first control character at or after `from`.
fn next_control(bytes: &[u8], from: usize) -> Option<usize> {
    // Without a branch, so that it is compared many bytes at a time.
    let suspicious = |byte: &u8| {
        (*byte < 0x20) & (*byte != b'\n') & (*byte != b'\r') & (*byte != b'\t')
            | (*byte == 0x7f)
            | (*byte == 0xc2)
    };
    let mut place = from;
    for chunk in bytes.get(from..)?.chunks(64) {
        if chunk.iter().fold(false, |any, byte| any | suspicious(byte)) {
            let found = (place..place + chunk.len()).find(|place| control_at(bytes, *place) > 0);
            if found.is_some() {
                return found;
            }
        }
        place += chunk.len();
    }
    None
}

/// Findings that overlap become one, named by the stronger.
pub(crate) fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end), span.rank));
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(open) if span.start < open.end => {
                open.end = open.end.max(span.end);
                if span.rank < open.rank {
                    (open.rank, open.rule) = (span.rank, span.rule);
                }
            }
            Some(_) | None => out.push(span),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Redactor, RedactorSettings};

    #[test]
    fn a_control_character_hides_nothing_from_a_scan() {
        let redactor = Redactor::new(RedactorSettings::default()).unwrap();
        let value = ["Plum", "Trio", "77xK", "horse"].concat();
        for text in [
            format!("pass\u{1}word = \"{value}\"\n"),
            format!("password\u{9b} = \"{value}\"\n"),
            format!("password = \"{}\"\n", value.replace("Trio", "Tr\u{0}io")),
            format!("password = \"{value}\"\n"),
        ] {
            let findings = redactor.scan(text.as_bytes());
            assert_eq!(findings.len(), 1, "{text:?}");
            let found = &text.as_bytes()[findings[0].start..findings[0].end];
            let found: Vec<u8> = found.iter().copied().filter(|byte| *byte != 0).collect();
            assert_eq!(found, value.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn no_rule_looks_farther_than_near() {
        for rule in crate::rules() {
            assert!(rule.sight() + crate::engine::LOOK_BEHIND < NEAR, "{}", rule.name);
        }
    }

    /// Everything a second time without control characters, and an offset for every byte.
    fn naively(finder: &Finder, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut spans = Vec::new();
        finder.each_span(bytes, finder.entropy, &mut |span, _| spans.push(span));
        let (mut cleaned, mut places, mut place) = (Vec::new(), Vec::new(), 0);
        while place < bytes.len() {
            let length = control_at(bytes, place);
            if length == 0 {
                cleaned.push(bytes[place]);
                places.push(place);
            }
            place += length.max(1);
        }
        finder.each_span(&cleaned, finder.entropy, &mut |span, _| {
            spans.push(Span { start: places[span.start], end: places[span.end - 1] + 1, ..span });
        });
        joined(spans).iter().map(|span| (span.start, span.end)).collect()
    }

    fn piece() -> impl Strategy<Value = String> {
        let token = ["ghp", "_", &"a1B2".repeat(9)].concat();
        let label = ["PRIVATE", "KEY"].join(" ");
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n";
        let key = |n_lines: usize| {
            format!("-----BEGIN {label}-----\n{}-----END {label}-----\n", body.repeat(n_lines))
        };
        let fixed = prop::sample::select(vec![
            token.clone(),
            token.replace('1', "1\u{0}"),
            key(3),
            key(400),
            key(3).replace("BEGIN", "BE\u{1b}GIN"),
            key(400).replace("BEGIN", "BE\u{9b}GIN"),
            key(400).replace("-----END", "-----\u{1}END"),
            key(400).replace("-----END", ""),
            format!("password = \"{}\"\n", ["Plum", "Trio", "77xK", "horse"].concat()),
            "pass\u{7f}word=hunter2-staple-Q7x\n".to_owned(),
            "corp-1\u{0}23456".to_owned(),
            "\u{0}".to_owned(),
            "\u{85}".to_owned(),
            "é".to_owned(),
        ]);
        let filler = (1usize..60_000).prop_map(|n| "ordinary words of some length\n".repeat(n / 30));
        prop_oneof![3 => fixed, 1 => filler, 1 => (1usize..300).prop_map(|n| ". ".repeat(n))]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn looking_around_control_characters_finds_as_much_as_looking_everywhere(
            pieces in proptest::collection::vec(piece(), 0..14),
        ) {
            static REDACTOR: std::sync::OnceLock<Redactor> = std::sync::OnceLock::new();
            let redactor = REDACTOR.get_or_init(|| {
                let patterns = vec!["corp-[0-9]{6}".to_owned()];
                Redactor::new(RedactorSettings { patterns, ..RedactorSettings::default() }).unwrap()
            });
            let text = pieces.concat();
            let found: Vec<_> =
                redactor.scan(text.as_bytes()).iter().map(|finding| (finding.start, finding.end)).collect();
            prop_assert_eq!(found, naively(redactor.finder(), text.as_bytes()));
        }
    }
}

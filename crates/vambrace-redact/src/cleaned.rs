//! Bytes without their control characters, and the way back to where each byte stood.

use crate::engine::Span;

pub(crate) struct Cleaned {
    pub(crate) bytes: Vec<u8>,
    /// Where each byte stood before.
    places: Vec<usize>,
}

impl Cleaned {
    /// `None` when there is nothing to drop, which is nearly always. Drops what `vambrace_types::clean_controls` drops.
    pub(crate) fn of(bytes: &[u8]) -> Option<Cleaned> {
        // Without a branch, so that it is compared many bytes at a time.
        let suspicious = |byte: &u8| {
            (*byte < 0x20) & (*byte != b'\n') & (*byte != b'\r') & (*byte != b'\t')
                | (*byte == 0x7f)
                | (*byte == 0xc2)
        };
        if !bytes.chunks(64).any(|chunk| chunk.iter().fold(false, |any, byte| any | suspicious(byte))) {
            return None;
        }
        let mut cleaned = Cleaned { bytes: Vec::with_capacity(bytes.len()), places: Vec::new() };
        let mut place = 0;
        while let Some(byte) = bytes.get(place) {
            let next = bytes.get(place + 1).copied().unwrap_or(0);
            let dropped = match byte {
                b'\n' | b'\r' | b'\t' => 0,
                0x00..=0x1f | 0x7f => 1,
                // U+0080 to U+009F
                0xc2 if (0x80..=0x9f).contains(&next) => 2,
                _ => 0,
            };
            if dropped == 0 {
                cleaned.bytes.push(*byte);
                cleaned.places.push(place);
            }
            place += dropped.max(1);
        }
        (cleaned.bytes.len() < bytes.len()).then_some(cleaned)
    }

    /// The same finding where its bytes really stand, with what was dropped between them.
    pub(crate) fn placed(&self, span: Span) -> Option<Span> {
        let start = *self.places.get(span.start)?;
        let last = *self.places.get(span.end.checked_sub(1)?)?;
        Some(Span { start, end: last + 1, ..span })
    }
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
}

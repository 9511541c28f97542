//! The text under edit: its byte-order mark, its line ending, and the view in which every line ends with LF.

use std::borrow::Cow;
use std::ops::Range;

const BYTE_ORDER_MARK: &str = "\u{feff}";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnding {
    Lf,
    CrLf,
}

impl LineEnding {
    /// CRLF when more than half of the lines end so; a text without lines is LF.
    fn of(text: &str) -> LineEnding {
        if !has_cr(text) {
            return LineEnding::Lf;
        }
        let n_lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let n_crlf = text.matches("\r\n").count();
        if n_crlf * 2 > n_lines { LineEnding::CrLf } else { LineEnding::Lf }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            LineEnding::Lf => "\n",
            LineEnding::CrLf => "\r\n",
        }
    }

    /// In a CRLF file every LF becomes CRLF. In an LF file a CRLF that the caller wrote is what it asked for.
    pub(crate) fn adopt(self, content: &str) -> Cow<'_, str> {
        match self {
            LineEnding::Lf => Cow::Borrowed(content),
            LineEnding::CrLf => Cow::Owned(to_lf(content).replace('\n', "\r\n")),
        }
    }
}

pub(crate) fn to_lf(text: &str) -> Cow<'_, str> {
    if has_cr(text) && text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Most texts have none, and one byte is found many times faster than two.
fn has_cr(text: &str) -> bool {
    memchr::memchr(b'\r', text.as_bytes()).is_some()
}

pub(crate) struct Text<'t> {
    pub(crate) mark: &'t str,
    /// Everything after the mark. Spans count from here.
    pub(crate) body: &'t str,
    pub(crate) ending: LineEnding,
    view: Cow<'t, str>,
    /// Where in the view a CR was left out before the LF, ascending.
    left_out: Vec<usize>,
}

impl<'t> Text<'t> {
    pub(crate) fn new(original: &'t str) -> Text<'t> {
        let (mark, body) = match original.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (BYTE_ORDER_MARK, rest),
            None => ("", original),
        };
        let view = to_lf(body);
        // The n-th CR left out stood n bytes further on in the body.
        let left_out = body.match_indices("\r\n").enumerate().map(|(n, (at, _))| at - n).collect();
        Text { mark, body, ending: LineEnding::of(body), view, left_out }
    }

    /// The body with LF line endings.
    pub(crate) fn view(&self) -> &str {
        &self.view
    }

    /// A span of the body as a span of the view.
    pub(crate) fn view_span(&self, span: &Range<usize>) -> Range<usize> {
        // The n-th CR left out stood `n` bytes further on in the body.
        let n_before = |at: usize| {
            let (mut low, mut high) = (0, self.left_out.len());
            while low < high {
                let middle = low.midpoint(high);
                if self.left_out.get(middle).is_some_and(|left_out| left_out + middle < at) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        span.start - n_before(span.start)..span.end - n_before(span.end)
    }

    /// A span of the view as a span of the body. A CRLF at either edge is inside or outside as a whole.
    pub(crate) fn body_span(&self, span: Range<usize>) -> Range<usize> {
        let shift = |at: usize| at + self.left_out.partition_point(|left_out| *left_out < at);
        shift(span.start)..shift(span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(original: &str, spec: &str, expected: &str) {
        let text = Text::new(original);
        let at = text.view().find(spec).unwrap();
        let span = text.body_span(at..at + spec.len());
        assert_eq!(text.body.get(span).unwrap(), expected, "{original:?} {spec:?}");
    }

    #[test]
    fn a_span_of_the_body_is_found_in_the_view() {
        let text = Text::new("a\r\nbc\r\nd");
        for (body, view) in [(0..1, 0..1), (3..5, 2..4), (3..7, 2..5), (7..8, 5..6), (1..3, 1..2)] {
            assert_eq!(text.view_span(&body), view, "{body:?}");
        }
    }

    #[test]
    fn a_span_of_the_view_is_found_in_the_body() {
        check("a\nb\nc", "b\n", "b\n");
        check("a\r\nb\r\nc", "b", "b");
        check("a\r\nb\r\nc", "b\n", "b\r\n");
        check("a\r\nb\r\nc", "\nb", "\r\nb");
        check("a\r\nb\r\nc", "\nb\nc", "\r\nb\r\nc");
        check("\r\n\r\nx", "\n\n", "\r\n\r\n");
        check("\u{feff}a\r\nb", "a", "a");
        check("a\nb\r\nc\nd", "c\nd", "c\nd"); // mixed
    }

    #[test]
    fn the_majority_decides_the_line_ending() {
        for (text, expected) in [
            ("", LineEnding::Lf),
            ("a", LineEnding::Lf),
            ("a\n", LineEnding::Lf),
            ("a\r\n", LineEnding::CrLf),
            ("a\r\nb\n", LineEnding::Lf), // a tie
            ("a\r\nb\nc\r\n", LineEnding::CrLf),
            ("a\rb", LineEnding::Lf),
        ] {
            assert_eq!(Text::new(text).ending, expected, "{text:?}");
        }
        assert_eq!(LineEnding::CrLf.adopt("a\nb\r\nc"), "a\r\nb\r\nc");
        assert_eq!(LineEnding::Lf.adopt("a\nb\r\nc"), "a\nb\r\nc");
    }
}

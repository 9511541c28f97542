//! Lines from standard input, for the commands that take one request a line. A line that cannot be one is told apart
//! and passed over, so that the lines behind it keep their answers.

use std::io::{BufRead, Read as _};

use super::Exit;
use super::start::usage;

/// LIMIT: as on the MCP door.
pub(crate) const LONGEST: u64 = 16 << 20;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    TooLong,
    NotText,
}

pub(crate) struct Lines<R> {
    input: R,
    longest: u64,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines { input, longest: LONGEST, number: 0 }
    }

    /// The next line that is not empty, with its number.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Line)>, Exit> {
        loop {
            self.number += 1;
            let line = self
                .read()
                .map_err(|error| usage(&format!("standard input, line {}: {error}", self.number)))?;
            match line {
                None => return Ok(None),
                Some(Line::Text(text)) if text.trim().is_empty() => {}
                Some(line) => return Ok(Some((self.number, line))),
            }
        }
    }

    fn read(&mut self) -> std::io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        // One byte more tells a line that is just short enough from one that is too long.
        self.input.by_ref().take(self.longest + 1).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if !bytes.ends_with(b"\n") && bytes.len() as u64 > self.longest {
            self.input.skip_until(b'\n')?;
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(String::from_utf8(bytes).map_or(Line::NotText, Line::Text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &[u8], expected: &[(u64, Line)]) {
        let mut lines = Lines { input, longest: 8, number: 0 };
        let found: Vec<(u64, Line)> = std::iter::from_fn(|| lines.next().unwrap()).collect();
        assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(input));
    }

    #[test]
    fn every_line_is_bounded_and_none_is_lost() {
        let text = |text: &str| Line::Text(text.to_owned());
        check(b"", &[]);
        check(b"a\n\n  \nb", &[(1, text("a\n")), (4, text("b"))]);
        check(b"12345678\n", &[(1, text("12345678\n"))]); // just short enough
        check(b"12345678", &[(1, text("12345678"))]);
        check(b"123456789\nb\n", &[(1, Line::TooLong), (2, text("b\n"))]);
        check(b"123456789", &[(1, Line::TooLong)]);
        check(b"1234567890123456789012345678901234567890", &[(1, Line::TooLong)]);
        check(b"a\xffb\nc\n", &[(1, Line::NotText), (2, text("c\n"))]);
    }
}

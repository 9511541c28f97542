//! A tree as compact JSON text: the form in which sizes are counted, records are written and cut answers are kept.

use std::fmt::Write as _;

use crate::Tree;

impl Tree {
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    pub fn write_json(&self, out: &mut String) {
        match self {
            Tree::Null => out.push_str("null"),
            Tree::Bool(true) => out.push_str("true"),
            Tree::Bool(false) => out.push_str("false"),
            // Writing to a string cannot fail.
            Tree::Int(value) => drop(write!(out, "{value}")),
            // JSON has no NaN and no infinity.
            Tree::Float(value) if value.is_finite() => drop(write!(out, "{value:?}")),
            Tree::Float(_) => out.push_str("null"),
            Tree::Text(text) => write_json_text(text, out),
            Tree::List(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Tree::Map(entries) => {
                out.push('{');
                for (place, (key, value)) in entries.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    write_json_text(key, out);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }

    /// The length of `to_json`, without making it.
    pub fn json_len(&self) -> usize {
        match self {
            Tree::Null | Tree::Bool(true) => 4,
            Tree::Bool(false) => 5,
            Tree::Int(value) => {
                let n_digits = value.unsigned_abs().checked_ilog10().map_or(1, |power| power as usize + 1);
                n_digits + usize::from(*value < 0)
            }
            Tree::Float(_) => self.to_json().len(),
            Tree::Text(text) => json_text_len(text),
            Tree::List(items) => {
                2 + items.len().saturating_sub(1) + items.iter().map(Tree::json_len).sum::<usize>()
            }
            Tree::Map(entries) => {
                let inside: usize =
                    entries.iter().map(|(key, value)| json_text_len(key) + 1 + value.json_len()).sum();
                2 + entries.len().saturating_sub(1) + inside
            }
        }
    }
}

/// One JSON string, quotes included.
pub fn write_json_text(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    // Runs of plain text are copied whole: this is the hot loop of every record and reply.
    while let Some(place) = first_escaped(rest.as_bytes()) {
        let (plain, tail) = rest.split_at(place);
        out.push_str(plain);
        let mut characters = tail.chars();
        match characters.next().map(|c| (c, u8::try_from(c).ok().and_then(escape))) {
            Some((_, Some(Some(short)))) => {
                out.push('\\');
                out.push(short);
            }
            Some((control, _)) => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Where the first byte stands that cannot be written as it is. Eight are looked at together.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGHEST: u64 = ONES * 0x80;
    // The highest bit of each byte that is less than `limit`. A byte behind such a one may be taken for one too.
    let less = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGHEST;
    let equals = |word: u64, byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    let (eights, rest) = bytes.as_chunks::<8>();
    for (number, eight) in eights.iter().enumerate() {
        let word = u64::from_le_bytes(*eight);
        let found = less(word, 0x20) | equals(word, b'"') | equals(word, b'\\');
        if found != 0 {
            return Some(number * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let in_rest = rest.iter().position(|byte| escape(*byte).is_some())?;
    Some(eights.len() * 8 + in_rest)
}

pub fn json_text_len(text: &str) -> usize {
    let extra = |byte: u8| match escape(byte) {
        None => 0,
        Some(Some(_)) => 1,
        Some(None) => 5,
    };
    2 + text.len() + text.bytes().map(extra).sum::<usize>()
}

/// `Some(Some(c))`: written as a backslash and `c`; `Some(None)`: as four hexadecimal digits.
fn escape(byte: u8) -> Option<Option<char>> {
    match byte {
        b'"' => Some(Some('"')),
        b'\\' => Some(Some('\\')),
        b'\n' => Some(Some('n')),
        b'\r' => Some(Some('r')),
        b'\t' => Some(Some('t')),
        0x08 => Some(Some('b')),
        0x0c => Some(Some('f')),
        0x00..=0x1f => Some(None),
        0x20..=0xff => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tree: Tree, expected: &str) {
        assert_eq!(tree.to_json(), expected);
        assert_eq!(tree.json_len(), expected.len(), "{expected}");
    }

    #[test]
    fn trees_are_written_as_json() {
        check(Tree::Null, "null");
        check(Tree::Int(-5), "-5");
        check(Tree::Int(0), "0");
        check(Tree::Int(9), "9");
        check(Tree::Int(10), "10");
        check(Tree::Int(i64::MAX), "9223372036854775807");
        check(Tree::Int(i64::MIN), "-9223372036854775808");
        check(Tree::Float(1.5), "1.5");
        check(Tree::Float(f64::NAN), "null");
        check(Tree::text("a\"b\\c\n\u{1}é"), "\"a\\\"b\\\\c\\n\\u0001é\"");
        check(
            Tree::map([("k", Tree::List(vec![Tree::Bool(true), Tree::Bool(false)]))]),
            "{\"k\":[true,false]}",
        );
        check(Tree::List(vec![]), "[]");
        check(Tree::text("\u{8}\u{c}\u{b}"), "\"\\b\\f\\u000b\"");
    }

    #[test]
    fn the_first_byte_to_escape_is_found_wherever_it_stands() {
        for byte in 0..=255 {
            for length in 0..20 {
                for place in 0..length {
                    for others in [b'a', 0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xff] {
                        let mut bytes = vec![others; length];
                        bytes[place] = byte;
                        let naive = bytes.iter().position(|byte| escape(*byte).is_some());
                        assert_eq!(first_escaped(&bytes), naive, "{bytes:?}");
                    }
                }
            }
        }
    }
}

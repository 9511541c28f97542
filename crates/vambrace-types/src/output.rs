//! What a tool brings back, before anyone has cleaned it.

use std::borrow::Cow;

/// Structured data, wire-format free. Leaves are redacted one by one.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(Cow<'static, str>, Tree)>),
}

impl Tree {
    pub fn text(value: impl Into<String>) -> Tree {
        Tree::Text(value.into())
    }

    pub fn count(value: usize) -> Tree {
        Tree::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    pub fn bytes(value: u64) -> Tree {
        Tree::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// A map whose keys are ours.
    pub fn map(entries: impl IntoIterator<Item = (&'static str, Tree)>) -> Tree {
        Tree::Map(entries.into_iter().map(|(key, value)| (Cow::Borrowed(key), value)).collect())
    }

    pub fn get(&self, key: &str) -> Option<&Tree> {
        match self {
            Tree::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) | Tree::Text(_) | Tree::List(_) => {
                None
            }
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Tree::Text(text) => Some(text),
            Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) | Tree::List(_) | Tree::Map(_) => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Tree]> {
        match self {
            Tree::List(items) => Some(items),
            Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) | Tree::Text(_) | Tree::Map(_) => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Tree::Int(value) => Some(*value),
            Tree::Null | Tree::Bool(_) | Tree::Float(_) | Tree::Text(_) | Tree::List(_) | Tree::Map(_) => {
                None
            }
        }
    }
}

/// A tool's output as the doors made it: no `Display`, no `Debug`, no serialization, so nobody prints it by
/// accident. Only the redactor takes it apart.
pub struct RawOutput {
    tree: Tree,
    bounded: bool,
}

impl RawOutput {
    pub fn new(tree: Tree) -> RawOutput {
        RawOutput { tree, bounded: false }
    }

    /// Output that its own arguments already bound (`read_file`'s `max_bytes`): the reply limit does not apply.
    pub fn bounded_by_request(tree: Tree) -> RawOutput {
        RawOutput { tree, bounded: true }
    }

    pub fn is_bounded_by_request(&self) -> bool {
        self.bounded
    }

    /// How much text it holds, in bytes: so much has to be cleaned.
    pub fn n_text_bytes(&self) -> usize {
        fn count(tree: &Tree) -> usize {
            match tree {
                Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) => 0,
                Tree::Text(text) => text.len(),
                Tree::List(items) => items.iter().map(count).sum(),
                Tree::Map(entries) => entries.iter().map(|(key, value)| key.len() + count(value)).sum(),
            }
        }
        count(&self.tree)
    }

    /// For the redactor. The name is long so that a search finds every use.
    pub fn into_unredacted_tree(self) -> Tree {
        self.tree
    }
}

/// A character that nobody sees, or that turns the text around it: with it, two names look alike.
pub fn is_invisible(character: char) -> bool {
    matches!(u32::from(character),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
        | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0xe0000..=0xe0fff)
}

/// Drops NUL, DEL and control characters except newline, carriage return and tab (specification 003), and says
/// how many. A terminal escape needs one of them to begin, so none survives.
pub fn clean_controls(text: &str) -> (Cow<'_, str>, usize) {
    let dropped = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    // Nearly every text is clean, and a chunk without a branch in it is looked at in a few vector instructions.
    let (chunks, rest) = text.as_bytes().as_chunks::<64>();
    if !chunks.iter().any(|chunk| is_suspicious(chunk)) && !is_suspicious(rest) {
        return (Cow::Borrowed(text), 0);
    }
    let n_dropped = text.chars().filter(|c| dropped(*c)).count();
    if n_dropped == 0 {
        return (Cow::Borrowed(text), 0);
    }
    (Cow::Owned(text.chars().filter(|c| !dropped(*c)).collect()), n_dropped)
}

/// Every dropped character holds a byte below 0x20, 0x7f, or starts with 0xc2 (U+0080 to U+009f).
#[inline]
fn is_suspicious(bytes: &[u8]) -> bool {
    let found = bytes.iter().fold(0, |found: u8, b| {
        let low = (*b < 0x20) & (*b != b'\n') & (*b != b'\r') & (*b != b'\t');
        found | u8::from(low | (*b == 0x7f) | (*b == 0xc2))
    });
    found != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: &str) {
        let (cleaned, n_dropped) = clean_controls(input);
        assert_eq!(cleaned, expected, "{input:?}");
        assert_eq!(n_dropped, input.chars().count() - expected.chars().count());
    }

    #[test]
    fn control_characters_go_and_text_stays() {
        check("plain\ttext\r\nwith lines", "plain\ttext\r\nwith lines");
        check("a\0b", "ab");
        check("\u{1b}[31mred\u{1b}[0m", "[31mred[0m");
        check("\u{9b}31m", "31m"); // the one-byte escape of eight-bit terminals
        check("del\u{7f}", "del");
        check("é £ 漢", "é £ 漢"); // shares the lead byte 0xc2 with the dropped range
    }

    #[test]
    fn wherever_in_a_chunk_it_stands() {
        for length in [0, 1, 63, 64, 65, 127, 128, 129, 200] {
            let plain = "x".repeat(length);
            check(&plain, &plain);
            for at in [0, 1, 62, 63, 64, 65, 126, 127, 128, length].into_iter().filter(|at| *at <= length) {
                let (before, after) = plain.split_at(at);
                for dropped in ["\0", "\u{1f}", "\u{7f}", "\u{80}", "\u{9f}"] {
                    check(&format!("{before}{dropped}{after}"), &plain);
                }
                for kept in ["\n", "\r", "\t", " ", "~", "\u{a0}", "\u{c2}", "漢"] {
                    let text = format!("{before}{kept}{after}");
                    check(&text, &text);
                }
            }
        }
    }
}

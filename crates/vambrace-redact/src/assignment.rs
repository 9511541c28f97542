//! `password = "…"` and its relatives: a value that only its name gives away.
//!
//! Written by hand, because the names are frequent in code: a few bytes after the name decide nearly always that
//! nothing is assigned. Only the value is taken; the name stays readable.

mod name;
mod value;

pub(crate) use name::KEYWORDS;
use name::{Class, Name};
use value::{Manner, is_secret};

use std::sync::LazyLock;

use crate::check;
use crate::class::word;
use crate::redactor::Found;

/// The value ends at most this many bytes after the beginning of the keyword.
pub(crate) const REACH: usize = 4096;
const LONGEST_GAP: usize = 20;
const LONGEST_COMMENT: usize = 40;
/// How far before a password the other arguments of its call are looked for.
const NEIGHBORS: usize = 100;
/// THREAT: P02, a text of nothing but names would be read to the end of its line at each of them. A long bare value has
/// to look random within this many bytes, or it is not read further.
const FIRST_LOOK: usize = 64;

/// How the name and the value are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    Equals,
    Other,
    /// `--token value`
    Space,
    /// `"name", "value"` and `<add key="name" value="value">`: only quotes make it a pair.
    QuotedOnly,
    /// `<password>value</password>`
    Element,
}

pub(crate) fn find(hay: &[u8], place: usize, keyword: &str) -> Option<Found> {
    let name = Name::read(hay, place, keyword)?;
    let (joint, start) = joint(hay, &name)?;
    let end = hay.len().min(place + REACH);
    let rest = hay.get(start..end)?;
    let Written { manner, value, decided_by } = written(hay, &name, joint, rest)?;
    if !is_secret(name.class, manner, value) || !name.keeps(hay, value) || is_badge(hay, &name) {
        return None;
    }
    let first = start + offset(rest, value)?;
    let range = first..first + value.len();
    let seen = start + offset(rest, decided_by)? + decided_by.len();
    Some(Found { extent: name.range.start..seen.max(range.end), value: range })
}

/// For trees: a leaf under the key `name`, which stands there without its name.
pub(crate) fn is_secret_leaf(name: &str, leaf: &str) -> bool {
    if leaf.len() > REACH || leaf.contains(char::is_whitespace) || leaf.contains('"') {
        return false;
    }
    // Nearly every name holds none of the words.
    if !holds_keyword(name.as_bytes()) {
        return false;
    }
    let line = format!("\"{name}\": \"{leaf}\"");
    crate::rules::assignment().is_some_and(|(_, rule)| {
        rule.keywords.iter().any(|keyword| {
            let hay = line.as_bytes();
            (0..name.len() + 1)
                .any(|place| rule.keyword_at(keyword, hay, place) && find(hay, place, keyword).is_some())
        })
    })
}

/// Keywords are words and marks between them, so none reaches beyond the name it stands in.
fn holds_keyword(name: &[u8]) -> bool {
    let begins = |rest: &[u8]| {
        KEYWORDS.iter().any(|keyword| {
            rest.get(..keyword.len()).is_some_and(|found| found.eq_ignore_ascii_case(keyword.as_bytes()))
        })
    };
    (0..name.len()).any(|place| name.get(place..).is_some_and(begins))
}

/// For values that stand on the line after their name.
pub(crate) fn is_secret_line(hay: &[u8], name_end: usize, value: &[u8]) -> bool {
    KEYWORDS.iter().any(|keyword| {
        let from = name_end.saturating_sub(name::LONGEST);
        (from..name_end).any(|place| {
            hay.get(place..place + keyword.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(keyword.as_bytes()))
                && Name::read(hay, place, keyword).is_some_and(|name| {
                    name.range.end == name_end
                        && name.keeps(hay, value)
                        && is_secret(name.class, Manner::Quoted, value)
                })
        })
    })
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset(whole: &[u8], part: &[u8]) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)
}

/// The joint and where the value begins.
fn joint(hay: &[u8], name: &Name) -> Option<(Joint, usize)> {
    let rest = hay.get(name.range.end..)?;
    let closers =
        rest.iter().take(4).take_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b']' | b'\\')).count();
    let (closing, rest) = rest.split_at_checked(closers)?;
    let closed = closing.iter().any(|byte| matches!(byte, b'"' | b'\''));
    let after_gap = skip_comment(skip_gap(rest));
    let gap = rest.len() - after_gap.len();
    let before = hay.get(..name.range.start)?;
    let (joint, rest) = match after_gap {
        [b'=', b'=' | b'~', ..] | [b':', b':', b'a'..=b'z' | b'A'..=b'Z' | b'<' | b'{', ..] => return None,
        [b'=', b'>', rest @ ..] | [b':' | b'?' | b'+', b'=', rest @ ..] => (Joint::Other, rest),
        [b':', b':', b'=', rest @ ..] | [b':', b':', b':', b'=', rest @ ..] => (Joint::Other, rest),
        [b'=', rest @ ..] if gap == 0 && closing.is_empty() => (Joint::Equals, rest),
        [b'=', rest @ ..] | [b':', rest @ ..] => (Joint::Other, rest),
        [b',', rest @ ..] if closed => (Joint::QuotedOnly, rest),
        [b'v', b'a', b'l', b'u', b'e', b'=', rest @ ..] if closed => (Joint::QuotedOnly, rest),
        [b'>', rest @ ..] if closed || matches!(before, [.., b'<' | b':']) => (Joint::Element, rest),
        // `WITH PASSWORD '…'`, and at the beginning of a line `keyPassword "…"`, as Gradle has it.
        [quote @ (b'\'' | b'"'), ..]
            if gap == 1
                && closing.is_empty()
                && name.class == Class::Password
                && (*quote == b'\'' || begins_line(hay, name.range.start)) =>
        {
            (Joint::QuotedOnly, after_gap)
        }
        rest if gap > 0 && closing.is_empty() && is_flag(hay, name) => (Joint::Space, rest),
        _ => return None,
    };
    let rest = skip_comment(skip_gap(rest));
    Some((joint, hay.len() - rest.len()))
}

/// `/* production */`, and the blanks behind it.
fn skip_comment(text: &[u8]) -> &[u8] {
    let Some(inside) = text.strip_prefix(b"/*") else { return text };
    let comment = inside.get(..inside.len().min(LONGEST_COMMENT)).unwrap_or_default();
    let end = memchr::memmem::find(comment, b"*/").and_then(|end| inside.get(end + 2..));
    end.map_or(text, skip_gap)
}

fn is_flag(hay: &[u8], name: &Name) -> bool {
    hay.get(name.range.start) == Some(&b'-')
}

fn skip_gap(text: &[u8]) -> &[u8] {
    let gap = text.iter().take(LONGEST_GAP).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    text.get(gap..).unwrap_or_default()
}

struct Written<'t> {
    manner: Manner,
    value: &'t [u8],
    /// The last text that this reading depends on: with a placeholder beside it, the reading was another one before.
    decided_by: &'t [u8],
}

impl<'t> Written<'t> {
    fn new(manner: Manner, value: &'t [u8]) -> Written<'t> {
        Written { manner, value, decided_by: value }
    }
}

fn written<'t>(hay: &[u8], name: &Name, joint: Joint, rest: &'t [u8]) -> Option<Written<'t>> {
    if let Some(value) = quoted(rest) {
        let login = name.class == Class::Password && joint == Joint::Equals && beside_login(hay, name);
        return Some(Written::new(if login { Manner::Given } else { Manner::Quoted }, value));
    }
    match joint {
        Joint::QuotedOnly => None,
        Joint::Element => {
            let length = memchr::memchr2(b'<', b'\n', rest)?;
            rest.get(..length).map(|value| Written::new(Manner::Quoted, value))
        }
        Joint::Equals if hay.get(name.range.clone())?.iter().all(|byte| !byte.is_ascii_lowercase()) => {
            let value = up_to(rest, &ENDS_WORD, hay.get(name.keyword.clone())?)?;
            Some(Written::new(Manner::Environment, value.strip_suffix(b";").unwrap_or(value)))
        }
        Joint::Equals | Joint::Other | Joint::Space => bare(hay, name, joint, rest),
    }
}

fn bare<'t>(hay: &[u8], name: &Name, joint: Joint, rest: &'t [u8]) -> Option<Written<'t>> {
    // `token: &str = "…"`: what looked like the value is a type.
    let assigned = split_at_equals(rest);
    if let Some(value) = assigned.and_then(quoted) {
        return Some(Written::new(Manner::Quoted, value));
    }
    let new_line = begins_line(hay, name.range.start);
    let value = up_to(rest, &ENDS_BARE, hay.get(name.keyword.clone())?)?;
    let value = if new_line && name.class == Class::Password { with_sign(rest, value) } else { value };
    let after = rest.get(value.len()..)?;
    // A call, an index, a type with parameters, a type before its value: an expression, not a value.
    if matches!(after.first(), Some(b'(' | b'[' | b'{' | b'<')) || matches!(skip_gap(after), [b'=', ..]) {
        return None;
    }
    let before = hay.get(name.range.start.saturating_sub(LONGEST_GAP)..name.range.start)?.trim_ascii_end();
    let field = matches!(before.last(), Some(b';' | b'?' | b'&'))
        || matches!(after, [b';', b'A'..=b'Z' | b'a'..=b'z', ..]);
    // `host=a password=b dbname=c`
    let next = skip_gap(after);
    let next_name = next.iter().take(name::LONGEST).take_while(|byte| word(**byte)).count();
    let listed = next.len() < after.len() && next_name > 0 && next.get(next_name) == Some(&b'=');
    let line_end = matches!(after, [] | [b'\n' | b'\r', ..]) || matches!(skip_gap(after), [b'#', ..]);
    let manner = match joint {
        Joint::Space => Manner::Given,
        _ if is_flag(hay, name) => Manner::Given,
        Joint::Equals if field || listed => Manner::Given,
        _ if new_line && line_end => Manner::Line,
        _ => Manner::Bare,
    };
    let decided_by = assigned.and_then(opening_quote).unwrap_or(value);
    Some(Written { manner, value, decided_by })
}

/// `password=word&3`, to the end of the line: there is nothing else that the sign could join.
fn with_sign<'t>(rest: &'t [u8], value: &'t [u8]) -> &'t [u8] {
    if rest.get(value.len()) != Some(&b'&') {
        return value;
    }
    let tail = rest.get(value.len()..rest.len().min(value.len() + FIRST_LOOK)).unwrap_or_default();
    let length = tail.iter().position(|byte| *byte != b'&' && ends_bare(*byte) || *byte == b'=');
    let length = length.unwrap_or(tail.len());
    let ends = matches!(tail.get(length), None | Some(b'\n' | b'\r')) && length < FIRST_LOOK && length > 1;
    rest.get(..value.len() + length).filter(|_| ends).unwrap_or(value)
}

/// `host="a", user="b", password="c"`: the arguments of a call that logs in.
fn beside_login(hay: &[u8], name: &Name) -> bool {
    let before = hay.get(name.range.start.saturating_sub(NEIGHBORS)..name.range.start).unwrap_or_default();
    let line = memchr::memrchr(b'\n', before).and_then(|end| before.get(end + 1..)).unwrap_or(before);
    [b"user=".as_slice(), b"username=", b"host=", b"login=", b"uid="]
        .iter()
        .any(|argument| check::contains(line, argument))
}

fn ends_bare(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            ..=b'\r'
                | b'"'
                | b'\''
                | b'`'
                | b','
                | b';'
                | b'('
                | b')'
                | b'<'
                | b'>'
                | b'{'
                | b'}'
                | b'['
                | b']'
                | b'|'
                | b'&'
                | b'\\'
    )
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`')
}

/// Long values are read byte by byte, so the answers are ready.
static ENDS_BARE: LazyLock<[bool; 256]> = LazyLock::new(|| table(ends_bare));
static ENDS_WORD: LazyLock<[bool; 256]> = LazyLock::new(|| table(ends_word));

fn table(ends: fn(u8) -> bool) -> [bool; 256] {
    let mut byte = 0u8;
    [(); 256].map(|()| {
        let answer = ends(byte);
        byte = byte.wrapping_add(1);
        answer
    })
}

/// Only blanks, a dash or a word of the shell stand before it on its line.
fn begins_line(hay: &[u8], place: usize) -> bool {
    let before = hay.get(place.saturating_sub(LONGEST_GAP)..place).unwrap_or_default();
    let line = memchr::memrchr(b'\n', before).and_then(|end| before.get(end + 1..));
    let line = line.or((place < LONGEST_GAP).then_some(before)).map(<[u8]>::trim_ascii);
    line.is_some_and(|line| {
        matches!(line, b"" | b"-" | b"export" | b"set" | b"setx" | b"ENV" | b"ARG" | b"env" | b"local" | b"$")
    })
}

/// The text before the first byte that `stops`, or nothing if it is long and begins like ordinary text.
fn up_to<'t>(text: &'t [u8], ends: &[bool; 256], keyword: &[u8]) -> Option<&'t [u8]> {
    let stops = |byte: u8| ends.get(usize::from(byte)) == Some(&true);
    let first = text.get(..text.len().min(FIRST_LOOK))?;
    if let Some(length) = first.iter().position(|byte| stops(*byte)) {
        return text.get(..length);
    }
    // THREAT: P02, where the same name comes again, its value is read in its turn, or all would be read at each.
    let again = |at: &usize| {
        let rest = first.get(*at..).unwrap_or_default();
        let (found, after) = rest.split_at_checked(keyword.len()).unwrap_or_default();
        matches!(after.first(), Some(b'=' | b':')) && found == keyword
    };
    if let Some(length) = memchr::memchr_iter(*keyword.first()?, first).find(again) {
        return text.get(..length);
    }
    if first.len() == FIRST_LOOK && !value::may_be_random(first) {
        return None;
    }
    text.get(..text.iter().position(|byte| stops(*byte)).unwrap_or(text.len()))
}

fn split_at_equals(text: &[u8]) -> Option<&[u8]> {
    let type_like = |byte: &u8| {
        word(*byte) || matches!(byte, b'&' | b'<' | b'>' | b':' | b'\'' | b' ' | b'[' | b']' | b'?' | b'*')
    };
    let length = text.iter().take(name::LONGEST).take_while(|byte| type_like(byte)).count();
    let rest = text.get(length..)?;
    rest.strip_prefix(b"=").map(skip_gap)
}

/// The inside of a quoted text.
fn quoted(text: &[u8]) -> Option<&[u8]> {
    let opening = opening_quote(text)?;
    let start = offset(text, opening)?;
    let inside = text.get(start + opening.len()..)?;
    let quote = *opening.last()?;
    let escape = opening.first() == Some(&b'\\');
    let end = memchr::memchr2_iter(quote, b'\n', inside).find(|end| {
        let escaped = end.checked_sub(1).and_then(|before| inside.get(before)) == Some(&b'\\');
        inside.get(*end) == Some(&b'\n') || escaped == escape
    })?;
    let closed = inside.get(end) == Some(&quote);
    let value = inside.get(..end).filter(|_| closed)?;
    // A text with fields is put together elsewhere.
    let fields = matches!(text.get(..start)?, [b'f' | b'$', ..]) && value.contains(&b'{');
    let escapes = value.iter().rev().take_while(|byte| escape && **byte == b'\\').count();
    value.get(..value.len() - escapes).filter(|_| !fields)
}

/// The quote that `text` begins with, behind the letters that some languages allow there. Texts in texts escape theirs;
/// three of them are one.
fn opening_quote(text: &[u8]) -> Option<&[u8]> {
    let quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
    let prefix = match text {
        [b'b' | b'r' | b'u' | b'f' | b'L' | b'@' | b'$', b'"' | b'\'', ..] => 1,
        [b'b' | b'r' | b'f' | b'$', b'b' | b'r' | b'f' | b'@' | b'#', b'"' | b'\'', ..] => 2,
        _ => 0,
    };
    let text = text.get(prefix..)?;
    match text {
        [b'\\', ..] => {
            let escapes = text.iter().take(3).take_while(|byte| **byte == b'\\').count();
            text.get(escapes).filter(|byte| **byte == b'"')?;
            text.get(..escapes + 1)
        }
        [a, b, c, ..] if quote(a) && a == b && b == c => text.get(..3),
        [first, ..] if quote(first) => text.get(..1),
        _ => None,
    }
}

/// The token in the address of a picture opens nothing but the picture.
fn is_badge(hay: &[u8], name: &Name) -> bool {
    hay.get(name.range.start.saturating_sub(LONGEST_GAP)..name.range.start).is_some_and(|before| {
        before.ends_with(b"?") && check::contains(before, b".svg") || before.ends_with(b"flat-square&")
    })
}

#[cfg(test)]
mod tests;

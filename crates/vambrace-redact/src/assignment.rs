//! `password = "…"` and its relatives: a value that only its name gives away.
//!
//! Written by hand, because the names are frequent in code: a few bytes after the name decide nearly always that
//! nothing is assigned. Only the value is taken; the name stays readable.

use crate::check;
use crate::redactor::Found;
use crate::rule::word;

/// The value ends at most this many bytes after the beginning of the name.
pub(crate) const REACH: usize = 640;
const SHORTEST: usize = 8;
const LONGEST_NAME: usize = 40;
const LONGEST_GAP: usize = 20;

/// `secret_name`, `token_url`, `password_file`: about a secret, but not one.
const ABOUT: [&str; 36] = [
    "name", "file", "path", "url", "uri", "type", "length", "size", "count", "limit", "field", "policy",
    "expir", "ttl", "time", "date", "hint", "reset", "label", "format", "regex", "pattern", "min", "max",
    "version", "endpoint", "host", "kind", "provider", "header", "algo", "usage", "prefix", "index", "store",
    "class",
];
/// Shown to everybody on purpose.
const PUBLIC: [&str; 4] = ["public", "csrf", "xsrf", "publishable"];
const FILE_ENDINGS: [&str; 12] =
    [".pem", ".key", ".json", ".txt", ".yaml", ".yml", ".crt", ".p12", ".py", ".rs", ".js", ".html"];

/// How the value is written down.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Quoted,
    /// `NAME=value`, as in a shell or an environment file: all of the word is the value.
    Environment,
    Bare,
}

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
    let line = hay.get(place..hay.len().min(place + REACH))?;
    let line = memchr::memchr(b'\n', line).and_then(|end| line.get(..end)).unwrap_or(line);
    let (key, rest) = line.split_at_checked(keyword.len())?;
    let suffix_len = rest.iter().take(LONGEST_NAME).take_while(|byte| name_byte(**byte)).count();
    let (suffix, rest) = rest.split_at_checked(suffix_len)?;
    if !is_suffix(key, suffix) {
        return None;
    }
    let before = hay.get(place.saturating_sub(LONGEST_NAME)..place)?;
    let prefix_len = before.iter().rev().take_while(|byte| name_byte(**byte)).count();
    let prefix = before.get(before.len() - prefix_len..)?;
    let (joint, rest) = joint(before.get(..before.len() - prefix_len)?, prefix, rest)?;
    if PUBLIC.iter().any(|word| check::contains_folded(prefix, word.as_bytes())) {
        return None;
    }
    let name_start = place - prefix_len;
    let full_name = hay.get(name_start..place + keyword.len() + suffix_len)?;
    let Written { manner, value, decided_by } = value(full_name, joint, rest)?;
    if !is_secret(keyword, manner, value) {
        return None;
    }
    let start = place + offset(line, value)?;
    let range = start..start + value.len();
    let seen = place + offset(line, decided_by)? + decided_by.len();
    Some(Found { extent: name_start..seen.max(range.end), value: range })
}

/// For trees: a leaf under the key `name`, which stands there without its name.
pub(crate) fn is_secret_leaf(name: &str, leaf: &str) -> bool {
    if leaf.len() > REACH || leaf.contains(char::is_whitespace) || leaf.contains('"') {
        return false;
    }
    let line = format!("\"{name}\": \"{leaf}\"");
    crate::rules::assignment().is_some_and(|rule| {
        rule.keywords.iter().any(|keyword| {
            let hay = line.as_bytes();
            (0..name.len() + 1)
                .any(|place| rule.keyword_at(keyword, hay, place) && find(hay, place, keyword).is_some())
        })
    })
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset(whole: &[u8], part: &[u8]) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)
}

fn name_byte(byte: u8) -> bool {
    word(byte) || byte == b'-' || byte == b'.'
}

/// The rest of a name must begin a new word: `token_a`, `tokenA`, `token2`, but not `tokenizer`.
fn is_suffix(key: &[u8], suffix: &[u8]) -> bool {
    let Some(first) = suffix.first() else { return true };
    let new_word = match first {
        b'_' | b'-' | b'.' | b'0'..=b'9' => true,
        b'A'..=b'Z' => key.last().is_some_and(u8::is_ascii_lowercase),
        _ => false,
    };
    let is_id = matches!(suffix, [.., b'i' | b'I', b'd' | b'D']);
    new_word && !is_id && !ABOUT.iter().any(|word| check::contains_folded(suffix, word.as_bytes()))
}

fn joint<'t>(outside: &[u8], prefix: &[u8], rest: &'t [u8]) -> Option<(Joint, &'t [u8])> {
    let closing =
        rest.iter().take(4).take_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b']' | b'\\')).count();
    let (closers, rest) = rest.split_at_checked(closing)?;
    let closed = closers.iter().any(|byte| matches!(byte, b'"' | b'\''));
    let after_gap = skip_gap(rest);
    let gap = rest.len() - after_gap.len();
    let (joint, rest) = match after_gap {
        [b'=', b'=' | b'~', ..] | [b':', b':', b'a'..=b'z' | b'A'..=b'Z' | b'<' | b'{', ..] => return None,
        [b'=', b'>', rest @ ..] | [b':' | b'?' | b'+', b'=', rest @ ..] => (Joint::Other, rest),
        [b':', b':', b'=', rest @ ..] | [b':', b':', b':', b'=', rest @ ..] => (Joint::Other, rest),
        [b'=', rest @ ..] if gap == 0 && closers.is_empty() => (Joint::Equals, rest),
        [b'=', rest @ ..] | [b':', rest @ ..] => (Joint::Other, rest),
        [b',', rest @ ..] if closed => (Joint::QuotedOnly, rest),
        [b'v', b'a', b'l', b'u', b'e', b'=', rest @ ..] if closed => (Joint::QuotedOnly, rest),
        [b'>', rest @ ..] if outside.last() == Some(&b'<') => (Joint::Element, rest),
        rest if gap > 0 && prefix.starts_with(b"-") && closers.is_empty() => (Joint::Space, rest),
        _ => return None,
    };
    Some((joint, skip_gap(rest)))
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

fn value<'t>(name: &[u8], joint: Joint, rest: &'t [u8]) -> Option<Written<'t>> {
    if let Some(value) = quoted(rest) {
        return Some(Written::new(Manner::Quoted, value));
    }
    match joint {
        Joint::QuotedOnly => None,
        Joint::Element => {
            rest.split(|byte| *byte == b'<').next().map(|value| Written::new(Manner::Quoted, value))
        }
        Joint::Equals if name.iter().all(|byte| !byte.is_ascii_lowercase()) => {
            let value = rest
                .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`'))
                .next()?;
            Some(Written::new(Manner::Environment, strip_end(value)))
        }
        Joint::Equals | Joint::Other | Joint::Space => {
            let stops = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;()<>{}[]|&\\".contains(byte);
            let length = rest.iter().position(stops).unwrap_or(rest.len());
            let (value, after) = rest.split_at_checked(length)?;
            // `token: &str = "…"`: what looked like the value is a type.
            let assigned = split_at_equals(rest).map(|(_, assigned)| assigned);
            if let Some(value) = assigned.and_then(quoted) {
                return Some(Written::new(Manner::Quoted, value));
            }
            let decided_by = assigned.and_then(opening_quote).unwrap_or(value);
            // A call, an index, a type with parameters: an expression, not a value.
            let expression = matches!(after.first(), Some(b'(' | b'[' | b'{' | b'<'));
            (!expression).then_some(Written { manner: Manner::Bare, value, decided_by })
        }
    }
}

/// Trailing punctuation of the shell belongs to the line.
fn strip_end(value: &[u8]) -> &[u8] {
    value.strip_suffix(b";").unwrap_or(value)
}

fn split_at_equals(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let type_like = |byte: &u8| word(*byte) || b"&<>:' []?*".contains(byte);
    let length = text.iter().take(LONGEST_NAME).take_while(|byte| type_like(byte)).count();
    let (kind, rest) = text.split_at_checked(length)?;
    rest.strip_prefix(b"=").map(|rest| (kind, skip_gap(rest)))
}

/// The inside of a quoted text.
fn quoted(text: &[u8]) -> Option<&[u8]> {
    let opening = opening_quote(text)?;
    let inside = text.get(offset(text, opening)? + opening.len()..)?;
    inside.get(..memchr::memmem::find(inside, opening)?)
}

/// The quote that `text` begins with, behind the letter that some languages allow there.
fn opening_quote(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'b' | b'r' | b'u' | b'@', b'"' | b'\'', ..] => text.get(1..2),
        [b'\\', b'"', ..] => text.get(..2),
        [b'"' | b'\'' | b'`', ..] => text.get(..1),
        _ => None,
    }
}

fn is_secret(keyword: &str, manner: Manner, value: &[u8]) -> bool {
    if value.len() < SHORTEST || value.iter().any(u8::is_ascii_whitespace) || elsewhere(value) {
        return false;
    }
    let is_password = keyword.starts_with('p');
    let digits = value.iter().any(u8::is_ascii_digit);
    let marks = value.iter().any(|byte| b"!@#$%^*?~+=".contains(byte));
    let telling = match manner {
        Manner::Environment => is_password || digits || marks || is_random(value),
        Manner::Quoted => is_random(value) || (is_password && (digits || marks)),
        Manner::Bare => is_random(value) && !is_expression(value),
    };
    telling && check::not_dummy(value)
}

/// Paths, addresses, file names and calls lead to a value; they are not one.
fn elsewhere(value: &[u8]) -> bool {
    matches!(value, [b'/' | b'~', ..] | [b'.', b'/', ..] | [b'.', b'.', ..])
        || check::contains(value, b"://")
        || check::contains(value, b"::")
        || value.ends_with(b"()")
        || FILE_ENDINGS.iter().any(|ending| value.ends_with(ending.as_bytes()))
}

/// `config.token2`, `self->key1`: in code, a value without quotes is the name of something.
fn is_expression(value: &[u8]) -> bool {
    let dotted = value.contains(&b'.')
        && value
            .split(|byte| *byte == b'.')
            .all(|part| part.first().is_some_and(u8::is_ascii_alphabetic) && part.iter().all(|b| word(*b)));
    dotted || check::contains(value, b"->") || value.ends_with(b":")
}

/// Letters and digits in turns, or letters that keep changing case: nobody's word.
fn is_random(value: &[u8]) -> bool {
    let turns = value.windows(2).filter(|pair| {
        matches!(pair, [a, b] if a.is_ascii_alphabetic() && b.is_ascii_digit() || a.is_ascii_digit() && b.is_ascii_alphabetic())
    });
    turns.count() >= 2 || (value.len() >= 16 && check::jumbled(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let hay = line.as_bytes();
        let rule = crate::rules::assignment().unwrap();
        let found = (0..hay.len()).find_map(|place| {
            rule.keywords.iter().find_map(|keyword| {
                rule.keyword_at(keyword, hay, place).then(|| find(hay, place, keyword)).flatten()
            })
        });
        assert_eq!(found.and_then(|found| line.get(found.value)), expected, "{line}");
    }

    #[test]
    fn values_are_found_and_code_is_not() {
        let value = ["kd8", "f7ah3", "kq9x"].concat();
        let v = Some(value.as_str());
        check(&format!("password = \"{value}\""), v);
        check(&format!("DB_PASSWORD={value}"), v);
        check(&format!("  api_key: {value}"), v);
        check(&format!("\"secret\": \"{value}\","), v);
        check(&format!("\\\"token\\\": \\\"{value}\\\""), v);
        check(&format!("--token {value}"), v);
        check(&format!("get(\"api_token\", \"{value}\")"), v);
        check(&format!("<password>{value}</password>"), v);
        check(&format!("let token: &str = \"{value}\";"), v);
        check(&format!("secretAccessKey => '{value}'"), v);
        check("PASSWORD=correcthorse", Some("correcthorse"));
        check(&format!("token == \"{value}\""), None);
        check(&format!("token_url = \"{value}\""), None);
        check(&format!("tokenizer = \"{value}\""), None);
        check("password = getPassword1a2b()", None);
        check("password = ${DB_PASSWORD}", None);
        check("token = config.token2a.b3c", None);
        check("token: \"unexpected-token\"", None);
        check("secret: \"kubernetes.io/a1b2\"", Some("kubernetes.io/a1b2"));
        check("secret = \"/run/secrets/a1b2c3\"", None);
        check("password: [REDACTED:jwt]", None);
        check("public_token = \"a1b2c3d4e5\"", None);
    }
}

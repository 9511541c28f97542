//! Secrets of Kubernetes: a document of kind `Secret`, and every value under its `data` or `stringData`.
//!
//! The kind may stand before or after the values. A search begins at the first line that can open such a document and
//! ends at the next one of its sort, so that a text of nothing but openings is still read only once.
//! LIMIT: a document is looked at from each of its openings as far as the rule reaches.

use std::ops::Range;

use crate::check;
use crate::redactor::Found;

const SHORTEST: usize = 4;
/// Meant for everybody.
const PUBLIC: [&str; 4] = ["tls.crt", "ca.crt", "ca-cert", "namespace"];

/// Events and other objects name their kind too, in every line of some logs: only what may be a secret is waited for.
pub(crate) fn glance(seen: &[u8], place: usize) -> bool {
    let rest = seen.get(place..).unwrap_or_default();
    let value = |name: &str| {
        let value = rest.get(name.len()..).unwrap_or_default().trim_ascii_start();
        let value = value.strip_prefix(b"\"").unwrap_or(value).trim_ascii_start();
        value.strip_prefix(b":").map(|value| behind_quotes(value.trim_ascii_start()))
    };
    if rest.starts_with(b"\"kind") {
        return value("\"kind")
            .is_none_or(|kind| kind.is_empty() || kind.starts_with(b"Secret") || kind.starts_with(b"List"));
    }
    if rest.starts_with(b"apiVersion") {
        return value("apiVersion").is_none_or(|version| {
            let after = version.strip_prefix(b"v1").and_then(<[u8]>::first);
            version.is_empty() || version == b"v1" || after.is_some_and(|byte| !byte.is_ascii_alphanumeric())
        });
    }
    true
}

fn behind_quotes(value: &[u8]) -> &[u8] {
    let quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\');
    value.get(value.iter().take_while(|byte| quote(byte)).count()..).unwrap_or_default()
}

pub(crate) fn find(seen: &[u8], place: usize) -> Vec<Found> {
    let Some(rest) = seen.get(place..) else { return Vec::new() };
    let json = place > 0 && seen.get(place - 1) == Some(&b'"') || rest.first() == Some(&b'"');
    let document = document(rest);
    let values = if json { json_values(document) } else { yaml_values(document) };
    let is_value = |range: &Range<usize>| {
        document.get(range.clone()).is_some_and(|value| value.len() >= SHORTEST && !check::refers(value))
    };
    let found = |range: Range<usize>| {
        let range = place + range.start..place + range.end;
        Found { value: range.clone(), extent: range }
    };
    values.into_iter().filter(is_value).map(found).collect()
}

/// From an opening to the next one like it, or to the line that parts two documents.
fn document(rest: &[u8]) -> &[u8] {
    let opening = rest.get(..rest.len().min(10)).unwrap_or_default();
    let word = opening.split(|byte| *byte == b':').next().unwrap_or_default();
    // The word may also stand in a value, so a line has to begin with it; JSON has it in quotes.
    let opener = match word {
        [b'"', ..] => word.to_vec(),
        _ => [b"\n", word, b":"].concat(),
    };
    let again =
        memchr::memmem::find(rest.get(1..).unwrap_or_default(), &opener).map_or(rest.len(), |at| at + 1);
    let rest = rest.get(..again).unwrap_or_default();
    let parted = memchr::memmem::find(rest, b"\n---").unwrap_or(rest.len());
    rest.get(..parted).unwrap_or_default()
}

fn yaml_values(document: &[u8]) -> Vec<Range<usize>> {
    if !has_kind(document) {
        return Vec::new();
    }
    let mut values = Vec::new();
    // The column of `data:` while its entries are read, and of an entry whose value stands on the lines below.
    let (mut section, mut block): (Option<usize>, Option<usize>) = (None, None);
    let mut start = 0;
    for line in document.split_inclusive(|byte| *byte == b'\n') {
        let line_start = start;
        start += line.len();
        let text = line.trim_ascii_end();
        let column = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let Some(content) =
            text.get(column..).filter(|content| !content.is_empty() && !content.starts_with(b"#"))
        else {
            continue;
        };
        if let Some(entry) = block {
            if column > entry {
                values.push(line_start + column..line_start + text.len());
                continue;
            }
            block = None;
        }
        if matches!(content, b"data:" | b"stringData:") {
            section = Some(column);
            continue;
        }
        let Some(inside) = section else { continue };
        if column <= inside {
            section = None;
            continue;
        }
        let Some(colon) = memchr::memchr(b':', content) else { continue };
        let (key, value) = content.split_at_checked(colon).unwrap_or_default();
        let value = value.get(1..).unwrap_or_default();
        let gap = value.len() - value.trim_ascii_start().len();
        let value = strip_comment(value.trim_ascii_start());
        if is_public(key) {
            continue;
        }
        if matches!(value, [b'|' | b'>', ..] if value.len() <= 3) {
            block = Some(column);
            continue;
        }
        let from = line_start + column + colon + 1 + gap;
        values.push(unquoted(value, from));
    }
    values
}

fn unquoted(value: &[u8], from: usize) -> Range<usize> {
    match value {
        [a @ (b'"' | b'\''), inner @ .., b] if a == b => from + 1..from + 1 + inner.len(),
        _ => from..from + value.len(),
    }
}

fn strip_comment(value: &[u8]) -> &[u8] {
    check_place(value, b" #").and_then(|at| value.get(..at)).map_or(value, <[u8]>::trim_ascii_end)
}

fn check_place(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len()).position(|window| window == needle)
}

fn is_public(key: &[u8]) -> bool {
    let key = key.trim_ascii();
    let key = key.strip_prefix(b"\"").and_then(|key| key.strip_suffix(b"\"")).unwrap_or(key);
    PUBLIC.iter().any(|name| key == name.as_bytes())
}

/// `kind: Secret` as a line of its own, whatever the dress.
fn has_kind(document: &[u8]) -> bool {
    memchr::memmem::find_iter(document, b"kind").any(|at| {
        let rest = document.get(at + 4..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let words = line.split(|byte| matches!(byte, b' ' | b':' | b'"' | b'\'' | b'\\' | b'\r'));
        words.clone().find(|word| !word.is_empty()).is_some_and(|word| {
            let word = word.split(|byte| matches!(byte, b',' | b'}' | b'#')).next().unwrap_or_default();
            word == b"Secret"
        }) && line.iter().take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\')).count() < 4
    })
}

/// Every text in the map behind `"data"` or `"stringData"`.
fn json_values(document: &[u8]) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    if !has_kind(document) {
        return values;
    }
    for name in [b"data\"".as_slice(), b"stringData\"", b"data\\\"", b"stringData\\\""] {
        for at in memchr::memmem::find_iter(document, name) {
            let opened = matches!(at.checked_sub(1).and_then(|before| document.get(before)), Some(b'"'));
            let from = at + name.len();
            let rest = document.get(from..).unwrap_or_default();
            let gap =
                rest.iter().take_while(|byte| matches!(byte, b':' | b' ' | b'\t' | b'\n' | b'\r')).count();
            if !opened || rest.get(gap) != Some(&b'{') {
                continue;
            }
            let map = rest.get(gap..).unwrap_or_default();
            let map = memchr::memchr(b'}', map).and_then(|end| map.get(..end)).unwrap_or(map);
            // Quotes in turn open and close names and values; an escaped one is as good, since all of them are.
            let quotes: Vec<usize> = memchr::memchr_iter(b'"', map).collect();
            for four in quotes.chunks_exact(4) {
                if let [key, key_end, open, close] = *four
                    && !is_public(map.get(key + 1..key_end).unwrap_or_default())
                {
                    let end = if map.get(close - 1) == Some(&b'\\') { close - 1 } else { close };
                    values.push(from + gap + open + 1..from + gap + end);
                }
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use crate::{Redactor, RedactorSettings};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let redactor = Redactor::new(RedactorSettings::default()).unwrap();
        let expected = expected.replace('R', "[REDACTED:kubernetes-secret]");
        assert_eq!(redactor.text(text).value.as_str(), expected, "{text}");
        assert_eq!(redactor.text(&expected).value.as_str(), expected, "a second time: {text}");
    }

    #[test]
    fn every_value_of_a_secret_goes() {
        check(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  user: YWJj\n  b: \"eHl6MTIz\" # c\ntype: Opaque\n",
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  user: R\n  b: \"R\" # c\ntype: Opaque\n",
        );
        check(
            "data:\n  b: eHl6MTIz\nkind: Secret\nmetadata:\n  name: abcd\n",
            "data:\n  b: R\nkind: Secret\nmetadata:\n  name: abcd\n",
        );
        check(
            "kind: Secret\nstringData:\n  b: |\n    line one\n    line two\n  c: {{ .Values.c }}\n  tls.crt: abcdef\n",
            "kind: Secret\nstringData:\n  b: |\n    R\n    R\n  c: {{ .Values.c }}\n  tls.crt: abcdef\n",
        );
        check(
            r#"{"apiVersion":"v1","data":{"b":"eHl6MTIz","c":"YWJj"},"kind":"Secret","metadata":{"name":"abcd"}}"#,
            r#"{"apiVersion":"v1","data":{"b":"R","c":"R"},"kind":"Secret","metadata":{"name":"abcd"}}"#,
        );
        check(
            "{\n  \"kind\": \"Secret\",\n  \"data\": {\n    \"b\": \"eHl6MTIz\"\n  }\n}",
            "{\n  \"kind\": \"Secret\",\n  \"data\": {\n    \"b\": \"R\"\n  }\n}",
        );
    }

    #[test]
    fn other_kinds_stay() {
        for text in [
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  b: eHl6MTIz\n",
            "apiVersion: v1\nkind: SealedSecret\ndata:\n  b: eHl6MTIz\n",
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  b: eHl6MTIz\n---\nkind: Secret\n",
            "kind: Secret\nmetadata:\n  name: eHl6MTIz\n",
        ] {
            check(text, text);
        }
    }
}

//! Bytes to text: the charset that the answer names, and specification 000's rules for text that goes on.
//!
//! Drops nothing: control characters and secrets are the business of what stands behind.

mod charset;
mod media;
#[cfg(test)]
mod tests;

use media::{Kind, MediaType};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Braces {
    /// Split in everything that is not JSON.
    Text,
    /// Split in JSON too.
    All,
}

/// The text of a body, by byte order mark, the header's charset, or what an HTML page says of itself. What
/// the charset has no character for becomes U+FFFD.
pub fn decode(body: Vec<u8>, content_type: &str) -> String {
    let media = MediaType::parse(content_type);
    let is_plain = charset::of(&body, &media) == encoding_rs::UTF_8 && !body.starts_with(b"\xEF\xBB\xBF");
    if !is_plain {
        return decode_as(&body, &media);
    }
    // Nearly always: not a byte is copied.
    String::from_utf8(body).unwrap_or_else(|error| decode_as(error.as_bytes(), &media))
}

/// Specification 000's `SafeBodyString`: JSON as it is, HTML with its entities escaped, and no template's
/// braces.
pub fn safe_body_string(body: &[u8], content_type: &str, braces: Braces) -> String {
    let media = MediaType::parse(content_type);
    let text = decode_as(body, &media);
    match (media.kind(), braces) {
        (Kind::Json, Braces::Text) => text,
        (Kind::Json, Braces::All) | (Kind::Other, Braces::Text | Braces::All) => split_braces(&text),
        (Kind::Html, Braces::Text | Braces::All) => split_braces(&escape_entities(&text)),
    }
}

fn decode_as(body: &[u8], media: &MediaType) -> String {
    // `decode` looks for a byte order mark first, and takes it away.
    let (text, _, _) = charset::of(body, media).decode(body);
    text.into_owned()
}

/// The five that have a meaning in HTML, spelled as Go does, whose templates the specification has in mind.
fn escape_entities(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A space between two equal braces in a row.
/// INVARIANT: no `{{` and no `}}` is left, however many there were.
fn split_braces(text: &str) -> String {
    let mut split = String::with_capacity(text.len());
    let mut before = None;
    for c in text.chars() {
        if matches!(c, '{' | '}') && before == Some(c) {
            split.push(' ');
        }
        split.push(c);
        before = Some(c);
    }
    split
}

//! Which charset a body is in (WHATWG: a byte order mark, then the transport, then the page itself).

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use super::media::{Kind, MediaType};

/// A page has to say it this early.
const PRESCAN_BYTES: usize = 1024;

pub(super) fn of(body: &[u8], media: &MediaType) -> &'static Encoding {
    let named = || media.charset.as_ref().and_then(|label| Encoding::for_label(label.as_bytes()));
    let own = || match media.kind() {
        Kind::Html => prescan(body.get(..PRESCAN_BYTES).unwrap_or(body)),
        Kind::Json | Kind::Other => None,
    };
    Encoding::for_bom(body).map(|(encoding, _)| encoding).or_else(named).or_else(own).unwrap_or(UTF_8)
}

/// What `<meta charset>` or `<meta http-equiv content>` says, or an XML declaration.
fn prescan(start: &[u8]) -> Option<&'static Encoding> {
    let mut rest = start;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = rest.get(at..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix(b"<!--") {
            // `<!-->` is a whole comment, so its end may share the dashes of its start.
            let end = memchr::memmem::find(rest.get(2..).unwrap_or_default(), b"-->")?;
            rest = rest.get(end.saturating_add(5)..).unwrap_or(after);
            continue;
        }
        let tag = rest.get(1..).unwrap_or_default();
        if begins_with(tag, b"meta") && tag.get(4).is_some_and(|b| b.is_ascii_whitespace() || *b == b'/') {
            let mut attributes = Attributes { rest: tag.get(4..).unwrap_or_default() };
            if let Some(encoding) = declared(&mut attributes) {
                return Some(encoding);
            }
            rest = attributes.rest;
        } else if begins_with(tag, b"?xml") && rest.len() == start.len() {
            let mut attributes = Attributes { rest: tag.get(4..).unwrap_or_default() };
            if let Some((_, label)) = attributes.find(|(name, _)| name == b"encoding") {
                return encoding_for(&label);
            }
            rest = attributes.rest;
        } else if tag.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'/') {
            // A `<meta` inside another tag's attribute says nothing.
            let mut attributes = Attributes { rest: skip_name(tag) };
            attributes.by_ref().for_each(drop);
            rest = attributes.rest;
        } else {
            rest = tag;
        }
    }
    None
}

/// What one `meta` says. `content` counts only where `http-equiv` asks for it.
fn declared(attributes: &mut Attributes<'_>) -> Option<&'static Encoding> {
    let (mut charset, mut content, mut asks) = (None, None, false);
    for (name, value) in attributes.by_ref() {
        match name.as_slice() {
            b"charset" => charset = charset.or(Some(value)),
            b"content" => content = content.or_else(|| charset_in(&value)),
            b"http-equiv" => asks |= value.eq_ignore_ascii_case(b"content-type"),
            _ => {}
        }
    }
    // A tag that does not end within what is looked at says nothing; its value may be half a word.
    attributes.peek()?;
    encoding_for(&charset.or(content.filter(|_| asks))?)
}

/// `text/html; charset=…` inside `content`.
fn charset_in(content: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(content).to_ascii_lowercase();
    let mut rest = text.as_str();
    loop {
        (_, rest) = rest.split_once("charset")?;
        if let Some(value) = rest.trim_start().strip_prefix('=') {
            let value = value.trim_start();
            let label = match value.chars().next()? {
                quote @ ('"' | '\'') => value.split(quote).nth(1)?,
                _ => value.split(|c: char| c == ';' || c.is_ascii_whitespace()).next()?,
            };
            return Some(label.as_bytes().to_vec());
        }
    }
}

/// A page that says UTF-16 in ASCII letters is not in UTF-16.
fn encoding_for(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return Some(UTF_8);
    }
    if encoding == X_USER_DEFINED {
        return Some(WINDOWS_1252);
    }
    Some(encoding)
}

fn begins_with(bytes: &[u8], word: &[u8]) -> bool {
    bytes.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn skip_name(tag: &[u8]) -> &[u8] {
    let length = tag.iter().take_while(|b| !b.is_ascii_whitespace() && **b != b'>').count();
    tag.get(length..).unwrap_or_default()
}

/// Name (in lower case) and value, as far as the tag's `>`.
struct Attributes<'a> {
    rest: &'a [u8],
}

impl Attributes<'_> {
    fn bump(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        self.skip_spaces();
        let mut value = Vec::new();
        if let Some(quote) = self.peek().filter(|b| matches!(b, b'"' | b'\'')) {
            self.bump();
            loop {
                match self.bump()? {
                    b if b == quote => return Some(value),
                    b => value.push(b),
                }
            }
        }
        while let Some(b) = self.peek().filter(|b| !b.is_ascii_whitespace() && *b != b'>') {
            value.push(b);
            self.bump();
        }
        Some(value)
    }
}

impl Iterator for Attributes<'_> {
    type Item = (Vec<u8>, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace() || b == b'/' || b == b'?') {
            self.bump();
        }
        let mut name = Vec::new();
        loop {
            match self.peek()? {
                b'>' if name.is_empty() => return None,
                b'=' if !name.is_empty() => {
                    self.bump();
                    return Some((name, self.value()?));
                }
                b'>' | b'/' | b'?' => return Some((name, Vec::new())),
                b if b.is_ascii_whitespace() => {
                    self.skip_spaces();
                    if self.peek() != Some(b'=') {
                        return Some((name, Vec::new()));
                    }
                }
                b => {
                    name.push(b.to_ascii_lowercase());
                    self.bump();
                }
            }
        }
    }
}

//! Where a link leads, when that is worth saying.

use super::writer::is_invisible;

/// LIMIT: a longer address is no help to a reader.
const MOST_HREF_BYTES: usize = 2048;

/// The address to show. None for what is not http, leads nowhere, or is too long.
pub(super) fn shown(href: &[u8]) -> Option<String> {
    if href.len() > MOST_HREF_BYTES {
        return None;
    }
    // As WHATWG parsing does; otherwise a line break would hide a scheme.
    let kept: Vec<u8> = href.iter().copied().filter(|b| !matches!(b, b'\t' | b'\n' | b'\r')).collect();
    let text = String::from_utf8_lossy(&kept);
    let href = text.trim_matches(|c: char| c <= ' ');
    if href.is_empty() || href.starts_with('#') {
        return None;
    }
    let before_path = href.split(['/', '?', '#']).next().unwrap_or_default();
    match before_path.split_once(':') {
        Some((scheme, _)) if !is_web(scheme) => None,
        Some(_) | None => Some(one_word(href)),
    }
}

/// Without a space or an invisible character that would make it look like something else.
fn one_word(href: &str) -> String {
    let mut word = String::with_capacity(href.len());
    for c in href.chars().filter(|c| !is_invisible(*c)) {
        if c.is_whitespace() {
            word.push_str("%20");
        } else {
            word.push(c);
        }
    }
    word
}

fn is_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// The text already says where the link leads.
pub(super) fn says(text: &str, href: &str) -> bool {
    let bare = href.split_once("://").map_or(href, |(_, rest)| rest);
    let text = text.trim().trim_end_matches('/');
    text == href.trim_end_matches('/') || text == bare.trim_end_matches('/')
}

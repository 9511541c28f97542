//! Tools that fetch from other hosts. Each is a request, a look-up, a decision, and the same again for every redirect.

mod agent;
mod fetch_url;
mod http;
mod journey;
mod notify;
mod template;
mod web_fetch;

pub(crate) use agent::{AgentTool, AgentsTool};
pub(crate) use fetch_url::FetchUrlTool;
pub(crate) use http::HttpTool;
pub(crate) use notify::NotifyTool;
pub(crate) use web_fetch::WebFetchTool;

pub use notify::NOTIFY;
pub use template::sample_url;

use vambrace_net::{Response, decode};
use vambrace_policy::url::{UrlRefusal, Voice};
use vambrace_policy::{Answers, Denial, FetchUrl, Reason};
use vambrace_types::{ByteLimit, RawOutput, ToolError, Tree};

use crate::{Hands, Look};

/// For `?` on a URL that cannot even be read.
fn refused(refusal: UrlRefusal, voice: Voice) -> ToolError {
    let rule = refusal.rule();
    Denial::new(Reason::Url { refusal, voice }, rule).to_tool_error()
}

/// The addresses that the host has right now; the action is decided again with them.
fn settle(action: &FetchUrl, look: &Look<'_>) -> Option<FetchUrl> {
    let answers = look.answers(action.url.host());
    Some(FetchUrl { answers, ..action.clone() })
}

fn preview(tool: &str, action: &FetchUrl) -> RawOutput {
    let addresses = match &action.answers {
        Answers::Found(addresses) => {
            addresses.iter().map(|address| Tree::Text(address.to_string())).collect()
        }
        Answers::Unasked | Answers::Missing => Vec::new(),
    };
    RawOutput::new(Tree::map([
        ("would", Tree::text(tool)),
        ("method", Tree::text(&action.method)),
        ("url", Tree::text(action.url.as_str())),
        ("addresses", Tree::List(addresses)),
    ]))
}

/// The text of a body, up to the limit. The bytes are used up: ten megabytes are held once.
fn text_of(response: &mut Response, hands: &Hands<'_>, make: impl FnOnce(String) -> String) -> String {
    let mut text = make(decode(std::mem::take(&mut response.body), &response.content_type));
    if response.truncated {
        let limit = usize::try_from(response.limit).unwrap_or(usize::MAX);
        // Reading ended somewhere, perhaps in the middle of a secret, and the text may be shorter than its bytes.
        let at = if response.broken_off { limit.min(text.len().saturating_sub(AROUND)) } else { limit };
        cut(&mut text, at, hands);
    }
    text
}

/// LIMIT: longer secrets than this are not recognized on both sides of a cut.
const AROUND: usize = 8 << 10;

/// Cuts a text to so many bytes, cleaned of secrets around the place before: half a secret is one that nobody recognizes.
/// THREAT: P02. The rest is cleaned with the whole answer.
fn cut(text: &mut String, at: usize, hands: &Hands<'_>) {
    if text.len() <= at {
        return;
    }
    text.truncate(text.floor_char_boundary(at.saturating_add(AROUND)));
    let begin = text.floor_char_boundary(at.saturating_sub(AROUND));
    let cleaned = hands.redactor().text_owned(text.split_off(begin));
    hands.redacted(cleaned.n_redactions);
    text.push_str(cleaned.value.as_str());
    text.truncate(text.floor_char_boundary(at));
}

/// What was received, up to the limit.
fn n_bytes(response: &Response) -> usize {
    response.body.len().min(usize::try_from(response.limit).unwrap_or(usize::MAX))
}

/// Specification 000's words for a body that was cut.
fn cut_words(limit: ByteLimit) -> String {
    const MEGABYTE: u64 = 1 << 20;
    let bytes = limit.bytes();
    let size = match bytes % MEGABYTE {
        0 if bytes > 0 => format!("{}MB", bytes / MEGABYTE),
        _ => format!("{bytes} bytes"),
    };
    format!("response body truncated at {size} limit")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
    /// Nothing that reads as text.
    Binary,
}

fn kind_of(content_type: &str) -> Kind {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (top, sub) = essence.split_once('/').unwrap_or((&essence, ""));
    match (top, sub) {
        ("text", "html") | ("application", "xhtml+xml") => Kind::Html,
        ("image", sub) if !sub.ends_with("+xml") => Kind::Binary,
        ("audio" | "video" | "font", _) => Kind::Binary,
        (
            "application",
            "octet-stream" | "zip" | "gzip" | "x-gzip" | "x-tar" | "pdf" | "wasm" | "x-bzip2" | "x-xz"
            | "zstd" | "java-archive" | "x-7z-compressed" | "x-rar-compressed" | "vnd.sqlite3",
        ) => Kind::Binary,
        _ => Kind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content_type: &str, expected: Kind) {
        assert_eq!(kind_of(content_type), expected, "{content_type}");
    }

    #[test]
    fn kinds() {
        check("text/html; charset=utf-8", Kind::Html);
        check("TEXT/HTML", Kind::Html);
        check("application/xhtml+xml", Kind::Html);
        check("text/plain", Kind::Text);
        check("application/json", Kind::Text);
        check("image/svg+xml", Kind::Text);
        check("image/png", Kind::Binary);
        check("application/pdf", Kind::Binary);
        check("", Kind::Text);
        check(";", Kind::Text);
    }

    #[test]
    fn the_words_for_a_cut() {
        assert_eq!(cut_words(ByteLimit::new(10_485_760)), "response body truncated at 10MB limit");
        assert_eq!(cut_words(ByteLimit::new(1000)), "response body truncated at 1000 bytes limit");
    }
}

//! What is told of those at the door, by somebody who stands behind it.
//!
//! THREAT: P02, an answer that takes longer when a stranger's text holds a secret. So nobody at the door looks for
//! secrets; who tells of a request looks once more into the workspace, and keeps no request waiting.
//!
//! LIMIT: where there is one processor, the next request waits for it all the same; it is given short texts only.

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use http::request::Parts;
use http::{HeaderValue, Method};
use tokio_util::task::TaskTracker;
use vambrace_audit::{Event, EventKind, Severity};
use vambrace_redact::{RedactedText, RedactedTree, Redactor};
use vambrace_runtime::{Corridor, Level, LogLine};
use vambrace_types::{Tree, is_invisible};

use super::request_id;

/// LIMIT: of lines that wait to be told; the rest are counted.
const MOST_LINES: usize = 1024;
/// LIMIT: of events and alerts. Noise must not hide them, so they have places of their own, for some seconds of as many as
/// the bell tells apart.
const MOST_EVENTS: usize = 8192;
/// LIMIT: of a method or a path, in bytes: of longer ones only the length is told.
const LONGEST_READ: usize = 1024;
/// LIMIT: of what is written of a method or a path, in bytes.
const LONGEST: usize = 200;

/// What is told of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'r> {
    pub(crate) address: IpAddr,
    pub(crate) method: &'r Method,
    pub(crate) path: &'r str,
    pub(crate) id: Option<&'r HeaderValue>,
}

impl<'r> Seen<'r> {
    /// Its own id or the fresh one: it has one from its first moment.
    pub(crate) fn of(address: IpAddr, parts: &'r Parts) -> Seen<'r> {
        let id = parts.headers.get(request_id::HEADER);
        Seen { address, method: &parts.method, path: parts.uri.path(), id }
    }

    /// To be told when the request is gone.
    pub(super) fn kept(&self) -> Kept {
        Kept {
            address: self.address,
            method: bounded(self.method.as_str()),
            path: bounded(self.path),
            id: self.id.and_then(|id| id.to_str().ok()).map(str::to_owned),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    address: IpAddr,
    method: String,
    path: String,
    id: Option<String>,
}

#[derive(Debug)]
pub(super) enum Tale {
    /// For the log.
    Line { level: Level, words: &'static str, seen: Kept, more: Option<(&'static str, Tree)> },
    /// For the record, of so many. The address alone of those that were only counted; none of more than are told apart.
    Event { words: &'static str, address: Option<IpAddr>, seen: Option<Kept>, n: u64 },
    /// For the log: an alert that the request raised.
    Alarm { rule: String, address: IpAddr, id: Option<String> },
}

#[derive(Debug, Default)]
pub(super) struct Teller {
    waiting: Arc<Mutex<Waiting>>,
    telling: TaskTracker,
}

#[derive(Debug, Default)]
struct Waiting {
    tales: Vec<Tale>,
    /// Among them.
    n_lines: usize,
    n_left_out: u64,
    is_told: bool,
}

impl Waiting {
    /// Whether somebody has to be sent for.
    fn add(&mut self, tale: Tale) -> bool {
        let n_events = self.tales.len() - self.n_lines;
        match &tale {
            Tale::Line { .. } if self.n_lines < MOST_LINES => {
                self.n_lines += 1;
                self.tales.push(tale);
            }
            Tale::Event { .. } | Tale::Alarm { .. } if n_events < MOST_EVENTS => self.tales.push(tale),
            Tale::Line { .. } | Tale::Event { .. } | Tale::Alarm { .. } => self.n_left_out += 1,
        }
        !std::mem::replace(&mut self.is_told, true)
    }

    /// Nothing: whoever tells may go.
    fn take(&mut self) -> Option<(Vec<Tale>, u64)> {
        if self.tales.is_empty() && self.n_left_out == 0 {
            self.is_told = false;
            return None;
        }
        self.n_lines = 0;
        Some((std::mem::take(&mut self.tales), std::mem::take(&mut self.n_left_out)))
    }
}

impl Teller {
    pub(super) fn tell(&self, corridor: &Arc<Corridor>, tale: Tale) {
        if !self.waiting.lock().unwrap_or_else(PoisonError::into_inner).add(tale) {
            return;
        }
        let (waiting, corridor) = (Arc::clone(&self.waiting), Arc::clone(corridor));
        // A disk may keep whoever writes waiting.
        self.telling.spawn_blocking(move || {
            let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            while let Some((tales, n_left_out)) = take() {
                // Whatever makes us fall over, there is somebody who tells.
                let _told = catch_unwind(AssertUnwindSafe(|| tell_all(&corridor, tales, n_left_out)));
            }
        });
    }

    /// As `tell`, for what has to be found out first.
    pub(super) fn find_out(&self, look: impl FnOnce() + Send + 'static) {
        self.telling.spawn_blocking(look);
    }

    /// When nobody comes any more: waits until all is told.
    pub(super) async fn finish(&self) {
        self.telling.close();
        self.telling.wait().await;
    }
}

fn tell_all(corridor: &Corridor, tales: Vec<Tale>, n_left_out: u64) {
    let redactor = corridor.redactor_for_call(corridor.clock().now());
    for tale in tales {
        // What makes us fall over is left out, and not what follows.
        let _told = catch_unwind(AssertUnwindSafe(|| tell_one(corridor, &redactor.for_call(), tale)));
    }
    if n_left_out > 0 {
        let number = redactor.plain_tree(Tree::bytes(n_left_out)).value;
        corridor.log().line(&LogLine {
            level: Level::Warn,
            message: RedactedText::fixed("More came to the door than could be told"),
            fields: vec![("number", number)],
        });
    }
}

fn tell_one(corridor: &Corridor, redactor: &Redactor, tale: Tale) {
    let field = |tree: Tree| redactor.plain_tree(tree).value;
    let client = |address: IpAddr| ("client_ip", field(Tree::text(address.to_string())));
    match tale {
        Tale::Line { level, words, seen, more } => {
            let mut fields = vec![client(seen.address)];
            fields.extend(seen.fields(redactor));
            fields.extend(more.map(|(name, value)| (name, field(value))));
            corridor.log().line(&LogLine { level, message: RedactedText::fixed(words), fields });
        }
        Tale::Event { words, address, seen, n } => {
            let mut details: Vec<_> = address.map(client).into_iter().collect();
            details.extend(seen.iter().flat_map(|seen| seen.fields(redactor)));
            details.push(("count", field(Tree::bytes(n))));
            let event = Event {
                kind: EventKind::AuthFailed,
                severity: Severity::Warning,
                caller: None,
                by: None,
                call_id: None,
                message: RedactedText::fixed(words),
                details: RedactedTree::map(details),
            };
            if let Ok(audit) = corridor.audit() {
                // A record that cannot be written is met by the calls.
                let _ = audit.event(&event).wait();
            }
        }
        Tale::Alarm { rule, address, id } => {
            let message = redactor.text(&format!("Alert raised: {rule}")).value;
            let mut fields = vec![("rule", field(Tree::Text(rule))), client(address)];
            fields.extend(id.map(|id| ("request_id", redactor.name(&id).into())));
            corridor.log().line(&LogLine { level: Level::Warn, message, fields });
        }
    }
}

impl Kept {
    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    pub(super) fn into_id(self) -> Option<String> {
        self.id
    }

    fn fields(&self, redactor: &Redactor) -> Vec<(&'static str, RedactedTree)> {
        let field = |text: &str| redactor.plain_tree(Tree::text(text)).value;
        let mut fields = vec![
            ("method", field(&shown(redactor, &self.method))),
            ("path", field(&shown(redactor, &self.path))),
        ];
        fields.extend(self.id.as_deref().map(|id| ("request_id", redactor.name(id).into())));
        fields
    }
}

/// Half of a text may hold half of a secret, which nobody finds.
fn bounded(text: &str) -> String {
    if text.len() <= LONGEST_READ { text.to_owned() } else { format!("[{} bytes]", text.len()) }
}

/// A stranger's text for a line: without its secrets first, since half of one is not found any more.
fn shown(redactor: &Redactor, text: &str) -> String {
    plain(redactor.text(text).value.as_str())
}

/// Short, and without characters that turn a line around or hide in it.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for one in text.chars() {
        let is_hidden = one.is_control() || is_invisible(one);
        let piece = if is_hidden { one.escape_unicode().to_string() } else { one.to_string() };
        if plain.len() + piece.len() > LONGEST {
            break;
        }
        plain.push_str(&piece);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tale(n: u64) -> Tale {
        Tale::Event { words: "w", address: None, seen: None, n }
    }

    fn kept() -> Kept {
        let (method, path) = ("GET".to_owned(), "/".to_owned());
        Kept { address: IpAddr::from([192, 0, 2, 1]), method, path, id: None }
    }

    #[test]
    fn somebody_is_sent_for_once_and_goes_when_all_is_told() {
        let mut waiting = Waiting::default();
        assert!(waiting.add(tale(1)));
        assert!(!waiting.add(tale(2)));
        assert_eq!(waiting.take().map(|(tales, left_out)| (tales.len(), left_out)), Some((2, 0)));
        assert!(!waiting.add(tale(3)), "who tells looks again");
        assert_eq!(waiting.take().map(|(tales, _)| tales.len()), Some(1));
        assert!(waiting.take().is_none());
        assert!(waiting.add(tale(4)));
    }

    #[test]
    fn more_than_can_wait_are_counted() {
        let mut waiting = Waiting::default();
        let line = || Tale::Line { level: Level::Warn, words: "w", seen: kept(), more: None };
        for _ in 0..2 {
            for _ in 0..MOST_LINES + 3 {
                waiting.add(line());
            }
            // Lines take no place of an event.
            for n in 0..MOST_EVENTS as u64 + 4 {
                waiting.add(tale(n));
            }
            let taken = waiting.take().map(|(tales, left_out)| (tales.len(), left_out));
            assert_eq!(taken, Some((MOST_LINES + MOST_EVENTS, 7)));
            assert!(waiting.take().is_none());
        }
    }

    #[test]
    fn lines_hold_short_and_visible_texts() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text), expected, "{text:?}");
        check("/api/tools", "/api/tools");
        check("/ü", "/ü");
        check("/a\u{202e}b\u{200b}c\u{7f}", "/a\\u{202e}b\\u{200b}c\\u{7f}");
        check(&"x".repeat(200), &"x".repeat(200));
        check(&"x".repeat(201), &"x".repeat(200));
        check(&format!("{}ü", "x".repeat(199)), &"x".repeat(199));
    }

    #[test]
    fn of_a_long_text_only_the_length_is_kept() {
        assert_eq!(bounded(&"x".repeat(1024)), "x".repeat(1024));
        assert_eq!(bounded(&"x".repeat(1025)), "[1025 bytes]");
    }
}

//! Who was not let in: a line for operators at once, and in the record one event a second for each address
//! and kind, with how many there were. THREAT: P03, a guesser who fills the record until nobody reads it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::request::Parts;
use http::{HeaderValue, Method};
use tokio_util::task::TaskTracker;
use vambrace_audit::{Event, EventKind, Severity};
use vambrace_auth::{AddressKey, Moment, Refusal};
use vambrace_redact::{RedactedText, RedactedTree, Redactor};
use vambrace_runtime::{Corridor, Level, LogLine};
use vambrace_types::{Tree, is_invisible};

use super::{Front, request_id};

/// What is told of a request that was turned away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'r> {
    pub(super) address: IpAddr,
    pub(super) method: &'r Method,
    pub(super) path: &'r str,
    pub(super) id: Option<&'r HeaderValue>,
}

impl<'r> Seen<'r> {
    /// Its own id or the fresh one: it has one from its first moment.
    pub(super) fn of(address: IpAddr, parts: &'r Parts) -> Seen<'r> {
        let id = parts.headers.get(request_id::HEADER);
        Seen { address, method: &parts.method, path: parts.uri.path(), id }
    }

    fn id(&self) -> Option<&'r str> {
        self.id.and_then(|id| id.to_str().ok())
    }
}

/// Which bucket was empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limited {
    Address,
    Caller,
    /// Too many wrong credentials.
    Failures,
}

/// What did not fit, though nobody guessed a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strange {
    Host,
    Origin,
    Membership,
}

impl Limited {
    fn words(self) -> &'static str {
        match self {
            Limited::Address => "rate limit exceeded for an address",
            Limited::Caller => "rate limit exceeded for a caller",
            Limited::Failures => "rate limit exceeded: too many wrong credentials",
        }
    }
}

impl Strange {
    fn words(self) -> &'static str {
        match self {
            Strange::Host => "Request refused: its Host is not ours",
            Strange::Origin => "Request refused: its Origin is not listed",
            Strange::Membership => "Request refused: the caller is not a member",
        }
    }
}

const PERIOD: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
/// LIMIT: of alerts about wrong credentials in a minute, over all addresses; the log and the metrics have the rest.
const MOST_ALARMS: u64 = 10;
/// LIMIT: of addresses and kinds that are told apart within a second; the rest are one.
const MOST: usize = 1024;
/// LIMIT: of what is written of a method or a path, in bytes.
const LONGEST: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: Mutex<HashMap<Rung, Count>>,
    /// Doors that closed within the minute.
    closed: Mutex<Count>,
    /// Events on their way into the record.
    writing: TaskTracker,
}

/// `None`: one of more addresses than are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Rung {
    address: Option<IpAddr>,
    words: &'static str,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    since: Moment,
    /// Since the last event.
    untold: u64,
}

impl Bell {
    /// A wrong credential, or none. The line is 001's, and stands there every time.
    pub(super) fn refused(&self, front: &Front, refusal: &Refusal, seen: Seen<'_>) {
        let words = refusal.log_line();
        let reason = match refusal {
            Refusal::InvalidToken(reason) => Some(*reason),
            Refusal::ExpiredToken => Some("the token has expired"),
            Refusal::UnknownKey => Some("it names a key that is not known"),
            Refusal::InvalidInternalToken
            | Refusal::InvalidApiKey
            | Refusal::InvalidSlackSignature
            | Refusal::Missing => None,
            Refusal::UnreadableIdentity(header) => Some(header.why.as_str()),
        };
        line(front, words, seen, reason);
        self.told(front, words, seen);
    }

    /// As many wrong credentials came from an address as close the door to it.
    pub(super) fn door_closed(&self, front: &Front, seen: Seen<'_>) {
        {
            let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
            let now = front.moment();
            if now.saturating_sub(closed.since) >= MINUTE {
                *closed = Count { since: now, untold: 0 };
            }
            closed.untold += 1;
            if closed.untold > MOST_ALARMS {
                return;
            }
        }
        let corridor = std::sync::Arc::clone(&front.corridor);
        // As the limiter counts: a whole network where one is given to one customer.
        let address = AddressKey::of(seen.address).ip();
        // Of the request that was one too many.
        let id = seen.id().map(|id| front.corridor.redactor_so_far().name(id));
        self.writing.spawn_blocking(move || {
            let raised = corridor.audit().map(|audit| audit.too_many_wrong_credentials(&address.to_string()));
            if let Ok(Ok(raised)) = raised {
                raised.iter().for_each(|rule| alarm(&corridor, rule, address, id.as_ref()));
            }
        });
    }

    pub(super) fn strange(&self, front: &Front, strange: Strange, seen: Seen<'_>) {
        let words = strange.words();
        if self.told(front, words, seen) {
            line(front, words, seen, None);
        }
    }

    /// Whether the time has come to tell of it.
    fn told(&self, front: &Front, words: &'static str, seen: Seen<'_>) -> bool {
        let rings = self.ring(Rung { address: Some(seen.address), words }, front.moment());
        if let Some((rung, n)) = rings {
            event(front, rung, Some(seen), n);
        }
        rings.is_some()
    }

    pub(super) fn limited(&self, front: &Front, limited: Limited, seen: Seen<'_>) {
        let words = limited.words();
        let rung = Rung { address: Some(seen.address), words };
        if self.ring(rung, front.moment()).is_some() {
            line(front, words, seen, None);
        }
    }

    /// What is to be told now and how many there were; `None`: one of this kind was told within the second.
    fn ring(&self, rung: Rung, now: Moment) -> Option<(Rung, u64)> {
        let mut rung_before = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let rung = match rung_before.len() < MOST || rung_before.contains_key(&rung) {
            true => rung,
            false => Rung { address: None, ..rung },
        };
        match rung_before.get_mut(&rung) {
            Some(count) if now.saturating_sub(count.since) < PERIOD => {
                count.untold += 1;
                None
            }
            Some(count) => {
                let n = count.untold + 1;
                *count = Count { since: now, untold: 0 };
                Some((rung, n))
            }
            None => {
                rung_before.insert(rung, Count { since: now, untold: 0 });
                Some((rung, 1))
            }
        }
    }

    /// Once a second, and at the end: what was only counted is told, and the quiet ones are forgotten.
    pub(super) fn tell(&self, front: &Front) {
        for (rung, n) in self.quiet(front.moment(), front.ending.is_cancelled()) {
            event(front, rung, None, n);
        }
    }

    /// When nobody rings any more: waits until every event is in the record.
    pub(super) async fn finish(&self) {
        self.writing.close();
        self.writing.wait().await;
    }

    fn quiet(&self, now: Moment, is_last: bool) -> Vec<(Rung, u64)> {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let mut untold = Vec::new();
        rung.retain(|rung, count| {
            if !is_last && now.saturating_sub(count.since) < PERIOD {
                return true;
            }
            if count.untold > 0 && !rung.words.starts_with("rate limit") {
                untold.push((*rung, count.untold));
            }
            false
        });
        untold
    }
}

fn line(front: &Front, words: &'static str, seen: Seen<'_>, reason: Option<&'static str>) {
    let redactor = front.corridor.redactor_so_far();
    let field = |text: &str| redactor.plain_tree(Tree::text(text)).value;
    let mut fields = vec![
        ("client_ip", field(&seen.address.to_string())),
        ("method", field(&shown(&redactor, seen.method.as_str()))),
        ("path", field(&shown(&redactor, seen.path))),
    ];
    fields.extend(seen.id().map(|id| ("request_id", redactor.name(id).into())));
    fields.extend(reason.map(|reason| ("reason", field(reason))));
    let message = RedactedText::fixed(words);
    front.corridor.log().line(&LogLine { level: Level::Warn, message, fields });
}

fn event(front: &Front, rung: Rung, seen: Option<Seen<'_>>, n: u64) {
    let Rung { address, words } = rung;
    let redactor = front.corridor.redactor_so_far();
    let field = |tree: Tree| redactor.plain_tree(tree).value;
    let mut details: Vec<(&'static str, RedactedTree)> = Vec::new();
    if let Some(address) = address {
        details.push(("client_ip", field(Tree::text(address.to_string()))));
    }
    if let Some(seen) = seen {
        details.push(("method", field(Tree::text(shown(&redactor, seen.method.as_str())))));
        details.push(("path", field(Tree::text(shown(&redactor, seen.path)))));
        // Of the one that rang; those that were only counted are in the log.
        details.extend(seen.id().map(|id| ("request_id", redactor.name(id).into())));
    }
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
    let corridor = std::sync::Arc::clone(&front.corridor);
    // A disk may keep the writer waiting; nobody at the door waits for it.
    front.bell.writing.spawn_blocking(move || {
        if let Ok(audit) = corridor.audit() {
            // A record that cannot be written is met by the calls.
            let _ = audit.event(&event);
        }
    });
}

fn alarm(corridor: &Corridor, rule: &str, address: IpAddr, id: Option<&RedactedText>) {
    let text = |text: &str| corridor.redactor().plain_tree(Tree::text(text)).value;
    let mut fields = vec![("rule", text(rule)), ("client_ip", text(&address.to_string()))];
    fields.extend(id.map(|id| ("request_id", id.clone().into())));
    let message = corridor.redactor().text(&format!("Alert raised: {rule}")).value;
    corridor.log().line(&LogLine { level: Level::Warn, message, fields });
}

/// A stranger's text for a line: without its secrets first, since half of one is not found any more.
pub(super) fn shown(redactor: &Redactor, text: &str) -> String {
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

    fn rung(last: u8) -> Rung {
        let address = Some(IpAddr::from([192, 0, 2, last]));
        Rung { address, words: "Invalid API key attempt" }
    }

    #[test]
    fn one_event_a_second_tells_of_all() {
        let bell = Bell::default();
        let at = Duration::from_millis;
        let rows = [(0, Some(1)), (1, None), (999, None), (1000, Some(3)), (1500, None), (2000, Some(2))];
        for (time, expected) in rows {
            assert_eq!(bell.ring(rung(1), at(time)).map(|(_, n)| n), expected, "{time}");
        }
        assert_eq!(bell.ring(rung(2), at(2000)), Some((rung(2), 1)), "another address");
        assert_eq!(bell.ring(rung(1), at(2500)), None);
        assert_eq!(bell.quiet(at(2999), false), []);
        assert_eq!(bell.quiet(at(3000), false), [(rung(1), 1)]);
        assert!(bell.rung.lock().unwrap().is_empty());
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
    fn more_addresses_than_are_told_apart_are_one() {
        let bell = Bell::default();
        let of = |n: u32| Rung { address: Some(IpAddr::from(n.to_be_bytes())), ..rung(0) };
        for n in 0..MOST as u32 {
            assert_eq!(bell.ring(of(n), Duration::ZERO), Some((of(n), 1)));
        }
        // Not under the name of whoever happened to come next.
        let rest = Rung { address: None, ..rung(0) };
        assert_eq!(bell.ring(of(1_000_000), Duration::ZERO), Some((rest, 1)), "the first of the rest");
        assert_eq!(bell.ring(of(1_000_001), Duration::ZERO), None);
        assert_eq!(bell.rung.lock().unwrap().len(), MOST + 1);
    }
}

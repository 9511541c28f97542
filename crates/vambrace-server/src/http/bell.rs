//! Who was not let in: a line for operators, and in the record one event a second for each address
//! and kind, with how many there were. THREAT: P03, a guesser who fills the record until nobody reads it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;
use vambrace_auth::{AddressKey, Moment, Refusal};
use vambrace_runtime::Level;
use vambrace_state::StateError;
use vambrace_types::Tree;

use super::Front;
use super::teller::{Seen, Tale, Teller};

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
    Json,
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
            Strange::Json => "Request refused: its JSON is made to harm whoever reads it",
        }
    }
}

const PERIOD: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
/// LIMIT: of alerts about wrong credentials in a minute, over all addresses; the log and the metrics have the rest.
const MOST_ALARMS: u64 = 10;
/// LIMIT: of addresses and kinds that are told apart within a second; the rest are one.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: Mutex<HashMap<Rung, Count>>,
    /// Doors that closed within the minute.
    closed: Mutex<Count>,
    teller: Teller,
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
    /// A wrong credential, or none. The line is 001's, and stands there every time, unless too many come at once.
    pub(super) fn refused(&self, front: &Front, refusal: &Refusal, seen: Seen<'_>) {
        let words = refusal.log_line();
        let reason = match refusal {
            Refusal::InvalidToken(reason) => Some(*reason),
            Refusal::ExpiredToken => Some("the token has expired"),
            Refusal::UnknownKey => Some("it names a key that is not known"),
            Refusal::InvalidInternalToken
            | Refusal::InvalidApiKey
            | Refusal::InvalidSlackSignature
            | Refusal::NoContext
            | Refusal::Missing => None,
            Refusal::UnreadableIdentity(header) => Some(header.why.as_str()),
        };
        self.line(front, words, seen, reason);
        self.told(front, words, seen);
    }

    /// As many wrong credentials came from an address as close the door to it.
    pub(super) fn door_closed(&self, front: &Arc<Front>, seen: Seen<'_>) {
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
        let (front, seen) = (Arc::clone(front), seen.kept());
        self.teller.find_out(move || {
            // As the limiter counts: a whole network where one is given to one customer.
            let address = AddressKey::of(seen.address()).ip();
            let audit = front.corridor.audit();
            let raised = audit.map(|audit| audit.too_many_wrong_credentials(&address.to_string()));
            // Of the request that was one too many.
            let id = seen.into_id();
            for rule in raised.into_iter().flatten().flatten() {
                front.bell.teller.tell(&front.corridor, Tale::Alarm { rule, address, id: id.clone() });
            }
        });
    }

    pub(super) fn strange(&self, front: &Front, strange: Strange, seen: Seen<'_>) {
        let words = strange.words();
        if self.told(front, words, seen) {
            self.line(front, words, seen, None);
        }
    }

    /// Whether the time has come to tell of it.
    fn told(&self, front: &Front, words: &'static str, seen: Seen<'_>) -> bool {
        let rings = self.ring(Rung { address: Some(seen.address), words }, front.moment());
        if let Some((Rung { address, words }, n)) = rings {
            let seen = Some(seen.kept());
            self.teller.tell(&front.corridor, Tale::Event { words, address, seen, n });
        }
        rings.is_some()
    }

    fn line(&self, front: &Front, words: &'static str, seen: Seen<'_>, reason: Option<&'static str>) {
        if !front.corridor.log().wants(Level::Warn) {
            return;
        }
        let (seen, more) = (seen.kept(), reason.map(|reason| ("reason", Tree::text(reason))));
        self.teller.tell(&front.corridor, Tale::Line { level: Level::Warn, words, seen, more });
    }

    /// For whoever wants to see every request.
    pub(super) fn answered(&self, front: &Front, seen: Seen<'_>, status: StatusCode) {
        let (seen, more) = (seen.kept(), Some(("status", Tree::Int(i64::from(status.as_u16())))));
        self.teller.tell(&front.corridor, Tale::Line { level: Level::Debug, words: "request", seen, more });
    }

    pub(super) fn limited(&self, front: &Front, limited: Limited, seen: Seen<'_>) {
        let words = limited.words();
        let rung = Rung { address: Some(seen.address), words };
        if self.ring(rung, front.moment()).is_some() {
            self.line(front, words, seen, None);
        }
    }

    /// A store that the request needed did not answer.
    pub(super) fn away(&self, front: &Front, error: &StateError, seen: Seen<'_>) {
        let words = "rate limit unknown: the shared state did not answer";
        if self.ring(Rung { address: None, words }, front.moment()).is_some() {
            let (seen, more) = (seen.kept(), Some(("reason", Tree::Text(error.to_string()))));
            self.teller.tell(&front.corridor, Tale::Line { level: Level::Warn, words, seen, more });
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
        for (Rung { address, words }, n) in self.quiet(front.moment(), front.ending.is_cancelled()) {
            self.teller.tell(&front.corridor, Tale::Event { words, address, seen: None, n });
        }
    }

    /// When nobody rings any more: waits until all is told.
    pub(super) async fn finish(&self) {
        self.teller.finish().await;
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

//! Which hosts programs asked for, and what became of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use vambrace_types::ErrorCode;

use super::{Contact, Outcome};

/// LIMIT: entries. What comes after is counted under `…`, one entry for each kind.
const MOST: usize = 256;
/// LIMIT: bytes of a host, as long as a name can be.
const LONGEST_HOST: usize = 253;
const REST: &str = "…";

/// Bytes to and from a host, counted as they pass.
#[derive(Debug, Default)]
pub(super) struct Meter {
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Reached,
    Refused(ErrorCode),
    Failed,
}

struct Entry {
    outcome: Outcome,
    times: u64,
    meter: Arc<Meter>,
}

#[derive(Default)]
pub(super) struct Ledger(Mutex<BTreeMap<(String, u16, Kind), Entry>>);

impl Ledger {
    /// The meter is for what passes because of it.
    pub(super) fn note(&self, host: &str, port: u16, outcome: Outcome) -> Arc<Meter> {
        let mut kind = match &outcome {
            Outcome::Reached { .. } => Kind::Reached,
            Outcome::Refused(refusal) => Kind::Refused(refusal.code()),
            Outcome::Failed { .. } => Kind::Failed,
        };
        let host = host.get(..host.floor_char_boundary(LONGEST_HOST)).unwrap_or_default();
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (host.to_owned(), port, kind);
        if entries.len() >= MOST && !entries.contains_key(&key) {
            // What was reached must not be hidden among what was refused.
            if let Kind::Refused(_) = kind {
                kind = Kind::Refused(ErrorCode::HostNotAllowed);
            }
            key = (REST.to_owned(), 0, kind);
        }
        let entry = entries.entry(key).or_insert_with(|| Entry {
            outcome: outcome.clone(),
            times: 0,
            meter: Arc::default(),
        });
        entry.outcome = outcome;
        entry.times += 1;
        Arc::clone(&entry.meter)
    }

    pub(super) fn contacts(&self) -> Vec<Contact> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let contact = |((host, port, _), entry): (&(String, u16, Kind), &Entry)| Contact {
            host: host.clone(),
            port: *port,
            outcome: entry.outcome.clone(),
            times: entry.times,
            bytes_sent: entry.meter.sent.load(Ordering::Relaxed),
            bytes_received: entry.meter.received.load(Ordering::Relaxed),
        };
        entries.iter().map(contact).collect()
    }
}

#[cfg(test)]
mod tests {
    use vambrace_policy::url::UrlRefusal;

    use super::*;

    fn reached() -> Outcome {
        Outcome::Reached { address: "203.0.113.1:443".to_owned() }
    }

    fn refused(host: &str) -> Outcome {
        Outcome::Refused(UrlRefusal::NotListed { host: host.to_owned(), port: 443 })
    }

    #[test]
    fn the_same_is_one_entry_and_other_ports_and_outcomes_are_others() {
        let ledger = Ledger::default();
        for (host, port, outcome) in [
            ("a.test", 443, reached()),
            ("a.test", 443, reached()),
            ("a.test", 80, reached()),
            ("a.test", 443, refused("a.test")),
            ("a.test", 443, Outcome::Failed { why: String::new() }),
            ("b.test", 443, reached()),
        ] {
            ledger.note(host, port, outcome).sent.fetch_add(3, Ordering::Relaxed);
        }
        let contacts = ledger.contacts();
        let first = contacts.iter().find(|one| one.host == "a.test" && one.port == 443 && one.times == 2);
        assert_eq!(contacts.len(), 5);
        assert_eq!(first.map(|one| (&one.outcome, one.bytes_sent)), Some((&reached(), 6)));
    }

    #[test]
    fn a_flood_is_counted_and_hides_nothing_that_was_reached() {
        let ledger = Ledger::default();
        for n in 0..10_000 {
            let host = format!("{n}.test");
            ledger.note(&host, 443, refused(&host));
        }
        ledger.note("late.test", 443, reached());
        ledger.note("0.test", 443, refused("0.test"));
        let contacts = ledger.contacts();
        let rest: Vec<&Contact> = contacts.iter().filter(|one| one.host == REST).collect();
        assert_eq!(contacts.len(), MOST + 2);
        assert_eq!(rest.iter().map(|one| one.times).collect::<Vec<_>>(), [1, 10_000 - MOST as u64]);
        assert_eq!(rest[0].outcome, reached());
    }

    #[test]
    fn a_host_is_cut_between_characters() {
        let ledger = Ledger::default();
        ledger.note(&"é".repeat(1000), 1, reached());
        assert_eq!(ledger.contacts()[0].host, "é".repeat(126));
    }
}

//! Which hosts programs asked for, and what became of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use vambrace_policy::url::{Attempt, UrlRefusal};
use vambrace_types::ErrorCode;

use super::{Contact, Outcome};

/// LIMIT: bytes of a host or another text that a program wrote, as long as a name can be.
const LONGEST_TEXT: usize = 253;
const REST: &str = "…";
const LEFT: &str = "the program went away";

/// Bytes to and from a host, counted as they pass.
#[derive(Debug, Default)]
pub(super) struct Meter {
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
}

/// THREAT: P05, each has room of its own, so that a flood of one hides nothing of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Reached,
    Metadata,
    Kubernetes,
    Private,
    Other,
    Failed,
    /// Asked for, and nothing came of it so far.
    Left,
}

impl Kind {
    fn of(outcome: &Outcome) -> Kind {
        match outcome {
            Outcome::Reached { .. } => Kind::Reached,
            Outcome::Refused(refusal) => match refusal.attempt() {
                Attempt::Metadata => Kind::Metadata,
                Attempt::Kubernetes => Kind::Kubernetes,
                Attempt::Private => Kind::Private,
                Attempt::Other => Kind::Other,
            },
            Outcome::Failed { .. } => Kind::Failed,
        }
    }

    /// LIMIT: entries. What comes after is counted under `…`, one entry for each kind.
    fn room(self) -> usize {
        match self {
            Kind::Reached => 256,
            Kind::Metadata | Kind::Kubernetes | Kind::Private | Kind::Other | Kind::Failed | Kind::Left => 64,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    host: String,
    port: u16,
    kind: Kind,
    /// Two refusals of one host are two entries; the rest of a kind is one.
    code: Option<ErrorCode>,
}

struct Entry {
    outcome: Outcome,
    times: u64,
    meter: Arc<Meter>,
}

/// A host that was asked for and is in the ledger as such. Forgotten, it stays there: the program went away.
#[must_use]
pub(super) struct Asked {
    host: String,
    port: u16,
    key: Key,
}

#[derive(Default)]
pub(super) struct Ledger(Mutex<Book>);

#[derive(Default)]
struct Book {
    entries: BTreeMap<Key, Entry>,
    /// Entries that have a host.
    n_named: BTreeMap<Kind, usize>,
}

impl Book {
    fn add(&mut self, host: &str, port: u16, kind: Kind, mut outcome: Outcome) -> (Key, Arc<Meter>) {
        shorten(&mut outcome);
        let code = match &outcome {
            Outcome::Refused(refusal) => Some(refusal.code()),
            Outcome::Reached { .. } | Outcome::Failed { .. } => None,
        };
        let mut key = Key { host: host.to_owned(), port, kind, code };
        cut(&mut key.host);
        if !self.entries.contains_key(&key) {
            let n_named = self.n_named.entry(kind).or_default();
            if *n_named < kind.room() {
                *n_named += 1;
            } else {
                key = Key { host: REST.to_owned(), port: 0, kind, code: None };
            }
        }
        // The first text stays: a program must not write over what it did.
        let new = || Entry { outcome, times: 0, meter: Arc::default() };
        let entry = self.entries.entry(key.clone()).or_insert_with(new);
        entry.times += 1;
        let meter = Arc::clone(&entry.meter);
        (key, meter)
    }

    fn take_back(&mut self, key: &Key) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.times = entry.times.saturating_sub(1);
        if entry.times > 0 {
            return;
        }
        self.entries.remove(key);
        if key.host != REST {
            let n_named = self.n_named.entry(key.kind).or_default();
            *n_named = n_named.saturating_sub(1);
        }
    }
}

impl Ledger {
    /// The meter is for what passes because of it.
    pub(super) fn note(&self, host: &str, port: u16, outcome: Outcome) -> Arc<Meter> {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        book.add(host, port, Kind::of(&outcome), outcome).1
    }

    /// INVARIANT: before a look-up, because a look-up tells somebody the name, whatever comes of it.
    pub(super) fn ask(&self, host: &str, port: u16) -> Asked {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, _) = book.add(host, port, Kind::Left, Outcome::Failed { why: LEFT.to_owned() });
        Asked { host: host.to_owned(), port, key }
    }

    /// What came of it.
    pub(super) fn became(&self, asked: Asked, outcome: Outcome) -> Arc<Meter> {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        book.take_back(&asked.key);
        book.add(&asked.host, asked.port, Kind::of(&outcome), outcome).1
    }

    /// Somebody else notes what comes of it.
    pub(super) fn hand_over(&self, asked: Asked) {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        book.take_back(&asked.key);
    }

    pub(super) fn contacts(&self) -> Vec<Contact> {
        let book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let contact = |(key, entry): (&Key, &Entry)| Contact {
            host: key.host.clone(),
            port: key.port,
            outcome: entry.outcome.clone(),
            times: entry.times,
            bytes_sent: entry.meter.sent.load(Ordering::Relaxed),
            bytes_received: entry.meter.received.load(Ordering::Relaxed),
        };
        book.entries.iter().map(contact).collect()
    }
}

fn cut(text: &mut String) {
    text.truncate(text.floor_char_boundary(LONGEST_TEXT));
}

/// Hosts, headers and whatever else a program chose. Our own reasons are short, but hold some of it.
fn shorten(outcome: &mut Outcome) {
    let refusal = match outcome {
        Outcome::Reached { .. } => return,
        Outcome::Failed { why } => {
            // One host, and our words around it.
            return why.truncate(why.floor_char_boundary(2 * LONGEST_TEXT));
        }
        Outcome::Refused(refusal) => refusal,
    };
    match refusal {
        UrlRefusal::Credentials => {}
        UrlRefusal::Unparsable { why: text }
        | UrlRefusal::Scheme { scheme: text }
        | UrlRefusal::Port { host: text, .. }
        | UrlRefusal::Localhost { host: text }
        | UrlRefusal::Metadata { host: text, .. }
        | UrlRefusal::Kubernetes { host: text }
        | UrlRefusal::LocalName { host: text }
        | UrlRefusal::Blocked { host: text, .. }
        | UrlRefusal::Address { host: text, .. }
        | UrlRefusal::Outside { host: text, .. }
        | UrlRefusal::NotListed { host: text, .. }
        | UrlRefusal::NoAddress { host: text }
        | UrlRefusal::Method { method: text }
        | UrlRefusal::Header { name: text }
        | UrlRefusal::Redirect { why: text }
        | UrlRefusal::Stray { secret: text } => cut(text),
        UrlRefusal::Mismatch { host, named } => {
            cut(host);
            cut(named);
        }
    }
}

#[cfg(test)]
mod tests;

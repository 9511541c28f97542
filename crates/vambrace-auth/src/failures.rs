//! Guessing costs: ten wrong credentials in a minute from one address, and it waits for five.
//!
//! INVARIANT: a failure counts for its minute, whatever succeeds meanwhile. THREAT: P13, who knows one credential, or needs
//! none in open mode, would otherwise show it after every nine guesses at another and guess for ever.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{AddressKey, Moment};

const MOST_FAILURES: usize = 10;
const WITHIN: Duration = Duration::from_secs(60);
const BLOCK: Duration = Duration::from_secs(300);

/// Addresses are counted by `AddressKey`.
#[derive(Debug, Default)]
pub struct FailureLimiter {
    most: usize,
    /// One lock: only wrong credentials write here, and a look is short.
    addresses: Mutex<HashMap<AddressKey, Record>>,
}

#[derive(Debug, Default)]
struct Record {
    /// The last ones, oldest first; never more than `MOST_FAILURES`.
    failures: VecDeque<Moment>,
    blocked_until: Option<Moment>,
}

impl FailureLimiter {
    /// `most` addresses are remembered. When there are more, those that matter least are forgotten.
    pub fn new(most: usize) -> FailureLimiter {
        FailureLimiter { most: most.max(1), addresses: Mutex::default() }
    }

    /// How long the address still has to wait, before any credential of it is looked at.
    pub fn blocked(&self, address: IpAddr, now: Moment) -> Option<Duration> {
        let addresses = self.lock();
        let until = addresses.get(&AddressKey::of(address))?.blocked_until?;
        until.checked_sub(now).filter(|wait| !wait.is_zero())
    }

    /// Whether this one closed the door.
    pub fn failed(&self, address: IpAddr, now: Moment) -> bool {
        let key = AddressKey::of(address);
        let mut addresses = self.lock();
        if addresses.len() >= self.most && !addresses.contains_key(&key) {
            make_room(&mut addresses, self.most, now);
        }
        let record = addresses.entry(key).or_default();
        record.failures.push_back(now);
        record.failures.retain(|then| now.saturating_sub(*then) < WITHIN);
        let closes = record.failures.len() >= MOST_FAILURES;
        if closes {
            record.failures.clear();
            record.blocked_until = Some(now + BLOCK);
        }
        closes
    }

    /// How many addresses are remembered.
    pub fn n_addresses(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AddressKey, Record>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    fn is_blocked(&self, now: Moment) -> bool {
        self.blocked_until.is_some_and(|until| until > now)
    }

    /// What is forgotten first: those that guessed least, then the oldest; a block last, and then the one
    /// that ends first.
    fn weight(&self, now: Moment) -> (bool, usize, Moment) {
        let newest = self.failures.back().copied().unwrap_or_default();
        if self.is_blocked(now) {
            return (true, 0, self.blocked_until.unwrap_or_default());
        }
        let n_recent = self.failures.iter().filter(|then| now.saturating_sub(**then) < WITHIN).count();
        (false, n_recent, newest)
    }
}

/// Removes an eighth at once, so that the next look through all is far away.
fn make_room(addresses: &mut HashMap<AddressKey, Record>, most: usize, now: Moment) {
    let n_removed = (most / 8).max(1);
    let mut weights: Vec<_> = addresses.values().map(|record| record.weight(now)).collect();
    if n_removed < weights.len() {
        let (_, least_kept, _) = weights.select_nth_unstable(n_removed);
        let least_kept = *least_kept;
        addresses.retain(|_, record| record.weight(now) >= least_kept);
    }
    // Equal weights stay together, so that nothing may have gone; then any of them goes.
    if addresses.len() >= most
        && let Some(key) = addresses.iter().min_by_key(|(_, record)| record.weight(now)).map(|(key, _)| *key)
    {
        addresses.remove(&key);
    }
}

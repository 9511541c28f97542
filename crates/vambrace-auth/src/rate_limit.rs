//! How often: a token bucket for each key, kept as one number (GCRA), in bounded memory.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time as the front end's monotonic clock tells it, since its start.
pub type Moment = Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub per_second: u32,
    pub burst: u32,
}

/// What a draw gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    pub allowed: bool,
    /// How many more could be drawn at once.
    pub remaining: u32,
    /// Until one can be drawn again; zero when one can.
    pub retry_after: Duration,
    /// Until the bucket is full again.
    pub full_after: Duration,
}

/// A time in parts of `1 / (1,000,000,000 · rate)` seconds, so that one token is a whole number of them at
/// every rate and nothing is ever rounded. The number that is kept for a bucket is the time at which it is
/// full again.
type Ticks = u128;

/// What one token takes to come back, in ticks.
const TOKEN: Ticks = 1_000_000_000;

/// One lock for many keys is contended; many locks for few keys would fill unevenly.
const N_SHARDS: usize = 16;
const FEW: usize = 1024;

/// `K` is an address (as `AddressKey`, so that a network of IPv6 addresses is one) or a caller.
#[derive(Debug)]
pub struct RateLimiter<K> {
    rate: Rate,
    most_in_shard: usize,
    shards: Vec<Mutex<Shard<K>>>,
    overflow: Mutex<Ticks>,
    /// Seeded, so that nobody can choose keys that fall into one shard.
    hasher: RandomState,
}

#[derive(Debug)]
struct Shard<K> {
    full_at: HashMap<K, Ticks>,
    /// Before this no bucket is full again, so looking for one is in vain.
    first_full_at: Ticks,
}

impl<K: Eq + Hash> RateLimiter<K> {
    /// `most` keys are told apart; the rest share one bucket.
    pub fn new(rate: Rate, most: usize) -> RateLimiter<K> {
        let n_shards = if most < FEW { 1 } else { N_SHARDS };
        let shard = || Mutex::new(Shard { full_at: HashMap::new(), first_full_at: 0 });
        RateLimiter {
            // Zero would mean never, which a limiter is not for.
            rate: Rate { per_second: rate.per_second.max(1), burst: rate.burst.max(1) },
            most_in_shard: most / n_shards,
            shards: std::iter::repeat_with(shard).take(n_shards).collect(),
            overflow: Mutex::new(0),
            hasher: RandomState::new(),
        }
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// How many keys have a bucket of their own.
    pub fn n_keys(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).full_at.len()).sum()
    }

    pub fn draw<Q>(&self, key: &Q, now: Moment) -> Draw
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let now = self.ticks(now);
        let n_shards = u64::try_from(self.shards.len()).unwrap_or(1).max(1);
        let place = usize::try_from(self.hasher.hash_one(key) % n_shards).unwrap_or(0);
        let Some(shard) = self.shards.get(place) else {
            return self.take(&mut lock(&self.overflow), now);
        };
        let mut shard = lock(shard);
        if let Some(full_at) = shard.full_at.get_mut(key) {
            return self.take(full_at, now);
        }
        if shard.full_at.len() >= self.most_in_shard && !shard.make_room(now) {
            drop(shard);
            return self.take(&mut lock(&self.overflow), now);
        }
        let mut full_at = now;
        let draw = self.take(&mut full_at, now);
        shard.first_full_at = shard.first_full_at.min(full_at);
        shard.full_at.insert(key.to_owned(), full_at);
        draw
    }

    /// A bucket that is full again is as good as none, so `full_at` in the past counts as now.
    fn take(&self, full_at: &mut Ticks, now: Ticks) -> Draw {
        let capacity = Ticks::from(self.rate.burst) * TOKEN;
        let missing = full_at.saturating_sub(now);
        let after = missing + TOKEN;
        let allowed = after <= capacity;
        let missing = if allowed { after } else { missing };
        if allowed {
            *full_at = now + after;
        }
        let left = capacity.saturating_sub(missing);
        Draw {
            allowed,
            remaining: u32::try_from(left / TOKEN).unwrap_or(u32::MAX),
            retry_after: self.duration(TOKEN.saturating_sub(left)),
            full_after: self.duration(missing),
        }
    }

    fn ticks(&self, time: Duration) -> Ticks {
        time.as_nanos().saturating_mul(Ticks::from(self.rate.per_second))
    }

    /// Rounded up: who waits as long as told is let in.
    fn duration(&self, ticks: Ticks) -> Duration {
        let nanos = ticks.div_ceil(Ticks::from(self.rate.per_second));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl<K: Eq + Hash> Shard<K> {
    /// Forgets buckets that are full again.
    fn make_room(&mut self, now: Ticks) -> bool {
        if now < self.first_full_at {
            return false;
        }
        let before = self.full_at.len();
        let mut first = Ticks::MAX;
        self.full_at.retain(|_, full_at| {
            let is_kept = *full_at > now;
            if is_kept {
                first = first.min(*full_at);
            }
            is_kept
        });
        self.first_full_at = first;
        self.full_at.len() < before
    }
}

/// A panic elsewhere left at worst one draw uncounted.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! How often: the buckets of addresses and callers, and wrong credentials.

use std::net::IpAddr;
use std::time::Duration;

use vambrace_auth::{AddressKey, Draw, FailureLimiter, Moment, Rate, RateLimiter};

use crate::{Answer, ready};

/// Whose bucket a token is drawn from. Buckets of different kinds are different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bucket<'k> {
    Address(AddressKey),
    /// For what a web page, or a name that is none of ours, has sent: it must not lock out the
    /// agents of its address.
    Stranger(AddressKey),
    Caller(&'k str),
}

pub trait RateBuckets: Send + Sync {
    /// Takes a token, if there is one. Must be atomic across replicas: of draws at the same time,
    /// no more are allowed than there are tokens.
    fn draw(&self, bucket: Bucket<'_>, now: Moment) -> Answer<'_, Draw>;
}

pub trait WrongCredentials: Send + Sync {
    /// How long the address still has to wait before any credential of it is looked at.
    fn blocked(&self, address: IpAddr, now: Moment) -> Answer<'_, Option<Duration>>;

    /// Counts one more; whether it closed the door. Must be atomic across replicas: none is lost,
    /// and one of them closes.
    fn failed(&self, address: IpAddr, now: Moment) -> Answer<'_, bool>;
}

/// How many addresses and callers are told apart.
pub const MOST_KEYS: usize = 65_536;

/// The buckets of this process.
#[derive(Debug)]
pub struct LocalRates {
    by_address: RateLimiter<AddressKey>,
    by_stranger: RateLimiter<AddressKey>,
    by_caller: RateLimiter<String>,
}

impl LocalRates {
    pub fn new(rate: Rate) -> LocalRates {
        LocalRates {
            by_address: RateLimiter::new(rate, MOST_KEYS),
            by_stranger: RateLimiter::new(rate, MOST_KEYS),
            by_caller: RateLimiter::new(rate, MOST_KEYS),
        }
    }
}

impl RateBuckets for LocalRates {
    fn draw(&self, bucket: Bucket<'_>, now: Moment) -> Answer<'_, Draw> {
        ready(match bucket {
            Bucket::Address(address) => self.by_address.draw(&address, now),
            Bucket::Stranger(address) => self.by_stranger.draw(&address, now),
            Bucket::Caller(owner) => self.by_caller.draw(owner, now),
        })
    }
}

/// What this process has counted.
#[derive(Debug)]
pub struct LocalFailures(FailureLimiter);

impl Default for LocalFailures {
    fn default() -> LocalFailures {
        LocalFailures(FailureLimiter::new(MOST_KEYS))
    }
}

impl WrongCredentials for LocalFailures {
    fn blocked(&self, address: IpAddr, now: Moment) -> Answer<'_, Option<Duration>> {
        match self.0.blocked(address, now) {
            // Nearly everybody. A future that holds nothing takes no memory.
            None => Box::pin(async { Ok(None) }),
            wait => ready(wait),
        }
    }

    fn failed(&self, address: IpAddr, now: Moment) -> Answer<'_, bool> {
        ready(self.0.failed(address, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TIMEOUT, within};

    #[tokio::test]
    async fn kinds_of_buckets_do_not_share() {
        let rates: &dyn RateBuckets = &LocalRates::new(Rate { per_second: 1, burst: 1 });
        let address = AddressKey::of(IpAddr::from([192, 0, 2, 1]));
        let buckets = [
            Bucket::Address(address),
            Bucket::Stranger(address),
            Bucket::Caller("ann"),
            Bucket::Caller("ben"),
        ];
        for expected in [true, false] {
            for bucket in buckets {
                let draw = within(TIMEOUT, rates.draw(bucket, Moment::ZERO)).await.unwrap();
                assert_eq!(draw.allowed, expected, "{bucket:?}");
            }
        }
    }
}

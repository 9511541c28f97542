//! How often, asked of stores that may be away. Whoever cannot be counted is not served.

use std::net::IpAddr;
use std::time::Duration;

use vambrace_auth::{AddressKey, Draw, Rate, RateLimiter};
use vambrace_state::{Bucket, MOST_KEYS, StateError, TIMEOUT, within};

use super::bell::Limited;
use super::teller::Seen;
use super::{Front, Limit, Problem, health};

/// For those who ask how this process is, whose buckets are here: a store that is away must not
/// make the process look dead, nor a busy agent. What a web page sends does not use up what others
/// have.
pub(super) struct Probes {
    own: RateLimiter<AddressKey>,
    strange: RateLimiter<AddressKey>,
}

impl Probes {
    pub(super) fn new(rate: Rate) -> Probes {
        Probes { own: RateLimiter::new(rate, MOST_KEYS), strange: RateLimiter::new(rate, MOST_KEYS) }
    }
}

/// A token of the address, or the answer that the request gets instead.
pub(super) async fn arriving(front: &Front, is_strange: bool, seen: Seen<'_>) -> Result<Draw, Problem> {
    let key = AddressKey::of(seen.address);
    if health::is_probe(seen.path) {
        let probes = if is_strange { &front.probes.strange } else { &front.probes.own };
        let draw = probes.draw(&key, front.moment());
        return judged(front, draw, (Limit::Address, Limited::Address), seen);
    }
    token(front, if is_strange { Bucket::Stranger(key) } else { Bucket::Address(key) }, seen).await
}

/// A token of this bucket, or the answer that the request gets instead.
pub(super) async fn token(front: &Front, bucket: Bucket<'_>, seen: Seen<'_>) -> Result<Draw, Problem> {
    let drawn = within(TIMEOUT, front.state.rates.draw(bucket, front.moment())).await;
    let draw = drawn.map_err(|error| front.away(&error, seen))?;
    let limits = match bucket {
        Bucket::Caller(_) => (Limit::Caller, Limited::Caller),
        Bucket::Address(_) | Bucket::Stranger(_) => (Limit::Address, Limited::Address),
    };
    judged(front, draw, limits, seen)
}

fn judged(
    front: &Front,
    draw: Draw,
    (limit, limited): (Limit, Limited),
    seen: Seen<'_>,
) -> Result<Draw, Problem> {
    if draw.allowed {
        return Ok(draw);
    }
    front.metrics.limited(limit);
    front.bell.limited(front, limited, seen);
    Err(Problem::too_many(draw))
}

/// How long the address has to wait because of wrong credentials.
pub(super) async fn blocked(front: &Front, seen: Seen<'_>) -> Result<Option<Duration>, Problem> {
    let blocked = within(TIMEOUT, front.state.failures.blocked(seen.address, front.moment())).await;
    blocked.map_err(|error| front.away(&error, seen))
}

/// Counts a wrong credential; whether it closed the door.
pub(super) async fn failed(front: &Front, address: IpAddr) -> Result<bool, StateError> {
    within(TIMEOUT, front.state.failures.failed(address, front.moment())).await
}

impl Front {
    /// Operators are told why; the client is told to come again.
    pub(crate) fn away(&self, error: &StateError, seen: Seen<'_>) -> Problem {
        self.bell.away(self, error, seen);
        Problem::away()
    }
}

#[cfg(test)]
mod tests;

//! How often, asked of stores that may be away. Whoever cannot be counted is not served.

use std::net::IpAddr;
use std::time::Duration;

use vambrace_auth::Draw;
use vambrace_state::{Bucket, StateError, TIMEOUT, within};

use super::bell::Limited;
use super::teller::Seen;
use super::{Front, Limit, Problem};

/// A token of this bucket, or the answer that the request gets instead.
pub(super) async fn token(front: &Front, bucket: Bucket<'_>, seen: Seen<'_>) -> Result<Draw, Problem> {
    let drawn = within(TIMEOUT, front.state.rates.draw(bucket, front.moment())).await;
    let draw = drawn.map_err(|error| front.away(&error, seen))?;
    if draw.allowed {
        return Ok(draw);
    }
    let (limit, limited) = match bucket {
        Bucket::Caller(_) => (Limit::Caller, Limited::Caller),
        Bucket::Address(_) | Bucket::Prober(_) | Bucket::Stranger(_) => (Limit::Address, Limited::Address),
    };
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

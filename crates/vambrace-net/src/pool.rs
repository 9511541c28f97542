//! Connections that are kept for the next request to the same place.
//!
//! A kept connection is used only by a request that was allowed to go to the very address it leads to. That is
//! stronger than a pool for each policy: a name that moves, or a rule that changes, leaves its old connections
//! behind.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use vambrace_policy::url::{Host, Scheme, WebUrl};

use crate::CheckedAddr;

const MOST_IDLE: usize = 32;
const MOST_IDLE_EACH: usize = 2;
const LONGEST_IDLE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place(Scheme, Host, u16);

impl Place {
    fn of(url: &WebUrl) -> Place {
        Place(url.scheme(), url.host().clone(), url.port())
    }
}

/// One connection that speaks HTTP. It ends when this is dropped, whatever it is in the middle of.
pub(crate) struct Line {
    pub(crate) sender: SendRequest<Full<Bytes>>,
    pub(crate) peer: SocketAddr,
    driver: JoinHandle<()>,
}

impl Line {
    pub(crate) fn new(sender: SendRequest<Full<Bytes>>, peer: SocketAddr, driver: JoinHandle<()>) -> Line {
        Line { sender, peer, driver }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

struct Idle {
    place: Place,
    line: Line,
    since: Instant,
}

/// LIMIT: nobody looks at the time while nothing is asked for, so the last few stay open until their servers
/// end them.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<Idle>>);

impl Pool {
    /// One that leads to one of these addresses.
    pub(crate) fn take(&self, url: &WebUrl, addresses: &[CheckedAddr], now: Instant) -> Option<Line> {
        let place = Place::of(url);
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sweep(&mut idle, now);
        // INVARIANT: only what this request was allowed to dial.
        let allowed = |peer| addresses.iter().any(|address| address.address() == peer);
        let at = idle.iter().rposition(|one| one.place == place && allowed(one.line.peer))?;
        Some(idle.remove(at).line)
    }

    pub(crate) fn keep(&self, url: &WebUrl, line: Line, now: Instant) {
        let place = Place::of(url);
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sweep(&mut idle, now);
        // The oldest goes, of its place or of all.
        let n_same = idle.iter().filter(|one| one.place == place).count();
        let oldest = match (n_same >= MOST_IDLE_EACH, idle.len() >= MOST_IDLE) {
            (true, _) => idle.iter().position(|one| one.place == place),
            (false, true) => Some(0),
            (false, false) => None,
        };
        if let Some(oldest) = oldest {
            idle.remove(oldest);
        }
        idle.push(Idle { place, line, since: now });
    }
}

fn sweep(idle: &mut Vec<Idle>, now: Instant) {
    idle.retain(|one| {
        !one.line.sender.is_closed() && now.saturating_duration_since(one.since) < LONGEST_IDLE
    });
}

#[cfg(test)]
mod tests;

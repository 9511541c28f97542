//! What programs in a cage find at their loopback: a proxy that knows the hosts they were granted, and
//! nothing else.
//!
//! Every byte that comes in may be hostile. Every request is judged on its own, nothing is passed on that was
//! not parsed and written anew, and a tunnel carries TLS for the host that was judged or nothing.
//!
//! LIMIT: inside a tunnel that is not ours to open, a program may name another host of the same server
//! (fronting, a second hello, an encrypted one). The address is still one of the granted host.

mod answer;
mod body;
mod connection;
mod forward;
mod hello;
mod ledger;
mod metered;
mod tunnel;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use vambrace_policy::url::{AllowEntry, Grants, UrlRefusal};

use self::ledger::Ledger;
use crate::{Credential, Web};

/// LIMIT: connections at once. More wait in the socket's queue.
const MOST_CONNECTIONS: usize = 64;
/// How long accepting rests when the system has no descriptor left.
const REST: Duration = Duration::from_millis(100);

/// How a host was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Reached { address: String },
    Refused(UrlRefusal),
    Failed { why: String },
}

/// One host that programs of a job asked for, for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact {
    pub host: String,
    pub port: u16,
    /// The first of its kind.
    pub outcome: Outcome,
    pub times: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
}

/// The way out for one job.
pub struct Egress {
    shared: Arc<Shared>,
}

/// What all connections of a job have in common.
struct Shared {
    web: Arc<Web>,
    granted: Vec<AllowEntry>,
    ledger: Ledger,
}

impl Egress {
    /// Grants of another policy than the door's open nothing.
    pub fn new(web: Arc<Web>, grants: Grants) -> Egress {
        let granted = if grants.epoch() == web.epoch() { grants.entries().to_vec() } else { Vec::new() };
        Egress::over(web, granted)
    }

    fn over(web: Arc<Web>, granted: Vec<AllowEntry>) -> Egress {
        Egress { shared: Arc::new(Shared { web, granted, ledger: Ledger::default() }) }
    }

    /// Serves the socket on the runtime of this thread, until what is returned is dropped.
    pub fn serve(&self, listener: OwnedFd) -> io::Result<Serving> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let listener = std::net::TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let accepting = runtime.spawn(accept(listener, Arc::clone(&self.shared)));
        Ok(Serving { accepting: accepting.abort_handle() })
    }

    /// Every host so far.
    pub fn contacts(&self) -> Vec<Contact> {
        self.shared.ledger.contacts()
    }

    /// The authority's certificate, where programs have to trust it.
    pub fn certificate(&self) -> Option<String> {
        let authority = self.shared.web.settings.authority.as_ref();
        authority.map(|authority| authority.certificate_pem().to_owned())
    }

    /// Variables that hold placeholders.
    pub fn placeholders(&self) -> Vec<(String, String)> {
        let credentials = self.shared.web.settings.credentials.0.iter();
        let pair = |one: &Credential| (one.binding.secret.clone(), one.placeholder.clone());
        // One variable for each, however many places it is bound to.
        credentials.map(pair).collect::<BTreeMap<_, _>>().into_iter().collect()
    }
}

/// Ends the proxy and every connection of it when it is dropped.
pub struct Serving {
    accepting: AbortHandle,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// INVARIANT: every connection lives in this future's set, and whatever a connection starts lives in the
/// connection; so all of it ends with this future.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let accepted = listener.accept().await;
        // Ended ones leave the set here; it never holds more than the places and one.
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    connection::serve(stream, shared).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(REST).await,
        }
    }
}

#[cfg(test)]
mod tests;

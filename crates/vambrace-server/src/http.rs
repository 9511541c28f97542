//! HTTP: one listener for REST, MCP and A2A. A request is counted, looked at and authenticated (`admit`)
//! before any handler sees it; handlers turn it into a call of the corridor and render the reply.

mod admit;
pub(crate) mod answer;
mod around;
mod arriving;
mod bell;
mod calling;
mod carriers;
mod chain;
mod connection;
mod health;
mod hosts;
mod jwks;
mod limits;
mod listen;
mod metrics;
mod openapi;
mod places;
mod request_id;
mod rest;
mod routes;
mod sight;
mod status;
mod teller;
#[cfg(test)]
pub(crate) mod testing;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ipnet::IpNet;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use vambrace_auth::{Authenticator, ForwardedFor, Rate, TaskKey};
use vambrace_runtime::Corridor;
use vambrace_state::ServerState;

use crate::A2aSettings;
use crate::mcp::{Dialogs, DryRun};

pub(crate) use admit::Admitted;
pub(crate) use answer::Problem;
pub(crate) use arriving::whole;
pub(crate) use calling::{Calling, Gone, is_stopped};
pub use jwks::{KeyFile, KeySource, ReadKeys};
pub use listen::serve;
pub(crate) use metrics::{Limit, Metrics};
pub(crate) use request_id::is_plain;
pub(crate) use teller::Seen;

/// Which fixtures of the public conformance kits are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conformance {
    Off,
    Mcp,
    A2a,
}

/// The only people and groups that may use the service at all (`permissions.require_membership`).
#[derive(Debug, Clone, Default)]
pub struct Members {
    pub emails: Vec<String>,
    pub groups: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct HttpSettings {
    pub rate: Rate,
    pub trusted_proxies: Vec<IpNet>,
    pub forwarded_for: ForwardedFor,
    pub allowed_hosts: Vec<String>,
    pub allowed_origins: Vec<String>,
    /// Where others reach us, without a slash at the end.
    pub public_url: Option<String>,
    pub authorization_servers: Vec<String>,
    pub max_body: usize,
    pub max_connections: usize,
    pub header_timeout: Duration,
    pub idle_timeout: Duration,
    pub read_timeout: Duration,
    pub write_timeout: Duration,
    pub request_timeout: Duration,
    /// The same for requests that may be calls: longer than any call may take.
    pub call_timeout: Duration,
    /// Which questions a client's own user may answer.
    pub dialogs: Dialogs,
    /// Whether anything is done at all, or only shown.
    pub dry_run: DryRun,
    /// `None`: everybody with a credential.
    pub members: Option<Members>,
    /// Where the keys come from that bearer tokens are checked with.
    pub keys: Option<KeySource>,
    pub a2a: A2aSettings,
    pub conformance: Conformance,
    /// What tokens for tasks are made with.
    pub tasks: Option<Arc<TaskKey>>,
    /// Where the record is, for those who may look at it.
    pub audit_dir: PathBuf,
}

/// Everything that a request may need, one for a running server.
pub struct Front {
    pub(crate) corridor: Arc<Corridor>,
    pub(crate) authenticator: Authenticator,
    pub(crate) settings: HttpSettings,
    /// What other processes may share.
    pub(crate) state: ServerState,
    probes: limits::Probes,
    /// Cancelled when the server ends: what would wait for ever ends with it.
    pub(crate) ending: CancellationToken,
    bell: bell::Bell,
    keys: Option<jwks::Keys>,
    listening: OnceLock<SocketAddr>,
    /// A name of ours by which somebody called us.
    named: OnceLock<String>,
    pub(crate) metrics: Metrics,
    /// Tasks at work for callers that do not wait, and news of them; waited for at the end.
    pub(crate) works: TaskTracker,
    pub(crate) deliveries: TaskTracker,
    /// Places for those who read the record.
    pub(crate) readers: Arc<Semaphore>,
    started: Instant,
}

/// LIMIT: the record is read from its beginning, so few read it at once; the others wait.
const READERS: usize = 2;

impl Front {
    pub fn new(
        corridor: Arc<Corridor>,
        authenticator: Authenticator,
        settings: HttpSettings,
        state: ServerState,
    ) -> Front {
        Front {
            corridor,
            authenticator,
            state,
            probes: limits::Probes::new(settings.rate),
            ending: CancellationToken::new(),
            bell: bell::Bell::default(),
            keys: settings.keys.clone().map(jwks::Keys::new),
            listening: OnceLock::new(),
            named: OnceLock::new(),
            metrics: Metrics::new(),
            works: TaskTracker::new(),
            deliveries: TaskTracker::new(),
            readers: Arc::new(Semaphore::new(READERS)),
            settings,
            started: Instant::now(),
        }
    }

    /// For the limiters: time that is never set back.
    pub(crate) fn moment(&self) -> Duration {
        self.started.elapsed()
    }
}

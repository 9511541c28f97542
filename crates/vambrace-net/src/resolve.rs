//! Names to addresses, once for each request. Knows nothing of what an address is good for.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::DnsError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::{Query, ResponseCode};
use hickory_resolver::proto::rr::{Name, Record, RecordType};
use hickory_resolver::{Hosts, TokioResolver};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{Instant, timeout_at};
use vambrace_policy::url::Host;

use crate::{Missing, NetError};

/// How long one look-up may take, with all its tries.
pub(crate) const LOOKUP_TIME: Duration = Duration::from_secs(5);
/// One try of several.
const TRY_TIME: Duration = Duration::from_secs(2);
const MOST_LOOKUPS: usize = 64;
/// LIMIT: a name with more is refused, because what is not looked at is not judged.
const MOST_ADDRESSES: usize = 64;
const MOST_CACHED: u64 = 256;
/// However long a server says that an answer lasts.
const LONGEST_CACHED: Duration = Duration::from_secs(300);
const LONGEST_MISSING: Duration = Duration::from_secs(10);

/// Asks the system's servers, or the one that the operator pinned.
pub(crate) struct Resolver {
    server: Option<SocketAddr>,
    time: Duration,
    turns: Semaphore,
    sources: OnceCell<Sources>,
}

struct Sources {
    /// LIMIT: read once; whoever changes the file starts a new process.
    hosts: Hosts,
    /// None: this machine has no servers that could be asked.
    servers: Option<TokioResolver>,
}

impl Resolver {
    /// No look-up takes longer than `time`, nor than `LOOKUP_TIME`.
    pub(crate) fn new(server: Option<SocketAddr>, time: Duration) -> Resolver {
        let turns = Semaphore::new(MOST_LOOKUPS);
        Resolver { server, time: time.min(LOOKUP_TIME), turns, sources: OnceCell::new() }
    }

    /// Both families, never empty. A name is asked for as it stands; search domains are not tried.
    ///
    /// A family that nobody answered for is left out: what is not known is not dialled either.
    pub(crate) async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, NetError> {
        let name = match host {
            Host::Address(address) => return Ok(vec![*address]),
            Host::Name(name) => name,
        };
        let missing = |why| NetError::NoAddress { host: name.clone(), why };
        // The dot at the end is what keeps search domains away.
        let asked = Name::from_ascii(format!("{name}.")).map_err(|_| missing(Missing::Nowhere))?;
        if asked.is_root() {
            return Err(missing(Missing::Nowhere));
        }
        let deadline = Instant::now() + self.time;
        let _turn = match timeout_at(deadline, self.turns.acquire()).await {
            Ok(Ok(turn)) => turn,
            Ok(Err(_)) | Err(_) => return Err(missing(Missing::Unanswered)),
        };
        let Ok(sources) = timeout_at(deadline, self.sources.get_or_init(|| read(self.server))).await else {
            return Err(missing(Missing::Unanswered));
        };
        let mut found = sources.listed(&asked);
        // Nobody to ask is nobody who answers.
        let mut why = Missing::Unanswered;
        if found.is_empty()
            && let Some(servers) = &sources.servers
        {
            let (four, six) = tokio::join!(
                timeout_at(deadline, servers.ipv4_lookup(asked.clone())),
                timeout_at(deadline, servers.ipv6_lookup(asked.clone())),
            );
            let answers = [four, six];
            if answers.iter().all(|answer| matches!(answer, Ok(answer) if is_answer(answer))) {
                why = Missing::Nowhere;
            }
            for answer in answers.into_iter().flatten().flatten() {
                found.extend(addresses_in(answer.answers()));
            }
        }
        // The order stays: the servers' own, the older family first.
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in found {
            if addresses.contains(&address) {
                continue;
            }
            if addresses.len() == MOST_ADDRESSES {
                let why = format!("its name has more than {MOST_ADDRESSES} addresses");
                return Err(NetError::BadAnswer { host: name.clone(), why });
            }
            addresses.push(address);
        }
        if addresses.is_empty() { Err(missing(why)) } else { Ok(addresses) }
    }
}

/// Files are read where nobody waits behind it.
async fn read(server: Option<SocketAddr>) -> Sources {
    let read = tokio::task::spawn_blocking(move || Sources::of(server)).await;
    read.unwrap_or_else(|_| Sources { hosts: Hosts::default(), servers: None })
}

/// Records, or the word of a server that there are none.
fn is_answer(answer: &Result<Lookup, hickory_resolver::net::NetError>) -> bool {
    match answer {
        Ok(_) => true,
        Err(hickory_resolver::net::NetError::Dns(DnsError::NoRecordsFound(none))) => {
            matches!(none.response_code, ResponseCode::NoError | ResponseCode::NXDomain)
        }
        Err(_) => false,
    }
}

impl Sources {
    fn of(server: Option<SocketAddr>) -> Sources {
        match server {
            Some(server) => Sources { hosts: Hosts::default(), servers: pinned(server) },
            None => Sources { hosts: Hosts::from_system().unwrap_or_default(), servers: of_system() },
        }
    }

    /// What the file of hosts says wins over every server, for both families.
    fn listed(&self, name: &Name) -> Vec<IpAddr> {
        let families = [RecordType::A, RecordType::AAAA].into_iter();
        let found = families
            .filter_map(|family| self.hosts.lookup_static_host(&Query::query(name.clone(), family)))
            .flat_map(|answer| addresses_in(answer.answers()));
        found.collect()
    }
}

fn addresses_in(records: &[Record]) -> Vec<IpAddr> {
    records.iter().filter_map(|record| record.data.ip_addr()).collect()
}

/// UDP first, TCP where an answer was cut; nobody else is asked.
fn pinned(server: SocketAddr) -> Option<TokioResolver> {
    let mut connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()];
    for connection in &mut connections {
        connection.port = server.port();
    }
    let server = NameServerConfig::new(server.ip(), true, connections.to_vec());
    let config = ResolverConfig::from_name_servers(vec![server]);
    build(config, ResolverOpts::default())
}

fn of_system() -> Option<TokioResolver> {
    let (config, options) = hickory_resolver::system_conf::read_system_conf().ok()?;
    build(config, options)
}

fn build(config: ResolverConfig, mut options: ResolverOpts) -> Option<TokioResolver> {
    options.timeout = TRY_TIME;
    options.attempts = 1;
    options.cache_size = MOST_CACHED;
    options.positive_max_ttl = Some(LONGEST_CACHED);
    options.negative_max_ttl = Some(LONGEST_MISSING);
    options.max_active_requests = MOST_LOOKUPS * 2;
    // Asked by ourselves, for both families at once.
    options.use_hosts_file = ResolveHosts::Never;
    let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    builder.with_options(options).build().ok()
}

//! Tunnels: TLS to the host that was judged, passed on unread, or opened here where the operator wants
//! credentials put in.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncWriteExt as _, copy_bidirectional_with_sizes};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use vambrace_policy::url::{Scheme, WebUrl};

use super::answer::{self, Answer, Refused};
use super::forward::{OPEN_TIME, named};
use super::ledger::Asked;
use super::metered::{Metered, Prefixed};
use super::{Outcome, Shared, connection, hello};
use crate::{CheckedAddr, NetError, connect};

/// LIMIT: bytes that wait in a tunnel, each way.
const BUFFER: usize = 32 << 10;
/// LIMIT: how long a tunnel may be silent.
const IDLE: Duration = Duration::from_secs(120);
/// LIMIT: how long a program may take over the handshake with us.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// One that was let through; it begins when the program has our yes.
pub(super) struct Tunnel {
    url: WebUrl,
    end: End,
    asked: Asked,
    upgrade: OnUpgrade,
}

enum End {
    /// There.
    Host(Vec<CheckedAddr>),
    /// Here.
    Us(Arc<rustls::ServerConfig>),
}

/// Where a tunnel leads: a host and a port, and nothing else.
pub(super) fn target(request: &Request<Incoming>) -> Result<WebUrl, Refused> {
    let malformed = |why| Err(Refused::Malformed { why });
    let uri = request.uri();
    let has_path = uri.path_and_query().is_some_and(|path| !path.as_str().is_empty());
    let (None, Some(authority), false) = (uri.scheme(), uri.authority(), has_path) else {
        return malformed("A tunnel leads to a host and a port.");
    };
    if authority.as_str().contains('@') {
        return malformed("A tunnel is asked for without a user.");
    }
    if authority.port_u16().is_none_or(|port| port == 0) {
        return malformed("A tunnel needs a port.");
    }
    if [header::CONTENT_LENGTH, header::TRANSFER_ENCODING]
        .iter()
        .any(|name| request.headers().contains_key(name))
    {
        return malformed("A request for a tunnel has no body.");
    }
    // Which one it names does not matter: it goes nowhere, and some programs name the proxy.
    named(request)?;
    Ok(WebUrl::parse(&format!("https://{authority}/"))?)
}

/// Judged, with its addresses where the tunnel ends there. Nothing is dialled yet.
pub(super) async fn open(
    shared: &Shared,
    next: &Mutex<Option<Tunnel>>,
    url: WebUrl,
    request: Request<Incoming>,
) -> Result<Answer, Refused> {
    let settings = &shared.web.settings;
    let terms = settings.policy.admit_granted(&url, &shared.granted)?;
    let bound = settings.credentials.0.iter().any(|credential| {
        let place = &credential.binding.place;
        place.scheme == Scheme::Https
            && place.host.matches(url.host())
            && place.port.unwrap_or(place.scheme.default_port()) == url.port()
    });
    let (host, port) = (url.host().to_string(), url.port());
    let asked = shared.ledger.ask(&host, port);
    let end = match &settings.authority {
        Some(authority) if bound => {
            let failed = |error: crate::TlsError| NetError::Untrusted { host, why: error.to_string() };
            authority.server(url.host()).map(End::Us).map_err(failed)
        }
        Some(_) | None => {
            let checked = timeout(OPEN_TIME, shared.web.checked(url.host(), port, &terms)).await;
            checked.unwrap_or(Err(NetError::TimedOut { host, after: OPEN_TIME })).map(End::Host)
        }
    };
    let end = match end {
        Ok(end) => end,
        Err(error) => return Ok(shared.came_to_nothing(asked, &error.into())),
    };
    let tunnel = Tunnel { url, end, asked, upgrade: hyper::upgrade::on(request) };
    *next.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
    Ok(answer::empty(StatusCode::OK))
}

impl Tunnel {
    pub(super) async fn run(self, shared: &Shared) {
        let Tunnel { url, end, asked, upgrade } = self;
        let Ok(upgraded) = upgrade.await else { return };
        let Ok(parts) = upgraded.downcast::<TokioIo<Metered<TcpStream>>>() else { return };
        let mut client = parts.io.into_inner();
        let hello = match hello::read(&mut client, &parts.read_buf, url.host()).await {
            Ok(hello) => hello,
            // INVARIANT: nobody has been dialled.
            Err(refusal) => {
                shared.ledger.became(asked, Outcome::Refused(refusal));
                return;
            }
        };
        match end {
            End::Host(addresses) => pass(client, &addresses, &hello, &url, asked, shared).await,
            End::Us(server) => {
                let acceptor = TlsAcceptor::from(server);
                let accepted = timeout(HANDSHAKE_TIME, acceptor.accept(Prefixed::new(hello, client))).await;
                match accepted {
                    Ok(Ok(inside)) => connection::serve_inside(inside, &url, asked, shared).await,
                    Ok(Err(_)) | Err(_) => {
                        let why = "the program does not trust the local authority".to_owned();
                        shared.ledger.became(asked, Outcome::Failed { why });
                    }
                }
            }
        }
    }
}

async fn pass(
    mut client: Metered<TcpStream>,
    addresses: &[CheckedAddr],
    hello: &[u8],
    url: &WebUrl,
    asked: Asked,
    shared: &Shared,
) {
    let host = url.host().to_string();
    let gone = |error: io::Error| NetError::Unreachable { host: host.clone(), why: connect::words(&error) };
    let dialled = timeout(OPEN_TIME, connect::dial(&host, addresses)).await;
    let dialled = dialled.unwrap_or(Err(NetError::TimedOut { host: host.clone(), after: OPEN_TIME }));
    let reached = dialled.and_then(|stream| Ok((stream.peer_addr().map_err(gone)?, stream)));
    let (address, stream) = match reached {
        Ok(reached) => reached,
        // The program has our yes already; all it gets is the end.
        Err(error) => {
            shared.ledger.became(asked, Refused::from(error).outcome());
            return;
        }
    };
    let meter = shared.ledger.became(asked, Outcome::Reached { address: address.to_string() });
    let mut host = Metered::new(stream, IDLE, meter);
    client.allow_idle(IDLE);
    if host.write_all(hello).await.is_ok() {
        // What passed has been counted; how it ended is theirs.
        let _ = copy_bidirectional_with_sizes(&mut client, &mut host, BUFFER, BUFFER).await;
    }
}

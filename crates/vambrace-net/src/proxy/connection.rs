//! One connection of a program: requests, each judged on its own, and at its end perhaps a tunnel.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use vambrace_policy::url::WebUrl;

use super::answer::{Answer, Refused};
use super::ledger::Asked;
use super::metered::Metered;
use super::tunnel::Tunnel;
use super::{Shared, forward, tunnel};

/// LIMIT: bytes of a head, either way.
pub(super) const LONGEST_HEAD: usize = 64 << 10;
/// LIMIT: headers of a head, either way.
pub(super) const MOST_HEADERS: usize = 100;
/// LIMIT: how long a program may take over a head.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// LIMIT: how long a program's connection may be silent.
pub(super) const IDLE: Duration = Duration::from_secs(60);

pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // A matter of speed only.
    let _ = stream.set_nodelay(true);
    let client = Metered::new(stream, IDLE, Arc::default());
    let next = Arc::new(Mutex::new(None));
    let service = service_fn(|request| {
        let (shared, next) = (Arc::clone(&shared), Arc::clone(&next));
        async move { Ok::<_, Infallible>(handle(&shared, &next, request).await) }
    });
    let served = http().serve_connection(TokioIo::new(client), service).with_upgrades().await;
    let tunnel: Option<Tunnel> = next.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Ok(()), Some(tunnel)) = (served, tunnel) {
        tunnel.run(&shared).await;
    }
}

/// Requests inside a tunnel that ends here.
pub(super) async fn serve_inside(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    origin: &WebUrl,
    asked: Asked,
    shared: &Shared,
) {
    // Without a single request, that the tunnel was asked for is all there is to note.
    let asked = Mutex::new(Some(asked));
    let service = service_fn(|request: Request<Incoming>| async {
        if let Some(asked) = asked.lock().unwrap_or_else(PoisonError::into_inner).take() {
            shared.ledger.hand_over(asked);
        }
        let url = forward::inside(origin, &request);
        let answered = match url {
            Ok(url) => forward::send(shared, &url, request).await,
            Err(refused) => Err(refused),
        };
        Ok::<_, Infallible>(
            answered
                .unwrap_or_else(|refused| shared.refuse(&origin.host().to_string(), origin.port(), &refused)),
        )
    });
    // How it ended is the program's business: every request has been noted.
    let _ = http().serve_connection(TokioIo::new(stream), service).await;
}

fn http() -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(LONGEST_HEAD)
        .max_header_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS);
    http
}

async fn handle(shared: &Shared, next: &Mutex<Option<Tunnel>>, request: Request<Incoming>) -> Answer {
    let is_tunnel = request.method() == Method::CONNECT;
    let url = if is_tunnel { tunnel::target(&request) } else { forward::target(&request) };
    let (host, port) = match &url {
        Ok(url) => (url.host().to_string(), url.port()),
        Err(_) => {
            let uri = request.uri();
            (uri.host().unwrap_or_default().to_owned(), uri.port_u16().unwrap_or(0))
        }
    };
    let answered = match url {
        Ok(url) if is_tunnel => tunnel::open(shared, next, url, request).await,
        Ok(url) => forward::send(shared, &url, request).await,
        Err(refused) => Err(refused),
    };
    answered.unwrap_or_else(|refused| shared.refuse(&host, port, &refused))
}

impl Shared {
    /// Noted, and said to the program.
    fn refuse(&self, host: &str, port: u16, refused: &Refused) -> Answer {
        self.ledger.note(host, port, refused.outcome());
        refused.answer()
    }

    /// The same, of a host that stands in the ledger as asked for.
    pub(super) fn came_to_nothing(&self, asked: Asked, refused: &Refused) -> Answer {
        self.ledger.became(asked, refused.outcome());
        refused.answer()
    }
}

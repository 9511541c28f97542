//! Connections: accepted, bounded in number and time, and brought to an end when the server ends.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use vambrace_redact::RedactedText;
use vambrace_runtime::{Level, LogLine};
use vambrace_types::Tree;

use super::around::around;
use super::carriers::Carriers;
use super::connection::{Leaving, Meter, Silence, Timed, Times};
use super::places::Places;
use super::routes::Routes;
use super::{Front, jwks};

/// LIMIT: of a request's head; a token of 16 KiB fits.
const LARGEST_HEAD: usize = 64 * 1024;
/// When the system has no connection for us, for want of descriptors for instance.
const BREATH: Duration = Duration::from_millis(20);
/// LIMIT: addresses that are slow to take their news are waited for so long at the end.
const LAST_NEWS: Duration = Duration::from_secs(5);
/// How often what was counted is told.
const TELL: Duration = Duration::from_secs(1);

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Serves until told to end, then lets the requests and calls under way finish.
pub async fn serve(front: Arc<Front>, listener: TcpListener, ending: CancellationToken) {
    if let Ok(address) = listener.local_addr() {
        let _ = front.listening.set(address);
    }
    let routes = Arc::new(Routes::new(&front));
    let turns = Arc::new(Semaphore::new(front.settings.max_connections.min(Semaphore::MAX_PERMITS)));
    let places = Places::new(front.settings.max_connections);
    let connections = TaskTracker::new();
    front.corridor.live_on(Handle::current());
    let carriers = Carriers::start();
    let keys = jwks::keep_fresh(&front);
    let mut tell = interval(TELL);
    tell.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = tell.tick() => {
                front.bell.tell(&front);
                continue;
            }
            () = ending.cancelled() => break,
        };
        let Ok((stream, peer)) = accepted else {
            sleep(BREATH).await;
            continue;
        };
        let Ok(turn) = Arc::clone(&turns).try_acquire_owned() else {
            let _ = stream.try_write(FULL);
            continue;
        };
        let Some(place) = places.take(peer.ip(), &front.settings.trusted_proxies) else {
            let _ = stream.try_write(FULL);
            continue;
        };
        let connected = front.metrics.connected();
        // A token of its own: with each request it looks whether it is to end, and one for all would go from core to core.
        let own_end = ending.child_token();
        let (front, routes) = (Arc::clone(&front), Arc::clone(&routes));
        carriers.carry(&connections, stream, async move |stream| {
            one(front, routes, stream, peer, own_end).await;
            drop((turn, place, connected));
        });
    }
    drop(listener);
    front.ending.cancel();
    if let Some(keys) = keys {
        keys.abort();
    }
    connections.close();
    connections.wait().await;
    // Tasks of callers that did not wait; who waits for us bounds that.
    front.works.close();
    front.works.wait().await;
    front.deliveries.close();
    if timeout(LAST_NEWS, front.deliveries.wait()).await.is_err() {
        let n_lost = i64::try_from(front.deliveries.len()).unwrap_or(i64::MAX);
        front.corridor.log().line(&LogLine {
            level: Level::Warn,
            message: RedactedText::fixed("News of tasks were not delivered before the end"),
            fields: vec![("number", front.corridor.redactor().plain_tree(Tree::Int(n_lost)).value)],
        });
    }
    front.bell.tell(&front);
    front.bell.finish().await;
    // Sessions of MCP go on without a connection, and what they wait for with them.
    front.corridor.finish().await;
    carriers.end().await;
}

async fn one(
    front: Arc<Front>,
    routes: Arc<Routes>,
    stream: TcpStream,
    peer: SocketAddr,
    ending: CancellationToken,
) {
    let _ = stream.set_nodelay(true);
    let settings = &front.settings;
    let times = Times { head: settings.header_timeout, write: settings.write_timeout };
    let silence = Silence { first: settings.header_timeout, later: settings.idle_timeout };
    let meter = Arc::new(Meter::new());
    let stream = Timed::new(stream, Arc::clone(&meter), times);
    // Shared by the requests of this connection alone: a count that all connections change goes from core to core.
    let here = Arc::new((Arc::clone(&front), routes, Arc::clone(&meter)));
    let peer = peer.ip();
    let service = service_fn(move |request: Request<Incoming>| {
        let here = Arc::clone(&here);
        let (_, _, meter) = &*here;
        // From now on, not when this is first polled: the end of what the client sends may be read before that.
        let serving = meter.serving();
        async move {
            let (front, routes, meter) = &*here;
            let answer = around(front, routes, peer, request).await;
            if answer.headers().contains_key(header::CONNECTION) {
                meter.leaves_unread();
            }
            Ok::<Response<Leaving>, Infallible>(answer.map(|body: Body| Leaving { body, _serving: serving }))
        }
    });
    let mut builder = http1::Builder::new();
    // LIMIT: 100 headers, which is hyper's own limit; told so, it would prepare room for them with every request.
    builder.max_buf_size(LARGEST_HEAD).max_header_size(LARGEST_HEAD);
    builder.header_read_timeout(None);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        biased;
        _ = connection.as_mut() => {}
        () = meter.silent_for(silence) => {}
        () = ending.cancelled() => {
            meter.end();
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

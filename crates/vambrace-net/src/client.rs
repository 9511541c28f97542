//! The client: one request, one answer, no redirects.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{Instant, timeout};
use vambrace_policy::url::{Host, Scheme, Terms, UrlPolicy, WebUrl};
use vambrace_policy::{Answers, Epoch, FetchUrl, Permit};

use crate::pool::{Line, Pool};
use crate::resolve::Resolver;
use crate::stream::Stream;
use crate::tls::Trust;
use crate::{CheckedAddr, Coding, Credentials, Decoder, LocalAuthority, NetError, Redirects, Stop};
use crate::{connect, request};

/// LIMIT: of an answer, with its status line. Answers that only say that another comes (1xx) are read over one at
/// a time, within the time of the request.
const LARGEST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 100;
/// LIMIT: of requests at once; so many bodies of the largest size are enough memory.
const MOST_AT_ONCE: usize = 16;
/// So many bytes of a body are handed out past its limit: a secret that begins before the limit is only known
/// when it is whole. Whoever has taken secrets out cuts to the limit.
pub const BODY_MARGIN: u64 = 8 * 1024;
/// How long a connection may take to be ready again before it is given up.
const SETTLE_TIME: Duration = Duration::from_millis(100);

pub struct WebSettings {
    pub policy: UrlPolicy,
    pub dns_server: Option<SocketAddr>,
    /// For one request with its whole body.
    pub timeout: Duration,
    /// Decoded.
    pub max_body_bytes: u64,
    pub redirects: Redirects,
    pub credentials: Credentials,
    /// For programs: the operator wants credentials in HTTPS too.
    pub authority: Option<LocalAuthority>,
}

/// Door two.
pub struct Web {
    pub(crate) settings: Arc<WebSettings>,
    epoch: Epoch,
    resolver: Resolver,
    trust: OnceCell<Trust>,
    pool: Pool,
    turns: Semaphore,
}

impl std::fmt::Debug for Web {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Web").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// One answer, decoded.
pub struct Response {
    /// What was asked for.
    pub url: WebUrl,
    pub status: u16,
    pub content_type: String,
    pub location: Option<String>,
    /// Who answered: an address and a port.
    pub address: String,
    /// At most `BODY_MARGIN` longer than the limit, to which it is to be cut when secrets are out of it.
    pub body: Vec<u8>,
    /// More than the limit came.
    pub truncated: bool,
    /// The body ends where reading ended, and not by itself.
    pub broken_off: bool,
    /// Of the body, in bytes.
    pub limit: u64,
}

impl Web {
    pub fn new(settings: WebSettings, epoch: Epoch) -> Web {
        let resolver = Resolver::new(settings.dns_server, settings.timeout);
        let (trust, pool, turns) = (OnceCell::new(), Pool::default(), Semaphore::new(MOST_AT_ONCE));
        Web { settings: Arc::new(settings), epoch, resolver, trust, pool, turns }
    }

    #[cfg(test)]
    pub(crate) fn trusting(self, trust: Trust) -> Web {
        Web { trust: OnceCell::new_with(Some(trust)), ..self }
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub fn redirects(&self) -> Redirects {
        self.settings.redirects
    }

    /// The addresses of a host, for the decision. Nothing is connected to.
    pub async fn resolve(&self, host: &Host) -> Result<Vec<IpAddr>, NetError> {
        self.resolver.addresses(host).await
    }

    /// A connection to where the URL leads, with TLS where it says so. The terms are those that the URL was
    /// admitted under. The caller limits the time.
    pub(crate) async fn open(&self, url: &WebUrl, terms: &Terms) -> Result<(Stream, SocketAddr), NetError> {
        let tcp = self.dial_checked(url.host(), url.port(), terms).await?;
        self.dress(url, tcp).await
    }

    /// Resolved once, and all of it checked. The caller limits the time.
    pub(crate) async fn checked(
        &self,
        host: &Host,
        port: u16,
        terms: &Terms,
    ) -> Result<Vec<CheckedAddr>, NetError> {
        let answers = self.resolve(host).await?;
        Ok(CheckedAddr::all(&self.settings.policy, terms, host, port, &answers)?)
    }

    /// Resolved once, all of it checked, the first that answers. The caller limits the time.
    pub(crate) async fn dial_checked(
        &self,
        host: &Host,
        port: u16,
        terms: &Terms,
    ) -> Result<TcpStream, NetError> {
        let addresses = self.checked(host, port, terms).await?;
        connect::dial(&host.to_string(), &addresses).await
    }

    pub(crate) async fn dress(&self, url: &WebUrl, tcp: TcpStream) -> Result<(Stream, SocketAddr), NetError> {
        let gone = |error: io::Error| NetError::Unreachable {
            host: url.host().to_string(),
            why: connect::words(&error),
        };
        let peer = tcp.peer_addr().map_err(gone)?;
        let stream = match url.scheme() {
            Scheme::Http => Stream::Plain(tcp),
            Scheme::Https => Stream::Tls(self.trust().await.wrap(url.host(), tcp).await?),
        };
        Ok((stream, peer))
    }

    async fn trust(&self) -> &Trust {
        // Files are read where nobody waits behind it. Where that fails, here: never nobody to trust.
        let read = async || match tokio::task::spawn_blocking(Trust::system).await {
            Ok(trust) => trust,
            Err(_) => Trust::system(),
        };
        self.trust.get_or_init(read).await
    }

    /// One request to one of the addresses that were decided about.
    pub async fn send(&self, permit: Permit<FetchUrl>) -> Result<Response, NetError> {
        let action = permit.redeem(self.epoch)?;
        let after = action.time.unwrap_or(self.settings.timeout);
        let host = action.url.host().to_string();
        // From here to the last byte of the body: whoever sends slowly is cut off with everybody else.
        let sent = timeout(after, self.exchange(action)).await;
        sent.unwrap_or(Err(NetError::TimedOut { host, after }))
    }

    async fn exchange(&self, action: FetchUrl) -> Result<Response, NetError> {
        // Nobody closes it, so that this is always a turn. Waiting is in the time of the request.
        let _turn = self.turns.acquire().await.ok();
        let policy = &self.settings.policy;
        let (host, port) = (action.url.host(), action.url.port());
        let terms = action.terms(policy)?;
        let answers = match &action.answers {
            Answers::Found(answers) if !answers.is_empty() => answers.clone(),
            // The decision was left to this moment.
            Answers::Found(_) | Answers::Unasked | Answers::Missing => self.resolve(host).await?,
        };
        // Judged when the permit was made, and again here: a look costs nothing, a wrong address everything.
        let addresses = CheckedAddr::all(policy, &terms, host, port, &answers)?;
        let request = request::build(&action, &self.settings.credentials)?;
        let (line, answer) = self.ask(&action.url, &addresses, request).await?;
        self.receive(action, line, answer).await
    }

    /// Over a connection that is there already or over a new one.
    async fn ask(
        &self,
        url: &WebUrl,
        addresses: &[CheckedAddr],
        request: Request<Full<Bytes>>,
    ) -> Result<(Line, hyper::Response<Incoming>), NetError> {
        let bad = |error: &hyper::Error| exchange_error(url.host(), error);
        // Only what may be asked twice: a kept connection can end at any moment, and then nobody knows whether the
        // server has seen the request.
        let may_repeat = matches!(*request.method(), Method::GET | Method::HEAD);
        if may_repeat && let Some(mut line) = self.pool.take(url, addresses, Instant::now()) {
            // Without a whole head nothing of an answer was believed: words that somebody left on the connection
            // are not the answer to this request.
            if let Ok(answer) = line.sender.send_request(request.clone()).await {
                return Ok((line, answer));
            }
        }
        let tcp = connect::dial(&url.host().to_string(), addresses).await?;
        let (stream, peer) = self.dress(url, tcp).await?;
        let handshake = http1::Builder::new()
            .max_buf_size(LARGEST_HEAD)
            .max_headers(MOST_HEADERS)
            .handshake(TokioIo::new(stream))
            .await;
        let (sender, connection) = handshake.map_err(|error| bad(&error))?;
        let driver = tokio::spawn(async move {
            // What went wrong is told to whoever waits for the answer.
            let _ = connection.await;
        });
        let mut line = Line::new(sender, peer, driver);
        let answer = line.sender.send_request(request).await.map_err(|error| bad(&error))?;
        Ok((line, answer))
    }

    async fn receive(
        &self,
        action: FetchUrl,
        mut line: Line,
        answer: hyper::Response<Incoming>,
    ) -> Result<Response, NetError> {
        let host = action.url.host();
        let bad = |why: &str| NetError::BadAnswer { host: host.to_string(), why: why.to_owned() };
        let (head, mut incoming) = answer.into_parts();
        let status = head.status.as_u16();
        if status == 101 {
            return Err(bad("it changes the protocol"));
        }
        // THREAT: P02, a value that is cut at the edge of a part is not seen to be one.
        if status == 206 && self.settings.credentials.cover_for(&action.url).is_some() {
            return Err(bad("it is a part, though the whole was asked for"));
        }
        let has_body = action.method != "HEAD" && !matches!(status, 204 | 304);
        let coding = match has_body {
            true => {
                coding(&head.headers).ok_or_else(|| bad("its body is packed in a way that is not known"))?
            }
            false => Coding::Identity,
        };
        let credentials = &self.settings.credentials;
        let limit = self.settings.max_body_bytes;
        let margin = (credentials.longest_form() as u64).max(BODY_MARGIN);
        let mut decoder = Decoder::new(coding, limit.saturating_add(margin));
        let mut is_whole = true;
        while let Some(frame) = incoming.frame().await {
            let frame = frame.map_err(|error| exchange_error(host, &error))?;
            let Some(data) = frame.data_ref() else {
                continue;
            };
            match decoder.push(data) {
                Ok(()) => {}
                Err(Stop::Overflow) => {
                    is_whole = false;
                    break;
                }
                Err(Stop::Corrupt) => return Err(bad("its body is not packed as it says")),
            }
        }
        let decoded = decoder.finish();
        if decoded.corrupt && !decoded.truncated {
            return Err(bad("its body is not packed as it says"));
        }
        let mut body = decoded.bytes;
        let truncated = decoded.truncated || body.len() as u64 > limit;
        credentials.cover(&mut body);
        if decoded.truncated {
            // Placeholders may be shorter than values, and draw the end of what was read to before the limit.
            body.truncate(body.len().saturating_sub(half_at_end(credentials, &body)));
        }
        let most = usize::try_from(limit.saturating_add(BODY_MARGIN)).unwrap_or(usize::MAX);
        let broken_off = decoded.truncated || body.len() > most;
        body.truncate(most);
        let address = line.peer.to_string();

        // What is left of a cut body is not drained: the connection ends with `line`.
        if is_whole && matches!(timeout(SETTLE_TIME, line.sender.ready()).await, Ok(Ok(()))) {
            self.pool.keep(&action.url, line, Instant::now());
        }
        let text = |name| -> Option<String> {
            let mut value = HeaderMap::get(&head.headers, name)?.as_bytes().to_vec();
            credentials.cover(&mut value);
            String::from_utf8(value).ok()
        };
        let content_type = text(CONTENT_TYPE).unwrap_or_default();
        let location = text(LOCATION);
        let url = action.url;
        Ok(Response { url, status, content_type, location, address, body, truncated, broken_off, limit })
    }
}

/// How many bytes at the end are the beginning of a value, whose rest was not read.
fn half_at_end(credentials: &Credentials, body: &[u8]) -> usize {
    let begins = |value: &[u8]| {
        (1..value.len()).rev().find(|n| value.get(..*n).is_some_and(|front| body.ends_with(front)))
    };
    let halves = credentials.0.iter().filter_map(|credential| begins(credential.value.expose().as_bytes()));
    halves.max().unwrap_or(0)
}

/// None: packed in a way that is not known, or in several.
fn coding(headers: &HeaderMap) -> Option<Coding> {
    let mut values = headers.get_all(CONTENT_ENCODING).iter();
    match (values.next(), values.next()) {
        (None, _) => Some(Coding::Identity),
        (Some(value), None) => Coding::parse(value.to_str().ok()?),
        (Some(_), Some(_)) => None,
    }
}

fn exchange_error(host: &Host, error: &hyper::Error) -> NetError {
    let host = host.to_string();
    let bad = |why: &str| NetError::BadAnswer { host: host.clone(), why: why.to_owned() };
    if error.is_parse_too_large() {
        return bad("its head is too large");
    }
    if error.is_parse() {
        return bad("its head is not HTTP");
    }
    let ended = "the connection ended before the answer was whole";
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        return bad(ended);
    }
    let io = std::error::Error::source(error).and_then(|inner| inner.downcast_ref::<io::Error>());
    match io.map(io::Error::kind) {
        Some(ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => bad(ended),
        _ => bad("it is not HTTP"),
    }
}

//! Requests that are passed on: written anew from what was understood, over a connection of their own.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use vambrace_policy::url::{Scheme, WebUrl};

use super::answer::{Answer, Refused};
use super::body::{Ends, Relay};
use super::connection::{LONGEST_HEAD, MOST_HEADERS};
use super::metered::Metered;
use super::{Outcome, Shared};
use crate::{Credentials, NetError};

/// LIMIT: how long finding and reaching a host may take.
pub(super) const OPEN_TIME: Duration = Duration::from_secs(30);
/// LIMIT: how long a host may be silent; less than a program may be, so that it hears of it.
const IDLE: Duration = Duration::from_secs(55);

/// Where a request in absolute form leads.
pub(super) fn target(request: &Request<Incoming>) -> Result<WebUrl, Refused> {
    let uri = request.uri();
    if uri.scheme().is_none() {
        return malformed("This is a proxy for http and https: ask it for a whole address, or for a tunnel.");
    }
    let url = WebUrl::parse(&uri.to_string())?;
    // By what was parsed, not by how it was spelled.
    if url.scheme() != Scheme::Http {
        return malformed("This proxy opens no https addresses itself: ask it for a tunnel with CONNECT.");
    }
    if url.port() == 0 {
        return malformed("There is no port 0.");
    }
    match named(request)? {
        None => Ok(url),
        Some(named) => agree(&url, named).map(|()| url),
    }
}

/// Where a request inside a tunnel leads.
pub(super) fn inside(origin: &WebUrl, request: &Request<Incoming>) -> Result<WebUrl, Refused> {
    let uri = request.uri();
    let path = uri.path_and_query().map(|path| path.as_str()).filter(|path| path.starts_with('/'));
    let (None, None, Some(path)) = (uri.scheme(), uri.authority(), path) else {
        return malformed("Inside a tunnel, ask for a path.");
    };
    let Some(named) = named(request)? else {
        return malformed("The request names no host.");
    };
    agree(origin, named)?;
    let url = WebUrl::parse(&format!("https://{}{path}", origin.authority()))?;
    // THREAT: P05, no spelling of a path may become another host.
    if !url.same_origin(origin) {
        return malformed("The path names another host.");
    }
    Ok(url)
}

fn malformed<T>(why: &'static str) -> Result<T, Refused> {
    Err(Refused::Malformed { why })
}

/// The one `Host` header.
pub(super) fn named(request: &Request<Incoming>) -> Result<Option<&str>, Refused> {
    let mut named = request.headers().get_all(header::HOST).iter();
    match (named.next(), named.next()) {
        (None, _) => Ok(None),
        (Some(one), None) => match one.to_str() {
            Ok(one) if !one.contains(['/', '\\', '?', '#', '@', ' ', '\t']) => Ok(Some(one)),
            Ok(_) | Err(_) => malformed("The `Host` header holds no host."),
        },
        (Some(_), Some(_)) => malformed("The request has more than one `Host` header."),
    }
}

fn agree(url: &WebUrl, named: &str) -> Result<(), Refused> {
    match WebUrl::parse(&format!("{}://{named}/", url.scheme().as_str())) {
        Ok(other) if other.same_origin(url) => Ok(()),
        Ok(_) | Err(_) => malformed("The `Host` header names another host than the address."),
    }
}

/// Judged, dialled, passed on; the answer streams back.
pub(super) async fn send(
    shared: &Shared,
    url: &WebUrl,
    request: Request<Incoming>,
) -> Result<Answer, Refused> {
    let settings = &shared.web.settings;
    let terms = settings.policy.admit_granted(url, &shared.granted)?;
    let onward = written_anew(&settings.credentials, url, request)?;

    let host = url.host().to_string();
    let asked = shared.ledger.ask(&host, url.port());
    let opened = timeout(OPEN_TIME, shared.web.open(url, &terms)).await;
    let (stream, address) = match opened.unwrap_or(Err(NetError::TimedOut { host, after: OPEN_TIME })) {
        Ok(opened) => opened,
        Err(error) => return Ok(shared.came_to_nothing(asked, &error.into())),
    };
    let meter = shared.ledger.became(asked, Outcome::Reached { address: address.to_string() });
    let stream = TokioIo::new(Metered::new(stream, IDLE, meter));
    let mut client = http1::Builder::new();
    client.max_buf_size(LONGEST_HEAD).max_header_size(LONGEST_HEAD).max_headers(MOST_HEADERS);
    let (mut sender, connection) = client.handshake(stream).await.map_err(|error| failed(url, &error))?;
    let connection = Ends(tokio::spawn(connection).abort_handle());
    let answer = sender.send_request(onward).await.map_err(|error| failed(url, &error))?;
    Ok(covered(&settings.credentials, url, answer, connection)?)
}

/// From what was understood, with credentials where they belong.
fn written_anew(
    credentials: &Credentials,
    url: &WebUrl,
    request: Request<Incoming>,
) -> Result<Request<Relay>, Refused> {
    let (head, body) = request.into_parts();
    let method = head.method.as_str();
    credentials.refuse_stray(method, url, &head.headers)?;
    // THREAT: P05, whoever decodes a body differently than we do sees another request in it.
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    if !codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        return malformed("The body is coded in a way that this proxy does not know.");
    }
    // THREAT: P05, a server that expects no body here may read a request of its own in it.
    let is_bare = matches!(head.method, Method::GET | Method::HEAD);
    let has_body = head.headers.contains_key(header::TRANSFER_ENCODING) || !body.is_end_stream();
    if is_bare && has_body {
        return malformed("A request by GET or HEAD has no body.");
    }
    let Ok(target) = Uri::try_from(url.target()) else {
        return malformed("The path holds what a path cannot hold.");
    };
    let Ok(host) = HeaderValue::try_from(url.authority()) else {
        return malformed("The host fits into no header.");
    };

    let mut headers = end_to_end(head.headers);
    for name in [header::CONTENT_LENGTH, header::EXPECT] {
        headers.remove(name);
    }
    headers.insert(header::HOST, host);
    // THREAT: P05, what a server makes of the bytes after this request is none: nobody reads it any more.
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    if credentials.cover_for(url).is_some() {
        // THREAT: P02, packed or in pieces a value would come back uncovered.
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.remove(header::RANGE);
        headers.remove(header::IF_RANGE);
        headers.remove("request-range");
    }
    for (name, value) in credentials.headers_for(method, url) {
        let (name, value) = (HeaderName::try_from(name), HeaderValue::try_from(value.expose()));
        let (Ok(name), Ok(mut value)) = (name, value) else {
            return Err(bad_answer(url, "its credential does not fit into a header").into());
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let mut onward = Request::new(Relay::up(body));
    *onward.method_mut() = head.method;
    *onward.uri_mut() = target;
    *onward.headers_mut() = headers;
    Ok(onward)
}

/// The answer as the program gets it.
fn covered(
    credentials: &Credentials,
    url: &WebUrl,
    answer: Response<Incoming>,
    connection: Ends,
) -> Result<Answer, NetError> {
    let (head, body) = answer.into_parts();
    if head.status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(bad_answer(url, "it changes the protocol"));
    }
    // THREAT: P02, what is packed below HTTP's own pieces comes back uncovered, too.
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    let is_known = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => coding.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    };
    if !is_known {
        return Err(bad_answer(url, "it is coded in a way that is not known"));
    }
    let mut headers = end_to_end(head.headers);
    let mut cover = credentials.cover_for(url);
    if let Some(cover) = &mut cover {
        if head.status == StatusCode::PARTIAL_CONTENT {
            return Err(bad_answer(url, "it is a part, though the whole was asked for"));
        }
        let mut packings = headers.get_all(header::CONTENT_ENCODING).iter();
        if !packings.all(|packing| packing.as_bytes().eq_ignore_ascii_case(b"identity")) {
            return Err(bad_answer(url, "it is packed, though it was asked not to be"));
        }
        for value in headers.values_mut() {
            let covered = HeaderValue::from_bytes(&cover.whole(value.as_bytes()));
            *value = covered.unwrap_or(HeaderValue::from_static("*"));
        }
    }
    // Anew, without the words beside the status: they are the server's, and nobody covered them.
    let mut answer = Response::new(Relay::down(body, cover, connection).boxed_unsync());
    *answer.status_mut() = head.status;
    *answer.headers_mut() = headers;
    Ok(answer)
}

/// Without what belongs to one connection only.
fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
    let listed: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .collect();
    let proxys = headers.keys().filter(|name| name.as_str().starts_with("proxy-")).cloned();
    let own = [
        header::CONNECTION,
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("http2-settings"),
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ];
    let gone: Vec<HeaderName> = proxys.chain(listed).chain(own).collect();
    for name in gone {
        headers.remove(name);
    }
    headers
}

fn bad_answer(url: &WebUrl, why: &str) -> NetError {
    NetError::BadAnswer { host: url.host().to_string(), why: why.to_owned() }
}

fn failed(url: &WebUrl, error: &hyper::Error) -> NetError {
    let cause = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    match cause.map(io::Error::kind) {
        Some(io::ErrorKind::TimedOut) => NetError::TimedOut { host: url.host().to_string(), after: IDLE },
        _ => bad_answer(url, &error.to_string()),
    }
}

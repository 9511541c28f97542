//! What is sent: exactly the request that was decided about, and the credentials that belong to it.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Uri};
use vambrace_policy::FetchUrl;
use vambrace_policy::url::UrlRefusal;

use crate::Credentials;

const OUR_NAME: &str = concat!("vambrace/", env!("CARGO_PKG_VERSION"));

/// Where a message ends and whom it is for is ours to say, whoever wrote the request.
///
/// THREAT: P05, a second `Host` or length makes a server behind a server see another request than was judged.
const OURS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(crate) fn build(
    action: &FetchUrl,
    credentials: &Credentials,
) -> Result<Request<Full<Bytes>>, UrlRefusal> {
    let url = &action.url;
    let wrong_method = || UrlRefusal::Method { method: action.method.clone() };
    let method = Method::from_bytes(action.method.as_bytes()).map_err(|_| wrong_method())?;
    if method == Method::CONNECT {
        return Err(wrong_method());
    }
    // A target is at most 64 KB, by the limit of the type.
    let target =
        Uri::try_from(url.target()).map_err(|why| UrlRefusal::Unparsable { why: why.to_string() })?;
    let host = HeaderValue::try_from(url.authority())
        .map_err(|why| UrlRefusal::Unparsable { why: why.to_string() })?;

    let mut headers = HeaderMap::new();
    for header in &action.headers {
        let refused = || UrlRefusal::Header { name: header.name.clone() };
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| refused())?;
        if OURS.contains(&name.as_str()) {
            return Err(refused());
        }
        let value = HeaderValue::from_str(header.value.expose()).map_err(|_| refused())?;
        headers.append(name, value);
    }
    let usual = [
        (USER_AGENT, HeaderValue::from_static(OUR_NAME)),
        (ACCEPT, HeaderValue::from_static("*/*")),
        (ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate")),
    ];
    for (name, value) in usual {
        headers.entry(name).or_insert(value);
    }
    for (name, value) in credentials.headers_for(&action.method, url) {
        let refused = || UrlRefusal::Header { name: name.clone() };
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| refused())?;
        value.set_sensitive(true);
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        if OURS.contains(&name.as_str()) {
            return Err(UrlRefusal::Header { name: name.to_string() });
        }
        headers.insert(name, value);
    }
    headers.insert(HOST, host);

    let body = action.body.as_ref().map(|body| Bytes::copy_from_slice(body.expose().as_bytes()));
    let mut request = Request::new(Full::new(body.unwrap_or_default()));
    *request.method_mut() = method;
    *request.uri_mut() = target;
    *request.headers_mut() = headers;
    Ok(request)
}

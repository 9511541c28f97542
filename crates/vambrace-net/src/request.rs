//! What is sent: exactly the request that was decided about, and the credentials that belong to it.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, HOST, HeaderMap, HeaderName, HeaderValue, IF_RANGE, RANGE, USER_AGENT,
};
use hyper::{Method, Request, Uri};
use vambrace_policy::FetchUrl;
use vambrace_policy::url::{UrlRefusal, is_method, is_ours};

use crate::Credentials;

const OUR_NAME: &str = concat!("vambrace/", env!("CARGO_PKG_VERSION"));

pub(crate) fn build(
    action: &FetchUrl,
    credentials: &Credentials,
) -> Result<Request<Full<Bytes>>, UrlRefusal> {
    let url = &action.url;
    let wrong_method = || UrlRefusal::Method { method: action.method.clone() };
    let method = Method::from_bytes(action.method.as_bytes()).map_err(|_| wrong_method())?;
    if !is_method(&action.method) {
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
        // THREAT: P05, a second `Host` or length makes a server behind a server see another request than was
        // judged.
        if is_ours(name.as_str()) {
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
    if credentials.cover_for(url).is_some() {
        // THREAT: P02, in pieces a value would come back uncovered.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.remove(RANGE);
        headers.remove(IF_RANGE);
        headers.remove("request-range");
    }
    for (name, value) in credentials.headers_for(&action.method, url) {
        let refused = || UrlRefusal::Header { name: name.clone() };
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| refused())?;
        value.set_sensitive(true);
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        if is_ours(name.as_str()) {
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

#[cfg(test)]
mod tests {
    use vambrace_policy::url::{Voice, WebUrl};
    use vambrace_policy::{Answers, Author, Header};
    use vambrace_types::Secret;

    use super::*;

    /// What the door refuses by itself, whatever was decided before.
    #[track_caller]
    fn check(method: &str, header: &str, expected: Option<UrlRefusal>) {
        let action = FetchUrl {
            url: WebUrl::parse("https://a.test/").unwrap(),
            method: method.to_owned(),
            headers: vec![Header { name: header.to_owned(), value: Secret::new("x".to_owned()) }],
            body: None,
            author: Author::Operator,
            voice: Voice::Seed001,
            answers: Answers::Unasked,
            time: None,
            spelled: Vec::new(),
            length: None,
            named: None,
        };
        assert_eq!(build(&action, &Credentials::default()).err(), expected, "{method} {header}");
    }

    #[test]
    fn what_the_policy_refuses_the_door_refuses() {
        for method in ["GET", "POST", "PROPFIND"] {
            check(method, "x-a", None);
        }
        for method in ["CONNECT", "TRACE", "TRACK", "get", ""] {
            check(method, "x-a", Some(UrlRefusal::Method { method: method.to_owned() }));
        }
        for name in ["host", "Expect", "HTTP2-Settings", "transfer-encoding"] {
            check("GET", name, Some(UrlRefusal::Header { name: name.to_owned() }));
        }
    }
}

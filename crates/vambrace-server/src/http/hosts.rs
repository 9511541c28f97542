//! Whether a request means us, and whether a web page's script sends it. THREAT: P12, a page whose name is
//! made to lead to this machine (DNS rebinding).

use std::net::SocketAddr;

use http::Request;
use http::header::{self, HeaderName, HeaderValue};
use http::uri::Authority;

use vambrace_auth::{is_host_allowed, is_origin_allowed};

use super::Front;

pub(super) fn is_ours(host: &str, front: &Front) -> bool {
    // Settings do not change, so neither does the answer; nearly all requests name us alike.
    if front.named.get().is_some_and(|named| named == host) {
        return true;
    }
    let is_ours = is_listed_name(host, front);
    if is_ours {
        let _ = front.named.set(host.to_owned());
    }
    is_ours
}

fn is_listed_name(host: &str, front: &Front) -> bool {
    let settings = &front.settings;
    let own = settings.public_url.as_deref().and_then(|url| url.split_once("://"));
    let own = own.and_then(|(_, rest)| rest.split('/').next()).map(str::to_owned);
    front.listening.get().is_some_and(|listening| {
        is_host_allowed(host, *listening, &settings.allowed_hosts)
            || own.is_some_and(|own| is_host_allowed(host, *listening, &[own]))
    })
}

pub(super) fn may_send(origin: &str, front: &Front) -> bool {
    let listed = &front.settings.allowed_origins;
    front.listening.get().is_some_and(|listening| is_origin_allowed(Some(origin), listed, *listening))
}

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a request speaks for somebody else's page or to somebody else's name. Most of these are refused later; here they
/// only draw from another bucket. THREAT: P12, a page that the user of an agent looks at uses up the agent's own.
pub(super) fn is_strange<B>(request: &Request<B>, front: &Front) -> bool {
    let headers = request.headers();
    let is_foreign_name = |host: &HeaderValue| !host.to_str().is_ok_and(|host| is_ours(host, front));
    let authority = request.uri().authority().map(Authority::as_str);
    if headers.get_all(header::HOST).iter().any(is_foreign_name)
        || authority.is_some_and(|authority| !is_ours(authority, front))
    {
        return true;
    }
    let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
    if origins.peek().is_some() {
        return origins.any(|origin| !origin.to_str().is_ok_and(|origin| may_send(origin, front)));
    }
    // Images and links of a page send no Origin, but browsers say this.
    let mut sites = headers.get_all(FETCH_SITE).iter();
    sites.any(|site| !matches!(site.as_bytes(), b"none" | b"same-origin"))
}

/// Whether the operator listed the page; our own pages need no leave to read what they get.
pub(super) fn is_listed(origin: &str, front: &Front) -> bool {
    let elsewhere = SocketAddr::from(([0, 0, 0, 0], 0));
    is_origin_allowed(Some(origin), &front.settings.allowed_origins, elsewhere)
}

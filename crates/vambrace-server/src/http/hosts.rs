//! Whether a request means us, and whether a web page's script sends it. THREAT: P12, a page whose name is
//! made to lead to this machine (DNS rebinding).

use std::net::SocketAddr;

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

/// Whether the operator listed the page; our own pages need no leave to read what they get.
pub(super) fn is_listed(origin: &str, front: &Front) -> bool {
    let elsewhere = SocketAddr::from(([0, 0, 0, 0], 0));
    is_origin_allowed(Some(origin), &front.settings.allowed_origins, elsewhere)
}

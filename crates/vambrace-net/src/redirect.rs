//! Where an answer sends the request on to. Following is the caller's business: each hop is a request of its
//! own.

use vambrace_policy::url::{Scheme, UrlRefusal, WebUrl};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// At most five, each decided like a new request.
    Checked,
    SameHost,
    None,
}

/// LIMIT: hops after the first request (decision C5).
pub const MOST_HOPS: usize = 5;

/// The next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    pub url: WebUrl,
    /// The method stays, or becomes GET without a body.
    pub becomes_get: bool,
    /// Another origin: headers of the caller and credentials stay behind.
    pub drops_headers: bool,
}

/// `None`: the answer is no redirect, or redirects are not followed, and it is the result.
///
/// `n_hops` is how many were followed before this one.
pub fn next(
    rule: Redirects,
    from: &WebUrl,
    status: u16,
    method: &str,
    location: Option<&str>,
    n_hops: usize,
) -> Result<Option<Next>, UrlRefusal> {
    let becomes_get = match status {
        301 | 302 => method == "POST",
        303 => method != "HEAD",
        307 | 308 => false,
        _ => return Ok(None),
    };
    let Some(location) = location else {
        return Ok(None);
    };
    if rule == Redirects::None {
        return Ok(None);
    }
    let refuse = |why: String| Err(UrlRefusal::Redirect { why });
    if n_hops >= MOST_HOPS {
        return refuse(format!("more than {MOST_HOPS} redirects"));
    }
    let url = from.join(location)?;
    // THREAT: P05, what was asked for under TLS must not be had from whoever is on the way.
    if (from.scheme(), url.scheme()) == (Scheme::Https, Scheme::Http) {
        return refuse(format!("from https to http at `{}`", url.host()));
    }
    if rule == Redirects::SameHost && url.host() != from.host() {
        return refuse(format!("from `{}` to another host, `{}`", from.host(), url.host()));
    }
    let drops_headers = !url.same_origin(from);
    // THREAT: P05, one that changes something was declared for this origin, and would meet the credential
    // that is bound to another.
    if drops_headers && !becomes_get && !matches!(method, "GET" | "HEAD") {
        return refuse(format!("a {method} is not sent on to another origin, at `{}`", url.host()));
    }
    Ok(Some(Next { url, becomes_get, drops_headers }))
}

#[cfg(test)]
mod tests;

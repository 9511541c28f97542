//! What a request shows of its sender, read once. A header that says who somebody is stands once, or the
//! request is refused: two readers may believe different ones. THREAT: P13.

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use vambrace_auth::Offered;

use super::Problem;

pub(super) fn offered<'r>(headers: &'r HeaderMap, from_trusted_proxy: bool) -> Result<Offered<'r>, Problem> {
    let mut offered = Offered { from_trusted_proxy, ..Offered::default() };
    // Once through all of them: they are fewer than what is looked for.
    for (name, value) in headers {
        let shown = match name.as_str() {
            "x-internal-token" => &mut offered.internal_token,
            "authorization" => &mut offered.authorization,
            "x-api-key" => &mut offered.api_key,
            "x-slack-signature" => &mut offered.slack_signature,
            "x-slack-request-timestamp" => &mut offered.slack_timestamp,
            "x-user-email" => &mut offered.user_email,
            "x-user-groups" => &mut offered.user_groups,
            "x-slack-user-id" => &mut offered.slack_user,
            "x-slack-channel-id" => &mut offered.slack_channel,
            _ => continue,
        };
        if shown.replace(text(name, value)?).is_some() {
            return Err(twice(name));
        }
    }
    Ok(offered)
}

pub(super) fn once<'r>(headers: &'r HeaderMap, name: &HeaderName) -> Result<Option<&'r str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(twice(name));
    }
    text(name, value).map(Some)
}

fn twice(name: &HeaderName) -> Problem {
    Problem::headers(format!("The header `{name}` stands more than once.")).suggestion("Send it once.")
}

fn text<'r>(name: &HeaderName, value: &'r HeaderValue) -> Result<&'r str, Problem> {
    std::str::from_utf8(value.as_bytes()).map_err(|_| {
        Problem::headers(format!("The header `{name}` is not UTF-8 text.")).suggestion("Send it as text.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[(&'static str, &[u8])], is_fine: bool) {
        let mut headers = HeaderMap::new();
        for (name, value) in rows {
            headers.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        assert_eq!(offered(&headers, false).is_ok(), is_fine, "{rows:?}");
    }

    #[test]
    fn a_header_that_says_who_stands_once() {
        check(&[], true);
        check(&[("x-api-key", b"a"), ("authorization", b"Bearer b")], true);
        check(&[("x-user-email", "jürgen@example.com".as_bytes())], true);
        check(&[("x-user-email", b"j\xfcrgen@example.com")], false);
        for name in [
            "x-internal-token",
            "authorization",
            "x-api-key",
            "x-slack-signature",
            "x-slack-request-timestamp",
            "x-user-email",
            "x-user-groups",
            "x-slack-user-id",
            "x-slack-channel-id",
        ] {
            check(&[(name, b"a"), (name, b"a")], false);
        }
        check(&[("accept", b"a"), ("accept", b"b")], true);
    }
}

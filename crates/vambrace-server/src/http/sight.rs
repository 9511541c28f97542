//! What a request shows of its sender, read once. A header that says who somebody is stands once, or the
//! request is refused: two readers may believe different ones. THREAT: P13.

use http::HeaderMap;
use http::header::HeaderName;
use vambrace_auth::Offered;

use super::Problem;

const INTERNAL: HeaderName = HeaderName::from_static("x-internal-token");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const SLACK_SIGNATURE: HeaderName = HeaderName::from_static("x-slack-signature");
const SLACK_TIMESTAMP: HeaderName = HeaderName::from_static("x-slack-request-timestamp");
const USER_EMAIL: HeaderName = HeaderName::from_static("x-user-email");
const USER_GROUPS: HeaderName = HeaderName::from_static("x-user-groups");
const SLACK_USER: HeaderName = HeaderName::from_static("x-slack-user-id");
const SLACK_CHANNEL: HeaderName = HeaderName::from_static("x-slack-channel-id");

pub(super) fn offered<'r>(headers: &'r HeaderMap, from_trusted_proxy: bool) -> Result<Offered<'r>, Problem> {
    Ok(Offered {
        internal_token: once(headers, &INTERNAL)?,
        authorization: once(headers, &http::header::AUTHORIZATION)?,
        api_key: once(headers, &API_KEY)?,
        slack_signature: once(headers, &SLACK_SIGNATURE)?,
        slack_timestamp: once(headers, &SLACK_TIMESTAMP)?,
        body: None,
        user_email: once(headers, &USER_EMAIL)?,
        user_groups: once(headers, &USER_GROUPS)?,
        slack_user: once(headers, &SLACK_USER)?,
        slack_channel: once(headers, &SLACK_CHANNEL)?,
        from_trusted_proxy,
    })
}

pub(super) fn once<'r>(headers: &'r HeaderMap, name: &HeaderName) -> Result<Option<&'r str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Problem::headers(format!("The header `{name}` stands more than once."))
            .suggestion("Send it once."));
    }
    std::str::from_utf8(value.as_bytes()).map(Some).map_err(|_| {
        Problem::headers(format!("The header `{name}` is not UTF-8 text.")).suggestion("Send it as text.")
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

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

//! What headers and methods may be, by whoever they were written.

/// Headers that say where a request goes and where it ends. They are set by whoever sends it, and by nobody
/// else.
const OURS: &[&str] = &[
    "host",
    "connection",
    "content-length",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that carry a credential, that metadata services want to see before they answer (decision C48), that make another
/// request of it for whoever stands behind the server, or that ask for a piece of the answer or for it in another form.
/// THREAT: P02, by `Range` a secret can be had in pieces that nobody recognizes.
const NOT_FROM_MODELS: &[&str] = &[
    "accept-encoding",
    "api-key",
    "apikey",
    "authentication",
    "authorization",
    "client-ip",
    "cookie",
    "cookie2",
    "forwarded",
    "if-range",
    "metadata",
    "metadata-flavor",
    "password",
    "range",
    "request-range",
    "secret",
    "set-cookie",
    "token",
    "true-client-ip",
    "via",
    "x-auth-key",
    "x-client-ip",
    "x-google-metadata-request",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-host",
    "x-original-url",
    "x-real-ip",
    "x-rewrite-url",
];
const NOT_FROM_MODELS_BEGINNING: &[&str] =
    &["proxy-", "sec-", "x-amz-", "x-aws-", "x-forwarded", "x-goog-", "x-ms-", "x-vault-"];
const NOT_FROM_MODELS_ENDING: &[&str] =
    &["-token", "-api-key", "-apikey", "-secret", "-password", "-authorization"];

/// RFC 9110's token: what a method and the name of a header are made of.
pub fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

/// THREAT: P05, an end of line in a value begins a header, or a request, that nobody decided about.
pub(crate) fn is_value(text: &str) -> bool {
    !text.contains(['\r', '\n', '\0'])
}

pub fn is_ours(name: &str) -> bool {
    OURS.iter().any(|own| own.eq_ignore_ascii_case(name))
}

pub(crate) fn is_refused_from_models(name: &str) -> bool {
    // Servers that hand headers on as variables know no difference between the two.
    let name = name.to_ascii_lowercase().replace('_', "-");
    is_ours(&name)
        || NOT_FROM_MODELS.contains(&name.as_str())
        || NOT_FROM_MODELS_BEGINNING.iter().any(|front| name.starts_with(front))
        || NOT_FROM_MODELS_ENDING.iter().any(|end| name.ends_with(end))
}

/// CONNECT makes a tunnel, and TRACE sends back what it was sent, credentials too.
pub fn is_method(method: &str) -> bool {
    is_token(method)
        && method.len() <= 32
        && !method.bytes().any(|byte| byte.is_ascii_lowercase())
        && !matches!(method, "CONNECT" | "TRACE" | "TRACK")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, ours: bool, from_models: bool) {
        assert_eq!((is_ours(name), is_refused_from_models(name)), (ours, !from_models), "{name}");
    }

    #[test]
    fn headers_are_told_by_their_names() {
        check("accept", false, true);
        check("accept-language", false, true);
        check("user-agent", false, true);
        check("ranges", false, true);
        check("accept-charset", false, true);
        check("x-tokens", false, true);
        check("mytoken", false, true);
        check("x-method", false, true);
        check("x-trace", false, true);
        check("cookies", false, true);
        check("security", false, true);
        check("host", true, false);
        check("Host", true, false);
        check("transfer-encoding", true, false);
        check("te", true, false);
        check("Content-Length", true, false);
        check("AUTHORIZATION", false, false);
        check("proxy-authorization", false, false);
        check("proxy-connection", true, false);
        check("metadata", false, false);
        check("Metadata-Flavor", false, false);
        check("x-aws-ec2-metadata-token", false, false);
        check("x-aws-ec2-metadata-token-ttl-seconds", false, false);
        check("x-forwarded-for", false, false);
        check("sec-websocket-key", false, false);
        for refused in [
            "range",
            "Request-Range",
            "If-Range",
            "accept-encoding",
            "x-http-method",
            "x-http-method-override",
            "X_HTTP_Method_Override",
            "x-method-override",
            "x-original-url",
            "x-original-host",
            "x-rewrite-url",
            "true-client-ip",
            "client-ip",
            "x-client-ip",
            "x-real-ip",
            "x-token",
            "token",
            "apikey",
            "private_token",
            "x-api_key",
            "job-token",
            "ocp-api-key",
            "x-y-apikey",
            "client-secret",
            "x-user-password",
            "x-any-authorization",
            "x-csrf-token",
            "metadata-token",
            "metadata_flavor",
            "content_length",
            "transfer_encoding",
        ] {
            check(refused, false, false);
        }
    }

    #[test]
    fn names_values_and_methods_are_one_line() {
        for name in ["a", "X-Trace_1", "!#$%&'*+-.^_`|~"] {
            assert!(is_token(name), "{name}");
        }
        for name in ["", "a b", "a:", "a\r\n", "ä", "a\0", "(a)", "a\tb"] {
            assert!(!is_token(name), "{name:?}");
        }
        for value in ["", "a b", "\t", "ä"] {
            assert!(is_value(value), "{value:?}");
        }
        for value in ["a\r\nb", "a\n", "\r", "a\0"] {
            assert!(!is_value(value), "{value:?}");
        }
        for method in ["GET", "PROPFIND", "M-SEARCH"] {
            assert!(is_method(method), "{method}");
        }
        for method in ["", "get", "CONNECT", "TRACE", "GET /x HTTP/1.1\r\n", &"A".repeat(33)] {
            assert!(!is_method(method), "{method:?}");
        }
    }
}

//! Why a request has no answer.

use std::time::Duration;

use vambrace_policy::url::{UrlRefusal, Voice};
use vambrace_policy::{Denial, Reason, Stale};
use vambrace_types::{ErrorCode, ToolError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetError {
    Refused(UrlRefusal),
    Stale,
    NoAddress {
        host: String,
        why: Missing,
    },
    Unreachable {
        host: String,
        why: String,
    },
    /// The certificate is not one for this host that anybody trusts.
    Untrusted {
        host: String,
        why: String,
    },
    /// What came back is not HTTP, or its head is larger than it may be.
    BadAnswer {
        host: String,
        why: String,
    },
    TimedOut {
        host: String,
        after: Duration,
    },
}

/// Why a name has no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Whoever knows names says that there is none.
    Nowhere,
    /// Nobody who knows names answered with anything that could be understood.
    Unanswered,
}

impl From<Stale> for NetError {
    fn from(_: Stale) -> NetError {
        NetError::Stale
    }
}

impl From<UrlRefusal> for NetError {
    fn from(refusal: UrlRefusal) -> NetError {
        NetError::Refused(refusal)
    }
}

impl std::fmt::Display for NetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_tool_error(Voice::Seed000).message)
    }
}

impl NetError {
    pub fn to_tool_error(&self, voice: Voice) -> ToolError {
        let failed = |message: String, suggestion: &str| {
            ToolError::new(ErrorCode::ConnectionFailed, message).suggestion(suggestion)
        };
        match self {
            NetError::Refused(refusal) => {
                let reason = Reason::Url { refusal: refusal.clone(), voice };
                Denial::new(reason, refusal.rule()).to_tool_error()
            }
            NetError::Stale => Denial::new(Reason::StalePermit, "policy").to_tool_error(),
            NetError::NoAddress { host, why } => {
                let refusal = UrlRefusal::NoAddress { host: host.clone() };
                let error = NetError::Refused(refusal).to_tool_error(voice);
                match why {
                    Missing::Nowhere => error,
                    Missing::Unanswered => {
                        error.suggestion("The name server did not answer; try again later.")
                    }
                }
            }
            NetError::Unreachable { host, why } => failed(
                format!("`{host}` cannot be reached: {why}."),
                "Check the host and the port, or try again later.",
            ),
            NetError::Untrusted { host, why } => failed(
                format!("The certificate of `{host}` is not trusted: {why}."),
                "Tell the person you work for; a certificate is never skipped.",
            ),
            NetError::BadAnswer { host, why } => failed(
                format!("What `{host}` answered is not an HTTP answer that can be used: {why}."),
                "Check that the address is that of a web server.",
            ),
            NetError::TimedOut { host, after } => ToolError::new(
                ErrorCode::Timeout,
                format!("`{host}` did not answer in full within {} s.", after.as_secs()),
            )
            .suggestion("Try again later, or ask for something smaller."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: &NetError, code: ErrorCode, rule: Option<&str>, suggestion: &str) {
        let told = error.to_tool_error(Voice::Seed001);
        assert_eq!((told.code, told.rule.as_deref()), (code, rule), "{error:?}");
        assert!(told.suggestion.contains(suggestion), "{}", told.suggestion);
    }

    #[test]
    fn errors_name_their_rule_and_the_next_step() {
        let host = || "a.test".to_owned();
        let refused = |refusal| NetError::Refused(refusal);
        let redirect = refused(UrlRefusal::Redirect { why: String::new() });
        check(&redirect, ErrorCode::RedirectRefused, Some("net.redirects"), "");
        let header = refused(UrlRefusal::Header { name: "x".to_owned() });
        check(&header, ErrorCode::HeaderNotAllowed, Some("net.headers"), "");
        check(
            &refused(UrlRefusal::Credentials),
            UrlRefusal::Credentials.code(),
            Some("tools.url_policy"),
            "",
        );
        for (why, words) in
            [(Missing::Nowhere, "it has no address"), (Missing::Unanswered, "name server did not answer")]
        {
            let missing = NetError::NoAddress { host: host(), why };
            check(&missing, ErrorCode::DnsFailed, Some("tools.url_policy.on_dns_failure"), words);
        }
        let bad = NetError::BadAnswer { host: host(), why: "x".to_owned() };
        check(&bad, ErrorCode::ConnectionFailed, None, "web server");
    }
}

//! Why a request has no answer.

use std::time::Duration;

use vambrace_policy::url::{UrlRefusal, Voice};
use vambrace_policy::{Denial, Reason, Stale};
use vambrace_types::{ErrorCode, ToolError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetError {
    Refused(UrlRefusal),
    Stale,
    /// The name has no address, or nobody who knows names answered.
    NoAddress {
        host: String,
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

impl NetError {
    pub fn to_tool_error(&self, voice: Voice) -> ToolError {
        let failed = |message: String, suggestion: &str| {
            ToolError::new(ErrorCode::ConnectionFailed, message).suggestion(suggestion)
        };
        match self {
            NetError::Refused(refusal) => {
                let reason = Reason::Url { refusal: refusal.clone(), voice };
                Denial::new(reason, "tools.url_policy").to_tool_error()
            }
            NetError::Stale => Denial::new(Reason::StalePermit, "policy").to_tool_error(),
            NetError::NoAddress { host } => {
                let reason = Reason::Url { refusal: UrlRefusal::NoAddress { host: host.clone() }, voice };
                Denial::new(reason, "tools.url_policy.on_dns_failure").to_tool_error()
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

//! An address that policy has looked at.

use std::net::{IpAddr, SocketAddr};

use vambrace_policy::url::{Host, Terms, UrlPolicy, UrlRefusal};

/// INVARIANT: made only by `CheckedAddr::all`, from answers that every one passed. There is no way from a
/// `SocketAddr` to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedAddr(SocketAddr);

impl CheckedAddr {
    /// All or none: one answer of ten that leads inside makes the name one that leads inside.
    pub(crate) fn all(
        policy: &UrlPolicy,
        terms: &Terms,
        host: &Host,
        port: u16,
        answers: &[IpAddr],
    ) -> Result<Vec<CheckedAddr>, UrlRefusal> {
        let check = |address: &IpAddr| {
            policy.check(terms, host, *address)?;
            Ok(CheckedAddr(SocketAddr::new(*address, port)))
        };
        answers.iter().map(check).collect()
    }

    pub fn address(self) -> SocketAddr {
        self.0
    }
}

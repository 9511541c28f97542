//! Where to listen, as a person writes it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// An address with a port, `localhost:PORT`, or `:PORT` on this machine alone. Other names are refused: what
/// they lead to is somebody else's decision, and listening is not a guess.
pub(super) fn parse(text: &str) -> Result<SocketAddr, String> {
    let here =
        |port: &str| port.parse().ok().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let local = text.strip_prefix("localhost").unwrap_or(text);
    if let Some(address) = local.strip_prefix(':').filter(|port| is_number(port)).and_then(here) {
        return Ok(address);
    }
    text.parse().map_err(|_| {
        format!(
            "--listen: `{text}` is not an address with a port; write 127.0.0.1:8081, [::1]:8081, \
             localhost:8081 or :8081"
        )
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let parsed = parse(text).ok().map(|address| address.to_string());
        assert_eq!(parsed.as_deref(), expected, "{text}");
    }

    #[test]
    fn addresses_as_people_write_them() {
        check("127.0.0.1:8081", Some("127.0.0.1:8081"));
        check("0.0.0.0:80", Some("0.0.0.0:80"));
        check("[::1]:8081", Some("[::1]:8081"));
        check(":8081", Some("127.0.0.1:8081"));
        check(":0", Some("127.0.0.1:0"));
        check("localhost:65535", Some("127.0.0.1:65535"));
        for bad in
            ["localhost:65536", "localhost", "8081", ":", ":+1", "example.com:80", "127.0.0.1", "", "::1:80x"]
        {
            check(bad, None);
        }
    }
}

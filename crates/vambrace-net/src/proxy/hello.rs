//! The first bytes of a tunnel: a TLS hello for the host that was judged, or nothing goes through.

use std::time::Duration;

use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::timeout;
use vambrace_policy::url::{Host, UrlRefusal};

/// LIMIT: bytes up to the end of the hello.
const LONGEST: usize = 16 << 10;
/// LIMIT: how long a program may take over it.
const TIME: Duration = Duration::from_secs(10);

/// Every byte up to the hello's end, and those that came along.
pub(super) async fn read(
    stream: &mut (impl AsyncRead + Unpin),
    already: &[u8],
    host: &Host,
) -> Result<Vec<u8>, UrlRefusal> {
    let read = timeout(TIME, gather(stream, already)).await;
    let (bytes, named) = read.unwrap_or(Err("nothing in time")).map_err(|what| mismatch(host, what))?;
    let fits = match (host, named.as_deref()) {
        (Host::Name(host), Some(named)) => named.eq_ignore_ascii_case(host),
        // A hello has no way to name an address.
        (Host::Address(_), None) => true,
        (Host::Name(_), None) | (Host::Address(_), Some(_)) => false,
    };
    match fits {
        true => Ok(bytes),
        false => Err(mismatch(host, named.as_deref().unwrap_or("no host"))),
    }
}

fn mismatch(host: &Host, named: &str) -> UrlRefusal {
    UrlRefusal::Mismatch { host: host.to_string(), named: named.to_owned() }
}

async fn gather(
    stream: &mut (impl AsyncRead + Unpin),
    already: &[u8],
) -> Result<(Vec<u8>, Option<String>), &'static str> {
    let mut bytes = already.to_vec();
    let mut acceptor = Acceptor::default();
    let mut n_parsed = 0;
    let mut chunk = [0; 4096];
    loop {
        let mut rest = bytes.get(n_parsed..).unwrap_or_default();
        while !rest.is_empty() {
            match acceptor.read_tls(&mut rest) {
                Ok(n_bytes) if n_bytes > 0 => n_parsed += n_bytes,
                Ok(_) | Err(_) => return Err("something else than TLS"),
            }
            match acceptor.accept() {
                Ok(Some(accepted)) => {
                    return Ok((bytes, accepted.client_hello().server_name().map(str::to_owned)));
                }
                Ok(None) => {}
                Err(_) => return Err("something else than TLS"),
            }
        }
        if bytes.len() > LONGEST {
            return Err("a hello without an end");
        }
        match stream.read(&mut chunk).await {
            Ok(n_bytes) if n_bytes > 0 => bytes.extend_from_slice(chunk.get(..n_bytes).unwrap_or_default()),
            Ok(_) | Err(_) => return Err("nothing"),
        }
    }
}

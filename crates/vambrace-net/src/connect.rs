//! Dials checked addresses, one after the other, and looks at who answered.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::{CheckedAddr, NetError};

/// How long one address is tried (specification 000).
pub(crate) const DIAL_TIME: Duration = Duration::from_secs(10);

/// The first that answers. `host` is for the words only. The caller limits the time for all of them.
pub(crate) async fn dial(host: &str, addresses: &[CheckedAddr]) -> Result<TcpStream, NetError> {
    let mut why = "it has no address".to_owned();
    for address in addresses {
        match timeout(DIAL_TIME, dial_one(*address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => why = words(&error),
            Err(_) => why = format!("nobody answered within {} s", DIAL_TIME.as_secs()),
        }
    }
    Err(NetError::Unreachable { host: host.to_owned(), why })
}

async fn dial_one(address: CheckedAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address.address()).await?;
    // THREAT: P05, whatever turns connections elsewhere on this machine is not what was judged.
    if stream.peer_addr()? != address.address() {
        return Err(io::Error::other("another address answered"));
    }
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Without numbers and names of the system's own.
pub(crate) fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "the connection was refused".to_owned(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => {
            "the connection was ended".to_owned()
        }
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            "there is no way there".to_owned()
        }
        _ => error.to_string(),
    }
}

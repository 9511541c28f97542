//! The socket by which programs of a cage are served from outside. It is made where they will look for it, and knows
//! nothing of who serves it.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};

use crate::network::PROXY_PORT;

/// LIMIT: connections that wait to be taken; a program that makes more has to wait itself.
const MOST_WAITING: i32 = 128;

/// INVARIANT: called in a network namespace of the cage's own, before any program runs there. Nothing else can have the
/// address then, and without `SO_REUSEPORT` nothing else can take it later, so who connects is served by us or by nobody.
pub(super) fn listener() -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    listen(&socket, MOST_WAITING)?;
    Ok(socket)
}

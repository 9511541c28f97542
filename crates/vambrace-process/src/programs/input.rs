//! What a person gives a program to read from. It knows descriptors, not programs.

use std::os::fd::BorrowedFd;

use rustix::fs::FileType;
use rustix::net::{AddressFamily, SocketType, sockopt};

use crate::ProgramError;

/// THREAT: P07, a socket belongs to the network in which it was made: one of the internet family (as inetd gives it) can be
/// connected anew from inside the cage, and a datagram can carry any address. A pair of connected ends can do neither.
pub(super) fn check(input: BorrowedFd<'_>) -> Result<(), ProgramError> {
    let kind = rustix::fs::fstat(input).map(|found| FileType::from_raw_mode(found.st_mode));
    if kind != Ok(FileType::Socket) {
        return Ok(());
    }
    let family = sockopt::socket_domain(input);
    let kind = sockopt::socket_type(input);
    match (family, kind) {
        (Ok(AddressFamily::UNIX), Ok(SocketType::STREAM | SocketType::SEQPACKET)) => Ok(()),
        _ => Err(ProgramError::InputLeadsOut),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;
    use std::os::unix::net::{UnixDatagram, UnixStream};

    use super::*;

    #[test]
    fn only_what_leads_nowhere_else_is_given() {
        let (stream, _other) = UnixStream::pair().unwrap();
        let (datagrams, _end) = UnixDatagram::pair().unwrap();
        let (pipe, _writer) = std::io::pipe().unwrap();
        let made = |kind| rustix::net::socket(AddressFamily::INET, kind, None).unwrap();
        let (internet, listener) = (made(SocketType::DGRAM), made(SocketType::STREAM));
        let null = std::fs::File::open("/dev/null").unwrap();
        for (input, is_given) in [
            (stream.as_fd(), true),
            (pipe.as_fd(), true),
            (null.as_fd(), true),
            (datagrams.as_fd(), false),
            (internet.as_fd(), false),
            (listener.as_fd(), false),
        ] {
            assert_eq!(check(input).is_ok(), is_given, "{input:?}");
        }
    }
}

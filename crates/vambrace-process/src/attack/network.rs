//! Attacks by socket. The traps are on this machine; nothing is ever sent anywhere else.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::{
    AddressFamily, Protocol, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, getpeername,
    getsockname, ipproto, send, sendto, socket_with,
};

use super::facts::Facts;
use super::{Outcome, all, failed, words};

/// Sockets by which system services take orders.
const SYSTEM_SOCKETS: [&str; 8] = [
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/systemd/journal/stdout",
    "/dev/log",
];

fn open(family: AddressFamily, kind: SocketType, protocol: Option<Protocol>) -> Result<OwnedFd, Errno> {
    socket_with(family, kind, SocketFlags::CLOEXEC, protocol)
}

/// Connects and shows the token, so that the host knows who came.
fn dial(
    family: AddressFamily,
    protocol: Option<Protocol>,
    address: &impl SocketAddrArg,
    facts: &Facts,
) -> Outcome {
    answered(open(family, SocketType::STREAM, protocol).and_then(|socket| {
        connect(&socket, address)?;
        send(&socket, facts.token.as_bytes(), SendFlags::NOSIGNAL)?;
        Ok(socket)
    }))
}

/// Somebody took the connection. A port that the kernel gave to the attacker may be the very one it calls; the host's
/// trap has that port where the trap can be reached, so a socket that met itself is somewhere else.
fn answered(connected: Result<OwnedFd, Errno>) -> Outcome {
    match connected {
        Ok(socket) if met_itself(&socket) => Outcome::Held(ITSELF.to_owned()),
        Ok(_) => Outcome::Broken("it worked".to_owned()),
        Err(errno) => Outcome::Held(words(errno)),
    }
}

const ITSELF: &str = "it met only itself";

/// INVARIANT: what cannot be told any more, since the other end has gone, was somebody else.
fn met_itself(socket: &OwnedFd) -> bool {
    let (own, other) = (getsockname(socket), getpeername(socket));
    matches!((own, other), (Ok(own), Ok(Some(other))) if own == other)
}

pub(super) fn tcp(facts: &Facts) -> Outcome {
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, facts.tcp);
    let mut attempts = vec![
        ("127.0.0.1", dial(AddressFamily::INET, None, &address, facts)),
        // Neither is a TCP connection for every wall that counts those.
        ("multipath", dial(AddressFamily::INET, Some(ipproto::MPTCP), &address, facts)),
        ("fast open", fast_open(&address, facts)),
    ];
    if let Some(port) = facts.tcp6 {
        let address = SocketAddrV6::new(Ipv6Addr::LOCALHOST, port, 0, 0);
        attempts.push(("::1", dial(AddressFamily::INET6, None, &address, facts)));
    }
    all(attempts)
}

/// Data with the first packet: connects without `connect`.
fn fast_open(address: &SocketAddrV4, facts: &Facts) -> Outcome {
    const FAST_OPEN: u32 = 0x2000_0000;
    let flags = SendFlags::NOSIGNAL | SendFlags::from_bits_retain(FAST_OPEN);
    answered(open(AddressFamily::INET, SocketType::STREAM, None).and_then(|socket| {
        sendto(&socket, facts.token.as_bytes(), flags, address)?;
        Ok(socket)
    }))
}

/// A datagram always seems to leave. Where nobody listens the kernel says so a moment later; the host looks as well.
pub(super) fn udp(facts: &Facts) -> Outcome {
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, facts.udp);
    let connected = open(AddressFamily::INET, SocketType::DGRAM, None).and_then(|socket| {
        connect(&socket, &address)?;
        Ok(socket)
    });
    match connected {
        Ok(socket) => datagram(&socket, facts.token.as_bytes()),
        Err(errno) => Outcome::Held(words(errno)),
    }
}

fn datagram(socket: &OwnedFd, token: &[u8]) -> Outcome {
    let sent = send(socket, token, SendFlags::NOSIGNAL).and_then(|_| {
        // Nobody refuses what one sends to oneself.
        if met_itself(socket) {
            return Ok(true);
        }
        let mut polled = [PollFd::new(socket, PollFlags::ERR)];
        // Far longer than it takes: on a busy machine the kernel's word may be late.
        let patience = Timespec { tv_sec: 2, tv_nsec: 0 };
        rustix::event::poll(&mut polled, Some(&patience))?;
        rustix::net::sockopt::socket_error(socket)??;
        Ok(false)
    });
    match sent {
        // Where it went, the host knows if it was there.
        Ok(false) => Outcome::Untried("sent, and not refused in time".to_owned()),
        Ok(true) => Outcome::Held(ITSELF.to_owned()),
        Err(errno) => Outcome::Held(words(errno)),
    }
}

/// Connecting a datagram socket only asks for a route. The addresses are those of documentation.
pub(super) fn route() -> Outcome {
    let four = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 9);
    let six = SocketAddrV6::new(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 9, 0, 0);
    all([
        ("IPv4", find_route(AddressFamily::INET, None, &four)),
        ("IPv6", find_route(AddressFamily::INET6, None, &six)),
    ])
}

fn find_route(family: AddressFamily, protocol: Option<Protocol>, address: &impl SocketAddrArg) -> Outcome {
    failed(open(family, SocketType::DGRAM, protocol).and_then(|socket| connect(&socket, address)))
}

/// A raw socket must not be had. A ping socket may, where it has nowhere to go.
pub(super) fn icmp() -> Outcome {
    let anywhere = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 0);
    all([
        ("raw", failed(open(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP)))),
        ("raw IPv6", failed(open(AddressFamily::INET6, SocketType::RAW, Some(ipproto::ICMPV6)))),
        ("ping", find_route(AddressFamily::INET, Some(ipproto::ICMP), &anywhere)),
    ])
}

pub(super) fn unix_path(facts: &Facts) -> Outcome {
    all(facts.sockets.iter().map(|path| {
        let outcome = match SocketAddrUnix::new(path.as_str()) {
            Ok(address) => dial(AddressFamily::UNIX, None, &address, facts),
            Err(errno) => Outcome::Untried(format!("could not be tried: {}", words(errno))),
        };
        (path.as_str(), outcome)
    }))
}

pub(super) fn unix_abstract(facts: &Facts) -> Outcome {
    match SocketAddrUnix::new_abstract_name(facts.abstract_name.as_bytes()) {
        Ok(address) => dial(AddressFamily::UNIX, None, &address, facts),
        Err(errno) => Outcome::Untried(format!("could not be tried: {}", words(errno))),
    }
}

/// They are looked for and left alone.
pub(super) fn system_sockets() -> Outcome {
    all(SYSTEM_SOCKETS.map(|path| {
        let outcome = match rustix::fs::stat(path) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Socket => {
                Outcome::Broken("it is there".to_owned())
            }
            Ok(_) => Outcome::Held("not a socket".to_owned()),
            Err(errno) => Outcome::Held(words(errno)),
        };
        (path, outcome)
    }))
}

pub(super) fn other_sockets() -> Outcome {
    const VSOCK: AddressFamily = AddressFamily::from_raw(40);
    all([
        ("netlink", failed(open(AddressFamily::NETLINK, SocketType::RAW, None))),
        ("packet", failed(open(AddressFamily::PACKET, SocketType::DGRAM, None))),
        ("vsock", failed(open(VSOCK, SocketType::STREAM, None))),
        ("key", failed(open(AddressFamily::KEY, SocketType::RAW, None))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket whose own port is the one it calls, as the kernel may choose it in a namespace of its own.
    fn to_itself(kind: SocketType) -> OwnedFd {
        let socket = open(AddressFamily::INET, kind, None).unwrap();
        rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        connect(&socket, &getsockname(&socket).unwrap()).unwrap();
        socket
    }

    #[test]
    fn a_socket_that_met_itself_reached_nobody() {
        let held = |outcome: Outcome| matches!(outcome, Outcome::Held(why) if why == ITSELF);
        assert!(held(datagram(&to_itself(SocketType::DGRAM), b"token")));
        assert!(held(answered(Ok(to_itself(SocketType::STREAM)))));
    }

    #[test]
    fn whoever_else_answers_was_reached() {
        let reached = |outcome: Outcome| matches!(outcome, Outcome::Broken(why) if why == "it worked");
        let listener = open(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        rustix::net::listen(&listener, 2).unwrap();
        let address = getsockname(&listener).unwrap();
        let dialled = || {
            let socket = open(AddressFamily::INET, SocketType::STREAM, None).unwrap();
            connect(&socket, &address).unwrap();
            send(&socket, b"token", SendFlags::NOSIGNAL).unwrap();
            socket
        };
        assert!(reached(answered(Ok(dialled()))));
        // One that takes the connection and closes it with what was sent unread, which resets it.
        let socket = dialled();
        for _ in 0..2 {
            drop(rustix::net::accept(&listener).unwrap());
        }
        assert!(reached(answered(Ok(socket))));

        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let socket = open(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        connect(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        assert!(reached(answered(Ok(socket))));
    }
}

//! The attack on the way out: where there is one, everything on this machine and the metadata service are asked for through
//! it; where there is none, nothing may answer.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with,
};

use super::facts::Facts;
use super::{Outcome, all, words};
use crate::network::PROXY_PORT;

/// The host as others spell it.
const SPELLINGS: [&str; 9] = [
    "127.0.0.1",
    "127.1",
    "0x7f.0.0.1",
    "2130706433",
    "0.0.0.0",
    "localhost",
    "localhost.",
    "[::1]",
    "[::ffff:127.0.0.1]",
];
/// Where clouds give credentials to whoever asks from inside.
const METADATA: &str = "169.254.169.254:80";
const LONGEST_LINE: usize = 256;
/// A proxy that refuses says so at once.
const A_WHILE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

pub(super) fn dial(facts: &Facts) -> Outcome {
    if !facts.proxied {
        return match reach() {
            Ok(_) => Outcome::Broken("there is no way out, and something answers".to_owned()),
            Err(errno) => Outcome::Held(format!("no way out: {}", words(errno))),
        };
    }
    let mut requests = Vec::new();
    for host in SPELLINGS {
        let authority = format!("{host}:{}", facts.proxy_trap);
        requests.push(format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n{}", facts.token));
        let path = format!("http://{authority}/{}", facts.token);
        requests.push(format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n"));
    }
    requests.push(format!("CONNECT {METADATA} HTTP/1.1\r\nHost: {METADATA}\r\n\r\n"));
    requests
        .push(format!("GET http://{METADATA}/ HTTP/1.1\r\nHost: {METADATA}\r\nConnection: close\r\n\r\n"));
    all(requests.iter().map(|request| (first_words(request), ask(request))))
}

/// The method and what it is for.
fn first_words(request: &str) -> &str {
    request.split(" HTTP/").next().unwrap_or_default()
}

fn ask(request: &str) -> Outcome {
    let untried = |errno: Errno| Outcome::Untried(format!("the way out is not served: {}", words(errno)));
    let socket = match reach() {
        Ok(socket) => socket,
        Err(errno) => return untried(errno),
    };
    if let Err(errno) = send(&socket, request.as_bytes(), SendFlags::NOSIGNAL) {
        return untried(errno);
    }
    match first_line(&socket) {
        Ok(Some(line)) => judge(&line),
        Ok(None) => Outcome::Untried("no answer in time".to_owned()),
        Err(Errno::CONNRESET) => Outcome::Held("closed".to_owned()),
        Err(errno) => untried(errno),
    }
}

/// It may come in pieces. None: not in time.
fn first_line(socket: &OwnedFd) -> Result<Option<Vec<u8>>, Errno> {
    let mut line = Vec::new();
    while line.len() < LONGEST_LINE && !line.contains(&b'\n') {
        let mut watched = [PollFd::new(socket, PollFlags::IN)];
        if rustix::event::poll(&mut watched, Some(&A_WHILE))? == 0 {
            return Ok(None);
        }
        let mut piece = [0u8; 64];
        match recv(socket, &mut piece, RecvFlags::empty())? {
            (0, _) => break,
            (n_read, _) => line.extend_from_slice(piece.get(..n_read).unwrap_or_default()),
        }
    }
    Ok(Some(line))
}

fn reach() -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    Ok(socket)
}

/// Only a refusal is one: an error on the way there means that it set out.
fn judge(answer: &[u8]) -> Outcome {
    let line = String::from_utf8_lossy(answer);
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)).map(str::trim);
    match status {
        None if answer.is_empty() => Outcome::Held("closed".to_owned()),
        Some(status @ ("400" | "403")) => Outcome::Held(format!("the proxy says {status}")),
        Some(status) => Outcome::Broken(format!("the proxy says {status}")),
        None => Outcome::Broken("something answers that is no proxy".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: &Outcome) {
        assert_eq!(&judge(answer.as_bytes()), expected, "{answer}");
    }

    #[test]
    fn only_a_refusal_holds() {
        let held = |text: &str| Outcome::Held(text.to_owned());
        let broken = |text: &str| Outcome::Broken(text.to_owned());
        check("", &held("closed"));
        check("HTTP/1.1 403 Forbidden\r\n", &held("the proxy says 403"));
        check("HTTP/1.0 400 Bad Request\r\n", &held("the proxy says 400"));
        check("HTTP/1.1 200 OK\r\n", &broken("the proxy says 200"));
        check("HTTP/1.1 502 Bad Gateway\r\n", &broken("the proxy says 502"));
        check("HTTP/1.1 4030 \r\n", &broken("the proxy says 4030"));
        check("SSH-2.0", &broken("something answers that is no proxy"));
        assert_eq!(first_words("CONNECT a:1 HTTP/1.1\r\n"), "CONNECT a:1");
    }
}

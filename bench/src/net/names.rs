//! A name server for one name. Our server asks it as it asks any other, so the look-up is measured too.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// The host of the bench's site.
pub(super) const HOST: &str = "bench.test";

const HEAD: usize = 12;
const TYPE_A: [u8; 2] = [0, 1];
const CLASS_IN: [u8; 2] = [0, 1];
/// Longer questions than this are not asked of us.
const MOST: usize = 1500;

/// Answers until it is dropped.
pub(super) struct Names {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Names {
    pub(super) fn open() -> Result<Names, Failure> {
        let lost = |problem: std::io::Error| {
            Failure::new(format!("no name server on loopback: {problem}"), "Bring the loopback interface up.")
        };
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(lost)?;
        let address = socket.local_addr().map_err(lost)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        std::thread::spawn(move || serve(&socket, &stopped));
        Ok(Names { address, stop })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the one who waits for a question.
        let _ =
            UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.send_to(&[], self.address));
    }
}

fn serve(socket: &UdpSocket, stop: &AtomicBool) {
    let mut buffer = [0; MOST];
    while let Ok((n_bytes, from)) = socket.recv_from(&mut buffer) {
        if stop.load(Ordering::Acquire) {
            return;
        }
        if let Some(reply) = buffer.get(..n_bytes).and_then(reply) {
            // Whoever lost the answer asks again.
            let _ = socket.send_to(&reply, from);
        }
    }
}

/// The host's address, no address for its other types, and "no such name" for every other name. Nothing for
/// bytes that are no question.
fn reply(query: &[u8]) -> Option<Vec<u8>> {
    let head = query.get(..HEAD)?;
    let [id_high, id_low, flags, _, 0, 1, ..] = *head else { return None };
    if flags & 0x80 != 0 {
        return None;
    }
    let (name, n_name) = name_at(query.get(HEAD..)?)?;
    let question = query.get(HEAD..HEAD + n_name + 4)?;
    let (kind, class) = (question.get(n_name..n_name + 2)?, question.get(n_name + 2..)?);
    let is_host = name.eq_ignore_ascii_case(HOST) && class == CLASS_IN;
    let is_answered = is_host && kind == TYPE_A;
    // An answer to a question that wished for recursion, from one who has it.
    let (code, n_answers) = (if is_host { 0 } else { 3 }, u8::from(is_answered));
    let mut out = vec![id_high, id_low, 0x80 | (flags & 0x01), 0x80 | code, 0, 1, 0, n_answers, 0, 0, 0, 0];
    out.extend(question);
    if is_answered {
        out.extend([0xc0, HEAD as u8]);
        out.extend(TYPE_A.iter().chain(&CLASS_IN));
        out.extend(60_u32.to_be_bytes());
        out.extend([0, 4]);
        out.extend(Ipv4Addr::LOCALHOST.octets());
    }
    Some(out)
}

/// The name and its length on the wire. A question has no pointers.
fn name_at(bytes: &[u8]) -> Option<(String, usize)> {
    let (mut labels, mut at) = (Vec::new(), 0);
    loop {
        let length = usize::from(*bytes.get(at)?);
        match length {
            0 => return Some((labels.join("."), at + 1)),
            1..=63 => labels.push(String::from_utf8_lossy(bytes.get(at + 1..at + 1 + length)?)),
            _ => return None,
        }
        at += 1 + length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(name: &str, kind: u8) -> Vec<u8> {
        let mut out = vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            out.push(label.len() as u8);
            out.extend(label.as_bytes());
        }
        out.extend([0, 0, kind, 0, 1]);
        out
    }

    #[track_caller]
    fn check(name: &str, kind: u8, code: u8, addresses: &[[u8; 4]]) {
        let asked = query(name, kind);
        let reply = reply(&asked).unwrap();
        assert_eq!(reply[..4], [7, 9, 0x81, 0x80 | code], "{name}");
        assert_eq!(reply[4..12], [0, 1, 0, addresses.len() as u8, 0, 0, 0, 0], "{name}");
        assert_eq!(reply[12..asked.len()], asked[12..], "{name}");
        let records = &reply[asked.len()..];
        let found: Vec<_> = records.chunks(16).map(|record| record[12..].to_vec()).collect();
        assert_eq!(found, addresses, "{name}");
    }

    #[test]
    fn one_name_has_one_address() {
        check("bench.test", 1, 0, &[[127, 0, 0, 1]]);
        check("BENCH.Test", 1, 0, &[[127, 0, 0, 1]]);
        check("bench.test", 28, 0, &[]);
        check("a.bench.test", 1, 3, &[]);
        check("bench.tes", 1, 3, &[]);
    }

    #[test]
    fn what_is_no_question_gets_no_answer() {
        let asked = query("bench.test", 1);
        for n_bytes in 0..asked.len() {
            assert_eq!(reply(&asked[..n_bytes]), None, "{n_bytes}");
        }
        let mut answer = asked.clone();
        answer[2] |= 0x80;
        assert_eq!(reply(&answer), None);
        let mut two = asked.clone();
        two[5] = 2;
        assert_eq!(reply(&two), None);
        let mut pointer = asked;
        pointer[12] = 0xc0;
        assert_eq!(reply(&pointer), None);
    }

    #[test]
    fn it_answers_over_the_wire() {
        let names = Names::open().unwrap();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let asked = query(HOST, 1);
        socket.send_to(&asked, names.address()).unwrap();
        let mut buffer = [0; 200];
        let n_bytes = socket.recv(&mut buffer).unwrap();
        assert_eq!(buffer[..n_bytes], reply(&asked).unwrap());
    }
}

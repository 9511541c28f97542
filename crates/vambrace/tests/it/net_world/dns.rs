//! A name server on loopback that says what a test tells it to, also what no honest one would.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;

/// What is said about a name.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    /// These addresses, both families, with this time to live.
    Addresses(Vec<IpAddr>, u32),
    /// Another name, and what is known of that one.
    Alias(String),
    /// Over UDP only that the answer is too long; the whole of it over TCP.
    OverTcp(Vec<IpAddr>),
    NoSuchName,
    /// The server's own failure.
    Failure,
    Nothing,
    Garbage,
}

pub(crate) fn addresses(list: &[&str]) -> Says {
    Says::Addresses(parsed(list), 60)
}

pub(crate) fn fleeting(list: &[&str]) -> Says {
    Says::Addresses(parsed(list), 0)
}

pub(crate) fn parsed(list: &[&str]) -> Vec<IpAddr> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

#[derive(Default)]
struct Book {
    /// One answer for each time the name is asked for; the last one stays.
    names: HashMap<String, Vec<Says>>,
    /// For names that are not in the book.
    otherwise: Option<Says>,
    asked: HashMap<(String, u16), usize>,
}

pub(crate) struct Dns {
    address: SocketAddr,
    book: Arc<Mutex<Book>>,
}

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
/// LIMIT: the largest question that is read.
const MOST: usize = 4096;

impl Dns {
    pub(crate) fn start() -> Dns {
        let (udp, tcp) = sockets();
        let address = udp.local_addr().unwrap();
        let book = Arc::new(Mutex::new(Book::default()));
        let own = Arc::clone(&book);
        thread::spawn(move || {
            let mut buffer = [0; MOST];
            while let Ok((length, from)) = udp.recv_from(&mut buffer) {
                if let Some(answer) = answer(&own, &buffer[..length], Carrier::Udp) {
                    let _ = udp.send_to(&answer, from);
                }
            }
        });
        let own = Arc::clone(&book);
        thread::spawn(move || {
            for stream in tcp.incoming().map_while(Result::ok) {
                let own = Arc::clone(&own);
                thread::spawn(move || serve(stream, &own));
            }
        });
        Dns { address, book }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same answer every time.
    pub(crate) fn name(&self, name: &str, says: Says) -> &Dns {
        self.in_turn(name, vec![says])
    }

    /// One answer after the other; the last one stays.
    pub(crate) fn in_turn(&self, name: &str, says: Vec<Says>) -> &Dns {
        self.book.lock().unwrap().names.insert(name.to_ascii_lowercase(), says);
        self
    }

    /// For every name that is not scripted.
    pub(crate) fn otherwise(&self, says: Says) -> &Dns {
        self.book.lock().unwrap().otherwise = Some(says);
        self
    }

    /// How often addresses of the name were asked for, the more asked family of the two.
    pub(crate) fn lookups(&self, name: &str) -> usize {
        let book = self.book.lock().unwrap();
        let of = |kind| book.asked.get(&(name.to_owned(), kind)).copied().unwrap_or(0);
        of(A).max(of(AAAA))
    }
}

/// Both on one port, as resolvers expect it.
fn sockets() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
            return (udp, tcp);
        }
    }
    panic!("no port is free for both UDP and TCP");
}

fn serve(mut stream: TcpStream, book: &Mutex<Book>) {
    let mut length = [0; 2];
    while stream.read_exact(&mut length).is_ok() {
        let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
        if stream.read_exact(&mut question).is_err() {
            return;
        }
        let Some(answer) = answer(book, &question, Carrier::Tcp) else { return };
        let size = u16::try_from(answer.len()).unwrap().to_be_bytes();
        if stream.write_all(&[&size[..], &answer].concat()).is_err() {
            return;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Carrier {
    Udp,
    Tcp,
}

struct Question<'a> {
    id: &'a [u8],
    name: String,
    kind: u16,
    /// Name, kind and class as they were sent.
    raw: &'a [u8],
}

fn question(message: &[u8]) -> Option<Question<'_>> {
    let mut place = 12;
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*message.get(place)?);
        place += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(message.get(place..place + length)?).to_ascii_lowercase());
        place += length;
    }
    let kind = u16::from_be_bytes(message.get(place..place + 2)?.try_into().ok()?);
    Some(Question { id: message.get(..2)?, name: labels.join("."), kind, raw: message.get(12..place + 4)? })
}

/// None: the server stays silent.
fn answer(book: &Mutex<Book>, message: &[u8], carrier: Carrier) -> Option<Vec<u8>> {
    let asked = question(message)?;
    let mut book = book.lock().unwrap();
    let n_before = {
        // A cut answer is the same question: it is asked again over TCP.
        let count = book.asked.entry((asked.name.clone(), asked.kind)).or_default();
        let n_before = *count;
        *count += 1;
        n_before
    };
    let says = match book.names.get(&asked.name) {
        Some(list) => list[n_before.min(list.len() - 1)].clone(),
        None => book.otherwise.clone().unwrap_or(Says::NoSuchName),
    };
    Some(match says {
        Says::Nothing => return None,
        Says::Garbage => [asked.id, &[0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0], asked.raw, &[0xff; 40]].concat(),
        Says::NoSuchName => written(&asked, 3, &[]),
        Says::Failure => written(&asked, 2, &[]),
        Says::OverTcp(_) if carrier == Carrier::Udp => {
            let mut cut = written(&asked, 0, &[]);
            cut[2] |= 2;
            cut
        }
        Says::OverTcp(list) => written(&asked, 0, &records(&asked.name, asked.kind, &list, 60)),
        Says::Addresses(list, ttl) => written(&asked, 0, &records(&asked.name, asked.kind, &list, ttl)),
        Says::Alias(target) => written(&asked, 0, &chain(&book, &asked, target)),
    })
}

/// The alias, what it stands for, and so on; at most a few, since an alias may lead to itself.
fn chain(book: &Book, asked: &Question<'_>, mut target: String) -> Vec<Vec<u8>> {
    let mut found = vec![record(&asked.name, CNAME, 60, &encoded(&target))];
    for _ in 0..8 {
        match book.names.get(&target).and_then(|list| list.last()) {
            Some(Says::Alias(next)) => {
                found.push(record(&target, CNAME, 60, &encoded(next)));
                target.clone_from(next);
            }
            Some(Says::Addresses(list, ttl)) => {
                found.extend(records(&target, asked.kind, list, *ttl));
                break;
            }
            _ => break,
        }
    }
    found
}

fn records(name: &str, kind: u16, list: &[IpAddr], ttl: u32) -> Vec<Vec<u8>> {
    list.iter()
        .filter_map(|address| match (address, kind) {
            (IpAddr::V4(address), A) => Some(record(name, A, ttl, &address.octets())),
            (IpAddr::V6(address), AAAA) => Some(record(name, AAAA, ttl, &address.octets())),
            _ => None,
        })
        .collect()
}

fn record(name: &str, kind: u16, ttl: u32, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap().to_be_bytes();
    [&encoded(name)[..], &kind.to_be_bytes(), &[0, 1], &ttl.to_be_bytes(), &length, data].concat()
}

fn encoded(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.').filter(|label| !label.is_empty()) {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.bytes());
    }
    bytes.push(0);
    bytes
}

fn written(asked: &Question<'_>, code: u8, records: &[Vec<u8>]) -> Vec<u8> {
    let count = u16::try_from(records.len()).unwrap().to_be_bytes();
    // An answer, recursion desired and available, no failure or this one.
    let head = [&[0x81, 0x80 | code, 0, 1], &count[..], &[0, 0, 0, 0]].concat();
    [asked.id, &head, asked.raw, &records.concat()].concat()
}

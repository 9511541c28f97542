//! A server of names that says what a test tells it to, over UDP and TCP.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Four,
    Six,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Udp,
    Tcp,
}

/// One question. `nth` counts those of the same name and family, from 0.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) name: String,
    pub(crate) family: Family,
    pub(crate) over: Over,
    pub(crate) nth: usize,
}

pub(crate) enum Said {
    Records {
        ttl: u32,
        records: Vec<Record>,
    },
    /// A response code without records.
    Code(u8),
    Nothing,
    /// "Ask by TCP."
    Cut,
    /// These bytes, behind the right id where there is one.
    Raw(Vec<u8>),
}

pub(crate) enum Record {
    Address(String, IpAddr),
    Alias(String, String),
}

pub(crate) struct Dns {
    pub(crate) at: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Dns {
    pub(crate) fn new(say: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> Dns {
        let (udp, tcp) = both();
        let at = udp.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let say = Arc::new(say);
        let (log, words) = (asked.clone(), say.clone());
        thread::spawn(move || {
            let mut question = [0; 2048];
            while let Ok((n, from)) = udp.recv_from(&mut question) {
                if let Some(reply) = reply(&question[..n], Over::Udp, &log, &*words) {
                    let _ = udp.send_to(&reply, from);
                }
            }
        });
        let (log, words) = (asked.clone(), say);
        thread::spawn(move || {
            for stream in tcp.incoming().flatten() {
                let (log, words) = (log.clone(), words.clone());
                thread::spawn(move || serve_tcp(stream, &log, &*words));
            }
        });
        Dns { at, asked }
    }

    /// The same addresses for both families, each in its own.
    pub(crate) fn fixed(addresses: &[&str]) -> Dns {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        Dns::new(move |asked| given(asked, 60, &addresses))
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn n_asked(&self, family: Family) -> usize {
        self.asked().iter().filter(|asked| asked.family == family).count()
    }
}

/// Those of the family that was asked for.
pub(crate) fn given(asked: &Asked, ttl: u32, addresses: &[IpAddr]) -> Said {
    let own = addresses.iter().filter(|address| address.is_ipv4() == (asked.family == Family::Four));
    let records = own.map(|address| Record::Address(asked.name.clone(), *address)).collect();
    Said::Records { ttl, records }
}

fn both() -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
            return (udp, tcp);
        }
    }
}

fn serve_tcp(mut stream: TcpStream, log: &Mutex<Vec<Asked>>, say: &dyn Fn(&Asked) -> Said) {
    let mut length = [0; 2];
    while stream.read_exact(&mut length).is_ok() {
        let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
        if stream.read_exact(&mut question).is_err() {
            return;
        }
        let Some(reply) = reply(&question, Over::Tcp, log, say) else {
            return;
        };
        let mut message = u16::try_from(reply.len()).unwrap().to_be_bytes().to_vec();
        message.extend(reply);
        if stream.write_all(&message).is_err() {
            return;
        }
    }
}

fn reply(
    question: &[u8],
    over: Over,
    log: &Mutex<Vec<Asked>>,
    say: &dyn Fn(&Asked) -> Said,
) -> Option<Vec<u8>> {
    let (name, end) = read_name(question)?;
    let family = match question.get(end..end + 2)? {
        [0, 1] => Family::Four,
        [0, 28] => Family::Six,
        _ => return None,
    };
    let asked = {
        let mut log = log.lock().unwrap();
        let nth = log.iter().filter(|one| one.name == name && one.family == family).count();
        log.push(Asked { name, family, over, nth });
        log.last().unwrap().clone()
    };
    let head = |flags: [u8; 2], n_records: usize| {
        let mut head = question[..2].to_vec();
        head.extend(flags);
        head.extend([0, 1]);
        head.extend(u16::try_from(n_records).unwrap().to_be_bytes());
        head.extend([0, 0, 0, 0]);
        head.extend(&question[12..end + 4]);
        head
    };
    match say(&asked) {
        Said::Nothing => None,
        Said::Code(code) => Some(head([0x81, 0x80 | code], 0)),
        Said::Cut => Some(head([0x83, 0x80], 0)),
        Said::Raw(bytes) => Some([&question[..2], &bytes].concat()),
        Said::Records { ttl, records } => {
            let mut message = head([0x81, 0x80], records.len());
            for record in records {
                write_record(&mut message, ttl, &record);
            }
            Some(message)
        }
    }
}

fn write_record(message: &mut Vec<u8>, ttl: u32, record: &Record) {
    let (name, kind, data) = match record {
        Record::Address(name, IpAddr::V4(address)) => (name, 1_u16, address.octets().to_vec()),
        Record::Address(name, IpAddr::V6(address)) => (name, 28, address.octets().to_vec()),
        Record::Alias(name, target) => (name, 5, labels(target)),
    };
    message.extend(labels(name));
    message.extend(kind.to_be_bytes());
    message.extend([0, 1]);
    message.extend(ttl.to_be_bytes());
    message.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    message.extend(data);
}

fn labels(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

/// The name that is asked for, without its last dot, and where it ends.
fn read_name(message: &[u8]) -> Option<(String, usize)> {
    let (mut labels, mut at) = (Vec::new(), 12);
    loop {
        let n = usize::from(*message.get(at)?);
        at += 1;
        if n == 0 {
            return Some((labels.join("."), at));
        }
        labels.push(String::from_utf8_lossy(message.get(at..at + n)?).to_ascii_lowercase());
        at += n;
    }
}

//! A web server on loopback that answers as a test wants, and remembers what it was asked.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query, as they were sent.
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub(crate) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }
}

pub(crate) enum Reply {
    Whole {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
    /// The same, in chunks of this many bytes.
    Chunked {
        headers: Vec<(String, String)>,
        body: Vec<u8>,
        size: usize,
    },
    /// These bytes, then the end.
    Raw(Vec<u8>),
    /// These bytes, then silence until the other side goes.
    Stalled(Vec<u8>),
    /// The first bytes, then the second ones again and again until the other side goes.
    Endless(Vec<u8>, Vec<u8>),
}

/// LIMIT: an endless answer ends when a client has swallowed this much, so that a broken one ends too.
const ENDLESS: usize = 1 << 30;
/// LIMIT: the longest head and body that are read.
const MOST_HEAD: u64 = 1 << 20;
const MOST_BODY: usize = 64 << 20;

pub(crate) fn page(kind: &str, body: impl AsRef<[u8]>) -> Reply {
    status(200, kind, body)
}

pub(crate) fn status(status: u16, kind: &str, body: impl AsRef<[u8]>) -> Reply {
    let headers = vec![("Content-Type".to_owned(), kind.to_owned())];
    Reply::Whole { status, headers, body: body.as_ref().to_vec() }
}

pub(crate) fn redirect(status: u16, location: &str) -> Reply {
    let headers = vec![("Location".to_owned(), location.to_owned())];
    Reply::Whole { status, headers, body: b"moved".to_vec() }
}

pub(crate) fn missing() -> Reply {
    status(404, "text/plain", "nothing here")
}

type Script = dyn Fn(&Request) -> Reply + Send + Sync;

pub(crate) struct Site {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Site {
    pub(crate) fn start(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Site {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, script): (_, Arc<Script>) = (Arc::clone(&requests), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
                thread::spawn(move || serve(&stream, &seen, &*script));
            }
        });
        Site { port, requests }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Everything that was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn forget(&self) {
        self.requests.lock().unwrap().clear();
    }
}

/// One request for each connection.
fn serve(stream: &TcpStream, seen: &Mutex<Vec<Request>>, script: &Script) {
    let mut reader = BufReader::new(stream);
    let Some(request) = read(&mut reader, stream) else { return };
    seen.lock().unwrap().push(request.clone());
    // A client that has seen enough goes away.
    let _ = write(stream, &request, script(&request));
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = std::io::copy(&mut reader, &mut std::io::sink());
}

fn read(reader: &mut BufReader<&TcpStream>, mut stream: &TcpStream) -> Option<Request> {
    let mut head = reader.by_ref().take(MOST_HEAD);
    let mut line = String::new();
    head.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        head.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { method, target, headers, body: Vec::new() };
    if request.header("expect").is_some() {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    request.body = if request.header("transfer-encoding").is_some() {
        unchunked(reader)?
    } else {
        let length = request.header("content-length").map_or(0, |text| text.parse().unwrap());
        assert!(length <= MOST_BODY, "{length}");
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        body
    };
    Some(request)
}

fn unchunked(reader: &mut BufReader<&TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let size = usize::from_str_radix(line.trim(), 16).ok()?;
        assert!(body.len() + size <= MOST_BODY);
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk).ok()?;
        body.extend(&chunk[..size]);
        if size == 0 {
            return Some(body);
        }
    }
}

fn head(status: u16, headers: &[(String, String)]) -> String {
    let mut text = format!("HTTP/1.1 {status} Said\r\nConnection: close\r\n");
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text
}

fn write(mut stream: &TcpStream, request: &Request, reply: Reply) -> std::io::Result<()> {
    match reply {
        Reply::Whole { status, headers, body } => {
            let head = format!("{}Content-Length: {}\r\n\r\n", head(status, &headers), body.len());
            stream.write_all(head.as_bytes())?;
            if request.method == "HEAD" { Ok(()) } else { stream.write_all(&body) }
        }
        Reply::Chunked { headers, body, size } => {
            let head = format!("{}Transfer-Encoding: chunked\r\n\r\n", head(200, &headers));
            stream.write_all(head.as_bytes())?;
            for chunk in body.chunks(size) {
                let line = format!("{:x}\r\n", chunk.len());
                stream.write_all(&[line.as_bytes(), chunk, b"\r\n"].concat())?;
            }
            stream.write_all(b"0\r\n\r\n")
        }
        Reply::Raw(bytes) => stream.write_all(&bytes),
        Reply::Stalled(bytes) => {
            stream.write_all(&bytes)?;
            stream.read(&mut [0; 1]).map(|_| ())
        }
        Reply::Endless(first, again) => {
            stream.write_all(&first)?;
            let mut n_sent = 0;
            while n_sent < ENDLESS {
                stream.write_all(&again)?;
                n_sent += again.len();
            }
            Ok(())
        }
    }
}

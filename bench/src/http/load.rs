//! A client of keep-alive connections: as little of it as possible, so that the servers are measured and not it.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::request::Request;

/// LIMIT: what no answer here comes near; a longer one is a fault.
const LONGEST: usize = 1 << 20;
/// LIMIT: a server that does not answer ends the run.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, received: Vec::with_capacity(16 << 10) })
    }

    /// One request and its whole answer, which must be what was asked for.
    pub(super) async fn ask(&mut self, request: &Request) -> io::Result<()> {
        self.stream.write_all(&request.bytes).await?;
        self.received.clear();
        loop {
            if let Some(answer) = parse(&self.received).map_err(strange)? {
                return check(&answer, request);
            }
            if self.received.len() > LONGEST {
                return Err(strange("an answer without an end".to_owned()));
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                let told = String::from_utf8_lossy(&self.received).into_owned();
                return Err(strange(format!("closed before the answer was whole: {told}")));
            }
        }
    }
}

fn check(answer: &Answer<'_>, request: &Request) -> io::Result<()> {
    let wanted = &request.holds;
    let holds = |body: &[u8]| wanted.is_empty() || memmem::find(body, wanted).is_some();
    let as_asked = answer.status == 200
        && match &answer.body {
            Body::Whole(body) => holds(body),
            Body::Pieces(body) => holds(body),
        };
    if as_asked {
        return Ok(());
    }
    let body = match &answer.body {
        Body::Whole(body) => String::from_utf8_lossy(body),
        Body::Pieces(body) => String::from_utf8_lossy(body),
    };
    Err(strange(format!("status {}: {body}", answer.status)))
}

fn strange(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[derive(Debug, PartialEq, Eq)]
struct Answer<'a> {
    status: u16,
    body: Body<'a>,
}

#[derive(Debug, PartialEq, Eq)]
enum Body<'a> {
    Whole(&'a [u8]),
    /// It came in chunks.
    Pieces(Vec<u8>),
}

/// The answer, once all of it is there and nothing beyond.
fn parse(received: &[u8]) -> Result<Option<Answer<'_>>, String> {
    let Some(end) = memmem::find(received, b"\r\n\r\n") else { return Ok(None) };
    let (head, rest) = received.split_at(end);
    let rest = rest.get(4..).unwrap_or_default();
    let head = std::str::from_utf8(head).map_err(|_| "a head that is no text".to_owned())?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| format!("no status: {head}"))?;
    let mut length = None;
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<usize>().ok();
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Ok(unchunk(rest)?.map(|body| Answer { status, body: Body::Pieces(body) }));
        }
    }
    let length = length.ok_or_else(|| format!("no length: {head}"))?;
    match rest.len() {
        n if n < length => Ok(None),
        n if n == length => Ok(Some(Answer { status, body: Body::Whole(rest) })),
        n => Err(format!("{n} bytes where {length} were announced")),
    }
}

/// The body, once its last chunk is there.
fn unchunk(mut rest: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let mut body = Vec::new();
    loop {
        let Some(end) = memmem::find(rest, b"\r\n") else { return Ok(None) };
        let (size, after) = rest.split_at(end);
        let size = std::str::from_utf8(size).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.filter(|size| *size <= LONGEST).ok_or("a chunk without a size")?;
        let chunk = after.get(2..).unwrap_or_default();
        let Some(after) = chunk.get(size + 2..) else { return Ok(None) };
        if size == 0 {
            return if after.is_empty() { Ok(Some(body)) } else { Err("bytes after the last chunk".into()) };
        }
        body.extend_from_slice(chunk.get(..size).unwrap_or_default());
        rest = after;
    }
}

/// So many connections, each with the same request so many times. They are opened before the clock starts.
pub(super) async fn together(
    address: SocketAddr,
    request: &Request,
    n_connections: usize,
    n_calls: usize,
) -> io::Result<Duration> {
    let mut connections = Vec::with_capacity(n_connections);
    for _ in 0..n_connections {
        connections.push(Connection::open(address).await?);
    }
    let start = Instant::now();
    let mut all = JoinSet::new();
    for mut connection in connections {
        let request = request.clone();
        all.spawn(async move {
            for _ in 0..n_calls {
                connection.ask(&request).await?;
            }
            io::Result::Ok(())
        });
    }
    let done = async {
        while let Some(ended) = all.join_next().await {
            ended.map_err(io::Error::other)??;
        }
        io::Result::Ok(start.elapsed())
    };
    let patience = PATIENCE + Duration::from_millis(n_calls as u64);
    tokio::time::timeout(patience, done).await.map_err(|_| strange("no answer".to_owned()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(received: &str, expected: Option<(u16, &str)>) {
        let parsed = parse(received.as_bytes()).unwrap();
        let parsed = parsed.map(|answer| match answer.body {
            Body::Whole(body) => (answer.status, body.to_vec()),
            Body::Pieces(body) => (answer.status, body),
        });
        assert_eq!(parsed, expected.map(|(status, body)| (status, body.as_bytes().to_vec())), "{received:?}");
    }

    #[test]
    fn an_answer_is_whole_or_not_yet() {
        check("", None);
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", None);
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", None);
        check("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab", Some((200, "ab")));
        check("HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n", Some((429, "")));
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        check(&format!("{chunked}2\r\nab\r\n"), None);
        check(&format!("{chunked}2\r\nab\r\n0\r\n"), None);
        check(&format!("{chunked}2\r\nab\r\na\r\n0123456789\r\n0\r\n\r\n"), Some((200, "ab0123456789")));
    }

    #[test]
    fn more_than_announced_is_no_answer() {
        assert!(parse(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc").is_err());
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\nabc").is_err());
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert!(parse(format!("{chunked}0\r\n\r\nx").as_bytes()).is_err());
        assert!(parse(format!("{chunked}zz\r\n").as_bytes()).is_err());
    }
}

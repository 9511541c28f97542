//! The web site of the bench: three pages on loopback, over connections that stay open.
//!
//! A thread per connection and answers that lie ready, so that what is measured is whoever asks.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::failure::Failure;
use crate::sample;

/// More than any contender opens at once.
const MOST_CONNECTIONS: usize = 256;
const MOST_HEAD: u64 = 16 << 10;
/// A connection that nobody uses between two of its turns.
const IDLE: Duration = Duration::from_secs(120);

/// Stands at the end of every page: who has it has read the whole page.
pub(super) const END: &str = "the last line of the page";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Page {
    /// 10 KB of HTML.
    Small,
    /// 1 MB of text; a little less, because mcp-server-fetch gives at most 999,999 characters.
    Middle,
    /// 10 MB of text, which our limit lets through and the other server's does not.
    Large,
}

impl Page {
    pub(super) const ALL: [Page; 3] = [Page::Small, Page::Middle, Page::Large];

    pub(super) fn path(self) -> &'static str {
        match self {
            Page::Small => "/page.html",
            Page::Middle => "/middle.txt",
            Page::Large => "/large.txt",
        }
    }

    pub(super) const fn n_bytes(self) -> usize {
        match self {
            Page::Small => 10_240,
            Page::Middle => 999_000,
            Page::Large => 10_000_000,
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Page::Small => "text/html; charset=utf-8",
            Page::Middle | Page::Large => "text/plain; charset=utf-8",
        }
    }

    pub(super) fn body(self) -> String {
        match self {
            Page::Small => article(self.n_bytes()),
            Page::Middle | Page::Large => {
                let text = sample::text(31, self.n_bytes() - END.len() - 1);
                format!("{text}{END}\n")
            }
        }
    }
}

/// A page as a person writes one: a heading, a menu, paragraphs with links, and a script that nobody reads.
fn article(n_bytes: usize) -> String {
    const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>A page to fetch</title>\n\
        <style>body { margin: 2em }</style><script>window.loaded = true;</script></head>\n\
        <body><nav><a href=\"/\">Home</a> <a href=\"/about\">About</a></nav>\n\
        <article><h1>A page to fetch</h1>\n";
    let tail = format!("<p>This is {END}.</p>\n</article></body></html>\n");
    let mut out = HEAD.to_owned();
    let words = sample::text(32, n_bytes).replace("->", "to");
    for (place, line) in words.lines().enumerate() {
        let line = line.trim();
        let paragraph = match place % 8 {
            0 => format!("<h2>Part {place}</h2>\n<p>{line}</p>\n"),
            3 => format!("<p>{line} See <a href=\"/part/{place}\">part {place}</a>.</p>\n"),
            _ => format!("<p>{line}</p>\n"),
        };
        if out.len() + paragraph.len() + tail.len() + "<!---->\n".len() > n_bytes {
            break;
        }
        out += &paragraph;
    }
    let rest = n_bytes.saturating_sub(out.len() + tail.len() + "<!---->\n".len());
    out + "<!--" + &"x".repeat(rest) + "-->\n" + &tail
}

/// Answers until it is dropped.
pub(super) struct Site {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Site {
    pub(super) fn open() -> Result<Site, Failure> {
        let lost = |problem: std::io::Error| {
            Failure::new(format!("no web site on loopback: {problem}"), "Bring the loopback interface up.")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(lost)?;
        let address = listener.local_addr().map_err(lost)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let answers = Arc::new(Answers::new());
        std::thread::spawn(move || accept(&listener, &answers, &stopped));
        Ok(Site { address, stop })
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// For those who are given the address itself.
    pub(super) fn plain(&self, page: Page) -> String {
        format!("http://{}{}", self.address, page.path())
    }
}

impl Drop for Site {
    /// Who waits for the next connection learns of the end from one.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
    }
}

fn accept(listener: &TcpListener, answers: &Arc<Answers>, stop: &AtomicBool) {
    let n_open = Arc::new(AtomicUsize::new(0));
    for connection in listener.incoming() {
        if stop.load(Ordering::Acquire) {
            return;
        }
        let Ok(connection) = connection else { continue };
        if n_open.fetch_add(1, Ordering::AcqRel) >= MOST_CONNECTIONS {
            n_open.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let (answers, n_open) = (Arc::clone(answers), Arc::clone(&n_open));
        std::thread::spawn(move || {
            // Whoever hangs up in the middle has itself to tell why.
            let _ = serve(connection, &answers);
            n_open.fetch_sub(1, Ordering::AcqRel);
        });
    }
}

/// Whole answers, head and body.
struct Answers {
    pages: [(Page, Vec<u8>); 3],
    robots: Vec<u8>,
    unknown: Vec<u8>,
}

impl Answers {
    fn new() -> Answers {
        let page = |page: Page| (page, answer("200 OK", page.content_type(), &page.body()));
        Answers {
            pages: Page::ALL.map(page),
            robots: answer("200 OK", "text/plain", "User-agent: *\nAllow: /\n"),
            unknown: answer("404 Not Found", "text/plain", "There is no such page.\n"),
        }
    }

    fn of(&self, target: &str) -> &[u8] {
        let path = target.split('?').next().unwrap_or_default();
        let page = self.pages.iter().find(|(page, _)| page.path() == path);
        match (path, page) {
            (_, Some((_, answer))) => answer,
            ("/robots.txt", None) => &self.robots,
            (_, None) => &self.unknown,
        }
    }
}

fn answer(status: &str, content_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body.as_bytes()].concat()
}

/// One request after the other until the other side has enough. Nothing here has a body to read.
fn serve(connection: TcpStream, answers: &Answers) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    connection.set_read_timeout(Some(IDLE))?;
    connection.set_write_timeout(Some(IDLE))?;
    let mut writer = connection.try_clone()?;
    let mut reader = BufReader::new(connection);
    let mut line = Vec::new();
    loop {
        let (mut target, mut n_left, mut closes) = (None, MOST_HEAD, false);
        loop {
            line.clear();
            let n_read = reader.by_ref().take(n_left).read_until(b'\n', &mut line)?;
            if n_read == 0 || !line.ends_with(b"\n") {
                return Ok(());
            }
            n_left -= n_read as u64;
            let text = String::from_utf8_lossy(&line);
            match (text.trim_end(), &target) {
                ("", Some(_)) => break,
                ("", None) => return Ok(()),
                (first, None) => target = first.split(' ').nth(1).map(str::to_owned),
                (header, Some(_)) => closes |= header.eq_ignore_ascii_case("connection: close"),
            }
        }
        writer.write_all(answers.of(target.as_deref().unwrap_or_default()))?;
        if closes {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_promised_length_and_an_end() {
        for page in Page::ALL {
            let body = page.body();
            assert_eq!(body.len(), page.n_bytes(), "{page:?}");
            assert_eq!(body.matches(END).count(), 1, "{page:?}");
        }
        let html = Page::Small.body();
        assert!(html.ends_with("</html>\n") && html.matches("<p>").count() > 20);
    }

    /// Two requests in a row over one connection, and the bodies that came.
    #[track_caller]
    fn check(target: &str, status: &str, n_bytes: usize) {
        let site = Site::open().unwrap();
        let mut connection = BufReader::new(TcpStream::connect(site.address).unwrap());
        for _ in 0..2 {
            let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n");
            connection.get_mut().write_all(request.as_bytes()).unwrap();
            let mut head = Vec::new();
            loop {
                let mut line = String::new();
                connection.read_line(&mut line).unwrap();
                if line == "\r\n" {
                    break;
                }
                head.push(line.trim_end().to_owned());
            }
            assert_eq!(head[0], format!("HTTP/1.1 {status}"), "{target}");
            assert!(head.contains(&format!("Content-Length: {n_bytes}")), "{target}: {head:?}");
            let mut body = vec![0; n_bytes];
            connection.read_exact(&mut body).unwrap();
        }
    }

    #[test]
    fn a_connection_serves_many_requests() {
        for page in Page::ALL {
            check(page.path(), "200 OK", page.n_bytes());
        }
        check("/page.html?17", "200 OK", 10_240);
        check("/robots.txt", "200 OK", 23);
        check("/page.htm", "404 Not Found", 23);
    }

    #[track_caller]
    fn check_hangs_up(request: &[u8], n_answers: usize) {
        let site = Site::open().unwrap();
        let mut connection = TcpStream::connect(site.address).unwrap();
        // The site may hang up before all is written.
        let _ = connection.write_all(request);
        let _ = connection.shutdown(std::net::Shutdown::Write);
        let mut text = Vec::new();
        let _ = connection.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        assert_eq!(text.matches("HTTP/1.1 200 OK").count(), n_answers, "{request:?}");
    }

    #[test]
    fn it_hangs_up_on_what_is_no_request_and_when_asked_to() {
        check_hangs_up(b"", 0);
        check_hangs_up(b"\r\n", 0);
        check_hangs_up(b"GET /page.html HTTP/1.1\r\nHost: x\r\n", 0);
        let twice = b"GET /page.html HTTP/1.1\r\n\r\nGET /page.html HTTP/1.1\r\n\r\n";
        check_hangs_up(twice, 2);
        let once = b"GET /page.html HTTP/1.1\r\nConnection: close\r\n\r\nGET /page.html HTTP/1.1\r\n\r\n";
        check_hangs_up(once, 1);
        let mut long = b"GET /page.html HTTP/1.1\r\nA: ".to_vec();
        long.resize(20_000, b'a');
        long.extend(b"\r\n\r\n");
        check_hangs_up(&long, 0);
    }
}

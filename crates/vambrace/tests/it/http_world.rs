//! A running `vambrace serve` on a loopback port of its own, and a client that sends exactly what a test
//! wants sent.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use serde_json::Value;

use crate::support::{PATIENCE, World};

/// Ends the server it started, whatever a test did.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The key that the first start made.
    pub(crate) token: String,
    log: Arc<(Mutex<Heard>, Condvar)>,
    out: Arc<Mutex<String>>,
}

/// An answer as it came.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }
}

/// What was said on standard error.
#[derive(Default)]
struct Heard {
    text: String,
    /// Nobody can say more.
    is_over: bool,
}

/// High enough that no test meets it unless it wants to.
pub(crate) const NO_LIMIT: &str = "server: {rate_limit: {per_second: 1000000, burst: 1000000}}\n";

impl Served {
    /// With the limits out of the way.
    #[track_caller]
    pub(crate) fn start(world: &World) -> Served {
        Served::with_config(world, NO_LIMIT)
    }

    /// `config` is the operator's file.
    #[track_caller]
    pub(crate) fn with_config(world: &World, config: &str) -> Served {
        let file = world.beside("operator.yaml", config);
        Served::with_args(world, &["--config", &file])
    }

    #[track_caller]
    pub(crate) fn with_args(world: &World, args: &[&str]) -> Served {
        Served::with_flags(world, args, &["--listen", "127.0.0.1:0"])
    }

    /// `flags` are those of `serve`.
    #[track_caller]
    pub(crate) fn with_flags(world: &World, args: &[&str], flags: &[&str]) -> Served {
        let mut command = world.command(args);
        command.arg("serve").args(flags);
        Served::started(world, command)
    }

    #[track_caller]
    pub(crate) fn started(world: &World, mut command: Command) -> Served {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new((Mutex::new(Heard::default()), Condvar::new()));
        let told = Arc::clone(&log);
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let hearing = thread::spawn(move || {
            let mut line = String::new();
            while errors.read_line(&mut line).is_ok_and(|n| n > 0) {
                told.0.lock().unwrap().text.push_str(&line);
                told.1.notify_all();
                line.clear();
            }
            told.0.lock().unwrap().is_over = true;
            told.1.notify_all();
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let out = Arc::new(Mutex::new(String::new()));
        let address = loop {
            let mut line = String::new();
            if lines.read_line(&mut line).unwrap() == 0 {
                let ended = child.wait();
                hearing.join().unwrap();
                panic!("the server ended with {ended:?}: {}", log.0.lock().unwrap().text);
            }
            out.lock().unwrap().push_str(&line);
            if let Some((_, address)) = line.trim().rsplit_once("http://") {
                break address.parse().unwrap_or_else(|_| panic!("{line}"));
            }
        };
        let rest = Arc::clone(&out);
        thread::spawn(move || {
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|n| n > 0) {
                rest.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        let token = std::fs::read_to_string(world.state().join("token")).unwrap_or_default();
        Served { child, address, token: token.trim().to_owned(), log, out }
    }

    /// What it said on standard error so far.
    pub(crate) fn log(&self) -> String {
        self.log.0.lock().unwrap().text.clone()
    }

    /// What it said on standard output so far.
    pub(crate) fn out(&self) -> String {
        self.out.lock().unwrap().clone()
    }

    /// Waits until it has said this on standard error.
    #[track_caller]
    pub(crate) fn hear(&self, words: &str) {
        let (log, more) = &*self.log;
        let missing = |heard: &mut Heard| !heard.text.contains(words);
        let (heard, waited) = more.wait_timeout_while(log.lock().unwrap(), PATIENCE, missing).unwrap();
        assert!(!waited.timed_out(), "`{words}` was not said: {}", heard.text);
    }

    /// Asks it to end, and does not wait.
    pub(crate) fn tell_to_end(&self) {
        let _ = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status();
    }

    /// Waits until nobody listens any more.
    pub(crate) fn wait_until_closed(&self) {
        while TcpStream::connect(self.address).is_ok() {
            thread::yield_now();
        }
    }

    #[track_caller]
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// One request on a connection of its own.
    #[track_caller]
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() || method == "POST" {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.raw(&[head.as_bytes(), body].concat())
    }

    /// Bytes as they are; the answer until the server closes.
    #[track_caller]
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server that refuses early closes while we still write.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let heard = stream.read_to_end(&mut answer);
        let in_time = heard.as_ref().err().is_none_or(|error| error.kind() != ErrorKind::WouldBlock);
        assert!(in_time, "no answer in time: {}", self.log());
        read(&answer)
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[("X-API-Key", &self.token)], b"")
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_as(&[("X-API-Key", &self.token)], path, body)
    }

    #[track_caller]
    pub(crate) fn post_as(&self, who: &[(&str, &str)], path: &str, body: &Value) -> Answer {
        let mut headers = vec![("Content-Type", "application/json")];
        headers.extend_from_slice(who);
        self.send("POST", path, &headers, body.to_string().as_bytes())
    }

    /// Asks it to end, as a service manager does, and returns its exit code.
    #[track_caller]
    pub(crate) fn end(&mut self) -> i32 {
        self.tell_to_end();
        self.wait()
    }

    /// Its exit code, once it has ended and all that it said on standard error was heard.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> i32 {
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let (log, more) = &*self.log;
        let goes_on = |heard: &mut Heard| !heard.is_over;
        let (heard, waited) = more.wait_timeout_while(log.lock().unwrap(), PATIENCE, goes_on).unwrap();
        assert!(!waited.timed_out(), "somebody else still speaks: {}", heard.text);
        code
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
pub(crate) fn read(answer: &[u8]) -> Answer {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n");
    let Some(end) = end else { return Answer { status: 0, headers: Vec::new(), body: answer.to_vec() } };
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let mut lines = head.lines();
    let status =
        lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok()).unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut body = answer[end + 4..].to_vec();
    if headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked") {
        body = unchunked(&body);
    }
    Answer { status, headers, body }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = String::from_utf8_lossy(&rest[..end]);
        let size = usize::from_str_radix(size.split(';').next().unwrap().trim(), 16).unwrap_or(0);
        let from = end + 2;
        if size == 0 || rest.len() < from + size {
            break;
        }
        body.extend_from_slice(&rest[from..from + size]);
        rest = &rest[(from + size + 2).min(rest.len())..];
    }
    body
}

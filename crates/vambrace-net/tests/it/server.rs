//! A server that does with each connection what a test tells it to.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// One connection. `nth` counts them from 0.
pub(crate) struct Guest {
    pub(crate) nth: usize,
    pub(crate) stream: TcpStream,
    log: Arc<Mutex<Vec<String>>>,
}

impl Guest {
    /// The next request with its body, or `None` where the other side ended.
    pub(crate) fn request(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(b"\r\n\r\n") {
            if self.stream.read(&mut byte).ok()? == 0 {
                return None;
            }
            bytes.push(byte[0]);
        }
        let head = String::from_utf8(bytes).unwrap();
        let length = head.to_ascii_lowercase().lines().find_map(|line| {
            line.strip_prefix("content-length:").map(|length| length.trim().parse::<usize>().unwrap())
        });
        let mut body = vec![0; length.unwrap_or(0)];
        self.stream.read_exact(&mut body).ok()?;
        let request = head + &String::from_utf8(body).unwrap();
        self.log.lock().unwrap().push(request.clone());
        Some(request)
    }

    /// Whether the other side is still there.
    pub(crate) fn say(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Until the other side has had enough.
    pub(crate) fn wait_for_end(&mut self) {
        let mut buffer = [0; 4096];
        while self.stream.read(&mut buffer).is_ok_and(|n| n > 0) {}
    }
}

pub(crate) struct Server {
    pub(crate) at: SocketAddr,
    connections: Arc<Mutex<usize>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn at(address: &str, serve: impl Fn(Guest) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind(address).unwrap();
        let at = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (count, log, serve) = (connections.clone(), requests.clone(), Arc::new(serve));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let nth = {
                    let mut count = count.lock().unwrap();
                    *count += 1;
                    *count - 1
                };
                let (log, serve) = (log.clone(), serve.clone());
                thread::spawn(move || serve(Guest { nth, stream, log }));
            }
        });
        Server { at, connections, requests }
    }

    /// Reads a request, says this, ends.
    pub(crate) fn once(answer: impl Into<Vec<u8>>) -> Server {
        let answer = answer.into();
        Server::at("127.0.0.1:0", move |mut guest| {
            guest.request();
            guest.say(&answer);
        })
    }

    /// Answers every request of a connection with this.
    pub(crate) fn always(address: &str, answer: impl Into<Vec<u8>>) -> Server {
        let answer = answer.into();
        Server::at(address, move |mut guest| while guest.request().is_some() && guest.say(&answer) {})
    }

    pub(crate) fn port(&self) -> u16 {
        self.at.port()
    }

    pub(crate) fn n_connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// An answer with its length.
pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

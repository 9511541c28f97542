use std::collections::{HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::timeout;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use vambrace_policy::Epoch;
use vambrace_policy::url::{AllowEntry, Host, HostPattern, UrlPolicy, UrlSettings};

use crate::tls::Trust;
use crate::{Credentials, Egress, LocalAuthority, Redirects, Serving, Web, WebSettings};

/// Names and their answers, one for each question; the last stays.
pub(super) type Names = HashMap<&'static str, VecDeque<Vec<Ipv4Addr>>>;

pub(super) const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// `site.test` is this machine, whatever else is known.
pub(super) fn names(more: &[(&'static str, &[&[Ipv4Addr]])]) -> Names {
    let mut names: Names = HashMap::new();
    for name in ["site.test", "other.test", "a.wild.test"] {
        names.insert(name, VecDeque::from([vec![LOOPBACK]]));
    }
    for (name, answers) in more {
        names.insert(name, answers.iter().map(|answer| answer.to_vec()).collect());
    }
    names
}

/// Its address, and the names it was asked for. About `silent.…` it never says anything.
async fn name_server(mut names: Names) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let socket = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut question = [0; 1500];
        while let Ok((n_bytes, peer)) = socket.recv_from(&mut question).await {
            let question = &question[..n_bytes];
            let mut name = String::new();
            let mut at = 12;
            while question[at] != 0 {
                let end = at + 1 + usize::from(question[at]);
                name = format!("{name}{}.", String::from_utf8_lossy(&question[at + 1..end]).to_lowercase());
                at = end;
            }
            log.lock().unwrap().push(name.trim_end_matches('.').to_owned());
            if name.starts_with("silent.") {
                continue;
            }
            let is_ipv4 = question[at + 1..at + 3] == [0, 1];
            let answers = names.get_mut(name.trim_end_matches('.')).filter(|_| is_ipv4);
            let found = answers.map_or(Vec::new(), |answers| match answers.len() {
                1 => answers[0].clone(),
                _ => answers.pop_front().unwrap_or_default(),
            });
            let mut reply = question[..2].to_vec();
            reply.extend([0x81, 0x80, 0, 1, 0, found.len() as u8, 0, 0, 0, 0]);
            reply.extend(&question[12..at + 5]);
            for address in found {
                reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                reply.extend(address.octets());
            }
            socket.send_to(&reply, peer).await.unwrap();
        }
    });
    (address, asked)
}

pub(super) struct World {
    pub(super) names: Names,
    pub(super) credentials: Credentials,
    pub(super) authority: Option<LocalAuthority>,
    /// Who signs the certificates of servers.
    pub(super) trusted: Option<String>,
}

impl Default for World {
    fn default() -> World {
        World { names: names(&[]), credentials: Credentials::default(), authority: None, trusted: None }
    }
}

pub(super) struct Cage {
    pub(super) egress: Egress,
    pub(super) serving: Option<Serving>,
    pub(super) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

pub(super) fn loopback(host: HostPattern, port: u16) -> AllowEntry {
    AllowEntry { port: Some(port), ..AllowEntry::plain(host) }.with_cidr("127.0.0.0/8").unwrap()
}

pub(super) fn named(name: &str) -> HostPattern {
    HostPattern::Exactly(Host::Name(name.to_owned()))
}

impl Cage {
    pub(super) async fn new(world: World, granted: Vec<AllowEntry>) -> Cage {
        let (dns_server, asked) = name_server(world.names).await;
        let settings = WebSettings {
            policy: UrlPolicy::new(UrlSettings::default()),
            dns_server: Some(dns_server),
            timeout: Duration::from_secs(30),
            max_body_bytes: 1 << 20,
            redirects: Redirects::Checked,
            credentials: world.credentials,
            authority: world.authority,
        };
        let mut web = Web::new(settings, Epoch(1));
        if let Some(pem) = world.trusted {
            web = web.trusting(Trust::only(roots(&pem)));
        }
        let listener = std::net::TcpListener::bind((LOOPBACK, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let egress = Egress::over(Arc::new(web), granted);
        let serving = Some(egress.serve(OwnedFd::from(listener)).unwrap());
        Cage { egress, serving, address, asked }
    }

    /// The names that somebody was asked about.
    pub(super) fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.sort();
        asked.dedup();
        asked
    }

    /// Until somebody was asked about a name.
    pub(super) async fn has_asked(&self, name: &str) {
        within(async {
            while !self.asked().iter().any(|asked| asked == name) {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }

    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Everything that comes back until the end. The request has to ask for the end.
    pub(super) async fn ask(&self, request: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // The proxy may have ended it before all was written.
        let _ = stream.write_all(request.as_ref()).await;
        to_end(&mut stream).await
    }

    pub(super) async fn get(&self, url: &str) -> String {
        self.ask(format!("GET {url} HTTP/1.1\r\nConnection: close\r\n\r\n")).await
    }

    /// A tunnel, or what was said instead.
    pub(super) async fn tunnel(&self, to: &str) -> Result<TcpStream, String> {
        let mut stream = self.connect().await;
        stream.write_all(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n").as_bytes()).await.unwrap();
        let head = head(&mut stream).await;
        if head.starts_with("HTTP/1.1 200 ") {
            return Ok(stream);
        }
        Err(head + &within(body(&mut stream)).await)
    }
}

pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), future).await.expect("in time")
}

/// What follows a head that was refused: one line of it is enough.
async fn body(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 4096];
    let n_bytes = stream.read(&mut bytes).await.unwrap_or(0);
    String::from_utf8_lossy(&bytes[..n_bytes]).into_owned()
}

pub(super) async fn to_end(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let _ = within(stream.read_to_end(&mut bytes)).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) async fn head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        match within(stream.read_u8()).await {
            Ok(byte) => bytes.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) fn roots(pem: &str) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    roots
}

/// TLS as a program speaks it.
pub(super) async fn dress(
    stream: TcpStream,
    name: &str,
    pem: &str,
) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots(pem))
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    within(TlsConnector::from(Arc::new(config)).connect(name, stream)).await
}

/// A server that answers every connection once, and remembers what it was sent.
pub(super) struct Site {
    pub(super) port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(super) async fn new(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Site {
        Site::with(None, answer).await
    }

    pub(super) async fn tls(
        authority: &LocalAuthority,
        host: &Host,
        answer: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Site {
        Site::with(Some(TlsAcceptor::from(authority.server(host).unwrap())), answer).await
    }

    async fn with(tls: Option<TlsAcceptor>, answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Site {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, log, answer) = (tls.clone(), Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(async move {
                    match tls {
                        None => once(stream, &log, &*answer).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                once(stream, &log, &*answer).await;
                            }
                        }
                    }
                });
            }
        });
        Site { port, seen }
    }

    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn once(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    log: &Mutex<Vec<String>>,
    answer: &(dyn Fn(&str) -> String + Send + Sync),
) {
    let mut request = head(&mut stream).await;
    let lower = request.to_ascii_lowercase();
    let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
    if let Some(length) = length {
        let mut body = vec![0; length.parse().unwrap()];
        let _ = stream.read_exact(&mut body).await;
        request.push_str(&String::from_utf8_lossy(&body));
    }
    if lower.contains("transfer-encoding: chunked") {
        while !request.ends_with("0\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => request.push(char::from(byte)),
                Err(_) => return,
            }
        }
    }
    let answer = answer(&request);
    log.lock().unwrap().push(request);
    // Piece by piece, so that nothing arrives as it was written.
    for piece in answer.as_bytes().chunks(7) {
        if stream.write_all(piece).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
    let _ = stream.shutdown().await;
}

pub(super) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Counts connections, and that has to stay zero.
pub(super) struct Trap(std::net::TcpListener);

impl Trap {
    pub(super) fn new() -> Trap {
        let listener = std::net::TcpListener::bind((LOOPBACK, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Trap(listener)
    }

    pub(super) fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// From here on connections are welcome.
    pub(super) fn opened(self) -> TcpListener {
        TcpListener::from_std(self.0).unwrap()
    }

    /// The kernel completes connections by itself, so one that was made is here even if nobody served it.
    #[track_caller]
    pub(super) fn is_untouched(&self, what: &str) {
        assert!(self.0.accept().is_err(), "a connection was made: {what}");
    }
}

/// The hello that a program would send for this name.
pub(super) async fn hello_for(name: &'static str) -> Vec<u8> {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let authority = LocalAuthority::new().unwrap();
    let pem = authority.certificate_pem().to_owned();
    let dressing = tokio::spawn(async move { dress(stream, name, &pem).await.map(|_| ()) });
    let (mut server, _) = listener.accept().await.unwrap();
    let mut head = [0; 5];
    server.read_exact(&mut head).await.unwrap();
    let mut rest = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
    server.read_exact(&mut rest).await.unwrap();
    dressing.abort();
    [&head[..], &rest].concat()
}

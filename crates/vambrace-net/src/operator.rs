//! A request that the operator's own configuration asks for, a key set for instance. It may lead into a
//! private network, which is where such servers stand; no model and no caller has a word in it.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, HOST, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use vambrace_policy::url::WebUrl;

use crate::connect::words;
use crate::{NetError, Web};

/// LIMIT: of the answer.
const LARGEST: usize = 1024 * 1024;
const LARGEST_HEAD: usize = 64 * 1024;
/// From the look-up to the last byte.
const TIME: Duration = Duration::from_secs(10);

impl Web {
    /// One GET. No redirect is followed: the operator named one place. INVARIANT: `url` comes from the
    /// operator's configuration alone.
    pub async fn fetch_for_operator(&self, url: &str) -> Result<Vec<u8>, NetError> {
        let url = WebUrl::parse(url)?;
        let host = url.host().to_string();
        match timeout(TIME, self.fetch_trusted(&url)).await {
            Ok(fetched) => fetched,
            Err(_) => Err(NetError::TimedOut { host, after: TIME }),
        }
    }

    async fn fetch_trusted(&self, url: &WebUrl) -> Result<Vec<u8>, NetError> {
        let host = url.host().to_string();
        let bad = |why: &str| NetError::BadAnswer { host: host.clone(), why: why.to_owned() };
        let addresses = self.resolve(url.host()).await?;
        let mut reached =
            Err(NetError::Unreachable { host: host.clone(), why: "it has no address".to_owned() });
        for address in addresses {
            match TcpStream::connect(SocketAddr::new(address, url.port())).await {
                Ok(stream) => {
                    reached = Ok(stream);
                    break;
                }
                Err(error) => {
                    reached = Err(NetError::Unreachable { host: host.clone(), why: words(&error) });
                }
            }
        }
        let (stream, _) = self.dress(url, reached?).await?;
        let request = Request::get(url.target())
            .header(HOST, url.authority())
            .header(USER_AGENT, "vambrace")
            .header(ACCEPT, "application/json, application/jwk-set+json")
            .body(Full::<Bytes>::default())
            .map_err(|_| bad("it cannot be asked"))?;
        let handshake =
            http1::Builder::new().max_buf_size(LARGEST_HEAD).handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|_| bad("it is not HTTP"))?;
        let driver = Ended(tokio::spawn(async move {
            // What went wrong is told to whoever waits for the answer.
            let _ = connection.await;
        }));
        let answer = sender.send_request(request).await.map_err(|_| bad("it is not HTTP"))?;
        if answer.status() != StatusCode::OK {
            return Err(bad(&format!("it answered {}", answer.status().as_u16())));
        }
        let mut body = answer.into_body();
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| bad("the connection ended before the answer was whole"))?;
            let Some(data) = frame.data_ref() else { continue };
            if bytes.len() + data.len() > LARGEST {
                return Err(bad("its answer is larger than a key set may be"));
            }
            bytes.extend_from_slice(data);
        }
        drop(driver);
        Ok(bytes)
    }
}

/// A connection that is driven no longer than anybody waits.
struct Ended(tokio::task::JoinHandle<()>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.abort();
    }
}

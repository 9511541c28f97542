use std::net::SocketAddr;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn trust(authority: &CertifiedIssuer<'_, KeyPair>) -> Trust {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    Trust::only(roots)
}

/// Says `hello` to everybody who believes it.
async fn server(authority: &CertifiedIssuer<'_, KeyPair>, params: CertificateParams) -> SocketAddr {
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_no_client_auth().with_single_cert(chain, key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let _ = stream.write_all(b"hello").await;
                let _ = stream.shutdown().await;
            }
        }
    });
    at
}

/// What came over the connection, or why nothing did.
async fn greet(trust: &Trust, host: &str, at: SocketAddr) -> Result<String, String> {
    let host = host.parse().map_or(Host::Name(host.to_owned()), Host::Address);
    let stream = TcpStream::connect(at).await.unwrap();
    match trust.wrap(&host, stream).await {
        Ok(mut stream) => {
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"http/1.1".as_slice()));
            let mut text = String::new();
            stream.read_to_string(&mut text).await.unwrap();
            Ok(text)
        }
        Err(NetError::Untrusted { .. }) => Err("untrusted".to_owned()),
        Err(other) => Err(format!("{other:?}")),
    }
}

fn named(names: &[&str]) -> CertificateParams {
    CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap()
}

#[tokio::test]
async fn a_certificate_is_for_its_host_and_by_whom_we_trust() {
    let (ours, other) = (authority(), authority());
    let trust = trust(&ours);
    let hello = Ok("hello".to_owned());
    let untrusted = Err("untrusted".to_owned());

    let at = server(&ours, named(&["a.test", "*.b.test", "127.0.0.1"])).await;
    assert_eq!(greet(&trust, "a.test", at).await, hello);
    assert_eq!(greet(&trust, "x.b.test", at).await, hello);
    assert_eq!(greet(&trust, "127.0.0.1", at).await, hello);
    for wrong in ["b.test", "x.a.test", "x.y.b.test", "a.test.evil", "127.0.0.2", "::1"] {
        assert_eq!(greet(&trust, wrong, at).await, untrusted, "{wrong}");
    }

    let at = server(&other, named(&["a.test"])).await;
    assert_eq!(greet(&trust, "a.test", at).await, untrusted);
    let mut old = named(&["a.test"]);
    (old.not_before, old.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    let at = server(&ours, old).await;
    assert_eq!(greet(&trust, "a.test", at).await, untrusted);
}

#[tokio::test]
async fn nobody_to_trust_is_nobody_trusted() {
    let at = server(&authority(), named(&["a.test"])).await;
    assert_eq!(greet(&Trust::only(RootCertStore::empty()), "a.test", at).await, Err("untrusted".to_owned()));
    let none = Trust(Err("no roots".to_owned()));
    assert_eq!(greet(&none, "a.test", at).await, Err("untrusted".to_owned()));
}

#[tokio::test]
async fn a_server_without_tls_is_no_answer() {
    let check = async |says: &'static [u8], expected: &str| {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.write_all(says).await;
            // Until the other side has had enough.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        });
        let trust = trust(&authority());
        let stream = TcpStream::connect(at).await.unwrap();
        let wrapped = trust.wrap(&Host::Name("a.test".to_owned()), stream).await;
        let (host, why) = ("a.test".to_owned(), expected.to_owned());
        assert_eq!(wrapped.err(), Some(NetError::BadAnswer { host, why }));
    };
    check(b"HTTP/1.1 400 Bad Request\r\n\r\n", "it does not speak TLS").await;
    check(b"SSH-2.0-server\r\n", "it does not speak TLS").await;
    // Application data before any handshake.
    check(b"\x17\x03\x03\0\x01x", "it does not speak TLS").await;
    // A fatal alert: a handshake that failed.
    check(b"\x15\x03\x03\0\x02\x02\x28", "it would not speak TLS with us").await;
}

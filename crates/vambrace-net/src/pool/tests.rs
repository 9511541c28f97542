use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use vambrace_policy::url::{AllowEntry, HostPattern, UrlPolicy, UrlSettings};

use super::*;

/// A connection to nobody, and the end that keeps it open.
async fn line(peer: &str) -> (Line, DuplexStream) {
    let (ours, theirs) = tokio::io::duplex(64);
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(ours)).await.unwrap();
    let driver = tokio::spawn(async move {
        let _ = connection.await;
    });
    (Line::new(sender, peer.parse().unwrap(), driver), theirs)
}

fn url(n: usize) -> WebUrl {
    WebUrl::parse(&format!("http://site{n}.test/")).unwrap()
}

fn checked(url: &WebUrl, addresses: &[&str]) -> Vec<CheckedAddr> {
    let entry = AllowEntry::plain(HostPattern::Exactly(url.host().clone())).with_cidr("127.0.0.0/8").unwrap();
    let policy = UrlPolicy::new(UrlSettings { allowed: vec![entry], ..UrlSettings::default() });
    let terms = policy.admit(url).unwrap();
    let addresses: Vec<_> = addresses.iter().map(|text| text.parse().unwrap()).collect();
    CheckedAddr::all(&policy, &terms, url.host(), url.port(), &addresses).unwrap()
}

#[tokio::test]
async fn kept_for_its_place_its_address_and_its_time() {
    let (pool, now) = (Pool::default(), Instant::now());
    let here = checked(&url(1), &["127.0.0.1"]);
    let there = checked(&url(1), &["127.0.0.2"]);
    let other = checked(&url(2), &["127.0.0.1"]);
    let (kept, _end) = line("127.0.0.1:80").await;
    pool.keep(&url(1), kept, now);
    assert!(pool.take(&url(1), &[], now).is_none());
    assert!(pool.take(&url(1), &there, now).is_none());
    assert!(pool.take(&url(2), &other, now).is_none());
    let kept = pool.take(&url(1), &[there, here.clone()].concat(), now).unwrap();
    assert!(pool.take(&url(1), &here, now).is_none());

    pool.keep(&url(1), kept, now);
    let kept = pool.take(&url(1), &here, now + LONGEST_IDLE - Duration::from_millis(1)).unwrap();
    pool.keep(&url(1), kept, now);
    assert!(pool.take(&url(1), &here, now + LONGEST_IDLE).is_none());
}

#[tokio::test]
async fn not_more_than_so_many() {
    let (pool, now) = (Pool::default(), Instant::now());
    let mut ends = Vec::new();
    for n in 0..MOST_IDLE + 5 {
        for _ in 0..MOST_IDLE_EACH + 1 {
            let (line, end) = line("127.0.0.1:80").await;
            pool.keep(&url(n), line, now);
            ends.push(end);
        }
        let idle = pool.0.lock().unwrap();
        assert!(idle.len() <= MOST_IDLE);
        assert_eq!(idle.iter().filter(|one| one.place == Place::of(&url(n))).count(), MOST_IDLE_EACH);
    }
    assert_eq!(pool.0.lock().unwrap().len(), MOST_IDLE);
}

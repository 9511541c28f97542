//! Ten wrong credentials in a minute.

use std::net::IpAddr;
use std::time::Duration;

use vambrace_auth::FailureLimiter;

const A: &str = "203.0.113.1";
const B: &str = "203.0.113.2";

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn fail(limiter: &FailureLimiter, address: &str, n_times: usize, now: Duration) {
    for _ in 0..n_times {
        limiter.failed(ip(address), now);
    }
}

#[test]
fn ten_in_a_minute_block_for_five() {
    let limiter = FailureLimiter::new(100);
    fail(&limiter, A, 9, at(0));
    assert_eq!(limiter.blocked(ip(A), at(0)), None);
    fail(&limiter, A, 1, Duration::from_millis(59_999));
    let start = Duration::from_millis(59_999);
    assert_eq!(limiter.blocked(ip(A), start), Some(at(300)));
    assert_eq!(limiter.blocked(ip(B), start), None);
    assert_eq!(
        limiter.blocked(ip(A), start + Duration::from_millis(299_999)),
        Some(Duration::from_millis(1))
    );
    assert_eq!(limiter.blocked(ip(A), start + at(300)), None);
    // Nine more are free again.
    fail(&limiter, A, 9, at(400));
    assert_eq!(limiter.blocked(ip(A), at(400)), None);
    fail(&limiter, A, 1, at(400));
    assert_eq!(limiter.blocked(ip(A), at(400)), Some(at(300)));
}

#[test]
fn the_minute_slides() {
    let limiter = FailureLimiter::new(100);
    fail(&limiter, A, 9, at(0));
    fail(&limiter, A, 1, at(60)); // the first nine are just a minute old
    assert_eq!(limiter.blocked(ip(A), at(60)), None);
    let slow = FailureLimiter::new(100);
    for n in 0..1000 {
        fail(&slow, A, 1, Duration::from_millis(n * 6_667)); // nine in every minute, for ever
    }
    assert_eq!(slow.blocked(ip(A), at(6667)), None);
    // Across a border of the clock's minutes.
    let across = FailureLimiter::new(100);
    fail(&across, A, 5, at(55));
    fail(&across, A, 5, at(65));
    assert_eq!(across.blocked(ip(A), at(65)), Some(at(300)));
}

#[test]
fn a_network_of_ipv6_addresses_is_one() {
    let limiter = FailureLimiter::new(100);
    for n in 0..10 {
        fail(&limiter, &format!("2001:db8:1:2::{n}"), 1, at(0));
    }
    assert_eq!(limiter.blocked(ip("2001:db8:1:2:ffff::1"), at(0)), Some(at(300)));
    assert_eq!(limiter.blocked(ip("2001:db8:1:3::1"), at(0)), None);
    fail(&limiter, "::ffff:203.0.113.1", 10, at(0));
    assert_eq!(limiter.blocked(ip(A), at(0)), Some(at(300)));
}

#[test]
fn memory_is_bounded_and_blocks_are_forgotten_last() {
    let limiter = FailureLimiter::new(16);
    fail(&limiter, A, 10, at(0));
    fail(&limiter, B, 9, at(0));
    for n in 0..1000_u32 {
        let other = std::net::Ipv4Addr::from_bits(0x0a00_0000 + n).to_string();
        fail(&limiter, &other, 1, at(1));
        assert!(limiter.n_addresses() <= 16);
    }
    assert_eq!(limiter.blocked(ip(A), at(1)), Some(at(299)));
    fail(&limiter, B, 1, at(2));
    assert!(limiter.blocked(ip(B), at(2)).is_some(), "who has guessed most is remembered longest");
    // Even when all are blocked there is room for one more.
    for n in 0..1000_u32 {
        fail(&limiter, &std::net::Ipv4Addr::from_bits(0x0a00_0000 + n).to_string(), 10, at(2));
        assert!(limiter.n_addresses() <= 16);
    }
}

//! The limiter beside a naive token bucket, in exact fractions.

use std::time::Duration;

use proptest::prelude::*;
use vambrace_auth::{Draw, Rate, RateLimiter};

const MS: Duration = Duration::from_millis(1);

fn limiter(per_second: u32, burst: u32) -> RateLimiter<u32> {
    RateLimiter::new(Rate { per_second, burst }, 1000)
}

#[test]
fn twenty_at_once_and_ten_a_second() {
    let limiter = limiter(10, 20);
    let start = 5_000 * MS;
    for n in 1..=20 {
        let expected = Draw {
            allowed: true,
            remaining: 20 - n,
            retry_after: if n == 20 { 100 * MS } else { Duration::ZERO },
            full_after: 100 * MS * n,
        };
        assert_eq!(limiter.draw(&1, start), expected, "{n}");
    }
    let refused = Draw { allowed: false, remaining: 0, retry_after: 100 * MS, full_after: 2_000 * MS };
    assert_eq!(limiter.draw(&1, start), refused);
    let nearly = start + 100 * MS - Duration::from_nanos(1);
    assert_eq!(limiter.draw(&1, nearly).retry_after, Duration::from_nanos(1));
    assert!(!limiter.draw(&1, nearly).allowed);
    assert!(limiter.draw(&1, start + 100 * MS).allowed);
    assert!(!limiter.draw(&1, start + 100 * MS).allowed);
    // Another key has its own.
    assert_eq!(limiter.draw(&2, start).remaining, 19);
    // Refused draws cost nothing; a long pause fills the bucket and not more.
    assert_eq!(limiter.draw(&1, start + 3_600_000 * MS).remaining, 19);
    // A clock that is read by several threads comes a little out of order.
    assert_eq!(limiter.draw(&1, start + 3_599_999 * MS).remaining, 17);
}

#[test]
fn extreme_rates_are_exact() {
    #[track_caller]
    fn check(per_second: u32, burst: u32, wait: Duration) {
        let limiter = limiter(per_second, burst);
        for _ in 0..burst.clamp(1, 1000) {
            assert!(limiter.draw(&1, Duration::ZERO).allowed);
        }
        if burst > 1000 {
            return;
        }
        let refused = limiter.draw(&1, Duration::ZERO);
        assert_eq!((refused.allowed, refused.retry_after), (false, wait), "{per_second}/s burst {burst}");
        assert!(limiter.draw(&1, wait).allowed);
    }
    check(1_000_000, 1, Duration::from_micros(1));
    check(1, 1, Duration::from_secs(1));
    check(3, 1, Duration::from_nanos(333_333_334)); // rounded up: who waits so long is let in
    check(u32::MAX, 1, Duration::from_nanos(1));
    check(1, u32::MAX, Duration::ZERO);
    check(0, 0, Duration::from_secs(1)); // the least there is
    // A million a second, for a second: not one more.
    let limiter = limiter(1_000_000, 100);
    let n_allowed =
        (0..2_000_000_u64).filter(|n| limiter.draw(&1, Duration::from_nanos(n * 500)).allowed).count();
    assert_eq!(n_allowed, 1_000_099);
}

#[test]
fn full_buckets_make_room_and_the_rest_share_one() {
    let limiter: RateLimiter<u32> = RateLimiter::new(Rate { per_second: 10, burst: 2 }, 3);
    for key in 0..3 {
        assert_eq!(limiter.draw(&key, Duration::ZERO).remaining, 1);
    }
    // Nobody's is full again: the fourth and the fifth share.
    assert_eq!(limiter.draw(&4, 50 * MS).remaining, 1);
    assert_eq!(limiter.draw(&5, 50 * MS).remaining, 0);
    assert!(!limiter.draw(&6, 50 * MS).allowed);
    assert_eq!(limiter.n_keys(), 3);
    // Those that came first keep their own.
    assert!(limiter.draw(&0, 50 * MS).allowed);
    // Now two of them are full again.
    assert_eq!(limiter.draw(&6, 100 * MS).remaining, 1);
    assert_eq!(limiter.n_keys(), 2);
    // And the third is not: it is remembered.
    assert_eq!(limiter.draw(&0, 100 * MS).remaining, 0);
    let none: RateLimiter<u32> = RateLimiter::new(Rate { per_second: 10, burst: 1 }, 0);
    assert!(none.draw(&1, Duration::ZERO).allowed);
    assert!(!none.draw(&2, Duration::ZERO).allowed);
}

#[test]
fn memory_is_bounded_under_many_keys() {
    let limiter: RateLimiter<u64> = RateLimiter::new(Rate { per_second: 10, burst: 20 }, 4096);
    for n in 0..200_000_u64 {
        limiter.draw(&n, Duration::from_micros(n));
    }
    assert!(limiter.n_keys() <= 4096, "{}", limiter.n_keys());
}

#[test]
fn threads_together_get_what_one_would() {
    let limiter = limiter(10, 500);
    let n_allowed: usize = std::thread::scope(|scope| {
        let draw = || (0..1000).filter(|_| limiter.draw(&1, Duration::ZERO).allowed).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(n_allowed, 500);
}

/// A bucket as one would tell it: so many tokens, filled by the time that went by. In billionths of a token.
struct Bucket {
    tokens: u128,
    filled_at: u128,
}

const ONE: u128 = 1_000_000_000;

impl Bucket {
    fn draw(&mut self, rate: Rate, now: Duration) -> (bool, u32) {
        let now = now.as_nanos();
        let gained = (now - self.filled_at) * u128::from(rate.per_second);
        self.tokens = (self.tokens + gained).min(u128::from(rate.burst) * ONE);
        self.filled_at = now;
        let allowed = self.tokens >= ONE;
        if allowed {
            self.tokens -= ONE;
        }
        (allowed, u32::try_from(self.tokens / ONE).unwrap())
    }
}

fn rates() -> impl Strategy<Value = Rate> {
    let per_second = prop_oneof![1_u32..20, Just(1_000_000), 1_u32..=u32::MAX];
    (per_second, 1_u32..30).prop_map(|(per_second, burst)| Rate { per_second, burst })
}

proptest! {
    #[test]
    fn it_is_a_token_bucket(
        rate in rates(),
        pauses in prop::collection::vec((0_u64..3_000, 0_u32..3), 1..120),
    ) {
        let limiter: RateLimiter<u32> = RateLimiter::new(rate, 10);
        let full = u128::from(rate.burst) * ONE;
        let mut buckets = [0, 1, 2].map(|_| Bucket { tokens: full, filled_at: 0 });
        let mut now = Duration::ZERO;
        let mut allowed_at: Vec<(u32, Duration)> = Vec::new();
        for (pause, key) in pauses {
            // In thousandths of a token's time, so that every rate is met at its edges.
            now += Duration::from_nanos((pause * 1_000_000).div_ceil(u64::from(rate.per_second)));
            let draw = limiter.draw(&key, now);
            let expected = buckets[usize::try_from(key).unwrap()].draw(rate, now);
            prop_assert_eq!((draw.allowed, draw.remaining), expected);
            prop_assert_eq!(draw.retry_after.is_zero(), draw.remaining > 0);
            if draw.allowed {
                allowed_at.push((key, now));
            }
        }
        // In no window more than the burst and what came in by then.
        for key in 0..3 {
            let times: Vec<u128> =
                allowed_at.iter().filter(|(of, _)| *of == key).map(|(_, time)| time.as_nanos()).collect();
            for (first, start) in times.iter().enumerate() {
                for (last, end) in times.iter().enumerate().skip(first) {
                    let most = u128::from(rate.burst) * ONE + (end - start) * u128::from(rate.per_second);
                    prop_assert!(u128::try_from(last - first + 1).unwrap() * ONE <= most);
                }
            }
        }
    }

    #[test]
    fn who_waits_as_told_is_let_in(rate in rates(), n_draws in 1_u32..60, at in 0_u64..1_000_000_000) {
        let limiter: RateLimiter<u32> = RateLimiter::new(rate, 10);
        let now = Duration::from_nanos(at);
        let mut last = limiter.draw(&1, now);
        for _ in 0..n_draws {
            last = limiter.draw(&1, now);
        }
        let full = limiter.draw(&1, now + last.full_after.max(last.retry_after));
        prop_assert!(full.allowed);
        prop_assert_eq!(full.remaining, rate.burst - 1);
    }
}

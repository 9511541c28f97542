use std::sync::Arc;

use axum::response::IntoResponse as _;
use http::Method;
use serde_json::Value;
use tokio::time::Instant;
use vambrace_auth::Moment;
use vambrace_state::{Answer, Outage, ServerState, WrongCredentials, ready};

use super::*;
use crate::http::testing::{ADDRESS, RATE, World, key, request, told};

/// How long somebody waits for a store of which one question is asked.
fn wait(outage: Outage) -> Duration {
    match outage {
        Outage::Away => Duration::ZERO,
        Outage::Silent => TIMEOUT,
    }
}

/// What a request gets that shows this credential, and after how long.
async fn check(state: ServerState, key: &str, expected: (u16, Option<&str>, &str), waited: Duration) {
    let world = World::new(state);
    let began = Instant::now();
    let admitted = world.admit(request("/mcp", key, &Value::Null)).await;
    assert_eq!(began.elapsed(), waited, "{expected:?}");
    let (status, again, code) = match admitted {
        Ok(_) => (200, None, String::new()),
        Err(problem) => told(problem.into_response()).await,
    };
    assert_eq!((status, again.as_deref(), code.as_str()), expected);
}

const AWAY: (u16, Option<&str>, &str) = (503, Some("5"), "StateUnavailable");

#[tokio::test(start_paused = true)]
async fn with_its_stores_a_request_gets_what_its_credential_is_worth() {
    let local = || ServerState::local(RATE);
    check(local(), &key(), (200, None, ""), Duration::ZERO).await;
    check(local(), "another", (401, None, "Unauthenticated"), Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_cannot_be_counted_is_not_served() {
    for outage in Outage::ALL {
        let rates = ServerState { rates: outage.server_state().rates, ..ServerState::local(RATE) };
        check(rates, &key(), AWAY, wait(outage)).await;
        let failures = ServerState { failures: outage.server_state().failures, ..ServerState::local(RATE) };
        check(failures.clone(), &key(), AWAY, wait(outage)).await;
        check(failures, "another", AWAY, wait(outage)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_address_without_a_bucket_is_not_served() {
    for outage in Outage::ALL {
        let world = World::new(outage.server_state());
        for is_strange in [true, false] {
            let seen = |path| Seen { address: ADDRESS, method: &Method::GET, path, id: None };
            let problem = arriving(&world.front, is_strange, seen("/")).await.unwrap_err();
            let (status, again, code) = told(problem.into_response()).await;
            assert_eq!((status, again.as_deref(), code.as_str()), AWAY, "{outage:?} {is_strange}");
            // Whoever asks whether this process is well gets its answer at once.
            let began = Instant::now();
            for probe in ["/health", "/ready", "/live", "/metrics"] {
                assert!(arriving(&world.front, is_strange, seen(probe)).await.is_ok(), "{outage:?} {probe}");
            }
            assert_eq!(began.elapsed(), Duration::ZERO, "{outage:?} {is_strange}");
        }
    }
}

#[tokio::test]
async fn probes_have_buckets_of_their_own() {
    let world = World::new(ServerState::local(RATE));
    let seen = |path| Seen { address: ADDRESS, method: &Method::GET, path, id: None };
    let mut n_allowed = 0;
    while arriving(&world.front, false, seen("/health")).await.is_ok() {
        n_allowed += 1;
    }
    assert!(n_allowed >= RATE.burst, "{n_allowed}");
    assert!(arriving(&world.front, true, seen("/health")).await.is_ok());
    assert!(arriving(&world.front, false, seen("/")).await.is_ok());
}

/// Tells who is blocked, and cannot count.
struct Uncounting(Outage);

impl WrongCredentials for Uncounting {
    fn blocked(&self, _: IpAddr, _: Moment) -> Answer<'_, Option<Duration>> {
        ready(None)
    }

    fn failed(&self, address: IpAddr, now: Moment) -> Answer<'_, bool> {
        self.0.failed(address, now)
    }
}

#[tokio::test(start_paused = true)]
async fn a_guess_that_cannot_be_counted_is_not_answered() {
    for outage in Outage::ALL {
        let failures = Arc::new(Uncounting(outage));
        let state = ServerState { failures, ..ServerState::local(RATE) };
        check(state.clone(), "another", AWAY, wait(outage)).await;
        check(state, &key(), (200, None, ""), Duration::ZERO).await;
    }
}

//! Chains of agents that call each other (specification 001), out of a request's headers.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, StatusCode};
use vambrace_types::{Chain, ChainRules, Endless, ErrorCode};

use super::{Problem, request_id};

const CHAIN: HeaderName = HeaderName::from_static("x-call-chain");
const DEPTH: HeaderName = HeaderName::from_static("x-call-depth");

/// The request has its id by now: its own, or a fresh one.
pub(super) fn read(headers: &HeaderMap, address: IpAddr, rules: &ChainRules) -> Result<Chain, Endless> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let lists = headers.get_all(CHAIN).iter().map(|list| list.as_bytes());
    let mut chain = Chain::read(text(&request_id::HEADER).map(str::to_owned), lists, text(&DEPTH))?;
    chain.address = Some(address);
    chain.admit(rules)?;
    Ok(chain)
}

pub(super) fn problem(endless: &Endless) -> Problem {
    Problem::new(StatusCode::LOOP_DETECTED, ErrorCode::CallLoop, endless.words())
        .suggestion(Endless::SUGGESTION)
}

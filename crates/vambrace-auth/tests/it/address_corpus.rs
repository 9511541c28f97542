//! The public corpus of `X-Forwarded-For`, and specification 001's three scenarios.

#![expect(clippy::disallowed_methods, reason = "a test reads its own JSON")]

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;
use vambrace_auth::{ForwardedFor, client_address};

use crate::support::{corpus, skip};

const N_ROWS: usize = 308;

fn network(text: &str) -> IpNet {
    text.parse().unwrap_or_else(|_| IpNet::from(text.parse::<IpAddr>().unwrap()))
}

/// The corpus writes IPv4 addresses as it found them; for us the mapped spelling is the same address.
fn address(text: &str) -> IpAddr {
    text.parse::<IpAddr>().unwrap().to_canonical()
}

#[test]
fn every_row_of_the_public_corpus_finds_the_same_client() {
    let Some(bytes) = corpus("auth/x_forwarded_for.jsonl") else {
        skip(&format!("{N_ROWS} cases of the public corpus auth/x_forwarded_for: set VAMBRACE_CORPORA"));
        return;
    };
    let text = String::from_utf8(bytes).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), N_ROWS);
    for row in &rows {
        let input = &row["input"];
        let peer = input["remote_addr"].as_str().unwrap().parse().unwrap();
        let trusted: Vec<IpNet> = input["trusted_proxies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|net| network(net.as_str().unwrap()))
            .collect();
        let headers: Vec<&str> = input["x_forwarded_for"].as_str().into_iter().collect();
        for (rule, column) in [(ForwardedFor::Rightmost, "expect"), (ForwardedFor::Leftmost, "first_ip_rule")]
        {
            let found = client_address(peer, &headers, &trusted, rule);
            assert_eq!(found, address(row[column].as_str().unwrap()), "{column}: {row}");
        }
    }
}

#[test]
fn the_three_scenarios_of_specification_001() {
    #[track_caller]
    fn check(peer: &str, header: Option<&str>, trusted: &[&str], expected: &str) {
        let trusted: Vec<IpNet> = trusted.iter().map(|net| network(net)).collect();
        let headers: Vec<&str> = header.into_iter().collect();
        for rule in [ForwardedFor::Rightmost, ForwardedFor::Leftmost] {
            assert_eq!(client_address(peer.parse().unwrap(), &headers, &trusted, rule).to_string(), expected);
        }
    }
    check("203.0.113.100", None, &[], "203.0.113.100");
    check("10.0.0.5", Some("203.0.113.100, 10.0.0.5"), &["10.0.0.0/8"], "203.0.113.100");
    check("203.0.113.100", Some("1.2.3.4"), &["10.0.0.0/8"], "203.0.113.100");
}

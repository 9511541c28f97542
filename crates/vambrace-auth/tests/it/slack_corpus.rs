//! The public corpus of Slack signatures.

#![expect(clippy::disallowed_methods, reason = "a test reads its own JSON")]

use std::io::Read as _;

use serde_json::Value;
use vambrace_auth::{AuthSettings, Authenticator, Credential, Offered, Refusal, SlackKey};
use vambrace_types::Timestamp;

use crate::support::{corpus, skip};

const N_ROWS: usize = 23;

#[test]
fn every_row_of_the_public_corpus_is_decided_as_labelled() {
    let Some(packed) = corpus("auth/slack_signature.jsonl.gz") else {
        skip(&format!("{N_ROWS} cases of the public corpus auth/slack_signature: set VAMBRACE_CORPORA"));
        return;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), N_ROWS);
    for row in &rows {
        let input = |name: &str| row["input"][name].as_str().unwrap();
        let slack = SlackKey::new(input("signing_secret"));
        let authenticator = Authenticator::new(AuthSettings { slack, ..AuthSettings::default() });
        let offered = Offered {
            slack_signature: Some(input("signature")),
            slack_timestamp: Some(input("timestamp")),
            body: Some(input("body").as_bytes()),
            ..Offered::default()
        };
        let now = Timestamp::from_millis(row["input"]["now"].as_i64().unwrap() * 1000);
        let found = authenticator.authenticate(&offered, now).found;
        let why = row["why"].as_str().unwrap();
        match row["expect"].as_str().unwrap() {
            "allow" => assert_eq!(
                found.map(|identity| identity.credential()),
                Ok(Credential::SlackSignature),
                "{why}"
            ),
            // A header without a value shows nothing.
            _ if input("signature").is_empty() => assert_eq!(found, Err(Refusal::Missing), "{why}"),
            _ => assert_eq!(found, Err(Refusal::InvalidSlackSignature), "{why}"),
        }
    }
}

#[test]
fn the_window_is_three_hundred_seconds_either_way() {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let secret = "s".repeat(32);
    let signed = |timestamp: &str| {
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(format!("v0:{timestamp}:body").as_bytes());
        let tag: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("v0={tag}")
    };
    let check = |timestamp: &str, now_ms: i64, expected: bool| {
        let settings = AuthSettings { slack: SlackKey::new(&secret), ..AuthSettings::default() };
        let signature = signed(timestamp);
        let offered = Offered {
            slack_signature: Some(&signature),
            slack_timestamp: Some(timestamp),
            body: Some(b"body"),
            ..Offered::default()
        };
        let found = Authenticator::new(settings).authenticate(&offered, Timestamp::from_millis(now_ms)).found;
        assert_eq!(found.is_ok(), expected, "{timestamp} at {now_ms}: {found:?}");
    };
    check("1000", 1_000_000, true);
    check("1000", 1_300_000, true);
    check("1000", 1_300_999, true); // Slack counts whole seconds
    check("1000", 1_301_000, false);
    check("1000", 700_000, true);
    check("1000", 699_999, false);
    check("01000", 1_000_000, true); // its own text is signed
    check("+1000", 1_000_000, false);
    check(" 1000", 1_000_000, false);
    check("99999999999999999999", 1_000_000, false);
    check("", 0, false);
    // No secret is no way in, and an empty one is none.
    assert!(SlackKey::new("").is_none());
}

/// Who reads the body and who looks at the signature must mean the same requests; and strangers' bodies are not kept.
#[test]
fn the_body_is_needed_just_where_the_signature_counts() {
    let now = Timestamp::from_millis(1_000_000);
    let good = format!("v0={}", "0".repeat(64));
    let authenticator = |secret: &str| {
        Authenticator::new(AuthSettings { slack: SlackKey::new(secret), ..AuthSettings::default() })
    };
    let (with, without) = (authenticator(&"s".repeat(32)), authenticator(""));
    let nothing = Offered { slack_timestamp: Some("1000"), ..Offered::default() };
    let check = |offered: &Offered<'_>, expected: bool| {
        assert!(!with.needs_body(offered, now));
        let signed = Offered { slack_signature: Some(&good), ..*offered };
        assert_eq!(with.needs_body(&signed, now), expected);
        let refusal = with.authenticate(&signed, now).found.err();
        assert_eq!(refusal == Some(Refusal::InvalidSlackSignature), expected, "{refusal:?}");
        // Nobody could sign, or not like this, or not now.
        assert!(!without.needs_body(&signed, now));
        for signature in ["", "v0=00", good.trim_start_matches("v0=")] {
            assert!(!with.needs_body(&Offered { slack_signature: Some(signature), ..signed }, now));
        }
        for timestamp in [None, Some(""), Some("1"), Some("1301"), Some("699"), Some("x")] {
            assert!(!with.needs_body(&Offered { slack_timestamp: timestamp, ..signed }, now));
        }
    };
    check(&nothing, true);
    check(&Offered { user_email: Some("a@example.com"), ..nothing }, true);
    check(&Offered { internal_token: Some("x"), ..nothing }, false);
    check(&Offered { api_key: Some("x"), ..nothing }, false);
    for bearer in ["Bearer x", "bearer a.b.c", " Bearer  x "] {
        check(&Offered { authorization: Some(bearer), ..nothing }, false);
    }
    for other in ["Basic eDp5", "", "x", "Bearerx y", "Bearer", "Bearer  "] {
        check(&Offered { authorization: Some(other), ..nothing }, true);
    }
}

//! Public lists of URLs that lead inside. They are read where they lie and never become part of this
//! repository.

use std::net::IpAddr;
use std::path::PathBuf;

use vambrace_policy::url::{Host, UrlPolicy, UrlRefusal, UrlSettings, WebUrl};

#[expect(
    clippy::disallowed_methods,
    reason = "the corpus lies outside the repository, so a test has to look for it and read it"
)]
pub(crate) fn corpus(name: &str) -> Option<String> {
    let folder = match std::env::var_os("VAMBRACE_CORPORA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora")),
    };
    std::fs::read_to_string(folder.join(name)).ok()
}

/// What the names of the lists had as addresses when the lists were made, and a public one for names that are
/// allowed. None are the ones that ought to be refused before anybody asks.
fn answers(name: &str) -> &'static [&'static str] {
    match name {
        "google.com" | "github.com" | "facebook.com" | "cloudflare.com" | "postman-echo.com" => {
            &["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]
        }
        "localtest.me" => &["::1", "127.0.0.1"],
        "mail.ebc.apple.com" => &["127.0.0.1"],
        "spoofed.burpcollaborator.net" => &["127.0.0.1"],
        "metadata.nicob.net" => &["169.254.169.254"],
        "1ynrnhl.xip.io" | "www.owasp.org.1ynrnhl.xip.io" => &["169.254.169.254"],
        "169.254.169.254.nip.io" | "169.254.169.254.xip.io" => &["169.254.169.254"],
        "customer1.app.localhost.my.company.127.0.0.1.nip.io" => &["127.0.0.1"],
        name if name.ends_with(".rebind.network") => &["93.184.215.14", "10.0.0.1"],
        _ => &[],
    }
}

fn judge(policy: &UrlPolicy, text: &str) -> Result<(), UrlRefusal> {
    let url = WebUrl::parse(text)?;
    let terms = policy.admit(&url)?;
    let Host::Name(name) = url.host() else { return Ok(()) };
    let answers = answers(name);
    // A row that gets here without an answer would be refused for the wrong reason.
    assert!(!answers.is_empty(), "{text:?} asks for {name:?}");
    answers.iter().try_for_each(|answer| {
        let address: IpAddr = answer.parse().unwrap();
        policy.check(&terms, url.host(), address)
    })
}

#[track_caller]
fn check(file: &str, expected_rows: usize) {
    let Some(text) = corpus(file) else {
        println!("{file} is not here: {expected_rows} cases not run");
        return;
    };
    let policy = UrlPolicy::new(UrlSettings::default());
    let mut n_rows = 0;
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let input = row["input"].as_str().unwrap();
        let expected = match row["expect"].as_str().unwrap() {
            "allow" => true,
            "deny" => false,
            other => panic!("unknown verdict {other:?}"),
        };
        let judged = judge(&policy, input);
        assert_eq!(judged.is_ok(), expected, "{input:?}: {judged:?}");
        n_rows += 1;
    }
    println!("{file}: {n_rows} cases run");
    assert_eq!(n_rows, expected_rows, "a corpus of another size: update the count");
}

#[test]
fn payloads_of_a_public_list_are_refused() {
    check("ssrf/patt_ssrf.jsonl", 123);
}

#[test]
fn fixtures_of_a_public_filter_are_decided_as_labelled() {
    check("ssrf/ssrf_req_filter.jsonl", 103);
}

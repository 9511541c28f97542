//! What is told about a URL is what is decided about it.

use std::net::IpAddr;

use proptest::prelude::*;
use vambrace_policy::url::{
    AllowEntry, Host, HostPattern, HostRules, OnDnsFailure, Ranges, UrlPolicy, UrlSettings, WebUrl,
};

const HOSTS: &[&str] = &[
    "a.example",
    "b.a.example",
    "c.b.a.example",
    "localhost",
    "intranet",
    "nas.local",
    "metadata.internal",
    "metadata.google.internal",
    "x.svc.cluster.local",
    "127.0.0.1",
    "10.0.0.1",
    "93.184.215.14",
    "169.254.169.254",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "[fd00:ec2::254]",
    "a..b",
];
const ADDRESSES: &[&str] = &[
    "93.184.215.14",
    "2600::1",
    "10.0.0.1",
    "::ffff:10.0.0.1",
    "127.0.0.1",
    "::1",
    "169.254.1.1",
    "169.254.169.254",
    "fd00:ec2::254",
    "100.64.0.1",
    "2002:a00:1::",
    "192.0.0.9",
];
const PATTERNS: &[&str] = &["a.example", "*.a.example", "b.a.example", "localhost", "127.0.0.1", "10.0.0.1"];
const CIDRS: &[&str] = &["", "", "10.0.0.0/8", "127.0.0.1", "169.254.0.0/16", "0.0.0.0/0"];

fn any_entry() -> impl Strategy<Value = AllowEntry> {
    let port = prop::sample::select(vec![None, None, Some(80), Some(25)]);
    let patterns = prop::sample::select(HOSTS[..HOSTS.len() - 1].to_vec());
    let patterns = prop_oneof![prop::sample::select(PATTERNS), patterns];
    (patterns, port, prop::sample::select(CIDRS), any::<bool>()).prop_map(|(text, port, cidr, metadata)| {
        let plain = AllowEntry::plain(HostPattern::parse(text).unwrap());
        let entry = if cidr.is_empty() { plain } else { plain.with_cidr(cidr).unwrap() };
        AllowEntry { port, allow_metadata: metadata, ..entry }
    })
}

fn any_settings() -> impl Strategy<Value = UrlSettings> {
    let blocked = prop::sample::select(PATTERNS).prop_map(|text| HostPattern::parse(text).unwrap());
    let switches = (
        prop::bool::weighted(0.9),
        any::<bool>(),
        prop::bool::weighted(0.2),
        prop::sample::select(vec![OnDnsFailure::Deny, OnDnsFailure::Defer]),
        prop::sample::select(vec![Ranges::Full, Ranges::Seed000, Ranges::Seed001, Ranges::Seed003]),
        prop::sample::select(vec![HostRules::Full, HostRules::Seed001, HostRules::Seed003]),
    );
    let lists = (prop::collection::vec(any_entry(), 0..4), prop::collection::vec(blocked, 0..3));
    (switches, lists).prop_map(|(switches, (allowed, blocked))| {
        let (enabled, allow_private, bypass_all, on_dns_failure, ranges, host_rules) = switches;
        UrlSettings {
            enabled,
            allow_private,
            allowed,
            blocked,
            on_dns_failure,
            ranges,
            host_rules,
            bypass_all,
        }
    })
}

fn any_answers() -> impl Strategy<Value = Vec<IpAddr>> {
    let address = prop::sample::select(ADDRESSES).prop_map(|text| text.parse().unwrap());
    prop::collection::vec(address, 0..3)
}

fn any_text() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["http", "https", "ftp"]);
    let port = prop::sample::select(vec!["", "", ":80", ":25", ":0", ":8443"]);
    (scheme, prop::sample::select(HOSTS), port)
        .prop_map(|(scheme, host, port)| format!("{scheme}://{host}{port}/"))
}

fn decided(policy: &UrlPolicy, text: &str, answers: Option<&[IpAddr]>) -> bool {
    let Ok(url) = WebUrl::parse(text) else { return false };
    let Ok(terms) = policy.admit(&url) else { return false };
    match (url.host(), answers) {
        (Host::Name(_), Some([])) => policy.settings().on_dns_failure == OnDnsFailure::Defer,
        (_, answers) => {
            let mut answers = answers.unwrap_or_default().iter();
            answers.all(|address| policy.check(&terms, url.host(), *address).is_ok())
        }
    }
}

/// Whether the URL is one that a caller with these lists must never reach, judged by hand.
fn reaches_metadata(settings: &UrlSettings, text: &str, answers: &[IpAddr]) -> bool {
    let is_open =
        !settings.enabled || settings.bypass_all || settings.allowed.iter().any(|e| e.allow_metadata);
    let metadata: [IpAddr; 2] = ["169.254.169.254".parse().unwrap(), "fd00:ec2::254".parse().unwrap()];
    let named = metadata.iter().any(|address| text.contains(&format!("{address}")));
    !is_open && (named || answers.iter().any(|address| metadata.contains(address)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn what_is_told_is_what_is_decided(
        settings in any_settings(),
        text in any_text(),
        answers in any_answers(),
    ) {
        let policy = UrlPolicy::new(settings.clone());
        for answers in [None, Some(answers.as_slice())] {
            let steps = policy.explain(&text, answers);
            let told = steps.iter().all(|step| step.allowed);
            prop_assert_eq!(told, decided(&policy, &text, answers), "{} {:?}: {:#?}", text, answers, steps);
            prop_assert!(steps.iter().all(|step| !step.what.is_empty() && !step.rule.is_empty()));
        }
    }

    /// Metadata needs a setting that names it.
    #[test]
    fn nothing_else_opens_metadata(
        settings in any_settings(),
        text in any_text(),
        answers in any_answers(),
    ) {
        if reaches_metadata(&settings, &text, &answers) {
            let policy = UrlPolicy::new(settings);
            prop_assert!(!decided(&policy, &text, Some(&answers)), "{} {:?}", text, answers);
        }
    }

    #[test]
    fn a_block_never_opens(
        settings in any_settings(),
        text in any_text(),
        answers in any_answers(),
        place in 0..6_usize,
    ) {
        let mut more = settings.clone();
        more.blocked.push(HostPattern::parse(PATTERNS[place]).unwrap());
        let (before, after) = (UrlPolicy::new(settings), UrlPolicy::new(more));
        let answers = Some(answers.as_slice());
        prop_assert!(decided(&before, &text, answers) || !decided(&after, &text, answers), "{}", text);
    }

    /// A program never gets where it was not sent, nor where an entry of the operator could not lead.
    #[test]
    fn a_grant_is_an_entry(
        settings in any_settings(),
        text in any_text(),
        answers in any_answers(),
        entry in any_entry(),
    ) {
        let policy = UrlPolicy::new(settings.clone());
        let mut more = settings;
        more.allowed.push(entry.clone());
        let listed = UrlPolicy::new(more);
        if let Ok(url) = WebUrl::parse(&text) {
            let granted = policy.admit_granted(&url, std::slice::from_ref(&entry));
            prop_assert!(granted.is_err() || entry.matches(url.host(), url.port()));
            if let Ok(terms) = granted
                && answers.iter().all(|address| policy.check(&terms, url.host(), *address).is_ok())
                && !answers.is_empty()
            {
                prop_assert!(decided(&listed, &text, Some(&answers)), "{} {:?} {:?}", text, answers, entry);
            }
        }
    }
}

#[track_caller]
fn check(text: &str, answers: &[&str], expected: &[(&str, bool)]) {
    let policy = UrlPolicy::new(UrlSettings::default());
    let answers: Vec<IpAddr> = answers.iter().map(|address| address.parse().unwrap()).collect();
    let steps = policy.explain(text, Some(&answers));
    let found: Vec<(&str, bool)> = steps.iter().map(|step| (step.step, step.allowed)).collect();
    assert_eq!(found, expected, "{text}: {steps:#?}");
}

#[test]
fn every_step_is_told() {
    let front = |name: bool, port: bool| {
        [
            ("parse", true),
            ("allowed list", true),
            ("blocked list", true),
            ("metadata", true),
            ("name", name),
            ("port", port),
        ]
    };
    let with = |front: [(&'static str, bool); 6], rest: &[bool]| {
        front.into_iter().chain(rest.iter().map(|allowed| ("address", *allowed))).collect::<Vec<_>>()
    };
    check("https://a.example/", &["93.184.215.14", "10.0.0.1"], &with(front(true, true), &[true, false]));
    let missing: Vec<_> = front(true, true).into_iter().chain([("look-up", false)]).collect();
    check("https://a.example/", &[], &missing);
    check("http://localhost:25/", &["127.0.0.1"], &with(front(false, false), &[false]));
    check("http://10.0.0.1/", &[], &with(front(true, true), &[false]));
    check("ftp://a.example/", &[], &[("parse", false)]);
    for (on_dns_failure, expected) in [(OnDnsFailure::Deny, false), (OnDnsFailure::Defer, true)] {
        let policy = UrlPolicy::new(UrlSettings { on_dns_failure, ..UrlSettings::default() });
        let steps = policy.explain("https://a.example/", Some(&[]));
        let last = steps.last().map(|step| (step.step, step.rule.as_str(), step.allowed));
        assert_eq!(last, Some(("look-up", "tools.url_policy.on_dns_failure", expected)));
    }
}

//! API keys in all their forms. No message repeats a secret.

use vambrace_auth::{Authenticator, Credential, KeyDigest, Mode, Offered, Refusal};
use vambrace_config::resolve::auth;
use vambrace_types::{Door, Timestamp};

use crate::bench::Bench;

/// Caller, role and secret of each key.
fn keys(bench: Bench) -> Vec<(String, &'static str, String)> {
    let loaded = bench.loaded();
    let secret = |key: &vambrace_config::section::ApiKey| match (&key.secret, &key.secret_sha256) {
        (Some(secret), None) => secret.secret().expose().clone(),
        (None, Some(digest)) => digest.0.clone(),
        _ => panic!("one of them"),
    };
    let keys = &loaded.config.api_keys.0;
    keys.iter().map(|key| (key.caller_id.clone(), key.role.as_str(), secret(key))).collect()
}

#[test]
fn every_form_becomes_the_list() {
    #[track_caller]
    fn check(yaml: &str, expected: &[(&str, &str, &str)]) {
        let expected: Vec<_> =
            expected.iter().map(|(c, r, s)| ((*c).to_owned(), *r, (*s).to_owned())).collect();
        assert_eq!(keys(Bench::new().config("c.yaml", yaml)), expected);
    }
    check("api_keys: {plain: {callerId: a, role: read}}", &[("a", "read", "plain")]);
    check("api_keys: {ka_x: a}", &[("a", "write", "ka_x")]);
    check("api_keys: {a: ka_x}", &[("a", "write", "ka_x")]);
    check("api_keys: [{caller_id: a, role: sre, secret: x}]", &[("a", "sre", "x")]);
    let digest = "ab".repeat(32);
    check(&format!("api_keys: [{{caller_id: a, secret_sha256: {digest}}}]"), &[("a", "write", &digest)]);
}

#[test]
fn keys_from_the_environment() {
    let new =
        r#"{"ka_1":{"caller_id":"root-agent","role":"write"},"ka_2":{"caller_id":"other","role":"read"}}"#;
    let found = keys(Bench::new().environment("API_KEYS", new));
    assert_eq!(found[1], ("other".to_owned(), "read", "ka_2".to_owned()));
    let legacy = r#"{"ka_1":"root-agent","ka_2":"other"}"#;
    assert_eq!(keys(Bench::new().environment("API_KEYS", legacy)).len(), 2);
    // A dollar sign in a key is a dollar sign.
    let dollar = r#"[{"caller_id":"a","secret":"x$$${HOME}"}]"#;
    assert_eq!(keys(Bench::new().environment("API_KEYS", dollar))[0].2, "x$$${HOME}");
    // The file wins.
    let both = Bench::new().environment("API_KEYS", legacy).config("c.yaml", "api_keys: {ka_3: a}");
    assert_eq!(keys(both), [("a".to_owned(), "write", "ka_3".to_owned())]);
    let broken = Bench::new().environment("API_KEYS", r#"{"ka_hush" "#).messages();
    assert_eq!(
        broken,
        "`api_keys`: this is not valid JSON here: a colon is expected after the key (the text ends); it comes from the \
         environment variable `API_KEYS`, which holds JSON"
    );
}

#[test]
fn messages_never_repeat_a_secret() {
    for yaml in [
        "api_keys: {hushhush: other}",
        "api_keys: {ka_hushhush: {caller_id: a, role: boss}}",
        "api_keys: {ka_hushhush: {caller: a}}",
        "api_keys: {ka_hushhush: 5}",
        "api_keys: {ka_hushhush: ka_hushhush}",
        "api_keys: {ka_hushhush: {caller_id: '${UNSET}'}}",
        "api_keys: [{caller_id: a, secret: hushhush}, {caller_id: b, secret: hushhush}]",
        "api_keys: [{caller_id: a, secret: [hushhush]}]",
        "api_keys: [{caller_id: a, secret_sha256: hushhush}]",
        "api_keys: {ka_hushhush: a, ka_hushhush: b}",
        "slack: {bot_token: [hushhush]}",
        "redact: {entropy: '${HUSH}'}",
        "secrets: {env: {A: {hushhush: 1}}}",
        "tools: {declared: [{name: a, kind: command, binary: a, secrets: {T: hushhush}}]}",
    ] {
        let bench = Bench::new().config("c.yaml", yaml).environment("HUSH", "hushhush");
        let messages = bench.messages();
        assert!(!messages.contains("hush"), "{yaml}\n{messages}");
        println!("{messages}");
    }
}

#[test]
fn entries_that_would_be_taken_for_others_stop_the_start() {
    #[track_caller]
    fn check(keys: &str, words: &str) {
        let messages = Bench::new().config("c.yaml", format!("api_keys: {keys}")).messages();
        assert!(messages.contains(words), "{keys}\n{messages}");
    }
    let digest = KeyDigest::of("some-secret").to_hex();
    let plain = "{caller_id: a, secret: some-secret}";
    let (lower, upper) = (
        format!("{{caller_id: b, secret_sha256: {digest}}}"),
        format!("{{caller_id: c, secret_sha256: {}}}", digest.to_uppercase()),
    );
    let twice = "the same secret stands in two entries";
    for (one, other) in [(plain, &lower), (plain, &upper), (&lower, &upper)] {
        check(&format!("[{one}, {other}]"), twice);
        check(&format!("[{other}, {one}]"), twice);
    }
    for name in ["slack-bridge", "Slack", "UNAUTHENTICATED", "' slack-bridge '"] {
        check(&format!("[{{caller_id: {name}, secret: x}}]"), "the caller's name of another credential");
    }
    for name in [r#""a\nb""#, r#""a\u200bb""#, r#""a\u202eb""#] {
        check(&format!("[{{caller_id: {name}, secret: x}}]"), "control characters or invisible ones");
    }
    let fine = format!("api_keys: [{{caller_id: slack-bridge-2, secret: x}}, {lower}]");
    assert_eq!(Bench::new().config("c.yaml", &fine).loaded().config.api_keys.0.len(), 2);
}

/// What the settings make of a key: the caller and the role, or the refusal.
fn let_in(bench: &Bench, key: &str) -> Result<(String, &'static str), Refusal> {
    let authenticator = Authenticator::new(auth(&bench.loaded().config, None, None));
    let offered = Offered { api_key: Some(key), ..Offered::default() };
    let identity = authenticator.authenticate(&offered, Timestamp::from_millis(0)).found?;
    assert_eq!(identity.credential(), Credential::ApiKey);
    let caller = identity.caller(Door::Rest);
    Ok((caller.id, caller.role.as_str()))
}

#[test]
fn every_form_opens_the_door() {
    #[track_caller]
    fn check(bench: Bench, key: &str, caller: &str, role: &'static str) {
        assert_eq!(let_in(&bench, key), Ok((caller.to_owned(), role)));
        for wrong in ["ka_", &format!("{key}x"), caller] {
            assert_eq!(let_in(&bench, wrong), Err(Refusal::InvalidApiKey), "{wrong}");
        }
        assert_eq!(let_in(&bench, ""), Err(Refusal::Missing));
    }
    let file = |yaml: &str| Bench::new().config("c.yaml", yaml);
    check(file("api_keys: {ka_x: {caller_id: a, role: read}}"), "ka_x", "a", "product_owner");
    check(file("api_keys: {ka_x: a}"), "ka_x", "a", "dev");
    check(file("api_keys: {a: ka_x}"), "ka_x", "a", "dev");
    check(file("api_keys: [{caller_id: a, role: sre, secret: xyz}]"), "xyz", "a", "sre");
    // The digest of `abc`, as FIPS 180-2 prints it.
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    for digest in [digest.to_owned(), digest.to_uppercase()] {
        check(file(&format!("api_keys: [{{caller_id: a, secret_sha256: {digest}}}]")), "abc", "a", "dev");
    }
    let environment = |json: &str| Bench::new().environment("API_KEYS", json);
    check(environment(r#"{"ka_x":{"caller_id":"a","role":"read"}}"#), "ka_x", "a", "product_owner");
    check(environment(r#"{"ka_x":"a"}"#), "ka_x", "a", "dev");
}

#[test]
fn an_empty_internal_token_is_none() {
    for (yaml, is_set) in [
        ("auth: {internal_token: ''}", false),
        ("auth: {}", false),
        ("auth: {internal_token: '${UNSET:-}'}", false),
        ("auth: {internal_token: x}", true),
    ] {
        let settings = auth(&Bench::new().config("c.yaml", yaml).loaded().config, None, None);
        assert_eq!(settings.internal_token.is_some(), is_set, "{yaml}");
        assert_eq!(settings.mode, Mode::Token, "{yaml}: nothing opens by accident");
    }
}

#[test]
fn tokens_are_checked_as_configured() {
    use vambrace_auth::{JwtTrust, KeySource, SignatureAlgorithm};
    let jwt = |yaml: &str| auth(&Bench::new().config("c.yaml", yaml).loaded().config, None, None).jwt;
    let plain = jwt("auth: {}");
    assert_eq!((plain.trust, plain.keys), (JwtTrust::Verify, KeySource::None));
    assert_eq!(plain.algorithms.len(), SignatureAlgorithm::ALL.len());
    let full = jwt(
        "auth:\n  operators: [ops, a@b.c]\n  jwt: {require_email_verified: true, jwks: keys.json, issuer: i, audience: [a, b], \
         algorithms: [ES256], trust: upstream, leeway: 5s}\n\
         permissions: {groups_claim_path: realm_access.roles}\n",
    );
    assert_eq!((full.trust, full.keys), (JwtTrust::Upstream, KeySource::Set));
    assert_eq!(full.algorithms, [SignatureAlgorithm::Es256]);
    assert_eq!((full.issuer.as_deref(), full.audience.len()), (Some("i"), 2));
    assert_eq!((full.leeway.as_secs(), full.groups_claim_path.as_str()), (5, "realm_access.roles"));
    assert_eq!(
        (full.operators.emails, full.operators.groups),
        (vec!["a@b.c".to_owned()], vec!["ops".to_owned()])
    );
    assert!(!plain.require_email_verified && full.require_email_verified);
    for name in ["none", "HS256", "es256", "ES512"] {
        let yaml = format!("auth: {{jwt: {{algorithms: [RS256, {name}]}}}}");
        let messages = Bench::new().config("c.yaml", yaml).messages();
        assert!(
            messages.contains(&format!("`{name}` is not one of the algorithms with a public key")),
            "{messages}"
        );
    }
}

//! API keys in all their forms. No message repeats a secret.

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

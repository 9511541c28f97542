//! The table of credentials and modes, and what callers may say about others.

use std::collections::HashMap;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::json;
use vambrace_auth::{
    ApiKey, AuthSettings, Authenticator, Credential, IgnoredHeader, JwtSettings, JwtTrust, KeyDigest, KeySet,
    KeySource, Mode, Offered, Refusal, SlackKey, WhyIgnored,
};
use vambrace_types::{Door, Rank, Role, Timestamp, Voice};

use crate::signing::{TestKey, encode, key_set};

const TABLE: &str = include_str!("../../../../testdata/credentials.tsv");
const NOW: i64 = 1_800_000_000;
const BODY: &[u8] = b"payload";

/// A secret by name, made at run time.
fn secret(name: &str) -> String {
    match name {
        "empty" => String::new(),
        name => format!("ka_{name}_{}", "5a".repeat(16)),
    }
}

fn api_key(caller_id: &str, name: &str, role: Role, may_assert_identity: bool) -> ApiKey {
    ApiKey {
        caller_id: caller_id.to_owned(),
        role,
        digest: KeyDigest::of(&secret(name)),
        may_assert_identity,
        operator: false,
    }
}

fn keys() -> Vec<ApiKey> {
    vec![
        api_key("root-agent", "write", Role::Dev, false),
        api_key("reader", "read", Role::ProductOwner, false),
        api_key("speaker", "speaker", Role::Dev, true),
        api_key("reading-speaker", "reading-speaker", Role::ProductOwner, true),
        // Foolish, and still no way in.
        api_key("nothing", "empty", Role::Dev, true),
    ]
}

fn slack_signature(timestamp: &str) -> String {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret("slack").as_bytes()).unwrap();
    mac.update(format!("v0:{timestamp}:").as_bytes());
    mac.update(BODY);
    let tag: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("v0={tag}")
}

/// Tokens by name, and the key set that knows one of their signers.
struct Tokens {
    by_name: HashMap<&'static str, String>,
    keys: KeySet,
}

impl Tokens {
    fn new() -> Tokens {
        let (ours, stranger) = (TestKey::p256(), TestKey::p256());
        let header = json!({"alg": "ES256", "kid": "k"});
        let claims = json!({"preferred_username": "ann", "exp": NOW + 60});
        let by_name = [
            ("jwt", ours.token(&header, &claims)),
            ("forged", stranger.token(&header, &claims)),
            ("unsigned", format!("{}.{}.", encode(r#"{"alg":"none"}"#), encode(claims.to_string()))),
            ("internal", secret("good")),
            ("expired", ours.token(&header, &json!({"sub": "ann", "exp": NOW - 60}))),
            ("rotated", ours.token(&json!({"alg": "ES256", "kid": "new"}), &claims)),
            ("blank", " \t ".to_owned()),
        ];
        let keys = KeySet::parse(&key_set(&[ours.jwk(Some("k"))])).unwrap();
        Tokens { by_name: by_name.into(), keys }
    }

    fn value(&self, name: &str) -> String {
        self.by_name.get(name).cloned().unwrap_or_else(|| secret(name))
    }
}

fn authenticator(configured: &str, mode: Mode, tokens: &Tokens) -> Authenticator {
    let has = |word: &str| configured.split(' ').any(|found| found == word);
    let authenticator = Authenticator::new(AuthSettings {
        mode,
        internal_token: has("internal").then(|| KeyDigest::of(&secret("good"))),
        api_keys: if has("keys") { keys() } else { Vec::new() },
        jwt: JwtSettings {
            trust: if has("upstream") { JwtTrust::Upstream } else { JwtTrust::Verify },
            keys: if has("jwt") { KeySource::Set } else { KeySource::None },
            ..JwtSettings::default()
        },
        slack: has("slack").then(|| SlackKey::new(&secret("slack")).unwrap()),
        ..AuthSettings::default()
    });
    if has("jwt") {
        authenticator.set_keys(tokens.keys.clone());
    }
    authenticator
}

fn outcome(authenticator: &Authenticator, shown: &str, tokens: &Tokens) -> String {
    let words: HashMap<&str, &str> =
        shown.split(' ').map(|word| word.split_once('=').unwrap_or((word, ""))).collect();
    let word = |name: &str| words.get(name).copied();
    let value = |name: &str| word(name).map(|name| tokens.value(name));
    let scheme = |scheme: &str, name: &str| value(name).map(|value| format!("{scheme} {value}"));
    let (internal, key) = (value("internal"), value("key"));
    let authorization = scheme("Bearer", "bearer").or_else(|| scheme("Basic", "basic"));
    let timestamp = if word("slack") == Some("late") { NOW - 301 } else { NOW }.to_string();
    let signature = match word("slack") {
        Some("bad") => Some(slack_signature("1")),
        Some(_) => Some(slack_signature(&timestamp)),
        None => None,
    };
    let offered = Offered {
        internal_token: internal.as_deref(),
        authorization: authorization.as_deref(),
        api_key: key.as_deref(),
        slack_timestamp: word("slack").filter(|word| *word != "untimed").map(|_| timestamp.as_str()),
        slack_signature: signature.as_deref(),
        body: Some(BODY),
        user_email: word("email"),
        user_groups: word("groups"),
        slack_user: word("user"),
        slack_channel: None,
        from_trusted_proxy: word("proxy").is_some(),
    };
    let attempt = authenticator.authenticate(&offered, Timestamp::from_millis(NOW * 1000));
    let missed = attempt.missed.is_some_and(|missed| missed.is_guess());
    let note = if missed { " (guess)" } else { "" };
    let found = match attempt.found {
        Ok(identity) => {
            let caller = identity.caller(Door::Rest);
            assert_eq!(caller.rank, Rank::Agent);
            // Who may name others is not one person while they name nobody.
            let of_others = match identity.credential() {
                Credential::InternalToken | Credential::SlackSignature | Credential::Open => true,
                Credential::ApiKey => {
                    keys().iter().any(|key| key.caller_id == caller.id && key.may_assert_identity)
                }
                Credential::Jwt | Credential::Task => false,
            };
            assert_eq!(caller.voice, if of_others { Voice::OfOthers } else { Voice::Own }, "{shown}");
            let mut text = format!("{:?} {} {}", identity.credential(), caller.id, caller.role.as_str());
            let said = [caller.email, Some(caller.groups.join(",")), caller.user];
            for part in said.into_iter().flatten().filter(|part| !part.is_empty()) {
                text = format!("{text} {part}");
            }
            text
        }
        Err(Refusal::InvalidToken(_) | Refusal::ExpiredToken) => "InvalidToken".to_owned(),
        Err(refusal) => format!("{refusal:?}"),
    };
    format!("{found}{note}")
}

#[test]
fn every_row_of_the_table() {
    let tokens = Tokens::new();
    let mut n_rows = 0;
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [configured, mode, shown, expected, _note] = columns[..] else { panic!("{line:?}") };
        let modes = match mode {
            "token" => vec![Mode::Token],
            "open" => vec![Mode::Open],
            "both" => vec![Mode::Token, Mode::Open],
            other => panic!("{other}"),
        };
        for mode in modes {
            let found = outcome(&authenticator(configured, mode, &tokens), shown, &tokens);
            assert_eq!(found, expected, "{mode:?}: {line}");
            n_rows += 1;
        }
    }
    assert!(n_rows > 90, "{n_rows}");
}

#[test]
fn schemes_are_spelled_as_they_come() {
    #[track_caller]
    fn check(value: &str, expected: Result<(), Refusal>) {
        let value = value.replace('K', &secret("write"));
        let authenticator = Authenticator::new(AuthSettings { api_keys: keys(), ..AuthSettings::default() });
        let offered = Offered { authorization: Some(&value), ..Offered::default() };
        let found = authenticator.authenticate(&offered, Timestamp::from_millis(NOW * 1000)).found;
        assert_eq!(found.map(|_| ()), expected, "{value}");
    }
    check("Bearer K", Ok(()));
    check("bearer K", Ok(()));
    check("BEARER  K ", Ok(()));
    check("Bearer", Err(Refusal::Missing));
    check("Bearer ", Err(Refusal::Missing));
    check("Bearer K K", Err(Refusal::InvalidApiKey));
    check("BearerK", Err(Refusal::Missing));
    check("K", Err(Refusal::Missing));
    check("", Err(Refusal::Missing));
    check(&format!("Bearer {}", "x".repeat(20_000)), Err(Refusal::InvalidApiKey));
}

#[test]
fn what_is_said_about_others_is_bounded_and_its_refusal_is_known() {
    let mut settings = AuthSettings { api_keys: keys(), ..AuthSettings::default() };
    let mut console = api_key("console", "console", Role::Dev, true);
    console.operator = true;
    settings.api_keys.push(console);
    let authenticator = Authenticator::new(settings);
    let try_it = |name: &str, email: Option<&str>, groups: Option<&str>| {
        let key = secret(name);
        let offered =
            Offered { api_key: Some(&key), user_email: email, user_groups: groups, ..Offered::default() };
        authenticator.authenticate(&offered, Timestamp::from_millis(0)).found
    };
    let show = |name: &str, email: Option<&str>, groups: Option<&str>| try_it(name, email, groups).unwrap();
    let check = |email: Option<&str>, groups: Option<&str>, n_groups: usize| {
        let identity = show("speaker", email, groups);
        assert_eq!(identity.ignored(), []);
        let caller = identity.caller(Door::Rest);
        assert_eq!(caller.groups.len(), n_groups);
        assert_eq!(caller.email.is_some(), email.is_some_and(|email| !email.trim().is_empty()));
    };
    // What cannot be read is refused; left out, it would leave the rights of the key itself.
    let refuse = |email: Option<&str>, groups: Option<&str>, name: &'static str, why: WhyIgnored| {
        let expected = Refusal::UnreadableIdentity(IgnoredHeader { name, why });
        assert!(!expected.is_guess());
        for key in ["speaker", "console"] {
            assert_eq!(try_it(key, email, groups).err(), Some(expected.clone()));
        }
        assert!(try_it("write", email, groups).is_ok(), "not looked at");
    };
    let (email, groups) = ("x-user-email", "x-user-groups");
    check(Some(" x@example.com "), Some(" a , ,b,"), 2);
    check(Some(""), Some(""), 0);
    refuse(Some("x\u{1f}y"), None, email, WhyIgnored::ControlCharacter);
    refuse(Some("x\u{200b}y"), None, email, WhyIgnored::ControlCharacter);
    check(Some(&"x".repeat(320)), None, 0);
    refuse(Some(&"x".repeat(321)), None, email, WhyIgnored::TooLong);
    refuse(None, Some("good,b\u{7f}d"), groups, WhyIgnored::ControlCharacter);
    check(None, Some(&vec!["g"; 1024].join(",")), 1024);
    refuse(None, Some(&vec!["g"; 1025].join(",")), groups, WhyIgnored::TooMany);
    // Not entitled, and known to have tried.
    let tried = show("write", Some("boss@example.com"), Some("ops"));
    let not_entitled = |name| IgnoredHeader { name, why: WhyIgnored::NotEntitled };
    assert_eq!(tried.ignored(), [not_entitled("x-user-email"), not_entitled("x-user-groups")]);
    // An operator's key is one for itself, not for those it speaks for.
    assert_eq!(show("console", None, None).caller(Door::Rest).rank, Rank::Operator);
    assert_eq!(show("console", Some("x@example.com"), None).caller(Door::Rest).rank, Rank::Agent);
}

#[test]
fn secrets_are_kept_as_digests_and_never_shown() {
    let digest = KeyDigest::of(&secret("write"));
    let hex = digest.to_hex();
    assert_eq!(hex.len(), 64);
    let mut settings = AuthSettings {
        internal_token: Some(digest),
        slack: SlackKey::new(&secret("slack")),
        ..AuthSettings::default()
    };
    settings.api_keys = vec![api_key("a", "write", Role::Dev, false)];
    let shown = format!("{:?}", Authenticator::new(settings));
    for hidden in [secret("write"), hex.clone(), secret("slack")] {
        assert!(!shown.contains(&hidden));
    }
    // A digest from a file is as good as the secret, in either case.
    for text in [hex.clone(), hex.to_uppercase()] {
        let mut key = api_key("a", "other", Role::Dev, false);
        key.digest = KeyDigest::from_hex(&text).unwrap();
        let authenticator =
            Authenticator::new(AuthSettings { api_keys: vec![key], ..AuthSettings::default() });
        let value = secret("write");
        let offered = Offered { api_key: Some(&value), ..Offered::default() };
        assert!(authenticator.authenticate(&offered, Timestamp::from_millis(0)).found.is_ok());
        // The digest itself opens nothing.
        let offered = Offered { api_key: Some(&text), ..Offered::default() };
        let found = authenticator.authenticate(&offered, Timestamp::from_millis(0)).found;
        assert_eq!(found, Err(Refusal::InvalidApiKey));
    }
    let shorter = hex.get(1..).unwrap();
    for wrong in ["", shorter, &format!("{hex}0"), &format!("g{shorter}"), &"+f".repeat(32), &"é".repeat(32)]
    {
        assert!(KeyDigest::from_hex(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn a_bearer_token_is_one_however_it_is_spaced() {
    let tokens = Tokens::new();
    let authenticator = authenticator("jwt", Mode::Open, &tokens);
    let show = |authorization: String| {
        let offered = Offered { authorization: Some(&authorization), ..Offered::default() };
        let now = Timestamp::from_millis(NOW * 1000);
        authenticator.authenticate(&offered, now).found.map(|identity| identity.credential())
    };
    let (good, forged) = (tokens.value("jwt"), tokens.value("forged"));
    for before in ["Bearer ", "bearer\t", "BEARER \t ", " Bearer\u{a0}", "\tbEaReR\u{b}"] {
        assert_eq!(show(format!("{before}{good}")), Ok(Credential::Jwt), "{before:?}");
        let refused = show(format!("{before}{forged}"));
        assert!(matches!(refused, Err(Refusal::InvalidToken(_))), "{before:?}: {refused:?}");
    }
    assert_eq!(show("Bearer".to_owned()), Ok(Credential::Open), "nothing is shown");
    assert_eq!(show(format!("Bearers {forged}")), Ok(Credential::Open), "another scheme");
}

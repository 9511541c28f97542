//! Bearer tokens: which are believed, and what they say.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use vambrace_auth::{
    ApiKey, AuthSettings, Authenticator, Credential, Identity, JwtSettings, JwtTrust, KeyDigest, KeySet,
    KeySource, Mode, Offered, Operators, Refusal, SignatureAlgorithm,
};
use vambrace_types::{Caller, Door, Rank, Role, Timestamp, Voice};

use crate::signing::{TestKey, encode, key_set, token};
use crate::support::skip;

const NOW: i64 = 1_800_000_000;

pub(crate) fn settings() -> JwtSettings {
    JwtSettings { keys: KeySource::Set, ..JwtSettings::default() }
}

pub(crate) fn authenticator(jwt: JwtSettings, keys: &[Value]) -> Authenticator {
    let authenticator = Authenticator::new(AuthSettings { jwt, ..AuthSettings::default() });
    authenticator.set_keys(KeySet::parse(&key_set(keys)).unwrap());
    authenticator
}

pub(crate) fn show(authenticator: &Authenticator, token: &str) -> Result<Identity, Refusal> {
    show_from(authenticator, token, false)
}

fn show_from(
    authenticator: &Authenticator,
    token: &str,
    from_trusted_proxy: bool,
) -> Result<Identity, Refusal> {
    let value = format!("Bearer {token}");
    let offered = Offered { authorization: Some(&value), from_trusted_proxy, ..Offered::default() };
    authenticator.authenticate(&offered, Timestamp::from_millis(NOW * 1000)).found
}

pub(crate) fn claims() -> Value {
    json!({"sub": "1234", "exp": NOW + 60})
}

fn with(changes: Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

pub(crate) fn wrong(why: &'static str) -> Option<Refusal> {
    Some(Refusal::InvalidToken(why))
}

#[test]
fn every_algorithm_is_verified_and_every_changed_bit_is_seen() {
    let mut keys: Vec<(TestKeyRef<'_>, &[&str])> = Vec::new();
    let (p256, p384, ed) = (TestKey::p256(), TestKey::p384(), TestKey::ed25519());
    keys.push((&p256, &["ES256"]));
    keys.push((&p384, &["ES384"]));
    keys.push((&ed, &["EdDSA"]));
    match TestKey::rsa() {
        Some(rsa) => keys.push((rsa, &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"])),
        None => skip("RSA signatures of bearer tokens: the program openssl is not installed"),
    }
    for (key, names) in keys {
        let authenticator = authenticator(settings(), &[key.jwk(Some("k"))]);
        for name in names {
            let good = key.token(&json!({"alg": name, "kid": "k"}), &claims());
            let identity =
                show(&authenticator, &good).unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"));
            assert_eq!((identity.caller_id(), identity.credential()), ("1234", Credential::Jwt));
            // The same signature under other claims, cut, and from a stranger.
            let (head, signature) = good.rsplit_once('.').unwrap();
            let (header, _) = head.split_once('.').unwrap();
            let other = encode(with(json!({"sub": "4321"})).to_string());
            let (stripped, shorter) = (format!("{head}."), key.sign(name, head.as_bytes()));
            let shorter = format!("{head}.{}", encode(&shorter[..shorter.len() - 1]));
            for bad in [format!("{header}.{other}.{signature}"), stripped, shorter] {
                assert_eq!(show(&authenticator, &bad).err(), wrong("the signature is wrong"), "{name}");
            }
            // Every accepted name but this one: the key is of another kind, or the signature does not fit.
            for other in SignatureAlgorithm::ALL.map(SignatureAlgorithm::as_str) {
                let header = json!({"alg": other, "kid": "k"}).to_string();
                let confused = token(&header, &claims().to_string(), |message| key.sign(name, message));
                assert_eq!(show(&authenticator, &confused).is_ok(), other == *name, "{name} as {other}");
            }
        }
    }
}

type TestKeyRef<'k> = &'k TestKey;

#[test]
fn headers_that_are_refused() {
    let key = TestKey::p256();
    let authenticator = authenticator(settings(), &[key.jwk(Some("k"))]);
    let check = |header: &str, expected: Option<Refusal>| {
        let token = token(header, &claims().to_string(), |message| key.sign("ES256", message));
        assert_eq!(show(&authenticator, &token).err(), expected, "{header}");
    };
    let algorithm = || wrong("the signature algorithm is not accepted");
    check(r#"{"alg":"ES256","kid":"k"}"#, None);
    check(r#"{"alg":"ES256"}"#, None); // there is only one key
    check(r#"{"alg":"ES256","kid":"k","typ":"at+jwt","x":1}"#, None);
    check(r#"{"alg":"none","kid":"k"}"#, algorithm());
    check(r#"{"alg":"None","kid":"k"}"#, algorithm());
    check(r#"{"alg":"HS256","kid":"k"}"#, algorithm());
    check(r#"{"alg":"es256","kid":"k"}"#, algorithm());
    check(r#"{"alg":"ES512","kid":"k"}"#, algorithm());
    check(r#"{"alg":null,"kid":"k"}"#, algorithm());
    check(r#"{"kid":"k"}"#, algorithm());
    check(r#"{"alg":"ES384","kid":"k"}"#, wrong("the key is not for this signature algorithm"));
    check(r#"{"alg":"RS256","kid":"k"}"#, wrong("the key is not for this signature algorithm"));
    check(r#"{"alg":"ES256","kid":"other"}"#, Some(Refusal::UnknownKey));
    check(r#"{"alg":"ES256","kid":"K"}"#, Some(Refusal::UnknownKey));
    check(r#"{"alg":"ES256","kid":7}"#, wrong("the key's name is not a text"));
    check(r#"{"alg":"ES256","kid":"k","crit":["exp"]}"#, wrong("the header has critical extensions"));
    check(r#"{"alg":"ES256","kid":"k","crit":[]}"#, wrong("the header has critical extensions"));
    check(r#"{"alg":"ES256","alg":"ES256","kid":"k"}"#, wrong("the header is not readable"));
    check(r#"["ES256"]"#, wrong("the header is not readable"));
    check("hello", wrong("the header is not readable"));
}

#[test]
fn nobody_signs_with_a_public_key_or_brings_one_along() {
    let key = TestKey::p256();
    let authenticator = authenticator(settings(), &[key.jwk(Some("k"))]);
    // The public key as a shared secret.
    let public = key.jwk(Some("k")).to_string();
    let mac = |message: &[u8]| {
        let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, public.as_bytes());
        ring::hmac::sign(&secret, message).as_ref().to_vec()
    };
    let forged = token(r#"{"alg":"HS256","kid":"k"}"#, &claims().to_string(), mac);
    assert_eq!(show(&authenticator, &forged).err(), wrong("the signature algorithm is not accepted"));
    // A stranger's key inside the token.
    let stranger = TestKey::p256();
    let header =
        json!({"alg": "ES256", "kid": "k", "jwk": stranger.jwk(Some("k")), "jku": "http://127.0.0.1/"});
    assert_eq!(
        show(&authenticator, &stranger.token(&header, &claims())).err(),
        wrong("the signature is wrong")
    );
    // The signature of zeros that careless verifiers took for any message.
    let zeros = token(r#"{"alg":"ES256","kid":"k"}"#, &claims().to_string(), |_| vec![0; 64]);
    assert_eq!(show(&authenticator, &zeros).err(), wrong("the signature is wrong"));
}

#[test]
fn times_are_checked_with_the_walks_clock() {
    let key = TestKey::p256();
    let authenticator = authenticator(settings(), &[key.jwk(None)]);
    let check = |claims: Value, expected: Option<Refusal>| {
        let token = key.token(&json!({"alg": "ES256"}), &claims);
        assert_eq!(show(&authenticator, &token).err(), expected, "{claims}");
    };
    let expired = || Some(Refusal::ExpiredToken);
    // The leeway is a minute.
    check(with(json!({"exp": NOW - 59})), None);
    check(with(json!({"exp": NOW - 60})), expired());
    check(with(json!({"exp": NOW as f64 - 59.5})), None);
    check(with(json!({"exp": 0})), expired());
    check(with(json!({"exp": -1})), expired());
    check(json!({"sub": "a"}), wrong("the token never expires"));
    check(with(json!({"exp": null})), wrong("a time is not a number"));
    check(with(json!({"exp": (NOW + 60).to_string()})), wrong("a time is not a number"));
    check(with(json!({"nbf": NOW + 60})), None);
    check(with(json!({"nbf": NOW + 61})), wrong("the token is not valid yet"));
    check(with(json!({"nbf": "soon"})), wrong("a time is not a number"));
    check(with(json!({"iat": NOW + 60})), None);
    check(with(json!({"iat": NOW + 61})), wrong("the token was made in the future"));
    check(with(json!({"iat": NOW - 100_000_000})), None);
}

#[test]
fn issuer_and_audience_must_fit_when_configured() {
    let key = TestKey::p256();
    let check = |issuer: Option<&str>, audience: &[&str], changes: Value, expected: Option<Refusal>| {
        let audience = audience.iter().map(|&name| name.to_owned()).collect();
        let settings = JwtSettings { issuer: issuer.map(str::to_owned), audience, ..settings() };
        let token = key.token(&json!({"alg": "ES256"}), &with(changes.clone()));
        let found = show(&authenticator(settings, &[key.jwk(None)]), &token).err();
        assert_eq!(found, expected, "{issuer:?} {changes}");
    };
    let issuer = || wrong("the token is from another issuer");
    let audience = || wrong("the token is for another audience");
    check(None, &[], json!({"iss": "x", "aud": "y"}), None);
    check(Some("https://id.example.com"), &[], json!({"iss": "https://id.example.com"}), None);
    check(Some("https://id.example.com"), &[], json!({"iss": "https://id.example.com/"}), issuer());
    check(Some("https://id.example.com"), &[], json!({"iss": ["https://id.example.com"]}), issuer());
    check(Some("https://id.example.com"), &[], json!({}), issuer());
    check(None, &["a", "b"], json!({"aud": "b"}), None);
    check(None, &["a", "b"], json!({"aud": ["x", "b"]}), None);
    check(None, &["a", "b"], json!({"aud": "c"}), audience());
    check(None, &["a"], json!({"aud": []}), audience());
    check(None, &["a"], json!({"aud": "A"}), audience());
    check(None, &["a"], json!({"aud": {"a": "a"}}), audience());
    check(None, &["a"], json!({}), audience());
}

#[test]
fn claims_say_who_it_is() {
    let key = TestKey::p256();
    let operators = Operators::parse(&["boss@example.com".to_owned(), "ops".to_owned()]);
    let root = ApiKey {
        caller_id: "root-agent".to_owned(),
        role: Role::Dev,
        digest: KeyDigest::of("x"),
        may_assert_identity: false,
        operator: false,
    };
    let jwt = JwtSettings { operators, ..settings() };
    let authenticator =
        Authenticator::new(AuthSettings { jwt, api_keys: vec![root], ..AuthSettings::default() });
    authenticator.set_keys(KeySet::parse(&key_set(&[key.jwk(None)])).unwrap());
    let caller = |changes: &Value| {
        let token = key.token(&json!({"alg": "ES256"}), &with(changes.clone()));
        show(&authenticator, &token).map(|identity| identity.caller(Door::Rest))
    };
    let check = |changes: Value, id: &str, email: Option<&str>, groups: &[&str], rank: Rank| {
        let expected = Caller {
            email: email.map(str::to_owned),
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
            rank,
            subject: Some("- 1234".to_owned()),
            ..Caller::named(id, Role::Dev, Door::Rest)
        };
        assert_eq!(caller(&changes), Ok(expected), "{changes}");
    };
    use Rank::{Agent, Operator};
    check(json!({}), "1234", None, &[], Agent);
    check(json!({"email": "a@example.com"}), "a@example.com", Some("a@example.com"), &[], Agent);
    check(
        json!({"preferred_username": "ann", "email": "a@example.com", "groups": ["/x", "/y"]}),
        "ann",
        Some("a@example.com"),
        &["/x", "/y"],
        Agent,
    );
    // An address that nobody has verified gives no rights and no name.
    check(json!({"email": "a@example.com", "email_verified": false}), "1234", None, &[], Agent);
    check(json!({"email": "a@example.com", "email_verified": "false"}), "1234", None, &[], Agent);
    check(json!({"email": "boss@example.com", "email_verified": false}), "1234", None, &[], Agent);
    check(
        json!({"email": "a@example.com", "email_verified": true, "preferred_username": ""}),
        "a@example.com",
        Some("a@example.com"),
        &[],
        Agent,
    );
    // Operators, by address and by group.
    check(json!({"email": "Boss@Example.com"}), "Boss@Example.com", Some("Boss@Example.com"), &[], Operator);
    check(json!({"groups": "ops"}), "1234", None, &["ops"], Operator);
    check(json!({"groups": ["Ops"]}), "1234", None, &["Ops"], Agent);
    // And neither by the other's claim.
    check(json!({"email": "ops"}), "ops", Some("ops"), &[], Agent);
    check(json!({"groups": ["boss@example.com"]}), "1234", None, &["boss@example.com"], Agent);
    check(json!({"preferred_username": "boss@example.com"}), "boss@example.com", None, &[], Agent);
    // Nobody calls themself like a service.
    check(json!({"preferred_username": "slack-bridge"}), "1234", None, &[], Agent);
    check(json!({"preferred_username": "Root-Agent"}), "1234", None, &[], Agent);
    let refused = |changes: Value, why: &'static str| {
        assert_eq!(caller(&changes), Err(Refusal::InvalidToken(why)), "{changes}");
    };
    refused(json!({"sub": "local"}), "the token names nobody");
    refused(json!({"sub": ""}), "the token names nobody");
    refused(json!({"sub": 7}), "the token names nobody");
    let name = "a name in the token is too long or has characters that cannot be seen";
    refused(json!({"sub": "a\u{1f}b"}), name);
    refused(json!({"sub": "x".repeat(321)}), name);
    refused(json!({"preferred_username": "ann", "email": "a\n@example.com"}), name);
    refused(json!({"groups": ["a", "b\u{0}"]}), name);
    for hidden in ["\u{200b}", "\u{200d}", "\u{202e}", "\u{2066}", "\u{feff}", "\u{ad}", "\u{e0061}"] {
        refused(json!({"preferred_username": format!("slack{hidden}-bridge")}), name);
        refused(json!({"groups": [format!("ops{hidden}")]}), name);
    }
    let space = "a name in the token begins or ends with white space";
    for name in [" slack-bridge", "slack-bridge ", "slack-bridge\u{a0}", "\tann", " "] {
        refused(json!({"preferred_username": name}), space);
    }
    let address = "the token has an address for a name, and neither email nor subject";
    refused(json!({"preferred_username": "boss@example.com", "sub": null}), address);
    refused(
        json!({"preferred_username": "boss@example.com", "sub": null, "email": "x@y.z", "email_verified": false}),
        address,
    );
    refused(json!({"preferred_username": "ann", "email": " boss@example.com"}), space);
}

#[test]
fn an_email_counts_only_when_verified_where_that_is_required() {
    let key = TestKey::p256();
    let email = |require_email_verified: bool, said: Option<Value>| {
        let operators = Operators::parse(&["boss@example.com".to_owned()]);
        let settings = JwtSettings { require_email_verified, operators, ..settings() };
        let mut claims = with(json!({"email": "boss@example.com"}));
        if let Some(said) = said {
            claims["email_verified"] = said;
        }
        let token = key.token(&json!({"alg": "ES256"}), &claims);
        let caller = show(&authenticator(settings, &[key.jwk(None)]), &token).unwrap().caller(Door::Rest);
        assert_eq!(caller.rank == Rank::Operator, caller.email.is_some(), "{claims}");
        caller.email.is_some()
    };
    for (said, by_default, where_required) in [
        (None, true, false),
        (Some(json!(true)), true, true),
        (Some(json!("true")), true, true),
        (Some(json!(false)), false, false),
        (Some(json!(null)), false, false),
        (Some(json!(1)), false, false),
    ] {
        assert_eq!(email(false, said.clone()), by_default, "{said:?}");
        assert_eq!(email(true, said.clone()), where_required, "{said:?}");
    }
}

#[test]
fn what_an_issuer_signs_for_other_ends_lets_nobody_in() {
    let key = TestKey::p256();
    let verifying = authenticator(settings(), &[key.jwk(None)]);
    let upstream = Authenticator::new(AuthSettings {
        jwt: JwtSettings { trust: JwtTrust::Upstream, ..JwtSettings::default() },
        ..AuthSettings::default()
    });
    let check = |header: Value, changes: Value, expected: Option<Refusal>| {
        let token = key.token(&header, &with(changes));
        assert_eq!(show(&verifying, &token).err(), expected, "{header}");
        assert_eq!(show_from(&upstream, &token, true).err(), expected, "{header}");
    };
    for kind in ["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "Application/JWT"] {
        check(json!({"alg": "ES256", "typ": kind}), json!({}), None);
    }
    let other = || wrong("the token is of a kind that lets nobody in");
    for kind in [
        json!("logout+jwt"),
        json!("application/logout+jwt"),
        json!("dpop+jwt"),
        json!("secevent+jwt"),
        json!("oauth-authz-req+jwt"),
        json!("JWE"),
        json!(""),
        json!(null),
        json!(["JWT"]),
    ] {
        check(json!({"alg": "ES256", "typ": kind}), json!({}), other());
    }
    for zip in [json!("DEF"), json!(null), json!("")] {
        check(json!({"alg": "ES256", "zip": zip}), json!({}), wrong("the payload is compressed"));
    }
    let logout = json!({"events": {"http://schemas.openid.net/event/backchannel-logout": {}}});
    check(json!({"alg": "ES256"}), logout, wrong("the token is the notice of a logout"));
    check(json!({"alg": "ES256"}), json!({"events": ["concert"]}), None);
}

#[test]
fn people_who_take_the_same_name_are_different_owners() {
    let key = TestKey::p256();
    let authenticator = authenticator(settings(), &[key.jwk(None)]);
    let caller = |issuer: Option<&str>, sub: &str| {
        let mut claims = with(json!({"preferred_username": "ann", "sub": sub}));
        if let Some(issuer) = issuer {
            claims["iss"] = json!(issuer);
        }
        let token = key.token(&json!({"alg": "ES256"}), &claims);
        show(&authenticator, &token).map(|identity| identity.caller(Door::Rest))
    };
    let ours = Some("https://id.example.com");
    let people =
        [(ours, "1"), (ours, "2"), (None, "1"), (Some("https://other.example.com"), "1"), (Some("a"), "b c")];
    let owners: HashSet<String> =
        people.iter().map(|(issuer, sub)| caller(*issuer, sub).unwrap().owner()).collect();
    assert_eq!(owners.len(), people.len(), "{owners:?}");
    let ann = caller(ours, "1").unwrap();
    assert_eq!((ann.id.as_str(), ann.subject.as_deref()), ("ann", Some("https://id.example.com 1")));
    assert_eq!(ann.voice, Voice::Own);
    let strange = wrong("the token's issuer or subject is too long or has strange characters");
    for (issuer, sub) in [("a b", "c"), ("a\u{1f}", "b"), ("a", "b\n"), (&"x".repeat(321), "b")] {
        assert_eq!(caller(Some(issuer), sub).err(), strange, "{issuer:?} {sub:?}");
    }
}

#[test]
fn upstream_is_believed_from_proxies_alone_and_never_makes_an_operator() {
    let forged = format!("{}.{}.", encode(r#"{"alg":"none"}"#), encode(r#"{"email":"boss@example.com"}"#));
    let upstream = JwtSettings {
        trust: JwtTrust::Upstream,
        operators: Operators::parse(&["boss@example.com".to_owned()]),
        ..JwtSettings::default()
    };
    for mode in [Mode::Token, Mode::Open] {
        let make =
            |jwt: JwtSettings| Authenticator::new(AuthSettings { mode, jwt, ..AuthSettings::default() });
        let authenticator = make(upstream.clone());
        let caller = show_from(&authenticator, &forged, true).unwrap().caller(Door::Rest);
        assert_eq!((caller.id.as_str(), caller.rank), ("boss@example.com", Rank::Agent));
        assert_eq!(
            show(&authenticator, &forged).err(),
            wrong("its sender is not one of server.trusted_proxies")
        );
        // A token that the gateway should not have passed on.
        let late = format!("{}.{}.", encode("{}"), encode(json!({"sub": "a", "exp": NOW - 60}).to_string()));
        assert_eq!(show_from(&authenticator, &late, true).err(), Some(Refusal::ExpiredToken));
        // With keys, others than proxies are verified.
        let key = TestKey::p256();
        let both = make(JwtSettings { keys: KeySource::Set, ..upstream.clone() });
        both.set_keys(KeySet::parse(&key_set(&[key.jwk(None)])).unwrap());
        assert_eq!(show(&both, &forged).err(), wrong("the signature algorithm is not accepted"));
        let good = key.token(&json!({"alg": "ES256"}), &with(json!({"email": "boss@example.com"})));
        assert_eq!(show(&both, &good).unwrap().caller(Door::Rest).rank, Rank::Operator);
        assert_eq!(show_from(&both, &good, true).unwrap().caller(Door::Rest).rank, Rank::Agent);
        // Where we verify, a proxy's word is no more than anybody's.
        let verifying = make(JwtSettings::default());
        assert_eq!(show_from(&verifying, &forged, true).err(), wrong("no key set is configured"));
    }
}

#[test]
fn tokens_are_bounded() {
    let key = TestKey::p256();
    let authenticator = authenticator(settings(), &[key.jwk(None)]);
    let of_length =
        |padding: usize| key.token(&json!({"alg": "ES256"}), &with(json!({"padding": "x".repeat(padding)})));
    let fits = of_length(12_000);
    assert!(fits.len() < 16 * 1024);
    assert!(show(&authenticator, &fits).is_ok());
    let too_long = of_length(12_400);
    assert!(too_long.len() > 16 * 1024);
    assert_eq!(show(&authenticator, &too_long).err(), wrong("the token is longer than 16 KiB"));
    // Twice the same claim: which of them would the gateway have read?
    let twice = format!(r#"{{"sub":"a","sub":"b","exp":{}}}"#, NOW + 60);
    let twice = token(r#"{"alg":"ES256"}"#, &twice, |message| key.sign("ES256", message));
    assert_eq!(show(&authenticator, &twice).err(), wrong("the claims are not readable"));
}

#[test]
fn only_listed_algorithms_are_accepted() {
    let key = TestKey::p256();
    let algorithms = vec![SignatureAlgorithm::Rs256];
    let authenticator = authenticator(JwtSettings { algorithms, ..settings() }, &[key.jwk(None)]);
    let token = key.token(&json!({"alg": "ES256"}), &claims());
    assert_eq!(show(&authenticator, &token).err(), wrong("the signature algorithm is not accepted"));
    let none = JwtSettings { leeway: Duration::ZERO, ..settings() };
    let strict = self::authenticator(none, &[key.jwk(None)]);
    let ended = key.token(&json!({"alg": "ES256"}), &with(json!({"exp": NOW})));
    assert_eq!(show(&strict, &ended).err(), Some(Refusal::ExpiredToken));
}

proptest! {
    /// Whatever is done to a good token, it is the same token or refused; and nothing makes it panic.
    #[test]
    fn a_changed_token_is_refused(at in 0_usize..400, byte in 0x20_u8..0x7f, cut in 0_usize..400) {
        let key = TestKey::ed25519();
        let authenticator = authenticator(settings(), &[key.jwk(None)]);
        let good = key.token(&json!({"alg": "EdDSA"}), &claims());
        let mut bytes = good.clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let changed = String::from_utf8(bytes).unwrap();
        prop_assert_eq!(show(&authenticator, &changed).is_ok(), changed == good);
        let cut = cut % good.len();
        prop_assert!(show(&authenticator, good.get(..cut).unwrap()).is_err());
    }
}

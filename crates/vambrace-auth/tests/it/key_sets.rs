//! Which keys are taken, and which of them a token may have been signed with.

use serde_json::{Value, json};
use vambrace_auth::{AuthSettings, Authenticator, KeySet, KeySetError, Offered, Refusal};
use vambrace_types::Timestamp;

use crate::jwt::{authenticator, claims, settings, show, wrong};
use crate::signing::{TestKey, encode, key_set};

#[test]
fn several_keys_and_their_names() {
    let (one, two) = (TestKey::p256(), TestKey::p256());
    let sign = |key: &TestKey, kid: Option<&str>| {
        let header = kid.map_or(json!({"alg": "ES256"}), |kid| json!({"alg": "ES256", "kid": kid}));
        key.token(&header, &claims())
    };
    let check = |keys: &[Value], token: &str, expected: Option<Refusal>| {
        assert_eq!(show(&authenticator(settings(), keys), token).err(), expected);
    };
    let both = [one.jwk(Some("1")), two.jwk(Some("2"))];
    check(&both, &sign(&one, Some("1")), None);
    check(&both, &sign(&two, Some("2")), None);
    check(&both, &sign(&one, Some("2")), wrong("the signature is wrong"));
    check(&both, &sign(&one, Some("3")), Some(Refusal::UnknownKey));
    check(&both, &sign(&one, None), wrong("the token names no key, and there are several"));
    // Two keys of one name: either may have signed.
    let same = [one.jwk(Some("1")), two.jwk(Some("1"))];
    check(&same, &sign(&two, Some("1")), None);
    check(&[one.jwk(None)], &sign(&one, Some("whatever")), None);
    check(&[one.jwk(None), two.jwk(None)], &sign(&one, Some("whatever")), Some(Refusal::UnknownKey));
    // A key that is for one algorithm, for encryption, or for other work.
    let mut bound = one.jwk(Some("1"));
    bound["alg"] = json!("ES256");
    bound["use"] = json!("sig");
    bound["key_ops"] = json!(["verify"]);
    check(&[bound], &sign(&one, Some("1")), None);
    if let Some(rsa) = TestKey::rsa() {
        // Without a name, the algorithm may leave only one.
        let nameless = rsa.token(&json!({"alg": "RS256"}), &claims());
        let mixed = [rsa.jwk(Some("1")), one.jwk(Some("2"))];
        check(&mixed, &nameless, None);
        check(&mixed, &sign(&one, None), None);
        check(&mixed, &sign(&two, None), wrong("the signature is wrong"));
        let other = two.token(&json!({"alg": "ES384"}), &claims());
        check(&mixed, &other, wrong("the key is not for this signature algorithm"));
        let mut bound = rsa.jwk(Some("1"));
        bound["alg"] = json!("RS512");
        let token = rsa.token(&json!({"alg": "RS256", "kid": "1"}), &claims());
        check(&[bound], &token, wrong("the key is not for this signature algorithm"));
    }
}

#[test]
fn key_sets_are_read_once_and_bounded() {
    let key = TestKey::p256();
    let changed = |name: &str, value: Value| {
        let mut jwk = key.jwk(Some("1"));
        jwk[name] = value;
        jwk
    };
    let check = |json: &str, expected: Result<(usize, usize), KeySetError>| {
        let found = KeySet::parse(json).map(|keys| (keys.n_keys(), keys.n_left_out()));
        assert_eq!(found, expected, "{}", json.get(..200).unwrap_or(json));
    };
    check("", Err(KeySetError::NotAKeySet));
    check("[]", Err(KeySetError::NotAKeySet));
    check(r#"{"keys":{}}"#, Err(KeySetError::NotAKeySet));
    // Nobody's tokens are good.
    check(r#"{"keys":[]}"#, Ok((0, 0)));
    check(&key_set(&[key.jwk(None)]), Ok((1, 0)));
    let others = [
        changed("use", json!("enc")),
        changed("key_ops", json!(["sign"])),
        changed("alg", json!("HS256")),
        changed("alg", json!("ECDH-ES")),
        changed("crv", json!("P-521")),
        changed("crv", json!("secp256k1")),
        changed("crv", json!("P-384")),
        changed("x", json!("AA")),
        changed("x", json!("!")),
        changed("y", Value::Null),
        changed("kid", json!(7)),
        json!({"kty": "oct", "k": encode("shared"), "kid": "1"}),
        json!({"kty": "OKP", "crv": "X25519", "x": encode([1; 32])}),
        json!({"kty": "OKP", "crv": "Ed25519", "x": encode([1; 31])}),
        json!({"kty": "RSA", "n": encode([255; 128]), "e": "AQAB"}), // 1024 bits
        json!({"kty": "RSA", "n": encode([255; 1025]), "e": "AQAB"}), // 8200 bits
        json!({"kty": "RSA", "n": encode([0; 256]), "e": "AQAB"}),
        json!("key"),
        json!(null),
    ];
    for other in &others {
        check(&key_set(std::slice::from_ref(other)), Err(KeySetError::NoUsableKey));
    }
    let mut all = others.to_vec();
    all.push(key.jwk(Some("good")));
    check(&key_set(&all), Ok((1, others.len())));
    check(&key_set(&vec![key.jwk(None); 256]), Ok((256, 0)));
    check(&key_set(&vec![key.jwk(None); 257]), Err(KeySetError::TooMany));
    check(&" ".repeat((1 << 20) + 1), Err(KeySetError::TooLarge));
}

#[test]
fn keys_are_rotated_while_tokens_come() {
    let (old, new) = (TestKey::p256(), TestKey::p256());
    let authenticator = Authenticator::new(AuthSettings { jwt: settings(), ..AuthSettings::default() });
    let by = |key: &TestKey, kid: &str| key.token(&json!({"alg": "ES256", "kid": kid}), &claims());
    assert_eq!(show(&authenticator, &by(&old, "1")).err(), Some(Refusal::UnknownKey)); // none has come yet
    authenticator.set_keys(KeySet::parse(&key_set(&[old.jwk(Some("1"))])).unwrap());
    assert!(show(&authenticator, &by(&old, "1")).is_ok());
    assert_eq!(show(&authenticator, &by(&new, "2")).err(), Some(Refusal::UnknownKey));
    authenticator.set_keys(KeySet::parse(&key_set(&[new.jwk(Some("2"))])).unwrap());
    assert!(show(&authenticator, &by(&new, "2")).is_ok());
    assert_eq!(show(&authenticator, &by(&old, "1")).err(), Some(Refusal::UnknownKey));
}

/// A token that was believed is not looked at less closely when it comes again; only its signature is not computed anew.
#[test]
fn a_token_that_was_believed_is_refused_when_its_time_or_its_key_is_over() {
    let (key, other) = (TestKey::p256(), TestKey::p256());
    let authenticator = Authenticator::new(AuthSettings { jwt: settings(), ..AuthSettings::default() });
    let set = |key: &TestKey| KeySet::parse(&key_set(&[key.jwk(Some("k"))])).unwrap();
    let token = key.token(&json!({"alg": "ES256", "kid": "k"}), &claims());
    let value = format!("Bearer {token}");
    let at = |seconds: i64| {
        let offered = Offered { authorization: Some(&value), ..Offered::default() };
        authenticator.authenticate(&offered, Timestamp::from_millis(seconds * 1000)).found.err()
    };
    let end = claims()["exp"].as_i64().unwrap() + 60; // the clocks' leeway
    authenticator.set_keys(set(&key));
    for _ in 0..3 {
        assert_eq!(at(end - 1), None);
        assert_eq!(at(end), Some(Refusal::ExpiredToken));
        let (head, signature) = token.rsplit_once('.').unwrap();
        let by_other = other.token(&json!({"alg": "ES256", "kid": "k"}), &claims());
        let (_, forged) = by_other.rsplit_once('.').unwrap();
        assert_eq!(show(&authenticator, &format!("{head}.{forged}")).err(), wrong("the signature is wrong"));
        assert!(show(&authenticator, &format!("{head}.{signature}")).is_ok());
    }
    // Another key under the same name: what the first one signed is nobody's.
    authenticator.set_keys(set(&other));
    assert_eq!(at(end - 1), wrong("the signature is wrong"));
    authenticator.set_keys(KeySet::default());
    assert_eq!(at(end - 1), Some(Refusal::UnknownKey));
    authenticator.set_keys(set(&key));
    assert_eq!(at(end - 1), None);
}

//! Bearer tokens as an identity provider would make them, and as a forger would.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

/// Somebody who signs, with the set of public keys that others verify by.
pub(crate) struct Issuer {
    key: EcdsaKeyPair,
    kid: String,
}

impl Issuer {
    pub(crate) fn new(kid: &str) -> Issuer {
        let chance = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &chance).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &chance).unwrap();
        Issuer { key, kid: kid.to_owned() }
    }

    pub(crate) fn jwks(&self) -> Value {
        let point = self.key.public_key().as_ref();
        json!({"keys": [{
            "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": self.kid,
            "x": BASE64.encode(&point[1..33]), "y": BASE64.encode(&point[33..65]),
        }]})
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let body = unsigned(&json!({"alg": "ES256", "typ": "JWT", "kid": self.kid}), claims);
        let signature = self.key.sign(&SystemRandom::new(), body.as_bytes()).unwrap();
        format!("{body}.{}", BASE64.encode(signature.as_ref()))
    }
}

/// Head and claims, and no signature yet.
pub(crate) fn unsigned(head: &Value, claims: &Value) -> String {
    format!("{}.{}", BASE64.encode(head.to_string()), BASE64.encode(claims.to_string()))
}

/// A token that says of itself that nobody signed it.
pub(crate) fn forged(claims: &Value) -> String {
    format!("{}.", unsigned(&json!({"alg": "none", "typ": "JWT"}), claims))
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64
}

/// What a token of this person says, good for an hour.
pub(crate) fn claims_of(email: &str, groups: &[&str]) -> Value {
    json!({
        "iss": "https://issuer.example.com", "aud": "vambrace", "sub": email, "email": email,
        "groups": groups, "iat": now() - 10, "nbf": now() - 10, "exp": now() + 3600,
    })
}

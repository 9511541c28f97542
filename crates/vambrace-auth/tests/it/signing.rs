//! Keys and tokens, made at run time.

#![expect(clippy::disallowed_types, reason = "RSA keys are made by the openssl program")]

use std::process::Command;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
    RSA_PSS_SHA512, RsaKeyPair,
};
use serde_json::{Value, json};

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// A token whose last part is what `sign` makes of the first two.
pub(crate) fn token(header: &str, claims: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let signed = format!("{}.{}", encode(header), encode(claims));
    let signature = encode(sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

pub(crate) enum TestKey {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl TestKey {
    pub(crate) fn p256() -> TestKey {
        let (alg, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let made = EcdsaKeyPair::generate_pkcs8(alg, &random).unwrap();
        TestKey::P256(EcdsaKeyPair::from_pkcs8(alg, made.as_ref(), &random).unwrap())
    }

    pub(crate) fn p384() -> TestKey {
        let (alg, random) = (&ECDSA_P384_SHA384_FIXED_SIGNING, SystemRandom::new());
        let made = EcdsaKeyPair::generate_pkcs8(alg, &random).unwrap();
        TestKey::P384(EcdsaKeyPair::from_pkcs8(alg, made.as_ref(), &random).unwrap())
    }

    pub(crate) fn ed25519() -> TestKey {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        TestKey::Ed25519(Ed25519KeyPair::from_pkcs8(made.as_ref()).unwrap())
    }

    /// One for all tests, because it takes a while; none where there is no openssl.
    pub(crate) fn rsa() -> Option<&'static TestKey> {
        static KEY: OnceLock<Option<TestKey>> = OnceLock::new();
        KEY.get_or_init(|| {
            let arguments =
                ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-outform", "DER"];
            let made =
                Command::new("openssl").args(arguments).output().ok().filter(|made| made.status.success())?;
            // Which of the two forms it writes depends on its version.
            let key = RsaKeyPair::from_pkcs8(&made.stdout).or_else(|_| RsaKeyPair::from_der(&made.stdout));
            Some(TestKey::Rsa(key.unwrap()))
        })
        .as_ref()
    }

    pub(crate) fn sign(&self, alg: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            TestKey::Rsa(key) => {
                let padding: &dyn ring::signature::RsaEncoding = match alg {
                    "RS384" => &RSA_PKCS1_SHA384,
                    "RS512" => &RSA_PKCS1_SHA512,
                    "PS256" => &RSA_PSS_SHA256,
                    "PS384" => &RSA_PSS_SHA384,
                    "PS512" => &RSA_PSS_SHA512,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
            TestKey::P256(key) | TestKey::P384(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            TestKey::Ed25519(key) => key.sign(message).as_ref().to_vec(),
        }
    }

    pub(crate) fn jwk(&self, id: Option<&str>) -> Value {
        let point = |curve: &str, key: &EcdsaKeyPair| {
            let point = &key.public_key().as_ref()[1..];
            let (x, y) = point.split_at(point.len() / 2);
            json!({"kty": "EC", "crv": curve, "x": encode(x), "y": encode(y)})
        };
        let mut jwk = match self {
            TestKey::Rsa(key) => {
                let public: PublicKeyComponents<Vec<u8>> = key.public().into();
                json!({"kty": "RSA", "n": encode(public.n), "e": encode(public.e)})
            }
            TestKey::P256(key) => point("P-256", key),
            TestKey::P384(key) => point("P-384", key),
            TestKey::Ed25519(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": encode(key.public_key().as_ref())})
            }
        };
        if let Some(id) = id {
            jwk["kid"] = json!(id);
        }
        jwk
    }

    pub(crate) fn token(&self, header: &Value, claims: &Value) -> String {
        let alg = header["alg"].as_str().unwrap_or_default().to_owned();
        token(&header.to_string(), &claims.to_string(), |message| self.sign(&alg, message))
    }
}

pub(crate) fn key_set(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

//! What it takes to believe a bearer token: a whole authentication of ours beside the bare operation of OpenSSL.

use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};
use vambrace_auth::{AuthSettings, Authenticator, JwtSettings, KeySet, KeySource, Offered};
use vambrace_types::Timestamp;

use super::Bench;
use crate::failure::Failure;
use crate::measure::{Turn, take_turns};
use crate::table::{Reach, Row};

const OPENSSL: &str = "openssl speed, verify";
const ROUNDS: usize = 3;
const TOKENS: u32 = 5000;
/// Within the token's life.
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Rs256,
    Es256,
}

impl Algorithm {
    fn name(self) -> &'static str {
        match self {
            Algorithm::Rs256 => "RS256",
            Algorithm::Es256 => "ES256",
        }
    }

    /// As `openssl speed` names it, and how the line with its figures begins.
    fn in_openssl(self) -> (&'static str, &'static str) {
        match self {
            Algorithm::Rs256 => ("rsa2048", "+F2:"),
            Algorithm::Es256 => ("ecdsap256", "+F4:"),
        }
    }
}

pub(super) fn run(_: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for algorithm in [Algorithm::Rs256, Algorithm::Es256] {
        let (authenticator, keys, token) = authenticator(algorithm)?;
        let header = format!("Bearer {token}");
        let mut turns: Vec<Turn<'_>> = vec![
            Box::new(|samples| {
                samples.push(ours(&authenticator, &header, Some(&keys))?);
                Ok(())
            }),
            Box::new(|samples| {
                samples.push(ours(&authenticator, &header, None)?);
                Ok(())
            }),
            Box::new(|samples| {
                samples.push(theirs(algorithm)?);
                Ok(())
            }),
        ];
        let medians = take_turns(ROUNDS, &mut turns)?;
        let [first, again, theirs] = medians.as_slice() else { continue };
        for (when, ours) in [("first shown", first), ("shown again", again)] {
            let what = format!("bearer token, {}, {when}", algorithm.name());
            rows.push(Row::time(&what, *ours, OPENSSL, Some(*theirs), Reach::Times(1.3)));
        }
    }
    Ok(rows)
}

/// One whole authentication: the header's text, the token's parts, the signature, the claims. With `anew`, these keys are
/// set before each, which forgets what was verified.
fn ours(authenticator: &Authenticator, header: &str, anew: Option<&KeySet>) -> Result<Duration, Failure> {
    let offered = Offered { authorization: Some(header), ..Offered::default() };
    let start = Instant::now();
    for _ in 0..TOKENS {
        if let Some(keys) = anew {
            authenticator.set_keys(keys.clone());
        }
        authenticator
            .authenticate(&offered, NOW)
            .found
            .map_err(|refusal| Failure::wrong("vambrace", "refused a good token", refusal.message()))?;
    }
    Ok(start.elapsed() / TOKENS)
}

fn theirs(algorithm: Algorithm) -> Result<Duration, Failure> {
    let (name, mark) = algorithm.in_openssl();
    let mut command = Command::new("openssl");
    let output =
        command.args(["speed", "-mr", "-seconds", "1", name]).output().map_err(Failure::start("openssl"))?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    verify_rate(&told, mark)
        .map(|rate| Duration::from_secs_f64(1.0 / rate))
        .ok_or_else(|| Failure::wrong("openssl speed", "told no figure", &told))
}

/// `+F2:2:2048:4057.6:61037.3`: the last is how many are verified in a second.
fn verify_rate(told: &str, mark: &str) -> Option<f64> {
    let line = told.lines().find(|line| line.starts_with(mark))?;
    line.rsplit(':').next()?.trim().parse().ok().filter(|rate| *rate > 0.0)
}

/// An authenticator, its one key, and a token that it believes.
fn authenticator(algorithm: Algorithm) -> Result<(Authenticator, KeySet, String), Failure> {
    let (head, claims) = (
        json!({"alg": algorithm.name(), "typ": "JWT", "kid": "k"}),
        json!({
            "iss": "https://issuer.example.com", "aud": "vambrace", "sub": "u-1",
            "email": "ada@example.com", "groups": ["a", "b", "c"],
            "iat": 1_799_999_900, "nbf": 1_799_999_900, "exp": 1_800_003_600,
        }),
    );
    let encode = |value: &Value| BASE64.encode(value.to_string());
    let signed = format!("{}.{}", encode(&head), encode(&claims));
    let (key, signature) = sign(algorithm, signed.as_bytes())?;
    let keys = KeySet::parse(&json!({"keys": [key]}).to_string())
        .map_err(|problem| Failure::wrong("vambrace", "does not take the key", &problem.to_string()))?;
    let jwt = JwtSettings {
        keys: KeySource::Set,
        issuer: Some("https://issuer.example.com".to_owned()),
        audience: vec!["vambrace".to_owned()],
        ..JwtSettings::default()
    };
    let authenticator = Authenticator::new(AuthSettings { jwt, ..AuthSettings::default() });
    authenticator.set_keys(keys.clone());
    Ok((authenticator, keys, format!("{signed}.{}", BASE64.encode(signature))))
}

/// The public key as a JSON Web Key, and the signature.
fn sign(algorithm: Algorithm, message: &[u8]) -> Result<(Value, Vec<u8>), Failure> {
    let lost = |what: &'static str| move |_| Failure::new(what, "Run this again.");
    let random = SystemRandom::new();
    match algorithm {
        Algorithm::Rs256 => {
            let mut make = Command::new("openssl");
            make.args([
                "genpkey",
                "-algorithm",
                "RSA",
                "-pkeyopt",
                "rsa_keygen_bits:2048",
                "-outform",
                "DER",
            ]);
            let made = make.output().map_err(Failure::start("openssl"))?;
            // Which of the two forms it writes has changed between versions.
            let pair = RsaKeyPair::from_pkcs8(&made.stdout)
                .or_else(|_| RsaKeyPair::from_der(&made.stdout))
                .map_err(|problem| Failure::wrong("openssl", "made no key", &problem.to_string()))?;
            let mut signature = vec![0; pair.public().modulus_len()];
            pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                .map_err(lost("no RSA signature"))?;
            let components = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public());
            let (n, e) = (BASE64.encode(components.n), BASE64.encode(components.e));
            Ok((json!({"kty": "RSA", "kid": "k", "use": "sig", "alg": "RS256", "n": n, "e": e}), signature))
        }
        Algorithm::Es256 => {
            let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
                .map_err(lost("no key"))?;
            let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random)
                .map_err(|problem| Failure::new(format!("no key: {problem}"), "Run this again."))?;
            let signature = pair.sign(&random, message).map_err(lost("no signature"))?;
            // One byte for the form, then two numbers of 32.
            let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
            let (x, y) = point.split_at_checked(32).unwrap_or_default();
            let (x, y) = (BASE64.encode(x), BASE64.encode(y));
            let key = json!({"kty": "EC", "crv": "P-256", "kid": "k", "use": "sig", "x": x, "y": y});
            Ok((key, signature.as_ref().to_vec()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_the_last_figure_of_its_line() {
        let told = "+DTP:2048:public:rsa:1\n+F2:2:2048:4057.627119:61037.313433\n";
        assert_eq!(verify_rate(told, "+F2:"), Some(61037.313433));
        assert_eq!(verify_rate(told, "+F4:"), None);
        assert_eq!(verify_rate("+F4:3:256:1:0\n", "+F4:"), None);
    }

    #[test]
    fn the_tokens_are_believed_while_they_live() {
        for algorithm in [Algorithm::Rs256, Algorithm::Es256] {
            let (authenticator, _, token) = authenticator(algorithm).unwrap();
            let header = format!("Bearer {token}");
            let offered = Offered { authorization: Some(&header), ..Offered::default() };
            authenticator.authenticate(&offered, NOW).found.unwrap();
            let late = Timestamp::from_millis(1_900_000_000_000);
            assert!(authenticator.authenticate(&offered, late).found.is_err());
        }
    }
}

//! The public keys of those who give out bearer tokens, read once for many tokens.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::Value;
use thiserror::Error;
use vambrace_json::Limits;

/// How a token may be signed. THREAT: P13, `none` and the shared-secret algorithms cannot even be said: with
/// them a public key would be the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureAlgorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

impl SignatureAlgorithm {
    pub const ALL: [SignatureAlgorithm; 9] = [
        SignatureAlgorithm::Rs256,
        SignatureAlgorithm::Rs384,
        SignatureAlgorithm::Rs512,
        SignatureAlgorithm::Ps256,
        SignatureAlgorithm::Ps384,
        SignatureAlgorithm::Ps512,
        SignatureAlgorithm::Es256,
        SignatureAlgorithm::Es384,
        SignatureAlgorithm::EdDsa,
    ];

    /// The name as in a token's `alg`; names are case-sensitive.
    pub fn parse(name: &str) -> Option<SignatureAlgorithm> {
        SignatureAlgorithm::ALL.into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            SignatureAlgorithm::Rs256 => "RS256",
            SignatureAlgorithm::Rs384 => "RS384",
            SignatureAlgorithm::Rs512 => "RS512",
            SignatureAlgorithm::Ps256 => "PS256",
            SignatureAlgorithm::Ps384 => "PS384",
            SignatureAlgorithm::Ps512 => "PS512",
            SignatureAlgorithm::Es256 => "ES256",
            SignatureAlgorithm::Es384 => "ES384",
            SignatureAlgorithm::EdDsa => "EdDSA",
        }
    }
}

/// Why a text is no key set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KeySetError {
    #[error("the key set is larger than {MOST_BYTES} bytes")]
    TooLarge,
    #[error("the key set is not a JSON object with a list `keys`")]
    NotAKeySet,
    #[error("the key set has more than {MOST_KEYS} keys")]
    TooMany,
    #[error("no key of the key set can check a signature (RSA of 2048 to 8192 bits, P-256, P-384, Ed25519)")]
    NoUsableKey,
}

const MOST_BYTES: usize = 1 << 20;
const MOST_KEYS: usize = 256;

/// Keys for checking signatures. Those for other uses and of other kinds are left out.
#[derive(Debug, Clone, Default)]
pub struct KeySet {
    keys: Vec<Key>,
    n_left_out: usize,
}

/// Which keys a token may have been signed with.
pub(crate) enum Choice<'k> {
    These(Vec<&'k Key>),
    /// The token names a key that is not there.
    Unknown,
    /// The token names none, and there are several for its algorithm.
    Ambiguous,
}

impl KeySet {
    /// Reads a JSON Web Key Set (RFC 7517).
    pub fn parse(json: &str) -> Result<KeySet, KeySetError> {
        if json.len() > MOST_BYTES {
            return Err(KeySetError::TooLarge);
        }
        let document: Value = vambrace_json::read(json.as_bytes(), Limits::document(MOST_BYTES))
            .map_err(|_| KeySetError::NotAKeySet)?;
        let listed = document.get("keys").and_then(Value::as_array).ok_or(KeySetError::NotAKeySet)?;
        if listed.len() > MOST_KEYS {
            return Err(KeySetError::TooMany);
        }
        let keys: Vec<Key> = listed.iter().filter_map(Key::parse).collect();
        // An empty set says that nobody's tokens are good. One of keys that we cannot use says nothing.
        if keys.is_empty() && !listed.is_empty() {
            return Err(KeySetError::NoUsableKey);
        }
        Ok(KeySet { n_left_out: listed.len() - keys.len(), keys })
    }

    pub fn n_keys(&self) -> usize {
        self.keys.len()
    }

    /// Keys for encryption, shared secrets, unknown kinds and weak ones.
    pub fn n_left_out(&self) -> usize {
        self.n_left_out
    }

    pub(crate) fn choose(&self, id: Option<&str>, algorithm: SignatureAlgorithm) -> Choice<'_> {
        let Some(id) = id else {
            let fitting: Vec<&Key> = self.keys.iter().filter(|key| key.allows(algorithm)).collect();
            return match (self.keys.as_slice(), fitting.as_slice()) {
                ([], _) => Choice::Unknown,
                // It may be for another algorithm, which its user is told.
                ([only], _) => Choice::These(vec![only]),
                (all, []) => Choice::These(all.iter().collect()),
                (_, [_]) => Choice::These(fitting),
                (_, [_, _, ..]) => Choice::Ambiguous,
            };
        };
        let named: Vec<&Key> = self.keys.iter().filter(|key| key.id.as_deref() == Some(id)).collect();
        match (named.is_empty(), self.keys.as_slice()) {
            (false, _) => Choice::These(named),
            // A set of one key often has no names at all.
            (true, [only]) if only.id.is_none() => Choice::These(vec![only]),
            (true, _) => Choice::Unknown,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Key {
    id: Option<String>,
    /// The one algorithm that the key's owner allows.
    only: Option<SignatureAlgorithm>,
    material: Material,
}

#[derive(Debug, Clone)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// What a key does with an algorithm.
enum Scheme {
    Rsa(&'static RsaParameters),
    Other(&'static dyn VerificationAlgorithm),
    /// The key is of another kind.
    None,
}

impl Key {
    fn parse(value: &Value) -> Option<Key> {
        let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
        let for_signatures = jwk.common.public_key_use.is_none_or(|what| what == PublicKeyUse::Signature);
        let may_verify =
            jwk.common.key_operations.is_none_or(|operations| operations.contains(&KeyOperations::Verify));
        if !for_signatures || !may_verify {
            return None;
        }
        let only = match value.get("alg").and_then(Value::as_str) {
            Some(name) => Some(SignatureAlgorithm::parse(name)?),
            None => None,
        };
        Some(Key { id: jwk.common.key_id, only, material: Material::parse(&jwk.algorithm)? })
    }

    pub(crate) fn allows(&self, algorithm: SignatureAlgorithm) -> bool {
        self.only.is_none_or(|only| only == algorithm)
            && !matches!(self.material.scheme(algorithm), Scheme::None)
    }

    pub(crate) fn verifies(&self, algorithm: SignatureAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.allows(algorithm) {
            return false;
        }
        match (self.material.scheme(algorithm), &self.material) {
            (Scheme::Rsa(parameters), Material::Rsa { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
            }
            (Scheme::Other(scheme), Material::P256(key) | Material::P384(key) | Material::Ed25519(key)) => {
                UnparsedPublicKey::new(scheme, key).verify(message, signature).is_ok()
            }
            (Scheme::Rsa(_) | Scheme::Other(_) | Scheme::None, _) => false,
        }
    }
}

impl Material {
    fn parse(parameters: &AlgorithmParameters) -> Option<Material> {
        match parameters {
            AlgorithmParameters::RSA(rsa) => {
                let (n, e) = (unsigned(&rsa.n)?, unsigned(&rsa.e)?);
                let n_bits = n.len() * 8 - usize::try_from(n.first()?.leading_zeros()).ok()?;
                // What the verification takes; a shorter one would be refused with every token.
                (2048..=8192).contains(&n_bits).then_some(Material::Rsa { n, e })
            }
            AlgorithmParameters::EllipticCurve(curve) => {
                let (x, y) = (decode(&curve.x)?, decode(&curve.y)?);
                let point = |length: usize| {
                    (x.len() == length && y.len() == length).then(|| [&[4_u8][..], &x, &y].concat())
                };
                match curve.curve {
                    EllipticCurve::P256 => point(32).map(Material::P256),
                    EllipticCurve::P384 => point(48).map(Material::P384),
                    _ => None,
                }
            }
            AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
                decode(&pair.x).filter(|key| key.len() == 32).map(Material::Ed25519)
            }
            // Shared secrets, and kinds that the library may learn later.
            _ => None,
        }
    }

    fn scheme(&self, algorithm: SignatureAlgorithm) -> Scheme {
        use SignatureAlgorithm::{EdDsa, Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
        match (self, algorithm) {
            (Material::Rsa { .. }, Rs256) => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
            (Material::Rsa { .. }, Rs384) => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
            (Material::Rsa { .. }, Rs512) => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
            (Material::Rsa { .. }, Ps256) => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
            (Material::Rsa { .. }, Ps384) => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
            (Material::Rsa { .. }, Ps512) => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
            (Material::P256(_), Es256) => Scheme::Other(&signature::ECDSA_P256_SHA256_FIXED),
            (Material::P384(_), Es384) => Scheme::Other(&signature::ECDSA_P384_SHA384_FIXED),
            (Material::Ed25519(_), EdDsa) => Scheme::Other(&signature::ED25519),
            (Material::Rsa { .. }, Es256 | Es384 | EdDsa)
            | (Material::P256(_), Rs256 | Rs384 | Rs512 | Ps256 | Ps384 | Ps512 | Es384 | EdDsa)
            | (Material::P384(_), Rs256 | Rs384 | Rs512 | Ps256 | Ps384 | Ps512 | Es256 | EdDsa)
            | (Material::Ed25519(_), Rs256 | Rs384 | Rs512 | Ps256 | Ps384 | Ps512 | Es256 | Es384) => {
                Scheme::None
            }
        }
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()
}

/// Some writers put a zero in front, as signed numbers need it; these are unsigned.
fn unsigned(text: &str) -> Option<Vec<u8>> {
    let bytes = decode(text)?;
    let first = bytes.iter().position(|byte| *byte != 0)?;
    bytes.get(first..).map(<[u8]>::to_vec)
}

//! Bearer tokens (RFC 7519): from text to claims that may be believed. The time is an argument.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use vambrace_json::Limits;
use vambrace_types::Timestamp;

use crate::Refusal;
use crate::key_set::{Choice, KeySet, SignatureAlgorithm};
use crate::verified::Verified;

/// Who has checked a token's signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwtTrust {
    /// We do.
    Verify,
    /// The gateway before us did; believed only from a trusted proxy.
    Upstream,
}

/// Whether there are keys to verify with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// No key set is configured: no token can be verified, whatever it says.
    None,
    /// One is, and comes with `Authenticator::set_keys`.
    Set,
}

#[derive(Debug, Clone)]
pub struct JwtSettings {
    pub trust: JwtTrust,
    pub keys: KeySource,
    pub algorithms: Vec<SignatureAlgorithm>,
    pub issuer: Option<String>,
    /// A token must name one of these; empty: any.
    pub audience: Vec<String>,
    /// How far clocks may differ.
    pub leeway: Duration,
    pub groups_claim_path: String,
    /// Paths of further claims that contexts are chosen by.
    pub context_claims: Vec<String>,
    /// Whether an email counts only if the token says that it was verified.
    pub require_email_verified: bool,
    /// Whose verified tokens make an operator.
    pub operators: Operators,
}

/// People and groups. THREAT: P13, each is compared with its own claim only: whoever chooses an address `admins` is not in
/// the group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operators {
    pub emails: Vec<String>,
    pub groups: Vec<String>,
}

impl Operators {
    /// From one list of both. What has an `@` in it is an address, and everything else a group.
    pub fn parse(entries: &[String]) -> Operators {
        let (emails, groups) = entries.iter().cloned().partition(|entry| entry.contains('@'));
        Operators { emails, groups }
    }

    pub(crate) fn hold(&self, email: Option<&str>, groups: &[String]) -> bool {
        let is_listed = |email: &str| self.emails.iter().any(|listed| listed.eq_ignore_ascii_case(email));
        email.is_some_and(is_listed) || groups.iter().any(|group| self.groups.contains(group))
    }
}

impl JwtSettings {
    pub(crate) fn takes_tokens(&self) -> bool {
        self.has_keys() || self.trust == JwtTrust::Upstream
    }

    pub(crate) fn has_keys(&self) -> bool {
        self.keys == KeySource::Set
    }
}

impl Default for JwtSettings {
    fn default() -> JwtSettings {
        JwtSettings {
            trust: JwtTrust::Verify,
            keys: KeySource::None,
            algorithms: SignatureAlgorithm::ALL.to_vec(),
            issuer: None,
            audience: Vec::new(),
            leeway: Duration::from_secs(60),
            groups_claim_path: "groups".to_owned(),
            context_claims: Vec::new(),
            require_email_verified: false,
            operators: Operators::default(),
        }
    }
}

pub(crate) type Claims = Map<String, Value>;

/// Real ones are one or two kilobytes; those with hundreds of groups still fit.
const MOST_BYTES: usize = 16 * 1024;

struct Parts<'t> {
    header: &'t str,
    payload: &'t str,
    signature: &'t str,
    /// Header and payload with their dot: what is signed.
    signed: &'t str,
}

fn split(token: &str) -> Option<Parts<'_>> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    let is_base64url =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    let is_one = !header.is_empty()
        && !payload.is_empty()
        && [header, payload, signature].into_iter().all(is_base64url);
    is_one.then_some(Parts { header, payload, signature, signed })
}

/// Three parts in base64url; the last may be empty, as in a token that nobody signed.
pub(crate) fn looks_like_one(token: &str) -> bool {
    split(token).is_some()
}

/// The keys of the moment, and what was found good with them.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) set: KeySet,
    pub(crate) verified: Verified,
}

pub(crate) fn verify(
    token: &str,
    settings: &JwtSettings,
    keys: &Keys,
    now: Timestamp,
) -> Result<Claims, Refusal> {
    if !settings.has_keys() {
        return Err(Refusal::InvalidToken("no key set is configured"));
    }
    let parts = parts(token)?;
    let header = object(parts.header).ok_or(Refusal::InvalidToken("the header is not readable"))?;
    // RFC 7515, 4.1.11: whoever does not understand an extension that is marked critical must refuse. We know
    // none.
    if header.contains_key("crit") {
        return Err(Refusal::InvalidToken("the header has critical extensions"));
    }
    check_kind(&header)?;
    let algorithm = header
        .get("alg")
        .and_then(Value::as_str)
        .and_then(SignatureAlgorithm::parse)
        .filter(|algorithm| settings.algorithms.contains(algorithm))
        .ok_or(Refusal::InvalidToken("the signature algorithm is not accepted"))?;
    let id = match header.get("kid") {
        None => None,
        Some(Value::String(id)) => Some(id.as_str()),
        Some(_) => return Err(Refusal::InvalidToken("the key's name is not a text")),
    };
    // INVARIANT: keys come from the key set alone. `jwk`, `jku`, `x5c` and `x5u` are the sender's own word.
    let candidates = match keys.set.choose(id, algorithm) {
        Choice::These(keys) => keys,
        Choice::Unknown => return Err(Refusal::UnknownKey),
        Choice::Ambiguous => {
            return Err(Refusal::InvalidToken("the token names no key, and there are several"));
        }
    };
    if !candidates.iter().any(|key| key.allows(algorithm)) {
        return Err(Refusal::InvalidToken("the key is not for this signature algorithm"));
    }
    let signature = BASE64_URL_SAFE_NO_PAD
        .decode(parts.signature)
        .map_err(|_| Refusal::InvalidToken("the signature is not readable"))?;
    let verifies =
        || candidates.iter().any(|key| key.verifies(algorithm, parts.signed.as_bytes(), &signature));
    if !keys.verified.or_verify(token, verifies) {
        return Err(Refusal::InvalidToken("the signature is wrong"));
    }
    // Only now is the payload anything but a stranger's text.
    let claims = object(parts.payload).ok_or(Refusal::InvalidToken("the claims are not readable"))?;
    check_events(&claims)?;
    check_times(&claims, settings.leeway, now, Expiry::Required)?;
    check_names(&claims, settings)?;
    Ok(claims)
}

/// Reads what a trusted gateway has verified already. Its tokens may lack what it has checked and dropped.
pub(crate) fn read_unverified(
    token: &str,
    settings: &JwtSettings,
    now: Timestamp,
) -> Result<Claims, Refusal> {
    let parts = parts(token)?;
    // A gateway may have dropped the header's words; those that are there hold.
    if let Some(header) = object(parts.header) {
        check_kind(&header)?;
    }
    let claims = object(parts.payload).ok_or(Refusal::InvalidToken("the claims are not readable"))?;
    check_events(&claims)?;
    check_times(&claims, settings.leeway, now, Expiry::Optional)?;
    check_names(&claims, settings)?;
    Ok(claims)
}

/// What a token may call itself: nothing, a JWT, or an access token (RFC 9068). THREAT: P13, an issuer signs other things
/// with the same key, such as notices of a logout, which are no credentials.
fn check_kind(header: &Map<String, Value>) -> Result<(), Refusal> {
    // A compressed payload is not what was looked at.
    if header.contains_key("zip") {
        return Err(Refusal::InvalidToken("the payload is compressed"));
    }
    let is_ours = match header.get("typ") {
        None => true,
        Some(Value::String(kind)) => {
            let kind = kind.to_ascii_lowercase();
            matches!(kind.strip_prefix("application/").unwrap_or(&kind), "jwt" | "at+jwt")
        }
        Some(_) => false,
    };
    if is_ours { Ok(()) } else { Err(Refusal::InvalidToken("the token is of a kind that lets nobody in")) }
}

const LOGOUT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// The same for issuers that do not name the kind: OpenID Connect only recommends it for notices of a logout.
fn check_events(claims: &Claims) -> Result<(), Refusal> {
    match claims.get("events").and_then(|events| events.get(LOGOUT)) {
        None => Ok(()),
        Some(_) => Err(Refusal::InvalidToken("the token is the notice of a logout")),
    }
}

fn parts(token: &str) -> Result<Parts<'_>, Refusal> {
    if token.len() > MOST_BYTES {
        return Err(Refusal::InvalidToken("the token is longer than 16 KiB"));
    }
    split(token).ok_or(Refusal::InvalidToken("the token does not have three parts"))
}

fn object(part: &str) -> Option<Map<String, Value>> {
    let json = BASE64_URL_SAFE_NO_PAD.decode(part).ok()?;
    // THREAT: P13, of two `sub` members one reader takes the first and another the last; a gateway before us and we
    // must not see different people in one token. The reader refuses both.
    match vambrace_json::read(&json, Limits::message(MOST_BYTES)).ok()? {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expiry {
    Required,
    Optional,
}

fn check_times(claims: &Claims, leeway: Duration, now: Timestamp, expiry: Expiry) -> Result<(), Refusal> {
    let seconds = |name: &str| match claims.get(name) {
        None => Ok(None),
        Some(value) => match value.as_f64() {
            Some(seconds) => Ok(Some(seconds)),
            None => Err(Refusal::InvalidToken("a time is not a number")),
        },
    };
    // A double holds milliseconds exactly for the next 280,000 years.
    let now = now.millis() as f64 / 1000.0;
    let leeway = leeway.as_secs_f64();
    match seconds("exp")? {
        Some(end) if now >= end + leeway => return Err(Refusal::ExpiredToken),
        None if expiry == Expiry::Required => {
            return Err(Refusal::InvalidToken("the token never expires"));
        }
        Some(_) | None => {}
    }
    if seconds("nbf")?.is_some_and(|start| start > now + leeway) {
        return Err(Refusal::InvalidToken("the token is not valid yet"));
    }
    if seconds("iat")?.is_some_and(|made| made > now + leeway) {
        return Err(Refusal::InvalidToken("the token was made in the future"));
    }
    Ok(())
}

fn check_names(claims: &Claims, settings: &JwtSettings) -> Result<(), Refusal> {
    if let Some(issuer) = &settings.issuer
        && claims.get("iss").and_then(Value::as_str) != Some(issuer)
    {
        return Err(Refusal::InvalidToken("the token is from another issuer"));
    }
    if settings.audience.is_empty() {
        return Ok(());
    }
    let is_ours = |name: &Value| {
        name.as_str().is_some_and(|name| settings.audience.iter().any(|audience| audience == name))
    };
    let named = match claims.get("aud") {
        Some(Value::Array(names)) => names.iter().any(is_ours),
        Some(name) => is_ours(name),
        None => false,
    };
    if named { Ok(()) } else { Err(Refusal::InvalidToken("the token is for another audience")) }
}

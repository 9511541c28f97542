//! Who may come in: from the configuration to the authenticator's settings.

use vambrace_auth::{
    ApiKey, AuthSettings, JwtSettings, JwtTrust, KeyDigest, KeySource, Mode, Operators, SignatureAlgorithm,
    SlackKey,
};

use crate::section::{self, AuthMode, Config, OneOrMany};

/// `first` is the key that the first start made, when no credential is configured.
pub fn auth(config: &Config, first: Option<ApiKey>) -> AuthSettings {
    AuthSettings {
        mode: match config.auth.mode {
            AuthMode::Token => Mode::Token,
            AuthMode::Open => Mode::Open,
        },
        // The empty text is read as none: nobody becomes the bridge by sending nothing.
        internal_token: config
            .auth
            .internal_token
            .as_ref()
            .map(|token| KeyDigest::of(token.secret().expose())),
        api_keys: config.api_keys.0.iter().filter_map(api_key).chain(first).collect(),
        jwt: jwt(config),
        slack: config
            .slack
            .signing_secret
            .as_ref()
            .and_then(|secret| SlackKey::new(secret.secret().expose())),
    }
}

/// From here on only the digest is kept.
fn api_key(key: &section::ApiKey) -> Option<ApiKey> {
    let digest = match (&key.secret, &key.secret_sha256) {
        (Some(secret), _) => KeyDigest::of(secret.secret().expose()),
        (None, Some(digest)) => KeyDigest::from_hex(&digest.0)?,
        (None, None) => return None,
    };
    Some(ApiKey {
        caller_id: key.caller_id.clone(),
        role: key.role.role(),
        digest,
        may_assert_identity: key.may_assert_identity,
        operator: key.operator,
    })
}

fn jwt(config: &Config) -> JwtSettings {
    let jwt = &config.auth.jwt;
    JwtSettings {
        trust: match jwt.trust {
            section::JwtTrust::Verify => JwtTrust::Verify,
            section::JwtTrust::Upstream => JwtTrust::Upstream,
        },
        keys: match jwt.jwks.as_deref() {
            None | Some("") => KeySource::None,
            Some(_) => KeySource::Set,
        },
        // Names that we do not know have been refused (`consistency`).
        algorithms: jwt.algorithms.iter().filter_map(|name| SignatureAlgorithm::parse(name)).collect(),
        issuer: jwt.issuer.clone().filter(|issuer| !issuer.is_empty()),
        audience: match &jwt.audience {
            None => Vec::new(),
            Some(OneOrMany::One(name)) => vec![name.clone()],
            Some(OneOrMany::Many(names)) => names.clone(),
        },
        leeway: jwt.leeway.duration(),
        groups_claim_path: config.permissions.groups_claim_path.clone(),
        require_email_verified: jwt.require_email_verified,
        operators: Operators::parse(&config.auth.operators),
    }
}

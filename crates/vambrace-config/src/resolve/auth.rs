//! Who may come in: from the configuration to the authenticator's settings.

use std::sync::Arc;

use vambrace_auth::{
    ApiKey, AuthSettings, ContextRows, JwtSettings, JwtTrust, KeyDigest, KeySource, Mode, Operators,
    SignatureAlgorithm, SlackKey, TaskKey, Weakness, weakness,
};

use crate::section::{self, AuthMode, Config, OneOrMany};

/// Which caller works in which context.
pub fn context_rows(config: &Config) -> ContextRows {
    super::contexts::rows(config)
}

/// `first` is the key that the first start made, when no credential is configured; `tasks` makes
/// tokens for tasks.
pub fn auth(config: &Config, first: Option<ApiKey>, tasks: Option<Arc<TaskKey>>) -> AuthSettings {
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
        tasks,
        contexts: super::contexts::rows(config),
    }
}

/// The secrets that let somebody in and that strangers could find out: the key of the configuration, and what to do. None of
/// them is shown. THREAT: P13, a service that starts with a token from its own example file.
pub fn weak_secrets(config: &Config) -> Vec<(String, String)> {
    let token = config.auth.internal_token.as_ref();
    let signing = config.slack.signing_secret.as_ref();
    let one = [("auth.internal_token", token), ("slack.signing_secret", signing)];
    let one = one.into_iter().map(|(key, secret)| (key.to_owned(), secret));
    let keys = config.api_keys.0.iter();
    let keys = keys.map(|key| (format!("api_keys ({})", key.caller_id), key.secret.as_ref()));
    let weak = one.chain(keys).filter_map(|(key, secret)| {
        let weakness = weakness(secret?.secret().expose())?;
        Some((key, advice(weakness).to_owned()))
    });
    weak.collect()
}

fn advice(weakness: Weakness) -> &'static str {
    match weakness {
        Weakness::Unexpanded => {
            "the secret is the name of a variable, not its value; write `${NAME}`, which is filled in from the \
             environment in the operator's file"
        }
        Weakness::Short => {
            "the secret is shorter than 16 characters and easily guessed; `vambrace token internal` makes a better one"
        }
        Weakness::Monotonous => {
            "the secret is made of fewer than 5 different characters and easily guessed; `vambrace token internal` makes \
             a better one"
        }
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
        context_claims: super::contexts::rows(config).claim_paths().map(str::to_owned).collect(),
        require_email_verified: jwt.require_email_verified,
        operators: Operators::parse(&config.auth.operators),
    }
}

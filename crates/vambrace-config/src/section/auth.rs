//! Who may call, and as whom.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use vambrace_types::{AccessLevel, Role};

use super::{OneOrMany, section, words};
use crate::value::{Period, SecretText, Sha256Hex, secret_or_none};

words! {
    /// Whether callers must show a credential.
    pub enum AuthMode {
        /// Everybody must. With none configured, the first start makes a token.
        Token = "token",
        /// Nobody must (specification 001's development mode).
        Open = "open",
    }
}

words! {
    /// Who has checked a JWT's signature.
    pub enum JwtTrust {
        /// We do.
        Verify = "verify",
        /// The gateway before us did; accepted only from `server.trusted_proxies`.
        Upstream = "upstream",
    }
}

section! {
    /// Who may call.
    pub struct Auth {
        /// Whether callers must show a credential.
        pub mode: AuthMode = AuthMode::Token,
        /// The secret that the Slack bridge and the agent share.
        #[serde(deserialize_with = "secret_or_none")]
        pub internal_token: Option<SecretText> = None,
        /// How bearer tokens are checked.
        pub jwt: Jwt = Jwt::default(),
        /// People and groups whose bearer tokens may look at everybody's records and answer questions. An entry with an `@` is an email address, any other one a group; neither is compared with the other's claim.
        pub operators: Vec<String> = Vec::new(),
    }
}

section! {
    /// How bearer tokens are checked.
    pub struct Jwt {
        /// The key set: an address or a file.
        pub jwks: Option<String> = None,
        /// The issuer a token must name.
        pub issuer: Option<String> = None,
        /// The audience a token must name, or several of which it must name one.
        pub audience: Option<OneOrMany> = None,
        /// The signature algorithms that are accepted.
        pub algorithms: Vec<String> =
            ["RS256", "RS384", "RS512", "ES256", "ES384", "PS256", "PS384", "PS512", "EdDSA"].map(str::to_owned).to_vec(),
        /// Who has checked the signature.
        pub trust: JwtTrust = JwtTrust::Verify,
        /// Whether an email address counts only if the token says `email_verified`. Many issuers leave the claim out.
        pub require_email_verified: bool = false,
        /// The authorization servers that give out tokens for us, told to clients that ask (RFC 9728). None: the issuer, if it is an address.
        pub authorization_servers: Vec<String> = Vec::new(),
        /// How long a key set from an address is good.
        pub jwks_ttl: Period = Period::seconds(300),
        /// How far clocks may differ.
        pub leeway: Period = Period::seconds(60),
    }
}

words! {
    /// What a key or a person may do: an access level of specification 001 or a role of specification 004.
    pub enum RoleName {
        /// Read and write: the same as `dev`.
        Write = "write",
        /// Read only: the same as `product_owner`.
        Read = "read",
        Dev = "dev",
        Sre = "sre",
        ReleaseManager = "release_manager",
        ProductOwner = "product_owner",
    }
}

impl RoleName {
    pub fn role(self) -> Role {
        match self {
            RoleName::Write => AccessLevel::Write.role(),
            RoleName::Read => AccessLevel::Read.role(),
            RoleName::Dev => Role::Dev,
            RoleName::Sre => Role::Sre,
            RoleName::ReleaseManager => Role::ReleaseManager,
            RoleName::ProductOwner => Role::ProductOwner,
        }
    }
}

/// One key of another service or agent. Exactly one of `secret` and `secret_sha256` is set.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    /// Who calls with this key.
    pub caller_id: String,
    /// What the caller may do.
    #[serde(default)]
    pub role: RoleName,
    /// The key itself.
    #[serde(default, deserialize_with = "secret_or_none")]
    pub secret: Option<SecretText>,
    /// The key's SHA-256 digest, for a file that must not hold the key.
    #[serde(default)]
    pub secret_sha256: Option<Sha256Hex>,
    /// Whether the caller may say on whose behalf it calls (`X-User-Email` and the like).
    #[serde(default)]
    pub may_assert_identity: bool,
    /// Whether the caller may look at everybody's records and answer questions that wait for a person. Never for an agent.
    #[serde(default)]
    pub operator: bool,
}

/// The keys, whichever of specification 001's forms they were written in.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApiKeys(pub Vec<ApiKey>);

impl JsonSchema for ApiKeys {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ApiKeys".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let key = generator.subschema_for::<ApiKey>();
        let role = generator.subschema_for::<RoleName>();
        json_schema!({
            "anyOf": [
                {"type": "array", "items": key},
                {
                    "type": "object",
                    "description": "Secret to caller, or caller to secret when the secret begins with `ka_`.",
                    "x-secret-keys": true,
                    "additionalProperties": {"anyOf": [
                        {"type": "string", "format": "secret"},
                        {
                            "type": "object",
                            "additionalProperties": false,
                            "required": ["caller_id"],
                            "properties": {
                                "caller_id": {"type": "string", "description": "Who calls with this key."},
                                "role": role,
                                "may_assert_identity": {"type": "boolean", "default": false},
                                "operator": {"type": "boolean", "default": false},
                            },
                        },
                    ]},
                },
            ],
        })
    }
}

words! {
    /// What a listed person or group may do with memory.
    pub enum AccessName {
        /// Save and search.
        Write = "write",
        /// Search only.
        Read = "read",
    }
}

/// A person or a group, and what they may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permission {
    /// The email address or the group's name.
    pub value: String,
    /// What they may do.
    #[serde(default)]
    pub role: AccessName,
}

section! {
    /// Who may save to memory (specification 001).
    pub struct Permissions {
        /// Where a token names the caller's groups, with dots between the steps.
        pub groups_claim_path: String = "groups".to_owned(),
        /// Whether only listed people may use the interface at all.
        pub require_membership: bool = false,
        /// People, by email address. With both lists empty, everybody who may write may save.
        pub allowed_emails: Vec<Permission> = Vec::new(),
        /// Groups.
        pub allowed_groups: Vec<Permission> = Vec::new(),
    }
}

words! {
    /// The word for "over standard input and output".
    pub enum OverStdio {
        Stdio = "stdio",
    }
}

/// Where the dialog of an MCP client counts as the word of its user: `stdio`, `true` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ByClient {
    /// Over stdio only, and not for system tools, `git_push` and secrets in writes.
    Over(OverStdio),
    /// Everywhere and for everything, or nowhere.
    Always(bool),
}

section! {
    /// Questions that wait for a person.
    pub struct Approvals {
        /// How long a question waits, and how long its answer is good.
        pub expires: Period = Period::seconds(900),
        /// Where the dialog of an MCP client counts as its user's word. `stdio`: over stdio only, never for system tools, `git_push` and secrets in writes. `true`: everywhere, for everything; over HTTP an agent can then approve its own calls.
        pub by_client: ByClient = ByClient::Over(OverStdio::Stdio),
    }
}

words! {
    /// How roles are compared.
    pub enum RbacMatch {
        /// A role is a set of capabilities and may include others.
        Sets = "sets",
        /// By equality (specification 004's letter).
        Exact = "exact",
    }
}

section! {
    /// How roles are compared with what a tool requires.
    pub struct Rbac {
        /// How roles are compared.
        #[serde(rename = "match")]
        pub match_by: RbacMatch = RbacMatch::Sets,
    }
}

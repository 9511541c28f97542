//! Other services that specification 001 names.

use super::section;
use crate::value::{ConnectionUrl, Period, SecretText, secret_or_none};

section! {
    /// The PostgreSQL database.
    pub struct Postgres {
        /// Its address.
        pub url: Option<ConnectionUrl> = None,
    }
}

section! {
    /// The Redis server.
    pub struct Redis {
        /// Its address, as `host:port`.
        pub addr: Option<String> = None,
        /// Its password.
        #[serde(deserialize_with = "secret_or_none")]
        pub password: Option<SecretText> = None,
        /// How long a session is kept.
        pub ttl: Period = Period::seconds(86_400),
    }
}

section! {
    /// The Ollama server.
    pub struct Ollama {
        /// Its address.
        pub base_url: String = "http://localhost:11434".to_owned(),
        /// The model that makes vectors.
        pub embedding_model: String = "nomic-embed-text".to_owned(),
    }
}

section! {
    /// Traces for Langfuse.
    pub struct Langfuse {
        /// Whether they are sent.
        pub enabled: bool = false,
        /// The public key.
        #[serde(deserialize_with = "secret_or_none")]
        pub public_key: Option<SecretText> = None,
        /// The secret key.
        #[serde(deserialize_with = "secret_or_none")]
        pub secret_key: Option<SecretText> = None,
        /// The server's address.
        pub host: Option<String> = None,
        /// The name of this deployment.
        pub environment: Option<String> = None,
        /// Dollars for a million tokens read.
        #[schemars(range(min = 0.0))]
        pub input_cost_per_1m: f64 = 3.0,
        /// Dollars for a million tokens written.
        #[schemars(range(min = 0.0))]
        pub output_cost_per_1m: f64 = 15.0,
    }
}

section! {
    /// Group lookup in Keycloak.
    pub struct Keycloak {
        /// Whether it is used.
        pub enabled: bool = false,
        /// The server's address.
        pub server_url: Option<String> = None,
        /// The realm.
        pub realm: Option<String> = None,
        /// The client's name.
        pub client_id: Option<String> = None,
        /// The client's secret.
        #[serde(deserialize_with = "secret_or_none")]
        pub client_secret: Option<SecretText> = None,
        /// The header that carries the caller's email address.
        pub user_claim_name: String = "X-User-Email".to_owned(),
        /// Where a token names the caller's groups. Unset: `permissions.groups_claim_path`.
        pub groups_claim_path: Option<String> = None,
    }
}

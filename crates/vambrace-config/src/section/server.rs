//! The front doors: HTTP, Slack, other agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{section, words};
use crate::value::{Cidr, Period, SecretText, secret_or_none};

words! {
    /// Which address of `X-Forwarded-For` is the client's.
    pub enum Xff {
        /// The first from the right that is not a trusted proxy.
        Rightmost = "rightmost",
        /// The first of all (specification 001's guide).
        Leftmost = "leftmost",
    }
}

section! {
    /// The HTTP server (specification 001).
    pub struct Server {
        /// The agent's port.
        #[schemars(range(min = 1))]
        pub agent_port: u16 = 8081,
        /// The Slack bridge's port.
        #[schemars(range(min = 1))]
        pub slack_bot_port: u16 = 8080,
        /// The names and addresses that a request's `Host` may say, beside the listener's own and loopback.
        pub allowed_hosts: Vec<String> = Vec::new(),
        /// Web pages (scheme, host and port) whose scripts may call. Empty: none may.
        pub allowed_origins: Vec<String> = Vec::new(),
        /// The address under which others reach this server, for what it says about itself.
        pub public_url: Option<String> = None,
        /// The bytes that a request's body may have.
        #[schemars(range(min = 1, max = 104_857_600))]
        pub max_body_bytes: u64 = 10_485_760,
        /// Connections at once.
        #[schemars(range(min = 1))]
        pub max_connections: u32 = 4096,
        /// The time a request's head may take to arrive.
        pub header_timeout: Period = Period::seconds(10),
        /// The time a connection may be silent.
        pub idle_timeout: Period = Period::seconds(120),
        /// The time a request may take to arrive.
        pub read_timeout: Period = Period::seconds(30),
        /// The time an answer may take to leave.
        pub write_timeout: Period = Period::seconds(180),
        /// The time a request may take in all. One that may call a tool has at least `limits.time_max` and 15 seconds.
        pub request_timeout: Period = Period::seconds(120),
        /// Addresses whose `X-Forwarded-For` is believed.
        pub trusted_proxies: Vec<Cidr> = Vec::new(),
        /// How often one address may call.
        pub rate_limit: RateLimit = RateLimit::default(),
        /// Which address of `X-Forwarded-For` is the client's.
        pub xff: Xff = Xff::Rightmost,
    }
}

section! {
    /// How often one address may call.
    pub struct RateLimit {
        /// Calls a second in the long run.
        #[schemars(range(min = 1))]
        pub per_second: u32 = 10,
        /// Calls at once.
        #[schemars(range(min = 1))]
        pub burst: u32 = 20,
    }
}

words! {
    /// How Slack's events arrive.
    pub enum SlackMode {
        Webhook = "webhook",
        Socket = "socket",
    }
}

section! {
    /// The Slack bridge (specification 001).
    pub struct Slack {
        /// Whether it runs. Unset: when `bot_token` is set.
        pub enabled: Option<bool> = None,
        /// The bot's token.
        #[serde(deserialize_with = "secret_or_none")]
        pub bot_token: Option<SecretText> = None,
        /// The secret that Slack signs its requests with.
        #[serde(deserialize_with = "secret_or_none")]
        pub signing_secret: Option<SecretText> = None,
        /// The app's token, for socket mode.
        #[serde(deserialize_with = "secret_or_none")]
        pub app_token: Option<SecretText> = None,
        /// How events arrive.
        pub mode: SlackMode = SlackMode::Webhook,
        /// The address of Slack's interface. Another one is for tests and proxies.
        pub api_base_url: String = "https://slack.com/api/".to_owned(),
        /// The largest file that is fetched.
        #[schemars(range(min = 1))]
        pub max_file_size: u64 = 10_485_760,
        /// How long a thread is remembered.
        pub thread_cache_ttl: Period = Period::seconds(300),
        /// How many threads are remembered.
        pub thread_cache_max_size: u64 = 100,
        /// How many images of a thread are looked at.
        pub max_images_per_thread: u64 = 10,
        /// The note that an answer takes longer.
        pub ack: SlackAck = SlackAck::default(),
        /// The key towards the agent, an older form of `auth.internal_token`.
        #[serde(deserialize_with = "secret_or_none")]
        pub bridge_api_key: Option<SecretText> = None,
    }
}

section! {
    /// The note that an answer takes longer.
    pub struct SlackAck {
        /// Whether it is sent.
        pub enabled: bool = true,
        /// The instruction for the model that words it.
        pub prompt: Option<String> = None,
        /// The text when no model words it.
        pub default_message: String = ":mag: Give me a moment...".to_owned(),
    }
}

section! {
    /// Calls between agents (specification 001).
    pub struct A2a {
        /// Whether other agents may call.
        pub enabled: bool = true,
        /// Our own name in call chains.
        pub self_name: String = "vambrace".to_owned(),
        /// The address others reach us at.
        pub agent_url: Option<String> = None,
        /// How long a chain of calls may be.
        #[schemars(range(min = 1))]
        pub max_call_depth: u32 = 5,
        /// Whether long tasks are polled.
        pub polling: bool = true,
        /// Agents that we may call.
        pub sub_agents: Vec<SubAgent> = Vec::new(),
        /// A small model that words the question to a sub-agent.
        pub query_extractor: QueryExtractor = QueryExtractor::default(),
    }
}

section! {
    /// A small model that words the question to a sub-agent.
    pub struct QueryExtractor {
        /// Whether it is used.
        pub enabled: bool = false,
        /// The model.
        pub model: Option<String> = None,
    }
}

words! {
    /// How a sub-agent is spoken to.
    pub enum A2aProtocol {
        A2a = "a2a",
        Rest = "rest",
    }
}

/// An agent that we may call.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubAgent {
    /// Its name, which becomes part of the tool's name.
    pub name: String,
    /// What it is good at, for the model.
    #[serde(default)]
    pub description: Option<String>,
    /// Its address.
    pub endpoint: String,
    /// How it is spoken to.
    #[serde(default)]
    pub protocol: A2aProtocol,
    /// `rest`: the path of its query endpoint.
    #[serde(default = "default_api_path")]
    pub api_path: String,
    /// The credential it wants.
    #[serde(default)]
    pub auth: A2aAuth,
    /// The time limit of one call.
    #[serde(default = "default_sub_agent_timeout")]
    pub timeout: Period,
}

fn default_api_path() -> String {
    "/query".to_owned()
}

fn default_sub_agent_timeout() -> Period {
    Period::seconds(180)
}

words! {
    /// The kind of credential a sub-agent wants.
    pub enum A2aAuthKind {
        None = "none",
        ApiKey = "api_key",
        Bearer = "bearer",
    }
}

section! {
    /// The credential a sub-agent wants.
    pub struct A2aAuth {
        /// Its kind.
        #[serde(rename = "type")]
        pub kind: A2aAuthKind = A2aAuthKind::None,
        /// `api_key`: the header it goes into.
        pub header: String = "X-API-Key".to_owned(),
        /// `api_key`: the environment variable that holds it.
        pub key_env: Option<String> = None,
        /// `bearer`: the environment variable that holds it.
        pub token_env: Option<String> = None,
    }
}

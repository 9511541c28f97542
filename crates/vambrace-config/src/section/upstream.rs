//! Upstream MCP servers whose tools are passed on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{section, words};
use crate::value::{Period, SecretText, secret_or_none};

words! {
    /// Which upstream tools are shown.
    pub enum McpExpose {
        /// Only those listed in a server's `tool_filter`.
        Listed = "listed",
        /// All that no filter hides (specification 001).
        All = "all",
    }
}

section! {
    /// Upstream MCP servers whose tools are passed on.
    pub struct Mcp {
        /// Whether they are used.
        pub enabled: bool = true,
        /// Which of their tools are shown.
        pub expose: McpExpose = McpExpose::Listed,
        /// How a lost connection is tried again.
        pub retry: McpRetry = McpRetry::default(),
        /// The servers.
        pub servers: Vec<McpServer> = Vec::new(),
    }
}

section! {
    /// How a lost connection is tried again.
    pub struct McpRetry {
        /// Whether it is.
        pub enabled: bool = true,
        /// How often.
        #[schemars(range(max = 100))]
        pub max_retries: u32 = 3,
        /// The first pause.
        pub initial_delay: Period = Period::milliseconds(500),
        /// The longest pause.
        pub max_delay: Period = Period::seconds(30),
        /// How the pause grows.
        #[schemars(range(min = 1.0, max = 100.0))]
        pub multiplier: f64 = 2.0,
    }
}

words! {
    /// How a server is reached.
    pub enum McpTransport {
        /// As a program that we start: `command`.
        Command = "command",
        /// Over HTTP with server-sent events: `endpoint`.
        Sse = "sse",
        /// Over streamable HTTP: `endpoint`.
        Streamable = "streamable",
    }
}

/// An upstream server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// Its name; its tools are called `name__tool`.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether it is used.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How it is reached.
    #[serde(default)]
    pub transport_type: McpTransport,
    /// `command`: the program.
    #[serde(default)]
    pub command: Option<McpCommand>,
    /// `sse` and `streamable`: the address.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// The credential it wants.
    #[serde(default)]
    pub auth: Option<McpAuth>,
    /// The tools that are shown.
    #[serde(default)]
    pub tool_filter: Vec<String>,
    /// The time limit of one call.
    #[serde(default = "default_timeout")]
    pub timeout: Period,
}

fn yes() -> bool {
    true
}

fn default_timeout() -> Period {
    Period::seconds(30)
}

/// The program of an upstream server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpCommand {
    /// The program.
    pub path: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, SecretText>,
    /// Whether it inherits our environment.
    #[serde(default)]
    pub inherit_env: bool,
}

words! {
    /// The kind of credential an upstream server wants.
    pub enum McpAuthKind {
        Bearer = "bearer",
        Basic = "basic",
        Oauth2 = "oauth2",
    }
}

section! {
    /// The credential an upstream server wants.
    pub struct McpAuth {
        /// Its kind.
        #[serde(rename = "type")]
        pub kind: McpAuthKind = McpAuthKind::Bearer,
        /// `bearer`: the environment variable that holds the token.
        pub token_env: Option<String> = None,
        /// `bearer`: the token.
        #[serde(deserialize_with = "secret_or_none")]
        pub token: Option<SecretText> = None,
        /// `basic`: the user's name.
        pub username: Option<String> = None,
        /// `basic`: the password.
        #[serde(deserialize_with = "secret_or_none")]
        pub password: Option<SecretText> = None,
    }
}

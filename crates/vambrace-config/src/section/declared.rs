//! Tools that the operator declares (specification 000).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words;
use crate::value::{Period, SecretText};

words! {
    /// What a declared tool does.
    pub enum ToolKind {
        /// Starts a program: `binary`, `args`, `env`, `secrets`. The input arrives as JSON on its standard input.
        Command = "command",
        /// Sends a request: `method`, `url`, `headers`, `body_template`.
        Http = "http",
        /// Runs a script: `language`, `code`, `env`, `secrets`, `memory`.
        Inline = "inline",
        /// Passes the call to an upstream MCP server: `server`, `tool`.
        Mcp = "mcp",
    }
}

words! {
    /// The method of a request.
    pub enum HttpMethod {
        Get = "GET",
        Head = "HEAD",
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
    }
}

words! {
    /// The interpreter of an inline tool.
    pub enum InlineLanguage {
        Python = "python",
        Python3 = "python3",
        Javascript = "javascript",
        Node = "node",
        Bash = "bash",
        Sh = "sh",
        Ruby = "ruby",
    }
}

/// A tool that the operator declares. Which fields belong to it depends on `kind`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclaredTool {
    /// The name agents call it by.
    pub name: String,
    /// What it does, for agents.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments. Unset: no arguments.
    #[serde(default)]
    pub input_schema: Option<serde_json::Value>,
    /// What it does.
    pub kind: ToolKind,
    /// The time limit. Unset: `limits.time`.
    #[serde(default)]
    pub timeout: Option<Period>,
    /// `command`: the program, one of `allowed_commands`.
    #[serde(default)]
    pub binary: Option<String>,
    /// `command`: its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// `command` and `inline`: further environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, SecretText>,
    /// `command` and `inline`: environment variables that carry a secret, and the name of that secret in `secrets.env`.
    #[serde(default)]
    pub secrets: BTreeMap<String, String>,
    /// `http`: the method.
    #[serde(default)]
    pub method: Option<HttpMethod>,
    /// `http`: the address. `{{name}}` is replaced by that field of the input.
    #[serde(default)]
    pub url: Option<String>,
    /// `http`: the headers. `{{name}}` is replaced by that field of the input.
    #[serde(default)]
    pub headers: BTreeMap<String, SecretText>,
    /// `http`: the body. `{{name}}` is replaced by that field of the input.
    #[serde(default)]
    pub body_template: Option<String>,
    /// `inline`: the interpreter.
    #[serde(default)]
    pub language: Option<InlineLanguage>,
    /// `inline`: the script.
    #[serde(default)]
    pub code: Option<String>,
    /// `inline`: the memory limit in megabytes.
    #[serde(default)]
    #[schemars(range(min = 1, max = 4096))]
    pub memory: Option<u64>,
    /// `mcp`: the upstream server's name in `mcp.servers`.
    #[serde(default)]
    pub server: Option<String>,
    /// `mcp`: the tool's name there.
    #[serde(default)]
    pub tool: Option<String>,
}

//! Contexts: what callers over the network work in (specification 004's `ToolContext`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Isolation, OneOrMany, ProgramHost, RoleName};
use crate::value::Period;

/// Callers that a context is for. Everything that is named has to fit; of a list, one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextMatch {
    /// The caller's name.
    #[serde(default)]
    pub caller_id: Option<OneOrMany>,
    /// The email address, in any case.
    #[serde(default)]
    pub email: Option<OneOrMany>,
    /// A group of the caller's.
    #[serde(default)]
    pub group: Option<OneOrMany>,
    /// The `caller_id` of an entry of `api_keys`.
    #[serde(default)]
    pub key: Option<OneOrMany>,
    /// A claim of the caller's token, as `path=value`: `role=sre`, `realm_access.roles=ops`.
    #[serde(default)]
    pub claim: Option<OneOrMany>,
}

/// Limits of one context, instead of those in `limits`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextLimits {
    /// The time a program gets unless its tool says otherwise.
    #[serde(default)]
    pub time: Option<Period>,
    /// The longest time a call may ask for.
    #[serde(default)]
    pub time_max: Option<Period>,
    /// The bytes captured of a program's output before it is stopped.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub output_bytes: Option<u64>,
    /// The bytes of an answer that a model sees.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub reply_bytes: Option<u64>,
    /// The bytes that `read_file` reads unless a call says otherwise.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub read_bytes: Option<u64>,
    /// The memory a program gets.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub memory_bytes: Option<u64>,
    /// The processes a program may have at once.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub processes: Option<u64>,
    /// The largest file a program may write.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub file_bytes: Option<u64>,
}

/// What some callers over the network work in. What a context does not say is as in the rest of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRow {
    /// The context's name, as the audit log and `token task` have it.
    pub name: String,
    /// The callers it is for. Unset: all whom no earlier context is for. Who fits none is refused.
    #[serde(default, rename = "match")]
    pub matches: Option<ContextMatch>,
    /// The role, instead of what the credential gives.
    #[serde(default)]
    pub role: Option<RoleName>,
    /// The workspace, relative to `workspace`.
    #[serde(default)]
    pub workspace: Option<String>,
    /// The folder of the active service, relative to the workspace. The caller stays inside it.
    #[serde(default)]
    pub service_root: Option<String>,
    /// Whether the service is alone or shares with others.
    #[serde(default)]
    pub isolation: Option<Isolation>,
    /// The programs that command lines and declared tools may start, of those that may be started at all.
    #[serde(default)]
    pub allowed_commands: Option<Vec<String>>,
    /// The tool mode: `none`, `read`, `write`, `command`, `all`, or a list with commas.
    #[serde(default)]
    pub tool: Option<String>,
    /// Limits.
    #[serde(default)]
    pub limits: Option<ContextLimits>,
    /// Hosts that programs may reach, instead of `sandbox.net`.
    #[serde(default)]
    pub net: Option<Vec<ProgramHost>>,
}

//! Settings that are read and have no effect yet: one table for the start, `config check` and the reference.

use super::ResolveError;
use crate::section::{self, Config};

/// What a start does about one that is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotYet {
    /// It is told; nothing is weaker without it.
    Told,
    /// The start stops: whoever set it relies on it. These words say what is not there.
    Refused(&'static str),
}

pub struct Unused {
    /// A key, or a whole section.
    pub key: &'static str,
    pub not_yet: NotYet,
    is_set: fn(&Config) -> bool,
}

const fn told(key: &'static str, is_set: fn(&Config) -> bool) -> Unused {
    Unused { key, not_yet: NotYet::Told, is_set }
}

const fn refused_as(key: &'static str, what: &'static str, is_set: fn(&Config) -> bool) -> Unused {
    Unused { key, not_yet: NotYet::Refused(what), is_set }
}

pub const NOT_YET: &[Unused] = &[
    refused_as("git.require_checkpoint", "checkpoints", |config| config.git.require_checkpoint),
    refused_as("audit.sinks", "further places for the record", |config| !config.audit.sinks.is_empty()),
    refused_as("tools.command_policy.shell", "other grammars than our own plan", |config| {
        config.tools.command_policy.shell != section::ShellGrammar::Plan
    }),
    refused_as("state.memory", "other places for the memory", |config| {
        config.state.memory.secret().expose() != "embedded"
    }),
    refused_as("state.limits", "limits that several processes share", |config| {
        config.state.limits.secret().expose() != "local"
    }),
    told("tools.aliases", |config| !config.tools.aliases.is_empty()),
    told("tool_safety.git_enabled", |config| !config.tool_safety.git_enabled),
    told("memory.backend", |config| config.memory.backend != section::MemoryBackend::Store),
    told("audit.view", |config| config.audit.view != section::AuditView::Full),
    told("rbac.match", |config| config.rbac.match_by != section::RbacMatch::default()),
    told("session.id_format", |config| config.session.id_format == section::SessionIdFormat::Derived),
    told("mcp.servers", |config| !config.mcp.servers.is_empty()),
    told("mcp.expose", |config| config.mcp.expose != section::McpExpose::default()),
    told("slack.enabled", |config| config.slack.enabled == Some(true)),
    told("llm", |config| differs(&config.llm)),
    told("anthropic", |config| differs(&config.anthropic)),
    told("prompt", |config| differs(&config.prompt)),
    told("response_cleaner", |config| differs(&config.response_cleaner)),
    told("knowledge", |config| differs(&config.knowledge)),
    told("postgres", |config| differs(&config.postgres)),
    told("redis", |config| differs(&config.redis)),
    told("ollama", |config| differs(&config.ollama)),
    told("langfuse", |config| differs(&config.langfuse)),
    told("keycloak", |config| differs(&config.keycloak)),
];

/// Whether anything in a section was set.
fn differs<S: serde::Serialize + Default>(section: &S) -> bool {
    serde_json::to_value(section).ok() != serde_json::to_value(S::default()).ok()
}

/// The settings that differ from their default and change nothing. None of them weakens anything.
pub fn without_effect(config: &Config) -> Vec<&'static str> {
    let told = NOT_YET.iter().filter(|unused| unused.not_yet == NotYet::Told && (unused.is_set)(config));
    told.map(|unused| unused.key).collect()
}

/// THREAT: P09, a setting that promises protection which is not there yet must not be taken for it.
pub(super) fn refused(config: &Config) -> Result<(), ResolveError> {
    let set = NOT_YET.iter().filter(|unused| (unused.is_set)(config));
    let refused = set.filter_map(|unused| match unused.not_yet {
        NotYet::Refused(what) => Some(ResolveError::NotAvailable { key: unused.key, what }),
        NotYet::Told => None,
    });
    refused.into_iter().next().map_or(Ok(()), Err)
}

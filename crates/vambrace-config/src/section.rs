//! The whole configuration as types: one struct a section, every default the strict one.
//!
//! The comments on fields are the reference: they become the schema's descriptions. Nothing here reads files or
//! knows how layers are put together.

mod agent;
mod audit;
mod auth;
mod contexts;
mod declared;
mod io;
mod knowledge;
mod scope;
mod server;
mod services;
mod tools;
mod upstream;

pub use agent::{Anthropic, Llm, LlmProvider, Prompt, ResponseCleaner, Session, SessionIdFormat, ToolSafety};
pub use audit::{
    Audit, AuditFailure, AuditView, BoundScheme, Defence, DefenceAction, KnownEnv, KnownFiles, LogFormat,
    LogLevel, LogSettings, Placeholders, Redact, RedactEntropy, RedactOnWrite, SecretBinding, Secrets, Sink,
    SinkKind,
};
pub use auth::{
    AccessName, ApiKey, ApiKeys, Approvals, Auth, AuthMode, ByClient, Jwt, JwtTrust, OverStdio, Permission,
    Permissions, Rbac, RbacMatch, RoleName,
};
pub use contexts::{ContextLimits, ContextMatch, ContextRow};
pub use declared::{DeclaredTool, HttpMethod, InlineLanguage, ToolKind};
pub use io::{
    AbsentNames, BraceSanitise, Env, EnvInherit, EnvPath, Everything, ExactProgramHost, HeaderRule, Limits,
    Net, ProgramHost, Redirects, Sandbox, SandboxBackend, WhenMissing,
};
pub use knowledge::{
    Embedder, EmbedderKind, Knowledge, KnowledgeScope, Memory, MemoryBackend, MemoryReads, Rag, State, Store,
    StoreKind,
};
pub use scope::{
    CallKind, Checkpoint, ConfigRules, Decision, Git, HardLinks, Isolation, Rule, Scope, SymbolicLinks,
    UnknownKeys,
};
pub use server::{
    A2a, A2aAuth, A2aAuthKind, A2aProtocol, QueryExtractor, RateLimit, Server, Slack, SlackAck, SlackMode,
    SubAgent, Xff,
};
pub use services::{Keycloak, Langfuse, Ollama, Postgres, Redis};
pub use tools::{
    AllowedDomain, ArgumentRules, Chains, CommandList, CommandMode, CommandPolicy, DotDot, EmptyMeans,
    ExactDomain, HostRules, OnDnsFailure, PatternList, ProgramMatch, Ranges, ShellGrammar, Toolchain, Tools,
    UrlPolicy, WebFetch,
};
pub use upstream::{Mcp, McpAuth, McpAuthKind, McpCommand, McpExpose, McpRetry, McpServer, McpTransport};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A section: a struct whose defaults stand beside its fields, so that the three cannot drift apart.
macro_rules! section {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$field_meta:meta])* pub $field:ident : $type:ty = $default:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($field: $default,)* }
            }
        }
    };
}

/// A closed set of words. The first is the strict default.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident {
        $(#[$first_meta:meta])* $first:ident = $first_word:literal,
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            #[default]
            #[serde(rename = $first_word)]
            $(#[$first_meta])*
            $first,
            $(#[serde(rename = $word)] $(#[$variant_meta])* $variant,)*
        }

        impl $name {
            pub fn as_str(self) -> &'static str {
                match self {
                    $name::$first => $first_word,
                    $($name::$variant => $word,)*
                }
            }
        }
    };
}

use {section, words};

words! {
    /// A named set of settings that gives back one specification's literal behavior.
    pub enum ProfileName {
        /// The secure defaults.
        Strict = "strict",
        /// Declared command, HTTP, inline and MCP tools (specification 000).
        DeclaredTools = "declared-tools",
        /// The Slack knowledge service (specification 001).
        KnowledgeService = "knowledge-service",
        /// The terminal agent (specification 002).
        TerminalAgent = "terminal-agent",
        /// The workspace agent (specification 003).
        WorkspaceAgent = "workspace-agent",
        /// The monorepo team with roles and service scopes (specification 004).
        MonorepoTeam = "monorepo-team",
    }
}

impl ProfileName {
    pub const ALL: [ProfileName; 6] = [
        ProfileName::Strict,
        ProfileName::DeclaredTools,
        ProfileName::KnowledgeService,
        ProfileName::TerminalAgent,
        ProfileName::WorkspaceAgent,
        ProfileName::MonorepoTeam,
    ];

    pub fn parse(text: &str) -> Option<ProfileName> {
        ProfileName::ALL.into_iter().find(|profile| profile.as_str() == text)
    }
}

section! {
    /// The configuration of Vambrace.
    pub struct Config {
        /// The version of this format. Only 1 exists.
        #[schemars(range(min = 1, max = 1))]
        pub version: u32 = 1,
        /// The profile whose settings lie beneath this file.
        pub profile: ProfileName = ProfileName::Strict,
        /// The folder the tools work in, relative to where the program was started.
        pub workspace: String = ".".to_owned(),
        /// The agent's name, as people and other agents see it.
        pub agent_name: String = "Knowledge Agent".to_owned(),
        /// Which files the tools may touch.
        pub scope: Scope = Scope::default(),
        /// Tools and the rules for commands and addresses.
        pub tools: Tools = Tools::default(),
        /// Programs that declared command tools may start. Empty blocks all of them.
        pub allowed_commands: Vec<String> = Vec::new(),
        /// The terminal agent's safety switches.
        pub tool_safety: ToolSafety = ToolSafety::default(),
        /// What the operator allows, asks about or denies beyond the built-in rules. Deny beats ask beats allow.
        pub rules: Vec<Rule> = Vec::new(),
        /// Secrets that programs get, and patterns of secrets to cut out.
        pub secrets: Secrets = Secrets::default(),
        /// How secrets are found in output and in writes.
        pub redact: Redact = Redact::default(),
        /// The cage around programs.
        pub sandbox: Sandbox = Sandbox::default(),
        /// The environment that programs see.
        pub env: Env = Env::default(),
        /// Connections to other hosts.
        pub net: Net = Net::default(),
        /// Time, size and number limits.
        pub limits: Limits = Limits::default(),
        /// The record of every call.
        pub audit: Audit = Audit::default(),
        /// What repeated violations lead to.
        pub defence: Defence = Defence::default(),
        /// How this configuration itself is read.
        pub config: ConfigRules = ConfigRules::default(),
        /// How roles are compared with what a tool requires.
        pub rbac: Rbac = Rbac::default(),
        /// Conversations and their identifiers.
        pub session: Session = Session::default(),
        /// What was taught and remembered.
        pub memory: Memory = Memory::default(),
        /// Checkpoints before changes.
        pub git: Git = Git::default(),
        /// Who may call.
        pub auth: Auth = Auth::default(),
        /// Keys of other services and agents.
        pub api_keys: ApiKeys = ApiKeys::default(),
        /// What callers over the network work in, each with a role, a service and limits of its own. The first row that is
        /// about a caller counts. Empty: everybody works with the rest of this configuration.
        pub contexts: Vec<ContextRow> = Vec::new(),
        /// Questions that wait for a person.
        pub approvals: Approvals = Approvals::default(),
        /// Who may save to memory.
        pub permissions: Permissions = Permissions::default(),
        /// The HTTP server.
        pub server: Server = Server::default(),
        /// The Slack bridge.
        pub slack: Slack = Slack::default(),
        /// Calls between agents.
        pub a2a: A2a = A2a::default(),
        /// Upstream MCP servers whose tools are passed on.
        pub mcp: Mcp = Mcp::default(),
        /// The language model.
        pub llm: Llm = Llm::default(),
        /// The language model, in specification 001's section.
        pub anthropic: Anthropic = Anthropic::default(),
        /// The text that instructs the model.
        pub prompt: Prompt = Prompt::default(),
        /// Cleaning of answers by a small model.
        pub response_cleaner: ResponseCleaner = ResponseCleaner::default(),
        /// The index of the project.
        pub knowledge: Knowledge = Knowledge::default(),
        /// Search over what was remembered.
        pub rag: Rag = Rag::default(),
        /// Where state that several processes share is kept.
        pub state: State = State::default(),
        /// The PostgreSQL database.
        pub postgres: Postgres = Postgres::default(),
        /// The Redis server.
        pub redis: Redis = Redis::default(),
        /// The Ollama server.
        pub ollama: Ollama = Ollama::default(),
        /// Traces for Langfuse.
        pub langfuse: Langfuse = Langfuse::default(),
        /// Group lookup in Keycloak.
        pub keycloak: Keycloak = Keycloak::default(),
        /// The program's own log.
        pub log: LogSettings = LogSettings::default(),
    }
}

/// One entry or a list of them, as it is convenient to write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

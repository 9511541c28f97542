//! What the operator set for the tools that run programs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};
use vambrace_net::Braces;
use vambrace_policy::Variable;
use vambrace_types::{ByteLimit, ChainRules, Secret};

/// How one language's tests, linters and installs are run. `{target}` stands for the call's target.
#[derive(Debug, Clone, Default)]
pub struct Toolchain {
    pub name: String,
    /// Files whose presence tells that it applies.
    pub detect: Vec<String>,
    pub test: Vec<String>,
    pub lint: Vec<String>,
    pub install: Vec<String>,
    pub time: Option<Duration>,
    /// The reader of the runner's output; found by its form where none is named.
    pub parser: Option<String>,
}

/// A tool that the operator declared (specification 000) and that starts a program.
#[derive(Debug, Clone)]
pub struct Declared {
    pub name: String,
    pub description: String,
    pub schema: Map<String, Value>,
    pub what: DeclaredProgram,
    pub variables: Vec<Variable>,
    pub time: Duration,
    pub memory: Option<ByteLimit>,
}

/// A tool that the operator declared (specification 000) and that sends a request. `{{name}}` in it stands for a field of
/// the arguments.
#[derive(Debug, Clone)]
pub struct DeclaredRequest {
    pub name: String,
    pub description: String,
    pub schema: Map<String, Value>,
    /// Upper case.
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, Secret<String>)>,
    pub body: Option<String>,
    pub time: Duration,
}

/// An agent that the operator lists, to be asked.
#[derive(Debug, Clone)]
pub struct SubAgent {
    pub name: String,
    pub description: String,
    pub protocol: AgentProtocol,
    /// Where questions go, whole.
    pub url: String,
    /// The header and its value; or the variable that should hold it and is not set.
    pub credential: Result<Option<(String, Secret<String>)>, String>,
    pub time: Duration,
    /// Where it is set.
    pub rule: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentProtocol {
    A2a,
    Rest,
}

/// What the operator set for the tools that fetch.
#[derive(Debug, Clone, Copy)]
pub struct WebLimits {
    /// For one `web_fetch`, with all its redirects.
    pub time: Duration,
    /// For one `fetch_url` (specification 001).
    pub page_time: Duration,
    /// The characters that `fetch_url` returns unless a call asks for another number.
    pub page_length: usize,
    pub body: ByteLimit,
    pub braces: Braces,
}

impl Default for WebLimits {
    fn default() -> WebLimits {
        WebLimits {
            time: Duration::from_secs(30),
            page_time: Duration::from_secs(30),
            page_length: 10_000,
            body: ByteLimit::new(10_485_760),
            braces: Braces::Text,
        }
    }
}

#[derive(Debug, Clone)]
pub enum DeclaredProgram {
    Command { program: String, arguments: Vec<String> },
    Inline { language: Language, code: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    Node,
    Bash,
    Ruby,
}

/// Whether the raw `run_command` of older agents is offered (decision C30).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyRunCommand {
    Removed,
    Offered,
}

#[derive(Debug, Clone)]
pub struct Toolbox {
    pub toolchains: Vec<Toolchain>,
    pub declared: Vec<Declared>,
    pub requests: Vec<DeclaredRequest>,
    pub sub_agents: Vec<SubAgent>,
    /// Who we are for them.
    pub chain: ChainRules,
    pub web: WebLimits,
    pub legacy_run_command: LegacyRunCommand,
    /// What `exec_shell` and `bash_command` get unless a call says otherwise, and the most it may ask for.
    pub time: Duration,
    pub time_most: Duration,
    /// Who commits, where the repository does not say it.
    pub author: (String, String),
    /// System tools that change the machine go through `sudo -n`, because we do not run as its administrator.
    pub sudo: bool,
    /// Configuration files that `migrate_config` may bring up to date, by name.
    pub migrations: BTreeMap<String, String>,
}

impl Default for Toolbox {
    fn default() -> Toolbox {
        Toolbox {
            toolchains: Vec::new(),
            declared: Vec::new(),
            requests: Vec::new(),
            sub_agents: Vec::new(),
            chain: ChainRules::default(),
            web: WebLimits::default(),
            legacy_run_command: LegacyRunCommand::Removed,
            time: Duration::from_secs(30),
            time_most: Duration::from_secs(300),
            author: ("Vambrace agent".to_owned(), "agent@localhost".to_owned()),
            sudo: false,
            migrations: BTreeMap::new(),
        }
    }
}

//! The record, redaction, defence and the program's own log.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HttpMethod, section, words};
use crate::value::{SecretText, secret_or_none};

words! {
    /// What happens when the record cannot be written.
    pub enum AuditFailure {
        /// Tools with side effects refuse; reads go on with a warning.
        DenyWrites = "deny_writes",
        /// Everything goes on with a warning (specification 002).
        Warn = "warn",
        /// Every tool refuses.
        DenyAll = "deny_all",
    }
}

words! {
    /// The form in which records are shown.
    pub enum AuditView {
        /// Every field.
        Full = "full",
        /// Specification 000's fields.
        Seed000 = "seed000",
        /// Specification 002's fields.
        Seed002 = "seed002",
        /// Specification 004's fields.
        Seed004 = "seed004",
    }
}

section! {
    /// The record of every call.
    pub struct Audit {
        /// What happens when the record cannot be written.
        pub on_failure: AuditFailure = AuditFailure::DenyWrites,
        /// Whether the project gets a copy in specification 002's form.
        pub mirror: bool = true,
        /// The form in which records are shown.
        pub view: AuditView = AuditView::Full,
        /// Whether each call waits until its record is on the disk.
        pub durable: bool = false,
        /// Further places that records are sent to.
        pub sinks: Vec<Sink> = Vec::new(),
    }
}

words! {
    /// What kind of place records are sent to.
    pub enum SinkKind {
        /// A file: `path`.
        File = "file",
        /// An HTTP address: `url`, `token`.
        Http = "http",
        /// The system's log.
        Syslog = "syslog",
    }
}

/// A further place that records are sent to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// What kind of place it is.
    pub kind: SinkKind,
    /// `file`: its path, outside the workspace.
    #[serde(default)]
    pub path: Option<String>,
    /// `http`: its address.
    #[serde(default)]
    pub url: Option<String>,
    /// `http`: the bearer token.
    #[serde(default, deserialize_with = "secret_or_none")]
    pub token: Option<SecretText>,
}

words! {
    /// How text of high entropy is treated.
    pub enum RedactEntropy {
        /// Cut beside an assignment or a header, or as a lone token.
        Context = "context",
        /// Left alone.
        Off = "off",
        /// Cut everywhere.
        Aggressive = "aggressive",
    }
}

words! {
    /// What happens when a write contains a secret.
    pub enum RedactOnWrite {
        /// Known values are refused, patterns are asked about, entropy is warned about.
        Refuse = "refuse",
        /// The write goes on with a warning.
        Warn = "warn",
        /// Writes are not scanned.
        Off = "off",
    }
}

words! {
    /// Which environment values count as secrets.
    pub enum KnownEnv {
        /// Every value of eight or more characters that is not plainly harmless.
        All = "all",
        /// Only those whose name contains KEY, SECRET, TOKEN, PASS, AUTH or CREDENTIAL.
        Named = "named",
    }
}

words! {
    /// Whether the values in files that the scope hides count as secrets.
    pub enum KnownFiles {
        /// `.env` and what else is blocked is read at the start, for the redactor alone.
        On = "on",
        /// They are not read.
        Off = "off",
    }
}

words! {
    /// What stands where a secret was cut out.
    pub enum Placeholders {
        /// The name of the rule.
        Plain = "plain",
        /// A number too, so that a reader can tell two secrets apart and see one again within a call.
        Numbered = "numbered",
    }
}

section! {
    /// How secrets are found in output and in writes.
    pub struct Redact {
        /// How text of high entropy is treated.
        pub entropy: RedactEntropy = RedactEntropy::Context,
        /// What happens when a write contains a secret.
        pub on_write: RedactOnWrite = RedactOnWrite::Refuse,
        /// Which environment values count as secrets.
        pub known_env: KnownEnv = KnownEnv::All,
        /// Whether the values in `.env` and other files that the scope hides count as secrets.
        pub known_files: KnownFiles = KnownFiles::On,
        /// What stands where a secret was cut out.
        pub placeholders: Placeholders = Placeholders::Plain,
    }
}

section! {
    /// Secrets that programs get, and patterns of secrets to cut out.
    pub struct Secrets {
        /// Patterns of secrets, in addition to the built-in ones (specification 004).
        pub redact_patterns: Vec<String> = Vec::new(),
        /// Secrets by name, for the tools that ask for them (specification 000).
        pub env: BTreeMap<String, SecretText> = BTreeMap::new(),
        /// Secrets that no program and no agent sees: each is put into requests to one place, after they were allowed.
        pub bindings: Vec<SecretBinding> = Vec::new(),
    }
}

/// A secret that goes into requests to one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretBinding {
    /// Its name in `secrets.env`.
    pub secret: String,
    /// The scheme. Without encryption everybody on the way sees the value.
    #[serde(default)]
    pub scheme: BoundScheme,
    /// The host, or `*.name` for everything beneath it.
    pub host: String,
    /// The port. Unset: the scheme's own.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub port: Option<u16>,
    /// The beginning of the path, in whole segments.
    #[serde(default = "root")]
    pub path: String,
    /// The methods. Empty: GET and HEAD.
    #[serde(default)]
    pub methods: Vec<HttpMethod>,
    /// The header that carries it.
    #[serde(default = "authorization")]
    pub header: String,
    /// The header's value; `{secret}` stands for the secret.
    #[serde(default = "bearer")]
    pub format: String,
}

fn root() -> String {
    "/".to_owned()
}

fn authorization() -> String {
    "Authorization".to_owned()
}

fn bearer() -> String {
    "Bearer {secret}".to_owned()
}

words! {
    /// The scheme of requests that carry a secret.
    pub enum BoundScheme {
        Https = "https",
        Http = "http",
    }
}

words! {
    /// What repeated violations lead to.
    pub enum DefenceAction {
        /// An alert for a person (specification 004).
        Alert = "alert",
        /// The session waits until a person clears it.
        Suspend = "suspend",
        /// As `suspend`, and marked as ended: every call is refused. A person's `resume` releases it too.
        Terminate = "terminate",
    }
}

section! {
    /// What repeated violations lead to.
    pub struct Defence {
        /// What happens when there were too many.
        pub action: DefenceAction = DefenceAction::Alert,
        /// How many in a minute are not yet too many.
        pub violations_per_minute: u64 = 5,
    }
}

words! {
    /// How much is logged.
    pub enum LogLevel {
        Info = "info",
        Error = "error",
        Warn = "warn",
        Debug = "debug",
        Trace = "trace",
    }
}

words! {
    /// The form of log lines.
    pub enum LogFormat {
        Console = "console",
        Json = "json",
    }
}

section! {
    /// The program's own log (specification 001).
    pub struct LogSettings {
        /// How much is logged.
        pub level: LogLevel = LogLevel::Info,
        /// The form of log lines.
        pub format: LogFormat = LogFormat::Console,
        /// Where they go: `stdout`, `stderr` or a file.
        pub output_path: String = "stdout".to_owned(),
    }
}

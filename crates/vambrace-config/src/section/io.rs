//! The cage, the environment, the network and the limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HttpMethod, section, words};
use crate::value::{Cidr, Period, SocketAddress};

words! {
    /// What builds the cage.
    pub enum SandboxBackend {
        /// Our own: namespaces, Landlock, seccomp and limits.
        Native = "native",
        /// The program `bwrap`.
        Bubblewrap = "bubblewrap",
        /// The program `firejail` (specification 002).
        Firejail = "firejail",
        /// No cage.
        None = "none",
    }
}

words! {
    /// What happens when the cage cannot be built.
    pub enum WhenMissing {
        /// No program runs.
        Refuse = "refuse",
        /// Programs run without it; the record says so (specification 002).
        Warn = "warn",
    }
}

words! {
    /// What is done about protected names that are not there yet.
    pub enum AbsentNames {
        /// Programs cannot make one.
        Refuse = "refuse",
        /// Programs may make them. The sandbox is then partial, and what they made is reported after the run.
        Sweep = "sweep",
    }
}

section! {
    /// The cage around programs.
    pub struct Sandbox {
        /// What builds it.
        pub backend: SandboxBackend = SandboxBackend::Native,
        /// What happens when it cannot be built.
        pub when_missing: WhenMissing = WhenMissing::Refuse,
        /// What is done about protected names that are not there yet.
        pub absent_names: AbsentNames = AbsentNames::Refuse,
        /// Further paths that programs may read.
        pub read: Vec<String> = Vec::new(),
        /// Further paths that programs may write.
        pub write: Vec<String> = Vec::new(),
        /// Whether calls of one caller may share a prepared cage. Nothing is left in it from one call to the next.
        pub reuse: bool = true,
        /// Hosts that programs may reach, through our proxy: a name, `*.name`, `name:port`, or `{host, port, cidr,
        /// programs}`. Empty: none.
        pub net: Vec<ProgramHost> = Vec::new(),
        /// Whether programs trust a certificate authority of this process, so that bound secrets can be put into their
        /// HTTPS requests. Only hosts with a bound secret are affected.
        pub local_ca: bool = false,
    }
}

/// A host that programs may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ProgramHost {
    /// A host name, `*.name` for everything beneath it, or `name:port`.
    Host(String),
    /// A host with the port and the addresses it may have, and the programs it is for.
    Exact(ExactProgramHost),
}

/// A host with the port and the addresses it may have, and the programs it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExactProgramHost {
    /// The host name.
    pub host: String,
    /// The only port that may be used. Unset: any.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub port: Option<u16>,
    /// The only addresses that the name may resolve to.
    #[serde(default)]
    pub cidr: Option<Cidr>,
    /// The programs it is for, by name. Empty: every program.
    #[serde(default)]
    pub programs: Vec<String>,
}

words! {
    /// The word for "no restriction".
    pub enum Everything {
        All = "all",
    }
}

/// Which variables programs inherit: a list of names, or `all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EnvInherit {
    /// These.
    Names(Vec<String>),
    /// The whole environment (specifications 002 and 003).
    All(Everything),
}

words! {
    /// The search path that programs see.
    pub enum EnvPath {
        /// The fixed folders of the system.
        System = "system",
        /// The path of the host's environment.
        Host = "host",
    }
}

section! {
    /// The environment that programs see.
    pub struct Env {
        /// Which variables are inherited: a list of names, or `all`.
        pub inherit: EnvInherit = EnvInherit::Names(Vec::new()),
        /// The search path.
        pub path: EnvPath = EnvPath::System,
    }
}

words! {
    /// Which redirects are followed.
    pub enum Redirects {
        /// At most five, each checked like a new request.
        Checked = "checked",
        /// Only to the same host.
        SameHost = "same_host",
        /// None.
        None = "none",
    }
}

words! {
    /// Which headers a model may set.
    pub enum HeaderRule {
        /// None that name a host, a connection, a credential or a cloud metadata service.
        Safe = "safe",
        /// Any (specification 003).
        Any = "any",
    }
}

words! {
    /// Where double braces in response bodies are split.
    pub enum BraceSanitise {
        /// In the text rendering of everything that is not JSON.
        Text = "text",
        /// In JSON too (specification 000's letter).
        All = "all",
    }
}

section! {
    /// Connections to other hosts.
    pub struct Net {
        /// The server that every name look-up goes to. Unset: the system's.
        pub dns_server: Option<SocketAddress> = None,
        /// The time limit of one request.
        pub timeout: Period = Period::seconds(30),
        /// The largest response body that is read.
        #[schemars(range(min = 1))]
        pub max_body_bytes: u64 = 10_485_760,
        /// Which redirects are followed.
        pub redirects: Redirects = Redirects::Checked,
        /// The methods a model may use. Others need the capability.
        pub methods: Vec<HttpMethod> = vec![HttpMethod::Get, HttpMethod::Head],
        /// Which headers a model may set.
        pub headers: HeaderRule = HeaderRule::Safe,
        /// Where double braces in response bodies are split.
        pub brace_sanitise: BraceSanitise = BraceSanitise::Text,
    }
}

section! {
    /// Time, size and number limits. None of them can be switched off.
    pub struct Limits {
        /// The time a program gets unless its tool says otherwise.
        pub time: Period = Period::seconds(30),
        /// The longest time a call may ask for.
        pub time_max: Period = Period::seconds(300),
        /// The bytes captured of a program's output before it is stopped.
        #[schemars(range(min = 1))]
        pub output_bytes: u64 = 10_485_760,
        /// The bytes of an answer that a model sees.
        #[schemars(range(min = 1))]
        pub reply_bytes: u64 = 65_536,
        /// The bytes that `read_file` reads unless a call says otherwise.
        #[schemars(range(min = 1))]
        pub read_bytes: u64 = 102_400,
        /// The memory a program gets.
        #[schemars(range(min = 1))]
        pub memory_bytes: u64 = 4_294_967_296,
        /// The processes a program may have at once.
        #[schemars(range(min = 1))]
        pub processes: u64 = 256,
        /// The largest file a program may write.
        #[schemars(range(min = 1))]
        pub file_bytes: u64 = 1_073_741_824,
    }
}

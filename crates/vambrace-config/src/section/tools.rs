//! Tools, and the rules for commands and addresses.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DeclaredTool, OneOrMany, section, words};
use crate::value::{Cidr, Period};

section! {
    /// Tools and the rules for commands and addresses.
    pub struct Tools {
        /// Rules for commands that a model writes (specification 003).
        pub command_policy: CommandPolicy = CommandPolicy::default(),
        /// Rules for addresses that tools connect to (specification 003).
        pub url_policy: UrlPolicy = UrlPolicy::default(),
        /// Offer the raw `run_command` tool, which specification 004 removed.
        pub allow_legacy_run_command: bool = false,
        /// Programs added to the command allowlist, with no arguments that name a path outside the scope.
        pub whitelisted_binaries: Vec<String> = Vec::new(),
        /// Tools that the operator declares (specification 000).
        pub declared: Vec<DeclaredTool> = Vec::new(),
        /// How each language's tests, linters and installs are run (specification 004).
        pub toolchain: BTreeMap<String, Toolchain> = built_in_toolchains(),
        /// Further names of tools: the name shown, and the tool behind it.
        pub aliases: BTreeMap<String, String> = BTreeMap::new(),
        /// The web page tool (specification 001).
        pub web_fetch: WebFetch = WebFetch::default(),
    }
}

words! {
    /// Which commands may run.
    pub enum CommandMode {
        /// Only listed programs.
        Allowlist = "allowlist",
        /// Everything that matches no denied pattern.
        Denylist = "denylist",
    }
}

words! {
    /// What an empty allowlist means for model-written commands.
    pub enum EmptyMeans {
        /// The built-in list.
        Defaults = "defaults",
        /// No program at all.
        Block = "block",
    }
}

words! {
    /// The built-in list of programs.
    pub enum CommandList {
        /// Specification 003's 17 and the everyday read-only tools, each under its argument rules.
        Strict = "strict",
        /// Exactly specification 002's 12.
        Seed002 = "seed002",
        /// Exactly specification 003's 17.
        Seed003 = "seed003",
    }
}

words! {
    /// Whether an allowed program's arguments are judged.
    pub enum ArgumentRules {
        /// Each program has its argument rules.
        On = "on",
        /// Any arguments (specifications 002 and 003).
        Off = "off",
    }
}

words! {
    /// What of the shell's grammar is understood.
    pub enum ShellGrammar {
        /// What our own plan can express; run without a shell.
        Plan = "plan",
        /// POSIX grammar; every simple command is still checked.
        Posix = "posix",
        /// The text goes to a shell.
        Raw = "raw",
    }
}

words! {
    /// Whether commands may be chained with `;`, `&&` and `||`.
    pub enum Chains {
        /// Every link of the chain is judged.
        Check = "check",
        /// Chains are refused (specification 002).
        Refuse = "refuse",
    }
}

words! {
    /// How a program is recognized.
    pub enum ProgramMatch {
        /// By its name in trusted folders, or by its listed path.
        Trusted = "trusted",
        /// By the last part of whatever path was given (specifications 000 and 003).
        Basename = "basename",
    }
}

words! {
    /// Which dangerous patterns are looked for.
    pub enum PatternList {
        /// All of them, where the words of a command would start something; in denylist mode wherever the text stands.
        All = "all",
        /// Specification 002's and 003's, wherever the text stands.
        Seed002 = "seed002",
        /// Specification 003's, wherever the text stands.
        Seed003 = "seed003",
    }
}

words! {
    /// How `..` is treated in commands.
    pub enum DotDot {
        /// Paths are resolved beneath the root; other words may contain it.
        Resolve = "resolve",
        /// Any `..` in the text is refused (specification 002).
        Text = "text",
    }
}

section! {
    /// Rules for commands that a model writes (specification 003).
    pub struct CommandPolicy {
        /// Which commands may run.
        pub mode: CommandMode = CommandMode::Allowlist,
        /// Programs that may run. Empty: see `empty_means`; otherwise it replaces the built-in list.
        pub allowlist: Vec<String> = Vec::new(),
        /// Patterns refused in denylist mode. The built-in dangerous patterns are always refused.
        pub denylist: Vec<String> = Vec::new(),
        /// What an empty allowlist means.
        pub empty_means: EmptyMeans = EmptyMeans::Defaults,
        /// The built-in list of programs.
        pub list: CommandList = CommandList::Strict,
        /// Whether an allowed program's arguments are judged.
        pub argument_rules: ArgumentRules = ArgumentRules::On,
        /// What of the shell's grammar is understood.
        pub shell: ShellGrammar = ShellGrammar::Plan,
        /// Whether commands may be chained.
        pub chains: Chains = Chains::Check,
        /// How a program is recognized.
        #[serde(rename = "match")]
        pub match_by: ProgramMatch = ProgramMatch::Trusted,
        /// Which dangerous patterns are looked for.
        pub patterns: PatternList = PatternList::All,
        /// How `..` is treated.
        pub dotdot: DotDot = DotDot::Resolve,
    }
}

words! {
    /// What happens when a name cannot be resolved before the request.
    pub enum OnDnsFailure {
        /// The request is refused.
        Deny = "deny",
        /// The check is left to the connection, which fails or is checked (specification 003).
        Defer = "defer",
    }
}

words! {
    /// Which address ranges are refused.
    pub enum Ranges {
        /// Everything that is not globally reachable.
        Full = "full",
        /// Specification 000's eight.
        Seed000 = "seed000",
        /// Specification 001's seventeen.
        Seed001 = "seed001",
        /// Specification 003's nine.
        Seed003 = "seed003",
    }
}

words! {
    /// Which host names are refused.
    pub enum HostRules {
        /// Every name that is local by form, and every metadata name.
        Full = "full",
        /// Specification 001's.
        Seed001 = "seed001",
        /// Specification 003's.
        Seed003 = "seed003",
    }
}

section! {
    /// Rules for addresses that tools connect to (specification 003).
    pub struct UrlPolicy {
        /// Whether addresses are checked at all.
        pub enabled: bool = true,
        /// Whether private networks may be reached.
        pub allow_private: bool = false,
        /// Hosts that may lie in a private network: a name, `*.name`, or `{host, port, cidr, allow_metadata}`.
        pub allowed_domains: Vec<AllowedDomain> = Vec::new(),
        /// Hosts that are always refused.
        pub blocked_domains: Vec<String> = Vec::new(),
        /// What happens when a name cannot be resolved before the request.
        pub on_dns_failure: OnDnsFailure = OnDnsFailure::Deny,
        /// Which address ranges are refused.
        pub ranges: Ranges = Ranges::Full,
        /// Which host names are refused.
        pub host_rules: HostRules = HostRules::Full,
        /// Whether `allowed_domains` skip every check, as in specification 003.
        pub allowed_domains_bypass_all: bool = false,
    }
}

/// A host that may lie in a private network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AllowedDomain {
    /// A host name, or `*.name` for everything beneath it.
    Host(String),
    /// A host with the port and the addresses it may have.
    Exact(ExactDomain),
}

/// A host with the port and the addresses it may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExactDomain {
    /// The host name.
    pub host: String,
    /// The only port that may be used. Unset: any.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub port: Option<u16>,
    /// The only addresses that the name may resolve to.
    #[serde(default)]
    pub cidr: Option<Cidr>,
    /// Whether the name may resolve to a cloud metadata address.
    #[serde(default)]
    pub allow_metadata: bool,
}

section! {
    /// How one language's tests, linters and installs are run. `{target}` is replaced by the call's target.
    pub struct Toolchain {
        /// Files whose presence tells that this toolchain applies. Where several do, one whose first file is there.
        pub detect: OneOrMany = OneOrMany::Many(Vec::new()),
        /// The test command, as an argument vector.
        pub test: Vec<String> = Vec::new(),
        /// The lint command, as an argument vector.
        pub lint: Vec<String> = Vec::new(),
        /// The format command, as an argument vector.
        pub format: Vec<String> = Vec::new(),
        /// The install command, as an argument vector that follows a lock file.
        pub install: Vec<String> = Vec::new(),
        /// The time limit of each of these.
        pub timeout: Option<Period> = None,
        /// The reader of the test runner's output. Unset: found by its form.
        pub parser: Option<String> = None,
    }
}

/// Lock-file installs only; the runner's own defaults otherwise.
fn built_in_toolchains() -> BTreeMap<String, Toolchain> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let row = |name: &str, detect: &str, [test, lint, format, install]: [&str; 4]| {
        let detect = match words(detect) {
            files if files.len() > 1 => OneOrMany::Many(files),
            _ => OneOrMany::One(detect.to_owned()),
        };
        let (test, lint, format, install) = (words(test), words(lint), words(format), words(install));
        (name.to_owned(), Toolchain { detect, test, lint, format, install, timeout: None, parser: None })
    };
    BTreeMap::from([
        row(
            "rust",
            "Cargo.toml",
            ["cargo test {target}", "cargo clippy", "cargo fmt", "cargo fetch --locked"],
        ),
        row(
            "python",
            "pyproject.toml setup.py setup.cfg pytest.ini tox.ini requirements.txt Pipfile",
            [
                "poetry run pytest {target}",
                "poetry run pylint {target}",
                "poetry run black {target}",
                "poetry install",
            ],
        ),
        row("node", "package.json", ["npm test -- {target}", "npm run lint", "npm run format", "npm ci"]),
        row("go", "go.mod", ["go test {target}", "go vet {target}", "gofmt -w {target}", "go mod download"]),
        row(
            "kotlin",
            "pom.xml",
            ["mvn test", "ktlint {target}", "ktlint --format {target}", "mvn dependency:resolve"],
        ),
    ])
}

section! {
    /// The web page tool (specification 001).
    pub struct WebFetch {
        /// The time limit of one page.
        pub timeout: Period = Period::seconds(30),
        /// The characters returned unless a call asks for another number.
        #[schemars(range(min = 1))]
        pub default_max_length: u64 = 10_000,
    }
}

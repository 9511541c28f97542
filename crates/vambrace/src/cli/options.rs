//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use vambrace_policy::ToolMode;
use vambrace_redact::Marking;
use vambrace_types::Role;

/// Armoured hands for AI agents: governed files, programs and network for any MCP client.
#[derive(Parser)]
#[command(name = "vambrace", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Args)]
pub(crate) struct Global {
    /// The operator's configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// strict, declared-tools, knowledge-service, terminal-agent, workspace-agent or monorepo-team
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// The folder the tools work in [default: the current folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// The active service inside the workspace [default: the workspace]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) service: Option<PathBuf>,
    /// dev, sre, release_manager or product_owner
    #[arg(long, global = true, value_parser = Role::parse, default_value = "dev")]
    pub(crate) role: Role,
    /// What may act: none, read, write, command, all, or a list such as read,write
    #[arg(long, global = true, value_name = "MODE", value_parser = ToolMode::parse, default_value = "all")]
    pub(crate) tool: ToolMode,
    /// Work in this context of the configuration
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Print JSON, also on a terminal
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Decide and show, but do nothing
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// Where the record and other state live; never inside the workspace
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Say less on standard error
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more on standard error: files read, ids of denied calls
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make one tool call through the whole corridor and print its ToolResult
    Call(CallArgs),
    /// Say what would be decided, by which rule; never acts
    Check(CheckArgs),
    /// Run one program in the cage: `vambrace run -- make test`
    Run(RunArgs),
    /// Copy files or standard input to standard output with secrets replaced
    #[command(after_help = REDACT_EXAMPLES)]
    Redact(RedactArgs),
    /// Say which findings in this project are no secrets
    Secrets(SecretsArgs),
    /// Look at the record: list, show, verify, alerts, export
    Audit(AuditArgs),
    /// Stop a caller, or everybody, until a person resumes it
    Stop {
        /// The caller to stop; without it, everybody
        caller: Option<String>,
        /// Show who is stopped, and stop nobody
        #[arg(long, conflicts_with = "caller")]
        list: bool,
    },
    /// Release a caller that was stopped or suspended (`*` for everybody)
    Resume {
        /// The caller to release, by the name it was stopped by; `*`: take back the stop of everybody
        caller: String,
    },
    /// Work with the configuration: init, check, schema, show
    Config(ConfigArgs),
    /// Serve HTTP: REST, MCP and A2A, health and metrics
    Serve(ServeArgs),
    /// Serve MCP over standard input and output
    Mcp,
    /// Look at questions that wait for a person, and answer them
    Approvals(ApprovalsArgs),
    /// Make a credential: internal, api-key NAME, or task
    Token(TokenArgs),
    /// Say what this machine can enforce, and attack ourselves to prove it
    Doctor,
    /// Print a completion script for your shell
    Completions { shell: clap_complete::Shell },
    /// Print the manual page
    Man,
    /// Write the generated reference into a folder
    #[command(hide = true)]
    Reference { folder: PathBuf },
}

#[derive(Args)]
pub(crate) struct CallArgs {
    /// The tool, for instance read_file
    #[arg(required_unless_present = "batch")]
    pub(crate) tool_name: Option<String>,
    /// Its arguments as a JSON object; `-` reads them from standard input
    pub(crate) arguments: Option<String>,
    /// Read JSON lines {"tool", "arguments", "dry_run"?} from standard input
    #[arg(long, conflicts_with_all = ["tool_name", "arguments"])]
    pub(crate) batch: bool,
}

#[derive(Args, Default)]
pub(crate) struct ServeArgs {
    /// Where to listen: an address with a port, or `:PORT` on this machine alone [default: 127.0.0.1 and
    /// `server.agent_port`]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Let everybody on this machine in without a credential, with the rights to write
    #[arg(long)]
    pub(crate) no_auth: bool,
    /// With --no-auth: let everybody in who reaches the address, from other machines too
    #[arg(long)]
    pub(crate) no_auth_beyond_this_machine: bool,
}

#[derive(Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ApprovalsWhat>,
}

#[derive(Subcommand)]
pub(crate) enum ApprovalsWhat {
    /// Say yes to a question
    Approve {
        /// Its id, for instance ap_ye7j5kgmmx, or the beginning of it
        id: String,
    },
    /// Say no to a question
    Reject {
        /// Its id, or the beginning of it
        id: String,
    },
}

#[derive(Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) what: TokenWhat,
}

#[derive(Subcommand)]
pub(crate) enum TokenWhat {
    /// The secret that the Slack bridge and the agent share
    Internal,
    /// A key for another service or agent
    ApiKey {
        /// The caller that will hold it, for instance root-agent
        name: String,
    },
    /// A token for one task in one context: `token task --context NAME --ttl 1h`
    Task {
        /// How long it is good, at most 24h
        #[arg(long, value_name = "TIME", default_value = "1h", value_parser = period)]
        ttl: std::time::Duration,
        /// Who works, as the audit log has it [default: the context's name]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
}

fn period(text: &str) -> Result<std::time::Duration, String> {
    let period = vambrace_config::Period::parse(text);
    period.map(vambrace_config::Period::duration).ok_or_else(|| "write a time such as 30m or 2h".to_owned())
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    #[command(subcommand)]
    pub(crate) what: CheckWhat,
}

#[derive(Subcommand)]
pub(crate) enum CheckWhat {
    /// May this path be read, written or deleted?
    Path {
        /// The path as an agent would write it
        #[arg(required_unless_present = "batch")]
        path: Option<String>,
        #[arg(long = "for", value_enum, default_value = "read")]
        purpose: PathPurpose,
        /// Read JSON lines {"input", "for"?} from standard input
        #[arg(long, conflicts_with = "path")]
        batch: bool,
    },
    /// May this command line be run?
    Command {
        /// The line as an agent would write it
        #[arg(required_unless_present = "batch")]
        line: Option<String>,
        /// Show every word and the rule that judged it
        #[arg(long)]
        explain: bool,
        /// Read JSON lines {"input"} from standard input
        #[arg(long, conflicts_with = "line")]
        batch: bool,
    },
    /// May this URL be fetched? Its name is resolved; nothing is connected to
    Url {
        /// The URL as an agent would write it
        #[arg(required_unless_present = "batch")]
        url: Option<String>,
        /// Show every step, every address and the rule that judged it
        #[arg(long)]
        explain: bool,
        /// Read JSON lines {"input"} from standard input
        #[arg(long, conflicts_with = "url")]
        batch: bool,
    },
    /// Which secrets are in the text on standard input?
    Text,
}

#[derive(Args)]
pub(crate) struct RunArgs {
    /// Stop the program after this many seconds [default: no limit]
    #[arg(long, value_name = "S")]
    pub(crate) timeout: Option<u64>,
    /// A host that the program may reach, through our proxy: name, *.name or name:port; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) net: Vec<String>,
    /// A further folder that the program may read and write, shown as it is: nothing in it is masked or protected
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Vec<PathBuf>,
    /// On a terminal: pass the output on as it is, without looking for secrets
    #[arg(long)]
    pub(crate) raw: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM ARGS")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PathPurpose {
    Read,
    Write,
    Delete,
}

#[derive(Args)]
pub(crate) struct RedactArgs {
    /// The files to copy, one after the other; none, or `-`, is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Say on standard error how many secrets were replaced, by rule (with --json as JSON)
    #[arg(long)]
    pub(crate) stats: bool,
    /// Instead of the text, one row for each finding: file, line, column, rule, length, why; never the value
    #[arg(long, conflicts_with = "stats")]
    pub(crate) explain: bool,
    /// Number the markers, so that two secrets of one kind can be told apart: [REDACTED:github-token#1]
    #[arg(long)]
    pub(crate) numbered: bool,
}

impl RedactArgs {
    /// `None`: as the configuration says.
    pub(crate) fn marking(&self) -> Option<Marking> {
        self.numbered.then_some(Marking::Numbered)
    }
}

const REDACT_EXAMPLES: &str = "Examples:
  make test 2>&1 | vambrace redact | tee build.log
  vambrace redact --stats server.log > clean.log
  vambrace redact --explain src/*.py";

#[derive(Args)]
pub(crate) struct SecretsArgs {
    #[command(subcommand)]
    pub(crate) what: SecretsWhat,
}

#[derive(Subcommand)]
pub(crate) enum SecretsWhat {
    /// Show what looks like a secret in this project; with --write, accept all of it as harmless
    ///
    /// The files are those that `search_file` sees: no blocked ones, none that .gitignore names. What is accepted is
    /// shown to agents from then on and may be written. Values that are known to be secret (environment, configuration,
    /// `.env` files) are never accepted.
    #[command(after_help = BASELINE_EXAMPLES)]
    Baseline {
        /// Files and folders to look through [default: the whole project]
        #[arg(value_name = "PATH")]
        paths: Vec<String>,
        /// Accept everything that is shown: write it to the baseline file
        #[arg(long)]
        write: bool,
        /// With --write: forget what was accepted and is no longer found (in the whole project)
        #[arg(long, requires = "write", conflicts_with = "paths")]
        prune: bool,
    },
}

const BASELINE_EXAMPLES: &str = "Examples:
  vambrace secrets baseline                      # look
  vambrace secrets baseline tests/fixtures       # look at one folder
  vambrace secrets baseline --write tests/data   # accept what stands there
  vambrace secrets baseline --write --prune      # and forget what is gone";

#[derive(Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) what: AuditWhat,
}

#[derive(Subcommand)]
pub(crate) enum AuditWhat {
    /// The last records, one line each
    List {
        /// How many; 20, or all of a request, when nothing is said
        #[arg(long)]
        last: Option<usize>,
        /// Only calls and events of this caller
        #[arg(long)]
        caller: Option<String>,
        /// Only calls of this tool
        #[arg(long = "tool-name")]
        tool_name: Option<String>,
        /// allow, ask or deny
        #[arg(long)]
        decision: Option<String>,
        /// Only calls and events of the HTTP request with this id, as its answer told it
        #[arg(long)]
        request: Option<String>,
        /// Only calls that met the secret on standard input; its value is compared by fingerprint and kept nowhere
        #[arg(long)]
        secret: bool,
    },
    /// Every record of one call
    Show { id: String },
    /// Check the chain; names the first broken record and intents without outcome
    Verify,
    /// The alerts that were raised
    Alerts,
    /// Every record as JSON lines: full, or in the form of a specification (001, 002, 004)
    Export {
        #[arg(long, default_value = "full")]
        view: String,
    },
}

#[derive(Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) what: ConfigWhat,
}

#[derive(Subcommand)]
pub(crate) enum ConfigWhat {
    /// Write a commented starter file
    Init {
        /// Where to [default: the user's configuration folder]
        file: Option<PathBuf>,
    },
    /// Read everything and say what is wrong
    Check,
    /// Print the JSON Schema of the configuration
    Schema,
    /// Print every setting in force and where it came from
    Show,
}

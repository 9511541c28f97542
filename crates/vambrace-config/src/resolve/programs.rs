//! What the sections say about programs, in the words of the crates that decide about them and run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use vambrace_policy::command::{
    ArgumentRules, Chains, CommandMode, CommandPolicy, CommandSettings, DotDot, EmptyMeans, PatternList,
    ProgramList, ProgramMatch, ShellGrammar,
};
use vambrace_policy::url::ProgramGrant;
use vambrace_policy::{GitRules, PathPattern, Scope, Variable, VariableValue};
use vambrace_process::{
    AbsentNames, Backend, EnvironmentSettings, Inherit, ProgramLimits, ProgramsSettings, Reuse, WhenMissing,
};
use vambrace_tools::{
    Declared, DeclaredProgram, DeclaredRequest, Language, LegacyRunCommand, Toolbox, Toolchain,
};
use vambrace_types::ByteLimit;

use super::ResolveError;
use crate::section::{self, Config, DeclaredTool, OneOrMany, ToolKind};
use crate::{Loaded, Origin};

/// `narrowed` are the only programs that count, of those that count at all.
pub(super) fn command_policy(
    config: &Config,
    networked: Vec<ProgramGrant>,
    narrowed: Option<Vec<String>>,
) -> CommandPolicy {
    let policy = &config.tools.command_policy;
    CommandPolicy::new(CommandSettings {
        mode: match policy.mode {
            section::CommandMode::Allowlist => CommandMode::Allowlist,
            section::CommandMode::Denylist => CommandMode::Denylist,
        },
        allowlist: policy.allowlist.clone(),
        denylist: policy.denylist.clone(),
        empty_means: match policy.empty_means {
            section::EmptyMeans::Defaults => EmptyMeans::Defaults,
            section::EmptyMeans::Block => EmptyMeans::Block,
        },
        list: match policy.list {
            section::CommandList::Strict => ProgramList::Strict,
            section::CommandList::Seed002 => ProgramList::Seed002,
            section::CommandList::Seed003 => ProgramList::Seed003,
        },
        argument_rules: match policy.argument_rules {
            section::ArgumentRules::On => ArgumentRules::On,
            section::ArgumentRules::Off => ArgumentRules::Off,
        },
        shell: match policy.shell {
            section::ShellGrammar::Plan => ShellGrammar::Plan,
            section::ShellGrammar::Posix => ShellGrammar::Posix,
            section::ShellGrammar::Raw => ShellGrammar::Raw,
        },
        chains: match policy.chains {
            section::Chains::Check => Chains::Check,
            section::Chains::Refuse => Chains::Refuse,
        },
        match_by: match policy.match_by {
            section::ProgramMatch::Trusted => ProgramMatch::Trusted,
            section::ProgramMatch::Basename => ProgramMatch::Basename,
        },
        patterns: match policy.patterns {
            section::PatternList::All => PatternList::All,
            section::PatternList::Seed002 => PatternList::Seed002,
            section::PatternList::Seed003 => PatternList::Seed003,
        },
        dotdot: match policy.dotdot {
            section::DotDot::Resolve => DotDot::Resolve,
            section::DotDot::Text => DotDot::Text,
        },
        whitelisted: config.tools.whitelisted_binaries.clone(),
        narrowed_to: narrowed,
        networked,
    })
}

pub(super) fn git_rules(config: &Config) -> Result<GitRules, ResolveError> {
    let patterns = config.git.branches.iter().enumerate().map(|(place, text)| {
        PathPattern::parse_from_root(text)
            .map_err(|error| ResolveError::Pattern { key: format!("git.branches[{place}]"), error })
    });
    Ok(GitRules {
        branches: patterns.collect::<Result<_, _>>()?,
        protected: config.git.protected_branches.clone(),
    })
}

/// Our own binary, which the launcher is: the running file, even if another has taken its name since.
const OURSELVES: &str = "/proc/self/exe";

pub(super) fn programs(
    config: &Config,
    scope: &Arc<Scope>,
    workspace: &Path,
    spelled: &Path,
    state: &Path,
    environment: &BTreeMap<String, String>,
) -> ProgramsSettings {
    let beneath = |text: &String| workspace.join(text);
    let backend = match config.sandbox.backend {
        section::SandboxBackend::Native if config.tool_safety.firejail_enabled => Backend::Firejail,
        section::SandboxBackend::Native => Backend::Native,
        section::SandboxBackend::Bubblewrap => Backend::Bubblewrap,
        section::SandboxBackend::Firejail => Backend::Firejail,
        section::SandboxBackend::None => Backend::DangerouslyNone,
    };
    ProgramsSettings {
        launcher: PathBuf::from(OURSELVES),
        workspace: workspace.to_owned(),
        spellings: vec![spelled.to_owned()],
        scope: Arc::clone(scope),
        state: state.to_owned(),
        backend,
        when_missing: match config.sandbox.when_missing {
            section::WhenMissing::Refuse => WhenMissing::Refuse,
            section::WhenMissing::Warn => WhenMissing::Warn,
        },
        absent_names: match config.sandbox.absent_names {
            section::AbsentNames::Refuse => AbsentNames::Refuse,
            section::AbsentNames::Sweep => AbsentNames::Sweep,
        },
        reuse: if config.sandbox.reuse { Reuse::PerCaller } else { Reuse::Never },
        read: config.sandbox.read.iter().map(beneath).collect(),
        write: config.sandbox.write.iter().map(beneath).collect(),
        limits: ProgramLimits {
            output: ByteLimit::new(config.limits.output_bytes),
            memory: ByteLimit::new(config.limits.memory_bytes),
            processes: config.limits.processes,
            file: ByteLimit::new(config.limits.file_bytes),
        },
        environment: EnvironmentSettings {
            inherit: match &config.env.inherit {
                section::EnvInherit::Names(names) => Inherit::Names(names.clone()),
                section::EnvInherit::All(_) => Inherit::All,
            },
            host_path: config.env.path == section::EnvPath::Host,
            host: environment.clone(),
        },
        author: Toolbox::default().author,
        // An empty value is no value: a tool that runs with an empty key fails later and further away.
        secrets: config
            .secrets
            .env
            .iter()
            .map(|(name, value)| {
                let value = value.secret().clone();
                (name.clone(), Some(value).filter(|value| !value.expose().is_empty()))
            })
            .collect(),
    }
}

pub(super) fn toolbox(loaded: &Loaded, environment: &BTreeMap<String, String>) -> Toolbox {
    let config = &loaded.config;
    let time = match loaded.origins.of("tool_safety.command_timeout") {
        Origin::Default => config.limits.time,
        Origin::Profile(_) | Origin::File { .. } | Origin::Flag | Origin::Environment(_) => {
            config.tool_safety.command_timeout
        }
    };
    let toolchains = config.tools.toolchain.iter().map(|(name, toolchain)| Toolchain {
        name: name.clone(),
        detect: match &toolchain.detect {
            OneOrMany::One(file) => vec![file.clone()],
            OneOrMany::Many(files) => files.clone(),
        },
        test: toolchain.test.clone(),
        lint: toolchain.lint.clone(),
        install: toolchain.install.clone(),
        time: toolchain.timeout.map(|period| period.duration()),
        parser: toolchain.parser.clone(),
    });
    Toolbox {
        toolchains: toolchains.collect(),
        declared: config.tools.declared.iter().filter_map(|tool| declared(config, tool)).collect(),
        requests: config.tools.declared.iter().filter_map(|tool| request(config, tool)).collect(),
        sub_agents: super::agents::sub_agents(config, environment),
        chain: super::agents::chain_rules(config),
        web: super::net::limits(config),
        legacy_run_command: if config.tools.allow_legacy_run_command {
            LegacyRunCommand::Offered
        } else {
            LegacyRunCommand::Removed
        },
        time: time.duration().min(config.limits.time_max.duration()),
        time_most: config.limits.time_max.duration(),
        sudo: !rustix::process::geteuid().is_root(),
        migrations: migrations(loaded),
        ..Toolbox::default()
    }
}

/// The project's own configuration, by name and place in the workspace; the operator's is not a tool's to change.
fn migrations(loaded: &Loaded) -> BTreeMap<String, String> {
    let inside = loaded.files.iter().filter_map(|file| file.strip_prefix(&loaded.workspace).ok());
    let named = inside.filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        Some((name.to_owned(), path.to_str()?.to_owned()))
    });
    named.collect()
}

/// Inline tools without a limit of their own (specification 000's data model).
const INLINE_MEMORY: u64 = 256;

fn declared(config: &Config, tool: &DeclaredTool) -> Option<Declared> {
    let what = match tool.kind {
        ToolKind::Command => DeclaredProgram::Command {
            program: tool.binary.clone().unwrap_or_default(),
            arguments: tool.args.clone(),
        },
        ToolKind::Inline => DeclaredProgram::Inline {
            language: match tool.language? {
                section::InlineLanguage::Python | section::InlineLanguage::Python3 => Language::Python,
                section::InlineLanguage::Javascript | section::InlineLanguage::Node => Language::Node,
                section::InlineLanguage::Bash | section::InlineLanguage::Sh => Language::Bash,
                section::InlineLanguage::Ruby => Language::Ruby,
            },
            code: tool.code.clone().unwrap_or_default(),
        },
        // A request is another kind of tool, and upstream servers wait for their own door.
        ToolKind::Http | ToolKind::Mcp => return None,
    };
    let plain = tool.env.iter().map(|(name, value)| Variable {
        name: name.clone(),
        value: VariableValue::Plain(value.secret().clone()),
    });
    let named = tool
        .secrets
        .iter()
        .map(|(name, secret)| Variable { name: name.clone(), value: VariableValue::Named(secret.clone()) });
    let megabytes = match tool.kind {
        ToolKind::Inline => Some(tool.memory.unwrap_or(INLINE_MEMORY)),
        ToolKind::Command | ToolKind::Http | ToolKind::Mcp => None,
    };
    Some(Declared {
        name: tool.name.clone(),
        description: tool.description.clone(),
        schema: schema(tool.input_schema.as_ref()),
        what,
        variables: plain.chain(named).collect(),
        time: tool.timeout.map_or(config.limits.time.duration(), |time| time.duration()).min(most(config)),
        memory: megabytes.map(|megabytes| ByteLimit::new(megabytes << 20)),
    })
}

fn request(config: &Config, tool: &DeclaredTool) -> Option<DeclaredRequest> {
    let url = tool.url.clone().filter(|_| tool.kind == ToolKind::Http)?;
    let headers = tool.headers.iter().map(|(name, value)| (name.clone(), value.secret().clone()));
    Some(DeclaredRequest {
        name: tool.name.clone(),
        description: tool.description.clone(),
        schema: schema(tool.input_schema.as_ref()),
        method: super::net::method_name(tool.method.unwrap_or(section::HttpMethod::Get)).to_owned(),
        url,
        headers: headers.collect(),
        body: tool.body_template.clone(),
        time: tool.timeout.map_or(config.net.timeout.duration(), |time| time.duration()).min(most(config)),
    })
}

fn most(config: &Config) -> Duration {
    config.limits.time_max.duration()
}

/// Without a schema a tool takes no arguments.
fn schema(given: Option<&Value>) -> Map<String, Value> {
    match given {
        Some(Value::Object(schema)) => schema.clone(),
        Some(_) | None => {
            let nothing =
                serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false});
            nothing.as_object().cloned().unwrap_or_default()
        }
    }
}

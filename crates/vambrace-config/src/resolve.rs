//! From a checked configuration to a running corridor: each crate's own settings, built here and nowhere else.

mod agents;
mod auth;
mod contexts;
mod env_file;
mod known;
mod known_files;
#[cfg(test)]
mod meet;
mod memory;
mod net;
mod not_yet;
mod programs;
mod redacting;
mod rules;
mod survey;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use vambrace_audit::{AuditLog, AuditSettings, BareStanding, Clock, Event, EventKind, Severity};
use vambrace_files::{Keeping, Recovery, Root};
use vambrace_net::TlsError;
use vambrace_policy::url::HostPatternError;
use vambrace_policy::{
    Epoch, HardLinks, Isolation, OnWrite, PatternError, Policy, PolicySettings, Scope, ScopeSettings,
    Symlinks, ToolMode,
};
use vambrace_redact::{FingerprintKey, KnownValue, RedactedTree, Redactor, RedactorError};
use vambrace_runtime::{Context, Contexts, Corridor, CorridorParts, OnAuditFailure};
use vambrace_tools::{Confirmations, MakeKey};
use vambrace_types::{Bearings, PathProblem, ScopedPath, ToolName};

use crate::section::{self, Config, ProfileName};
use crate::{Loaded, Origin};

pub use agents::chain_rules;
pub use auth::{auth, context_rows, weak_secrets};
use contexts::{Common, Workspace};
pub use not_yet::{NOT_YET, NotYet, Unused, without_effect};
pub use redacting::Redacting;
pub use survey::{Sighting, Survey};

/// What does not come from a file: the machine and the command line.
pub struct Start {
    /// Where the record, the journal and kept outputs live; outside the workspace.
    pub state: PathBuf,
    pub mode: ToolMode,
    pub environment: BTreeMap<String, String>,
    /// Whether what is found of hidden files is written down; a run that changes nothing does not.
    pub keeping: Keeping,
    /// Secrets that neither the configuration nor the environment holds.
    pub known: Vec<KnownValue>,
    pub clock: Arc<dyn Clock>,
    /// The open workspace; whoever opened it had the authority.
    pub root: Root,
    /// How the person spelled the workspace, made absolute.
    pub spelled_workspace: PathBuf,
    /// Opens the workspace of a context.
    pub open_workspace: OpenWorkspace,
    /// Binds the second call of a push to what the first one showed, across processes.
    pub confirmation_key: MakeKey,
    /// Where lines for operators go.
    pub log: Arc<dyn vambrace_runtime::Log>,
    /// For looking up what was shown under a number; asked for only when numbers are given.
    pub redaction_key: MakeKey,
}

/// Turns a folder of the host into an open workspace; whoever gives it has the authority.
pub type OpenWorkspace = Box<dyn Fn(&Path) -> std::io::Result<Root>>;

/// A corridor, and what became of what an earlier run left behind.
pub struct Assembled {
    pub corridor: Corridor,
    pub recovery: Recovery,
    /// What a person should know about the files that the redactor learned from.
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("the state folder `{}` lies inside the workspace, where an agent could reach it; choose another with --state", .0.display())]
    StateInWorkspace(PathBuf),
    #[error("the workspace `{}` lies inside the state folder `{}`, which no agent may reach; choose another state folder with --state", workspace.display(), state.display())]
    WorkspaceInState { workspace: PathBuf, state: PathBuf },
    #[error("the workspace's path is not UTF-8")]
    WorkspaceNotText,
    #[error("the workspace cannot be located: {0}")]
    WorkspaceLost(std::io::Error),
    #[error("the service `{0}` is not inside the workspace")]
    ServiceOutside(String),
    #[error("{key}: `{}` is not a valid path pattern: {}", .error.pattern, .error.why)]
    Pattern { key: String, error: PatternError },
    #[error("{key}: `{}` is no host: {}", .error.text, .error.why)]
    Host { key: String, error: HostPatternError },
    #[error("secrets.bindings[{place}]: {why}")]
    Binding { place: usize, why: String },
    #[error("net: {0}")]
    Tls(TlsError),
    #[error("secrets.redact_patterns: {0}")]
    Redactor(RedactorError),
    /// The file is one of ours, so whoever reads this can look.
    #[error("{file}: {why}")]
    Baseline { file: String, why: String },
    #[error("the state folder `{}` cannot be used: {error}; name another one with --state", state.display())]
    Recovery { state: PathBuf, error: std::io::Error },
    #[error("rules: there is no tool `{name}`; {hint}")]
    RuleForNoTool { name: String, hint: String },
    #[error("contexts ({name}): {why}")]
    Context { name: String, why: String },
    #[error("rules[{place}]: {why}")]
    Rule { place: usize, why: &'static str },
    #[error("tools.declared[{place}].name: `{name}` {why}")]
    Declared { place: usize, name: String, why: &'static str },
    #[error("a2a.sub_agents[{place}].name: `{name}` {why}")]
    SubAgent { place: usize, name: String, why: &'static str },
    #[error("tools.declared[{place}].{field}: {why}")]
    DeclaredField { place: usize, field: &'static str, why: String },
    /// Said at the start, because whoever set it relies on it.
    #[error("{key}: {what} are not available yet; take the setting out to go on without them")]
    NotAvailable { key: &'static str, what: &'static str },
}

/// What `assemble` would refuse about the settings themselves, without starting anything.
pub fn check(loaded: &Loaded, environment: &BTreeMap<String, String>) -> Result<(), ResolveError> {
    available(&loaded.config)?;
    let workspace = std::path::absolute(&loaded.workspace).map_err(ResolveError::WorkspaceLost)?;
    let scope = scope(loaded, &workspace, &workspace)?;
    policy(&loaded.config, scope, ToolMode::ALL, None)?;
    redacting::redactor(&loaded.config, environment)?;
    net::web(&loaded.config)?;
    Ok(())
}

/// Names that tools have in some configuration only, that no front end shows, or that other words stand for.
const RESERVED: [&str; 4] = ["run", "run_command", "list_directory", "a2a_notify"];

/// What stops a start, beside shapes and types.
fn available(config: &Config) -> Result<(), ResolveError> {
    not_yet::refused(config)?;
    net::declared(config)?;
    agents::names(config)?;
    rules::subjects(config)?;
    contexts::check(config)?;
    let built_in = if config.tools.declared.is_empty() { Vec::new() } else { rules::of_ours() };
    for (place, tool) in config.tools.declared.iter().enumerate() {
        let why = if ToolName::parse(&tool.name).is_none() {
            "is not a name for a tool: letters, digits, `_` and `-`"
        } else if RESERVED.contains(&tool.name.as_str())
            || built_in.iter().any(|(known, _)| known.as_str() == tool.name)
        {
            "is the name of a tool that Vambrace has itself"
        } else {
            continue;
        };
        return Err(ResolveError::Declared { place, name: tool.name.clone(), why });
    }
    Ok(())
}

pub fn assemble(loaded: &Loaded, start: Start) -> Result<Assembled, ResolveError> {
    let config = &loaded.config;
    available(config)?;
    // Before anything is kept there.
    refuse_state_inside(&start.state, &start.root, &start.spelled_workspace)?;
    let common = Common {
        state: &start.state,
        environment: &start.environment,
        keeping: start.keeping,
        // Numbers or not: what the record hides of what was asked for must be found by whoever knows it.
        key: (start.redaction_key)().map(FingerprintKey::new),
        known: start.known,
        clock: Arc::clone(&start.clock),
        confirmations: Arc::new(Confirmations::new(start.confirmation_key, Arc::clone(&start.clock))),
        mode: start.mode,
    };
    let spelled = start.spelled_workspace.clone();
    let own = Workspace::open(loaded, &common, start.root, spelled, Some(&start.state))?;
    let default = own.context(loaded, &common, None)?;
    let audit = AuditLog::open(audit_settings(config, &start.state, &own.location), Arc::clone(&start.clock));
    let (others, workspaces) = others(loaded, &common, &own, &start.open_workspace)?;
    let (mut warnings, mut recovery) = (Vec::new(), Recovery::default());
    for workspace in std::iter::once(&own).chain(&workspaces) {
        if let Ok(audit) = &audit {
            record_recovery(audit, workspace.redaction().redactor(), &workspace.recovery);
        }
        warnings.extend(workspace.warnings.iter().cloned());
        recovery.extend(workspace.recovery.clone());
    }
    warnings.extend(agents::warnings(&default.toolbox.sub_agents));
    warnings.extend(vambrace_process::leaving_core_dumps());
    warnings.extend(vambrace_audit::open_to_everybody(&audit_folder(&start.state)).map(|folder| {
        format!(
            "`{}` can be written by everybody, so other users can put another state folder in the place of yours; \
             `chmod +t` on it, or another --state, stops that",
            folder.display()
        )
    }));
    let parts = CorridorParts {
        audit,
        bare_standing: BareStanding::new(&audit_folder(&start.state)),
        on_audit_failure: match config.audit.on_failure {
            section::AuditFailure::Warn => OnAuditFailure::Warn,
            section::AuditFailure::DenyWrites => OnAuditFailure::DenyWrites,
            section::AuditFailure::DenyAll => OnAuditFailure::DenyAll,
        },
        approvals: Some(vambrace_audit::Approvals::new(
            &audit_folder(&start.state),
            Arc::clone(&start.clock),
            config.approvals.expires.duration(),
        )),
        clock: start.clock,
        log: start.log,
    };
    warnings.extend(misplaced_rules(config, &[&own.location, &start.spelled_workspace]));
    let corridor = Corridor::new(parts, Contexts::new(default, others));
    Ok(Assembled { corridor, recovery, warnings })
}

/// The contexts of the rows, and the workspaces that some of them have of their own.
fn others(
    loaded: &Loaded,
    common: &Common<'_>,
    own: &Workspace,
    open: &OpenWorkspace,
) -> Result<(Vec<Context>, Vec<Workspace>), ResolveError> {
    let (mut opened, mut contexts): (Vec<Workspace>, Vec<Context>) = (Vec::new(), Vec::new());
    for row in &loaded.config.contexts {
        let changed = contexts::changed_by(loaded, row);
        let refuse = |why: String| ResolveError::Context { name: row.name.clone(), why };
        let spelled = match &row.workspace {
            None => None,
            Some(folder) => {
                let spelled = std::path::absolute(loaded.workspace.join(folder));
                Some(spelled.map_err(ResolveError::WorkspaceLost)?)
            }
        };
        if let Some(spelled) = &spelled
            && !opened.iter().any(|known| known.spelled() == spelled)
        {
            let root = open(spelled).map_err(|error| {
                refuse(format!("its workspace `{}` cannot be opened: {error}", spelled.display()))
            })?;
            let workspace = Workspace::open(&whole(&changed), common, root, spelled.clone(), None)?;
            let places = [workspace.location.as_path(), spelled];
            if let Some(file) = loaded.files.iter().find(|file| is_inside(file, &places)) {
                let file = file.display();
                return Err(refuse(format!("its workspace holds `{file}`, where agents could change it")));
            }
            opened.push(workspace);
        }
        let workspace = spelled
            .as_ref()
            .and_then(|spelled| opened.iter().find(|known| known.spelled() == spelled))
            .unwrap_or(own);
        let service = changed.config.scope.service_root.as_deref().unwrap_or_default();
        if !workspace.location.join(service).is_dir() {
            return Err(refuse(format!("its service `{service}` is not a folder of the workspace")));
        }
        contexts.push(workspace.context(&changed, common, Some(row))?);
    }
    Ok((contexts, opened))
}

/// The whole of a workspace, whatever service a row has in it.
fn whole(loaded: &Loaded) -> Loaded {
    let mut loaded = loaded.clone();
    loaded.config.scope.service_root = None;
    loaded
}

fn misplaced_rules(config: &Config, places: &[&Path]) -> Vec<String> {
    let paths = config.rules.iter().filter_map(|rule| rule.path.as_deref());
    let outside =
        |path: &&str| path.starts_with("~/") || places.iter().any(|place| Path::new(path).starts_with(place));
    let told = paths.filter(outside).map(|path| {
        format!(
            "rules: paths begin at the workspace, so `{path}` means `./{}` in it; `src/**` is all of its folder `src`",
            path.trim_start_matches('/')
        )
    });
    told.collect()
}

/// Everything that decides, as one number: an approval given under one configuration is worth nothing under another.
fn fingerprint(config: &Config, mode: ToolMode) -> [u8; 32] {
    use sha2::Digest as _;
    // Secrets are masked in this form, and they decide nothing.
    let text = serde_json::to_string(config).unwrap_or_default();
    let mut hash = sha2::Sha256::new();
    hash.update(mode.describe().as_bytes());
    hash.update([0]);
    hash.update(text.as_bytes());
    hash.finalize().into()
}

/// What was done to files before any call is on record too. THREAT: P03. A record that cannot be written is told by
/// whoever starts us, and met by the calls.
fn record_recovery(audit: &AuditLog, redactor: &Redactor, recovery: &Recovery) {
    for (paths, severity, what) in [
        (&recovery.finished, Severity::Info, "finished an edit that a crash interrupted"),
        (&recovery.reverted, Severity::Warning, "reverted an edit that a crash interrupted"),
        (&recovery.conflicts, Severity::Critical, "left alone: it changed since a crash interrupted an edit"),
        (&recovery.postponed, Severity::Warning, "still interrupted by a crash: somebody holds its lock"),
    ] {
        for path in paths {
            let event = Event {
                kind: EventKind::RolledBack,
                severity,
                caller: None,
                by: Some("recovery at the start".to_owned()),
                call_id: None,
                message: redactor.text(&format!("{path}: {what}")).value,
                details: RedactedTree::null(),
            };
            let _ = audit.event(&event).wait();
        }
    }
}

/// The edit engine's own limit.
const LARGEST_FILE: u64 = 16 << 20;
/// Specification 004, section 3.2.1.
const PATTERN_TIME: Duration = Duration::from_millis(100);

/// The record's folder inside the state folder.
pub fn audit_folder(state: &Path) -> PathBuf {
    state.join("audit")
}

/// For whoever keeps something there before anything is assembled.
pub fn refuse_state_inside(state: &Path, root: &Root, spelled_workspace: &Path) -> Result<(), ResolveError> {
    if lies_inside(state, root, spelled_workspace)? {
        return Err(ResolveError::StateInWorkspace(state.to_owned()));
    }
    Ok(())
}

/// Whether agents could reach this file or folder as part of their workspace.
pub fn lies_inside(path: &Path, root: &Root, spelled_workspace: &Path) -> Result<bool, ResolveError> {
    let location = root.location().map_err(|errno| ResolveError::WorkspaceLost(errno.into()))?;
    Ok(is_inside(path, &[&location, spelled_workspace]))
}

fn refuse_inside(state: &Path, workspaces: &[&Path]) -> Result<(), ResolveError> {
    if let Some(workspace) = workspaces.iter().find(|workspace| is_inside(workspace, &[state])) {
        let (workspace, state) = (workspace.to_path_buf(), state.to_owned());
        return Err(ResolveError::WorkspaceInState { workspace, state });
    }
    if is_inside(state, workspaces) {
        return Err(ResolveError::StateInWorkspace(state.to_owned()));
    }
    Ok(())
}

fn is_inside(path: &Path, workspaces: &[&Path]) -> bool {
    let spelled = without_dots(path);
    // The deepest part that exists is asked where it really is, so that a link does not hide it.
    let real = path.ancestors().find_map(|part| {
        let found = part.canonicalize().ok()?;
        Some(found.join(path.strip_prefix(part).ok()?))
    });
    let inside = |path: &Path| workspaces.iter().any(|workspace| path.starts_with(workspace));
    inside(&spelled) || real.as_deref().is_some_and(inside)
}

/// `a/../b` is `b`, as people mean it.
fn without_dots(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut so_far, part| {
        match part {
            Component::ParentDir => {
                so_far.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => so_far.push(part),
        }
        so_far
    })
}

fn scope(loaded: &Loaded, location: &Path, spelled: &Path) -> Result<Scope, ResolveError> {
    let config = &loaded.config.scope;
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or(ResolveError::WorkspaceNotText);
    let (location, spelled) = (text(location)?, text(spelled)?);
    let spellings = [location.as_str(), spelled.as_str()];
    let wanted = config.service_root.clone().unwrap_or_default();
    let whole = Bearings::new(&spellings, "", &[]);
    let service = ScopedPath::parse(&wanted, &whole).map_err(|problem| match problem {
        PathProblem::Nul | PathProblem::TooLong | PathProblem::Outside => {
            ResolveError::ServiceOutside(wanted.clone())
        }
    })?;
    let shared: Vec<&str> = config.shared_paths.iter().map(String::as_str).collect();
    Scope::new(ScopeSettings {
        bearings: Bearings::new(&spellings, &service.components().join("/"), &shared),
        isolation: match config.service_isolation {
            section::Isolation::Strict => Isolation::Strict,
            section::Isolation::Shared => Isolation::Shared,
        },
        block_patterns: config.block_patterns.clone(),
        shared_inside_own: match loaded.origins.of("scope.shared_paths") {
            Origin::Default | Origin::Profile(_) => false,
            Origin::File { .. } | Origin::Flag | Origin::Environment(_) => true,
        },
        symlinks: match config.symlinks {
            section::SymbolicLinks::Inside => Symlinks::Inside,
            section::SymbolicLinks::Deny => Symlinks::Deny,
        },
        hard_links: match config.hardlinks {
            section::HardLinks::DenyWrites => HardLinks::ReadOnly,
            section::HardLinks::Allow => HardLinks::Allow,
            section::HardLinks::Deny => HardLinks::Deny,
        },
    })
    .map_err(|error| ResolveError::Pattern { key: "scope.block_patterns".to_owned(), error })
}

fn policy(
    config: &Config,
    scope: Scope,
    mode: ToolMode,
    narrowed: Option<Vec<String>>,
) -> Result<Policy, ResolveError> {
    let rules = rules::rules(config)?;
    let on_write = match config.redact.on_write {
        section::RedactOnWrite::Refuse => OnWrite::REFUSE,
        section::RedactOnWrite::Warn => OnWrite::WARN,
        section::RedactOnWrite::Off => OnWrite::OFF,
    };
    // A permit of one policy is stale for every other, in one process too.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let epoch = Epoch(NEXT.fetch_add(1, Ordering::Relaxed));
    let settings = PolicySettings {
        scope,
        mode,
        rules,
        on_write,
        command: programs::command_policy(config, net::grants(config)?, narrowed),
        git: programs::git_rules(config)?,
        url: net::url_policy(config)?,
        requests: net::request_rules(config),
        grants: net::grants(config)?,
        allowed_commands: config.allowed_commands.clone(),
        permissions: memory::permissions(config),
    };
    Ok(Policy::new(settings, epoch))
}

fn audit_settings(config: &Config, state: &Path, workspace: &Path) -> AuditSettings {
    let mut alerts = vambrace_audit::AlertSettings {
        action: match config.defence.action {
            section::DefenceAction::Alert => vambrace_audit::DefenceAction::Alert,
            section::DefenceAction::Suspend => vambrace_audit::DefenceAction::Suspend,
            section::DefenceAction::Terminate => vambrace_audit::DefenceAction::Terminate,
        },
        ..Default::default()
    };
    for rule in alerts.rules.iter_mut().filter(|rule| rule.name == "violations") {
        rule.more_than = usize::try_from(config.defence.violations_per_minute).unwrap_or(usize::MAX);
    }
    AuditSettings {
        dir: audit_folder(state),
        mirror: config.audit.mirror.then(|| workspace.join(project_folder(config.profile))),
        durable: config.audit.durable,
        alerts,
    }
}

/// Where the project's own files of ours go; `.claude` is what specification 002 has.
pub fn project_folder(profile: ProfileName) -> &'static str {
    match profile {
        ProfileName::TerminalAgent => ".claude",
        ProfileName::Strict
        | ProfileName::DeclaredTools
        | ProfileName::KnowledgeService
        | ProfileName::WorkspaceAgent
        | ProfileName::MonorepoTeam => ".vambrace",
    }
}

#[cfg(test)]
mod tests {
    use vambrace_audit::{Filter, SystemClock};

    use super::*;

    #[test]
    fn what_recovery_did_to_files_is_on_record() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::default();
        let settings =
            AuditSettings { mirror: None, ..audit_settings(&config, folder.path(), folder.path()) };
        let audit = AuditLog::open(settings, Arc::new(SystemClock)).unwrap();
        let environment = BTreeMap::from([("DEPLOY_KEY".to_owned(), "qz-horse-battery".to_owned())]);
        let redactor = redacting::redactor(&config, &environment).unwrap();
        let recovery = Recovery {
            finished: vec!["a.txt".to_owned()],
            reverted: vec!["b-qz-horse-battery.txt".to_owned()],
            conflicts: vec!["c.txt".to_owned()],
            postponed: vec!["d.txt".to_owned()],
        };
        record_recovery(&audit, &redactor, &recovery);
        let listed = vambrace_audit::list(&audit_folder(folder.path()), &Filter::default()).unwrap();
        let mut told: Vec<_> = listed.into_iter().filter_map(|entry| entry.message).collect();
        told.sort();
        assert_eq!(
            told,
            [
                "a.txt: finished an edit that a crash interrupted",
                "b-[REDACTED:env-deploy-key].txt: reverted an edit that a crash interrupted",
                "c.txt: left alone: it changed since a crash interrupted an edit",
                "d.txt: still interrupted by a crash: somebody holds its lock",
            ]
        );
    }

    #[test]
    fn every_policy_has_an_epoch_of_its_own() {
        let scope = || {
            Scope::new(ScopeSettings {
                bearings: Bearings::new(&["/work"], "", &[]),
                isolation: Isolation::Strict,
                block_patterns: Vec::new(),
                shared_inside_own: false,
                symlinks: Symlinks::Inside,
                hard_links: HardLinks::ReadOnly,
            })
            .unwrap()
        };
        let epoch = || policy(&Config::default(), scope(), ToolMode::ALL, None).unwrap().epoch();
        assert_ne!(epoch(), epoch());
    }
}

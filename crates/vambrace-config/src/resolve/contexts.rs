//! What callers work in: the configuration as it is, and as each row of `contexts` changes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vambrace_audit::Clock;
use vambrace_auth::{ContextMatch, ContextRow, ContextRows, is_caller_name};
use vambrace_files::{Files, FilesSettings, Keeping, LockPolicy, Outputs, Recovery, Root, Vouchers};
use vambrace_net::Web;
use vambrace_policy::ToolMode;
use vambrace_process::Programs;
use vambrace_redact::{FingerprintKey, KnownValue};
use vambrace_runtime::{Context, Redaction};
use vambrace_tools::{Confirmations, Instruments, Limits};
use vambrace_types::ByteLimit;

use super::redacting::Place;
use super::{
    LARGEST_FILE, PATTERN_TIME, Redacting, ResolveError, fingerprint, memory, net, policy, programs,
    refuse_inside, scope,
};
use crate::Loaded;
use crate::section::{self, Config, OneOrMany};

/// What all contexts of a process have in common.
pub(super) struct Common<'s> {
    pub(super) state: &'s Path,
    pub(super) environment: &'s BTreeMap<String, String>,
    pub(super) keeping: Keeping,
    pub(super) key: Option<FingerprintKey>,
    pub(super) known: Vec<KnownValue>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) confirmations: Arc<Confirmations>,
    pub(super) mode: ToolMode,
}

/// A folder that tools work in, and what all contexts in it share.
pub(super) struct Workspace {
    pub(super) location: PathBuf,
    spelled: PathBuf,
    files: Files,
    redaction: Arc<Redaction>,
    pub(super) recovery: Recovery,
    pub(super) warnings: Vec<String>,
}

impl Workspace {
    /// `journals` is where edits that a crash interrupts are written down; without one, a place
    /// that the folder alone names, so that they are found whatever the configuration calls it
    /// next.
    pub(super) fn open(
        loaded: &Loaded,
        common: &Common<'_>,
        root: Root,
        spelled: PathBuf,
        journals: Option<&Path>,
    ) -> Result<Workspace, ResolveError> {
        let location = root.location().map_err(|errno| ResolveError::WorkspaceLost(errno.into()))?;
        let journals = journals.map_or_else(|| named_by(common.state, &location), Path::to_owned);
        refuse_inside(common.state, &[&location, &spelled])?;
        let scope = scope(loaded, &location, &spelled)?;
        let vouchers = Arc::new(Vouchers::of(common.state, &root, common.keeping));
        let place = Place { root: &root, scope: &scope, vouchers };
        let redacting = Redacting::start(
            loaded,
            common.environment,
            place,
            None,
            common.key.clone(),
            common.known.clone(),
        )?;
        let relearn = redacting.relearn(&root, &scope);
        let mark_programs = Some(redacting.mark());
        let policy = policy(&loaded.config, scope.clone(), common.mode, None)?;
        let files = Files::new(
            root,
            Arc::new(scope),
            policy.epoch(),
            FilesSettings {
                journal: journals.join("journal"),
                lock: LockPolicy::default(),
                largest: largest(&loaded.config),
            },
        );
        let recovery = files.recover().map_err(|error| ResolveError::Recovery { state: journals, error })?;
        Ok(Workspace {
            location,
            spelled,
            files,
            redaction: Arc::new(Redaction::new(redacting.redactor, relearn, mark_programs)),
            recovery,
            warnings: redacting.warnings,
        })
    }

    pub(super) fn spelled(&self) -> &Path {
        &self.spelled
    }

    pub(super) fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// What one row makes of it; `None`: the configuration as it is.
    pub(super) fn context(
        &self,
        loaded: &Loaded,
        common: &Common<'_>,
        row: Option<&section::ContextRow>,
    ) -> Result<Context, ResolveError> {
        let config = &loaded.config;
        let mode = row.and_then(|row| row.tool.as_deref()).map_or(Ok(ToolMode::ALL), ToolMode::parse);
        let mode = mode.map_err(|unknown| wrong(row, &unknown.to_string()))?.and(common.mode);
        let scope = scope(loaded, &self.location, &self.spelled)?;
        let narrowed = row.and_then(|row| row.allowed_commands.clone());
        let policy = policy(config, scope.clone(), mode, narrowed)?;
        let epoch = policy.epoch();
        let settings = programs::programs(
            config,
            &Arc::new(policy.scope_of_programs()),
            &self.location,
            &self.spelled,
            common.state,
            common.environment,
        );
        Ok(Context {
            name: row.map(|row| Arc::from(row.name.as_str())),
            instruments: Instruments {
                files: self.files.for_policy(Arc::new(scope), epoch, largest(config)),
                outputs: Outputs::new(common.state.join("outputs")),
                programs: Programs::new(settings, epoch),
                web: Arc::new(Web::new(net::web(config)?, epoch)),
                confirmations: Arc::clone(&common.confirmations),
                memories: memory::memories(config, common.state, epoch, &common.clock),
            },
            policy,
            limits: Limits {
                time: config.limits.time.duration(),
                read: ByteLimit::new(config.limits.read_bytes),
                read_most: ByteLimit::new(config.limits.output_bytes),
                reply: ByteLimit::new(config.limits.reply_bytes),
                pattern_time: PATTERN_TIME,
            },
            toolbox: Arc::new(programs::toolbox(loaded, common.environment)),
            redaction: Arc::clone(&self.redaction),
            policy_fingerprint: fingerprint(config, mode),
        })
    }
}

fn named_by(state: &Path, location: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;

    use sha2::Digest as _;
    let hash = sha2::Sha256::digest(location.as_os_str().as_bytes());
    let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    state.join("workspaces").join(name)
}

fn largest(config: &Config) -> ByteLimit {
    ByteLimit::new(LARGEST_FILE.min(config.limits.file_bytes))
}

fn wrong(row: Option<&section::ContextRow>, why: &str) -> ResolveError {
    ResolveError::Context { name: row.map(|row| row.name.clone()).unwrap_or_default(), why: why.to_owned() }
}

/// The configuration as a row changes it.
pub(super) fn changed_by(loaded: &Loaded, row: &section::ContextRow) -> Loaded {
    let mut changed = loaded.clone();
    let config = &mut changed.config;
    // A service of another workspace is not the one of this row.
    if row.workspace.is_some() || row.service_root.is_some() {
        config.scope.service_root = row.service_root.clone();
    }
    if let Some(isolation) = row.isolation {
        config.scope.service_isolation = isolation;
    }
    if let Some(net) = &row.net {
        config.sandbox.net.clone_from(net);
    }
    if let Some(allowed) = &row.allowed_commands {
        config.allowed_commands.retain(|known| allowed.contains(known));
    }
    let limits = row.limits.clone().unwrap_or_default();
    let set = |value: &mut u64, new: Option<u64>| *value = new.unwrap_or(*value);
    set(&mut config.limits.output_bytes, limits.output_bytes);
    set(&mut config.limits.reply_bytes, limits.reply_bytes);
    set(&mut config.limits.read_bytes, limits.read_bytes);
    set(&mut config.limits.memory_bytes, limits.memory_bytes);
    set(&mut config.limits.processes, limits.processes);
    set(&mut config.limits.file_bytes, limits.file_bytes);
    config.limits.time = limits.time.unwrap_or(config.limits.time);
    config.limits.time_max = limits.time_max.unwrap_or(config.limits.time_max);
    changed
}

/// THREAT: P13, a row that is about nobody, or about more than was meant, gives a caller another one's place.
pub(super) fn check(config: &Config) -> Result<(), ResolveError> {
    let mut names: Vec<&str> = Vec::new();
    let mut is_over = false;
    for row in &config.contexts {
        let refuse = |why: &str| Err(wrong(Some(row), why));
        if !is_caller_name(&row.name) {
            return refuse("its name is small letters, digits and single hyphens, beginning with a letter");
        }
        if names.contains(&row.name.as_str()) {
            return refuse("an earlier context has the same name");
        }
        if is_over {
            return refuse(
                "the context before it is for everybody, so this one is for nobody; write that one last",
            );
        }
        if let Some(unknown) = row.tool.as_deref().and_then(|mode| ToolMode::parse(mode).err()) {
            return refuse(&unknown.to_string());
        }
        if row
            .limits
            .as_ref()
            .is_some_and(|limits| limits.time > limits.time_max && limits.time_max.is_some())
        {
            return refuse("`limits.time` is longer than `limits.time_max`");
        }
        match &row.matches {
            None => is_over = true,
            Some(matches) => check_match(config, row, matches)?,
        }
        names.push(&row.name);
    }
    Ok(())
}

fn check_match(
    config: &Config,
    row: &section::ContextRow,
    matches: &section::ContextMatch,
) -> Result<(), ResolveError> {
    let refuse = |why: &str| Err(wrong(Some(row), why));
    let lists = [&matches.caller_id, &matches.email, &matches.group, &matches.key, &matches.claim];
    if lists.iter().all(|list| list.is_none()) {
        return refuse("`match` names nothing; leave it out for everybody whom no earlier context is for");
    }
    if lists.into_iter().flatten().any(|list| {
        entries(Some(list)).iter().any(|entry| entry.trim().is_empty()) || entries(Some(list)).is_empty()
    }) {
        return refuse("an entry of `match` is empty");
    }
    for key in entries(matches.key.as_ref()) {
        if !config.api_keys.0.iter().any(|known| known.caller_id == key) {
            return refuse(&format!("no entry of `api_keys` has the caller_id `{key}`"));
        }
    }
    for claim in entries(matches.claim.as_ref()) {
        if claim.split_once('=').is_none_or(|(path, value)| path.is_empty() || value.is_empty()) {
            return refuse(&format!("`{claim}` is no claim; write `path=value`, for instance `role=sre`"));
        }
    }
    Ok(())
}

fn entries(list: Option<&OneOrMany>) -> Vec<String> {
    match list {
        None => Vec::new(),
        Some(OneOrMany::One(entry)) => vec![entry.clone()],
        Some(OneOrMany::Many(entries)) => entries.clone(),
    }
}

/// For the authenticator.
pub(super) fn rows(config: &Config) -> ContextRows {
    let row = |row: &section::ContextRow| ContextRow {
        name: Arc::from(row.name.as_str()),
        matches: row.matches.as_ref().map(|matches| {
            let claims = entries(matches.claim.as_ref()).into_iter();
            ContextMatch {
                caller_ids: entries(matches.caller_id.as_ref()),
                keys: entries(matches.key.as_ref()),
                emails: entries(matches.email.as_ref()),
                groups: entries(matches.group.as_ref()),
                claims: claims
                    .filter_map(|claim| {
                        let (path, value) = claim.split_once('=')?;
                        Some((path.to_owned(), value.to_owned()))
                    })
                    .collect(),
            }
        }),
        role: row.role.map(section::RoleName::role),
    };
    ContextRows(config.contexts.iter().map(row).collect())
}

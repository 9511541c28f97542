//! From the command line to a corridor: the one place where the environment, the clock and ambient paths are used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use vambrace_audit::{Clock, Event, EventKind, Severity, SystemClock, local_stamp};
use vambrace_auth::{ContextRows, TaskKey};
use vambrace_config::resolve::{
    Assembled, Redacting, Start, assemble, audit_folder, context_rows, without_effect,
};
use vambrace_config::section::{AuthMode, SessionIdFormat};
use vambrace_config::{Loaded, Overrides, Sources, load, user_folder};
use vambrace_files::{Keeping, Root, StateOpen, ambient_authority, make_state_folder, open_state_file};
use vambrace_redact::{KnownValue, Marking, RedactedText, Redactor};
use vambrace_runtime::{Corridor, Incoming, Leash, Log, NoLog, Purpose, Reply, Verdict};
use vambrace_types::{Caller, Chain, Door, Secret, SessionId, Tree};

use super::Exit;
use super::approve::approver;
use super::options::Global;
use crate::terminal;

pub(crate) struct Session {
    pub(crate) corridor: Arc<Corridor>,
    pub(crate) caller: Caller,
    pub(crate) session: SessionId,
}

pub(crate) fn environment() -> BTreeMap<String, String> {
    // A value that is not UTF-8 is compared as it would be shown.
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect()
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// Reads the configuration; mistakes are told and end with exit 2.
pub(crate) fn configuration(global: &Global) -> Result<Loaded, Exit> {
    configuration_opened(global, None)
}

/// The same with the doors opened or closed by the command line.
pub(crate) fn configuration_opened(global: &Global, auth_mode: Option<AuthMode>) -> Result<Loaded, Exit> {
    let environment = environment();
    let here = std::env::current_dir()
        .map_err(|error| usage(&format!("the current folder cannot be read: {error}")))?;
    let workspace = global.workspace.as_ref().map(|folder| here.join(folder));
    let service =
        global.service.as_ref().map(|folder| service(&here, workspace.as_deref().unwrap_or(&here), folder));
    let sources = Sources {
        explicit: global.config.clone(),
        user_dir: user_folder(&environment),
        workspace: here,
        profile: global.profile.clone(),
        environment,
        overrides: Overrides { workspace, service, auth_mode, ..Overrides::default() },
    };
    let loaded = load(&sources).map_err(|errors| {
        for error in &errors.0 {
            terminal::fail(&error.to_string());
        }
        Exit::Usage
    })?;
    for file in loaded.files.iter().filter(|_| global.verbose > 0) {
        terminal::complain(&format!("read {}", terminal::one_line(&file.display().to_string())));
    }
    for warning in loaded.warnings.iter().filter(|_| !global.quiet) {
        terminal::warn(&warning.to_string());
    }
    Ok(loaded)
}

/// `--service` may be written from the workspace or from the current folder.
fn service(here: &Path, workspace: &Path, folder: &Path) -> PathBuf {
    if workspace.join(folder).is_dir() { workspace.join(folder) } else { here.join(folder) }
}

pub(crate) fn state_folder(global: &Global) -> Result<PathBuf, Exit> {
    let environment = environment();
    let absolute = |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let given = global.state.as_deref().map(std::path::absolute).transpose();
    let given = given.map_err(|error| usage(&format!("--state: {error}")))?;
    given
        .or_else(|| absolute("XDG_STATE_HOME").map(|folder| folder.join("vambrace")))
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state/vambrace")))
        .ok_or_else(|| usage("there is no home folder to keep the record in; name one with --state DIR"))
}

/// The key of the record's fingerprints.
pub(crate) fn redaction_key(state: &Path) -> PathBuf {
    state.join("redaction.key")
}

pub(crate) fn audit_dir(global: &Global) -> Result<PathBuf, Exit> {
    Ok(audit_folder(&state_folder(global)?))
}

/// The workspace, open, and how the person spelled it, made absolute.
pub(crate) fn workspace(loaded: &Loaded) -> Result<(Root, PathBuf), Exit> {
    let spelled = std::path::absolute(&loaded.workspace).unwrap_or_else(|_| loaded.workspace.clone());
    let root = Root::open_ambient(ambient_authority(), &spelled).map_err(|errno| {
        let error = std::io::Error::from(errno);
        usage(&format!("the workspace `{}` cannot be opened: {error}", spelled.display()))
    })?;
    Ok((root, spelled))
}

/// The redactor of this workspace, for commands that do nothing but look.
pub(crate) fn redacting(global: &Global, marking: Option<Marking>) -> Result<Redactor, Exit> {
    let loaded = configuration(global)?;
    let (root, _) = workspace(&loaded)?;
    let Redacting { redactor, warnings, .. } =
        Redacting::in_workspace(&loaded, &environment(), &root, &state_folder(global)?, marking)
            .map_err(|error| usage(&error.to_string()))?;
    warnings.iter().filter(|_| !global.quiet).for_each(|warning| terminal::warn(warning));
    Ok(redactor)
}

/// A corridor for this workspace, with its start on record.
pub(crate) fn session(global: &Global, door: Door) -> Result<Session, Exit> {
    session_of(global, &configuration(global)?, door, None, Vec::new())
}

/// The same for what was read before, with a log for operators where there is one. `known` are secrets that no file
/// of the configuration holds.
pub(crate) fn session_of(
    global: &Global,
    loaded: &Loaded,
    door: Door,
    log: Option<Arc<dyn Log>>,
    known: Vec<KnownValue>,
) -> Result<Session, Exit> {
    let state = state_folder(global)?;
    let (root, spelled_workspace) = workspace(loaded)?;
    if let Some(service) = loaded.config.scope.service_root.as_deref()
        && !spelled_workspace.join(service).is_dir()
    {
        return Err(usage(&format!("the service `{service}` is not a folder of the workspace")));
    }
    let start = Start {
        state,
        mode: global.tool,
        environment: environment(),
        keeping: if global.dry_run { Keeping::Nothing } else { Keeping::Book },
        known,
        clock: clock(),
        log: log.unwrap_or_else(|| Arc::new(NoLog)),
        root,
        spelled_workspace,
        open_workspace: Box::new(|folder| {
            Root::open_ambient(ambient_authority(), folder).map_err(std::io::Error::from)
        }),
        confirmation_key: {
            let state = state_folder(global)?;
            Box::new(move || kept_key(&state.join("confirm.key")))
        },
        redaction_key: {
            let (state, dry_run) = (state_folder(global)?, global.dry_run);
            // A dry run makes nothing that stays.
            Box::new(move || {
                let path = redaction_key(&state);
                if dry_run { read_key(&path).ok().flatten() } else { kept_key(&path) }
            })
        },
    };
    let Assembled { corridor, recovery, warnings } =
        assemble(loaded, start).map_err(|error| usage(&error.to_string()))?;
    warnings.iter().filter(|_| !global.quiet).for_each(|warning| terminal::warn(warning));
    let corridor = Arc::new(corridor);
    report_start(global, loaded, &corridor);
    for (paths, what) in [
        (recovery.finished, "finished an edit that was interrupted"),
        (recovery.reverted, "reverted an edit that was interrupted"),
        (recovery.conflicts, "left alone, because it changed since an edit was interrupted"),
        (
            recovery.postponed,
            "an edit that was interrupted waits for the next start: somebody holds the lock",
        ),
    ] {
        for path in paths {
            terminal::warn(&format!("{path}: {what}"));
        }
    }
    let session = session_id(loaded);
    let mut caller = Caller::local(global.role, door);
    if let Some(name) = &global.context {
        let rows = context_rows(&loaded.config);
        let row = rows.find(name).ok_or_else(|| no_context(&rows, name))?;
        caller.context = Some(Arc::clone(&row.name));
        caller.role = row.role.unwrap_or(caller.role);
    }
    Ok(Session { corridor, caller, session })
}

pub(crate) fn no_context(rows: &ContextRows, name: &str) -> Exit {
    let known: Vec<&str> = rows.0.iter().map(|row| &*row.name).collect();
    if known.is_empty() {
        return usage(&format!(
            "--context: there is no context `{name}`; the configuration has no `contexts`"
        ));
    }
    usage(&format!("--context: there is no context `{name}`; the contexts are: {}", known.join(", ")))
}

/// What tokens for tasks are made and read with.
pub(crate) fn task_key(global: &Global) -> Result<Option<TaskKey>, Exit> {
    let path = state_folder(global)?.join("task.key");
    let key = if global.dry_run { read_key(&path).ok().flatten() } else { kept_key(&path) };
    Ok(key.map(TaskKey::new))
}

/// One key binds the second call of a push to what the first one showed; another lets the operator look up what was
/// redacted. Made when it is first needed; where it cannot be kept, it is good within this process.
pub(crate) fn kept_key(path: &Path) -> Option<Secret<Vec<u8>>> {
    use std::io::{ErrorKind, Write as _};
    match read_key(path) {
        Ok(Some(key)) => return Some(key),
        // A crash has left the beginning of one.
        Ok(None) => std::fs::remove_file(path).ok()?,
        Err(_) => {}
    }
    let mut key = vec![0; KEY_LENGTH];
    getrandom::fill(&mut key).ok()?;
    // Whole or not at all: another process may look for it, or make one, at this moment.
    let beside = path.with_added_extension(std::process::id().to_string());
    let keep = || {
        path.parent().map_or(Ok(()), make_state_folder)?;
        // What a process of this number has left.
        let _ = std::fs::remove_file(&beside);
        open_state_file(&beside, StateOpen::New)?.write_all(&key)?;
        std::fs::hard_link(&beside, path)
    };
    let kept = keep();
    let _ = std::fs::remove_file(&beside);
    match kept {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read_key(path).ok().flatten(),
        Ok(()) | Err(_) => Some(Secret::new(key)),
    }
}

const KEY_LENGTH: usize = 32;

/// Nothing where the file holds no whole key.
fn read_key(path: &Path) -> std::io::Result<Option<Secret<Vec<u8>>>> {
    use std::io::Read as _;
    let mut key = Vec::with_capacity(KEY_LENGTH + 1);
    open_state_file(path, StateOpen::Read)?.take(KEY_LENGTH as u64 + 1).read_to_end(&mut key)?;
    Ok((key.len() == KEY_LENGTH).then(|| Secret::new(key)))
}

/// This run's conversation. Nothing outside gives us a key to derive one from, so `derived` is random here.
fn session_id(loaded: &Loaded) -> SessionId {
    match loaded.config.session.id_format {
        SessionIdFormat::Random | SessionIdFormat::Derived => Corridor::new_session(),
        SessionIdFormat::Timestamp => {
            SessionId::parse(&local_stamp(clock().now())).unwrap_or_else(|_| Corridor::new_session())
        }
    }
}

/// Every setting weaker than strict is shown and written down.
fn report_start(global: &Global, loaded: &Loaded, corridor: &Corridor) {
    for weaker in loaded.weaker.iter().filter(|_| !global.quiet) {
        terminal::warn(&format!(
            "{} is {} (strict: {}; set by {})",
            weaker.key, weaker.value, weaker.strict, weaker.origin
        ));
    }
    for key in without_effect(&loaded.config).into_iter().filter(|_| !global.quiet) {
        terminal::warn(&format!("{key} is set, but has no effect yet"));
    }
    let audit = match corridor.audit() {
        Ok(audit) => audit,
        Err(error) => {
            terminal::warn(&format!("the record cannot be written: {error}"));
            return;
        }
    };
    if let n_damaged @ 1.. = audit.set_aside().len() {
        terminal::warn(&format!(
            "{n_damaged} segments of the audit log are damaged or missing; `vambrace audit verify` names them"
        ));
    }
    if loaded.weaker.is_empty() {
        return;
    }
    let weaker = loaded
        .weaker
        .iter()
        .map(|weaker| Tree::map([("key", Tree::text(&weaker.key)), ("value", Tree::text(&weaker.value))]));
    let event = Event {
        kind: EventKind::Started,
        severity: Severity::Warning,
        caller: None,
        by: None,
        call_id: None,
        message: RedactedText::fixed("started with settings weaker than strict"),
        details: corridor.redactor().plain_tree(Tree::List(weaker.collect())).value,
    };
    if let Err(error) = audit.event(&event).wait() {
        terminal::warn(&format!("the record cannot be written: {error}"));
    }
}

/// The walk needs several threads: one may be held by a disk while another hears the caller cancel.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Exit> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(|error| {
        terminal::fail(&format!("threads cannot be started: {error}"));
        Exit::Failed
    })
}

/// Resolves when somebody wants us to end. What a call has begun is then brought to an end, so that nothing of it stays.
pub(crate) async fn told_to_end() {
    tokio::select! {
        () = told_to_end_as_service() => {}
        () = told(SignalKind::hangup()) => {}
    }
}

/// The same for a service, which no terminal has to keep alive.
pub(crate) async fn told_to_end_as_service() {
    tokio::select! {
        () = told(SignalKind::interrupt()) => {}
        () = told(SignalKind::terminate()) => {}
        // Of a key as well; a terminal would stay as the program left it.
        () = told(SignalKind::quit()) => {}
    }
}

/// Resolves when this signal comes.
pub(crate) async fn told(kind: SignalKind) {
    match signal(kind) {
        Ok(mut signals) => {
            signals.recv().await;
        }
        // Without a handler the signal ends us at once, as it always did.
        Err(_) => std::future::pending().await,
    }
}

/// One call that ends early when we are told to end. Signals that come after it are not heard, so nothing may follow that
/// waits.
pub(crate) async fn until_told(corridor: &Arc<Corridor>, incoming: Incoming) -> Option<Reply> {
    let leash = incoming.leash.clone();
    let call = corridor.call(incoming);
    tokio::pin!(call);
    tokio::select! {
        biased;
        reply = &mut call => reply,
        () = told_to_end() => {
            leash.cancel();
            call.await
        }
    }
}

impl Session {
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: serde_json::Value,
        dry_run: bool,
        purpose: Purpose,
    ) -> Option<Reply> {
        self.corridor.call(self.incoming(tool, arguments, dry_run, purpose)).await
    }

    pub(crate) fn incoming(
        &self,
        tool: &str,
        arguments: serde_json::Value,
        dry_run: bool,
        purpose: Purpose,
    ) -> Incoming {
        Incoming {
            caller: self.caller.clone(),
            session: self.session.clone(),
            tool: tool.to_owned(),
            arguments,
            dry_run,
            purpose,
            leash: Leash::default(),
            progress: None,
            live: None,
            approver: approver(),
            chain: Chain::default(),
        }
    }
}

pub(crate) fn usage(text: &str) -> Exit {
    terminal::fail(text);
    Exit::Usage
}

/// The answer to a call without an answer; what it fell over is not for the screen.
pub(crate) fn fell_over() -> Exit {
    terminal::fail(
        "internal fault: the call has no answer; `vambrace audit list` shows what is on record of it",
    );
    Exit::Failed
}

/// With `-v`: where in the record a denial stands.
pub(crate) fn tell_denial(global: &Global, reply: &Reply) {
    if global.verbose > 0 && reply.verdict() == Verdict::Deny {
        let (id, rule) = (reply.metadata().call_id.as_str(), terminal::one_line(reply.rule().as_str()));
        terminal::complain(&format!("denied: call {id}, rule {rule}"));
    }
}

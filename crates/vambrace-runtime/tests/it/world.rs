//! A workspace, a state folder and a corridor between them, built from parts.

#![expect(clippy::disallowed_methods, reason = "a test reads its own JSON")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use vambrace_audit::{Approvals, AuditLog, AuditSettings, Clock};
use vambrace_files::{Files, FilesSettings, LockPolicy, Outputs, Root, ambient_authority};
use vambrace_knowledge::EmbeddedStore;
use vambrace_net::{Credentials, Redirects, Web, WebSettings};
use vambrace_policy::command::CommandPolicy;
use vambrace_policy::url::{UrlPolicy, UrlSettings};
use vambrace_policy::{Epoch, GitRules, Policy, PolicySettings, RequestRules, Scope, ScopeSettings};
use vambrace_process::{
    AbsentNames, Backend, EnvironmentSettings, Inherit, ProgramLimits, Programs, ProgramsSettings, Reuse,
    WhenMissing,
};
use vambrace_runtime::{
    Context, Contexts, Corridor, CorridorParts, Incoming, Leash, Log, LogLine, Purpose, Redaction, Relearn,
    Reply,
};
use vambrace_tools::{Confirmations, Instruments, Memories, ProgressSink, Toolbox};
use vambrace_types::{Bearings, ByteLimit, Caller, Chain, Door, ErrorCode, Secret, SessionId};

use crate::clock::TestClock;
use crate::disk::{self, Snapshot};
use crate::settings::Settings;

/// One for all tests. Several threads, because a call may hold one while another hears the caller cancel.
pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap()
});

/// Where the mirror goes, inside the workspace.
const MIRROR: &str = ".vambrace";

pub(crate) struct World {
    pub(crate) corridor: Arc<Corridor>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) log: Arc<Collected>,
    pub(crate) workspace: PathBuf,
    pub(crate) state: PathBuf,
    settings: Settings,
    _folder: TempDir,
}

/// What operators would have seen.
#[derive(Default)]
pub(crate) struct Collected(Mutex<Vec<LogLine>>);

impl Log for Collected {
    fn line(&self, line: &LogLine) {
        self.0.lock().unwrap().push(line.clone());
    }
}

impl Collected {
    pub(crate) fn lines(&self) -> Vec<LogLine> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn take(&self) -> Vec<LogLine> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl World {
    pub(crate) fn new(settings: Settings, entries: &Value) -> World {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::new());
        let (workspace, state) = (folder.path().join("workspace"), folder.path().join("state"));
        disk::make(&workspace, entries.as_object().unwrap());
        if settings.audit_broken {
            disk::write(&state.join("audit"), "not a folder");
        }
        if settings.audit_full {
            // As on a full disk: nothing was ever founded, and no folder for it can be made.
            disk::write(&state.join("audit/segments"), "not a folder");
        }
        if settings.stopped {
            vambrace_audit::stop(&state.join("audit"), Some("local"), "a person", clock.clone()).unwrap();
        }
        let log = Arc::new(Collected::default());
        let corridor = Arc::new(corridor(&settings, &workspace, &state, clock.clone(), log.clone()));
        World { corridor, clock, log, workspace, state, settings, _folder: folder }
    }

    pub(crate) fn plain(entries: Value) -> World {
        World::new(Settings::default(), &entries)
    }

    pub(crate) fn caller(&self) -> Caller {
        Caller::local(self.settings.caller_role(), Door::McpStdio)
    }

    pub(crate) fn incoming(&self, tool: &str, arguments: Value) -> Incoming {
        Incoming {
            caller: self.caller(),
            session: SessionId::parse("session-1").unwrap(),
            tool: tool.to_owned(),
            arguments,
            dry_run: false,
            purpose: Purpose::Call,
            leash: Leash::default(),
            progress: None,
            live: None,
            approver: None,
            chain: Chain::default(),
        }
    }

    pub(crate) fn send(&self, incoming: Incoming) -> Reply {
        RUNTIME.block_on(self.corridor.call(incoming)).expect("the runtime is up")
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.send(self.incoming(tool, arguments))
    }

    pub(crate) fn dry_run(&self, tool: &str, arguments: Value) -> Reply {
        self.send(Incoming { dry_run: true, ..self.incoming(tool, arguments) })
    }

    pub(crate) fn watched(&self, tool: &str, arguments: Value, sink: Arc<dyn ProgressSink>) -> Incoming {
        Incoming { progress: Some(sink), ..self.incoming(tool, arguments) }
    }

    pub(crate) fn audit_folder(&self) -> PathBuf {
        self.state.join("audit")
    }

    /// The lines of one call, in the order in which they were written.
    pub(crate) fn records(&self, call_id: &str) -> Vec<Value> {
        let records = vambrace_audit::show(&self.audit_folder(), call_id).unwrap();
        records.iter().map(|record| serde_json::from_str(&record.json).unwrap()).collect()
    }

    pub(crate) fn records_of(&self, reply: &Reply) -> Vec<Value> {
        self.records(reply.metadata().call_id.as_str())
    }

    /// Every line there is, oldest first.
    pub(crate) fn all_records(&self) -> Vec<Value> {
        let everything = disk::snapshot(&self.audit_folder().join("segments"));
        let segments = everything.iter().filter(|(path, _)| path.ends_with(".jsonl"));
        let lines = segments.flat_map(|(_, shown)| shown.trim_start_matches("file:").lines());
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn file(&self, path: &str) -> String {
        disk::read(&self.workspace.join(path))
    }

    /// The workspace as it was made.
    pub(crate) fn put_back(&self, entries: &Value) {
        disk::clear(&self.workspace);
        disk::make(&self.workspace, entries.as_object().unwrap());
    }

    /// The workspace without the mirror, which is ours.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut found = disk::snapshot(&self.workspace);
        found.retain(|path, _| !path.starts_with(MIRROR));
        found
    }

    /// All that was ever written down about calls: the record, its streams, kept outputs and the mirror.
    pub(crate) fn everything_written_down(&self) -> String {
        disk::everything(&self.state) + &disk::everything(&self.workspace.join(MIRROR))
    }
}

fn corridor(
    settings: &Settings,
    workspace: &Path,
    state: &Path,
    clock: Arc<dyn Clock>,
    log: Arc<dyn Log>,
) -> Corridor {
    let shared: Vec<&str> = settings.shared.iter().map(String::as_str).collect();
    let scope = Scope::new(ScopeSettings {
        bearings: Bearings::new(&[workspace.to_str().unwrap()], &settings.service, &shared),
        isolation: settings.isolation(),
        block_patterns: settings.block.clone(),
        shared_inside_own: false,
        symlinks: settings.symlinks(),
        hard_links: settings.hard_links(),
    })
    .unwrap();
    let policy = Policy::new(
        PolicySettings {
            scope: scope.clone(),
            mode: settings.tool_mode(),
            rules: settings.operator_rules(),
            on_write: settings.on_write(),
            command: CommandPolicy::default(),
            git: GitRules::default(),
            url: UrlPolicy::new(UrlSettings::default()),
            requests: RequestRules::default(),
            grants: Vec::new(),
            allowed_commands: Vec::new(),
            permissions: settings.permissions.clone(),
        },
        Epoch(1),
    );
    let root = Root::open_ambient(ambient_authority(), workspace).unwrap();
    let lock = LockPolicy::new(Duration::from_millis(settings.lock_wait_ms), Duration::from_secs(30));
    let files_settings =
        FilesSettings { journal: state.join("journal"), lock, largest: ByteLimit::new(16 << 20) };
    let audit = AuditSettings {
        dir: state.join("audit"),
        mirror: settings.mirror.then(|| workspace.join(MIRROR)),
        durable: settings.durable,
        alerts: settings.alerts(),
    };
    let scope = Arc::new(scope);
    let relearn = settings.relearn.map(|relearn| Box::new(relearn) as Relearn);
    let context = Context {
        name: None,
        instruments: Instruments {
            programs: Programs::new(programs(&scope, workspace, state), policy.epoch()),
            files: Files::new(root, scope, policy.epoch(), files_settings),
            outputs: Outputs::new(state.join("outputs")),
            web: Arc::new(Web::new(web(), policy.epoch())),
            confirmations: Arc::new(Confirmations::new(
                Box::new(|| Some(Secret::new(vec![7; 32]))),
                Arc::clone(&clock),
            )),
            memories: Memories::new(
                Arc::new(EmbeddedStore::new(state.join("memory.db"))),
                settings.sharing(),
                5,
                policy.epoch(),
                Arc::clone(&clock),
            ),
        },
        policy,
        limits: settings.limits(),
        toolbox: Arc::new(Toolbox::default()),
        redaction: Arc::new(Redaction::new(settings.redactor(), relearn, None)),
        policy_fingerprint: [0; 32],
    };
    let parts = CorridorParts {
        bare_standing: vambrace_audit::BareStanding::new(&state.join("audit")),
        audit: AuditLog::open(audit, Arc::clone(&clock)),
        on_audit_failure: settings.on_audit_failure(),
        approvals: settings
            .approvals
            .then(|| Approvals::new(&state.join("audit"), Arc::clone(&clock), Duration::from_secs(900))),
        log,
        clock,
    };
    Corridor::new(parts, Contexts::new(context, Vec::new()))
}

/// A door that reaches nothing: no test here has a server.
fn web() -> WebSettings {
    WebSettings {
        policy: UrlPolicy::new(UrlSettings::default()),
        dns_server: Some(([127, 0, 0, 1], 9).into()),
        timeout: Duration::from_secs(1),
        max_body_bytes: 1 << 20,
        redirects: Redirects::Checked,
        credentials: Credentials::default(),
        authority: None,
    }
}

/// A door that no test here opens: programs are tested through the binary, which is their launcher.
fn programs(scope: &Arc<Scope>, workspace: &Path, state: &Path) -> ProgramsSettings {
    ProgramsSettings {
        launcher: PathBuf::from("/nonexistent"),
        workspace: workspace.to_owned(),
        spellings: Vec::new(),
        scope: Arc::clone(scope),
        state: state.to_owned(),
        backend: Backend::Native,
        when_missing: WhenMissing::Refuse,
        absent_names: AbsentNames::Refuse,
        reuse: Reuse::Never,
        read: Vec::new(),
        write: Vec::new(),
        limits: ProgramLimits {
            output: ByteLimit::new(1 << 20),
            memory: ByteLimit::new(1 << 30),
            processes: 64,
            file: ByteLimit::new(1 << 30),
        },
        environment: EnvironmentSettings {
            inherit: Inherit::Names(Vec::new()),
            host_path: false,
            host: std::collections::BTreeMap::new(),
        },
        author: (String::new(), String::new()),
        secrets: std::collections::BTreeMap::new(),
    }
}

pub(crate) fn code(reply: &Reply) -> Option<ErrorCode> {
    reply.error().map(|error| error.code)
}

/// Success, or the error in full.
#[track_caller]
pub(crate) fn demand_success(reply: &Reply) {
    assert!(reply.error().is_none(), "{:?}", reply.error());
}

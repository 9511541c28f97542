//! Our cages at the process door: a permit in, the output back, nothing of the corridor around it.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use vambrace_config::Config;
use vambrace_policy::command::CommandPolicy;
use vambrace_policy::url::{UrlPolicy, UrlSettings};
use vambrace_policy::{
    Decision, Epoch, Facts, GitRules, HardLinks, Isolation, OnWrite, PermissionList, Permit, Policy,
    PolicySettings, RequestRules, RunLine, Scope, ScopeSettings, Standing, Symlinks, ToolMode,
};
use vambrace_process::{
    AbsentNames, Backend, EnvironmentSettings, Exit, Inherit, ProgramLimits, Programs, ProgramsSettings,
    Reuse, RunContext, WhenMissing,
};
use vambrace_types::{
    Bearings, ByteLimit, Caller, Door as CallersDoor, Enforcement, Role, ScopedPath, ToolName,
};

use super::Ground;
use super::contest::{Entrant, work};
use crate::failure::Failure;

const EPOCH: Epoch = Epoch(1);
const LINE: &str = "true";

/// The warm and the fresh one, by these names.
pub(super) fn entrants(ground: &Ground, names: [&'static str; 2]) -> Vec<Entrant<'static>> {
    let reuses = [Reuse::PerCaller, Reuse::Never];
    names.into_iter().zip(reuses).map(|(name, reuse)| entrant(name, ground, reuse)).collect()
}

fn entrant(name: &'static str, ground: &Ground, reuse: Reuse) -> Entrant<'static> {
    match Door::open(ground, reuse).and_then(|door| door.run(door.permit()?).map(|()| door)) {
        Ok(door) => {
            let door = Rc::new(door);
            let issuer = Rc::clone(&door);
            work(name, move || issuer.permit(), move |permit| door.run(permit))
        }
        Err(failure) => Entrant { name, turn: Err(failure.what().to_owned()) },
    }
}

struct Door {
    policy: Policy,
    programs: Programs,
}

impl Door {
    fn open(ground: &Ground, reuse: Reuse) -> Result<Door, Failure> {
        let workspace = ground.workspace.canonicalize().map_err(Failure::disk(&ground.workspace))?;
        let spelled = workspace.to_string_lossy();
        let scope = Scope::new(ScopeSettings {
            bearings: Bearings::new(&[&spelled], "", &[]),
            isolation: Isolation::Strict,
            block_patterns: Vec::new(),
            shared_inside_own: false,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        });
        let scope = scope.map_err(|problem| broken(&format!("no scope: {problem:?}")))?;
        let state = match reuse {
            Reuse::PerCaller => ground.state.join("warm"),
            Reuse::Never => ground.state.join("fresh"),
        };
        std::fs::create_dir_all(&state).map_err(Failure::disk(&state))?;
        let settings = settings(&ground.vambrace, &workspace, &state, Arc::new(scope.clone()), reuse);
        let policy = Policy::new(
            PolicySettings {
                scope,
                mode: ToolMode::ALL,
                rules: Vec::new(),
                on_write: OnWrite::REFUSE,
                command: CommandPolicy::default(),
                git: GitRules::default(),
                url: UrlPolicy::new(UrlSettings::default()),
                requests: RequestRules::default(),
                grants: Vec::new(),
                allowed_commands: Vec::new(),
                permissions: PermissionList::default(),
            },
            EPOCH,
        );
        let programs = Programs::new(settings, EPOCH);
        programs.prove(None, &|_| ()).map_err(|error| broken(&error.to_string()))?;
        let posture = programs.posture().unwrap_or_default();
        if !posture.holds() {
            return Err(broken("the cage did not hold against its own attacks"));
        }
        Ok(Door { policy, programs })
    }

    fn permit(&self) -> Result<Permit<RunLine>, Failure> {
        let settings = CommandPolicy::default();
        let plan = settings.read(LINE).map_err(|refusal| broken(&format!("{refusal:?}")))?;
        let folder = ScopedPath::parse(".", self.policy.scope().bearings());
        let folder = folder.map_err(|problem| broken(&format!("no folder: {problem:?}")))?;
        let time = Config::default().limits.time.duration();
        let action = RunLine { text: LINE.to_owned(), plan, folder, time, purpose: String::new() };
        let caller = Caller::local(Role::Dev, CallersDoor::CommandLine);
        let tool = ToolName::of("exec_shell");
        match self.policy.decide(&caller, &Standing::Free, &tool, action, &Facts::default()) {
            Decision::Allow(permit) => Ok(permit),
            Decision::Deny(denial) => {
                Err(broken(&format!("`{LINE}` was denied: {}", denial.code().as_str())))
            }
            Decision::Ask(_) => Err(broken("`true` asks a person")),
        }
    }

    fn run(&self, permit: Permit<RunLine>) -> Result<(), Failure> {
        let context = RunContext {
            network: None,
            caller: "bench",
            cancelled: &|| false,
            live: None,
            n_at_once: None,
            planted: &|_| {},
        };
        let finished = self.programs.run(permit, &context).map_err(|error| broken(&error.to_string()))?;
        match (finished.exit, finished.enforcement) {
            (Exit::Code(0), Enforcement::Full) => Ok(()),
            (exit, enforcement) => Err(broken(&format!("{exit:?} in a cage that is {enforcement:?}"))),
        }
    }
}

fn broken(what: &str) -> Failure {
    Failure::wrong("vambrace", "does not run `true`", what)
}

/// What the configuration says when nobody has written one.
fn settings(
    launcher: &Path,
    workspace: &Path,
    state: &Path,
    scope: Arc<Scope>,
    reuse: Reuse,
) -> ProgramsSettings {
    let limits = Config::default().limits;
    ProgramsSettings {
        launcher: launcher.to_owned(),
        workspace: workspace.to_owned(),
        spellings: Vec::new(),
        scope,
        state: state.to_owned(),
        backend: Backend::Native,
        when_missing: WhenMissing::Refuse,
        absent_names: AbsentNames::Refuse,
        reuse,
        read: Vec::new(),
        write: Vec::new(),
        limits: ProgramLimits {
            output: ByteLimit::new(limits.output_bytes),
            memory: ByteLimit::new(limits.memory_bytes),
            processes: limits.processes,
            file: ByteLimit::new(limits.file_bytes),
        },
        environment: EnvironmentSettings {
            inherit: Inherit::Names(Vec::new()),
            host_path: false,
            host: BTreeMap::new(),
        },
        author: (String::new(), String::new()),
        secrets: BTreeMap::new(),
    }
}

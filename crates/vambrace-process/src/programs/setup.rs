//! From the operator's settings to the door: what is found out once, before the first job.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock};

use vambrace_policy::Epoch;

use super::Programs;
use super::keep::Shelf;
use super::proof::Proving;
use crate::ProgramsSettings;
use crate::environment::{CAGE_HOME, SafeEnvironment};
use crate::lookup::TrustedPath;
use crate::repository::Author;
use crate::surroundings::{Surroundings, SurroundingsSettings, User};
use crate::toolchain::Toolchains;
use crate::workspace::Walker;

/// In the state folder: a file for each workspace, locked by cages when a name could be protected.
const TURNS: &str = "turns";
/// Private memory for /tmp and the home folder.
const TEMPORARY_BYTES: u64 = 512 << 20;

/// THREAT: P07, who sends a descriptor is refused when those on their way are more than its own
/// limit of open files; programs of a cage have less of it, so that none keeps us from building the
/// next one.
fn raise_files() {
    let held = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: held.maximum, maximum: held.maximum };
    let _raised = rustix::process::setrlimit(rustix::process::Resource::Nofile, raised);
}

pub(super) fn programs(settings: ProgramsSettings, epoch: Epoch) -> Programs {
    raise_files();
    let mut toolchains = Toolchains::detect(&settings.environment.host);
    // THREAT: P07, a search path that leads into the workspace would show all that lies around it.
    let apart = |folder: &PathBuf| {
        !folder.starts_with(&settings.workspace) && !settings.workspace.starts_with(folder)
    };
    toolchains.read_only.retain(apart);
    toolchains.path.retain(|folder| !folder.starts_with(&settings.workspace));
    let folders = if settings.environment.host_path {
        let path = settings.environment.host.get("PATH").map(String::as_str).unwrap_or_default();
        path.split(':').filter(|folder| folder.starts_with('/')).map(PathBuf::from).collect()
    } else {
        toolchains.program_folders()
    };
    let writable: Vec<PathBuf> =
        std::iter::once(settings.workspace.clone()).chain(settings.write.iter().cloned()).collect();
    let default_rust = toolchains.default_rust(&writable);
    let environment = SafeEnvironment {
        path: folders.clone(),
        home: PathBuf::from(CAGE_HOME),
        user: user(&settings).name,
        inherit: settings.environment.inherit.clone(),
        host: settings.environment.host.clone(),
        toolchain: toolchains.variables.clone(),
    };
    let surroundings = Surroundings::new(SurroundingsSettings {
        workspace: settings.workspace.clone(),
        spellings: settings.spellings.clone(),
        scope: Arc::clone(&settings.scope),
        user: user(&settings),
        toolchains,
        read: settings.read.clone(),
        write: settings.write.clone(),
        author: Some(Author { name: settings.author.0.clone(), email: settings.author.1.clone() }),
        temporary_bytes: TEMPORARY_BYTES.min(settings.limits.memory.bytes()),
        absent_names: settings.absent_names,
        turns: settings.state.join(TURNS).join(turns_of(&settings.workspace)),
    });
    Programs {
        trusted: TrustedPath::new(folders, writable),
        default_rust,
        environment,
        surroundings: surroundings.map_err(|error| error.to_string()),
        staged: Mutex::new(None),
        turns: OnceLock::new(),
        walker: Walker::new(settings.workspace.clone(), Arc::clone(&settings.scope)),
        groups: OnceLock::new(),
        launcher: Mutex::new(None),
        shelf: Arc::new(Shelf::default()),
        proving: Proving::default(),
        n_running: Arc::new(AtomicUsize::new(0)),
        n_cages: Arc::new(AtomicUsize::new(0)),
        missing: Mutex::new(Vec::new()),
        settings,
        epoch,
    }
}

fn turns_of(workspace: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    workspace.hash(&mut hasher);
    format!("names-{:016x}", hasher.finish())
}

fn user(settings: &ProgramsSettings) -> User {
    let name = settings.environment.host.get("USER").cloned().unwrap_or_else(|| "agent".to_owned());
    User { name, uid: rustix::process::getuid().as_raw(), gid: rustix::process::getgid().as_raw() }
}

//! From settings to a cell: what the cage shows for one job, and which backend puts it up.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use vambrace_policy::command::{
    Command, CommandPlan, Join, Redirect, RedirectMode, Simple, Step, Stream, Target,
};
use vambrace_policy::{Epoch, Job, Repository};
use vambrace_types::ByteLimit;

use super::keep::{Kept, Shelf, Standing};
use super::proof::{Proving, Scene, scene};
use super::way_out::WayOut;
use super::{Programs, RunContext};
use crate::cage::UNGUARDED;
use crate::cell::{CageError, Cell};
use crate::cgroup::Controller;
use crate::environment::{CAGE_HOME, Git, Reach, SafeEnvironment};
use crate::fetched::Fetched;
use crate::launcher::RUNNER;
use crate::lookup::TrustedPath;
use crate::order::{Order, ProgramFile};
use crate::posture::traps::Traps;
use crate::repository::Author;
use crate::scratch::{Scratch, own_folder};
use crate::spec::{CageLimits, CageSpec, Mount};
use crate::surroundings::{SpecParts, Surroundings, SurroundingsSettings, User};
use crate::toolchain::Toolchains;
use crate::workspace::{View, Walker};
use crate::{
    AbsentNames, Backend, Layer, Layers, Missing, Network, ProgramError, ProgramsSettings, WhenMissing,
    cgroup,
};

/// Where our own binary is shown in the cage of the self-test, and in those of other backends.
pub(super) const OURSELVES: &str = "/run/vambrace/self";
/// In the state folder, where runs take turns too: locked by cages on one workspace when a name could be protected.
const TURNS: &str = "turns";
/// In the state folder: where processes make control groups.
const GROUPS: &str = "groups";
/// Private memory for /tmp and the home folder.
const TEMPORARY_BYTES: u64 = 512 << 20;

/// THREAT: P07, who sends a descriptor is refused when those on their way are more than its own limit of open files; programs
/// of a cage have less of it, so that none keeps us from building the next one.
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
        n_running: AtomicUsize::new(0),
        n_cages: AtomicUsize::new(0),
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

/// A cell, and what stands around it: what it says of itself and what its backend adds.
pub(super) struct Built {
    pub(super) cell: Cell,
    pub(super) layers: Layers,
    pub(super) group: Option<cgroup::Group>,
    pub(super) scratch: Option<Scratch>,
}

/// A cage that is ready to be attacked.
pub(super) struct Attack {
    pub(super) order: Order,
    pub(super) kept: Kept,
    pub(super) traps: Traps,
    /// Served as long as this lives.
    pub(super) way_out: WayOut,
    /// As it was just before the cage was built.
    pub(super) scene: Scene,
}

/// What is the same in every cage, written once, and what is then left to mount.
#[derive(Debug)]
pub(super) struct Staged {
    mounts: Vec<Mount>,
    folder: Scratch,
}

impl Staged {
    /// THREAT: P07, /dev/shm is emptied when a user logs out. Another user could then make a folder
    /// of the same name, and the sandbox would be built from it. To be asked once it is built.
    fn check(&self) -> Result<(), ProgramError> {
        if self.folder.is_there() {
            return Ok(());
        }
        Err(ProgramError::Broken { why: "the files that it is built from were removed meanwhile".to_owned() })
    }
}

/// Every layer missing, for one reason.
pub(super) fn nothing(why: &str) -> Layers {
    let missing = Layer::ALL.map(|layer| Missing { layer, why: why.to_owned() });
    Layers { missing: missing.to_vec() }
}

impl Programs {
    /// The caller's prepared cell if it shows exactly what a new one would, or a new one.
    pub(super) fn cell_for(
        &self,
        job: &Job,
        fetched: &Fetched,
        context: &RunContext<'_>,
    ) -> Result<Kept, ProgramError> {
        let reusable = self.may_be_warm(job, context);
        let trusted = self.trusted_by(context.network);
        let view = self.view()?;
        let limits = self.limits(job.memory);
        let further: Vec<PathBuf> = job.further_writable.iter().map(PathBuf::from).collect();
        self.keep_state_out(&further)?;
        let staged = self.staged()?;
        let parts = SpecParts {
            etc: &staged.mounts,
            repository: job.repository,
            further_writable: &further,
            fetched: &fetched.shown,
            limits,
            groups: &[],
            way_out: trusted.as_deref(),
        };
        let key = self.spec(&view, &parts)?;
        self.make_turns(&key)?;
        let marks = Self::marks(&key);
        // One with a way out is neither taken from the shelf nor put there; see `may_be_warm`.
        let is_plain = !key.way_out;
        let prepared = match reusable {
            true => self.shelf.take(context.caller),
            false if is_plain => self.shelf.take_ahead(&key),
            false => None,
        };
        match prepared {
            Some(mut kept) if kept.key == key && kept.marks == marks && kept.cell.is_alive() => {
                kept.view = view;
                if !reusable {
                    self.build_next(&kept);
                }
                return Ok(kept);
            }
            Some(outdated) => self.shelf.dissolve(outdated),
            None => {}
        }
        let built = self.build(&key)?;
        staged.check()?;
        let Built { cell, layers, group, scratch } = built;
        let kept = Kept { cell, layers, key, marks, view, group, _scratch: scratch };
        if !reusable && is_plain {
            self.build_next(&kept);
        }
        Ok(kept)
    }

    /// Once is enough: nobody removes it.
    fn make_turns(&self, key: &CageSpec) -> Result<(), ProgramError> {
        let Some(turns) = key.guarded.as_ref().and_then(|guarded| guarded.turns.as_ref()) else {
            return Ok(());
        };
        if self.turns.get().is_some() {
            return Ok(());
        }
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let made = turns.parent().map_or(Ok(()), own_folder);
        made.and_then(|()| options.open(turns)).map_err(|error| ProgramError::Broken {
            why: format!("the file by which cages take turns: {error}"),
        })?;
        let _made = self.turns.set(());
        Ok(())
    }

    /// THREAT: P03, a program that can write the record's folder, or a folder above it, can forge the record.
    fn keep_state_out(&self, further: &[PathBuf]) -> Result<(), ProgramError> {
        if further.is_empty() && self.settings.write.is_empty() && self.settings.read.is_empty() {
            return Ok(());
        }
        let real = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let state = real(&self.settings.state);
        let opened = further.iter().chain(&self.settings.write).chain(&self.settings.read);
        for path in opened {
            let shown = real(path);
            if shown.starts_with(&state) || state.starts_with(&shown) {
                let why = format!("`{}` is, holds or lies in the folder of our own state", path.display());
                return Err(ProgramError::View { why });
            }
        }
        Ok(())
    }

    /// While this cage is used, another core can build the next one. It is used only if it then shows what a new one
    /// would, like a prepared one.
    fn build_next(&self, kept: &Kept) {
        let native = self.settings.backend == Backend::Native && kept.layers.is_whole();
        if !native || !self.shelf.is_worth_building_ahead() {
            return;
        }
        let (Ok(launcher), Some(groups)) = (self.launcher(), self.groups.get()) else { return };
        let Some(group) =
            self.shelf.group(kept.key.limits).or_else(|| groups.make(kept.key.limits, "next").ok())
        else {
            return;
        };
        let (key, marks, view) = (kept.key.clone(), kept.marks.clone(), Arc::clone(&kept.view));
        let chosen = kept.layers.clone();
        self.shelf.build_ahead(key.clone(), move || {
            let mut spec = key.clone();
            spec.groups = group.procs_files().to_vec();
            let cell = launcher.cell(&spec).ok()?;
            let is_whole = cell.layers().missing.is_empty();
            let (layers, group) = (chosen, Some(group));
            is_whole.then_some(Kept { cell, layers, key, marks, view, group, _scratch: None })
        });
    }

    /// Of all that is shown or masked, not only in the workspace: credentials among toolchains are replaced too, and so are
    /// folders that the operator opens.
    fn marks(spec: &CageSpec) -> Vec<(PathBuf, Option<Standing>)> {
        let shown = spec.mounts.iter().filter_map(|mount| match mount {
            Mount::Pin { at }
            | Mount::PinReadOnly { at }
            | Mount::PinLink { at }
            | Mount::EmptyFolder { at }
            | Mount::EmptyFile { at }
            | Mount::Text { at, .. } => Some(at),
            Mount::ReadOnly { from, .. } | Mount::Writable { from, .. } => Some(from),
            Mount::Memory { .. } | Mount::Link { .. } | Mount::Processes | Mount::Devices => None,
        });
        shown.map(|path| (path.clone(), Standing::of(path))).collect()
    }

    pub(super) fn view(&self) -> Result<Arc<View>, ProgramError> {
        let view = self.walker.walk().and_then(|view| view.check_size().map(|()| view));
        view.map_err(|error| ProgramError::View { why: error.to_string() })
    }

    fn spec(&self, view: &View, parts: &SpecParts<'_>) -> Result<CageSpec, ProgramError> {
        let surroundings =
            self.surroundings.as_ref().map_err(|why| ProgramError::View { why: why.clone() })?;
        surroundings.spec(view, parts).map_err(|error| ProgramError::View { why: error.to_string() })
    }

    fn staged(&self) -> Result<Arc<Staged>, ProgramError> {
        let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(staged) = staged.as_ref().filter(|staged| staged.folder.is_there()) {
            return Ok(Arc::clone(staged));
        }
        let why = |why: String| ProgramError::View { why };
        let surroundings = self.surroundings.as_ref().map_err(|error| why(error.clone()))?;
        let fill = |folder: &Path| surroundings.stage(&std::fs::canonicalize(folder)?);
        let (folder, mounts) = Scratch::to_be_shown(&self.settings.state, "etc", fill)
            .map_err(|error| why(format!("the settings of the system could not be copied: {error}")))?;
        Ok(Arc::clone(staged.insert(Arc::new(Staged { mounts, folder }))))
    }

    fn limits(&self, memory: Option<ByteLimit>) -> CageLimits {
        let limits = &self.settings.limits;
        CageLimits {
            processes: limits.processes,
            memory_bytes: memory.unwrap_or(limits.memory).bytes(),
            file_bytes: limits.file.bytes(),
        }
    }

    fn build(&self, key: &CageSpec) -> Result<Built, ProgramError> {
        let mut built = self.build_by_backend(key)?;
        if self.leaves_names_free() && built.layers.has(Layer::NameGuard) {
            let why = UNGUARDED.to_owned();
            built.layers.missing.push(Missing { layer: Layer::NameGuard, why });
        }
        Ok(built)
    }

    /// Programs could make protected names, and the operator wants no guard.
    fn leaves_names_free(&self) -> bool {
        let is_writable = self.surroundings.as_ref().is_ok_and(Surroundings::service_is_writable);
        self.settings.absent_names == AbsentNames::Sweep && is_writable
    }

    fn build_by_backend(&self, key: &CageSpec) -> Result<Built, ProgramError> {
        match self.settings.backend {
            Backend::Native => self.native(key),
            Backend::Bubblewrap => self.or_bare(key, self.bubblewrap(key)),
            Backend::Firejail => self.or_bare(key, self.firejail(key)),
            Backend::DangerouslyNone => Ok(Built {
                cell: self.bare_cell(None)?,
                layers: nothing("backend: none"),
                group: None,
                scratch: None,
            }),
        }
    }

    /// The control groups of a new cage, if this user can make any.
    pub(super) fn group(&self, limits: CageLimits) -> Option<cgroup::Group> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let groups = self.groups.get_or_init(|| cgroup::Groups::detect(&self.settings.state.join(GROUPS)));
        self.shelf.group(limits).or_else(|| groups.make(limits, &number.to_string()).ok())
    }

    /// Whether all processes of a cage in this group are limited in this by it.
    pub(super) fn limits_by(&self, group: Option<&cgroup::Group>, what: Controller) -> bool {
        group.is_some() && self.groups.get().is_some_and(|groups| groups.can_limit(what))
    }

    fn native(&self, key: &CageSpec) -> Result<Built, ProgramError> {
        let group = self.group(key.limits);
        let mut spec = key.clone();
        spec.groups = group.as_ref().map(|group| group.procs_files().to_vec()).unwrap_or_default();
        let launcher = self.launcher()?;
        let first = launcher.cell(&spec);
        let cell = match first {
            // The launcher has gone, by a crash or by hand; a new one is tried once.
            Err(CageError::Died | CageError::Protocol(_) | CageError::NoLauncher(_)) => {
                self.forget_launcher(&launcher);
                self.launcher()?.cell(&spec)
            }
            other => other,
        };
        match cell {
            Ok(cell) => {
                let mut layers = cell.layers().clone();
                // For root, a limit on the user's processes does not hold; only a control group does.
                let limited = self.limits_by(group.as_ref(), Controller::Processes)
                    || !rustix::process::geteuid().is_root();
                let told = layers.missing.iter().any(|missing| missing.layer == Layer::ProcessLimit);
                if !limited && !told {
                    let why = "no control group for processes can be written".to_owned();
                    layers.missing.push(Missing { layer: Layer::ProcessLimit, why });
                }
                Ok(Built { layers, cell, group, scratch: None })
            }
            Err(CageError::InFlight) => Err(ProgramError::InFlight),
            Err(error) => self.or_bare(key, Err(ProgramError::TooWeak { missing: error.to_string() })),
        }
    }

    /// Where the operator takes what there is, and the machine has no more: what a process can put around itself.
    fn or_bare(&self, key: &CageSpec, built: Result<Built, ProgramError>) -> Result<Built, ProgramError> {
        let Err(ProgramError::TooWeak { missing }) = built else { return built };
        // THREAT: P07, a program that moves its files about, or takes all processes there are, while the next cage is
        // built must not get the next one a cage without walls.
        if !self.machine_lacks(key) {
            return Err(ProgramError::Unsettled { why: missing });
        }
        if self.settings.when_missing != WhenMissing::Warn {
            return Err(ProgramError::TooWeak { missing });
        }
        let cell = self.bare_cell(Some(key))?;
        let mut layers = cell.layers().clone();
        layers.missing.iter_mut().for_each(|layer| layer.why.clone_from(&missing));
        Ok(Built { cell, layers, group: None, scratch: None })
    }

    /// Whether the machine cannot build such a cage, whatever the moment: our own one is refused for what the kernel is,
    /// although nothing that a program can change is shown in it.
    fn machine_lacks(&self, key: &CageSpec) -> bool {
        let is_absent = |program| self.backend(program).is_err();
        match self.settings.backend {
            Backend::Bubblewrap if is_absent("bwrap") => return true,
            Backend::Firejail if is_absent("firejail") => return true,
            Backend::DangerouslyNone => return false,
            Backend::Native | Backend::Bubblewrap | Backend::Firejail => {}
        }
        let ours = |path: &Path| {
            let writable = self.settings.write.iter().any(|folder| path.starts_with(folder));
            !writable && !path.starts_with(&self.settings.workspace)
        };
        let mut spec = key.clone();
        spec.mounts.retain(|mount| match mount {
            Mount::ReadOnly { from, at } => ours(from) && ours(at),
            Mount::Pin { at }
            | Mount::PinReadOnly { at }
            | Mount::PinLink { at }
            | Mount::EmptyFolder { at }
            | Mount::EmptyFile { at }
            | Mount::Text { at, .. } => ours(at),
            // Whatever is shown writable can be changed.
            Mount::Writable { .. } => false,
            Mount::Memory { .. } | Mount::Link { .. } | Mount::Processes | Mount::Devices => true,
        });
        match self.launcher().map(|launcher| launcher.cell(&spec)) {
            Ok(Ok(cell)) => !cell.layers().has(Layer::PrivateRoot),
            Ok(Err(error)) => matches!(error, CageError::Lacks(_)),
            Err(_) => false,
        }
    }

    /// The runner without a backend: no walls but those it can put on itself.
    pub(super) fn bare_cell(&self, spec: Option<&CageSpec>) -> Result<Cell, ProgramError> {
        let mut command = process::Command::new(&self.settings.launcher);
        command.arg(RUNNER).env_clear();
        Cell::inside(command, spec).map_err(|error| ProgramError::Broken { why: error.to_string() })
    }

    pub(super) fn ourselves(&self) -> Result<PathBuf, ProgramError> {
        std::fs::canonicalize(&self.settings.launcher)
            .map_err(|error| ProgramError::Broken { why: format!("our own binary: {error}") })
    }

    /// The live cage, with our own binary shown in it, and the order to attack.
    pub(super) fn attack_cell(
        &self,
        traps: Traps,
        network: Option<&dyn Network>,
    ) -> Result<Attack, ProgramError> {
        let trusted = self.trusted_by(network);
        let view = self.view()?;
        let scene = scene(&view);
        let staged = self.staged()?;
        let parts = SpecParts {
            etc: &staged.mounts,
            repository: Repository::ReadOnly,
            further_writable: &[],
            fetched: &[],
            limits: self.limits(None),
            groups: &[],
            way_out: trusted.as_deref(),
        };
        let mut key = self.spec(&view, &parts)?;
        self.make_turns(&key)?;
        let ourselves = self.ourselves()?;
        if self.settings.backend == Backend::Native {
            key.mounts.push(Mount::ReadOnly { from: ourselves.clone(), at: PathBuf::from(OURSELVES) });
        }
        let Built { cell, layers, group, scratch } = self.build(&key)?;
        staged.check()?;
        let path = if layers.has(Layer::PrivateRoot) { PathBuf::from(OURSELVES) } else { ourselves };
        let mut kept = Kept { cell, layers, key, marks: Vec::new(), view, group, _scratch: scratch };
        let way_out = self.open_way_out(&mut kept, network)?;
        let environment = self.variables(&[], Git::Inside, Some(&way_out.reach))?;
        let is_proxied = match way_out.reach {
            Reach::Nothing | Reach::Machine => false,
            Reach::Proxy { .. } => true,
        };
        let Kept { key, layers, .. } = &kept;
        let traps = traps
            .with_proxy(is_proxied)
            .with_variables(environment.iter().map(|(name, _)| name.as_str()))
            .with_hidden(key.mounts.iter().filter_map(covered))
            .with_writable(self.settings.write.iter().map(PathBuf::as_path))
            .with_service(self.surroundings.as_ref().is_ok_and(Surroundings::service_is_writable))
            .with_guard(key.guarded.is_some() && layers.has(Layer::NameGuard));
        let order =
            Order { plan: attack_plan(&path, &self.ourselves()?)?, folder: self.service(), environment };
        Ok(Attack { order, kept, traps, scene, way_out })
    }
}

/// What stands in the place of something that nobody may read: in the workspace, and of credentials among toolchains.
fn covered(mount: &Mount) -> Option<&Path> {
    match mount {
        Mount::EmptyFolder { at } | Mount::EmptyFile { at } => Some(at),
        Mount::ReadOnly { .. }
        | Mount::Writable { .. }
        | Mount::Pin { .. }
        | Mount::PinReadOnly { .. }
        | Mount::PinLink { .. }
        | Mount::Text { .. }
        | Mount::Memory { .. }
        | Mount::Link { .. }
        | Mount::Processes
        | Mount::Devices => None,
    }
}

fn attack_plan(shown: &Path, ourselves: &Path) -> Result<CommandPlan<Command<ProgramFile>>, ProgramError> {
    let stat = rustix::fs::stat(ourselves)
        .map_err(|error| ProgramError::Broken { why: format!("our own binary: {error}") })?;
    let file = ProgramFile { path: shown.to_owned(), device: stat.st_dev, inode: stat.st_ino };
    let words = vec!["vambrace".to_owned(), "__attack".to_owned()];
    // So that the null device of the runner is attacked too, which programs get as their input.
    let redirects =
        vec![Redirect { stream: Stream::Err, mode: RedirectMode::Truncate, target: Target::Null }];
    let pipeline = vec![Command::Run(Simple { file, words, redirects })];
    Ok(CommandPlan { steps: vec![Step { join: Join::First, pipeline }] })
}

//! Who builds the cage: our launcher, or a program of the machine with our runner inside it. What
//! such a program builds and what the runner puts on itself make the cage together; what neither
//! has is listed as missing.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Programs;
use super::factory::OURSELVES;
use crate::cage::{SHOWS_THE_MACHINE, UNGUARDED};
use crate::cell::{CageError, Cell};
use crate::cgroup::{Controller, Group};
use crate::launcher::{BUILT_ELSEWHERE, ENTER, RUNNER};
use crate::mark::marks;
use crate::scratch::Scratch;
use crate::spec::{CageLimits, CageSpec, Mount};
use crate::surroundings::Surroundings;
use crate::{
    AbsentNames, Backend, Layer, Layers, Missing, ProgramError, WhenMissing, backend_arguments, cgroup,
    kernel_files,
};

/// In the state folder: where processes make control groups.
const GROUPS: &str = "groups";

/// A cell, and what stands around it: what it says of itself and what its backend adds.
pub(super) struct Built {
    pub(super) cell: Cell,
    pub(super) layers: Layers,
    pub(super) group: Option<cgroup::Group>,
    pub(super) scratch: Option<Scratch>,
}

/// Every layer missing, for one reason.
pub(super) fn nothing(why: &str) -> Layers {
    let missing = Layer::ALL.map(|layer| Missing { layer, why: why.to_owned() });
    Layers { missing: missing.to_vec() }
}

impl Programs {
    pub(super) fn build(&self, key: &CageSpec) -> Result<Built, ProgramError> {
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

    /// Where the operator takes what there is, and the machine has no more: what a process can put
    /// around itself.
    fn or_bare(&self, key: &CageSpec, built: Result<Built, ProgramError>) -> Result<Built, ProgramError> {
        let Err(ProgramError::TooWeak { missing }) = built else { return built };
        // THREAT: P07, a program that moves its files about, or takes all processes there are,
        // while the next cage is built must not get the next one a cage without walls.
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

    /// Whether the machine cannot build such a cage, whatever the moment: our own one is refused
    /// for what the kernel is, although nothing that a program can change is shown in it.
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
        let mut command = Command::new(&self.settings.launcher);
        command.arg(RUNNER).env_clear();
        Cell::inside(command, spec).map_err(|error| ProgramError::Broken { why: error.to_string() })
    }

    pub(super) fn ourselves(&self) -> Result<PathBuf, ProgramError> {
        std::fs::canonicalize(&self.settings.launcher)
            .map_err(|error| ProgramError::Broken { why: format!("our own binary: {error}") })
    }

    pub(super) fn backend(&self, program: &str) -> Result<PathBuf, ProgramError> {
        self.trusted.find(program).map(|found| found.path).map_err(|_| ProgramError::TooWeak {
            missing: format!("the backend `{program}` is not installed"),
        })
    }

    pub(super) fn bubblewrap(&self, key: &CageSpec) -> Result<Built, ProgramError> {
        let program = self.backend("bwrap")?;
        let mut spec = key.clone();
        spec.mounts.push(Mount::ReadOnly { from: self.ourselves()?, at: PathBuf::from(OURSELVES) });
        let broken = |error: std::io::Error| ProgramError::Broken { why: error.to_string() };
        let masked = std::fs::File::open("/proc")
            .and_then(|proc| Ok(kernel_files::masked(proc.as_fd())?))
            .map_err(broken)?;
        let is_root = rustix::process::geteuid().is_root();
        let (scratch, arguments) = Scratch::to_be_shown(&self.settings.state, "bubblewrap", |folder| {
            let plan = backend_arguments::bubblewrap(&spec, folder, is_root, masked.clone());
            plan.files.iter().try_for_each(|(path, text)| std::fs::write(path, text))?;
            Ok(plan.arguments)
        })
        .map_err(broken)?;
        let marks = marks(&spec.mounts, &self.settings.workspace)
            .map_err(|errno| ProgramError::Unsettled { why: format!("a name has gone: {errno}") })?;
        let group = self.group(key.limits);
        let mut command = self.inside_of(group.as_ref(), &program);
        command.args(&arguments).arg("--").arg(OURSELVES).arg(RUNNER).env_clear();
        let cell = Cell::verified(command, Some(&spec), marks)
            .map_err(|error| ProgramError::TooWeak { missing: format!("bubblewrap: {error}") })?;
        let mut layers = self.with_limits(cell.layers(), group.as_ref());
        // The root is made of nothing but the spec, by the arguments above.
        layers
            .missing
            .retain(|missing| (missing.layer, &*missing.why) != (Layer::PrivateRoot, BUILT_ELSEWHERE));
        Ok(Built { cell, layers, group, scratch: Some(scratch) })
    }

    /// Specification 002's flags, to the letter. It shows more of the machine than our own cage, so a private root is
    /// missing, and `when_missing: warn` is needed.
    pub(super) fn firejail(&self, key: &CageSpec) -> Result<Built, ProgramError> {
        let program = self.backend("firejail")?;
        let group = self.group(key.limits);
        let mut command = self.inside_of(group.as_ref(), &program);
        let ourselves = self.ourselves()?;
        command.args(backend_arguments::firejail(&self.settings.workspace, &ourselves));
        command.arg(ourselves).arg(RUNNER).env_clear();
        let cell = Cell::inside(command, Some(key))
            .map_err(|error| ProgramError::TooWeak { missing: format!("firejail: {error}") })?;
        let mut layers = self.with_limits(cell.layers(), group.as_ref());
        for missing in layers.missing.iter_mut().filter(|missing| missing.layer == Layer::PrivateRoot) {
            missing.why = SHOWS_THE_MACHINE.to_owned();
        }
        Ok(Built { cell, layers, group, scratch: None })
    }

    /// Begins the command of a backend. Where there are groups, our own binary enters them and then becomes the backend,
    /// so that they hold the backend and all that comes from it; if it cannot enter, there is no cell.
    fn inside_of(&self, group: Option<&Group>, program: &Path) -> Command {
        let files = group.map(Group::procs_files).unwrap_or_default();
        if files.is_empty() {
            return Command::new(program);
        }
        let mut command = Command::new(&self.settings.launcher);
        command.arg(ENTER).args(files).arg("--").arg(program);
        command
    }

    /// The runner was born in the group and cannot see it; a cell that is ready has entered it.
    fn with_limits(&self, layers: &Layers, group: Option<&Group>) -> Layers {
        let held = [(Layer::ProcessLimit, Controller::Processes), (Layer::MemoryLimit, Controller::Memory)];
        let held = held.iter().filter(|(_, what)| self.limits_by(group, *what));
        without(layers, &held.map(|(layer, _)| *layer).collect::<Vec<_>>())
    }
}

fn without(layers: &Layers, had: &[Layer]) -> Layers {
    let missing = layers.missing.iter().filter(|missing| !had.contains(&missing.layer));
    Layers { missing: missing.cloned().collect() }
}

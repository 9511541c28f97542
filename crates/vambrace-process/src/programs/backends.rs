//! The other backends: programs of the machine that build a cage, with our runner inside it. What they build and what the
//! runner puts on itself make the cage together; what neither has is listed as missing.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Programs;
use super::build::{Built, OURSELVES};
use crate::cage::SHOWS_THE_MACHINE;
use crate::cell::Cell;
use crate::cgroup::{Controller, Group};
use crate::launcher::{BUILT_ELSEWHERE, ENTER, RUNNER};
use crate::mark::marks;
use crate::scratch::Scratch;
use crate::spec::{CageSpec, Mount};
use crate::{Layer, Layers, ProgramError, backend_arguments, kernel_files};

impl Programs {
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

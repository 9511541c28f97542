//! The other backends: programs of the machine that build a cage, with our runner inside it. What they build and what the
//! runner puts on itself make the cage together; what neither has is listed as missing.

use std::path::PathBuf;
use std::process::Command;

use super::Programs;
use super::build::{Built, OURSELVES};
use crate::cell::Cell;
use crate::scratch::Scratch;
use crate::spec::{CageSpec, Mount};
use crate::{Layer, Layers, ProgramError, backend_arguments};

impl Programs {
    fn backend(&self, program: &str) -> Result<PathBuf, ProgramError> {
        self.trusted.find(program).map(|found| found.path).map_err(|_| ProgramError::TooWeak {
            missing: format!("the backend `{program}` is not installed"),
        })
    }

    pub(super) fn bubblewrap(&self, key: &CageSpec) -> Result<Built, ProgramError> {
        let program = self.backend("bwrap")?;
        let mut spec = key.clone();
        spec.mounts.push(Mount::ReadOnly { from: self.ourselves()?, at: PathBuf::from(OURSELVES) });
        let broken = |error: std::io::Error| ProgramError::Broken { why: error.to_string() };
        let scratch = Scratch::new(&self.settings.state.join("bubblewrap")).map_err(broken)?;
        let plan = backend_arguments::bubblewrap(&spec, scratch.path());
        for (path, text) in &plan.files {
            std::fs::write(path, text).map_err(broken)?;
        }
        let mut command = Command::new(program);
        command.args(&plan.arguments).arg("--").arg(OURSELVES).arg("__cage-runner").env_clear();
        let cell = Cell::inside(command, Some(&spec))
            .map_err(|error| ProgramError::TooWeak { missing: format!("bubblewrap: {error}") })?;
        // The root is made of nothing but the spec, by the arguments above.
        let layers = without(cell.layers(), &[Layer::PrivateRoot]);
        Ok(Built { cell, layers, group: None, scratch: Some(scratch) })
    }

    /// Specification 002's flags, to the letter. It shows more of the machine than our own cage, so a private root is
    /// missing, and `when_missing: warn` is needed.
    pub(super) fn firejail(&self, key: &CageSpec) -> Result<Built, ProgramError> {
        let program = self.backend("firejail")?;
        let mut command = Command::new(program);
        let ourselves = self.ourselves()?;
        command.args(backend_arguments::firejail(&self.settings.workspace, &ourselves));
        command.arg(ourselves).arg("__cage-runner").env_clear();
        let cell = Cell::inside(command, Some(key))
            .map_err(|error| ProgramError::TooWeak { missing: format!("firejail: {error}") })?;
        let mut layers = cell.layers().clone();
        for missing in layers.missing.iter_mut().filter(|missing| missing.layer == Layer::PrivateRoot) {
            missing.why = "firejail shows the machine's own folders".to_owned();
        }
        Ok(Built { cell, layers, group: None, scratch: None })
    }
}

fn without(layers: &Layers, had: &[Layer]) -> Layers {
    let missing = layers.missing.iter().filter(|missing| !had.contains(&missing.layer));
    Layers { missing: missing.cloned().collect() }
}

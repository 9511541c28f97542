//! The sandbox factory: what the cage shows for one job, as a spec, and a cell of that spec, prepared or new.

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use vambrace_types::ByteLimit;

use super::Programs;
use super::backends::Built;
use super::keep::{Kept, Standing};
use super::run::Asked;
use crate::fetched::Fetched;
use crate::scratch::{Scratch, own_folder};
use crate::spec::{CageLimits, CageSpec, Mount};
use crate::surroundings::SpecParts;
use crate::workspace::View;
use crate::{Backend, ProgramError};

/// Where our own binary is shown in the cage of the self-test, and in those of other backends.
pub(super) const OURSELVES: &str = "/run/vambrace/self";

/// What is the same in every cage, written once, and what is then left to mount.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) mounts: Vec<Mount>,
    folder: Scratch,
}

impl Staged {
    /// THREAT: P07, /dev/shm is emptied when a user logs out. Another user could then make a folder
    /// of the same name, and the sandbox would be built from it. To be asked once it is built.
    pub(super) fn check(&self) -> Result<(), ProgramError> {
        if self.folder.is_there() {
            return Ok(());
        }
        Err(ProgramError::Broken { why: "the files that it is built from were removed meanwhile".to_owned() })
    }
}

impl Programs {
    /// The caller's prepared cell if it shows exactly what a new one would, or a new one.
    pub(super) fn cell_for(&self, fetched: &Fetched, asked: Asked<'_>) -> Result<Kept, ProgramError> {
        let Asked { job, caller, network } = asked;
        let reusable = self.may_be_warm(asked);
        let trusted = self.trusted_by(network);
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
            true => self.shelf.take(caller),
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
    pub(super) fn make_turns(&self, key: &CageSpec) -> Result<(), ProgramError> {
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

    /// While this cage is used, another core can build the next one. It is used only if it then
    /// shows what a new one would, like a prepared one.
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

    /// Of all that is shown or masked, not only in the workspace: credentials among toolchains are
    /// replaced too, and so are folders that the operator opens.
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

    pub(super) fn spec(&self, view: &View, parts: &SpecParts<'_>) -> Result<CageSpec, ProgramError> {
        let surroundings =
            self.surroundings.as_ref().map_err(|why| ProgramError::View { why: why.clone() })?;
        surroundings.spec(view, parts).map_err(|error| ProgramError::View { why: error.to_string() })
    }

    pub(super) fn staged(&self) -> Result<Arc<Staged>, ProgramError> {
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

    pub(super) fn limits(&self, memory: Option<ByteLimit>) -> CageLimits {
        let limits = &self.settings.limits;
        CageLimits {
            processes: limits.processes,
            memory_bytes: memory.unwrap_or(limits.memory).bytes(),
            file_bytes: limits.file.bytes(),
        }
    }
}

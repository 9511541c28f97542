//! The door itself: each job uses up one permit. It looks programs up, decides what the cage shows, has it built or takes
//! the caller's prepared one, and looks for what the job made of protected names.
//!
//! ```text
//! run        prepare ─▶ execute ─▶ conclude      session    the same on a thread, with pipes
//! resolver   names of programs → files           variables  what a job is given
//! factory    surroundings → spec → cell          backends   who builds it
//! keep       cages from one job to the next      proof      the self-test
//! ```

mod backends;
mod factory;
mod input;
mod keep;
mod planted;
mod proof;
mod resolver;
mod run;
mod session;
mod setup;
mod variables;
mod way_out;

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use vambrace_policy::Epoch;

use crate::cell::{self, Launcher};
use crate::environment::SafeEnvironment;
use crate::lookup::TrustedPath;
use crate::surroundings::Surroundings;
use crate::workspace::Walker;
use crate::{Backend, Layers, Missing, Network, ProgramError, ProgramsSettings, WhenMissing, cgroup};
use factory::Staged;
use keep::Shelf;
use proof::Proving;
pub use session::{Session, SessionContext, SessionEnd, SessionError, Tail};

/// Programs for one policy.
pub struct Programs {
    settings: ProgramsSettings,
    epoch: Epoch,
    trusted: TrustedPath,
    environment: SafeEnvironment,
    /// The toolchain that rustup starts where nothing else is said.
    default_rust: Option<String>,
    /// The error is told to whoever wants to run something.
    surroundings: Result<Surroundings, String>,
    /// The file by which cages take turns is there.
    turns: OnceLock<()>,
    staged: Mutex<Option<Arc<Staged>>>,
    walker: Walker,
    groups: OnceLock<cgroup::Groups>,
    launcher: Mutex<Option<Arc<Launcher>>>,
    shelf: Arc<Shelf>,
    proving: Proving,
    n_running: Arc<AtomicUsize>,
    n_cages: Arc<AtomicUsize>,
    missing: Mutex<Vec<Missing>>,
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// Which of a program's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    Out,
    Err,
}

/// How a program's two outputs reach the person who runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outputs {
    Apart,
    /// They end in one place, so they come in one order: all of it as `OutputStream::Out`.
    Together,
    /// Through a terminal like our own standard output; errors too, or apart from it.
    Terminal {
        with_errors: bool,
    },
}

/// Where output goes while the program runs, instead of being collected.
pub trait Live: Send + Sync {
    fn output(&self, stream: OutputStream, bytes: &[u8]);

    /// Whether more of it is wanted now. Meanwhile the program waits.
    fn room(&self, _stream: OutputStream) -> cell::Room {
        cell::Room::Free
    }

    fn outputs(&self) -> Outputs {
        Outputs::Apart
    }
}

/// What surrounds one run.
pub struct RunContext<'a> {
    /// Whose prepared cage may be used.
    pub caller: &'a str,
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    pub live: Option<&'a dyn Live>,
    /// The most programs of this kind that may run at once.
    pub n_at_once: Option<usize>,
    /// The way out of the cage. None: there is none.
    pub network: Option<&'a dyn Network>,
    /// Hears of protected names that the job tried to make or that appeared while it ran, however it ended.
    pub planted: Planted<'a>,
}

type Planted<'a> = &'a (dyn Fn(Vec<String>) + Sync);

/// Between TERM and KILL (decision C13).
const GRACE: Duration = Duration::from_secs(5);
/// For a person who can stop it.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// LIMIT: jobs at once, of all callers together.
const MOST_CAGES: usize = 64;
/// How long a prepared cage is kept without use.
const IDLE: Duration = Duration::from_secs(30);

impl Programs {
    pub fn new(settings: ProgramsSettings, epoch: Epoch) -> Programs {
        setup::programs(settings, epoch)
    }

    /// The walls that the last cage could not have, for whoever explains a refusal.
    pub fn missing_layers(&self) -> Vec<Missing> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The hooks that a person's own commit in this folder of the workspace would run, and no program of ours does.
    pub fn skipped_hooks(&self, folder: &vambrace_types::ScopedPath) -> Vec<&'static str> {
        crate::repository::hooks::of_commit(&self.place_of(folder), &self.settings.workspace)
    }

    /// What a sandbox hides now of this folder of the workspace, as paths in it: programs find such
    /// a file empty, and take what is in such a folder for deleted. Paths that are no text are
    /// spelled with the sign for that.
    pub fn hidden_in(&self, folder: &vambrace_types::ScopedPath) -> Result<Vec<String>, ProgramError> {
        let place = self.place_of(folder);
        let view = self.view()?;
        let inside = view.masked.iter().filter_map(|masked| masked.path.strip_prefix(&place).ok());
        Ok(inside.map(|path| path.to_string_lossy().into_owned()).collect())
    }

    fn place_of(&self, folder: &vambrace_types::ScopedPath) -> PathBuf {
        folder.components().iter().fold(self.settings.workspace.clone(), |place, name| place.join(name))
    }

    /// What is missing from a cage with holes was said at the start; a whole cage that does not hold is never accepted.
    fn accepts_weak(&self, layers: &Layers) -> bool {
        let is_weak = !layers.is_whole();
        is_weak
            && (self.settings.when_missing == WhenMissing::Warn
                || self.settings.backend == Backend::DangerouslyNone)
    }

    fn is_caging(&self) -> bool {
        self.settings.backend != Backend::DangerouslyNone
    }

    fn service(&self) -> PathBuf {
        self.walker.service()
    }

    fn launcher(&self) -> Result<Arc<Launcher>, ProgramError> {
        let mut held = self.launcher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(launcher) = held.as_ref() {
            return Ok(Arc::clone(launcher));
        }
        let launcher = Launcher::start(&self.settings.launcher)
            .map_err(|error| ProgramError::Broken { why: error.to_string() })?;
        let launcher = Arc::new(launcher);
        *held = Some(Arc::clone(&launcher));
        Ok(launcher)
    }

    /// A launcher that has gone is replaced at the next call.
    fn forget_launcher(&self, gone: &Arc<Launcher>) {
        let mut held = self.launcher.lock().unwrap_or_else(PoisonError::into_inner);
        // Another caller may have started a new one already, and its cages hang on it.
        if held.as_ref().is_some_and(|launcher| Arc::ptr_eq(launcher, gone)) {
            *held = None;
        }
    }
}

#[cfg(test)]
mod tests;

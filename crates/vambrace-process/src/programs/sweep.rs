//! What is looked for when a job has ended: protected names that it made, at whatever depth, also by a job that ran at the
//! same time, also behind folders that it closed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Programs, RunContext};
use crate::ProgramError;
use crate::placeholder::{Moved, Running, open_again, quarantine};
use crate::workspace::{View, why_not_entered};

impl Programs {
    /// So that the next start can take away what a job planted before we were killed.
    pub(super) fn note_begin(&self, view: &View) -> Result<Option<Running>, ProgramError> {
        let Some(journal) = self.journal() else { return Ok(None) };
        let broken =
            |error: std::io::Error| ProgramError::Broken { why: format!("the journal of runs: {error}") };
        journal.begin(view).map(Some).map_err(broken)
    }

    /// Protected names that appeared during the run are taken away, at whatever depth. THREAT: P07, a planted hook. What
    /// cannot be taken away makes the call fail: a person has to look before anything else happens there.
    pub(super) fn sweep(&self, before: &Arc<View>, context: &RunContext<'_>) -> Result<(), ProgramError> {
        let left = |why: String| ProgramError::LeftBehind { why };
        let (after, too_deep) = self
            .look_after(before)
            .map_err(|error| left(format!("the workspace could not be looked at after the run: {error}")))?;
        if Arc::ptr_eq(before, &after) {
            return Ok(());
        }
        let planted = self.placeholders.planted(before, &after);
        let moved = quarantine(&planted, &self.settings.workspace, &self.settings.state);
        // LIMIT: the folder that the first of them names holds the others too.
        const MOST_TOLD: usize = 20;
        let mut told: Vec<String> = moved.iter().take(MOST_TOLD).map(|moved| self.describe(moved)).collect();
        if moved.len() > MOST_TOLD {
            told.push(format!("{} more protected names appeared during the run", moved.len() - MOST_TOLD));
        }
        (context.planted)(told);
        match (moved.iter().find(|moved| moved.to.is_err()), too_deep) {
            (Some(stuck), _) => Err(left(self.describe(stuck))),
            (None, Some(too_deep)) => Err(left(too_deep)),
            (None, None) => Ok(()),
        }
    }

    /// A program may close a folder behind what it planted there. It is the same user's, so it is opened again. With it
    /// comes what to say of a folder that no walk enters; everything else is swept all the same.
    fn look_after(&self, before: &View) -> Result<(Arc<View>, Option<String>), String> {
        // LIMIT: folders closed inside folders closed …; more rounds than a person would ever need.
        const MOST_ROUNDS: usize = 64;
        for _ in 0..MOST_ROUNDS {
            let after = match self.walker.walk() {
                Ok(after) => after,
                Err(error) => {
                    open_again(&self.settings.workspace, &before.service).map_err(|_| error.to_string())?;
                    self.walker.walk().map_err(|error| error.to_string())?
                }
            };
            let (too_deep, closed): (Vec<&PathBuf>, Vec<&PathBuf>) = after
                .masked
                .iter()
                .filter(|masked| masked.is_folder && !before.masked.contains(masked))
                .map(|masked| &masked.path)
                .filter(|path| !self.is_masked_by_name(path))
                .partition(|path| why_not_entered(self.inside(path)).is_some());
            if closed.is_empty() {
                let too_deep = too_deep.first().and_then(|path| self.describe_deep(path));
                return Ok((after, too_deep));
            }
            for path in closed {
                open_again(&self.settings.workspace, path)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        Err("folders were closed again and again".to_owned())
    }

    fn inside<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.settings.workspace).unwrap_or(path)
    }

    /// All of its path would fill the screen; where it begins is enough to find it.
    fn describe_deep(&self, path: &Path) -> Option<String> {
        const SHOWN: usize = 3;
        let why = why_not_entered(self.inside(path))?;
        let begin: PathBuf = self.inside(path).components().take(SHOWN).collect();
        let begin = begin.display();
        Some(format!(
            "a folder in `{begin}/…` is new and was not looked through for files that must not be there, because \
             {why}; it has to be removed or moved up"
        ))
    }

    fn is_masked_by_name(&self, path: &Path) -> bool {
        let parts: Vec<String> = self
            .inside(path)
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        self.settings.scope.is_masked(&parts)
    }

    pub(super) fn describe(&self, moved: &Moved) -> String {
        let from = self.inside(&moved.from).display();
        match &moved.to {
            Ok(to) => {
                let to = to.strip_prefix(&self.settings.state).unwrap_or(to).display();
                format!(
                    "`{from}` is protected and appeared during the run; it is now `{to}` in the state folder"
                )
            }
            Err(why) => {
                format!("`{from}` is protected, appeared during the run and could not be taken away: {why}")
            }
        }
    }
}

/// The workspace as it was when no program ran. THREAT: P07, two programs at once: what the first makes would be taken for
/// old by the second.
///
/// LIMIT: within one process; programs of another one on the same workspace are compared with its own.
#[derive(Debug, Default)]
pub(super) struct Baseline(Mutex<(usize, Option<Arc<View>>)>);

impl Baseline {
    /// `walk` is asked while no program runs, and nobody starts one meanwhile.
    pub(super) fn enter(
        &self,
        walk: impl FnOnce() -> Result<Arc<View>, ProgramError>,
    ) -> Result<Entered<'_>, ProgramError> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let view = match &held.1 {
            Some(view) => Arc::clone(view),
            None => walk()?,
        };
        held.0 += 1;
        held.1 = Some(Arc::clone(&view));
        Ok(Entered { baseline: self, view })
    }
}

pub(super) struct Entered<'a> {
    baseline: &'a Baseline,
    pub(super) view: Arc<View>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut held = self.baseline.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.0 = held.0.saturating_sub(1);
        if held.0 == 0 {
            held.1 = None;
        }
    }
}

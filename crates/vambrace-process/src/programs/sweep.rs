//! What is looked for when a job has ended: protected names that it made, at whatever depth, also by a job that ran at the
//! same time, also behind folders that it closed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Programs, RunContext};
use crate::ProgramError;
use crate::cell::Refused;
use crate::placeholder::{Cover, Looked, Moved, Running, look_behind, quarantine, recover};
use crate::wire::message::MOST_REFUSED;
use crate::workspace::View;

const LONGEST_TOLD: usize = 300;

impl Programs {
    /// How the workspace was before any program of ours, or of another process that is still at it. It is noted, so that
    /// somebody else can take away what a job plants if we are killed.
    pub(super) fn first_look(&self, context: &RunContext<'_>) -> Result<Before, ProgramError> {
        let broken =
            |error: std::io::Error| ProgramError::Broken { why: format!("the journal of runs: {error}") };
        let walk = || self.walker.walk().map_err(|error| ProgramError::View { why: error.to_string() });
        let Some(journal) = self.journal() else { return Ok(Before { view: walk()?, _running: None }) };
        let turn = journal.turn().map_err(broken)?;
        let view = if turn.is_alone() {
            walk()?
        } else {
            // A process may have been killed since we started; what it left must not be taken for old.
            let left = recover(&self.settings.state, &self.walker, Some(journal.path()));
            self.tell(&left, context);
            turn.without_plants(walk()?)
        };
        let running = turn.begin(&view).map_err(broken)?;
        Ok(Before { view, _running: Some(running) })
    }

    /// Protected names that appeared during the run are taken away, at whatever depth. THREAT: P07, a planted hook. What
    /// cannot be taken away makes the call fail: a person has to look before anything else happens there.
    pub(super) fn sweep(
        &self,
        before: &Arc<View>,
        cover: Cover,
        context: &RunContext<'_>,
    ) -> Result<(), ProgramError> {
        let left = |why: String| ProgramError::LeftBehind { why };
        let Looked { view: after, out_of_reach, .. } = look_behind(&self.walker, before)
            .map_err(|error| left(format!("the workspace could not be looked at after the run: {error}")))?;
        let mut planted = self.placeholders.planted(before, &after, cover);
        planted.extend(out_of_reach);
        let moved = quarantine(&planted, &self.settings.workspace, &self.settings.state);
        self.tell(&moved, context);
        match moved.iter().find(|moved| moved.to.is_err()) {
            Some(stuck) => Err(left(self.describe(stuck))),
            None => Ok(()),
        }
    }

    fn tell(&self, moved: &[Moved], context: &RunContext<'_>) {
        // LIMIT: the folder that the first of them names holds the others too.
        const MOST_TOLD: usize = 20;
        let mut told: Vec<String> = moved.iter().take(MOST_TOLD).map(|moved| self.describe(moved)).collect();
        if moved.len() > MOST_TOLD {
            told.push(format!("{} more protected names appeared during the run", moved.len() - MOST_TOLD));
        }
        if !told.is_empty() {
            (context.planted)(told);
        }
    }

    /// What a guard did not let a program make.
    pub(super) fn tell_refused(&self, refused: &Refused, context: &RunContext<'_>) {
        if refused.n_tries == 0 {
            return;
        }
        let named = refused.paths.iter().map(|path| {
            let inside = path.strip_prefix(&self.settings.workspace).unwrap_or(path);
            let shown: String = inside.to_string_lossy().chars().take(LONGEST_TOLD).collect();
            let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            let what = if self.settings.scope.is_masked(&parts) { "blocked" } else { "protected" };
            format!("`{shown}` is {what}; a program tried to make it and was refused")
        });
        let mut told: Vec<String> = named.collect();
        if refused.paths.len() == MOST_REFUSED {
            told.push(format!("in all, programs tried {} times to make protected names", refused.n_tries));
        }
        (context.planted)(told);
    }

    pub(super) fn describe(&self, moved: &Moved) -> String {
        let inside = moved.from.strip_prefix(&self.settings.workspace).unwrap_or(&moved.from);
        let (from, what) = match self.walker.why_out_of_reach(&moved.from) {
            None => (inside.display().to_string(), "is protected".to_owned()),
            // All of its path would fill the screen; where it begins is enough to find it.
            Some(why) => {
                let begin: PathBuf = inside.components().take(3).collect();
                (format!("{}/…", begin.display()), format!("cannot be looked through, because {why},"))
            }
        };
        match &moved.to {
            Ok(to) => {
                let to = to.strip_prefix(&self.settings.state).unwrap_or(to).display();
                format!("`{from}` {what} and appeared during the run; it is now `{to}` in the state folder")
            }
            Err(why) => {
                format!("`{from}` {what}, appeared during the run and could not be taken away: {why}")
            }
        }
    }
}

/// The workspace as it was when no program ran. THREAT: P07, two programs at once: what the first makes would be taken for
/// old by the second.
#[derive(Debug, Default)]
pub(super) struct Baseline(Mutex<(usize, Option<Before>)>);

#[derive(Debug)]
pub(super) struct Before {
    pub(super) view: Arc<View>,
    /// Until the last job has been swept after.
    pub(super) _running: Option<Running>,
}

impl Baseline {
    /// `look` is asked while no program runs, and nobody starts one meanwhile.
    pub(super) fn enter(
        &self,
        look: impl FnOnce() -> Result<Before, ProgramError>,
    ) -> Result<Entered<'_>, ProgramError> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, before) = &mut *held;
        let view = match before {
            Some(before) => Arc::clone(&before.view),
            None => Arc::clone(&before.insert(look()?).view),
        };
        *count += 1;
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

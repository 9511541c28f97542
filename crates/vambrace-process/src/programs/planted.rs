//! What is told of protected names: those that the guard refused to make, and those that appeared
//! while a job ran. It changes nothing in the workspace.

use std::path::{Path, PathBuf};

use super::{Planted, Programs};
use crate::cell::Refused;
use crate::wire::message::MOST_REFUSED;
use crate::workspace::{View, new_closed, new_protected};
use crate::{Layer, Layers};

const LONGEST_TOLD: usize = 300;
const MOST_TOLD: usize = 20;

impl Programs {
    /// Names the protected names that appeared during the job, at whatever depth. Without a guard
    /// nothing else tells of them. With one it finds what no single call makes: a folder that is
    /// laid out like a repository without being called `.git`, and a folder renamed so that an
    /// operator's rule with wildcards covers what is in it. The walk costs what the job changed,
    /// which the walk before the next job would read otherwise.
    ///
    /// LIMIT: what a person makes meanwhile is told too.
    pub(super) fn tell_planted(&self, before: &View, layers: &Layers, planted: Planted<'_>) {
        let told = match self.walker.walk() {
            // The same one, if nothing in it changed.
            Ok(after) if std::ptr::eq(before, &raw const *after) => return,
            Ok(after) => self.appeared(before, &after, layers),
            Err(error) => vec![format!("protected names were not looked for after the run: {error}")],
        };
        if !told.is_empty() {
            planted(told);
        }
    }

    fn appeared(&self, before: &View, after: &View, layers: &Layers) -> Vec<String> {
        let protected = new_protected(before, after);
        // A guard sees into every folder, so one that a test has closed or made too deep is
        // nobody's violation.
        let closed = if layers.has(Layer::NameGuard) { Vec::new() } else { new_closed(before, after) };
        let n_more = (protected.len() + closed.len()).saturating_sub(MOST_TOLD);
        let told = |path: &PathBuf| {
            format!("`{}` is protected and appeared during the run; it is still there", self.shown(path))
        };
        let not_seen = |path: &&Path| {
            let why = if self.is_blocked(path) { "is blocked" } else { "cannot be read" };
            format!("`{}` {why} since the run; protected names may be in it", self.shown(path))
        };
        let mut told: Vec<String> =
            protected.iter().map(told).chain(closed.iter().map(not_seen)).take(MOST_TOLD).collect();
        if n_more > 0 {
            told.push(format!("{n_more} more protected names or closed folders appeared during the run"));
        }
        told
    }

    /// What a guard did not let a program make.
    pub(super) fn tell_refused(&self, refused: &Refused, planted: Planted<'_>) {
        if refused.n_tries == 0 {
            return;
        }
        let named = refused.paths.iter().map(|path| {
            let what = if self.is_blocked(path) { "blocked" } else { "protected" };
            format!("`{}` is {what}; a program tried to make it and was refused", self.shown(path))
        });
        let mut told: Vec<String> = named.collect();
        if refused.paths.len() == MOST_REFUSED {
            told.push(format!("in all, programs tried {} times to make protected names", refused.n_tries));
        }
        planted(told);
    }

    fn is_blocked(&self, path: &Path) -> bool {
        let parts = self.inside(path).iter().map(|part| part.to_string_lossy().into_owned());
        self.settings.scope.is_masked(&parts.collect::<Vec<_>>())
    }

    fn shown(&self, path: &Path) -> String {
        self.inside(path).to_string_lossy().chars().take(LONGEST_TOLD).collect()
    }

    fn inside<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.settings.workspace).unwrap_or(path)
    }
}

//! Protected names that do not exist yet. A mount needs a place, so just before a cage is built an empty folder is made
//! on the host under each of them, and removed when the last cage that needs it has ended, of whichever process. git does
//! not show empty folders. What a program plants elsewhere is found after the run and put into quarantine; after a kill,
//! by the next start. It knows nothing of mounts.
//!
//! INVARIANT: only an empty folder is ever removed.

mod behind;
mod beneath;
mod carry;
mod mode;
mod place;
mod quarantine;
mod recover;
mod run_record;
mod runs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

pub(crate) use behind::{Looked, look_behind};
pub(crate) use carry::open_folder;
use place::{Missing, Place};
pub(crate) use quarantine::{Moved, quarantine};
pub(crate) use recover::recover;
pub(crate) use runs::{RunJournal, Running, Witness};

use crate::workspace::{Identity, View, new_protected};

/// Names worth a folder of their own: what a person's tools most often read without being asked, at the top of a service.
/// Each one shows in every listing that a program makes, so the list is short; the others are swept after the run.
const NAMES: &[&str] = &[".git", ".claude", ".cursor", ".vscode", ".husky", ".githooks", ".mcp.json"];

/// The placeholders that this process has seen.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    known: Mutex<BTreeMap<PathBuf, Known>>,
}

#[derive(Debug)]
struct Known {
    identity: Identity,
    /// While a cage of ours holds it.
    place: Weak<Place>,
}

/// What lay over placeholders in the cage whose run is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cover {
    Mounts,
    /// It had no private root.
    Nothing,
}

/// Keeps its places until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held {
    paths: Vec<PathBuf>,
    _places: Vec<Arc<Place>>,
}

impl Held {
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

impl Placeholders {
    /// Makes what is missing at the top of the service and shares what stands there, whoever made it and whether they
    /// live or not. A place that cannot be made is left out: a service that we cannot write, the program in its cage
    /// cannot write either.
    pub(crate) fn hold(&self, service: &Path, workspace: &Path) -> Held {
        let Ok(folder) = beneath::open_folder(workspace, service) else { return Held::default() };
        let folder = Arc::new(folder);
        // Inside a repository an own `.git` would be another one; the walk after the run finds what is planted.
        let in_repository = has_repository_above(service, workspace);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = Held::default();
        for name in NAMES {
            if *name == ".git" && in_repository {
                // One that a crash left before the repository came is removed as it is dropped.
                drop(Place::take(&folder, name, Missing::Leave));
                continue;
            }
            let path = service.join(name);
            let standing = known.get(&path).and_then(|known| known.place.upgrade());
            let place = standing
                .filter(|place| place.stands_in(&folder))
                .or_else(|| Place::take(&folder, name, Missing::Make).map(Arc::new));
            match place {
                Some(place) => {
                    let seen = Known { identity: place.identity(), place: Arc::downgrade(&place) };
                    known.insert(path.clone(), seen);
                    held.paths.push(path);
                    held._places.push(place);
                }
                None => {
                    known.remove(&path);
                }
            }
        }
        held
    }

    /// Removes what was left by processes that are dead, where no placeholder is wanted.
    pub(crate) fn tidy(&self, service: &Path, workspace: &Path) {
        let Ok(folder) = beneath::open_folder(workspace, service) else { return };
        let folder = Arc::new(folder);
        for name in NAMES {
            drop(Place::take(&folder, name, Missing::Leave));
        }
    }

    /// What a run planted: new protected names but no placeholders, and placeholders that were filled.
    ///
    /// LIMIT: what a person puts into a folder that another process made after our cage was built is taken for planted,
    /// because nothing covers that folder in our cage.
    pub(crate) fn planted(&self, before: &View, after: &View, cover: Cover) -> Vec<PathBuf> {
        // The same one, if nothing changed.
        let mut planted = if std::ptr::eq(before, after) { Vec::new() } else { new_protected(before, after) };
        without_placeholders(&mut planted, &after.service);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // One that we hold was covered in our cages: what is in it came from outside. One that somebody else holds was open
        // to a program that has no private root.
        let was_open = |known: &&Known| cover == Cover::Nothing || known.place.strong_count() == 0;
        if !known.values().any(|known| was_open(&known)) {
            return planted;
        }
        let Ok(service) = beneath::open_exactly(&after.service) else { return planted };
        for name in NAMES {
            let path = after.service.join(name);
            let Some(known) = known.get(&path).filter(was_open) else {
                continue;
            };
            let filled = place::look(&service, name)
                .is_some_and(|look| !look.is_empty && look.identity == known.identity);
            if filled && !planted.contains(&path) {
                planted.push(path);
            }
        }
        planted
    }
}

/// Empty folders that say of themselves that they are placeholders do no harm, whoever made them.
fn without_placeholders(planted: &mut Vec<PathBuf>, service: &Path) {
    if planted.is_empty() {
        return;
    }
    let Ok(folder) = beneath::open_exactly(service) else { return };
    for name in NAMES {
        if place::look(&folder, name).is_some_and(|look| look.is_sticky && look.is_empty) {
            let path = service.join(name);
            planted.retain(|planted| *planted != path);
        }
    }
}

/// The service folder, reached through no link.
pub(crate) fn open_service(service: &Path, workspace: &Path) -> std::io::Result<rustix::fd::OwnedFd> {
    beneath::open_folder(workspace, service)
}

fn has_repository_above(service: &Path, workspace: &Path) -> bool {
    let above = service.ancestors().skip(1).take_while(|folder| folder.starts_with(workspace));
    above.map(|folder| folder.join(".git")).any(|path| Identity::of(&path).is_ok())
}

#[cfg(test)]
mod tests;

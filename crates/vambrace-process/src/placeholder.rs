//! Protected names that do not exist yet. A mount needs a place, so just before a cage is built an empty folder is made
//! on the host under each of them, and removed when the last cage that needs it has ended. git does not show empty
//! folders. What a program plants elsewhere is found after the run and put into quarantine.
//!
//! INVARIANT: a place is in the journal before it is made. Only an empty folder is ever removed.

mod journal;
mod quarantine;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use journal::Journal;
pub(crate) use quarantine::quarantine;

use crate::workspace::{Identity, Kind, View, new_protected};

/// Names worth a folder of their own: what a person's tools most often read without being asked, at the top of a service.
/// Each one shows in every listing that a program makes, so the list is short; the others are swept after the run.
const NAMES: &[&str] =
    &[".git", ".vambrace", ".claude", ".cursor", ".vscode", ".husky", ".githooks", ".mcp.json"];

/// All placeholders of this process.
#[derive(Debug)]
pub(crate) struct Placeholders {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    journal: Journal,
    made: BTreeMap<PathBuf, Made>,
}

#[derive(Debug)]
struct Made {
    identity: Identity,
    n_holders: usize,
}

/// Keeps its places until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    owner: Arc<Placeholders>,
    paths: Vec<PathBuf>,
}

impl Held {
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.owner.release(&self.paths);
    }
}

impl Placeholders {
    /// `state` is a folder of ours outside every workspace. What processes that are gone left behind is removed.
    pub(crate) fn open(state: &Path) -> io::Result<Placeholders> {
        let journal = Journal::open(&state.join("placeholders"))?;
        Ok(Placeholders { state: Mutex::new(State { journal, made: BTreeMap::new() }) })
    }

    /// Makes what is missing at the top of the service. A place that cannot be made is left out: a service that we
    /// cannot write, the program in its cage cannot write either.
    pub(crate) fn hold(self: &Arc<Self>, service: &Path, workspace: &Path) -> Held {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Inside a repository an own `.git` would be another one; the walk after the run finds what is planted.
        let in_repository = has_repository_above(service, workspace);
        let names = NAMES.iter().filter(|name| **name != ".git" || !in_repository);
        let (mut paths, missing) = state.share(names.map(|name| service.join(name)));
        paths.extend(state.make(&missing));
        Held { owner: Arc::clone(self), paths }
    }

    fn release(&self, paths: &[PathBuf]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for path in paths {
            state.give_back(path);
        }
        if state.made.is_empty() {
            state.journal.clear();
        }
    }

    /// What a run planted: new protected names, except our own places that another cage holds at this moment.
    pub(crate) fn planted(&self, before: &View, after: &View) -> Vec<PathBuf> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut planted = new_protected(before, after);
        planted.retain(|path| !state.is_ours(path));
        planted
    }
}

impl State {
    /// Places that stand already count one holder more; those where nothing is are handed back.
    fn share(&mut self, places: impl Iterator<Item = PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut shared, mut missing) = (Vec::new(), Vec::new());
        for path in places {
            let there = Identity::of(&path);
            match (self.made.get_mut(&path), there) {
                (Some(made), Ok((now, Kind::Folder))) if now == made.identity => {
                    made.n_holders += 1;
                    shared.push(path);
                }
                (_, Ok(_)) => {}
                (_, Err(_)) => missing.push(path),
            }
        }
        (shared, missing)
    }

    /// Two writes for all of them, since every start of a program waits for this.
    fn make(&mut self, missing: &[PathBuf]) -> Vec<PathBuf> {
        if missing.is_empty() || self.journal.announce(missing).is_err() {
            return Vec::new();
        }
        let mut made = Vec::new();
        for path in missing {
            if std::fs::create_dir(path).is_ok()
                && let Ok((identity, Kind::Folder)) = Identity::of(path)
            {
                made.push((path.clone(), identity));
            }
        }
        // Without these lines the next start still removes them, if they are empty.
        let _ = self.journal.made(&made);
        let paths = made.iter().map(|(path, _)| path.clone()).collect();
        for (path, identity) in made {
            // Someone removed it under its holders, who will still give it back.
            let n_before = self.made.get(&path).map_or(0, |before| before.n_holders);
            self.made.insert(path, Made { identity, n_holders: n_before + 1 });
        }
        paths
    }

    fn give_back(&mut self, path: &Path) {
        let Some(made) = self.made.get_mut(path) else { return };
        made.n_holders = made.n_holders.saturating_sub(1);
        if made.n_holders == 0 {
            remove_if(path, Some(made.identity));
            self.made.remove(path);
        }
    }

    fn is_ours(&self, path: &Path) -> bool {
        let now = Identity::of(path);
        self.made.get(path).is_some_and(|made| now == Ok((made.identity, Kind::Folder)))
    }
}

fn has_repository_above(service: &Path, workspace: &Path) -> bool {
    let above = service.ancestors().skip(1).take_while(|folder| folder.starts_with(workspace));
    above.map(|folder| folder.join(".git")).any(|path| Identity::of(&path).is_ok())
}

/// Removes an empty folder, if it is still the one that was made. `rmdir` removes nothing else.
fn remove_if(path: &Path, identity: Option<Identity>) -> bool {
    let same = match (Identity::of(path), identity) {
        (Ok((now, Kind::Folder)), Some(identity)) => now == identity,
        (Ok((_, Kind::Folder)), None) => true,
        _ => false,
    };
    same && std::fs::remove_dir(path).is_ok()
}

#[cfg(test)]
mod tests {
    use vambrace_policy::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks};
    use vambrace_types::Bearings;

    use super::*;
    use crate::workspace::Walker;

    struct Place {
        _root: tempfile::TempDir,
        state: PathBuf,
        work: PathBuf,
    }

    fn place() -> Place {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (state, work) = (base.join("state"), base.join("work"));
        std::fs::create_dir(&state).unwrap();
        std::fs::create_dir(&work).unwrap();
        Place { _root: root, state, work }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn places_stand_while_someone_holds_them() {
        let place = place();
        std::fs::create_dir(place.work.join(".vscode")).unwrap();
        let all = Arc::new(Placeholders::open(&place.state).unwrap());
        let first = all.hold(&place.work, &place.work);
        assert_eq!(first.paths().len(), NAMES.len() - 1); // `.vscode` is the project's own
        let second = all.hold(&place.work, &place.work);
        assert_eq!(second.paths(), first.paths());
        drop(first);
        assert_eq!(names(&place.work).len(), NAMES.len());
        drop(second);
        assert_eq!(names(&place.work), [".vscode"]);
    }

    #[test]
    fn what_a_person_put_there_stays() {
        let place = place();
        let all = Arc::new(Placeholders::open(&place.state).unwrap());
        let held = all.hold(&place.work, &place.work);
        std::fs::write(place.work.join(".claude/settings.json"), "{}").unwrap();
        std::fs::remove_dir(place.work.join(".cursor")).unwrap();
        std::fs::write(place.work.join(".cursor"), "x").unwrap();
        drop(held);
        assert_eq!(names(&place.work), [".claude", ".cursor"]);
    }

    #[test]
    fn the_next_start_removes_what_a_crash_left() {
        let place = place();
        let all = Arc::new(Placeholders::open(&place.state).unwrap());
        let held = all.hold(&place.work, &place.work);
        std::fs::write(place.work.join(".husky/workspace.xml"), "").unwrap();
        // While the owner lives, its places stand.
        drop(Placeholders::open(&place.state).unwrap());
        assert_eq!(names(&place.work).len(), NAMES.len());
        // A crash: nothing is given back, the lock is gone with the process.
        std::mem::forget(held);
        let left = Arc::try_unwrap(all).map_err(|_| ());
        assert!(left.is_err(), "the forgotten holder still counts");
        let copy = place.state.join("placeholders/0-crashed");
        let journals = names(&place.state.join("placeholders"));
        std::fs::copy(place.state.join("placeholders").join(&journals[0]), copy).unwrap();
        drop(Placeholders::open(&place.state).unwrap());
        assert_eq!(names(&place.work), [".husky"]);
    }

    #[test]
    fn our_own_places_are_not_taken_for_planted_ones() {
        let place = place();
        let settings = ScopeSettings {
            bearings: Bearings::new(&[place.work.to_str().unwrap()], "", &[]),
            isolation: Isolation::Strict,
            block_patterns: Vec::new(),
            shared_inside_own: false,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        };
        let walker = Walker::new(place.work.clone(), Arc::new(Scope::new(settings).unwrap()));
        let all = Arc::new(Placeholders::open(&place.state).unwrap());
        let before = walker.walk().unwrap();
        let held = all.hold(&place.work, &place.work);
        assert_eq!(all.planted(&before, &walker.walk().unwrap()), Vec::<PathBuf>::new());
        // Removed behind our back and made again by a program: that one is not ours.
        std::fs::remove_dir(place.work.join(".claude")).unwrap();
        std::fs::create_dir(place.work.join(".claude")).unwrap();
        std::fs::create_dir_all(place.work.join("sub/.vscode")).unwrap();
        let planted = all.planted(&before, &walker.walk().unwrap());
        assert_eq!(planted, [place.work.join(".claude"), place.work.join("sub/.vscode")]);
        drop(held);
        assert_eq!(names(&place.work), [".claude", "sub"]);
    }

    #[test]
    fn a_service_in_a_repository_gets_no_repository_of_its_own() {
        let place = place();
        let service = place.work.join("a");
        std::fs::create_dir_all(place.work.join(".git")).unwrap();
        std::fs::create_dir(&service).unwrap();
        let all = Arc::new(Placeholders::open(&place.state).unwrap());
        let held = all.hold(&service, &place.work);
        assert!(!held.paths().contains(&service.join(".git")));
        assert!(held.paths().contains(&service.join(".claude")));
    }
}

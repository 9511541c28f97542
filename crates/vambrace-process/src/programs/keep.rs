//! Prepared cages, one per caller, kept for a while between calls. A cage is only used again if it shows exactly what a new
//! one would show and nothing of the last job is left in it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use super::IDLE;
use crate::Layers;
use crate::cell::Cell;
use crate::cgroup::Group;
use crate::scratch::Scratch;
use crate::spec::{CageLimits, CageSpec};
use crate::workspace::{Identity, Kind, View};

/// A cell and what has to live as long as it. Dropped in this order: the cell first, then what it stood on.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) cell: Cell,
    pub(super) layers: Layers,
    /// What it was built from, without its control groups.
    pub(super) key: CageSpec,
    /// Which files and folders of the host it shows, and its masks and pins lie on. THREAT: P07, a file that is replaced by another
    /// (an editor saves so) loses what was mounted on it, in every cage that is running.
    pub(super) marks: Vec<(PathBuf, Option<Standing>)>,
    /// The workspace as it was when the cage was built or last compared.
    pub(super) view: Arc<View>,
    pub(super) group: Option<Group>,
    pub(super) _scratch: Option<Scratch>,
}

/// What a mount lies on, as far as it could lose the mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    identity: Identity,
    /// Of what is no folder: a file with a second name can lose the one that is covered and get it back, and has changed
    /// then. Nobody can set this time.
    changed: Option<(i64, i64)>,
}

impl Standing {
    pub(super) fn of(path: &Path) -> Option<Standing> {
        let (identity, kind) = Identity::of(path).ok()?;
        let found = rustix::fs::lstat(path).ok()?;
        let changed =
            (kind != Kind::Folder).then_some((found.st_ctime, i64::try_from(found.st_ctime_nsec).ok()?));
        Some(Standing { identity, changed })
    }
}

#[derive(Debug, Default)]
pub(super) struct Shelf {
    cells: Mutex<Cells>,
}

#[derive(Debug, Default)]
struct Cells {
    kept: HashMap<String, (Kept, Instant)>,
    /// Control groups that cages have left.
    groups: Vec<Group>,
    /// The next fresh cage, built ahead or being built: new and unused, only sooner.
    ahead: Option<Ahead>,
    /// To the thread that builds ahead. It stays, because to start one for each cage would cost as much as its mounts.
    builder: Option<Sender<Building>>,
    n_fresh: usize,
    is_watched: bool,
}

#[derive(Debug)]
struct Ahead {
    key: CageSpec,
    built: Receiver<Option<Kept>>,
    since: Instant,
}

impl Ahead {
    /// Waits while it is being built.
    fn take(self) -> Option<Kept> {
        self.built.recv().ok().flatten()
    }
}

struct Building {
    build: Box<dyn FnOnce() -> Option<Kept> + Send>,
    done: Sender<Option<Kept>>,
}

impl std::fmt::Debug for Building {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Building").finish_non_exhaustive()
    }
}

/// LIMIT: callers come and go; this many keep a prepared cage, the others get fresh ones.
const MOST: usize = 64;
/// LIMIT: more cages than this at once make and remove their own.
const MOST_GROUPS: usize = 16;

impl Shelf {
    fn cells(&self) -> MutexGuard<'_, Cells> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The caller's cage, whatever it shows; whoever takes it compares.
    pub(super) fn take(&self, caller: &str) -> Option<Kept> {
        self.cells().kept.remove(caller).map(|(kept, _)| kept)
    }

    pub(super) fn put(self: &Arc<Self>, caller: &str, kept: Kept) {
        let mut cells = self.cells();
        if cells.kept.len() >= MOST && !cells.kept.contains_key(caller) {
            return;
        }
        let replaced = cells.kept.insert(caller.to_owned(), (kept, Instant::now()));
        drop(cells);
        // Ending a cage takes a moment, which nobody has to wait for with the lock in hand.
        if let Some((replaced, _)) = replaced {
            self.dissolve(replaced);
        }
        self.start_watching();
    }

    /// Ends a cage and keeps what the next one can stand on.
    pub(super) fn dissolve(self: &Arc<Self>, kept: Kept) {
        let Kept { cell, group, .. } = kept;
        drop(cell);
        let mut cells = self.cells();
        let surplus = match group {
            // What the kernel noted about one cage must not be told of another.
            Some(group) if cells.groups.len() < MOST_GROUPS && !group.has_exceeded_memory() => {
                cells.groups.push(group);
                None
            }
            other => other,
        };
        drop(cells);
        drop(surplus);
        self.start_watching();
    }

    /// A group that is empty and limits just so.
    pub(super) fn group(&self, limits: CageLimits) -> Option<Group> {
        let mut cells = self.cells();
        let fits = |group: &Group| group.limits() == limits && group.is_empty();
        let place = cells.groups.iter().position(fits)?;
        Some(cells.groups.swap_remove(place))
    }

    /// The cage that was built ahead, if it is built from this; waits while it is being built.
    pub(super) fn take_ahead(&self, key: &CageSpec) -> Option<Kept> {
        let ahead = self.cells().ahead.take_if(|ahead| ahead.key == *key)?;
        ahead.take()
    }

    /// Whether fresh cages are asked for often enough to build one ahead. One run alone would pay for two.
    pub(super) fn is_worth_building_ahead(&self) -> bool {
        let mut cells = self.cells();
        cells.n_fresh += 1;
        cells.n_fresh > 1
    }

    pub(super) fn build_ahead(
        self: &Arc<Self>,
        key: CageSpec,
        build: impl FnOnce() -> Option<Kept> + Send + 'static,
    ) {
        let (done, built) = mpsc::channel();
        let building = Building { build: Box::new(build), done };
        let replaced = {
            let mut cells = self.cells();
            if cells.builder.is_none() {
                cells.builder = start_building();
            }
            if cells.builder.as_ref().is_none_or(|builder| builder.send(building).is_err()) {
                cells.builder = None;
                return;
            }
            cells.ahead.replace(Ahead { key, built, since: Instant::now() })
        };
        drop(replaced.map(Ahead::take));
        self.start_watching();
    }

    fn start_watching(self: &Arc<Self>) {
        let start = !std::mem::replace(&mut self.cells().is_watched, true);
        if start {
            let shelf = Arc::downgrade(self);
            let watching =
                std::thread::Builder::new().name("idle cages".to_owned()).spawn(move || watch(&shelf));
            if watching.is_err() {
                self.cells().is_watched = false;
            }
        }
    }

    fn drop_idle(&self) {
        let mut cells = self.cells();
        let idle: Vec<String> = cells
            .kept
            .iter()
            .filter(|(_, (_, since))| since.elapsed() >= IDLE)
            .map(|(caller, _)| caller.clone())
            .collect();
        let gone: Vec<_> = idle.iter().filter_map(|caller| cells.kept.remove(caller)).collect();
        let ahead = cells.ahead.take_if(|ahead| ahead.since.elapsed() >= IDLE);
        drop(cells);
        drop((gone, ahead.map(Ahead::take)));
    }
}

impl Drop for Shelf {
    /// A cage that is still being built has a control group, which must not outlive us.
    fn drop(&mut self) {
        let ahead = self.cells().ahead.take();
        drop(ahead.map(Ahead::take));
    }
}

/// Ends when nobody can ask any more.
fn start_building() -> Option<Sender<Building>> {
    let (builder, asked) = mpsc::channel::<Building>();
    let work = move || {
        for Building { build, done } in asked {
            // Who no longer wants it ends it by not taking it.
            let _unwanted = done.send(build());
        }
    };
    std::thread::Builder::new().name("next cage".to_owned()).spawn(work).ok().map(|_| builder)
}

/// Ends with the door: only a weak reference is held while waiting.
fn watch(shelf: &Weak<Shelf>) {
    let waiting = Mutex::new(());
    let nothing = Condvar::new();
    while shelf.upgrade().is_some_and(|shelf| {
        shelf.drop_idle();
        true
    }) {
        let guard = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = nothing.wait_timeout(guard, IDLE / 4);
    }
}

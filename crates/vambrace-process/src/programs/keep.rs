//! Prepared cages, one per caller, kept for a while between calls. A cage is only used again if it shows exactly what a new
//! one would show and nothing of the last job is left in it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use super::IDLE;
use crate::Layers;
use crate::cell::Cell;
use crate::cgroup::Group;
use crate::placeholder::Held;
use crate::spec::CageSpec;
use crate::workspace::{Identity, View};

/// A cell and what has to live as long as it. Dropped in this order: the cell first, then what it stood on.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) cell: Cell,
    pub(super) layers: Layers,
    /// What it was built from, without its control groups.
    pub(super) key: CageSpec,
    /// Which files and folders of the workspace its masks and pins lie on. THREAT: P07, a file that is replaced by another
    /// (an editor saves so) loses what was mounted on it, in every cage that is running.
    pub(super) marks: Vec<(PathBuf, Option<Identity>)>,
    /// The workspace as it was when the cage was built or last compared.
    pub(super) view: View,
    pub(super) _group: Option<Group>,
    pub(super) _held: Option<Held>,
}

#[derive(Debug, Default)]
pub(super) struct Shelf {
    cells: Mutex<Cells>,
}

#[derive(Debug, Default)]
struct Cells {
    kept: HashMap<String, (Kept, Instant)>,
    is_watched: bool,
}

/// LIMIT: callers come and go; this many keep a prepared cage, the others get fresh ones.
const MOST: usize = 64;

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
        let start = !std::mem::replace(&mut cells.is_watched, true);
        drop(cells);
        // Ending a cage takes a moment, which nobody has to wait for with the lock in hand.
        drop(replaced);
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
        drop(cells);
        drop(gone);
    }
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

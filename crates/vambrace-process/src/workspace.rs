//! What there is in the workspace that a cage must treat apart: names to mask, names to protect, repositories, sockets.
//! Walked before and after every run, so a walk costs what changed, not what there is: the kernel tells which folders
//! changed, and where it cannot, folders are asked for their stamps. It changes nothing and knows nothing of mounts.
//!
//! LIMIT: `.git` and `node_modules` are not entered. Where stamps are asked for, a folder on a file system whose clock
//! runs behind ours may be remembered for one change too long.

mod folder;
mod names;
mod tree;
mod view;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use vambrace_policy::{Isolation, Scope};

use folder::Ground;
pub(crate) use names::Names;
use tree::{Id, Tree};
pub(crate) use view::{Identity, Kind, Seen, View, ViewError, new_closed, new_protected};
use watch::WatchLimits;

/// Keeps what it saw from one walk to the next.
#[derive(Debug)]
pub(crate) struct Walker {
    workspace: PathBuf,
    scope: Arc<Scope>,
    names: Names,
    limits: WatchLimits,
    memory: Mutex<Memory>,
}

#[derive(Debug)]
struct Memory {
    tree: Tree,
    watching: Watching,
    zones: Vec<Zone>,
    /// Repositories above the service, outside the zones.
    above: Vec<Seen>,
    /// As long as nothing in it changes, everyone gets the same one.
    view: Option<Arc<View>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watching {
    /// So many walks were made without.
    NotYet {
        n_walks: usize,
    },
    Yes,
    /// There were not enough watches.
    GivenUp,
}

#[derive(Debug)]
struct Zone {
    parts: Vec<String>,
    folder: Option<Id>,
}

impl Memory {
    fn start_over(&mut self, tree: Tree) {
        self.tree = tree;
        self.zones.iter_mut().for_each(|zone| zone.folder = None);
    }
}

impl Walker {
    /// `workspace` is the place as the kernel resolves it.
    pub(crate) fn new(workspace: PathBuf, scope: Arc<Scope>) -> Walker {
        Walker::with_limits(workspace, scope, WatchLimits::default())
    }

    fn with_limits(workspace: PathBuf, scope: Arc<Scope>, limits: WatchLimits) -> Walker {
        let names = Names::of(scope.masked_texts().chain(scope.protected_texts()));
        let zones = zone_parts(&scope).into_iter().map(|parts| Zone { parts, folder: None }).collect();
        let watching = Watching::NotYet { n_walks: 0 };
        let memory = Memory { tree: Tree::new(None), watching, zones, above: Vec::new(), view: None };
        Walker { workspace, scope, names, limits, memory: Mutex::new(memory) }
    }

    /// The same view as before, also by its address, if nothing in it changed.
    pub(crate) fn walk(&self) -> Result<Arc<View>, ViewError> {
        let root = self.open()?;
        self.check_service(&root)?;
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        self.renew(&root, &mut memory)?;
        let above = self.above_the_service();
        if let Some(view) =
            memory.view.as_ref().filter(|_| !memory.tree.has_changed() && memory.above == above)
        {
            return Ok(Arc::clone(view));
        }
        let before = memory.view.take();
        memory.above = above;
        let view = self.assemble(&memory);
        memory.tree.was_shown();
        let view = before.filter(|before| **before == view).unwrap_or_else(|| Arc::new(view));
        memory.view = Some(Arc::clone(&view));
        Ok(view)
    }

    pub(crate) fn service(&self) -> PathBuf {
        join(&self.workspace, self.scope.bearings().service())
    }

    fn open(&self) -> Result<OwnedFd, ViewError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rustix::fs::open(&self.workspace, flags, Mode::empty()).map_err(ViewError::failed)
    }

    fn renew(&self, root: &OwnedFd, memory: &mut Memory) -> Result<(), ViewError> {
        let heard = memory.tree.listen();
        match memory.watching {
            Watching::NotYet { n_walks } if n_walks < self.limits.after_walks => {
                memory.watching = Watching::NotYet { n_walks: n_walks + 1 };
            }
            Watching::NotYet { .. } => {
                memory.watching = Watching::Yes;
                memory.start_over(Tree::watched(self.limits));
            }
            Watching::Yes if heard.is_err() => memory.start_over(Tree::watched(self.limits)),
            Watching::Yes | Watching::GivenUp => {}
        }
        let renewed = self.renew_zones(root, memory);
        if memory.tree.is_exhausted() {
            memory.watching = Watching::GivenUp;
            memory.start_over(Tree::new(None));
            return self.renew_zones(root, memory);
        }
        renewed
    }

    fn renew_zones(&self, root: &OwnedFd, memory: &mut Memory) -> Result<(), ViewError> {
        let ground = Ground { root, scope: &self.scope, names: &self.names };
        let Memory { tree, zones, .. } = memory;
        for zone in zones.iter_mut() {
            zone.folder = tree.zone(ground, &zone.parts, zone.folder);
        }
        // Only the service must be there; a project without the built-in shared folders is common.
        let has_service = zones.first().is_some_and(|zone| zone.folder.is_some());
        if has_service { Ok(()) } else { Err(ViewError::NoService) }
    }

    /// A link on the way would make another place writable than the one that was walked.
    fn check_service(&self, root: &OwnedFd) -> Result<(), ViewError> {
        let path = join(Path::new("."), self.scope.bearings().service());
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
        match rustix::fs::openat2(root, &path, flags, Mode::empty(), resolve) {
            Ok(_) => Ok(()),
            Err(_) => Err(ViewError::NoService),
        }
    }

    fn assemble(&self, memory: &Memory) -> View {
        let mut view = View::new(self.service());
        for zone in &memory.zones {
            if let Some(folder) = zone.folder {
                view.zones.push(join(&self.workspace, &zone.parts));
                memory.tree.collect(folder, &self.workspace, &mut view);
            }
        }
        for seen in &memory.above {
            // A zone that was walked has reported its own.
            if !view.zones.iter().any(|zone| seen.path.starts_with(zone)) {
                view.add_git(seen.path.clone(), seen.kind, seen.identity);
            }
        }
        view.pin_parents();
        view
    }

    /// git looks for its repository upwards, so those above the service belong to what a cage shows. Asked for each
    /// time: they are few, and nobody watches the folders that they are in.
    fn above_the_service(&self) -> Vec<Seen> {
        let service = self.scope.bearings().service();
        let above = (0..service.len()).map(|n_parts| service.iter().take(n_parts));
        let paths =
            above.map(|parts| parts.fold(self.workspace.clone(), |path, part| path.join(part)).join(".git"));
        let seen = paths.map(|path| {
            let (identity, kind) = Identity::of(&path).ok()?;
            Some(Seen { path, kind, identity })
        });
        seen.flatten().collect()
    }
}

/// The folders that a cage shows, the service or what holds it first.
fn zone_parts(scope: &Scope) -> Vec<Vec<String>> {
    let bearings = scope.bearings();
    let mut zones = match scope.isolation() {
        Isolation::Shared => vec![Vec::new()],
        Isolation::Strict => vec![bearings.service().to_vec()],
    };
    for shared in bearings.shared() {
        if !zones.iter().any(|zone| shared.starts_with(zone)) {
            zones.retain(|zone| !zone.starts_with(shared) || zone == bearings.service());
            zones.push(shared.clone());
        }
    }
    zones
}

fn join(base: &Path, parts: &[String]) -> PathBuf {
    parts.iter().fold(base.to_owned(), |path, part| path.join(part))
}

#[cfg(test)]
mod tests;

//! What there is in the workspace that a cage must treat apart: names to mask, names to protect, repositories, sockets.
//! Walked before every run, so the walk remembers each folder and reads only those that changed. It changes nothing
//! and knows nothing of mounts.
//!
//! LIMIT: `.git` and `node_modules` are not entered. A folder on a file system whose clock runs behind ours may be
//! remembered for one change too long.

mod folder;
mod names;
mod view;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use vambrace_policy::{Isolation, Scope};

use folder::{Folder, Reader};
use names::Names;
pub(crate) use view::{Identity, Kind, Seen, View, ViewError, new_protected};

/// Keeps what it saw from one walk to the next.
#[derive(Debug)]
pub(crate) struct Walker {
    workspace: PathBuf,
    scope: Arc<Scope>,
    names: Names,
    zones: Mutex<Vec<Folder>>,
}

impl Walker {
    /// `workspace` is the place as the kernel resolves it.
    pub(crate) fn new(workspace: PathBuf, scope: Arc<Scope>) -> Walker {
        let names = Names::of(scope.masked_texts().chain(scope.protected_texts()));
        Walker { workspace, scope, names, zones: Mutex::new(Vec::new()) }
    }

    pub(crate) fn walk(&self) -> Result<View, ViewError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let root = rustix::fs::open(&self.workspace, flags, Mode::empty()).map_err(ViewError::failed)?;
        self.check_service(&root)?;
        let mut zones = self.zones.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reader = Reader::new(&root, &self.scope, &self.names);
        let mut next = Vec::new();
        for (place, parts) in self.zone_parts().into_iter().enumerate() {
            let known =
                zones.iter().position(|folder| folder.parts() == parts).map(|at| zones.swap_remove(at));
            match reader.refresh(&parts, known) {
                Some(folder) => next.push(folder),
                // Only the service must be there; a project without the built-in shared folders is common.
                None if place == 0 => return Err(ViewError::NoService),
                None => {}
            }
        }
        let counts = reader.counts();
        *zones = next;
        self.assemble(&root, &zones, counts)
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

    /// The folders that a cage shows, the service or what holds it first.
    fn zone_parts(&self) -> Vec<Vec<String>> {
        let bearings = self.scope.bearings();
        let mut zones = match self.scope.isolation() {
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

    fn assemble(&self, root: &OwnedFd, zones: &[Folder], counts: folder::Counts) -> Result<View, ViewError> {
        let service = join(&self.workspace, self.scope.bearings().service());
        let mut view = View::new(service, counts);
        for zone in zones {
            view.zones.push(join(&self.workspace, zone.parts()));
            zone.collect(root, &self.workspace, &mut view);
        }
        for above in self.above_the_service() {
            let path = join(&self.workspace, &above).join(".git");
            // A zone that was walked has reported its own.
            if !view.zones.iter().any(|zone| path.starts_with(zone)) {
                view.add_repository_above(path);
            }
        }
        view.pin_parents();
        view.check_size()?;
        Ok(view)
    }

    /// git looks for its repository upwards, so those above the service belong to what a cage shows.
    fn above_the_service(&self) -> Vec<Vec<String>> {
        let service = self.scope.bearings().service();
        (0..service.len()).map(|n_parts| service.iter().take(n_parts).cloned().collect()).collect()
    }
}

fn join(base: &Path, parts: &[String]) -> PathBuf {
    parts.iter().fold(base.to_owned(), |path, part| path.join(part))
}

#[cfg(test)]
mod tests;

//! Repositories as a cage shows them: git can read them, and nothing in them makes git start a program. Hooks are
//! empty, configuration is our own copy with the harmless keys, and a `.git` file leads only where we looked.
//!
//! LIMIT: a working tree whose repository lies outside the workspace has no repository in a cage. Without its filter a
//! file of git-lfs is seen as it lies in the working tree.

mod config;
pub(crate) mod hooks;
mod leads;
mod system;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use vambrace_policy::Repository;

use crate::spec::Mount;
use crate::workspace::{Kind, Seen, View};

pub(crate) use system::{Author, direct_config, inside_config};

/// Further ones are masked. A real workspace has a handful; a planted thousand must not cost every start.
const MOST_REPOSITORIES: usize = 64;
const MOST_MODULES: usize = 128;
const LONGEST_CONFIG: u64 = 1 << 20;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) mounts: Vec<Mount>,
    /// Working trees whose repository was made harmless.
    pub(crate) trees: Vec<PathBuf>,
    /// Folders of repositories that git itself may change.
    pub(crate) writable: Vec<PathBuf>,
}

/// The mounts lie on a workspace that is mounted at its own place.
pub(crate) fn show(view: &View, repository: Repository) -> Shown {
    let mut shown = Shown::default();
    let mut harmless: Vec<&Path> = Vec::new();
    for (place, seen) in view.repositories.iter().enumerate() {
        let inside = folder_mounts(&seen.path).filter(|_| place < MOST_REPOSITORIES);
        let Some(inside) = inside else {
            shown.mounts.push(Mount::EmptyFolder { at: seen.path.clone() });
            continue;
        };
        shown.mounts.push(base(view, seen, repository, &mut shown.writable));
        shown.mounts.extend(inside);
        harmless.push(&seen.path);
        if is_git(&seen.path) {
            shown.trees.extend(seen.path.parent().map(Path::to_owned));
        }
    }
    for seen in &view.git_files {
        let leads_to_harmless = leads_to(&seen.path, seen.kind, &harmless);
        let above = !view.zones.iter().any(|zone| seen.path.starts_with(zone));
        match (leads_to_harmless, seen.kind) {
            (true, _) => shown.trees.extend(seen.path.parent().map(Path::to_owned)),
            // A link is not covered; git does not open it, because its working tree is not listed.
            (false, Kind::Link) => {}
            (false, Kind::File | Kind::Folder) if above => {}
            (false, Kind::File | Kind::Folder) => {
                shown.mounts.push(Mount::EmptyFile { at: seen.path.clone() })
            }
        }
        if leads_to_harmless && seen.kind == Kind::File {
            let (from, at) = (seen.path.clone(), seen.path.clone());
            shown.mounts.push(if above { Mount::ReadOnly { from, at } } else { Mount::PinReadOnly { at } });
        }
    }
    hold_targets(view, &harmless, &mut shown);
    shown
}

/// THREAT: P07, `core.hooksPath = tools/hooks`: what a caged program writes there, the person's next commit runs.
fn hold_targets(view: &View, harmless: &[&Path], shown: &mut Shown) {
    let mut targets = BTreeSet::new();
    let git_files = view.git_files.iter().filter_map(|seen| seen.path.parent()).map(Path::to_owned);
    let git_trees: Vec<PathBuf> = git_files.collect();
    for repository in harmless {
        let configs: Vec<PathBuf> = shown
            .mounts
            .iter()
            .filter_map(|mount| match mount {
                Mount::Text { at, .. } if at.starts_with(repository) => Some(at.clone()),
                _ => None,
            })
            .collect();
        let own = if is_git(repository) { repository.parent() } else { Some(*repository) };
        let trees: Vec<PathBuf> = own.map(Path::to_owned).into_iter().chain(git_trees.clone()).collect();
        targets.extend(leads::targets(&configs, &trees, &view.service));
    }
    let covers = |mount: &Mount, path: &Path| match mount {
        Mount::EmptyFolder { at } | Mount::EmptyFile { at } | Mount::PinReadOnly { at } => {
            path.starts_with(at)
        }
        Mount::Text { at, .. } => path == at,
        _ => false,
    };
    targets.retain(|path| {
        !view.protected.iter().any(|seen| path.starts_with(&seen.path))
            && !shown.mounts.iter().any(|mount| covers(mount, path))
    });
    // Sorted, so a folder comes before what is in it, which it holds already.
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in targets {
        if !outer.last().is_some_and(|last| path.starts_with(last)) {
            outer.push(path);
        }
    }
    // A mount point cannot be renamed, so the folders on the way become some too.
    let mut pins = BTreeSet::new();
    for parent in outer.iter().flat_map(|path| path.ancestors().skip(1)) {
        let is_inside = parent.starts_with(&view.service) && parent != view.service;
        let is_mounted = harmless.contains(&parent) || view.pinned.iter().any(|pinned| pinned == parent);
        if is_inside && !is_mounted {
            pins.insert(parent.to_owned());
        }
    }
    // Inside a repository they lie on it; elsewhere a repository may lie on them.
    let in_repository = |path: &Path| harmless.iter().any(|repository| path.starts_with(repository));
    let pins = pins.into_iter().map(|at| Mount::Pin { at });
    let held = outer.into_iter().map(|at| Mount::PinReadOnly { at });
    let (later, first): (Vec<Mount>, Vec<Mount>) = pins.chain(held).partition(|mount| match mount {
        Mount::Pin { at } | Mount::PinReadOnly { at } => in_repository(at),
        _ => false,
    });
    shown.mounts.splice(0..0, first);
    shown.mounts.extend(later);
}

fn is_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// How the folder itself is mounted, before what lies on it.
fn base(view: &View, seen: &Seen, repository: Repository, writable: &mut Vec<PathBuf>) -> Mount {
    let at = seen.path.clone();
    let in_service = seen.path.starts_with(&view.service);
    let in_zone = view.zones.iter().any(|zone| seen.path.starts_with(zone));
    // A folder that is only laid out like a repository stays writable with its service.
    if in_service && !is_git(&at) {
        return Mount::Pin { at };
    }
    // git works with the repository of the service: in it, or above it.
    let serves = in_service || at.parent().is_some_and(|tree| view.service.starts_with(tree));
    match repository {
        Repository::Writable if serves => {
            writable.push(at.clone());
            if in_service { Mount::Pin { at } } else { Mount::Writable { from: at.clone(), at } }
        }
        Repository::Writable | Repository::ReadOnly if in_zone => Mount::PinReadOnly { at },
        Repository::Writable | Repository::ReadOnly => Mount::ReadOnly { from: at.clone(), at },
    }
}

/// What lies on one repository's folder. `None`: its shape is unusual, so it is not shown at all.
fn folder_mounts(folder: &Path) -> Option<Vec<Mount>> {
    let mut mounts = own_mounts(folder)?;
    let mut waiting = vec![(folder.join("modules"), 0)];
    let mut n_modules = 0;
    while let Some((group, depth)) = waiting.pop() {
        for entry in folders_in(&group)? {
            n_modules += 1;
            if n_modules > MOST_MODULES || depth > 8 {
                return None;
            }
            if std::fs::symlink_metadata(entry.join("HEAD")).is_ok() {
                mounts.extend(own_mounts(&entry)?);
                waiting.push((entry.join("modules"), depth + 1));
            } else {
                // The name of a module may have several parts.
                waiting.push((entry, depth + 1));
            }
        }
    }
    Some(mounts)
}

fn own_mounts(folder: &Path) -> Option<Vec<Mount>> {
    let mut mounts = Vec::new();
    for name in ["config", "config.worktree"] {
        mounts.extend(config_mount(&folder.join(name))?);
    }
    match kind(&folder.join("hooks")) {
        Some(Kind::Folder) => mounts.push(Mount::EmptyFolder { at: folder.join("hooks") }),
        // Not used: `core.hooksPath` points elsewhere, and no configuration of the repository says otherwise.
        Some(Kind::Link | Kind::File) | None => {}
    }
    // THREAT: P07, `commondir` makes git read its configuration somewhere else. An empty one makes git stop.
    match kind(&folder.join("commondir")) {
        None => {}
        Some(Kind::File) => mounts.push(Mount::EmptyFile { at: folder.join("commondir") }),
        Some(Kind::Folder | Kind::Link) => return None,
    }
    for linked in folders_in(&folder.join("worktrees"))? {
        mounts.extend(config_mount(&linked.join("config.worktree"))?);
        let common = linked.join("commondir");
        match kind(&common) {
            None => {}
            Some(Kind::File) if read_small(&common).is_some_and(|text| text.trim_end() == "../..") => {}
            Some(Kind::File) => mounts.push(Mount::EmptyFile { at: common }),
            Some(Kind::Folder | Kind::Link) => return None,
        }
    }
    Some(mounts)
}

fn config_mount(path: &Path) -> Option<Option<Mount>> {
    match kind(path) {
        None => Some(None),
        Some(Kind::File) => {
            let text = config::harmless(&read_small(path).unwrap_or_default());
            Some(Some(Mount::Text { at: path.to_owned(), text }))
        }
        // A mount would land where the link leads.
        Some(Kind::Folder | Kind::Link) => None,
    }
}

/// Whether a `.git` file or link ends in a repository that was made harmless.
fn leads_to(path: &Path, shape: Kind, harmless: &[&Path]) -> bool {
    if shape == Kind::Link {
        return std::fs::canonicalize(path).is_ok_and(|target| harmless.contains(&target.as_path()));
    }
    let Some(text) = read_small(path) else { return false };
    let Some(target) = text.strip_prefix("gitdir: ").map(|rest| rest.trim_end_matches(['\n', '\r'])) else {
        return false;
    };
    let Some(parent) = path.parent() else { return false };
    let Ok(target) = std::fs::canonicalize(parent.join(target)) else { return false };
    // Everything in these two was looked at; a linked tree with a strange `commondir` has been emptied.
    harmless.iter().any(|repository| {
        target.starts_with(repository.join("modules"))
            || target.parent() == Some(repository.join("worktrees").as_path())
    })
}

fn kind(path: &Path) -> Option<Kind> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    let kind = metadata.file_type();
    Some(if kind.is_symlink() {
        Kind::Link
    } else if kind.is_dir() {
        Kind::Folder
    } else {
        Kind::File
    })
}

/// The folders in a folder; none if there is no such folder, `None` if it or one in it is a link.
fn folders_in(folder: &Path) -> Option<Vec<PathBuf>> {
    match kind(folder) {
        None | Some(Kind::File) => return Some(Vec::new()),
        Some(Kind::Link) => return None,
        Some(Kind::Folder) => {}
    }
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).ok()?.take(MOST_MODULES + 1) {
        let path = entry.ok()?.path();
        match kind(&path)? {
            Kind::Folder => folders.push(path),
            Kind::Link => return None,
            Kind::File => {}
        }
    }
    folders.sort();
    Some(folders)
}

/// Nothing if it is too large or no regular file: an empty configuration is harmless.
fn read_small(path: &Path) -> Option<String> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_CONFIG + 1).read_to_end(&mut bytes).ok()?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= LONGEST_CONFIG);
    fits.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests;

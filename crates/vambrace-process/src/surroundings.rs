//! Puts a cage together: the system read-only, what the scope grants of the workspace, and on top what masks and
//! protects. It decides what is mounted where and in which order; it mounts nothing.
//!
//! INVARIANT: nothing that the scope withholds is mounted first and taken away later, except what lies inside a folder
//! that must be shown; that is masked by mounts which the program cannot remove.

mod stage;
mod system;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use vambrace_policy::{Repository, Scope, Zone};
use vambrace_types::ScopedPath;

use crate::environment::{CAGE_HOME, GIT_CONFIG, GIT_CONFIG_DIRECT};
use crate::fetched::{Access, Shown};
use crate::guarded::Guarded;
use crate::repository::{self, Author};
use crate::settings::AbsentNames;
use crate::spec::{CageLimits, CageSpec, Mount};
use crate::toolchain::Toolchains;
use crate::workspace::{Kind, View};

pub(crate) use system::User;

const MIRROR: &str = ".vambrace";

#[derive(Debug)]
pub(crate) struct SurroundingsSettings {
    /// As the kernel resolves it.
    pub(crate) workspace: PathBuf,
    /// Other spellings of it, through links, that arguments may use.
    pub(crate) spellings: Vec<PathBuf>,
    pub(crate) scope: Arc<Scope>,
    pub(crate) user: User,
    pub(crate) toolchains: Toolchains,
    /// The operator's further paths.
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    pub(crate) author: Option<Author>,
    /// Of each private folder in memory.
    pub(crate) temporary_bytes: u64,
    pub(crate) absent_names: AbsentNames,
    /// Locked by cages when a name could be protected.
    pub(crate) turns: PathBuf,
}

/// What stays the same from one cage to the next.
#[derive(Debug)]
pub(crate) struct Surroundings {
    settings: SurroundingsSettings,
    system: Vec<Mount>,
    etc: Vec<Mount>,
    /// None where programs make no names in the service, or may.
    guarded: Option<Guarded>,
}

/// What one job adds.
#[derive(Debug, Clone)]
pub(crate) struct SpecParts<'p> {
    /// What `stage` left to mount.
    pub(crate) etc: &'p [Mount],
    pub(crate) repository: Repository,
    /// Folders that a person opened for this run.
    pub(crate) further_writable: &'p [PathBuf],
    /// What installs brought in for this service.
    pub(crate) fetched: &'p [Shown],
    pub(crate) limits: CageLimits,
    pub(crate) groups: &'p [PathBuf],
    /// Certificates that programs have to trust on their way out. None: there is no way out.
    pub(crate) way_out: Option<&'p [Mount]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SurroundingsError {
    /// The workspace, or a path that the operator opens, is or holds a part of the system.
    Collides {
        path: PathBuf,
        with: PathBuf,
    },
    NotAbsolute {
        path: PathBuf,
    },
    Missing {
        path: PathBuf,
    },
}

impl fmt::Display for SurroundingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SurroundingsError::Collides { path, with } => write!(
                f,
                "`{}` cannot be opened for programs, because it lies in, or holds, `{}`, which every cage has for itself.",
                path.display(),
                with.display()
            ),
            SurroundingsError::NotAbsolute { path } => {
                write!(f, "`{}` is not an absolute path without `..`.", path.display())
            }
            SurroundingsError::Missing { path } => {
                write!(f, "`{}` does not exist, so it cannot be opened for programs.", path.display())
            }
        }
    }
}

impl Surroundings {
    pub(crate) fn new(mut settings: SurroundingsSettings) -> Result<Surroundings, SurroundingsError> {
        check_place(&settings.workspace)?;
        for path in &settings.write {
            check_place(path)?;
        }
        for path in &settings.read {
            check_readable(path)?;
        }
        // LIMIT: a path in /etc that appears later is shown after the next start, because its place is made only once.
        settings.read.retain(|path| !path.starts_with(stage::FOLDER) || path.exists());
        let mut etc = system::settings(&settings.user);
        let author = settings.author.as_ref();
        etc.push(text(GIT_CONFIG, repository::inside_config(author)));
        let mut surroundings = Surroundings { settings, system: system::folders(), etc, guarded: None };
        surroundings.guarded = surroundings.guarded();
        Ok(surroundings)
    }

    /// Writes what is the same in every cage into this empty folder, which has to stay; what is then left to mount.
    pub(crate) fn stage(&self, folder: &Path) -> std::io::Result<Vec<Mount>> {
        let places = self.settings.read.iter().chain(&self.settings.toolchains.read_only);
        stage::stage(&self.etc, places, folder)
    }

    pub(crate) fn spec(&self, view: &View, parts: &SpecParts<'_>) -> Result<CageSpec, SurroundingsError> {
        for path in parts.further_writable {
            check_place(path)?;
        }
        let shown = repository::show(view, parts.repository);
        let mut mounts = self.system.clone();
        mounts.extend_from_slice(parts.etc);
        mounts.push(Mount::Processes);
        mounts.push(Mount::Devices);
        for at in ["/tmp", CAGE_HOME] {
            mounts.push(Mount::Memory { at: PathBuf::from(at), bytes: self.settings.temporary_bytes });
        }
        let author = self.settings.author.as_ref();
        mounts.push(text(GIT_CONFIG_DIRECT, repository::direct_config(author, &shown.trees)));
        mounts.extend_from_slice(parts.way_out.unwrap_or_default());
        mounts.extend(self.shown_folders(view, parts));
        mounts.extend(self.links());
        mounts.extend(self.laid_on_top(view));
        mounts.extend(shown.mounts);
        mounts.extend(masks(view));
        let mut writable = vec![PathBuf::from("/tmp"), PathBuf::from(CAGE_HOME)];
        writable.extend(Some(view.service.clone()).filter(|_| self.service_is_writable()));
        writable.extend(self.settings.write.iter().chain(parts.further_writable).cloned());
        let fetched = parts.fetched.iter().filter(|shown| shown.access == Access::Write);
        writable.extend(fetched.map(|shown| shown.path.clone()));
        writable.extend(shown.writable.into_iter().filter(|path| !path.starts_with(&view.service)));
        let (groups, guarded) = (parts.groups.to_vec(), self.guarded.clone());
        let way_out = parts.way_out.is_some();
        Ok(CageSpec { mounts, limits: parts.limits, writable, groups, guarded, way_out })
    }

    fn guarded(&self) -> Option<Guarded> {
        let SurroundingsSettings { workspace, scope, absent_names, .. } = &self.settings;
        let is_wanted = *absent_names == AbsentNames::Refuse && self.service_is_writable();
        is_wanted.then(|| Guarded {
            workspace: workspace.clone(),
            service: scope.bearings().service().iter().fold(workspace.clone(), |path, part| path.join(part)),
            patterns: scope.protection().to_text().into(),
            blocked: scope.masking().to_text().into(),
            turns: Some(self.settings.turns.clone()),
        })
    }

    /// Folders of the host, outer ones first, so that none hides another: a workspace may hold a toolchain, or lie in
    /// one, or beneath the private /tmp.
    fn shown_folders(&self, view: &View, parts: &SpecParts<'_>) -> Vec<Mount> {
        let settings = &self.settings;
        let read_only = |path: &PathBuf| Mount::ReadOnly { from: path.clone(), at: path.clone() };
        let writable = |path: &PathBuf| Mount::Writable { from: path.clone(), at: path.clone() };
        // The cell follows no link on the way to what it shows, so links that the operator or the person may use end here.
        let real = |path: &PathBuf| std::fs::canonicalize(path).ok();
        let mut folders: Vec<(usize, Mount)> = Vec::new();
        let mut add = |path: &PathBuf, mount: Mount| folders.push((path.components().count(), mount));
        for path in settings.read.iter().chain(&settings.toolchains.read_only) {
            if let Some(from) = real(path) {
                add(path, Mount::ReadOnly { from, at: path.clone() });
            }
        }
        for path in &settings.write {
            if let Some(from) = real(path) {
                add(path, Mount::Writable { from, at: path.clone() });
            }
        }
        for (at, is_folder) in settings.toolchains.masked() {
            let depth = at.clone();
            add(&depth, if is_folder { Mount::EmptyFolder { at } } else { Mount::EmptyFile { at } });
        }
        for zone in view.zones.iter().filter(|zone| **zone != view.service) {
            add(zone, read_only(zone));
        }
        let service = &view.service;
        add(service, if self.service_is_writable() { writable(service) } else { read_only(service) });
        for path in parts.further_writable {
            if let Some(from) = real(path) {
                add(path, Mount::Writable { from, at: path.clone() });
            }
        }
        for Shown { path, access } in parts.fetched {
            let mount = match access {
                Access::Read => read_only(path),
                Access::Write => writable(path),
            };
            add(path, mount);
        }
        // Stable: of two mounts at one place the later one counts.
        folders.sort_by_key(|(depth, _)| *depth);
        folders.into_iter().map(|(_, mount)| mount).collect()
    }

    /// LIMIT: a spelling that leads through a folder which the cage shows is what the host has there.
    fn links(&self) -> Vec<Mount> {
        let settings = &self.settings;
        let mut links = Vec::new();
        for spelling in settings.spellings.iter().filter(|spelling| **spelling != settings.workspace) {
            let taken = [Path::new("/proc"), Path::new("/dev"), Path::new("/usr"), Path::new("/etc")];
            let hidden = taken.iter().any(|folder| spelling.starts_with(folder));
            let inside =
                spelling.starts_with(&settings.workspace) || settings.workspace.starts_with(spelling);
            if is_plain(spelling) && !hidden && !inside {
                links.push(Mount::Link { at: spelling.clone(), to: settings.workspace.clone() });
            }
        }
        links
    }

    /// Pins, protected names and shared paths inside the service, in this order: a pin would cover what lies in it.
    fn laid_on_top(&self, view: &View) -> Vec<Mount> {
        let mut pinned: BTreeSet<PathBuf> = view.pinned.iter().cloned().collect();
        for path in self.shared_inside(view) {
            let parents = path.ancestors().skip(1).take_while(|parent| **parent != view.service);
            pinned.extend(parents.map(Path::to_owned));
        }
        let mut mounts: Vec<Mount> = pinned.into_iter().map(|at| Mount::Pin { at }).collect();
        let mut read_only: BTreeSet<PathBuf> = BTreeSet::new();
        for seen in view.protected.iter().filter(|seen| seen.path.starts_with(&view.service)) {
            match seen.kind {
                Kind::Folder | Kind::File => {
                    read_only.insert(seen.path.clone());
                }
                Kind::Link => {}
            }
        }
        let links = view.protected.iter().chain(&view.git_files);
        let links = links.filter(|seen| seen.kind == Kind::Link && seen.path.starts_with(&view.service));
        let links: Vec<Mount> = links.map(|seen| Mount::PinLink { at: seen.path.clone() }).collect();
        read_only.extend(self.shared_inside(view));
        // Where everything is protected, nothing in it is named.
        if self.service_is_protected() {
            read_only.extend(Some(view.service.join(MIRROR)).filter(|mirror| mirror.is_dir()));
        }
        // Sorted, so a folder comes before what is in it.
        mounts.extend(read_only.into_iter().map(|at| {
            // The mirror of the record holds what other calls saw; to a search it is noise at best.
            let is_mirror = at.file_name().is_some_and(|name| name == MIRROR) && at.is_dir();
            if is_mirror { Mount::EmptyFolder { at } } else { Mount::PinReadOnly { at } }
        }));
        mounts.extend(links);
        mounts
    }

    /// The operator may have named a shared path that holds the whole service, or forbidden changes to all of it.
    pub(crate) fn service_is_writable(&self) -> bool {
        let scope = &self.settings.scope;
        let path = ScopedPath::from_components(scope.bearings().service().to_vec());
        !self.service_is_protected()
            && path.is_some_and(|path| match scope.zone(&path) {
                Zone::Own => true,
                Zone::Shared | Zone::Rest => false,
            })
    }

    fn service_is_protected(&self) -> bool {
        let scope = &self.settings.scope;
        scope.is_protected(scope.bearings().service())
    }

    fn shared_inside(&self, view: &View) -> Vec<PathBuf> {
        let scope = &self.settings.scope;
        let shared = scope.bearings().shared().iter().filter(|parts| {
            let path = ScopedPath::from_components((*parts).clone());
            path.is_some_and(|path| scope.zone(&path) == Zone::Shared)
        });
        let place = |parts: &Vec<String>| {
            parts.iter().fold(self.settings.workspace.clone(), |path, part| path.join(part))
        };
        let inside =
            shared.map(place).filter(|path| path.starts_with(&view.service) && *path != view.service);
        inside.filter(|path| is_real(path)).collect()
    }
}

fn text(at: &str, text: String) -> Mount {
    Mount::Text { at: PathBuf::from(at), text }
}

/// Last, so that nothing covers them.
fn masks(view: &View) -> Vec<Mount> {
    let masked = view.masked.iter().map(|masked| {
        let at = masked.path.clone();
        if masked.is_folder { Mount::EmptyFolder { at } } else { Mount::EmptyFile { at } }
    });
    // THREAT: P07, a socket in the workspace may belong to a daemon of the host; whoever opens a pipe waits for its other
    // end.
    let sockets = view.sockets.iter().map(|at| Mount::EmptyFile { at: at.clone() });
    masked.chain(sockets).collect()
}

/// Every step of the way is itself, not a link.
fn is_real(path: &Path) -> bool {
    std::fs::canonicalize(path).is_ok_and(|real| real == path)
}

fn is_plain(path: &Path) -> bool {
    let plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    path.is_absolute() && path.components().all(plain)
}

/// What every cage has for itself; a workspace may lie beneath the second kind, not be or hold one.
const CLOSED: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/boot", "/run"];
const OPEN: &[&str] = &["/tmp", CAGE_HOME];

pub(crate) fn check_place(path: &Path) -> Result<(), SurroundingsError> {
    if !is_plain(path) {
        return Err(SurroundingsError::NotAbsolute { path: path.to_owned() });
    }
    // THREAT: P07, by a link to `/dev/shm` a program would write what other sandboxes are built of.
    check_spelling(path)?;
    let real = path.canonicalize().map_err(|_| SurroundingsError::Missing { path: path.to_owned() })?;
    check_spelling(&real)
}

fn check_spelling(path: &Path) -> Result<(), SurroundingsError> {
    let with =
        |system: &str| SurroundingsError::Collides { path: path.to_owned(), with: PathBuf::from(system) };
    for system in CLOSED {
        // `/usr/src` and `/usr/local/src` are where people keep sources, and `/run/user/…` holds other people's sockets.
        let is_source = ["/usr/src", "/usr/local/src"].iter().any(|source| is_below(path, Path::new(source)));
        if (path.starts_with(system) && !is_source) || Path::new(system).starts_with(path) {
            return Err(with(system));
        }
    }
    match OPEN.iter().find(|open| Path::new(open).starts_with(path)) {
        Some(open) => Err(with(open)),
        None => Ok(()),
    }
}

/// Reading may reach into system folders, not over them.
fn check_readable(path: &Path) -> Result<(), SurroundingsError> {
    if !is_plain(path) {
        return Err(SurroundingsError::NotAbsolute { path: path.to_owned() });
    }
    match CLOSED.iter().chain(OPEN).find(|system| Path::new(system).starts_with(path)) {
        Some(system) => {
            Err(SurroundingsError::Collides { path: path.to_owned(), with: PathBuf::from(system) })
        }
        None => Ok(()),
    }
}

fn is_below(path: &Path, folder: &Path) -> bool {
    path != folder && path.starts_with(folder)
}

#[cfg(test)]
mod tests;

//! What a walk found, in paths of the host.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};
use rustix::io::Errno;

/// Each find becomes at least one mount, and each mount costs every start of a program.
const MOST_FINDS: usize = 4_000;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct View {
    /// The active service: the one place that programs may change.
    pub(crate) service: PathBuf,
    /// Everything shown, the service or what contains it first.
    pub(crate) zones: Vec<PathBuf>,
    pub(crate) masked: Vec<Masked>,
    /// Protected names that exist.
    pub(crate) protected: Vec<Seen>,
    /// Folders of the service on the way to something protected; without a pin they could be renamed away.
    pub(crate) pinned: Vec<PathBuf>,
    /// Folders of repositories: `.git`, and folders that are laid out like one.
    pub(crate) repositories: Vec<Seen>,
    /// `.git` as a file or link that says where the repository is.
    pub(crate) git_files: Vec<Seen>,
    /// And pipes.
    pub(crate) sockets: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Masked {
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    /// Its own name is pinned; what it leads to is judged by the name that it has there.
    Link,
}

impl Kind {
    pub(super) fn of(kind: FileType) -> Kind {
        match kind {
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::File,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) identity: Identity,
}

/// Numbers of inodes are used again; the moment of birth is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) born: (i64, u32),
}

impl Identity {
    /// Of the thing itself, not of what a link leads to.
    pub(crate) fn of(path: &Path) -> Result<(Identity, Kind), Errno> {
        Identity::at(CWD, path)
    }

    /// An empty path is the folder itself.
    pub(crate) fn at(folder: impl rustix::fd::AsFd, path: &Path) -> Result<(Identity, Kind), Errno> {
        let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::BTIME;
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
        let stat = rustix::fs::statx(folder, path, flags, wanted)?;
        let identity = Identity {
            device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
            born: (stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec),
        };
        Ok((identity, Kind::of(FileType::from_raw_mode(stat.stx_mode.into()))))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ViewError {
    /// The service is no folder, or a link leads to it.
    NoService,
    TooMany {
        n_finds: usize,
    },
    Failed {
        why: String,
    },
}

impl ViewError {
    pub(super) fn failed(error: Errno) -> ViewError {
        ViewError::Failed { why: error.to_string() }
    }
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewError::NoService => {
                f.write_str("The folder of the active service does not exist or is a link.")
            }
            ViewError::TooMany { n_finds } => write!(
                f,
                "The workspace holds {n_finds} blocked or protected names, more than the {MOST_FINDS} that a cage can hide."
            ),
            ViewError::Failed { why } => write!(f, "The workspace cannot be examined: {why}."),
        }
    }
}

impl View {
    pub(super) fn new(service: PathBuf) -> View {
        View { service, ..View::default() }
    }

    /// A link with a blocked name holds nothing itself, and what it leads to is judged by its own name.
    pub(super) fn add_masked(&mut self, path: PathBuf, kind: Kind) {
        match kind {
            Kind::Folder => self.masked.push(Masked { path, is_folder: true }),
            Kind::File => self.masked.push(Masked { path, is_folder: false }),
            Kind::Link => {}
        }
    }

    pub(super) fn add_protected(&mut self, path: PathBuf, kind: Kind, identity: Identity) {
        self.protected.push(Seen { path, kind, identity });
    }

    pub(super) fn add_git(&mut self, path: PathBuf, kind: Kind, identity: Identity) {
        let list = match kind {
            Kind::Folder => &mut self.repositories,
            Kind::File | Kind::Link => &mut self.git_files,
        };
        list.push(Seen { path, kind, identity });
    }

    /// THREAT: P07, `mv sub other; mkdir -p sub/.vscode`, and `mv .docker d` to read `d/config.json` in the next call. A mount
    /// point cannot be renamed, so every folder between the service and something protected or masked becomes one.
    pub(super) fn pin_parents(&mut self) {
        let protected: BTreeSet<&Path> = self.protected.iter().map(|seen| seen.path.as_path()).collect();
        let mut pinned = BTreeSet::new();
        let seen = self.protected.iter().chain(&self.repositories).chain(&self.git_files);
        let masked = self.masked.iter().map(|masked| &masked.path).chain(&self.sockets);
        for path in seen.map(|seen| &seen.path).chain(masked) {
            for parent in path.ancestors().skip(1) {
                if parent == self.service || !parent.starts_with(&self.service) {
                    break;
                }
                let held = parent.ancestors().any(|above| protected.contains(above));
                if !held {
                    pinned.insert(parent.to_owned());
                }
            }
        }
        self.pinned = pinned.into_iter().collect();
    }

    /// Asked before a cage is built, and not after a run: of a program that makes more names than
    /// fit, some are told.
    pub(crate) fn check_size(&self) -> Result<(), ViewError> {
        let git = self.repositories.len() + self.git_files.len();
        let n_finds = self.masked.len() + self.protected.len() + self.pinned.len() + self.sockets.len() + git;
        if n_finds > MOST_FINDS { Err(ViewError::TooMany { n_finds }) } else { Ok(()) }
    }
}

/// What a run left behind that decides what happens on this machine: protected names and
/// repositories that were not there before, at any depth. A folder or link in the place of another
/// one counts as new.
///
/// LIMIT: a file is compared by its name only, because editors replace files when a person saves.
///
/// The nearest to the top come first, because those are read most often; what lies in one of them
/// is not named again.
pub(crate) fn new_protected(before: &View, after: &View) -> Vec<PathBuf> {
    let known = Known::of(before);
    let new: BTreeSet<&Path> =
        all_seen(after).filter(|seen| !known.has(seen)).map(|seen| seen.path.as_path()).collect();
    let is_inside = |path: &Path| path.ancestors().skip(1).any(|above| new.contains(above));
    let mut outermost: Vec<PathBuf> =
        new.iter().filter(|path| !is_inside(path)).map(|path| (*path).to_owned()).collect();
    outermost.sort_by_key(|path| path.components().count());
    outermost
}

/// Folders that no walk looks into any more: a job made them under a blocked name, closed them, or
/// put them too deep.
pub(crate) fn new_closed<'v>(before: &View, after: &'v View) -> Vec<&'v Path> {
    let folders = |view: &'_ View| -> BTreeSet<PathBuf> {
        view.masked.iter().filter(|masked| masked.is_folder).map(|masked| masked.path.clone()).collect()
    };
    let known = folders(before);
    let is_new = |masked: &&Masked| masked.is_folder && !known.contains(&masked.path);
    after.masked.iter().filter(is_new).map(|masked| masked.path.as_path()).collect()
}

/// What a view lists, by its name.
struct Known<'v>(HashMap<&'v Path, &'v Seen>);

impl<'v> Known<'v> {
    fn of(view: &'v View) -> Known<'v> {
        Known(all_seen(view).map(|seen| (seen.path.as_path(), seen)).collect())
    }

    fn has(&self, seen: &Seen) -> bool {
        self.0.get(seen.path.as_path()).is_some_and(|old| match (old.kind, seen.kind) {
            (Kind::File, Kind::File) => true,
            _ => old.kind == seen.kind && old.identity == seen.identity,
        })
    }
}

fn all_seen(view: &View) -> impl Iterator<Item = &Seen> {
    view.protected.iter().chain(&view.repositories).chain(&view.git_files)
}

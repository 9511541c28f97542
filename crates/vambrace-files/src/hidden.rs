//! Files that the scope hides from agents, read for the redactor alone: it cannot take out what it does not know.
//!
//! Nothing of them goes anywhere else, so no permit is asked for; whoever opened the root had the authority. No link is
//! followed and no mount crossed, and the walk ends early rather than late.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd as _;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use vambrace_types::{ScopedPath, Secret};

use crate::Root;
use crate::open::{beneath, kernel_path};

/// LIMIT: what is deeper, larger or more is not known to the redactor; `HiddenWalk::skipped` and `cut` say so.
const DEEPEST: usize = 4;
const LARGEST: u64 = 64 << 10;
const MOST_FILES: usize = 256;
/// Folders, and as many files that are wanted.
const MOST_ENTRIES: usize = 20_000;
/// THREAT: P02, one folder full of folders must not use up what those beside it need. LIMIT: which
/// of more are entered depends on the file system's order.
const MOST_IN_ONE: usize = 2_000;
/// Everything else is only passed by.
const MOST_PASSED: usize = 2_000_000;

/// Large folders in which nobody keeps secrets of a project.
const PASSED_OVER: [&str; 10] =
    [".git", "node_modules", "target", ".venv", "venv", "__pycache__", ".cache", ".tox", ".next", "vendor"];

/// What a hidden file looked like from outside: when none of these changed, neither did what is in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenStamp {
    path: ScopedPath,
    inode: u64,
    bytes: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl HiddenStamp {
    pub fn path(&self) -> &ScopedPath {
        &self.path
    }

    /// Was the file of that look the same one, whatever is in it now?
    pub(crate) fn is_same_file(&self, look: &str) -> bool {
        look.split(' ').next().and_then(|inode| inode.parse().ok()) == Some(self.inode)
    }
}

/// Everything but the path.
impl std::fmt::Display for HiddenStamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let HiddenStamp { path: _, inode, bytes, modified, changed } = self;
        write!(f, "{inode} {bytes} {}.{} {}.{}", modified.0, modified.1, changed.0, changed.1)
    }
}

/// What a walk came by.
#[derive(Debug, Default)]
pub struct HiddenWalk {
    /// Those that were known before, then the nearest first.
    pub stamps: Vec<HiddenStamp>,
    /// There was more than is looked at.
    pub cut: bool,
    /// Found and not looked at, with the reason.
    pub skipped: Vec<(ScopedPath, String)>,
}

impl Root {
    /// The files that are `wanted`, without a look into them: `first` those that were found before, then those from the
    /// workspace down and from `also` down, the nearest first.
    pub fn hidden_walk(
        &self,
        first: &[ScopedPath],
        also: Option<ScopedPath>,
        wanted: &dyn Fn(&ScopedPath) -> bool,
    ) -> HiddenWalk {
        let mut walked = HiddenWalk::default();
        for path in first.iter().filter(|path| wanted(path)).take(MOST_FILES) {
            let flags = OFlags::PATH | OFlags::NOFOLLOW;
            let handle = beneath(self.as_fd(), &kernel_path(path), flags, RESOLVE);
            let stat = handle.and_then(|handle| rustix::fs::fstat(&handle));
            let stat =
                stat.ok().filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
            walked.stamps.extend(stat.map(|stat| stamp(path.clone(), &stat)));
        }
        self.walk(also, wanted, walked)
    }

    /// What is in one of them; `Err` says why that cannot be known. `None`: it is gone since it was found.
    pub fn hidden_content(&self, path: &ScopedPath) -> Result<Option<Secret<Vec<u8>>>, String> {
        match self.hidden_file(path) {
            Ok(Some(content)) => Ok(Some(Secret::new(content))),
            Ok(None) => Err(format!("it is larger than {LARGEST} bytes")),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(std::io::Error::from(errno).to_string()),
        }
    }

    /// Is there a file or folder of this name? A value that is one is no secret.
    pub fn has_name(&self, spelled: &str) -> bool {
        let spelled = spelled.trim_end_matches('/');
        !spelled.is_empty()
            && !spelled.contains('\0')
            && beneath(self.as_fd(), spelled, OFlags::PATH | OFlags::NOFOLLOW, RESOLVE).is_ok()
    }

    fn walk(
        &self,
        also: Option<ScopedPath>,
        wanted: &dyn Fn(&ScopedPath) -> bool,
        mut walked: HiddenWalk,
    ) -> HiddenWalk {
        let known: BTreeSet<Vec<String>> =
            walked.stamps.iter().map(|stamp| stamp.path.components().to_vec()).collect();
        let (mut n_wanted, mut n_folders, mut n_passed) = (0, 0, 0);
        let root = ScopedPath::from_components(Vec::new());
        let mut waiting: VecDeque<(ScopedPath, usize)> =
            root.into_iter().chain(also).map(|start| (start, 1)).collect();
        let mut entered = BTreeSet::new();
        while let Some((folder, depth)) = waiting.pop_front() {
            if !entered.insert(folder.components().to_vec()) {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let Ok(handle) = beneath(self.as_fd(), &kernel_path(&folder), flags, RESOLVE) else { continue };
            let Ok(items) = Dir::read_from(&handle) else { continue };
            // The order of a folder is the file system's affair; which files are read must not be.
            let mut names: Vec<(String, ScopedPath, FileType)> = Vec::new();
            let mut n_inside = 0;
            for item in items.flatten() {
                let Ok(name) = item.file_name().to_str() else { continue };
                let Some(path) = folder.join(name).filter(|_| name != "." && name != "..") else { continue };
                let kind = match item.file_type() {
                    FileType::Unknown => rustix::fs::statat(handle.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
                        .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                    known => known,
                };
                let counts = match kind {
                    FileType::Directory if depth >= DEEPEST || PASSED_OVER.contains(&name) => false,
                    // Those that wait already are entered all the same.
                    FileType::Directory if n_inside == MOST_IN_ONE || n_folders == MOST_ENTRIES => {
                        walked.cut = true;
                        false
                    }
                    FileType::Directory => {
                        n_inside += 1;
                        n_folders += 1;
                        true
                    }
                    FileType::RegularFile | FileType::Symlink => wanted(&path),
                    _ => false,
                };
                *(if counts && kind != FileType::Directory { &mut n_wanted } else { &mut n_passed }) += 1;
                // THREAT: P02, a folder full of other files must not keep a secret from being known.
                if n_wanted > MOST_ENTRIES || n_passed > MOST_PASSED {
                    walked.cut = true;
                    return walked;
                }
                if counts {
                    names.push((name.to_owned(), path, kind));
                }
            }
            names.sort_unstable_by(|(a, ..), (b, ..)| a.cmp(b));
            for (name, path, kind) in names {
                match kind {
                    FileType::Directory => waiting.push_back((path, depth + 1)),
                    FileType::Symlink => {
                        walked.skipped.push((path, "it is a link, and links are not followed".to_owned()));
                    }
                    _ if known.contains(path.components()) => {}
                    _ if walked.stamps.len() >= MOST_FILES => {
                        walked.cut = true;
                        return walked;
                    }
                    _ => {
                        let stat = rustix::fs::statat(handle.as_fd(), &name, AtFlags::SYMLINK_NOFOLLOW);
                        walked.stamps.extend(stat.ok().map(|stat| stamp(path, &stat)));
                    }
                }
            }
        }
        walked
    }

    /// `None` when it is too large.
    fn hidden_file(&self, path: &ScopedPath) -> Result<Option<Vec<u8>>, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let handle = beneath(self.as_fd(), &kernel_path(path), flags, RESOLVE)?;
        let stat = rustix::fs::fstat(&handle)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Errno::NOENT);
        }
        // No growing: what a reallocation leaves behind is not wiped.
        let mut bytes = Vec::with_capacity(usize::try_from(LARGEST).unwrap_or(0) + 1);
        File::from(handle)
            .take(LARGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))?;
        Ok((bytes.len() as u64 <= LARGEST).then_some(bytes))
    }
}

const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

fn stamp(path: ScopedPath, stat: &Stat) -> HiddenStamp {
    HiddenStamp {
        path,
        inode: stat.st_ino,
        bytes: stat.st_size,
        modified: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        changed: (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
    }
}

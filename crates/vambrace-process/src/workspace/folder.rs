//! One folder of the walk: what was found in it, and whether it still is what was read.
//!
//! INVARIANT: no link is followed. Folders are opened beneath the workspace with links forbidden on the whole way.

use std::ffi::{CString, OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, StatxFlags};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use vambrace_policy::Scope;

use super::names::Names;
use super::view::{Kind, View};

/// Deeper folders are masked whole: no project has them, and each level costs a frame.
const DEEPEST: usize = 96;
/// Two changes within one tick of the kernel's clock leave the same time stamp; ticks are at most 10 ms long.
const TICK_NANOSECONDS: i128 = 20_000_000;

#[derive(Debug)]
pub(super) struct Folder {
    parts: Vec<String>,
    /// From the workspace, for the kernel.
    path: CString,
    name: OsString,
    stamp: Stamp,
    /// Read long enough after its last change that the stamp tells the next one.
    settled: bool,
    finds: Vec<Find>,
    children: Vec<Folder>,
}

#[derive(Debug)]
struct Find {
    name: OsString,
    what: What,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Masked,
    Protected,
    Git,
    Socket,
    /// The folder itself is laid out as a repository without a working tree.
    Bare,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: (u32, u32),
    inode: u64,
    modified: (i64, u32),
    changed: (i64, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) folders: usize,
    /// How many of them had to be read.
    pub(super) read: usize,
}

/// The place of a folder in the walk.
#[derive(Clone, Copy)]
struct Place<'p> {
    parts: &'p [String],
    path: &'p CString,
    name: &'p OsStr,
    /// Everything in a protected folder is protected; only the folder itself is named.
    in_protected: bool,
}

pub(super) struct Reader<'r> {
    root: &'r OwnedFd,
    scope: &'r Scope,
    names: &'r Names,
    counts: Counts,
    buffer: Vec<u8>,
}

impl Folder {
    pub(super) fn parts(&self) -> &[String] {
        &self.parts
    }

    /// Adds what was found here and below, parents before children.
    pub(super) fn collect(&self, root: &OwnedFd, workspace: &Path, view: &mut View) {
        // A name may hold bytes that are not text, so the path comes from the kernel's form.
        let relative = Path::new(OsStr::from_bytes(self.path.as_bytes()));
        let here = if self.parts.is_empty() { workspace.to_owned() } else { workspace.join(relative) };
        for find in &self.finds {
            let path = here.join(&find.name);
            match find.what {
                What::Masked => view.add_masked(path, find.kind),
                What::Socket => view.sockets.push(path),
                What::Protected => view.add_protected(root, workspace, path, find.kind),
                What::Git => view.add_git(root, workspace, path, find.kind),
                What::Bare => view.add_git(root, workspace, here.clone(), Kind::Folder),
            }
        }
        for child in &self.children {
            child.collect(root, workspace, view);
        }
    }
}

impl<'r> Reader<'r> {
    pub(super) fn new(root: &'r OwnedFd, scope: &'r Scope, names: &'r Names) -> Reader<'r> {
        Reader { root, scope, names, counts: Counts::default(), buffer: vec![0; 32 * 1024] }
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// The folder as it is now, or nothing if there is no such folder (a link is none).
    pub(super) fn refresh(&mut self, parts: &[String], known: Option<Folder>) -> Option<Folder> {
        let text = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
        let path = CString::new(text).ok()?;
        let name = parts.last().map(OsString::from).unwrap_or_default();
        let in_protected = self.scope.is_protected(parts);
        self.visit(Place { parts, path: &path, name: &name, in_protected }, known).ok()
    }

    fn visit(&mut self, place: Place<'_>, known: Option<Folder>) -> Result<Folder, Errno> {
        if let Some(mut folder) = known {
            self.renew(&mut folder, place.in_protected)?;
            return Ok(folder);
        }
        self.counts.folders += 1;
        self.read(place, Vec::new())
    }

    fn renew(&mut self, folder: &mut Folder, in_protected: bool) -> Result<(), Errno> {
        self.counts.folders += 1;
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_DONT_SYNC;
        let now = stamp(self.root, &folder.path, flags)?;
        if folder.settled && now == folder.stamp {
            self.keep(folder, in_protected);
            return Ok(());
        }
        let known = std::mem::take(&mut folder.children);
        let place = Place { parts: &folder.parts, path: &folder.path, name: &folder.name, in_protected };
        *folder = self.read(place, known)?;
        Ok(())
    }

    /// Nothing came or went here, but perhaps below.
    fn keep(&mut self, folder: &mut Folder, in_protected: bool) {
        let Folder { finds, children, .. } = folder;
        let mut closed = Vec::new();
        let n_children = children.len();
        children.retain_mut(|child| {
            let protected = in_protected || is_protected_find(finds, &child.name);
            match self.renew(child, protected) {
                Ok(()) => true,
                Err(error) => {
                    closed.extend(unreadable(error, child.name.clone()));
                    false
                }
            }
        });
        // What went away while we looked, or was closed, is looked at again next time.
        folder.settled = folder.children.len() == n_children;
        folder.finds.extend(closed);
    }

    fn read(&mut self, place: Place<'_>, known: Vec<Folder>) -> Result<Folder, Errno> {
        self.counts.read += 1;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let handle = rustix::fs::openat2(self.root, place.path, flags, Mode::empty(), resolve)?;
        // Taken before the names are read: a change in between shows as a different stamp next time.
        let stamp = stamp(&handle, c"", AtFlags::EMPTY_PATH)?;
        let now = clock_gettime(ClockId::RealtimeCoarse);
        let latest = nanoseconds(stamp.modified).max(nanoseconds(stamp.changed));
        let age = nanoseconds((now.tv_sec, u32::try_from(now.tv_nsec).unwrap_or(0))) - latest;
        let mut folder = Folder {
            parts: place.parts.to_vec(),
            path: place.path.clone(),
            name: place.name.to_owned(),
            stamp,
            settled: age > TICK_NANOSECONDS,
            finds: Vec::new(),
            children: Vec::new(),
        };
        let mut below = self.read_names(&handle, place, &mut folder.finds)?;
        drop(handle);
        below.sort_unstable();
        folder.finds.sort_by(|a, b| a.name.cmp(&b.name));
        self.descend(place, &mut folder, below, known);
        Ok(folder)
    }

    /// Sorts every name into what was found; the folders to enter are handed back.
    fn read_names(
        &mut self,
        handle: &OwnedFd,
        place: Place<'_>,
        finds: &mut Vec<Find>,
    ) -> Result<Vec<OsString>, Errno> {
        let mut below = Vec::new();
        let mut layout = Layout::default();
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let mut entries = RawDir::new(handle, as_uninit(&mut buffer));
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            let bytes = name.to_bytes();
            if bytes == b"." || bytes == b".." {
                continue;
            }
            layout.see(bytes);
            let kind = match entry.file_type() {
                FileType::Unknown => match rustix::fs::statat(handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                known => known,
            };
            let name = OsStr::from_bytes(bytes);
            let what = self.judge(place, name, kind);
            if let Some(what) = what {
                finds.push(Find { name: name.to_owned(), what, kind: Kind::of(kind) });
            }
            let enter = match what {
                None | Some(What::Protected | What::Bare) => !bytes.eq_ignore_ascii_case(b"node_modules"),
                Some(What::Masked | What::Git | What::Socket) => false,
            };
            if kind == FileType::Directory && enter {
                below.push(name.to_owned());
            }
        }
        self.buffer = buffer;
        if layout.is_repository() {
            finds.push(Find { name: OsString::new(), what: What::Bare, kind: Kind::Folder });
        }
        Ok(below)
    }

    fn judge(&self, place: Place<'_>, name: &OsStr, kind: FileType) -> Option<What> {
        if name.as_bytes().eq_ignore_ascii_case(b".git") {
            return Some(What::Git);
        }
        if kind == FileType::Socket {
            return Some(What::Socket);
        }
        if !self.names.may_matter(name.as_bytes()) {
            return None;
        }
        let mut parts = place.parts.to_vec();
        parts.push(name.to_string_lossy().into_owned());
        if self.scope.is_masked(&parts) {
            return Some(What::Masked);
        }
        (!place.in_protected && self.scope.is_protected(&parts)).then_some(What::Protected)
    }

    fn descend(&mut self, place: Place<'_>, folder: &mut Folder, below: Vec<OsString>, known: Vec<Folder>) {
        let mut known: std::collections::HashMap<OsString, Folder> =
            known.into_iter().map(|child| (child.name.clone(), child)).collect();
        for name in below {
            let mut parts = place.parts.to_vec();
            parts.push(name.to_string_lossy().into_owned());
            let Some(path) = extend(place, &name).filter(|_| parts.len() <= DEEPEST) else {
                folder.finds.push(Find { name, what: What::Masked, kind: Kind::Folder });
                continue;
            };
            let protected = place.in_protected || is_protected_find(&folder.finds, &name);
            let child = Place { parts: &parts, path: &path, name: &name, in_protected: protected };
            match self.visit(child, known.remove(&name)) {
                Ok(child) => folder.children.push(child),
                Err(error) => folder.finds.extend(unreadable(error, name)),
            }
        }
    }
}

/// A repository has these three; a linked one has its common folder instead of the last two.
#[derive(Default)]
struct Layout {
    head: bool,
    objects: bool,
    references: bool,
    common: bool,
}

impl Layout {
    fn see(&mut self, name: &[u8]) {
        match name {
            b"HEAD" => self.head = true,
            b"objects" => self.objects = true,
            b"refs" => self.references = true,
            b"commondir" => self.common = true,
            _ => {}
        }
    }

    fn is_repository(&self) -> bool {
        self.head && (self.common || (self.objects && self.references))
    }
}

/// What cannot be read is masked: its owner, which the program is, could make it readable. What is gone is gone.
fn unreadable(error: Errno, name: OsString) -> Option<Find> {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => None,
        _ => Some(Find { name, what: What::Masked, kind: Kind::Folder }),
    }
}

fn is_protected_find(finds: &[Find], name: &OsStr) -> bool {
    finds.iter().any(|find| find.what == What::Protected && find.name == name)
}

fn extend(place: Place<'_>, name: &OsStr) -> Option<CString> {
    const LONGEST: usize = 4000;
    let mut bytes = if place.parts.is_empty() { Vec::new() } else { place.path.as_bytes().to_vec() };
    if !bytes.is_empty() {
        bytes.push(b'/');
    }
    bytes.extend_from_slice(name.as_bytes());
    CString::new(bytes).ok().filter(|path| path.as_bytes().len() <= LONGEST)
}

fn stamp(at: &OwnedFd, path: &std::ffi::CStr, flags: AtFlags) -> Result<Stamp, Errno> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::MTIME | StatxFlags::CTIME;
    let stat = rustix::fs::statx(at, path, flags, wanted)?;
    if FileType::from_raw_mode(stat.stx_mode.into()) != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    Ok(Stamp {
        device: (stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
        changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
    })
}

fn nanoseconds((seconds, nanoseconds): (i64, u32)) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

fn as_uninit(buffer: &mut Vec<u8>) -> &mut [MaybeUninit<u8>] {
    buffer.spare_capacity_mut()
}

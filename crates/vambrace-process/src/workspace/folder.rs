//! One folder: what it is, what was found in it, and how to read it. It knows nothing of other folders.
//!
//! INVARIANT: no link is followed. Folders are opened beneath the workspace with links forbidden on the whole way.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, StatxFlags};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use vambrace_policy::Scope;

use super::names::Names;
use super::view::{Identity, Kind, View};

/// Two changes within one tick of the kernel's clock leave the same time stamp; ticks are at most 10 ms long.
const TICK_NANOSECONDS: i128 = 20_000_000;
const LONGEST_PATH: usize = 4000;

/// Where the walk takes place and what it looks for.
#[derive(Clone, Copy)]
pub(super) struct Ground<'g> {
    pub(super) root: &'g OwnedFd,
    pub(super) scope: &'g Scope,
    pub(super) names: &'g Names,
}

/// The place of a folder in the walk.
#[derive(Debug)]
pub(super) struct Place {
    /// From the workspace, for the kernel; `.` is the workspace itself.
    pub(super) path: CString,
    /// Everything in a protected folder is protected; only the folder itself is named.
    pub(super) in_protected: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Find {
    name: OsString,
    what: What,
    kind: Kind,
    /// Of what a view tells apart from others of its name.
    identity: Option<Identity>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Masked,
    Protected,
    Git,
    /// Or a pipe: somebody outside may be at its other end, and a program that opens one called `.gitignore` or
    /// `package.json` waits for ever.
    Socket,
    /// The folder itself is laid out as a repository without a working tree.
    Bare,
}

/// An operator may block what is protected anyway; a program that plants it must not get away with it.
struct Judged {
    is_masked: bool,
    /// Protected or a repository.
    what: Option<What>,
}

/// A folder to enter.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) inode: u64,
    pub(super) is_protected: bool,
}

/// What one reading of a folder gave, both sorted by name.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) finds: Vec<Find>,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) device: (u32, u32),
    pub(super) inode: u64,
    modified: (i64, u32),
    changed: (i64, u32),
}

impl Place {
    /// Of a zone.
    pub(super) fn zone(parts: &[String], scope: &Scope) -> Option<Place> {
        let text = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
        let path = CString::new(text).ok()?;
        Some(Place { path, in_protected: scope.is_protected(parts) })
    }

    /// `None` if the path becomes longer than the kernel takes.
    pub(super) fn below(&self, name: &OsStr, is_protected: bool) -> Option<Place> {
        let path =
            CString::new(self.inside(name)).ok().filter(|path| path.as_bytes().len() <= LONGEST_PATH)?;
        let in_protected = self.in_protected || is_protected;
        Some(Place { path, in_protected })
    }

    fn inside(&self, name: &OsStr) -> Vec<u8> {
        if self.is_workspace() {
            return name.as_bytes().to_vec();
        }
        [self.path.as_bytes(), b"/", name.as_bytes()].concat()
    }

    pub(super) fn name(&self) -> &OsStr {
        let last = self.path.as_bytes().rsplit(|byte| *byte == b'/').next();
        OsStr::from_bytes(last.unwrap_or_default())
    }

    fn is_workspace(&self) -> bool {
        self.path.as_bytes() == b"."
    }

    /// A name may hold bytes that are not text; the scope is asked about the nearest text.
    fn parts(&self) -> Vec<String> {
        if self.is_workspace() {
            return Vec::new();
        }
        let parts = self.path.as_bytes().split(|byte| *byte == b'/');
        parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
    }

    pub(super) fn depth(&self) -> usize {
        if self.is_workspace() { 0 } else { self.path.as_bytes().split(|byte| *byte == b'/').count() }
    }

    pub(super) fn on_host(&self, workspace: &Path) -> std::path::PathBuf {
        if self.is_workspace() {
            workspace.to_owned()
        } else {
            workspace.join(OsStr::from_bytes(self.path.as_bytes()))
        }
    }
}

impl Find {
    pub(super) fn masked_folder(name: OsString) -> Find {
        Find { name, what: What::Masked, kind: Kind::Folder, identity: None }
    }

    /// What cannot be read is masked: its owner, which the program is, could make it readable. What is gone is gone.
    pub(super) fn unreadable(error: Errno, name: OsString) -> Option<Find> {
        match error {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => None,
            _ => Some(Find::masked_folder(name)),
        }
    }

    pub(super) fn add_to(&self, view: &mut View, here: &Path) {
        let path = || here.join(&self.name);
        match (self.what, self.identity) {
            (What::Masked, _) => view.add_masked(path(), self.kind),
            (What::Socket, _) => view.sockets.push(path()),
            (What::Protected, Some(identity)) => view.add_protected(path(), self.kind, identity),
            (What::Git, Some(identity)) => view.add_git(path(), self.kind, identity),
            (What::Bare, Some(identity)) => view.add_git(here.to_owned(), Kind::Folder, identity),
            // It went away while we looked.
            (What::Protected | What::Git | What::Bare, None) => {}
        }
    }

    /// `from` is the folder that it was found in, or the workspace if `folder` says where that is.
    ///
    /// An error if the folder lets nobody look: what is there must not be taken for something that went away.
    fn identify(&mut self, from: &OwnedFd, folder: Option<&Place>) -> Result<(), Errno> {
        let path = match (self.what, folder) {
            (What::Masked | What::Socket, _) => return Ok(()),
            (What::Bare, None) => b".".to_vec(),
            (What::Bare, Some(place)) if place.is_workspace() => b".".to_vec(),
            (What::Bare, Some(place)) => place.path.as_bytes().to_vec(),
            (What::Protected | What::Git, None) => self.name.as_bytes().to_vec(),
            (What::Protected | What::Git, Some(place)) => place.inside(&self.name),
        };
        let now = Identity::at(from, Path::new(OsStr::from_bytes(&path)));
        let is_closed = now == Err(Errno::ACCESS);
        self.identity = now.ok().filter(|(_, kind)| *kind == self.kind).map(|(identity, _)| identity);
        if is_closed { Err(Errno::ACCESS) } else { Ok(()) }
    }
}

impl Ground<'_> {
    pub(super) fn open(self, path: &CStr) -> Result<OwnedFd, Errno> {
        self.open_as(path, OFlags::RDONLY)
    }

    fn open_as(self, path: &CStr, access: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW | access;
        rustix::fs::openat2(self.root, path, flags, Mode::empty(), resolve)
    }

    /// Of the folder at this path, with no link on the way.
    pub(super) fn stamp_without_links(self, path: &CStr) -> Result<Stamp, Errno> {
        Stamp::of(&self.open_as(path, OFlags::PATH)?)
    }

    /// Of the folder at this path; only its last part must not be a link.
    pub(super) fn stamp(self, path: &CStr) -> Result<Stamp, Errno> {
        Stamp::at(self.root, path, AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_DONT_SYNC)
    }

    /// Sorts every name into what was found and what is to be entered.
    pub(super) fn list(
        self,
        handle: &OwnedFd,
        place: &Place,
        buffer: &mut [MaybeUninit<u8>],
    ) -> Result<Listing, Errno> {
        let mut listing = Listing::default();
        let mut layout = Layout::default();
        let mut parts = place.parts();
        let mut names = RawDir::new(handle, buffer);
        while let Some(entry) = names.next() {
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
            let Judged { is_masked, what } = self.judge(place, &mut parts, name, kind);
            let is_door = matches!(kind, FileType::Socket | FileType::Fifo);
            let is_socket = is_door && !is_masked && what != Some(What::Git);
            let finds = [is_masked.then_some(What::Masked), what, is_socket.then_some(What::Socket)];
            for what in finds.into_iter().flatten() {
                let kind = Kind::of(kind);
                listing.finds.push(Find { name: name.to_owned(), what, kind, identity: None });
            }
            // In this spelling alone: in any other it is nobody's folder of packages.
            let enter = !is_masked && what != Some(What::Git) && bytes != b"node_modules";
            if kind == FileType::Directory && enter {
                let is_protected = what == Some(What::Protected);
                listing.entries.push(Entry { name: name.to_owned(), inode: entry.ino(), is_protected });
            }
        }
        if layout.is_repository() {
            let name = OsString::new();
            listing.finds.push(Find { name, what: What::Bare, kind: Kind::Folder, identity: None });
        }
        listing.entries.sort_unstable();
        listing.finds.sort_by(|a, b| a.name.cmp(&b.name));
        listing.finds.iter_mut().try_for_each(|find| find.identify(handle, None))?;
        Ok(listing)
    }

    fn judge(self, place: &Place, parts: &mut Vec<String>, name: &OsStr, kind: FileType) -> Judged {
        if name.as_bytes().eq_ignore_ascii_case(b".git") {
            return Judged { is_masked: false, what: Some(What::Git) };
        }
        // THREAT: P07, `ln -s harmless .cargo`: to cargo, `harmless/config.toml` is the protected name.
        let may_lead = kind == FileType::Symlink && self.names.may_lead(name.as_bytes());
        if !may_lead && !self.names.may_matter(name.as_bytes()) {
            return Judged { is_masked: false, what: None };
        }
        parts.push(name.to_string_lossy().into_owned());
        let is_masked = self.scope.is_masked(parts);
        let is_protected = !place.in_protected
            && (self.scope.is_protected(parts) || (may_lead && self.scope.leads_to_protected(parts)));
        parts.pop();
        Judged { is_masked, what: is_protected.then_some(What::Protected) }
    }

    /// Looks again at what was found in a folder that nobody watches; `true` if something is another one now.
    pub(super) fn identify_again(self, place: &Place, finds: &mut [Find]) -> bool {
        let mut changed = false;
        for find in finds {
            let before = find.identity;
            // Who may look was the same when it was found: the folder's stamp says so.
            let _ = find.identify(self.root, Some(place));
            changed |= find.identity != before;
        }
        changed
    }
}

/// Whether what is in a folder can be reached at all; its names can be read without.
pub(super) fn is_searchable(handle: &OwnedFd) -> bool {
    !matches!(rustix::fs::statat(handle, c".", AtFlags::empty()), Err(Errno::ACCESS))
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

impl Stamp {
    pub(super) fn of(handle: &OwnedFd) -> Result<Stamp, Errno> {
        Stamp::at(handle, c"", AtFlags::EMPTY_PATH)
    }

    fn at(at: &OwnedFd, path: &CStr, flags: AtFlags) -> Result<Stamp, Errno> {
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

    /// The same folder, whatever happened in it.
    pub(super) fn is_same_folder(&self, other: &Stamp) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Old enough that the next change leaves another stamp.
    pub(super) fn is_settled(&self) -> bool {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        let latest = nanoseconds(self.modified).max(nanoseconds(self.changed));
        nanoseconds((now.tv_sec, u32::try_from(now.tv_nsec).unwrap_or(0))) - latest > TICK_NANOSECONDS
    }
}

fn nanoseconds((seconds, nanoseconds): (i64, u32)) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

//! Opening beneath the root, and looking at what was really opened.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use vambrace_policy::{Access, HardLinks, Reason, Scope, Symlinks, Withheld};
use vambrace_types::ScopedPath;

use crate::root::location_of;
use crate::{FilesError, Root};

/// A rename elsewhere on the system makes the kernel ask us to try again; an attacker can keep renaming.
const TRIES: usize = 128;
/// As the kernel itself allows.
const MOST_LINKS: usize = 40;

/// What the kernel adds to the name of something that was removed or replaced while it was open. THREAT: P04, a file
/// `.env` that is replaced in this moment would be `.env (deleted)`, which no rule knows.
const DELETED: &[u8] = b" (deleted)";

/// What is opened so lies where its name says.
const WITHOUT_LINKS: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_XDEV);

/// A handle together with what it was found to be.
pub(crate) struct Opened {
    pub(crate) handle: OwnedFd,
    pub(crate) resolved: ScopedPath,
    pub(crate) stat: Stat,
}

/// Opening in one place: the root and the rules for what may be found beneath it.
#[derive(Clone, Copy)]
pub(crate) struct Opener<'a> {
    pub(crate) root: &'a Root,
    pub(crate) scope: &'a Scope,
    /// What the operator's rules refuse by name; a link must not lead there either.
    pub(crate) withheld: &'a Withheld,
}

impl Opener<'_> {
    pub(crate) fn spelled(&self, path: &ScopedPath) -> String {
        path.spelled(self.scope.bearings())
    }

    /// What the scope and the operator's rules say of a place that was really reached.
    pub(crate) fn judge(&self, path: &ScopedPath, access: Access) -> Result<(), FilesError> {
        self.scope.judge(path, access).map_err(FilesError::Denied)?;
        if self.withheld.covers(path.components()) {
            let reason = Reason::OperatorRule {
                reason: format!("it covers `{}`.", self.spelled(path)),
                only_asks: false,
            };
            return Err(FilesError::denied(reason, "rules"));
        }
        Ok(())
    }

    /// A regular file, for reading.
    pub(crate) fn file(&self, path: &ScopedPath) -> Result<Opened, FilesError> {
        // O_NONBLOCK: a pipe without a writer would hold us here for ever. THREAT: P09.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        if let Some(opened) = self.unlinked(path, flags)? {
            return Ok(opened);
        }
        let opened = self.open(path, flags, Access::Read)?;
        self.demand_readable(path, &opened.stat)?;
        Ok(opened)
    }

    /// A regular file to which no link leads, which is most of them; `None` takes the long way.
    ///
    /// The kernel is not asked where the file is, which costs more than to open it: no link was followed and no mount
    /// crossed, so every name on the way was the one that is spelled, and the spelling is judged. As in `file_in`, a rival
    /// that moves folders meanwhile shows us no more than he could have shown us by leaving them there.
    fn unlinked(&self, path: &ScopedPath, flags: OFlags) -> Result<Option<Opened>, FilesError> {
        let Ok(handle) = beneath(self.root.as_fd(), &kernel_path(path), flags, WITHOUT_LINKS) else {
            return Ok(None);
        };
        let stat = rustix::fs::fstat(&handle)
            .map_err(|errno| FilesError::os(&self.spelled(path), "look at", errno))?;
        self.judge(path, Access::Read)?;
        self.demand_readable(path, &stat)?;
        Ok(Some(Opened { handle, resolved: path.clone(), stat }))
    }

    fn demand_readable(&self, path: &ScopedPath, stat: &Stat) -> Result<(), FilesError> {
        self.demand_regular(path, stat)?;
        match self.scope.hard_links() {
            HardLinks::Deny => self.demand_one_name(path, stat),
            HardLinks::Allow | HardLinks::ReadOnly => Ok(()),
        }
    }

    /// A regular file in a folder that is open and was judged, by its name alone.
    ///
    /// The kernel is not asked where the file is: no link is followed and no mount crossed, so it is in the folder that
    /// was judged, under the name that `path` ends with and the caller has judged. A rival with every right in the
    /// workspace may move the folder meanwhile, and shows us no more than he could have shown us where it was: a blocked
    /// folder is refused when it is entered, and its handle never comes here.
    pub(crate) fn file_in(
        &self,
        folder: BorrowedFd<'_>,
        name: &str,
        path: &ScopedPath,
    ) -> Result<(OwnedFd, Stat), FilesError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let handle =
            beneath(folder, name, flags, WITHOUT_LINKS).map_err(|errno| self.explain(path, errno))?;
        let stat = rustix::fs::fstat(&handle)
            .map_err(|errno| FilesError::os(&self.spelled(path), "look at", errno))?;
        self.demand_readable(path, &stat)?;
        Ok((handle, stat))
    }

    /// A folder whose entries will be read or changed.
    pub(crate) fn folder(&self, path: &ScopedPath, access: Access) -> Result<Opened, FilesError> {
        self.open(path, OFlags::RDONLY | OFlags::DIRECTORY, access)
    }

    /// Anything, without reading it: to ask what a call would meet.
    pub(crate) fn glance(&self, path: &ScopedPath, access: Access) -> Result<Opened, FilesError> {
        self.open(path, OFlags::PATH, access)
    }

    fn open(&self, path: &ScopedPath, flags: OFlags, access: Access) -> Result<Opened, FilesError> {
        let mut handle = beneath(self.root.as_fd(), &kernel_path(path), flags, self.resolve_flags());
        // The kernel refuses every absolute link, also one that leads back inside. Such a link is spelled anew beneath
        // the root, and that spelling is opened under the same rules; a link that leads outside stays refused.
        let mut spelling = path.clone();
        for _ in 0..MOST_LINKS {
            if handle.as_ref().err() != Some(&Errno::XDEV) {
                break;
            }
            let Some(inside) = self.without_absolute_link(&spelling) else { break };
            self.judge(&inside, access)?;
            handle = beneath(self.root.as_fd(), &kernel_path(&inside), flags, self.resolve_flags());
            spelling = inside;
        }
        let handle = handle.map_err(|errno| self.explain(path, errno))?;
        let stat = rustix::fs::fstat(&handle)
            .map_err(|errno| FilesError::os(&self.spelled(path), "look at", errno))?;
        let resolved = self.resolved(path, handle.as_fd())?;
        // The spelling was judged before; a link may have led elsewhere. THREAT: P04, a link to `.env`.
        self.judge(&resolved, access)?;
        Ok(Opened { handle, resolved, stat })
    }

    /// The same path with its first absolute link replaced by what it says, if that begins with the workspace.
    fn without_absolute_link(&self, path: &ScopedPath) -> Option<ScopedPath> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        for n_parts in 1..=path.components().len() {
            let (front, rest) = path.components().split_at_checked(n_parts)?;
            let handle = beneath(self.root.as_fd(), &front.join("/"), flags, self.resolve_flags()).ok()?;
            // Anything but a link has no target, and is passed.
            let Ok(target) = rustix::fs::readlinkat(&handle, "", Vec::new()) else { continue };
            let target = target.to_str().ok()?;
            if target.starts_with('/') {
                let whole = [&[target.to_owned()], rest].concat().join("/");
                return ScopedPath::parse(&whole, self.scope.bearings()).ok();
            }
        }
        None
    }

    fn resolve_flags(&self) -> ResolveFlags {
        let flags = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
        match self.scope.symlinks() {
            Symlinks::Inside => flags,
            Symlinks::Deny => flags | ResolveFlags::NO_SYMLINKS,
        }
    }

    /// The true path of a handle beneath the root.
    fn resolved(&self, path: &ScopedPath, handle: BorrowedFd<'_>) -> Result<ScopedPath, FilesError> {
        let spelled = self.spelled(path);
        let outside =
            || FilesError::denied(Reason::OutsideProject { path: spelled.clone() }, "scope.beneath");
        let place = location_of(handle).map_err(|errno| FilesError::os(&spelled, "locate", errno))?;
        if place.as_os_str().as_encoded_bytes().ends_with(DELETED) && !self.still_there(&place, handle) {
            return Err(FilesError::NotFound { path: spelled });
        }
        let root = self.root.location().map_err(|errno| FilesError::os(&spelled, "locate", errno))?;
        let below = place.strip_prefix(&root).map_err(|_| outside())?;
        let components = below
            .components()
            .map(|part| part.as_os_str().to_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(outside)?;
        ScopedPath::from_components(components).ok_or_else(outside)
    }

    /// Whether the name of a handle, which looks like one the kernel marked as gone, is a name after all.
    fn still_there(&self, place: &Path, handle: BorrowedFd<'_>) -> bool {
        let identity = |stat: Stat| (stat.st_dev, stat.st_ino);
        let named = rustix::fs::statat(CWD, place, AtFlags::SYMLINK_NOFOLLOW).map(identity);
        named.is_ok() && named == rustix::fs::fstat(handle).map(identity)
    }

    /// The kernel says EXDEV both for leaving the root and for crossing a mount, and ELOOP both for a refused link
    /// and for a circle; the person reading the message should know which.
    fn explain(&self, path: &ScopedPath, errno: Errno) -> FilesError {
        let spelled = self.spelled(path);
        match errno {
            Errno::XDEV => {
                let without_mount_rule = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
                match beneath(self.root.as_fd(), &kernel_path(path), OFlags::PATH, without_mount_rule) {
                    Err(Errno::XDEV) => {
                        FilesError::denied(Reason::OutsideProject { path: spelled }, "scope.beneath")
                    }
                    // Found or not: without the rule about mounts the kernel went on.
                    Ok(_) | Err(_) => FilesError::denied(Reason::Mount { path: spelled }, "scope.mounts"),
                }
            }
            Errno::LOOP => FilesError::denied(Reason::Link { path: spelled }, "scope.symlinks"),
            // A socket, or a pipe nobody reads.
            Errno::NXIO => FilesError::denied(Reason::SpecialFile { path: spelled }, "scope.regular_files"),
            other => FilesError::os(&spelled, "open", other),
        }
    }

    pub(crate) fn demand_regular(&self, path: &ScopedPath, stat: &Stat) -> Result<(), FilesError> {
        let spelled = || self.spelled(path);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(()),
            FileType::Directory => Err(FilesError::IsADirectory { path: spelled() }),
            FileType::Symlink => Err(FilesError::denied(Reason::Link { path: spelled() }, "scope.symlinks")),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => {
                Err(FilesError::denied(Reason::SpecialFile { path: spelled() }, "scope.regular_files"))
            }
        }
    }

    pub(crate) fn demand_one_name(&self, path: &ScopedPath, stat: &Stat) -> Result<(), FilesError> {
        if stat.st_nlink > 1 {
            return Err(FilesError::denied(Reason::HardLink { path: self.spelled(path) }, "scope.hardlinks"));
        }
        Ok(())
    }

    /// What a write, edit or delete demands of the file that is there: regular, with one name.
    pub(crate) fn demand_changeable(&self, path: &ScopedPath, stat: &Stat) -> Result<(), FilesError> {
        self.demand_regular(path, stat)?;
        match self.scope.hard_links() {
            HardLinks::Allow => Ok(()),
            HardLinks::ReadOnly | HardLinks::Deny => self.demand_one_name(path, stat),
        }
    }
}

/// `openat2` beneath `from`, tried again while the kernel cannot be sure.
pub(crate) fn beneath(
    from: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let mut last = Errno::AGAIN;
    for _ in 0..TRIES {
        match rustix::fs::openat2(from, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
            Err(errno @ (Errno::AGAIN | Errno::INTR)) => last = errno,
            other => return other,
        }
    }
    Err(last)
}

pub(crate) fn kernel_path(path: &ScopedPath) -> String {
    if path.is_root() { ".".to_owned() } else { path.components().join("/") }
}

//! The private root of a cell: memory with exactly what the spec names mounted in it, then everything else detached.
//! It knows the spec's mounts; what programs may do beneath them is said by `confine`.
//!
//! Every mount is made detached, given its attributes, and only then attached, so that nothing is ever visible with more
//! rights than it ends with. Names inside the new root are resolved in that root and never through the host's.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, FsPickFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
};

use super::confine::{Gaps, said};
use super::kernel_unsafe::{self, Attributes};
use crate::cage::Layer;
use crate::kernel_files;
use crate::spec::{CageSpec, Mount};

/// Where programs find shared memory; small, because it counts as memory of the cell.
const SHARED_MEMORY: &str = "/dev/shm";
const SHARED_MEMORY_BYTES: u64 = 64 << 20;
/// Folders, links and short texts only.
const ROOT_BYTES: u64 = 16 << 20;
/// Folders and empty files only.
const FRAME_BYTES: u64 = 1 << 20;
/// Empty files cost memory of the kernel that the limit in bytes does not see.
const MOST_INODES: &str = "100000";
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
const LINKS: [(&str, &str); 4] = [
    ("dev/fd", "/proc/self/fd"),
    ("dev/stdin", "/proc/self/fd/0"),
    ("dev/stdout", "/proc/self/fd/1"),
    ("dev/stderr", "/proc/self/fd/2"),
];

/// Forbidden or unknown here, whatever the moment.
pub(super) fn is_lack(errno: Errno) -> bool {
    matches!(errno, Errno::PERM | Errno::NOSYS | Errno::INVAL)
}

/// Why there is no such root; the cell is then not used.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) why: String,
    /// The kernel says that it does not do such things, not that it could not this time.
    pub(super) lacks: bool,
}

impl Failed {
    pub(super) fn by(what: &str, errno: Errno) -> Failed {
        Failed { why: format!("{what}: {}", said(errno)), lacks: is_lack(errno) }
    }

    fn without_asking(why: String) -> Failed {
        Failed { why, lacks: false }
    }
}

pub(super) struct Root {
    top: OwnedFd,
    /// Devices of the memories that belong to this cell alone: only there may mount points be made.
    own: Vec<u64>,
    /// Those of them in which programs may write.
    writable: Vec<u64>,
    /// Folders of private memory, in which nothing may be left when the cell is used again.
    memories: Vec<PathBuf>,
    /// Memories that hold nothing but mount points inside another memory; read-only once all are made.
    frames: Vec<OwnedFd>,
    /// The one empty file and folder behind all masks.
    empty_file: Option<OwnedFd>,
    empty_folder: Option<OwnedFd>,
}

impl Root {
    /// INVARIANT: this process is alone in a new mount namespace.
    pub(super) fn build(spec: &CageSpec, gaps: &mut Gaps) -> Result<Root, Failed> {
        let host = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(at(Path::new("/")))?;
        kernel_unsafe::make_private(host.as_fd()).map_err(at(Path::new("/")))?;
        let top = memory(ROOT_BYTES, 0o755).map_err(at(Path::new("/")))?;
        attach(top.as_fd(), host.as_fd()).map_err(at(Path::new("/")))?;
        let device = rustix::fs::fstat(&top).map_err(at(Path::new("/")))?.st_dev;
        let mut root = Root {
            top,
            own: vec![device],
            writable: Vec::new(),
            memories: Vec::new(),
            frames: Vec::new(),
            empty_file: None,
            empty_folder: None,
        };
        for mount in &spec.mounts {
            root.add(mount, gaps)?;
        }
        Ok(root)
    }

    /// From here on there is nothing but this root.
    pub(super) fn enter(self) -> Result<Vec<PathBuf>, Failed> {
        let here = at(Path::new("/"));
        if self.empty_file.is_some() {
            rustix::fs::unlinkat(&self.top, ".empty", AtFlags::empty()).map_err(&here)?;
        }
        rustix::process::fchdir(&self.top).map_err(&here)?;
        rustix::process::pivot_root(".", ".").map_err(&here)?;
        rustix::mount::unmount(".", UnmountFlags::DETACH).map_err(&here)?;
        rustix::process::chdir("/").map_err(&here)?;
        kernel_unsafe::set_root_read_only(self.top.as_fd()).map_err(&here)?;
        for frame in &self.frames {
            close(frame.as_fd()).map_err(&here)?;
        }
        Ok(self.memories)
    }

    fn add(&mut self, mount: &Mount, gaps: &mut Gaps) -> Result<(), Failed> {
        match mount {
            Mount::ReadOnly { from, at } => self.bind(from, at, Attributes::ReadOnly),
            Mount::Writable { from, at } => self.bind(from, at, Attributes::Writable),
            Mount::Pin { at } => self.pin(at, Attributes::Writable),
            Mount::PinReadOnly { at } => self.pin(at, Attributes::ReadOnly),
            Mount::PinLink { at } => self.pin_link(at),
            Mount::EmptyFolder { at } => self.mask_folder(at),
            Mount::EmptyFile { at } => self.mask_file(at),
            Mount::Text { at, text } => self.text(at, text),
            Mount::Memory { at, bytes } => self.memory(at, *bytes),
            Mount::Link { at, to } => self.link(at, to),
            Mount::Processes => self.processes(gaps),
            Mount::Devices => self.devices(),
        }
    }

    fn bind(&mut self, from: &Path, to: &Path, attributes: Attributes) -> Result<(), Failed> {
        // THREAT: P07, a program in another cage may exchange a folder for a link between the walk and this moment, and
        // then any folder of the host would be shown, writable, under the service's name.
        let how = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let found = rustix::fs::openat2(CWD, from, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), how)
            .map_err(at(from))?;
        let tree = clone_tree(found.as_fd(), Path::new("")).map_err(at(from))?;
        kernel_unsafe::set_attributes(tree.as_fd(), attributes).map_err(at(from))?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&tree).map_err(at(from))?.st_mode);
        let place = if kind.is_dir() { self.folder(to)? } else { self.file(to)? };
        attach(tree.as_fd(), place.as_fd()).map_err(at(to))
    }

    fn pin(&mut self, path: &Path, attributes: Attributes) -> Result<(), Failed> {
        let place = self.resolve(path).map_err(at(path))?;
        let tree = clone_tree(place.as_fd(), Path::new("")).map_err(at(path))?;
        kernel_unsafe::set_attributes(tree.as_fd(), attributes).map_err(at(path))?;
        attach(tree.as_fd(), place.as_fd()).map_err(at(path))
    }

    /// THREAT: P07, a link that decides what a protected name means could be removed, and a folder be moved to another name
    /// that it then leads to.
    fn pin_link(&mut self, path: &Path) -> Result<(), Failed> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Failed::without_asking(format!("`{}` is not an absolute path", path.display())));
        };
        let parent = self.resolve(parent).map_err(at(path))?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let place = rustix::fs::openat(&parent, name, flags, Mode::empty()).map_err(at(path))?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&place).map_err(at(path))?.st_mode);
        if kind != FileType::Symlink {
            return Err(Failed::by(&format!("`{}` has changed", path.display()), Errno::AGAIN));
        }
        let tree = clone_tree(place.as_fd(), Path::new("")).map_err(at(path))?;
        attach(tree.as_fd(), place.as_fd()).map_err(at(path))
    }

    fn mask_folder(&mut self, path: &Path) -> Result<(), Failed> {
        let place = self.folder(path)?;
        if self.empty_folder.is_none() {
            let empty = memory(4096, 0o555).map_err(at(path))?;
            kernel_unsafe::set_attributes(empty.as_fd(), Attributes::ReadOnly).map_err(at(path))?;
            attach(empty.as_fd(), place.as_fd()).map_err(at(path))?;
            self.empty_folder = Some(empty);
            return Ok(());
        }
        self.mask(path, place.as_fd(), self.empty_folder.as_ref())
    }

    fn mask_file(&mut self, path: &Path) -> Result<(), Failed> {
        let place = self.file(path)?;
        if self.empty_file.is_none() {
            self.empty_file = Some(self.own_file(".empty", b"").map_err(at(path))?);
        }
        self.mask(path, place.as_fd(), self.empty_file.as_ref())
    }

    fn mask(&self, path: &Path, place: BorrowedFd<'_>, empty: Option<&OwnedFd>) -> Result<(), Failed> {
        let Some(empty) = empty else {
            return Err(Failed::without_asking(format!("`{}`: no mask", path.display())));
        };
        let tree = clone_tree(empty.as_fd(), Path::new("")).map_err(at(path))?;
        kernel_unsafe::set_attributes(tree.as_fd(), Attributes::ReadOnly).map_err(at(path))?;
        attach(tree.as_fd(), place).map_err(at(path))
    }

    /// In the private root the file itself is written; elsewhere one of ours is mounted over what is there.
    fn text(&mut self, path: &Path, text: &str) -> Result<(), Failed> {
        // Mostly the name is new and its folder is there: a third of the calls.
        let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
        let new = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
        let made = rustix::fs::openat2(&self.top, relative(path), new, Mode::from_raw_mode(0o644), how);
        if let Ok(file) = made {
            return write_all(&file, text.as_bytes()).map_err(at(path));
        }
        let place = self.file(path)?;
        let found = rustix::fs::fstat(&place).map_err(at(path))?;
        if self.own.first() == Some(&found.st_dev) {
            return write_file(self.top.as_fd(), &relative(path), text.as_bytes()).map_err(at(path));
        }
        let file = self.own_file(".text", text.as_bytes()).map_err(at(path))?;
        self.mask(path, place.as_fd(), Some(&file))?;
        // The name is not needed once it is mounted, and free for the next.
        rustix::fs::unlinkat(&self.top, ".text", AtFlags::empty()).map_err(at(path))
    }

    fn memory(&mut self, path: &Path, bytes: u64) -> Result<(), Failed> {
        let place = self.folder(path)?;
        let mount = memory(bytes, 0o1777).map_err(at(path))?;
        attach(mount.as_fd(), place.as_fd()).map_err(at(path))?;
        let device = rustix::fs::fstat(&mount).map_err(at(path))?.st_dev;
        self.own.push(device);
        self.writable.push(device);
        self.memories.push(path.to_owned());
        Ok(())
    }

    fn link(&mut self, path: &Path, to: &Path) -> Result<(), Failed> {
        let (parent, name) = self.parent(path)?;
        rustix::fs::symlinkat(to, &parent, name).map_err(at(path))
    }

    fn processes(&mut self, gaps: &mut Gaps) -> Result<(), Failed> {
        let path = Path::new("/proc");
        let place = self.folder(path)?;
        // THREAT: P06, root of a cell is root's number on the host: without read-only it could write /proc/sys.
        let flags = MountAttrFlags::MOUNT_ATTR_RDONLY
            | MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let made = rustix::mount::fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC).and_then(|context| {
            rustix::mount::fsconfig_create(context.as_fd())?;
            rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)
        });
        match made {
            Ok(made) => {
                attach(made.as_fd(), place.as_fd()).map_err(at(path))?;
                self.mask_kernel_files()
            }
            // Inside containers that hide parts of theirs; a cell without is still closed.
            Err(errno) => {
                gaps.note(Layer::PrivateRoot, "`/proc`", errno);
                Ok(())
            }
        }
    }

    fn mask_kernel_files(&mut self) -> Result<(), Failed> {
        let folder = Path::new("/proc");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let listed = rustix::fs::openat2(&self.top, relative(folder), flags, Mode::empty(), how)
            .and_then(|opened| kernel_files::masked(opened.as_fd()))
            .map_err(at(folder))?;
        for (name, is_folder) in listed {
            let path = folder.join(name);
            match is_folder {
                true => self.mask_folder(&path)?,
                false => self.mask_file(&path)?,
            }
        }
        Ok(())
    }

    fn devices(&mut self) -> Result<(), Failed> {
        let folder = self.folder(Path::new("/dev"))?;
        for name in DEVICES {
            let host = Path::new("/dev").join(name);
            let tree = clone_tree(CWD, &host).map_err(at(&host))?;
            // THREAT: P07, root without capabilities still owns the host's nodes: `chmod 600 /dev/null`.
            kernel_unsafe::set_attributes(tree.as_fd(), Attributes::Device).map_err(at(&host))?;
            let place = make_file(folder.as_fd(), Path::new(name)).map_err(at(&host))?;
            attach(tree.as_fd(), place.as_fd()).map_err(at(&host))?;
        }
        for (link, to) in LINKS {
            rustix::fs::symlinkat(to, &self.top, link).map_err(at(Path::new(link)))?;
        }
        self.memory(Path::new(SHARED_MEMORY), SHARED_MEMORY_BYTES)
    }

    fn own_file(&self, name: &str, text: &[u8]) -> Result<OwnedFd, Errno> {
        write_file(self.top.as_fd(), Path::new(name), text)?;
        rustix::fs::openat(&self.top, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
    }

    /// A name inside the new root, links followed inside it.
    fn resolve(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(&self.top, relative(path), flags, Mode::empty(), how)
    }

    fn folder(&mut self, path: &Path) -> Result<OwnedFd, Failed> {
        match self.resolve(path) {
            Err(Errno::NOENT) => self.make_folder(path),
            other => other.map_err(at(path)),
        }
    }

    fn make_folder(&mut self, path: &Path) -> Result<OwnedFd, Failed> {
        let (parent, name) = self.parent(path)?;
        rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755)).map_err(at(path))?;
        rustix::fs::openat(&parent, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
            .map_err(at(path))
    }

    fn file(&mut self, path: &Path) -> Result<OwnedFd, Failed> {
        match self.resolve(path) {
            Err(Errno::NOENT) => {}
            other => return other.map_err(at(path)),
        }
        let (parent, name) = self.parent(path)?;
        make_file(parent.as_fd(), Path::new(name)).map_err(at(path))
    }

    /// Where a name may be made.
    ///
    /// THREAT: P07, a mount point made in a folder of the host would stay there.
    fn parent<'a>(&mut self, path: &'a Path) -> Result<(OwnedFd, &'a OsStr), Failed> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Failed::without_asking(format!("`{}` is not an absolute path", path.display())));
        };
        let parent = match self.resolve(parent) {
            Err(Errno::NOENT) => self.make_parent(parent)?,
            other => other.map_err(at(parent))?,
        };
        let device = rustix::fs::fstat(&parent).map_err(at(path))?.st_dev;
        if self.own.contains(&device) {
            return Ok((parent, name));
        }
        Err(Failed::without_asking(format!(
            "`{}` does not exist and would have to be made on the host",
            path.display()
        )))
    }

    /// A folder that is there only to hold mount points. Beneath a memory it gets one of its own.
    ///
    /// THREAT: P07, as a folder of /tmp it could be written by programs, beside the service that lies in it.
    fn make_parent(&mut self, path: &Path) -> Result<OwnedFd, Failed> {
        let made = self.make_folder(path)?;
        let device = rustix::fs::fstat(&made).map_err(at(path))?.st_dev;
        if !self.writable.contains(&device) {
            return Ok(made);
        }
        let frame = memory(FRAME_BYTES, 0o755).map_err(at(path))?;
        attach(frame.as_fd(), made.as_fd()).map_err(at(path))?;
        self.own.push(rustix::fs::fstat(&frame).map_err(at(path))?.st_dev);
        self.frames.push(
            frame
                .try_clone()
                .map_err(|error| Failed::without_asking(format!("`{}`: {error}", path.display())))?,
        );
        Ok(frame)
    }
}

/// The same for devices that another backend has bound; only root owns them, and only root can be given the power.
pub(super) fn hold_devices() -> Result<(), Errno> {
    for name in DEVICES.iter().chain(&["tty", "console"]) {
        let path = Path::new("/dev").join(name);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(device) => kernel_unsafe::set_attributes(device.as_fd(), Attributes::Device)?,
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn at(path: &Path) -> impl Fn(Errno) -> Failed {
    move |errno| Failed::by(&format!("`{}`", path.display()), errno)
}

/// As the calls want it: below the root's descriptor.
fn relative(path: &Path) -> PathBuf {
    let parts: PathBuf = path.components().filter(|part| !matches!(part, Component::RootDir)).collect();
    if parts.as_os_str().is_empty() { PathBuf::from(".") } else { parts }
}

fn clone_tree(folder: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let mut flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    if path.as_os_str().is_empty() {
        flags |= OpenTreeFlags::AT_EMPTY_PATH;
    }
    rustix::mount::open_tree(folder, path, flags)
}

fn attach(mount: BorrowedFd<'_>, place: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(mount, "", place, "", flags)
}

fn memory(bytes: u64, mode: u32) -> Result<OwnedFd, Errno> {
    let context = rustix::mount::fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "size", bytes.to_string())?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "nr_inodes", MOST_INODES)?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "mode", format!("{mode:o}"))?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)
}

/// The memory itself, not one mount of it: a pin may have made another.
fn close(memory: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = FsPickFlags::FSPICK_EMPTY_PATH | FsPickFlags::FSPICK_CLOEXEC;
    let context = rustix::mount::fspick(memory, "", flags)?;
    rustix::mount::fsconfig_set_flag(context.as_fd(), "ro")?;
    rustix::mount::fsconfig_reconfigure(context.as_fd())
}

fn make_file(folder: BorrowedFd<'_>, name: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o444))
}

fn write_file(folder: BorrowedFd<'_>, name: &Path, text: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::NOFOLLOW | OFlags::TRUNC | OFlags::WRONLY | OFlags::CLOEXEC;
    let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let file = rustix::fs::openat2(folder, name, flags, Mode::from_raw_mode(0o644), how)?;
    write_all(&file, text)
}

fn write_all(file: &OwnedFd, text: &[u8]) -> Result<(), Errno> {
    let mut rest = text;
    while !rest.is_empty() {
        let n_written = rustix::io::write(file, rest)?;
        rest = rest.get(n_written..).unwrap_or_default();
    }
    Ok(())
}

//! The one place where ambient power becomes a handle.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use vambrace_types::VolumeId;

/// Says that the holder may turn a path of the host into a handle. There is one function that makes it.
#[derive(Debug)]
pub struct AmbientAuthority(());

pub fn ambient_authority() -> AmbientAuthority {
    AmbientAuthority(())
}

/// An open folder. Everything else is opened beneath it.
#[derive(Debug)]
pub struct Root {
    handle: OwnedFd,
    volume: VolumeId,
    inode: u64,
}

impl Root {
    pub fn open_ambient(_authority: AmbientAuthority, path: &Path) -> Result<Root, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&handle)?;
        Ok(Root { handle, volume: VolumeId::new(stat.st_dev), inode: stat.st_ino })
    }

    /// The same folder once more.
    pub fn try_clone(&self) -> std::io::Result<Root> {
        Ok(Root { handle: self.handle.try_clone()?, volume: self.volume, inode: self.inode })
    }

    pub fn volume(&self) -> VolumeId {
        self.volume
    }

    /// Inode and place: names the same folder in another process, and after a reboot, which may give the device another
    /// number.
    pub(crate) fn identity(&self) -> Result<(u64, String), Errno> {
        Ok((self.inode, self.location()?.to_string_lossy().into_owned()))
    }

    /// Where the kernel says the root is now; it may have been renamed since it was opened.
    pub fn location(&self) -> Result<PathBuf, Errno> {
        location_of(self.handle.as_fd())
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Asks the kernel for the name of an open handle. Without /proc this fails, and so does the open that needs it.
pub(crate) fn location_of(handle: BorrowedFd<'_>) -> Result<PathBuf, Errno> {
    use std::os::fd::AsRawFd as _;
    let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let name = rustix::fs::readlink(link, Vec::with_capacity(256))?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(name.into_bytes())))
}

/// Whether this kernel resolves paths beneath a folder (Linux 5.6 and later, unless a filter forbids the call). Without
/// it no file is ever opened.
pub fn kernel_resolves_beneath(root: &Root) -> bool {
    use rustix::fs::ResolveFlags;
    let flags = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    let inside = crate::open::beneath(root.as_fd(), ".", OFlags::PATH, flags);
    let outside = crate::open::beneath(root.as_fd(), "..", OFlags::PATH, flags);
    inside.is_ok() && outside.err() == Some(Errno::XDEV)
}

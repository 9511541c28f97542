//! Files of our own in the project, which a person may look at and commit. Tools and caged programs cannot change them:
//! the folders they are in are protected names.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::Root;
use crate::open::beneath;

const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

impl Root {
    /// The file `name` in the folder `folder` of the workspace; `None` when it is not there. A link is not followed.
    pub fn read_own(&self, folder: &str, name: &str, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let handle = match beneath(self.as_fd(), &format!("{folder}/{name}"), flags, RESOLVE) {
            Ok(handle) => handle,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(Errno::LOOP) => {
                return Err(std::io::Error::other("it is a link, and links are not followed"));
            }
            Err(errno) => return Err(errno.into()),
        };
        if FileType::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode) != FileType::RegularFile {
            return Err(std::io::Error::other("it is no regular file"));
        }
        let mut bytes = Vec::new();
        File::from(handle).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(std::io::Error::other(format!("it is larger than {limit} bytes")));
        }
        Ok(Some(bytes))
    }

    /// Writes it whole or not at all: a reader sees the old file or the new one.
    pub fn write_own(&self, folder: &str, name: &str, content: &[u8]) -> std::io::Result<()> {
        match rustix::fs::mkdirat(self.as_fd(), folder, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let folder = beneath(self.as_fd(), folder, OFlags::RDONLY | OFlags::DIRECTORY, RESOLVE)?;
        let draft = format!("{name}.new");
        // What a crash left there is nobody's.
        match rustix::fs::unlinkat(&folder, &draft, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&folder, &draft, flags, Mode::from_raw_mode(0o666))?);
        file.write_all(content)?;
        file.sync_all()?;
        rustix::fs::renameat(folder.as_fd(), &draft, folder.as_fd(), name)?;
        let _ = rustix::fs::fsync(&folder);
        Ok(())
    }
}

//! What another program was to mount, so that it can be seen afterwards whether it did: such programs go by names, and a
//! name may be exchanged for a link to anywhere between the moment they look and the moment they mount.

use std::path::{Path, PathBuf};

use borsh::{BorshDeserialize, BorshSerialize};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use crate::spec::Mount;
use crate::wire::path;

/// A file by its device and number.
pub(crate) type Thing = (u64, u64);

/// One mount, and what was on the host when it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) struct Mark {
    #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
    pub(crate) at: PathBuf,
    pub(crate) lies: Lies,
    pub(crate) is_read_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) enum Lies {
    /// This very thing is shown.
    Shown(Thing),
    /// Something empty covers a name in this folder.
    Covered(Thing),
}

/// Of everything beneath the workspace. A name that has gone is an error: the walk is no longer true.
pub(crate) fn marks(mounts: &[Mount], workspace: &Path) -> Result<Vec<Mark>, Errno> {
    let mut marks = Vec::new();
    for mount in mounts {
        let (shown, at, is_read_only) = match mount {
            Mount::ReadOnly { from, at } => (Some(from), at, true),
            Mount::Writable { from, at } => (Some(from), at, false),
            Mount::Pin { at } => (Some(at), at, false),
            Mount::PinReadOnly { at } => (Some(at), at, true),
            Mount::EmptyFolder { at } | Mount::EmptyFile { at } | Mount::Text { at, .. } => (None, at, true),
            // No other program than ours can mount on a link.
            Mount::PinLink { .. } => continue,
            Mount::Memory { .. } | Mount::Link { .. } | Mount::Processes | Mount::Devices => continue,
        };
        if !at.starts_with(workspace) {
            continue;
        }
        let lies = match (shown, at.parent()) {
            (Some(from), _) => Lies::Shown(thing(&open(from)?)?),
            (None, Some(folder)) => Lies::Covered(thing(&open(folder)?)?),
            (None, None) => return Err(Errno::INVAL),
        };
        marks.push(Mark { at: at.clone(), lies, is_read_only });
    }
    Ok(marks)
}

impl Mark {
    /// Looked at from inside. What is a mount stays where it is: who renames its name in another cage moves it along.
    pub(crate) fn stands(&self) -> Result<bool, Errno> {
        let found = match self.lies {
            Lies::Shown(expected) => {
                let found = open(&self.at)?;
                if thing(&found)? != expected {
                    return Ok(false);
                }
                found
            }
            Lies::Covered(expected) => {
                let (Some(folder), Some(name)) = (self.at.parent(), self.at.file_name()) else {
                    return Ok(false);
                };
                let folder = open(folder)?;
                if thing(&folder)? != expected {
                    return Ok(false);
                }
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                rustix::fs::openat(&folder, name, flags, Mode::empty())?
            }
        };
        let stat = rustix::fs::statx(&found, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
        let is_mount = stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
        let flags = rustix::fs::fstatvfs(&found)?.f_flag;
        Ok(is_mount && (!self.is_read_only || flags.contains(StatVfsMountFlags::RDONLY)))
    }
}

/// The thing itself, with no link anywhere on the way.
fn open(path: &Path) -> Result<OwnedFd, Errno> {
    let how = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty(), how)
}

fn thing(file: &OwnedFd) -> Result<Thing, Errno> {
    rustix::fs::fstat(file).map(|found| (found.st_dev, found.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_mount_of_the_right_thing_stands() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().canonicalize().unwrap();
        std::fs::create_dir(work.join("s")).unwrap();
        std::os::unix::fs::symlink("/", work.join("link")).unwrap();
        let marks_of = |at: &str| marks(&[Mount::Pin { at: work.join(at) }], &work);
        let pin = marks_of("s").unwrap().remove(0);
        // The right folder, and no mount.
        assert_eq!(pin.stands(), Ok(false));
        assert_eq!(Mark { at: PathBuf::from("/proc"), ..pin.clone() }.stands(), Ok(false));
        assert_eq!(marks_of("absent"), Err(Errno::NOENT));
        assert_eq!(marks_of("link/etc"), Err(Errno::LOOP));
        let proc = thing(&open(Path::new("/proc")).unwrap()).unwrap();
        let shown = Mark { at: PathBuf::from("/proc"), lies: Lies::Shown(proc), is_read_only: false };
        assert_eq!(shown.stands(), Ok(true));
        assert_eq!(Mark { at: work.join("absent"), ..shown }.stands(), Err(Errno::NOENT));
        assert_eq!(marks(&[Mount::Pin { at: PathBuf::from("/elsewhere") }], &work), Ok(Vec::new()));
    }
}

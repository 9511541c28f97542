//! Replacing a file wholly or not at all: a finished copy beside it, then one rename.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;

use crate::FilesError;
use crate::lock::Lock;

/// A durable copy that has not taken its name yet. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Prepared<'l> {
    lock: &'l Lock,
    folder: OwnedFd,
    temporary: String,
    /// Device and inode of the copy: after thirty seconds our lock may be another's, and so may a copy of that name.
    /// THREAT: P06, half of a rival's text under the file's name.
    copy: (u64, u64),
    name: String,
    path: String,
    expected: Option<Stat>,
    placed: bool,
}

/// The copy's name follows from the file's, so that whoever holds the file's lock next can remove what a crash left.
pub(crate) fn temporary_name(name: &str) -> String {
    beside(".vambrace-", name, ".tmp")
}

/// A name of ours beside a file's. One too long for the disk keeps its end and gets a number made from all of it, so
/// that two long names that end alike do not share one.
pub(crate) fn beside(before: &str, name: &str, after: &str) -> String {
    const LONGEST: usize = 255;
    let room = LONGEST.saturating_sub(before.len() + after.len());
    if name.len() <= room {
        return format!("{before}{name}{after}");
    }
    // FNV-1a: it must give the same number in every process and version.
    let number = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut kept = name;
    while kept.len() > room.saturating_sub("-0123456789abcdef".len()) {
        let mut characters = kept.chars();
        characters.next();
        kept = characters.as_str();
    }
    format!("{before}{number:016x}-{kept}{after}")
}

/// Whether what stands at a copy's name can be one that a crash left: a plain file of ours, or of the owner of the file
/// that it was made for. Anything else is somebody's.
pub(crate) fn is_a_copy(found: &Stat, original: Option<&Stat>) -> bool {
    let ours = found.st_uid == rustix::process::geteuid().as_raw();
    FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
        && found.st_nlink == 1
        && (ours || original.is_some_and(|original| original.st_uid == found.st_uid))
}

impl Prepared<'_> {
    /// Writes and syncs the copy.
    pub(crate) fn new<'l>(
        lock: &'l Lock,
        folder: OwnedFd,
        name: &str,
        path: &str,
        expected: Option<Stat>,
        bytes: &[u8],
    ) -> Result<Prepared<'l>, FilesError> {
        let os = |errno| FilesError::os(path, "write", errno);
        let temporary = temporary_name(name);
        match rustix::fs::statat(&folder, &temporary, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if is_a_copy(&found, expected.as_ref()) => {
                rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty()).map_err(os)?;
            }
            Ok(_) => return Err(FilesError::os(path, "make a copy beside", Errno::PERM)),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(os(errno)),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // New files get what the person's umask says; a replaced file keeps its own mode, set below.
        let mode = expected.map_or(0o666, |stat| stat.st_mode & 0o600);
        let copy = rustix::fs::openat(&folder, &temporary, flags, Mode::from_raw_mode(mode)).map_err(os)?;
        let made = rustix::fs::fstat(&copy).map_err(os)?;
        let prepared = Prepared {
            lock,
            folder,
            temporary,
            copy: (made.st_dev, made.st_ino),
            name: name.to_owned(),
            path: path.to_owned(),
            expected,
            placed: false,
        };
        let mut file = File::from(copy);
        file.write_all(bytes).map_err(|error| write_error(path, &error))?;
        if let Some(old) = &expected {
            keep_owner_and_mode(&file, old).map_err(os)?;
            keep_attributes(&prepared.folder, name, &file).map_err(os)?;
        }
        file.sync_all().map_err(|error| write_error(path, &error))?;
        Ok(prepared)
    }

    /// Whether the file is still the one that was read: same file, same size, same moment of change.
    pub(crate) fn check_unchanged(&self) -> Result<(), FilesError> {
        let now = match rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(FilesError::os(&self.path, "look at", errno)),
        };
        if now.as_ref().map(stamp) == self.expected.as_ref().map(stamp) {
            return Ok(());
        }
        Err(FilesError::Changed { path: self.path.clone() })
    }

    /// Whether the copy of that name is still the one that was made here.
    fn is_ours(&self) -> bool {
        rustix::fs::statat(&self.folder, &self.temporary, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| (stat.st_dev, stat.st_ino) == self.copy)
    }

    /// Gives the copy its name. An error means that nothing was changed.
    pub(crate) fn place(mut self) -> Result<Placed, FilesError> {
        self.check_unchanged()?;
        if !self.lock.renew() || !self.is_ours() {
            return Err(FilesError::Changed { path: self.path.clone() });
        }
        let flags = match self.expected {
            Some(_) => RenameFlags::empty(),
            // A file that appeared meanwhile is somebody's work.
            None => RenameFlags::NOREPLACE,
        };
        match rustix::fs::renameat_with(&self.folder, &self.temporary, &self.folder, &self.name, flags) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(FilesError::Changed { path: self.path.clone() }),
            Err(errno) => return Err(FilesError::os(&self.path, "replace", errno)),
        }
        self.placed = true;
        match rustix::fs::fsync(&self.folder) {
            Ok(()) => Ok(Placed::Durable),
            Err(_) => {
                Ok(Placed::Unsynced(format!("`{}` was changed, but may not survive a power cut", self.path)))
            }
        }
    }
}

/// A change that has taken place.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Placed {
    Durable,
    /// The disk did not confirm it; the words are for the reply.
    Unsynced(String),
}

impl Placed {
    pub(crate) fn warning(self) -> Option<String> {
        match self {
            Placed::Durable => None,
            Placed::Unsynced(words) => Some(words),
        }
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        if !self.placed && self.is_ours() {
            let _ = rustix::fs::unlinkat(self.folder.as_fd(), &self.temporary, AtFlags::empty());
        }
    }
}

/// Identity and last change of a file: what tells "still the same" from "somebody was here".
/// The kernel sets the time of change itself; the time of modification can be set back by anybody. Without the number of
/// the device, which may be another after a reboot; no file is reached over a mount.
pub(crate) fn stamp(stat: &Stat) -> Stamp {
    let nanos = i64::try_from(stat.st_ctime_nsec).unwrap_or(0);
    (stat.st_ino, stat.st_size, stat.st_ctime, nanos)
}

pub(crate) type Stamp = (u64, i64, i64, i64);

fn keep_owner_and_mode(file: &File, old: &Stat) -> Result<(), Errno> {
    let new = rustix::fs::fstat(file)?;
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
        let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        match rustix::fs::fchown(file, Some(owner.0), Some(owner.1)) {
            // An ordinary user cannot give files away; the group alone may still be possible.
            Err(Errno::PERM) => match rustix::fs::fchown(file, None, Some(owner.1)) {
                Ok(()) | Err(Errno::PERM) => {}
                Err(errno) => return Err(errno),
            },
            other => other?,
        }
    }
    // Never set-user-id, which the kernel too takes from a file that is written. THREAT: a new text must not run as the
    // old one's owner. Set-group-id stays where it runs nothing, or runs it as a group that we are in: there whoever calls
    // could have set it. The kernel takes it away where we could not.
    let new = rustix::fs::fstat(file)?;
    let runs = old.st_mode & 0o010 != 0;
    let keeps_group = new.st_gid == old.st_gid && (!runs || is_own_group(old.st_gid));
    let kept = if keeps_group { 0o3777 } else { 0o1777 };
    rustix::fs::fchmod(file, Mode::from_raw_mode(old.st_mode & kept))
}

fn is_own_group(group: u32) -> bool {
    let group = Gid::from_raw(group);
    rustix::process::getegid() == group || rustix::process::getgroups().is_ok_and(|all| all.contains(&group))
}

const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// Access lists and a person's own attributes, the latter as far as they can be copied.
///
/// Beside an access list the group's bits of the mode are not the group's rights but the most that anybody in the list
/// has. Where the list may be lost they go with it, or the group would get what was meant for one person.
fn keep_attributes(folder: &OwnedFd, name: &str, new: &File) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let old = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(old) => old,
        Err(_) => return drop_group_rights(new),
    };
    let mut names = vec![0; 64 << 10];
    let length = rustix::fs::flistxattr(&old, &mut names).unwrap_or(0);
    let names = names.get(..length).unwrap_or_default();
    for name in names.split(|byte| *byte == 0).filter(|name| name.starts_with(b"user.")) {
        let _ = copy_attribute(&old, name, new);
    }
    match copy_attribute(&old, ACCESS_LIST, new) {
        // There is none, or the file system knows none.
        Ok(()) | Err(Copying::Get(Errno::NODATA | Errno::OPNOTSUPP)) => Ok(()),
        Err(Copying::Get(_) | Copying::Set) => drop_group_rights(new),
    }
}

/// Which half of copying an attribute failed.
enum Copying {
    Get(Errno),
    Set,
}

fn copy_attribute(old: &OwnedFd, name: &[u8], new: &File) -> Result<(), Copying> {
    let mut value = vec![0; 64 << 10];
    let length = rustix::fs::fgetxattr(old, name, &mut value).map_err(Copying::Get)?;
    let value = value.get(..length).unwrap_or_default();
    rustix::fs::fsetxattr(new, name, value, XattrFlags::empty()).map_err(|_| Copying::Set)
}

fn drop_group_rights(file: &File) -> Result<(), Errno> {
    let mode = rustix::fs::fstat(file)?.st_mode;
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode & 0o7707))
}

fn write_error(path: &str, error: &std::io::Error) -> FilesError {
    let errno = error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
    FilesError::os(path, "write", errno)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    /// Version 2: the owner, user 12345, the group, a mask of all, others; each with its rights.
    fn access_list() -> Vec<u8> {
        let none = u32::MAX;
        let rows = [(1, 6, none), (2, 6, 12_345), (4, 0, none), (16, 6, none), (32, 0, none)];
        let mut bytes = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, who) in rows {
            bytes.extend(u16::to_le_bytes(tag));
            bytes.extend(u16::to_le_bytes(rights));
            bytes.extend(u32::to_le_bytes(who));
        }
        bytes
    }

    #[test]
    fn the_set_group_id_bit_stays_and_the_set_user_id_bit_does_not() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.txt");
        let foreign = 54_321;
        for (mode, group, expected) in [
            (0o2664, None, 0o2664),
            (0o2775, None, 0o2775),
            (0o6775, None, 0o2775),
            (0o4755, None, 0o755),
            (0o2664, Some(foreign), 0o2664),
            (0o2775, Some(foreign), 0o775),
        ] {
            std::fs::write(&path, "old").unwrap();
            if group.is_some() && std::os::unix::fs::chown(&path, None, group).is_err() {
                continue; // only root can make such a file
            }
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let old = rustix::fs::stat(&path).unwrap();
            let new = File::create(home.path().join("copy")).unwrap();
            keep_owner_and_mode(&new, &old).unwrap();
            let found = new.metadata().unwrap();
            assert_eq!(found.mode() & 0o7777, expected, "{mode:o} {group:?}");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn the_group_gains_nothing_where_an_access_list_is_lost() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.txt");
        std::fs::write(&path, "old").unwrap();
        let old = File::open(&path).unwrap();
        if rustix::fs::fsetxattr(&old, ACCESS_LIST, &access_list(), XattrFlags::empty()).is_err() {
            return; // no access lists here, so none to lose
        }
        assert_eq!(old.metadata().unwrap().mode() & 0o777, 0o660, "the mask stands for the group");
        // A pipe has a mode, and takes no list.
        let (_reader, new) = std::io::pipe().unwrap();
        let new = File::from(OwnedFd::from(new));
        new.set_permissions(std::fs::Permissions::from_mode(0o660)).unwrap();
        let folder = OwnedFd::from(File::open(home.path()).unwrap());
        keep_attributes(&folder, "a.txt", &new).unwrap();
        assert_eq!(new.metadata().unwrap().mode() & 0o777, 0o600);
        // And where it can be kept it is, with the rights of its mask.
        let kept = File::create(home.path().join("b.txt")).unwrap();
        keep_attributes(&folder, "a.txt", &kept).unwrap();
        assert_eq!(kept.metadata().unwrap().mode() & 0o777, 0o660);
        let mut value = vec![0; 4096];
        let length = rustix::fs::fgetxattr(&kept, ACCESS_LIST, &mut value).unwrap();
        assert_eq!(value[..length], access_list());
    }
}

//! Files of our own state folder: never through a link, and only regular ones that are ours.
//!
//! THREAT: P03, a link in place of a file of ours makes us read, write or chmod what it leads to.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};

const ROOT: u32 = 0;

/// What a file of the state folder is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateOpen {
    Read,
    /// Reading and adding; made, for us alone, when it is not there.
    Append,
    /// Reading and writing what is there.
    Change,
    /// Must not be there; made for us alone.
    New,
}

/// Opens a file of the state folder or of one of its folders. The folder itself may be reached through links, as home
/// folders are; the last folder and the file may not be one.
pub fn open_state_file(path: &Path, how: StateOpen) -> io::Result<File> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let at = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, at, Mode::empty())?;
    let flags = match how {
        StateOpen::Read => OFlags::RDONLY,
        StateOpen::Append => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE,
        StateOpen::Change => OFlags::RDWR,
        StateOpen::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
    };
    // A pipe in its place would keep us waiting.
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o600) } else { Mode::empty() };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let file = File::from(rustix::fs::openat2(&folder, name, flags, mode, resolve)?);
    check_own(&file, rustix::fs::fstat(&folder)?.st_uid, how)?;
    Ok(file)
}

/// Refuses what is no regular file, and a file that another user owns and can therefore change. Root may work in the
/// state folder of a person, whose own files are then as good as the folder.
fn check_own(file: &File, owner_of_folder: u32, how: StateOpen) -> io::Result<()> {
    let stat = rustix::fs::fstat(file)?;
    let refuse = |why| Err(io::Error::new(io::ErrorKind::InvalidData, why));
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return refuse("it is no regular file");
    }
    // What is only read may have two names for a moment: keys are linked to their place.
    if how != StateOpen::Read && stat.st_nlink > 1 {
        return refuse("it has a second name, perhaps outside");
    }
    if !is_ours(rustix::process::geteuid().as_raw(), stat.st_uid, owner_of_folder) {
        return refuse("it belongs to another user");
    }
    Ok(())
}

fn is_ours(me: u32, owner: u32, owner_of_folder: u32) -> bool {
    owner == me || owner == ROOT || (me == ROOT && owner == owner_of_folder)
}

/// Takes everybody else's rights away from a file of ours, if it is there. It is not opened for that: closing a file takes
/// away the locks that this process has on it.
pub fn make_private(path: &Path) -> io::Result<bool> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(false),
        Err(errno) => return Err(errno.into()),
    };
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let owner = rustix::fs::statat(CWD, folder, rustix::fs::AtFlags::empty())?.st_uid;
    check_own(&file, owner, StateOpen::Change)?;
    if rustix::fs::fstat(&file)?.st_mode & 0o077 != 0 {
        // The kernel takes no mode through such a handle but by this name.
        let handle = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        rustix::fs::chmod(handle, Mode::from_raw_mode(0o600))?;
    }
    Ok(true)
}

/// A folder of the state folder, made when it is not there. A link in its place is refused.
pub fn make_state_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let stat = rustix::fs::statat(CWD, path, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "it is a link, and links are not followed"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_pipes_and_folders_are_refused_and_their_targets_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("target"), "outside").unwrap();
        std::fs::create_dir(at("state")).unwrap();
        symlink(at("target"), at("state/link")).unwrap();
        symlink(at("nothing"), at("state/dangling")).unwrap();
        symlink(at("state"), at("linked")).unwrap();
        std::fs::create_dir(at("state/folder")).unwrap();
        rustix::fs::mkfifoat(CWD, at("state/pipe"), Mode::from_raw_mode(0o600)).unwrap();
        for name in ["state/link", "state/dangling", "linked/new", "state/folder", "state/pipe"] {
            for how in [StateOpen::Read, StateOpen::Append, StateOpen::Change, StateOpen::New] {
                assert!(open_state_file(&at(name), how).is_err(), "{name} {how:?}");
            }
        }
        let mode = || std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(at("target")).unwrap());
        let before = mode();
        assert!(make_private(&at("state/link")).is_err() && make_private(&at("state/folder")).is_err());
        assert_eq!((std::fs::read_to_string(at("target")).unwrap(), mode()), ("outside".to_owned(), before));
        std::fs::hard_link(at("target"), at("state/second")).unwrap();
        assert!(make_private(&at("state/second")).is_err());
        assert!(open_state_file(&at("state/second"), StateOpen::Append).is_err());
        assert!(open_state_file(&at("state/second"), StateOpen::Read).is_ok());
        assert_eq!(mode(), before);
        std::fs::remove_file(at("state/second")).unwrap();
        assert!(make_private(&at("target")).unwrap() && mode() & 0o777 == 0o600);
        assert!(!make_private(&at("nothing")).unwrap());
        assert!(!at("nothing").exists() && !at("state/new").exists());
        assert!(make_state_folder(&at("linked")).is_err());
        make_state_folder(&at("state/deep/er")).unwrap();
        open_state_file(&at("state/deep/er/x"), StateOpen::Append).unwrap().write_all(b"1").unwrap();
        assert!(open_state_file(&at("state/deep/er/x"), StateOpen::New).is_err());
        open_state_file(&at("state/deep/er/x"), StateOpen::Read).unwrap();
    }

    #[test]
    fn a_file_of_another_user_is_refused_unless_root_works_in_his_folder() {
        let rows = [
            (7, 7, 7, true),
            (7, 0, 7, true),
            (7, 8, 7, false),
            (7, 8, 8, false),
            (0, 0, 0, true),
            (0, 8, 0, false),
            (0, 8, 8, true),
            (0, 8, 7, false),
        ];
        for (me, owner, owner_of_folder, expected) in rows {
            assert_eq!(is_ours(me, owner, owner_of_folder), expected, "{me} {owner} {owner_of_folder}");
        }
    }
}

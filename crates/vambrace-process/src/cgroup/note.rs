//! Where a process makes its groups, in a file that outlives it. It knows names of files and folders, and nothing of limits.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::{PREFIX, own_prefix, owner, started, sweep};
use crate::scratch::{entries_of_own, own_folder};

/// Both versions, as `statfs` tells them.
const CGROUP: [u64; 2] = [0x0027_e0eb, 0x6367_7270];
const LONGEST: u64 = 64 << 10;
const MOST_NOTES: usize = 1000;

/// Of this process.
pub(super) fn leave<'f>(notes: &Path, folders: impl Iterator<Item = &'f Path>) -> io::Result<()> {
    let mut text = Vec::new();
    for folder in folders {
        text.extend_from_slice(folder.as_os_str().as_bytes());
        text.push(0);
    }
    if text.is_empty() {
        return Ok(());
    }
    own_folder(notes)?;
    let path = notes.join(own_prefix());
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?.write_all(&text)
}

/// Of those that are gone: what they left is removed, and then their note.
///
/// INVARIANT: only empty groups are removed, by names that carry a process that is gone, in a tree of control groups.
pub(super) fn follow(notes: &Path) {
    for entry in entries_of_own(notes).take(MOST_NOTES) {
        let name = entry.file_name();
        let is_gone = name
            .to_str()
            .filter(|name| name.starts_with(PREFIX))
            .and_then(owner)
            .is_some_and(|(process, start)| started(process) != Some(start));
        if !is_gone {
            continue;
        }
        for folder in folders(&entry.path()).unwrap_or_default().split(|byte| *byte == 0) {
            let folder = Path::new(OsStr::from_bytes(folder));
            if folder.is_absolute() && is_cgroup(folder) {
                sweep(folder);
            }
        }
        let _removed = std::fs::remove_file(entry.path());
    }
}

fn folders(note: &Path) -> io::Result<Vec<u8>> {
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(note)?;
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text)?;
    Ok(text)
}

fn is_cgroup(folder: &Path) -> bool {
    let found = rustix::fs::statfs(folder).ok().and_then(|found| u64::try_from(found.f_type).ok());
    found.is_some_and(|magic| CGROUP.contains(&magic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::Groups;

    /// The number of a process that cannot be, and a start that nobody had.
    const GONE: &str = "vambrace-4194399-1-";

    #[test]
    fn what_a_dead_process_left_elsewhere_is_removed() {
        let notes = tempfile::tempdir().unwrap();
        let groups = Groups::detect(notes.path());
        let own = notes.path().join(own_prefix());
        let Some(folder) = groups.usable.first().map(|usable| usable.folder.join("vambrace-test-elsewhere"))
        else {
            assert!(!own.exists(), "there is nothing to note");
            return;
        };
        assert!(own.exists());
        let left = folder.join(format!("{GONE}0-next"));
        std::fs::create_dir_all(&left).unwrap();
        let text = [folder.as_os_str().as_bytes(), b"\0/\0relative\0"].concat();
        std::fs::write(notes.path().join(GONE), text).unwrap();
        Groups::detect(notes.path());
        let is_gone = !left.exists();
        std::fs::remove_dir(&folder).unwrap();
        assert!(is_gone && !notes.path().join(GONE).exists() && own.exists());
    }

    #[test]
    fn nothing_is_removed_outside_the_trees_of_groups() {
        let notes = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let left = elsewhere.path().join(format!("{GONE}0-next"));
        std::fs::create_dir(&left).unwrap();
        std::fs::write(notes.path().join(GONE), elsewhere.path().as_os_str().as_bytes()).unwrap();
        follow(notes.path());
        assert!(left.exists() && !notes.path().join(GONE).exists());
    }
}

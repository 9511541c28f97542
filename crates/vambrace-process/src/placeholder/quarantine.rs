//! Takes what a program planted out of the workspace. Moved, not deleted: a person may want to see it.
//!
//! INVARIANT: no link is followed, neither on the way to a thing nor inside it.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

/// What is larger is renamed in its place instead of being copied to another file system.
const MOST_BYTES: u64 = 256 << 20;
const MOST_ENTRIES: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) from: PathBuf,
    /// Where it is now, or why it is still there.
    pub(crate) to: Result<PathBuf, String>,
}

/// `new` lies beneath `workspace`; `state` is a folder of ours outside of it.
pub(crate) fn quarantine(new: &[PathBuf], workspace: &Path, state: &Path) -> Vec<Moved> {
    let mut moved = Vec::new();
    for from in new {
        let to = take(from, workspace, &state.join("quarantine")).map_err(|error| error.to_string());
        moved.push(Moved { from: from.clone(), to });
    }
    moved
}

fn take(from: &Path, workspace: &Path, folder: &Path) -> io::Result<PathBuf> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = from.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = open_parent(from, workspace)?;
    let mut number = 0_u32;
    let to = loop {
        let to = folder.join(format!("{number}-{}", name.to_string_lossy()));
        match rustix::fs::renameat_with(&parent, name, CWD, &to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(to),
            Err(Errno::EXIST) => number += 1,
            Err(Errno::XDEV) => break to,
            Err(error) => return Err(error.into()),
        }
    };
    // Another file system. First under a name that means nothing to any tool, so that it is harmless whatever follows.
    let aside = aside(&parent, name)?;
    let source = from.with_file_name(&aside);
    let mut budget = Budget { bytes: MOST_BYTES, entries: MOST_ENTRIES };
    match copy(&source, &to, &mut budget).and_then(|()| remove(&source)) {
        Ok(()) => Ok(to),
        Err(_) => Ok(source),
    }
}

fn aside(parent: &OwnedFd, name: &OsStr) -> io::Result<String> {
    let plain = name.to_string_lossy().trim_start_matches('.').to_owned();
    for number in 0..1000_u32 {
        let aside = format!("quarantined-{number}-{plain}.txt");
        match rustix::fs::renameat_with(parent, name, parent, &aside, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(aside),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// THREAT: P07, a link on the way would let a program choose what on this machine is moved.
fn open_parent(path: &Path, workspace: &Path) -> io::Result<OwnedFd> {
    let relative = path.parent().and_then(|parent| parent.strip_prefix(workspace).ok());
    let relative = relative.ok_or(io::ErrorKind::InvalidInput)?;
    let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
    let root = rustix::fs::open(workspace, flags, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    Ok(rustix::fs::openat2(&root, relative, flags, Mode::empty(), resolve)?)
}

struct Budget {
    bytes: u64,
    entries: usize,
}

fn copy(from: &Path, to: &Path, budget: &mut Budget) -> io::Result<()> {
    let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
    budget.entries = budget.entries.checked_sub(1).ok_or_else(too_large)?;
    let metadata = std::fs::symlink_metadata(from)?;
    if metadata.is_symlink() {
        return std::os::unix::fs::symlink(std::fs::read_link(from)?, to);
    }
    if metadata.is_dir() {
        std::fs::DirBuilder::new().mode(0o700).create(to)?;
        for entry in std::fs::read_dir(from)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name), budget)?;
        }
        return Ok(());
    }
    if !metadata.is_file() {
        // Sockets and pipes mean nothing elsewhere.
        return Ok(());
    }
    budget.bytes = budget.bytes.checked_sub(metadata.len()).ok_or_else(too_large)?;
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let source = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(from)?;
    let mut target = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut io::Read::take(source, metadata.len()), &mut target)?;
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(path)?.is_dir() {
        // A program may have left a folder that even its owner cannot empty.
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700));
        return std::fs::remove_dir_all(path);
    }
    std::fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (work, state) = (base.join("work"), base.join("state"));
        std::fs::create_dir_all(work.join("sub/.vscode")).unwrap();
        std::fs::create_dir(&state).unwrap();
        std::fs::write(work.join("sub/.vscode/tasks.json"), "{}").unwrap();
        (root, work, state)
    }

    #[test]
    fn planted_things_leave_the_workspace_whole() {
        let (_root, work, state) = place();
        std::os::unix::fs::symlink("/etc/passwd", work.join(".envrc")).unwrap();
        let moved = quarantine(&[work.join("sub/.vscode"), work.join(".envrc")], &work, &state);
        let expected = [state.join("quarantine/0-.vscode"), state.join("quarantine/0-.envrc")];
        let to: Vec<_> = moved.iter().map(|moved| moved.to.clone().unwrap()).collect();
        assert_eq!(to, expected);
        assert!(expected[0].join("tasks.json").is_file());
        assert_eq!(std::fs::read_link(&expected[1]).unwrap(), Path::new("/etc/passwd"));
        assert!(
            !work.join("sub/.vscode").exists() && std::fs::symlink_metadata(work.join(".envrc")).is_err()
        );
        // The same name again does not cover the first.
        std::fs::create_dir(work.join("sub/.vscode")).unwrap();
        let again = quarantine(&[work.join("sub/.vscode")], &work, &state);
        assert_eq!(again[0].to, Ok(state.join("quarantine/1-.vscode")));
    }

    #[test]
    fn a_link_on_the_way_stops_it() {
        let (_root, work, state) = place();
        let outside = state.join("outside");
        std::fs::create_dir_all(outside.join(".vscode")).unwrap();
        std::os::unix::fs::symlink(&outside, work.join("link")).unwrap();
        let moved = quarantine(&[work.join("link/.vscode"), state.join("outside/.vscode")], &work, &state);
        assert!(moved.iter().all(|moved| moved.to.is_err()), "{moved:?}");
        assert!(outside.join(".vscode").is_dir());
    }

    #[test]
    fn a_copy_keeps_links_as_links_and_ends_at_its_budget() {
        let (_root, work, state) = place();
        std::os::unix::fs::symlink("/etc", work.join("sub/.vscode/etc")).unwrap();
        copy(&work.join("sub"), &state.join("copy"), &mut Budget { bytes: 10, entries: 10 }).unwrap();
        assert_eq!(std::fs::read_link(state.join("copy/.vscode/etc")).unwrap(), Path::new("/etc"));
        assert!(state.join("copy/.vscode/tasks.json").is_file());
        let few = copy(&work.join("sub"), &state.join("few"), &mut Budget { bytes: 10, entries: 2 });
        assert_eq!(few.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let small = copy(&work.join("sub"), &state.join("small"), &mut Budget { bytes: 1, entries: 10 });
        assert_eq!(small.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}

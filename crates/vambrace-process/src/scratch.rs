//! A folder of our own that lives as long as something uses it, and goes at the latest when the next one is made.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags};

/// Others who start and end at the same time cost a try each.
const MOST_TRIES: usize = 1000;

/// Locked while it is used: one that is not locked was left behind by a process that was killed.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    lock: OwnedFd,
}

impl Scratch {
    /// A new empty folder whose path programs may know: what is mounted from it is listed in a cage with that path, and
    /// the one of our state is not for them. In memory where the machine has such a place and it is ours, else in the
    /// state.
    pub(crate) fn to_be_shown(state: &Path, name: &str) -> io::Result<Scratch> {
        let user = rustix::process::geteuid().as_raw();
        // THREAT: P07, flat, because in a folder of another user he could exchange what lies deeper.
        let in_memory = Path::new("/dev/shm").join(format!("vambrace-{user}-{name}"));
        Scratch::new(&in_memory).or_else(|_| Scratch::new(&state.join(name)))
    }

    /// A new empty folder in this one, which is made too.
    pub(crate) fn new(parent: &Path) -> io::Result<Scratch> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for _ in 0..MOST_TRIES {
            let path = match make(parent) {
                Ok(path) => path,
                // The last one who used the folder around it removed that, or another process has our number, in another
                // namespace or before us.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) =>
                {
                    last = error;
                    continue;
                }
                Err(error) => return Err(error),
            };
            // Between these two steps somebody else may have taken it for abandoned.
            if let Some(lock) = lock(&path)
                && is_at(&lock, &path)
            {
                return Ok(Scratch { path, lock });
            }
        }
        Err(last)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// False once somebody removed it: the machine's memory is emptied when a user has logged out.
    pub(crate) fn is_there(&self) -> bool {
        is_at(&self.lock, &self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
        // Only the last one succeeds.
        let _ = self.path.parent().map(std::fs::remove_dir);
    }
}

/// A folder of our state, made when it is not there. With a link in its place, what we put in it would lie elsewhere.
pub(crate) fn own_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let found = rustix::fs::lstat(path)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => Ok(()),
        _ => Err(io::Error::other(format!("`{}` is a link, and links are not followed", path.display()))),
    }
}

fn make(parent: &Path) -> io::Result<PathBuf> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    builder.recursive(true).create(parent)?;
    check_own(parent)?;
    remove_abandoned(parent);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let path = parent.join(format!("{}-{number}", std::process::id()));
    builder.recursive(false).create(&path)?;
    Ok(path)
}

fn lock(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(opened)
}

fn is_at(lock: &OwnedFd, path: &Path) -> bool {
    let (Ok(ours), Ok(there)) = (rustix::fs::fstat(lock), rustix::fs::lstat(path)) else { return false };
    (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)
}

/// THREAT: P07, another user who put a link or a folder of its own here would choose what is removed, and what the cages
/// are built of.
fn check_own(parent: &Path) -> io::Result<()> {
    const OTHERS_WRITE: u32 = 0o022;
    let found = rustix::fs::lstat(parent)?;
    let is_folder = FileType::from_raw_mode(found.st_mode).is_dir();
    let is_ours = found.st_uid == rustix::process::geteuid().as_raw();
    if is_folder && is_ours && found.st_mode & OTHERS_WRITE == 0 {
        return Ok(());
    }
    let parent = parent.display();
    Err(io::Error::other(format!(
        "`{parent}` is a link, belongs to another user or can be written by others"
    )))
}

/// INVARIANT: only what has a name that we give. The folder around it may hold other things: who keeps our state in
/// `/usr/local` has an `etc` there.
fn remove_abandoned(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        if !is_our_name(&entry.file_name()) {
            continue;
        }
        if let Some(_lock) = lock(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn is_our_name(name: &OsStr) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = name.to_str().and_then(|name| name.split_once('-'));
    parts.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_what_we_named_is_ever_removed() {
        let parent = tempfile::tempdir().unwrap();
        let place = parent.path().join("etc");
        for name in ["nginx", "1-x", "-1", "1-", "7", "1-2-3", "5-0"] {
            std::fs::create_dir_all(place.join(name).join("sites")).unwrap();
        }
        drop(Scratch::new(&place).unwrap());
        let mut left: Vec<_> =
            std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["-1", "1-", "1-2-3", "1-x", "7", "nginx"]);
    }

    #[test]
    fn a_link_or_a_folder_that_others_can_write_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let outside = base.path().join("outside");
        std::fs::create_dir_all(outside.join("1-0/kept")).unwrap();
        let link = base.path().join("etc");
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        assert!(Scratch::new(&link).is_err());
        let open = base.path().join("open");
        std::fs::create_dir_all(open.join("1-0/kept")).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Scratch::new(&open).is_err());
        assert!(outside.join("1-0/kept").exists() && open.join("1-0/kept").exists());
    }

    #[test]
    fn a_link_is_no_folder_of_ours() {
        let base = tempfile::tempdir().unwrap();
        own_folder(&base.path().join("a/b")).unwrap();
        own_folder(&base.path().join("a/b")).unwrap();
        std::os::unix::fs::symlink("a", base.path().join("link")).unwrap();
        std::os::unix::fs::symlink("nothing", base.path().join("dangling")).unwrap();
        assert!(own_folder(&base.path().join("link")).is_err());
        assert!(own_folder(&base.path().join("dangling")).is_err());
        assert_eq!(std::fs::read_dir(base.path()).unwrap().count(), 3);
    }

    #[test]
    fn what_was_left_behind_goes_and_what_is_used_stays() {
        let parent = tempfile::tempdir().unwrap();
        let place = parent.path().join("a/b");
        let first = Scratch::new(&place).unwrap();
        std::fs::write(first.path().join("x"), "").unwrap();
        std::fs::create_dir(place.join("1-0")).unwrap();
        std::fs::write(place.join("1-0/x"), "").unwrap();
        let second = Scratch::new(&place).unwrap();
        assert!(first.path().join("x").exists() && second.path().is_dir());
        assert!(!place.join("1-0").exists());
        drop((first, second));
        assert!(!place.exists() && parent.path().join("a").exists());
    }
}

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
/// Memory of the machine that every user may put files in.
const MEMORY: &str = "/dev/shm";

/// Locked while it is used: one that is not locked was left behind by a process that was killed.
#[derive(Debug)]
pub(crate) struct Scratch {
    place: Place,
    path: PathBuf,
    lock: OwnedFd,
}

/// Where such folders are made.
#[derive(Debug)]
enum Place {
    /// In a folder of ours, which comes and goes with them.
    Own(PathBuf),
    /// Beside files of other users, in a folder where only the owner of a file may rename or remove it. How names begin.
    Shared(PathBuf, String),
}

impl Scratch {
    /// A new folder whose path programs may know, filled: what is mounted from it is listed in a cage with that path, and
    /// the one of our state is not for them. In memory where the machine has such a place with room, else in the state.
    pub(crate) fn to_be_shown<T>(
        state: &Path,
        name: &str,
        fill: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<(Scratch, T)> {
        let user = rustix::process::geteuid().as_raw();
        let in_memory = Place::Shared(PathBuf::from(MEMORY), format!("vambrace-{user}-{name}-"));
        let filled = |place| {
            let scratch = Scratch::at(place)?;
            let filled = fill(scratch.path())?;
            Ok((scratch, filled))
        };
        filled(in_memory).or_else(|_: io::Error| filled(Place::Own(state.join(name))))
    }

    fn at(place: Place) -> io::Result<Scratch> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for _ in 0..MOST_TRIES {
            let path = match place.make() {
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
                place.remove_abandoned();
                return Ok(Scratch { place, path, lock });
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
        // Once it was removed, another process may have one of this name.
        if self.is_there() {
            let _ = std::fs::remove_dir_all(&self.path);
        }
        match &self.place {
            // Only the last one succeeds.
            Place::Own(parent) => {
                let _ = std::fs::remove_dir(parent);
            }
            Place::Shared(..) => {}
        }
    }
}

impl Place {
    /// The folder around, and how names begin in it.
    fn parts(&self) -> (&Path, &str) {
        match self {
            Place::Own(parent) => (parent, ""),
            Place::Shared(parent, prefix) => (parent, prefix),
        }
    }

    fn ready(&self) -> io::Result<()> {
        match self {
            Place::Own(parent) => {
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
                check_own(parent)
            }
            Place::Shared(parent, _) => check_shared(parent),
        }
    }

    fn make(&self) -> io::Result<PathBuf> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        self.ready()?;
        let (parent, prefix) = self.parts();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{prefix}{}-{number}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(path)
    }

    /// INVARIANT: only what has a name that we give, and belongs to us. The folder around it may hold other things: who keeps
    /// our state in `/usr/local` has an `etc` there.
    fn remove_abandoned(&self) {
        let user = rustix::process::geteuid().as_raw();
        let (parent, prefix) = self.parts();
        for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
            if !is_our_name(&entry.file_name(), prefix) {
                continue;
            }
            if let Some(lock) = lock(&entry.path())
                && rustix::fs::fstat(&lock).is_ok_and(|found| found.st_uid == user)
            {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// A folder of our state, made when it is not there. With a link in its place, what we put in it would lie elsewhere.
pub(crate) fn own_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let found = rustix::fs::lstat(path)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => Ok(()),
        _ => {
            // Without the folder around it: callers are told of this, and where our state lies is
            // not for them.
            let name = path.file_name().unwrap_or_default().display();
            Err(io::Error::other(format!(
                "`{name}` in the state folder is a link, and links are not followed"
            )))
        }
    }
}

/// What lies in a folder of our state; nothing if it is not there, or if there is a link in its
/// place.
///
/// THREAT: P03, what is abandoned is removed from such a folder. Behind a link it would be somebody
/// else's files.
pub(crate) fn entries_of_own(path: &Path) -> impl Iterator<Item = std::fs::DirEntry> + use<> {
    let is_folder =
        rustix::fs::lstat(path).is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir());
    let entries = is_folder.then(|| std::fs::read_dir(path).ok()).flatten();
    entries.into_iter().flatten().flatten()
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

/// THREAT: P07, the same: nobody but root may move a folder of ours away from here.
fn check_shared(parent: &Path) -> io::Result<()> {
    let found = rustix::fs::lstat(parent)?;
    let is_folder = FileType::from_raw_mode(found.st_mode).is_dir();
    if is_folder && found.st_uid == 0 && Mode::from_raw_mode(found.st_mode).contains(Mode::SVTX) {
        return Ok(());
    }
    Err(io::Error::other(format!("`{}` is no folder that users can share", parent.display())))
}

fn is_our_name(name: &OsStr, prefix: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = name.to_str().and_then(|name| name.strip_prefix(prefix)?.split_once('-'));
    parts.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn own(parent: &Path) -> io::Result<Scratch> {
        Scratch::at(Place::Own(parent.to_owned()))
    }

    #[test]
    fn only_what_we_named_is_ever_removed() {
        let parent = tempfile::tempdir().unwrap();
        let place = parent.path().join("etc");
        for name in ["nginx", "1-x", "-1", "1-", "7", "1-2-3", "5-0"] {
            std::fs::create_dir_all(place.join(name).join("sites")).unwrap();
        }
        drop(own(&place).unwrap());
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
        assert!(own(&link).is_err());
        let open = base.path().join("open");
        std::fs::create_dir_all(open.join("1-0/kept")).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(own(&open).is_err());
        assert!(outside.join("1-0/kept").exists() && open.join("1-0/kept").exists());
    }

    #[test]
    fn what_cannot_be_filled_in_memory_is_filled_in_the_state() {
        let state = tempfile::tempdir().unwrap();
        let fill = |folder: &Path| match folder.starts_with(MEMORY) {
            true => Err(io::Error::from(io::ErrorKind::StorageFull)),
            false => std::fs::write(folder.join("x"), "").map(|()| folder.to_owned()),
        };
        let (scratch, filled) = Scratch::to_be_shown(state.path(), "unit", fill).unwrap();
        assert!(filled.starts_with(state.path()) && filled == scratch.path() && filled.join("x").exists());
        drop(scratch);
        assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0);
        assert!(
            Scratch::to_be_shown(state.path(), "unit", |_| io::Result::<()>::Err(io::Error::other("full")))
                .is_err()
        );
    }

    #[test]
    fn beside_files_of_others_only_ours_is_removed_and_the_place_stays() {
        let parent = tempfile::tempdir().unwrap();
        let shared = || Place::Shared(parent.path().to_owned(), "vambrace-0-x-".to_owned());
        assert!(Scratch::at(shared()).is_err(), "everybody could rename it there");
        if !rustix::process::geteuid().is_root() {
            return;
        }
        std::fs::set_permissions(parent.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        for name in ["vambrace-0-x-1-0", "vambrace-0-x-2-0", "1-0", "vambrace-0-y-1-0"] {
            std::fs::create_dir(parent.path().join(name)).unwrap();
        }
        std::os::unix::fs::chown(parent.path().join("vambrace-0-x-2-0"), Some(1234), None).unwrap();
        let scratch = Scratch::at(shared()).unwrap();
        assert!(scratch.is_there() && scratch.path().starts_with(parent.path()));
        drop(scratch);
        let mut left: Vec<_> =
            std::fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["1-0", "vambrace-0-x-2-0", "vambrace-0-y-1-0"]);
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
        let first = own(&place).unwrap();
        std::fs::write(first.path().join("x"), "").unwrap();
        std::fs::create_dir(place.join("1-0")).unwrap();
        std::fs::write(place.join("1-0/x"), "").unwrap();
        let second = own(&place).unwrap();
        assert!(first.path().join("x").exists() && second.path().is_dir());
        assert!(!place.join("1-0").exists());
        drop((first, second));
        assert!(!place.exists() && parent.path().join("a").exists());
    }
}

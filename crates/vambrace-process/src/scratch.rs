//! A folder of our own that lives as long as something uses it, and goes at the latest when the next one is made.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, Mode, OFlags};

/// Locked while it is used: one that is not locked was left behind by a process that was killed.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    _lock: OwnedFd,
}

impl Scratch {
    /// A new empty folder in this one, which is made too.
    pub(crate) fn new(parent: &Path) -> io::Result<Scratch> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700);
        remove_abandoned(parent);
        loop {
            builder.recursive(true).create(parent)?;
            builder.recursive(false);
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{}-{number}", std::process::id()));
            match builder.create(&path) {
                Ok(()) => {}
                // Another process with our number, in another namespace or before us.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                // The last one who used the folder around it removed that.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
            // Between these two steps somebody else may have taken it for abandoned.
            if let Some(lock) = lock(&path)
                && is_at(&lock, &path)
            {
                return Ok(Scratch { path, _lock: lock });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
        // Only the last one succeeds.
        let _ = self.path.parent().map(std::fs::remove_dir);
    }
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

fn remove_abandoned(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        if let Some(_lock) = lock(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

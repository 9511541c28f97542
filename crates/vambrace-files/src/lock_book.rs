//! Which locks this process holds, written down in the state folder: when it is killed, the next start takes the lock
//! files away that it left beside files of the project.
//!
//! It is a help for tidiness and decides nothing: a lock that could not be noted is taken all the same.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use vambrace_policy::Access;
use vambrace_types::ScopedPath;

use crate::lock::{Lock, LockPolicy};
use crate::open::Opener;
use crate::state::{StateOpen, make_state_folder, open_state_file};
use crate::{Root, Stop};

const ENDING: &str = "locks";
/// LIMIT: more than one edit may hold.
const LONGEST: u64 = 4 << 20;
/// A lock file whose maker died before signing it is known for abandoned when it is a second old.
const UNSIGNED: Duration = Duration::from_millis(1500);

/// Of one process and one root.
#[derive(Debug, Default)]
pub(crate) struct LockBook {
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: File,
    /// What every line begins with: the file is emptied when nothing is held.
    root: Vec<u8>,
    n_held: usize,
    n_bytes: u64,
}

/// As long as it lives, a lock may be held.
#[derive(Debug)]
pub(crate) struct Noted<'b>(&'b LockBook);

impl LockBook {
    /// To be called before the lock is taken, and dropped behind it.
    pub(crate) fn note(&self, folder: &Path, root: &Root, path: &ScopedPath) -> Noted<'_> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_none() {
            *open = Open::new(folder, root).ok();
        }
        if let Some(open) = open.as_mut() {
            let start: &[u8] = if open.n_held == 0 { &open.root } else { b"" };
            let line = [start, path.components().join("/").as_bytes(), b"\0"].concat();
            open.n_held += 1;
            // Where somebody always holds one, it is never emptied.
            if open.n_bytes < LONGEST {
                open.n_bytes += line.len() as u64;
                let _ = open.file.write_all(&line);
            }
        }
        Noted(self)
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.as_mut() {
            open.n_held = open.n_held.saturating_sub(1);
            if open.n_held == 0 {
                open.n_bytes = 0;
                let _ = open.file.set_len(0);
            }
        }
    }
}

impl Drop for LockBook {
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open {
            let _ = fs::remove_file(&open.path);
        }
    }
}

impl Open {
    fn new(folder: &Path, root: &Root) -> std::io::Result<Open> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        make_state_folder(folder)?;
        let (inode, place) = root.identity()?;
        let root = format!("{inode}\0{place}\0").into_bytes();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{}-{number}.{ENDING}", std::process::id()));
            // A dead process of the same number may have left one, for another workspace.
            let file = match open_state_file(&path, StateOpen::New) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                made => made?,
            };
            // Opened for adding, so that what comes after emptying it stands at its beginning.
            let adding = open_state_file(&path, StateOpen::Append)?;
            drop(file);
            adding.lock()?;
            return Ok(Open { path, file: adding, root, n_held: 0, n_bytes: 0 });
        }
    }
}

/// Takes away what dead processes have left in this workspace.
pub(crate) fn sweep(opener: Opener<'_>, policy: LockPolicy, folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|ending| ending == ENDING) {
            // What cannot be read now is left for the next start.
            let _ = sweep_one(opener, policy, &path);
        }
    }
}

fn sweep_one(opener: Opener<'_>, policy: LockPolicy, path: &Path) -> std::io::Result<()> {
    let file = open_state_file(path, StateOpen::Change)?;
    // Its maker lives.
    if file.try_lock().is_err() {
        return Ok(());
    }
    let mut text = String::new();
    (&file).take(LONGEST).read_to_string(&mut text)?;
    let mut fields = text.split('\0');
    let (Some(inode), Some(place)) = (fields.next(), fields.next()) else { return fs::remove_file(path) };
    let root = opener.root.identity()?;
    if inode.parse() != Ok(root.0) || place != root.1 {
        return Ok(());
    }
    // Behind the last separator stands nothing, or half of a name of which no lock was taken yet.
    let names: Vec<&str> = fields.collect();
    for name in names.split_last().map_or(&[][..], |(_, whole)| whole) {
        let path = ScopedPath::from_components(name.split('/').map(str::to_owned).collect());
        let Some((path, Ok((folder, name)))) =
            path.as_ref().map(|path| (path, opener.parent(path, Access::Write)))
        else {
            continue;
        };
        // Whoever takes a dead one's lock removes it when he lets it go; a living one's stays.
        let now = LockPolicy { wait: UNSIGNED, ..policy };
        drop(Lock::acquire(folder.as_fd(), name, &opener.spelled(path), now, &Stop::default()));
    }
    fs::remove_file(path)
}

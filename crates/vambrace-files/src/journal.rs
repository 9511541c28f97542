//! Several files at once, all or nothing, over a crash too.
//!
//! A journal lives in the state folder, outside every root. `ID.prepare` lists the files before any copy is made;
//! renaming it to `ID.commit` is the one moment at which the change becomes true. After a crash the next start removes
//! the copies of a prepared change and finishes a committed one.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::AtFlags;
use rustix::io::Errno;
use vambrace_policy::Access;
use vambrace_types::ScopedPath;

use crate::lock::{Lock, LockPolicy};
use crate::open::Opener;
use crate::replace::{Prepared, Stamp, is_a_copy, stamp, temporary_name};
use crate::state::{StateOpen, make_state_folder, open_state_file};
use crate::{FilesError, Stop};

const VERSION: &str = "vambrace-journal-2";
/// LIMIT: more than any call may edit; a longer file is not a journal of ours.
const LONGEST: u64 = 4 << 20;

/// What the last start left behind, and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    pub finished: Vec<String>,
    pub reverted: Vec<String>,
    /// Changed by somebody else since, so left as they are now.
    pub conflicts: Vec<String>,
    /// Locked by somebody else now; their journal stays for the next start.
    pub postponed: Vec<String>,
}

impl Recovery {
    /// Adds what became of another root.
    pub fn extend(&mut self, other: Recovery) {
        self.finished.extend(other.finished);
        self.reverted.extend(other.reverted);
        self.conflicts.extend(other.conflicts);
        self.postponed.extend(other.postponed);
    }
}

/// An open journal, locked while its maker lives, so that no other process takes it for a dead one's.
pub(crate) struct Journal {
    path: PathBuf,
    _lock: File,
}

type RootIdentity = (u64, String);
type Listed = Vec<(ScopedPath, Stamp)>;

impl Journal {
    pub(crate) fn begin(
        folder: &Path,
        id: &str,
        root: &RootIdentity,
        files: &[(ScopedPath, Stamp)],
    ) -> std::io::Result<Journal> {
        make_state_folder(folder)?;
        let path = folder.join(format!("{id}.prepare"));
        let mut file = open_state_file(&path, StateOpen::New)?;
        file.lock()?;
        // Between the two somebody's recovery may have taken the empty file for a dead one's, and removed it.
        if !names(&path, &file)? {
            return Err(ErrorKind::AlreadyExists.into());
        }
        // Process numbers repeat: a dead process of another workspace may have left a change of this name.
        if path.with_extension("commit").try_exists()? {
            fs::remove_file(&path)?;
            return Err(ErrorKind::AlreadyExists.into());
        }
        file.write_all(&encode(root, files))?;
        file.sync_all()?;
        sync_folder(folder)?;
        Ok(Journal { path, _lock: file })
    }

    /// The point of no return.
    pub(crate) fn commit(&mut self) -> std::io::Result<()> {
        let committed = self.path.with_extension("commit");
        fs::rename(&self.path, &committed)?;
        self.path = committed;
        self.path.parent().map_or(Ok(()), sync_folder)
    }

    /// What was committed will not be finished after all.
    fn step_back(&mut self) {
        let prepared = self.path.with_extension("prepare");
        if fs::rename(&self.path, &prepared).is_ok() {
            self.path = prepared;
        }
    }

    pub(crate) fn end(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Places every copy, or none: when one cannot be placed, those before it get their old text back. Gives the warnings.
///
/// LIMIT: a rename that fails after all copies were made, and a crash while the old texts are put back, leave some files
/// new and some old.
pub(crate) fn place_all(
    prepared: Vec<Prepared<'_>>,
    mut journal: Option<&mut Journal>,
    undo: &mut dyn FnMut(usize) -> Result<(), String>,
) -> Result<Vec<String>, FilesError> {
    for copy in &prepared {
        copy.check_unchanged()?;
    }
    if let Some(journal) = &mut journal {
        journal.commit().map_err(|error| crate::read::io("the journal", &error))?;
    }
    let mut warnings = Vec::new();
    let mut copies = prepared.into_iter();
    let mut n_placed = 0;
    while let Some(copy) = copies.next() {
        match copy.place() {
            Ok(placed) => warnings.extend(placed.warning()),
            Err(error) => {
                // First the copies go and the journal steps back, so that a crash from here on finishes nothing more.
                drop(copies);
                if let Some(journal) = journal {
                    journal.step_back();
                }
                let paths: Vec<String> = (0..n_placed).filter_map(|place| undo(place).err()).collect();
                if paths.is_empty() {
                    return Err(error);
                }
                return Err(FilesError::HalfDone { paths, cause: Box::new(error) });
            }
        }
        n_placed += 1;
    }
    Ok(warnings)
}

pub(crate) fn recover(opener: Opener<'_>, policy: LockPolicy, folder: &Path) -> std::io::Result<Recovery> {
    let mut recovery = Recovery::default();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Where no folder can be, no journal was left.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(recovery);
        }
        Err(error) => return Err(error),
    };
    for entry in entries {
        match recover_one(opener, policy, &entry?.path(), &mut recovery) {
            // Its maker lives, and has just renamed or ended it.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            // A link is no journal of ours, wherever it leads.
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {}
            other => other?,
        }
    }
    Ok(recovery)
}

fn recover_one(
    opener: Opener<'_>,
    policy: LockPolicy,
    path: &Path,
    recovery: &mut Recovery,
) -> std::io::Result<()> {
    let committed = match path.extension().and_then(|extension| extension.to_str()) {
        Some("commit") => true,
        Some("prepare") => false,
        Some(_) | None => return Ok(()),
    };
    let file = open_state_file(path, StateOpen::Change)?;
    // Its maker lives; or died after giving it another name, and what the name said of it no longer holds.
    if file.try_lock().is_err() || !names(path, &file)? {
        return Ok(());
    }
    let mut bytes = Vec::new();
    (&file).take(LONGEST).read_to_end(&mut bytes)?;
    match decode(&bytes) {
        // Another workspace's: its own next start deals with it.
        Some((root, _)) if root != opener.root.identity()? => return Ok(()),
        Some((_, files)) => {
            let n_postponed = recovery.postponed.len();
            for (file, expected) in files {
                settle(opener, policy, &file, expected, committed, recovery);
            }
            if recovery.postponed.len() > n_postponed {
                return Ok(());
            }
        }
        // Not whole: the crash came before it was synced, so before any copy was made.
        None => {}
    }
    fs::remove_file(path)
}

/// Whether the path still leads to the open file.
fn names(path: &Path, file: &File) -> std::io::Result<bool> {
    let open = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn settle(
    opener: Opener<'_>,
    policy: LockPolicy,
    path: &ScopedPath,
    expected: Stamp,
    committed: bool,
    recovery: &mut Recovery,
) {
    let spelled = opener.spelled(path);
    let Ok((folder, name)) = opener.parent(path, Access::Write) else {
        recovery.conflicts.push(spelled);
        return;
    };
    // Another process may be editing the file right now, and then the copy beside it is not the dead one's.
    let _lock = match Lock::acquire(folder.as_fd(), name, &spelled, policy, &Stop::default()) {
        Ok(lock) => lock,
        Err(FilesError::Busy { .. }) => {
            recovery.postponed.push(spelled);
            return;
        }
        Err(_) => {
            recovery.conflicts.push(spelled);
            return;
        }
    };
    let temporary = temporary_name(name);
    let now = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let untouched = now.as_ref().map(stamp) == Some(expected);
    let copy = rustix::fs::statat(&folder, &temporary, AtFlags::SYMLINK_NOFOLLOW);
    if !copy.is_ok_and(|copy| is_a_copy(&copy, now.as_ref())) {
        // Without its copy a file that is still the old one can no longer become the new one.
        match (committed, untouched) {
            (true, false) => recovery.finished.push(spelled),
            (true, true) => recovery.conflicts.push(spelled),
            (false, _) => {}
        }
        return;
    }
    if committed && untouched && rustix::fs::renameat(&folder, &temporary, &folder, name).is_ok() {
        let _ = rustix::fs::fsync(&folder);
        recovery.finished.push(spelled);
        return;
    }
    let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
    if committed { recovery.conflicts.push(spelled) } else { recovery.reverted.push(spelled) }
}

/// Fields end with NUL, which no path can hold.
fn encode(root: &RootIdentity, files: &[(ScopedPath, Stamp)]) -> Vec<u8> {
    let mut text = format!("{VERSION}\0{}\0{}\0{}\0", root.0, root.1, files.len());
    for (path, (inode, size, seconds, nanos)) in files {
        let path = path.components().join("/");
        text.push_str(&format!("{path}\0{inode}\0{size}\0{seconds}\0{nanos}\0"));
    }
    text.push_str("end\0");
    text.into_bytes()
}

fn decode(bytes: &[u8]) -> Option<(RootIdentity, Listed)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut fields = text.split('\0');
    let mut next = || fields.next();
    if next()? != VERSION {
        return None;
    }
    let root = (next()?.parse().ok()?, next()?.to_owned());
    let n_files: usize = next()?.parse().ok()?;
    let mut files = Vec::new();
    for _ in 0..n_files {
        let path = ScopedPath::from_components(next()?.split('/').map(str::to_owned).collect())?;
        let (inode, size) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let stamp = (inode, size, next()?.parse().ok()?, next()?.parse().ok()?);
        files.push((path, stamp));
    }
    (next()? == "end").then_some((root, files))
}

fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    fn copy<'l>(home: &Path, name: &str, lock: &'l Lock) -> Prepared<'l> {
        let folder = OwnedFd::from(File::open(home).unwrap());
        let stat = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).unwrap();
        Prepared::new(lock, folder, name, name, Some(stat), b"new").unwrap()
    }

    /// A rival who took the lock over has put his half-written copy at our copy's name.
    #[test]
    fn a_rivals_copy_is_not_placed_and_what_cannot_be_undone_is_named() {
        let home = tempfile::tempdir().unwrap();
        let folder = File::open(home.path()).unwrap();
        let lock = |name| {
            let policy = LockPolicy::default();
            Lock::acquire(folder.as_fd(), name, name, policy, &Stop::default()).unwrap()
        };
        let [a, b] = ["a", "b"].map(|name| {
            fs::write(home.path().join(name), "old").unwrap();
            lock(name)
        });
        let rival = home.path().join(temporary_name("b"));
        for undone in [Ok(()), Err("a".to_owned())] {
            fs::write(home.path().join("a"), "old").unwrap();
            let copies = vec![copy(home.path(), "a", &a), copy(home.path(), "b", &b)];
            // Made before the other goes, so that it is another file.
            fs::write(home.path().join("half"), "half").unwrap();
            fs::rename(home.path().join("half"), &rival).unwrap();
            let error = place_all(copies, None, &mut |_| undone.clone()).unwrap_err();
            match undone {
                Ok(()) => assert!(matches!(error, FilesError::Changed { path } if path == "b")),
                Err(_) => {
                    assert!(matches!(&error, FilesError::HalfDone { paths, .. } if *paths == ["a"]));
                    assert!(error.to_tool_error().message.contains("`a`"));
                }
            }
            assert_eq!(fs::read_to_string(home.path().join("a")).unwrap(), "new");
            assert_eq!(fs::read_to_string(home.path().join("b")).unwrap(), "old");
            assert_eq!(fs::read_to_string(&rival).unwrap(), "half", "it is the rival's");
        }
    }

    #[test]
    fn a_journal_reads_back_and_a_torn_one_does_not() {
        let path = ScopedPath::from_components(vec!["a b".into(), "c\nd".into()]).unwrap();
        let files = vec![(path, (1, 2, 3, 4))];
        let root = (7, "/work space".to_owned());
        let bytes = encode(&root, &files);
        assert_eq!(decode(&bytes), Some((root, files)));
        for length in 0..bytes.len() - 1 {
            assert_eq!(decode(&bytes[..length]), None, "{length}");
        }
    }
}

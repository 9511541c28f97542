//! How this crate touches its files: private, never through a link, whole lines or nothing.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, FallocateFlags, OFlags, StatxFlags};
use rustix::io::Errno;

use crate::AuditError;

/// What a segment is written through. A trait so that a test can let the disk fail in the middle of a line.
pub(crate) trait Sink: Send + Sync {
    fn append(&self, bytes: &[u8]) -> io::Result<()>;
    fn truncate(&self, length: u64) -> io::Result<()>;
    fn sync(&self) -> io::Result<()>;
    /// Whether the file still has a name: writing to a deleted file succeeds and keeps nothing.
    fn is_linked(&self) -> io::Result<bool>;
}

/// A file that only we write, until this is dropped.
///
/// The lock is not left to closing: a child between fork and exec has a copy of the descriptor, and would keep it.
pub(crate) struct Locked(File);

impl Locked {
    pub(crate) fn try_new(file: File) -> Result<Locked, TryLockError> {
        file.try_lock()?;
        Ok(Locked(file))
    }

    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Sink for Locked {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.file().write_all(bytes)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn is_linked(&self) -> io::Result<bool> {
        // Only what is needed: asking for a file's times makes its next write store new ones, which takes longer
        // than the write.
        let found = rustix::fs::statx(&self.0, c"", AtFlags::EMPTY_PATH, StatxFlags::NLINK)?;
        Ok(found.stx_nlink > 0)
    }
}

/// Makes the folder if need be, and refuses one in which others could put or exchange files.
pub(crate) fn private_dir(path: &Path) -> Result<(), AuditError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(AuditError::io("make", path))?;
    check_place(path)
}

const OTHERS_WRITE: &str =
    "others may write in it; take that right from them with `chmod go-w`, or use a folder inside it";

/// That nobody else can exchange what is in this folder.
pub(crate) fn check_place(path: &Path) -> Result<(), AuditError> {
    let place = fs::symlink_metadata(path).map_err(AuditError::io("look at", path))?;
    let refuse = |why| Err(AuditError::UnsafePlace { path: path.to_owned(), why });
    if place.is_symlink() {
        return refuse("it is a symbolic link");
    }
    if place.mode() & 0o022 != 0 {
        return refuse(OTHERS_WRITE);
    }
    let me = rustix::process::geteuid();
    if !me.is_root() && place.uid() != me.as_raw() {
        return refuse("it belongs to another user");
    }
    check_above(path)
}

const STICKY: u32 = 0o1000;

/// THREAT: P12, whoever may rename this folder can put another one there, without the stops and the record.
fn check_above(path: &Path) -> Result<(), AuditError> {
    let real = fs::canonicalize(path).map_err(AuditError::io("look at", path))?;
    let Some(above) = real.parent() else { return Ok(()) };
    let found = fs::metadata(above).map_err(AuditError::io("look at", above))?;
    let refuse = |why| Err(AuditError::UnsafePlace { path: above.to_owned(), why });
    if found.mode() & 0o002 != 0 && found.mode() & STICKY == 0 {
        return refuse(OTHERS_WRITE);
    }
    let me = rustix::process::geteuid();
    if !me.is_root() && found.uid() != me.as_raw() && found.uid() != 0 {
        return refuse("it belongs to another user");
    }
    Ok(())
}

/// A folder farther up in which everybody may rename what lies on the way to this one.
pub fn open_to_everybody(path: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(path).ok()?;
    let is_open = |above: &&Path| {
        fs::metadata(above).is_ok_and(|found| found.mode() & 0o002 != 0 && found.mode() & STICKY == 0)
    };
    real.ancestors().skip(1).find(is_open).map(Path::to_owned)
}

fn flags(extra: OFlags) -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | extra).bits().cast_signed()
}

/// A regular file of ours, of root's, or of whom the folder belongs to: a record may be read by others than its writer.
fn regular(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let file = options.open(path)?;
    let found = file.metadata()?;
    let refuse = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    if !found.is_file() {
        return refuse("not a regular file");
    }
    let owners = [Some(0), Some(rustix::process::geteuid().as_raw()), folder_owner(path)];
    if !owners.contains(&Some(found.uid())) {
        return refuse("it belongs to another user");
    }
    Ok(file)
}

/// Of a file that is written: under another name it may be a file of somebody who does not expect that.
fn without_second_name(file: File) -> io::Result<File> {
    if file.metadata()?.nlink() > 1 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it has a second name, perhaps outside"));
    }
    Ok(file)
}

fn folder_owner(path: &Path) -> Option<u32> {
    fs::metadata(path.parent()?).ok().map(|folder| folder.uid())
}

pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    regular(path, OpenOptions::new().read(true).custom_flags(flags(OFlags::empty())))
}

/// For reading and appending; made when it is not there.
pub(crate) fn open_to_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(flags(OFlags::empty()));
    without_second_name(regular(path, &options)?)
}

/// For reading and appending; must not be made by accident.
pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).custom_flags(flags(OFlags::empty()));
    without_second_name(regular(path, &options)?)
}

/// The whole of a small file; more than `limit` bytes is an error, not a cut.
pub(crate) fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_all(&open_to_read(path)?, limit)
}

/// The same of a file that was opened and not read yet.
pub(crate) fn read_all(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than it can be"));
    }
    Ok(bytes)
}

/// Everything between two places of a file.
pub(crate) fn read_span(mut file: &File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(to.saturating_sub(from)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces a file so that a reader, or the next start after a crash, sees the old bytes or the new ones.
/// The caller holds the lock that makes it the only writer.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_added_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(flags(OFlags::empty()));
    // What a process that was killed left there. Whatever it is, it is not written to.
    let _ = fs::remove_file(&temporary);
    let mut file = regular(&temporary, &options)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

/// Makes new names in a folder survive a power cut.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// LIMIT: how long to wait for a lock. Nobody holds one for more than a few file operations, unless it was stopped in
/// the middle of them; and whoever stops a process must not stop all others by it.
const PATIENCE: Duration = Duration::from_secs(5);
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Held until the file is closed.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    lock_within(file, PATIENCE)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the kernel has no lock that is waited for so long and no longer"
)]
fn lock_within(file: &File, patience: Duration) -> io::Result<()> {
    let (mut left, mut pause) = (patience, SHORTEST_PAUSE);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(cause)) => return Err(cause),
            Err(TryLockError::WouldBlock) if left.is_zero() => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process keeps it locked"));
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                left = left.saturating_sub(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Keeps so many bytes behind the end of a file for it, where the file system knows of such a thing.
pub(crate) fn reserve(file: &File, n_bytes: u64) -> io::Result<()> {
    let length = file.metadata()?.len();
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, length, n_bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        reserved => reserved.map_err(io::Error::from),
    }
}

/// Adds one line to a stream that several processes share: whole, or not at all.
pub(crate) fn append_shared(path: &Path, line: &str) -> io::Result<()> {
    let file = open_to_append(path)?;
    lock(&file)?;
    append_locked(&file, line)
}

/// As `append_shared`, for who holds the lock already. It is released when the file is closed.
pub(crate) fn append_locked(mut file: &File, line: &str) -> io::Result<()> {
    let length = file.metadata()?.len();
    // A process killed in the middle of its line must not spoil ours.
    if length > 0 && read_span(file, length - 1, length)? != b"\n" {
        file.write_all(b"\n")?;
    }
    let written = file.write_all(line.as_bytes());
    if written.is_err() {
        // Best effort: should this fail as well, the next line starts with a newline of its own.
        let _ = file.set_len(length);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_may_rename_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::TempDir::new().unwrap();
        let (above, around) = (dir.path().join("above"), dir.path().join("above/around"));
        fs::create_dir_all(&around).unwrap();
        let rows = [
            (0o755, 0o700, true, false),
            (0o755, 0o770, true, false),
            (0o755, 0o702, false, true),
            (0o757, 0o700, true, true),
            (0o1777, 0o700, true, false),
            (0o755, 0o1777, true, false),
        ];
        for (mode_above, mode_around, is_taken, is_open) in rows {
            fs::set_permissions(&above, fs::Permissions::from_mode(mode_above)).unwrap();
            fs::set_permissions(&around, fs::Permissions::from_mode(mode_around)).unwrap();
            let audit = around.join("audit");
            assert_eq!(private_dir(&audit).is_ok(), is_taken, "{mode_above:o} {mode_around:o}");
            assert_eq!(open_to_everybody(&audit).is_some(), is_open, "{mode_above:o} {mode_around:o}");
        }
    }

    #[test]
    fn space_behind_the_end_of_a_file_is_its_own() {
        let dir = tempfile::TempDir::new().unwrap();
        let file = open_to_append(&dir.path().join("book")).unwrap();
        let is_known = rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, 1).is_ok();
        append_locked(&file, "line\n").unwrap();
        reserve(&file, 64 << 10).unwrap();
        let found = file.metadata().unwrap();
        assert_eq!(found.len(), 5);
        // Where the file system knows of no such thing, nothing is kept and nothing fails.
        assert!(!is_known || found.blocks() * 512 >= 64 << 10, "{} blocks", found.blocks());
    }

    #[test]
    fn what_has_a_second_name_is_read_or_replaced_and_not_written() {
        let dir = tempfile::TempDir::new().unwrap();
        let (path, target) = (dir.path().join("book"), dir.path().join("target"));
        for name in [path.clone(), dir.path().join("book.new")] {
            fs::write(&target, "outside").unwrap();
            fs::hard_link(&target, &name).unwrap();
            assert!(open_to_append(&name).is_err() && open_existing(&name).is_err());
            assert!(open_to_read(&name).is_ok());
            replace(&path, b"ours").unwrap();
            assert_eq!(
                (fs::read(&target).unwrap(), fs::read(&path).unwrap()),
                (b"outside".into(), b"ours".into())
            );
        }
    }

    #[test]
    fn a_lock_that_is_never_released_is_not_waited_for_without_end() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("stream");
        let (holder, other) = (open_to_append(&path).unwrap(), open_to_append(&path).unwrap());
        lock(&holder).unwrap();
        let refused = lock_within(&other, SHORTEST_PAUSE * 3).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        drop(holder);
        lock_within(&other, SHORTEST_PAUSE).unwrap();
    }
}

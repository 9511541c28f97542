//! One file of records with one writer at a time, held by a lock of the operating system.

use std::fs::TryLockError;
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ed25519_dalek::{SigningKey, VerifyingKey};
use vambrace_types::Timestamp;

use crate::chain::{Hash, Head, Tip, hex};
use crate::disk::{self, Locked, Sink};
use crate::line::{self, LONGEST_RECORD, Stamp};
use crate::receipt::Place;
use crate::registry::{Registry, segments_dir};
use crate::scan::scan;
use crate::words::RecordKind;
use crate::{AuditError, moment};

/// A segment is closed at this size, so that a person can copy one and a verifier can say which one is broken.
const FULL: u64 = 64 << 20;
const LONGEST_HEAD: u64 = 1024;
/// Room for the lines of some calls, kept for the next ones.
const USUAL_LINES: usize = 16 << 10;

pub(crate) struct Segment {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// Keeps the lock for as long as anybody holds it.
    pub(crate) sink: Arc<dyn Sink>,
    /// The end of the chain and of the file.
    pub(crate) tip: Tip,
    /// Kept for its memory.
    lines: Lines,
    /// The size at which it is closed.
    pub(crate) full: u64,
    /// A failed write may have left lines or a part of one behind the tip.
    torn: bool,
}

/// Lines that are about to become part of the chain.
pub(crate) struct Lines {
    text: String,
    tip: Tip,
}

impl Lines {
    /// Adds one: its beginning, which names the line before it, and the rest, newline included.
    pub(crate) fn add(&mut self, time: Timestamp, kind: RecordKind, rest: &str) -> Place {
        let start = self.text.len();
        line::begin(&mut self.text, Stamp { tip: self.tip, time }, kind);
        self.text.push_str(rest);
        let (_, line) = self.text.split_at(start);
        let content = line.strip_suffix('\n').unwrap_or(line);
        self.tip = self.tip.after(Hash::of(content.as_bytes()), line.len());
        Place { seq: self.tip.count, hash: self.tip.hash }
    }
}

/// What became of the wish to go on in an existing segment.
pub(crate) enum Claim {
    Ready {
        segment: Segment,
        /// Bytes of an unfinished line that were removed from its end.
        cut: usize,
        /// Whole records behind its signed head. They fit the chain, but the chain needs no key.
        n_unsigned: u64,
    },
    /// Another process writes there, or it is full.
    Taken,
    /// It contradicts its head. It is evidence and stays as it is.
    Broken(String),
}

pub(crate) fn record_path(dir: &Path, name: &str) -> PathBuf {
    segments_dir(dir).join(name).with_extension("jsonl")
}

pub(crate) fn head_path(dir: &Path, name: &str) -> PathBuf {
    segments_dir(dir).join(name).with_extension("head")
}

/// The signed head, or why it does not count.
pub(crate) fn read_head(dir: &Path, name: &str, pinned: &VerifyingKey) -> Result<Head, String> {
    let bytes = disk::read_small(&head_path(dir, name), LONGEST_HEAD)
        .map_err(|cause| format!("its head cannot be read: {cause}"))?;
    let head = Head::parse(&bytes).ok_or("its head is not a head")?;
    if !head.is_signed_by(name, pinned) {
        return Err("its head is not signed for this segment by the pinned key".to_owned());
    }
    Ok(head)
}

pub(crate) fn write_head(
    dir: &Path,
    name: &str,
    tip: Tip,
    now: Timestamp,
    key: &SigningKey,
) -> Result<(), AuditError> {
    let path = head_path(dir, name);
    let line = Head::sign(name, tip, now, key).to_line();
    disk::replace(&path, line.as_bytes()).map_err(AuditError::io("write", &path))
}

impl Segment {
    /// A new one, with a head that says it is empty, listed in the registry before anything is written to it.
    pub(crate) fn make(dir: &Path, registry: &mut Registry, now: Timestamp) -> Result<Segment, AuditError> {
        let mut chance = [0u8; 4];
        getrandom::fill(&mut chance).map_err(AuditError::NoRandomness)?;
        let name = format!("{}-{}", moment::file_name(now), hex(&chance));
        let path = record_path(dir, &name);
        let file = disk::open_to_append(&path).map_err(AuditError::io("make", &path))?;
        let file = Locked::try_new(file).map_err(|cause| AuditError::io("lock", &path)(cause.into()))?;
        let tip = Tip::start(&name);
        write_head(dir, &name, tip, now, registry.key())?;
        let folder = segments_dir(dir);
        disk::sync_dir(&folder).map_err(AuditError::io("sync", &folder))?;
        registry.add_segment(&name, now)?;
        Ok(Segment::ending_at(name, path, file, tip))
    }

    fn ending_at(name: String, path: PathBuf, file: Locked, tip: Tip) -> Segment {
        let lines = Lines { text: String::with_capacity(USUAL_LINES), tip };
        Segment { name, path, sink: Arc::new(file), tip, lines, full: FULL, torn: false }
    }

    /// Goes on in an existing one, after looking at its end.
    pub(crate) fn claim(dir: &Path, name: &str, pinned: &VerifyingKey) -> Result<Claim, AuditError> {
        let path = record_path(dir, name);
        let file = match disk::open_existing(&path) {
            Ok(file) => file,
            // Another user's process made it; ours will make its own.
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => return Ok(Claim::Taken),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                return Ok(Claim::Broken("the segment was deleted".to_owned()));
            }
            Err(cause) => return Err(AuditError::io("open", &path)(cause)),
        };
        let locked = match Locked::try_new(file) {
            Ok(locked) => locked,
            Err(TryLockError::WouldBlock) => return Ok(Claim::Taken),
            Err(TryLockError::Error(cause)) => return Err(AuditError::io("lock", &path)(cause)),
        };
        let file = locked.file();
        let length = file.metadata().map_err(AuditError::io("look at", &path))?.len();
        if length >= FULL {
            return Ok(Claim::Taken);
        }
        let head = match read_head(dir, name, pinned) {
            Ok(head) => head.tip,
            Err(why) => return Ok(Claim::Broken(why)),
        };
        // Only the end is read, however long the segment is; `verify` reads it whole.
        if !ends_with(file, length, head, name).map_err(AuditError::io("read", &path))? {
            return Ok(Claim::Broken("its records are not the ones in its signed head".to_owned()));
        }
        let mut reader = BufReader::new(file);
        let read = reader
            .seek(SeekFrom::Start(head.bytes))
            .and_then(|_| scan(head, None, &mut reader, |_, _| {}))
            .map_err(AuditError::io("read", &path))?;
        if let Some(fault) = read.fault {
            return Ok(Claim::Broken(format!("line {}: {}", fault.line, fault.why)));
        }
        if read.torn > 0 {
            file.set_len(read.tip.bytes).map_err(AuditError::io("repair", &path))?;
        }
        let segment = Segment::ending_at(name.to_owned(), path, locked, read.tip);
        Ok(Claim::Ready { segment, cut: read.torn, n_unsigned: read.tip.count - head.count })
    }

    pub(crate) fn is_full(&self) -> bool {
        self.tip.bytes >= self.full
    }

    /// Adds lines to the chain. When this returns, they survive the end of this process; if it
    /// fails, none of them is part of the chain.
    pub(crate) fn append<T>(&mut self, add: impl FnOnce(&mut Lines) -> T) -> Result<T, AuditError> {
        self.lines.text.clear();
        self.lines.tip = self.tip;
        let added = add(&mut self.lines);
        self.write_lines()?;
        self.tip = self.lines.tip;
        self.lines.text.clear();
        self.lines.text.shrink_to(USUAL_LINES);
        Ok(added)
    }

    fn write_lines(&mut self) -> Result<(), AuditError> {
        // A file that was deleted would take every line and keep none.
        if !self.sink.is_linked().map_err(AuditError::io("look at", &self.path))? {
            return Err(AuditError::Gone { path: self.path.clone() });
        }
        if self.torn {
            self.sink.truncate(self.tip.bytes).map_err(AuditError::io("repair", &self.path))?;
            self.torn = false;
        }
        if let Err(cause) = self.sink.append(self.lines.text.as_bytes()) {
            // INVARIANT: nothing is written behind what a failed write left.
            self.torn = self.sink.truncate(self.tip.bytes).is_err();
            return Err(AuditError::io("write", &self.path)(cause));
        }
        Ok(())
    }
}

/// How much of each end is read first; nearly all lines are shorter.
const USUAL_END: u64 = 16 << 10;

/// A cheap look at a segment that nobody here writes to: is it there, as long as its head says, and are its first and its
/// last lines those of its chain? What lies between is for `verify`. `None` where nothing is wrong, or nothing can be seen.
pub(crate) fn damage(dir: &Path, name: &str) -> Option<String> {
    let says = |why: &str| Some(why.to_owned());
    // The head first: the file only grows, so what is read next is at least as long.
    let head = match disk::read_small(&head_path(dir, name), LONGEST_HEAD) {
        Ok(bytes) => Head::parse(&bytes).map(|head| head.tip),
        Err(cause) if passes(&cause) => return None,
        Err(_) => None,
    };
    let file = match disk::open_to_read(&record_path(dir, name)) {
        Ok(file) => file,
        Err(cause) if passes(&cause) => return None,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return says("the segment was deleted"),
        Err(cause) => return Some(format!("it cannot be opened: {cause}")),
    };
    let Some(head) = head else { return says("its head is missing or is not a head") };
    let look = || {
        let length = file.metadata()?.len();
        let start = disk::read_span(&file, 0, length.min(USUAL_END))?;
        let whole = start.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let first = scan(Tip::start(name), None, start.get(..whole).unwrap_or_default(), |_, _| {})?;
        if let Some(fault) = first.fault {
            return Ok(Some(format!("line {}: {}", fault.line, fault.why)));
        }
        let ends =
            ends_within(&file, length, head, name, USUAL_END)? || ends_with(&file, length, head, name)?;
        io::Result::Ok((!ends).then(|| "its records are not the ones in its signed head".to_owned()))
    };
    match look() {
        Err(cause) if passes(&cause) => None,
        Err(cause) => Some(format!("it cannot be read: {cause}")),
        Ok(found) => found,
    }
}

/// What says nothing about the file: the next start may see it.
fn passes(cause: &io::Error) -> bool {
    let errno = rustix::io::Errno::from_io_error(cause);
    use rustix::io::Errno;
    cause.kind() == io::ErrorKind::PermissionDenied
        || errno.is_some_and(|errno| {
            [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::IO, Errno::INTR, Errno::AGAIN].contains(&errno)
        })
}

/// Whether the file's first `head.bytes` bytes end in the line that the head names.
fn ends_with(file: &std::fs::File, length: u64, head: Tip, name: &str) -> io::Result<bool> {
    ends_within(file, length, head, name, LONGEST_RECORD as u64)
}

fn ends_within(file: &std::fs::File, length: u64, head: Tip, name: &str, longest: u64) -> io::Result<bool> {
    if head.count == 0 {
        return Ok(head == Tip::start(name));
    }
    if length < head.bytes {
        return Ok(false);
    }
    let span = disk::read_span(file, head.bytes.saturating_sub(longest), head.bytes)?;
    let Some((b'\n', before)) = span.split_last() else { return Ok(false) };
    let last = before.rsplit(|byte| *byte == b'\n').next().unwrap_or(before);
    Ok(Hash::of(last) == head.hash)
}

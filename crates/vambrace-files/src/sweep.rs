//! Going through every text file beneath a path, on all cores, with bounded memory.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rustix::fs::{AtFlags, Dir, FileType, Stat};
use vambrace_policy::Access;
use vambrace_redact::FARTHEST;
use vambrace_types::ScopedPath;

use crate::ignored::Ignored;
use crate::list::EntryKind;
use crate::open::{Opened, Opener};
use crate::{Deadline, FilesError};

/// Files up to this size are seen whole, as the edit engine sees them; larger ones in runs of whole lines.
const WHOLE: usize = 16 << 20;
const PIECE: usize = 4 << 20;
/// Where binary files are told from text: a NUL this early.
const SNIFF: usize = 8192;

/// A file, or a run of whole lines of a large one.
pub struct Chunk<'a> {
    pub path: &'a ScopedPath,
    pub bytes: &'a [u8],
    /// The chunk and what stands around it, so that a secret across its border is recognized:
    /// `around[at..at + bytes.len()] == bytes`. Of a whole file just its bytes.
    pub around: &'a [u8],
    pub at: usize,
    /// Lines before this chunk.
    pub lines_before: u64,
    /// The file is seen in several chunks: a match cannot reach from one into the next.
    pub partial: bool,
}

/// What was looked at, and what was not.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SweepReport {
    pub n_files: u64,
    pub n_binary: u64,
    pub n_blocked: u64,
    pub n_ignored: u64,
    pub n_unreadable: u64,
    /// Time ran out or the visitor had enough.
    pub stopped: bool,
}

impl SweepReport {
    fn add(&mut self, other: &SweepReport) {
        self.n_files += other.n_files;
        self.n_binary += other.n_binary;
        self.n_blocked += other.n_blocked;
        self.n_ignored += other.n_ignored;
        self.n_unreadable += other.n_unreadable;
        self.stopped |= other.stopped;
    }
}

pub(crate) struct Sweep<'a> {
    pub(crate) opener: Opener<'a>,
    pub(crate) recursive: bool,
    pub(crate) include_ignored: bool,
    pub(crate) deadline: &'a Deadline,
}

type Visitor<'v> = &'v (dyn Fn(&Chunk<'_>) + Sync);

/// A folder still to be entered.
struct Folder {
    path: ScopedPath,
    ignored: Option<Arc<Ignored>>,
}

/// Folders waiting, and how many threads are inside one: when both are nothing, the sweep is over.
#[derive(Default)]
struct Queue {
    waiting: Vec<Folder>,
    n_busy: usize,
}

impl Sweep<'_> {
    pub(crate) fn run(&self, start: &ScopedPath, visit: Visitor<'_>) -> Result<SweepReport, FilesError> {
        let opened = self.opener.glance(start, Access::Read)?;
        let mut report = SweepReport::default();
        if EntryKind::of(FileType::from_raw_mode(opened.stat.st_mode)) != EntryKind::Folder {
            // One file, asked for by name: what is wrong with it is an answer, not a statistic.
            let mut buffer = Vec::new();
            let Opened { handle, stat, .. } = self.opener.file(start)?;
            self.file(start, (handle, stat), &mut buffer, visit, &mut report)?;
            if report.n_binary > 0 {
                return Err(FilesError::Binary { path: self.opener.spelled(start) });
            }
            return Ok(report);
        }
        let above = if self.include_ignored { None } else { Ignored::above(self.opener, start) };
        let queue =
            Mutex::new(Queue { waiting: vec![Folder { path: start.clone(), ignored: above }], n_busy: 0 });
        let changed = Condvar::new();
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        std::thread::scope(|scope| {
            let work = || self.worker(&queue, &changed, visit);
            // Where the system gives no more threads, fewer do it.
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..n_threads).map_while(start).collect();
            report.add(&work());
            for other in others {
                match other.join() {
                    Ok(part) => report.add(&part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        Ok(report)
    }

    fn worker(&self, queue: &Mutex<Queue>, changed: &Condvar, visit: Visitor<'_>) -> SweepReport {
        let mut report = SweepReport::default();
        let mut buffer = Vec::new();
        loop {
            let mut state = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let folder = loop {
                if let Some(folder) = state.waiting.pop() {
                    state.n_busy += 1;
                    break folder;
                }
                if state.n_busy == 0 {
                    changed.notify_all();
                    return report;
                }
                state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            };
            drop(state);
            // A panic in the visitor must not leave the others waiting for this one.
            let _leave = Leave { queue, changed };
            if self.deadline.is_over() {
                report.stopped = true;
                continue;
            }
            self.folder(&folder, queue, changed, &mut buffer, visit, &mut report);
        }
    }

    fn folder(
        &self,
        folder: &Folder,
        queue: &Mutex<Queue>,
        changed: &Condvar,
        buffer: &mut Vec<u8>,
        visit: Visitor<'_>,
        report: &mut SweepReport,
    ) {
        let Ok(opened) = self.opener.folder(&folder.path, Access::Read) else {
            report.n_unreadable += 1;
            return;
        };
        let ignored = if self.include_ignored {
            None
        } else {
            Ignored::enter(self.opener, &folder.path, opened.handle.as_fd(), folder.ignored.as_ref())
        };
        let Ok(items) = Dir::read_from(&opened.handle) else {
            report.n_unreadable += 1;
            return;
        };
        for item in items {
            if self.deadline.is_over() {
                report.stopped = true;
                return;
            }
            let Ok(item) = item else {
                // The rest of the folder stays unknown.
                report.n_unreadable += 1;
                break;
            };
            let name = item.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let kind = match item.file_type() {
                FileType::Unknown => rustix::fs::statat(&opened.handle, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            let text = name.to_str().ok();
            let Some((name, path)) = text.and_then(|name| Some((name, folder.path.join(name)?))) else {
                report.n_unreadable += 1;
                continue;
            };
            let is_folder = match EntryKind::of(kind) {
                EntryKind::Folder => true,
                EntryKind::File => false,
                // Links are not followed: what they lead to is found under its own name, or is outside.
                EntryKind::Link | EntryKind::Other => continue,
            };
            if !self.may_see(&path, name, &opened, &folder.path) {
                report.n_blocked += 1;
            } else if ignored.as_ref().is_some_and(|ignored| ignored.covers(&path, is_folder)) {
                report.n_ignored += 1;
            } else if !is_folder {
                let file = self.opener.file_in(opened.handle.as_fd(), name, &path);
                if file.and_then(|file| self.file(&path, file, buffer, visit, report)).is_err() {
                    report.n_unreadable += 1;
                }
            } else if self.recursive {
                let mut state = queue.lock().unwrap_or_else(PoisonError::into_inner);
                state.waiting.push(Folder { path, ignored: ignored.clone() });
                changed.notify_one();
            }
        }
    }

    /// An entry is judged where it really is, and by the name it will be reported under, if that is another one.
    fn may_see(&self, path: &ScopedPath, name: &str, folder: &Opened, spelled: &ScopedPath) -> bool {
        let judge = |path: &ScopedPath| self.opener.judge(path, Access::Read).is_ok();
        let really = || folder.resolved.join(name).is_some_and(|path| judge(&path));
        judge(path) && (folder.resolved == *spelled || really())
    }

    fn file(
        &self,
        path: &ScopedPath,
        (handle, stat): (OwnedFd, Stat),
        buffer: &mut Vec<u8>,
        visit: Visitor<'_>,
        report: &mut SweepReport,
    ) -> Result<(), FilesError> {
        let spelled = || self.opener.spelled(path);
        let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
        let mut file = File::from(handle);
        buffer.clear();
        let whole = size <= WHOLE;
        let first_read = if whole { size.saturating_add(1) } else { PIECE + FARTHEST };
        buffer.reserve(first_read);
        file.by_ref()
            .take(first_read as u64)
            .read_to_end(buffer)
            .map_err(|error| crate::read::io(&spelled(), &error))?;
        if memchr::memchr(0, buffer.get(..SNIFF).unwrap_or(buffer)).is_some() {
            report.n_binary += 1;
            return Ok(());
        }
        report.n_files += 1;
        if whole {
            visit(&Chunk { path, bytes: buffer, around: buffer, at: 0, lines_before: 0, partial: false });
            return Ok(());
        }
        let mut lines_before = 0;
        // Bytes at the start of the buffer that were visited, and stay as what stands before the next piece.
        let mut at = 0;
        loop {
            if self.deadline.is_over() {
                report.stopped = true;
                return Ok(());
            }
            let wanted = at + PIECE + FARTHEST;
            let room = wanted.saturating_sub(buffer.len());
            let n_read = file
                .by_ref()
                .take(room as u64)
                .read_to_end(buffer)
                .map_err(|error| crate::read::io(&spelled(), &error))?;
            let (_, unseen) = buffer.split_at_checked(at).unwrap_or((&[], buffer));
            let piece = unseen.get(..PIECE).unwrap_or(unseen);
            let is_last = n_read < room && piece.len() == unseen.len();
            // Up to the last line end; a single line longer than a piece is cut, which `partial` announces.
            let end = match memchr::memrchr(b'\n', piece) {
                Some(place) if !is_last => place + 1,
                Some(_) | None => piece.len(),
            };
            let bytes = piece.get(..end).unwrap_or(piece);
            if !bytes.is_empty() {
                visit(&Chunk { path, bytes, around: buffer, at, lines_before, partial: true });
            }
            if is_last {
                return Ok(());
            }
            lines_before += memchr::memchr_iter(b'\n', bytes).count() as u64;
            let end = at + bytes.len();
            at = end.min(FARTHEST);
            buffer.drain(..end - at);
        }
    }
}

/// Says that a thread has left its folder, whichever way it left.
struct Leave<'a> {
    queue: &'a Mutex<Queue>,
    changed: &'a Condvar,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        state.n_busy -= 1;
        if state.n_busy == 0 {
            self.changed.notify_all();
        }
    }
}

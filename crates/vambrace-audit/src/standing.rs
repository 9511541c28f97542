//! Who may go on. A small append-only file that every process looks at before every call.

use std::collections::HashMap;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use vambrace_types::Timestamp;

use crate::line::Object;
use crate::words::words;
use crate::{AuditError, disk, moment, subject};

const SHORT: usize = 512;
/// LIMIT: far more than persons and alerts can write; a longer file stops everybody.
const LONGEST: u64 = 16 << 20;

/// How a caller stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Free,
    /// Under review, but free to go on.
    Alerted,
    Suspended {
        by: String,
        since: Timestamp,
    },
    /// As suspended; its session is to be ended.
    Terminated,
}

words! {
    /// What is written about a caller. The order is the order of strictness.
    pub(crate) enum Mark { Free = "free", Alerted = "alerted", Suspended = "suspended", Terminated = "terminated", }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    mark: Mark,
    by: String,
    since: Timestamp,
    /// When a person last set it free.
    released: Option<Timestamp>,
}

#[derive(Default)]
struct Book {
    /// The file that was read, and its length. It only grows, so an equal length means that nothing is new.
    seen: (u64, u64),
    everyone: Option<Entry>,
    callers: HashMap<String, Entry>,
}

#[derive(Deserialize)]
struct Line {
    timestamp: String,
    /// Null for everyone. A caller that happens to be named `*` is only itself.
    caller: Option<String>,
    standing: String,
    by: String,
}

pub(crate) struct StandingBook {
    path: PathBuf,
    /// The same, in the form that the kernel takes: this is asked before every call.
    raw_path: CString,
    book: Mutex<Book>,
}

impl StandingBook {
    pub(crate) fn open(dir: &Path) -> Result<StandingBook, AuditError> {
        let path = dir.join("standing.jsonl");
        disk::open_to_append(&path).map_err(AuditError::io("open", &path))?;
        let raw_path = CString::new(path.as_os_str().as_bytes())
            .map_err(|cause| AuditError::io("open", &path)(cause.into()))?;
        Ok(StandingBook { path, raw_path, book: Mutex::default() })
    }

    pub(crate) fn of(&self, caller: &str) -> Result<Standing, AuditError> {
        self.with_book(|book| {
            let own = book.callers.get(caller);
            let strictest =
                [own, book.everyone.as_ref()].into_iter().flatten().max_by_key(|entry| entry.mark);
            strictest.map_or(Standing::Free, |entry| match entry.mark {
                Mark::Free => Standing::Free,
                Mark::Alerted => Standing::Alerted,
                Mark::Suspended => Standing::Suspended { by: entry.by.clone(), since: entry.since },
                Mark::Terminated => Standing::Terminated,
            })
        })
    }

    /// When a person last released this caller: older violations do not count again.
    pub(crate) fn released(&self, caller: &str) -> Result<Option<Timestamp>, AuditError> {
        self.with_book(|book| book.callers.get(caller).and_then(|entry| entry.released))
    }

    /// `None` is everyone.
    pub(crate) fn mark(
        &self,
        caller: Option<&str>,
        mark: Mark,
        by: &str,
        now: Timestamp,
    ) -> Result<(), AuditError> {
        let mut out = String::new();
        let mut line = Object::begin(&mut out);
        line.time("timestamp", now);
        match caller {
            Some(caller) => line.text("caller", caller, subject::JSON_LIMIT),
            None => line.raw("caller", "null"),
        }
        line.text("standing", mark.as_str(), SHORT);
        line.text("by", by, SHORT);
        line.end_line();
        self.append(&out).map_err(AuditError::io("write", &self.path))
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let file = disk::open_existing(&self.path)?;
        file.lock()?;
        disk::append_locked(&file, line)?;
        file.sync_data()
    }

    /// One look at the file's length; it is read again only when it has grown. A missing file is an error and not
    /// a release: whoever deletes it frees nobody.
    fn with_book<T>(&self, ask: impl FnOnce(&Book) -> T) -> Result<T, AuditError> {
        let found = rustix::fs::lstat(self.raw_path.as_c_str())
            .map_err(|cause| AuditError::io("look at", &self.path)(cause.into()))?;
        let seen = (found.st_ino, found.st_size.cast_unsigned());
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        if book.seen != seen {
            let bytes = disk::read_small(&self.path, LONGEST).map_err(AuditError::io("read", &self.path))?;
            *book = fold(&bytes);
            // The length that was read, not the one seen before: a line added in between must not be missed.
            book.seen = (found.st_ino, bytes.len() as u64);
        }
        Ok(ask(&book))
    }
}

/// The strictest mark holds until a person sets it free.
fn fold(bytes: &[u8]) -> Book {
    let mut book = Book::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        // Half a line is what a crash left of a mark that its writer never reported as set.
        let Ok(line) = serde_json::from_slice::<Line>(line) else { continue };
        let (Some(mark), Some(since)) = (Mark::parse(&line.standing), moment::parse(&line.timestamp)) else {
            continue;
        };
        let new = Entry { mark, by: line.by, since, released: None };
        match line.caller {
            None => book.everyone = Some(succeed(book.everyone.take(), new)),
            Some(caller) => {
                let old = book.callers.remove(&caller);
                book.callers.insert(caller, succeed(old, new));
            }
        }
    }
    book
}

fn succeed(old: Option<Entry>, new: Entry) -> Entry {
    if new.mark == Mark::Free {
        return Entry { released: Some(new.since), ..new };
    }
    match old {
        Some(old) if old.mark > new.mark => old,
        Some(old) => Entry { released: old.released, ..new },
        None => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(marks: &[(i64, Mark)], expected: Mark, released: Option<i64>) {
        let last = marks.iter().fold(None, |old, (time, mark)| {
            let since = Timestamp::from_millis(*time);
            Some(succeed(old, Entry { mark: *mark, by: String::new(), since, released: None }))
        });
        let last = last.unwrap();
        assert_eq!((last.mark, last.released), (expected, released.map(Timestamp::from_millis)), "{marks:?}");
    }

    #[test]
    fn the_strictest_mark_holds_until_a_release() {
        use Mark::{Alerted, Free, Suspended, Terminated};
        check(&[(1, Alerted)], Alerted, None);
        check(&[(1, Suspended), (2, Alerted)], Suspended, None);
        check(&[(1, Terminated), (2, Suspended)], Terminated, None);
        check(&[(1, Terminated), (2, Free)], Free, Some(2));
        check(&[(1, Free), (2, Alerted), (3, Suspended)], Suspended, Some(1)); // the release is not forgotten
    }

    #[test]
    fn a_torn_line_is_passed_over() {
        let line = |caller: &str| {
            format!(
                "{{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"caller\":{caller},\"standing\":\"suspended\",\"by\":\"p\"}}"
            )
        };
        let text = format!("{{\"timestamp\":\"20\n{}\n{}\n{{\"tim", line("\"a\""), line("null"));
        let book = fold(text.as_bytes());
        assert_eq!(book.callers.len(), 1);
        assert_eq!(book.everyone.map(|entry| entry.mark), Some(Mark::Suspended));
    }
}

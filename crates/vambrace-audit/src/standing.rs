//! Who may go on. A small append-only file that every process looks at before every call.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::Stat;
use serde::Deserialize;
use vambrace_types::{Caller, Timestamp};

use crate::chain::hex;
use crate::line::Object;
use crate::words::words;
use crate::{AuditError, disk, moment, registry, subject};

const SHORT: usize = 512;
const NO_HEADER: &str = "it is not the book of standings that the registry names";
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
    /// The name that was stopped when this one was stopped with it.
    via: Option<String>,
}

/// A file as one look shows it. It only grows: equal sightings mean that nothing is new, and a smaller length that
/// somebody cut it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Sighting {
    inode: u64,
    length: u64,
    /// Seconds and nanoseconds: shows most changes that keep the length.
    modified: (i64, u64),
}

impl Sighting {
    fn of(found: &Stat) -> Sighting {
        Sighting {
            inode: found.st_ino,
            length: found.st_size.cast_unsigned(),
            modified: (found.st_mtime, found.st_mtime_nsec),
        }
    }
}

/// What was read, and from where.
#[derive(Default)]
struct Reading {
    book: Book,
    /// The file as it was then.
    seen: Sighting,
    file: Option<File>,
    /// When its name was last looked for.
    looked: Option<Timestamp>,
}

#[derive(Default)]
struct Book {
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
    #[serde(default)]
    via: Option<String>,
}

/// The first line. Without it the file is not a book but what somebody put in its place.
#[derive(Deserialize)]
struct Header {
    standing_id: String,
}

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("standing.jsonl")
}

/// Makes the book where there is none, and returns its name. Only for a folder that holds no record yet: later, an
/// empty book is not a new one but an emptied one.
pub(crate) fn found(dir: &Path) -> Result<String, AuditError> {
    let path = path(dir);
    let mut chance = [0u8; 16];
    getrandom::fill(&mut chance).map_err(AuditError::NoRandomness)?;
    found_at(&path, &hex(&chance))
        .map_err(AuditError::io("make", &path))?
        .ok_or_else(|| AuditError::broken(&path, NO_HEADER))
}

fn found_at(path: &Path, new_id: &str) -> io::Result<Option<String>> {
    let file = disk::open_to_append(path)?;
    disk::lock(&file)?;
    let bytes = disk::read_span(&file, 0, file.metadata()?.len().min(LONGEST))?;
    if bytes.contains(&b'\n') {
        return Ok(header(&bytes));
    }
    // Nothing, or half a line that a crash left.
    file.set_len(0)?;
    let mut out = String::new();
    let mut line = Object::begin(&mut out);
    line.number("version", 1);
    line.text("standing_id", new_id, SHORT);
    line.end_line();
    disk::append_locked(&file, &out)?;
    // If there is no room now, the next mark tries again.
    let _ = disk::reserve(&file, RESERVE);
    file.sync_data()?;
    Ok(Some(new_id.to_owned()))
}

fn header(bytes: &[u8]) -> Option<String> {
    let first = bytes.split(|byte| *byte == b'\n').next()?;
    vambrace_json::own_line::<Header>(first).map(|header| header.standing_id)
}

/// Writes a mark; `None` is everyone.
pub(crate) fn mark(
    dir: &Path,
    caller: Option<&str>,
    mark: Mark,
    by: &str,
    now: Timestamp,
) -> Result<(), AuditError> {
    mark_via(dir, caller, None, mark, by, now)
}

/// The same for who is stopped, or released, together with the name `via`.
pub(crate) fn mark_via(
    dir: &Path,
    caller: Option<&str>,
    via: Option<&str>,
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
    line.maybe_text("via", via, subject::JSON_LIMIT);
    line.end_line();
    let path = path(dir);
    append(&path, &out, mark).map_err(AuditError::io("write", &path))
}

/// Space for some hundred stops, so that a disk that others filled keeps nobody from stopping an agent.
const RESERVE: u64 = 64 << 10;

fn append(path: &Path, line: &str, mark: Mark) -> io::Result<()> {
    let file = disk::open_existing(path)?;
    disk::lock(&file)?;
    let reserved = disk::reserve(&file, RESERVE);
    // THREAT: P12, agents cause these, and must not use up what is there for stops.
    if mark == Mark::Alerted {
        reserved?;
    }
    disk::append_locked(&file, line)?;
    file.sync_data()
}

/// Somebody who may not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// None: everybody.
    pub caller: Option<String>,
    pub by: String,
    pub since: Timestamp,
    /// The name that was stopped, where this is what the record knew of it.
    pub via: Option<String>,
}

/// The book and its name, if it is the one of this record. None where nothing was ever founded.
fn believed(dir: &Path) -> Result<Option<(Vec<u8>, String)>, AuditError> {
    let path = path(dir);
    // Where others can put another book in the place of ours, nobody can tell who was stopped.
    if dir.symlink_metadata().is_ok() {
        disk::check_place(dir)?;
    }
    let is_founded = registry::is_founded(dir)?;
    let bytes = match disk::read_small(&path, LONGEST) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound && !is_founded => return Ok(None),
        read => read.map_err(AuditError::io("read", &path))?,
    };
    if !is_founded && !bytes.contains(&b'\n') {
        return Ok(None);
    }
    let id = header(&bytes).ok_or_else(|| AuditError::broken(&path, NO_HEADER))?;
    // Before the record is founded, a book is what `stop` has made.
    if is_founded && registry::standing_id(dir)? != id {
        return Err(AuditError::broken(&path, NO_HEADER));
    }
    Ok(Some((bytes, id)))
}

/// Who is stopped, everybody first. Nobody is where there is no book yet; a book that cannot be
/// read whole is an error, because it may have named somebody.
pub fn stopped(dir: &Path) -> Result<Vec<Stopped>, AuditError> {
    let Some((bytes, _)) = believed(dir)? else { return Ok(Vec::new()) };
    if let Some(number) = unreadable(&bytes) {
        return Err(AuditError::broken(
            &path(dir),
            format!("line {number} of the book of stops cannot be read"),
        ));
    }
    let book = fold(&bytes);
    let mut callers: Vec<_> = book.callers.into_iter().map(|(name, entry)| (Some(name), entry)).collect();
    callers.sort_by(|(one, _), (other, _)| one.cmp(other));
    let all = book.everyone.map(|entry| (None, entry)).into_iter().chain(callers);
    let stopped = all.filter(|(_, entry)| matches!(entry.mark, Mark::Suspended | Mark::Terminated));
    Ok(stopped.map(|(caller, Entry { by, since, via, .. })| Stopped { caller, by, since, via }).collect())
}

/// The kill switch where the record itself cannot be opened, for instance on a full disk: whoever was stopped stays so.
#[derive(Debug, Clone)]
pub struct BareStanding {
    dir: PathBuf,
}

impl BareStanding {
    pub fn new(dir: &Path) -> BareStanding {
        BareStanding { dir: dir.to_owned() }
    }

    /// As `AuditLog::standing_of`, read anew each time. Nobody was ever stopped where nothing was ever founded; everything
    /// else that cannot be read is an error, and no release.
    pub fn of(&self, caller: &Caller, now: Timestamp) -> Result<Standing, AuditError> {
        let Some((_, id)) = believed(&self.dir)? else { return Ok(Standing::Free) };
        StandingBook::open(&self.dir, &id, now)?.of(now, || subject::all_of(caller))
    }
}

pub(crate) struct StandingBook {
    path: PathBuf,
    /// The name that the registry gives this book.
    id: String,
    /// The same, in the form that the kernel takes: this is asked before every call.
    raw_path: CString,
    reading: Mutex<Reading>,
}

impl StandingBook {
    pub(crate) fn open(dir: &Path, id: &str, now: Timestamp) -> Result<StandingBook, AuditError> {
        let path = path(dir);
        let raw_path = CString::new(path.as_os_str().as_bytes())
            .map_err(|cause| AuditError::io("open", &path)(cause.into()))?;
        let book = StandingBook { path, id: id.to_owned(), raw_path, reading: Mutex::default() };
        book.with_book(now, |_| ())?;
        Ok(book)
    }

    /// The strictest of what is written about any of these names, or about everyone. Nobody is asked for names in a book
    /// that names nobody, as most do.
    pub(crate) fn of(
        &self,
        now: Timestamp,
        names: impl FnOnce() -> Vec<String>,
    ) -> Result<Standing, AuditError> {
        self.with_book(now, |book| {
            let names = if book.callers.is_empty() { Vec::new() } else { names() };
            let own = names.iter().filter_map(|name| book.callers.get(name));
            let strictest = own.chain(book.everyone.as_ref()).max_by_key(|entry| entry.mark);
            strictest.map_or(Standing::Free, |entry| match entry.mark {
                Mark::Free => Standing::Free,
                Mark::Alerted => Standing::Alerted,
                Mark::Suspended => Standing::Suspended { by: entry.by.clone(), since: entry.since },
                Mark::Terminated => Standing::Terminated,
            })
        })
    }

    /// When a person last released this caller: older violations do not count again.
    pub(crate) fn released(&self, caller: &str, now: Timestamp) -> Result<Option<Timestamp>, AuditError> {
        self.with_book(now, |book| book.callers.get(caller).and_then(|entry| entry.released))
    }

    /// One look at the file's length; it is read again only when it has grown. A missing, emptied, exchanged or
    /// shortened file is an error and not a release: whoever does that frees nobody.
    // LIMIT: a book cut back to its first lines while no process is running looks like an older one.
    fn with_book<T>(&self, now: Timestamp, ask: impl FnOnce(&Book) -> T) -> Result<T, AuditError> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = self.look(&mut reading, now)?;
        if reading.seen != seen {
            // THREAT: P12, the file that was open may live on under another name; the next to ask must not be told from it.
            self.read(&mut reading, seen).inspect_err(|_| reading.looked = None)?;
        }
        Ok(ask(&reading.book))
    }

    /// The open file tells at once what was added to it, and that it was deleted or replaced. Whether the name still leads
    /// there is looked at once in a millisecond: under load that is half of what all of this costs.
    fn look(&self, reading: &mut Reading, now: Timestamp) -> Result<Sighting, AuditError> {
        if let (Some(file), true) = (&reading.file, reading.looked == Some(now))
            && let Ok(found) = rustix::fs::fstat(file)
            && found.st_nlink > 0
        {
            return Ok(Sighting::of(&found));
        }
        reading.looked = None;
        let found = rustix::fs::lstat(self.raw_path.as_c_str())
            .map_err(|cause| AuditError::io("look at", &self.path)(cause.into()))?;
        reading.looked = Some(now);
        Ok(Sighting::of(&found))
    }

    fn read(&self, reading: &mut Reading, seen: Sighting) -> Result<(), AuditError> {
        let read = || {
            let file = disk::open_to_read(&self.path)?;
            let bytes = disk::read_all(&file, LONGEST)?;
            io::Result::Ok((file, bytes))
        };
        let (file, bytes) = read().map_err(AuditError::io("read", &self.path))?;
        if header(&bytes).as_deref() != Some(self.id.as_str()) {
            return Err(AuditError::broken(&self.path, NO_HEADER));
        }
        if (bytes.len() as u64) < reading.seen.length {
            return Err(AuditError::broken(&self.path, "the book of standings is shorter than it was"));
        }
        if let Some(number) = unreadable(&bytes) {
            let why = format!("line {number} of the book of standings cannot be read");
            return Err(AuditError::broken(&self.path, why));
        }
        reading.book = fold(&bytes);
        // The length that was read, not the one seen before: a line added in between must not be missed.
        reading.seen = Sighting { length: bytes.len() as u64, ..seen };
        reading.file = Some(file);
        Ok(())
    }
}

/// The first line behind the header that is neither a mark nor what a crash left of one. It may have been a stop.
fn unreadable(bytes: &[u8]) -> Option<usize> {
    const BEGINNING: &[u8] = br#"{"timestamp":"#;
    let is_torn =
        |line: &[u8]| !line.ends_with(b"}") && (BEGINNING.starts_with(line) || line.starts_with(BEGINNING));
    let is_mark = |line: &[u8]| {
        vambrace_json::own_line::<Line>(line).is_some_and(|line| {
            Mark::parse(&line.standing).is_some() && moment::parse(&line.timestamp).is_some()
        })
    };
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().skip(1);
    let unread = lines.filter(|(_, line)| !is_torn(line) && !is_mark(line));
    unread.map(|(number, _)| number + 1).next()
}

/// The strictest mark holds until a person sets it free.
fn fold(bytes: &[u8]) -> Book {
    let mut book = Book::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        // Half a line is what a crash left of a mark that its writer never reported as set.
        let Some(line) = vambrace_json::own_line::<Line>(line) else { continue };
        let (Some(mark), Some(since)) = (Mark::parse(&line.standing), moment::parse(&line.timestamp)) else {
            continue;
        };
        let new = Entry { mark, by: line.by, since, released: None, via: line.via };
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
        Some(old) => {
            // Stopped for two reasons: the release of one name is not enough.
            let was_stopped = matches!(old.mark, Mark::Suspended | Mark::Terminated);
            let via = new.via.filter(|via| !was_stopped || old.via.as_ref() == Some(via));
            Entry { released: old.released, via, ..new }
        }
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
            Some(succeed(old, Entry { mark: *mark, by: String::new(), since, released: None, via: None }))
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
    fn a_line_that_was_never_a_mark_is_no_release() {
        let mark =
            r#"{"timestamp":"2026-01-01T00:00:00.000Z","caller":null,"standing":"suspended","by":"p"}"#;
        let check = |lines: &[&str], expected: Option<usize>| {
            let text = format!("{{}}\n{}\n", lines.join("\n"));
            assert_eq!(unreadable(text.as_bytes()), expected, "{text}");
        };
        check(&[], None);
        check(&[mark, "{\"tim", "{\"timestamp\":\"20", mark], None);
        check(&[mark, "garbage"], Some(3));
        check(&["\0\0\0\0"], Some(2));
        check(&[&mark.replace("suspended", "banished")], Some(2));
        check(&[mark, &mark.replace("null", "nul}")], Some(3));
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

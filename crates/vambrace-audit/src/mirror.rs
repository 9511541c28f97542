//! `tool_log.jsonl` in the workspace, in the exact form of specification 002. A copy for people and old scripts;
//! the record is elsewhere. Best effort, as that specification has it: a failure is a warning.
//!
//! A line is there when its call is answered, unless many come at once: then they are written together, a moment later.
//! LIMIT: whoever kills the process takes those that wait with it; the record has them. And the other way round: a call whose
//! outcome the record could not take, and says so, may stand here.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::tz::TimeZone;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags};
use vambrace_types::{Timestamp, Tree};

use crate::entry::{CallEntry, Outcome};
use crate::line::Object;
use crate::{AuditError, moment};

const NAME: &str = "tool_log.jsonl";
const SHORT: usize = 2048;
const LONG: usize = 4096;
const INPUT: usize = 36 * 1024;
const RESULT: usize = 4096;
const HEAD: usize = 2048;

pub(crate) struct Mirror {
    dir: PathBuf,
    path: PathBuf,
    zone: TimeZone,
    kept: Mutex<Kept>,
}

/// Kept between calls.
#[derive(Default)]
struct Kept {
    file: Option<(Identity, File)>,
    pace: Pace,
    /// Lines that wait for each other.
    waiting: String,
    /// Why lines that waited are lost, until a call has told it.
    lost: Option<io::Error>,
}

/// How many lines come.
#[derive(Default)]
struct Pace {
    since: Option<Timestamp>,
    n_lines: usize,
}

impl Pace {
    /// In milliseconds.
    const SPAN: u64 = 50;
    const MANY: usize = 32;

    /// Counts a line; whether there have been many just now.
    fn is_quick(&mut self, now: Timestamp) -> bool {
        // A clock that was set back begins anew.
        if self.since.is_none_or(|since| now < since || now.millis_since(since) > Pace::SPAN) {
            // A flood that goes on is still one in its next span.
            let was_quick = self.n_lines > 2 * Pace::MANY;
            *self = Pace { since: Some(now), n_lines: if was_quick { Pace::MANY } else { 0 } };
        }
        self.n_lines += 1;
        self.n_lines > Pace::MANY
    }
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mirrored {
    Written,
    /// It is the first that waits: somebody has to `flush`.
    WaitsFirst,
    Waits,
}

/// Which file it is, wherever its name may lead by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: (u32, u32),
    inode: u64,
}

impl Identity {
    /// What `path` names below `dir`, the last link not followed.
    fn of(dir: impl AsFd, path: impl rustix::path::Arg, flags: AtFlags) -> io::Result<Identity> {
        let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::NLINK;
        let found = rustix::fs::statx(dir, path, flags | AtFlags::SYMLINK_NOFOLLOW, wanted)?;
        // THREAT: a second name for another file would turn the mirror into a way to write there.
        let is_file = FileType::from_raw_mode(found.stx_mode.into()) == FileType::RegularFile;
        if !is_file || found.stx_nlink != 1 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file with one name"));
        }
        Ok(Identity { device: (found.stx_dev_major, found.stx_dev_minor), inode: found.stx_ino })
    }
}

/// One line of specification 002; `input` and `result` are JSON objects.
pub(crate) struct Seed002<'a> {
    pub(crate) timestamp: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) input: &'a str,
    pub(crate) result: &'a str,
    pub(crate) success: bool,
    pub(crate) duration_ms: u64,
    pub(crate) conversation_id: &'a str,
    pub(crate) dry_run: bool,
    pub(crate) error: &'a str,
    pub(crate) git_commit: Option<&'a str>,
}

impl Seed002<'_> {
    pub(crate) fn write(&self, out: &mut String) {
        let mut line = Object::begin(out);
        line.text("timestamp", self.timestamp, SHORT);
        line.text("tool", self.tool, SHORT);
        line.raw("input", self.input);
        line.raw("result", self.result);
        line.flag("success", self.success);
        line.number("duration_ms", self.duration_ms);
        line.text("conversation_id", self.conversation_id, SHORT);
        line.flag("dry_run", self.dry_run);
        line.text("error", self.error, LONG);
        line.maybe_text("git_commit", self.git_commit, SHORT);
        line.end_line();
    }
}

impl Mirror {
    pub(crate) fn new(dir: PathBuf) -> Mirror {
        let path = dir.join(NAME);
        Mirror { dir, path, zone: TimeZone::system(), kept: Mutex::default() }
    }

    pub(crate) fn append(
        &self,
        time: Timestamp,
        call: &CallEntry,
        outcome: &Outcome,
    ) -> Result<Mirrored, AuditError> {
        thread_local! {
            /// Reused for every line: its input, its result and the whole.
            static PARTS: RefCell<[String; 3]> = const { RefCell::new([const { String::new() }; 3]) };
        }
        PARTS.with_borrow_mut(|[input, result, line]| {
            write_object(call.input.as_tree(), INPUT, input);
            write_object(outcome.result.as_tree(), RESULT, result);
            line.clear();
            Seed002 {
                timestamp: &self.moment(time),
                tool: call.tool.as_str(),
                input,
                result,
                success: outcome.ending.is_success(),
                duration_ms: outcome.duration_ms,
                conversation_id: call.session_id.as_str(),
                dry_run: call.dry_run,
                error: outcome.error.as_ref().map_or("", |(_, message)| message.as_str()),
                git_commit: outcome.checkpoint.as_deref(),
            }
            .write(line);
            let mut kept = self.kept();
            let told = kept.lost.take().map_or(Ok(()), Err);
            let done = self.take(&mut kept, time, line);
            drop(kept);
            told.and(done).map_err(AuditError::io("write", &self.path))
        })
    }

    /// Under the lock, so that lines stand in the order in which they came.
    fn take(&self, kept: &mut Kept, time: Timestamp, line: &str) -> io::Result<Mirrored> {
        /// LIMIT: of what waits.
        const MOST: usize = 256 * 1024;
        let (is_quick, is_first) = (kept.pace.is_quick(time), kept.waiting.is_empty());
        if is_first && !is_quick {
            return self.write(kept, line).map(|()| Mirrored::Written);
        }
        kept.waiting.push_str(line);
        if kept.waiting.len() > MOST {
            let waiting = std::mem::take(&mut kept.waiting);
            return self.write(kept, &waiting).map(|()| Mirrored::Written);
        }
        Ok(if is_first { Mirrored::WaitsFirst } else { Mirrored::Waits })
    }

    /// Writes what waits. Should that fail, the next call tells it.
    pub(crate) fn flush(&self) {
        let mut kept = self.kept();
        let waiting = std::mem::take(&mut kept.waiting);
        if !waiting.is_empty()
            && let Err(cause) = self.write(&mut kept, &waiting)
        {
            kept.lost = Some(cause);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asking the calendar of a time zone takes longer than the rest of the line, so each thread keeps its last answer.
    fn moment(&self, time: Timestamp) -> Rc<str> {
        thread_local! {
            /// A second since 1970, as specification 002 writes it. Every mirror has the system's time zone.
            static MOMENT: RefCell<Option<(i64, Rc<str>)>> = const { RefCell::new(None) };
        }
        let second = time.millis().div_euclid(1000);
        MOMENT.with_borrow_mut(|moment| match moment {
            Some((known, text)) if *known == second => Rc::clone(text),
            Some(_) | None => {
                let text: Rc<str> = moment::local(time, &self.zone).into();
                *moment = Some((second, Rc::clone(&text)));
                text
            }
        })
    }

    /// Makes the folder and the file, so that neither appears while something watches the project.
    pub(crate) fn prepare(&self) {
        let _ = self.open();
    }

    /// To the file that is open, if its name still leads to it; otherwise the name is opened anew. The kernel puts what is
    /// written behind the last line, as it does for other processes.
    fn write(&self, kept: &mut Kept, lines: &str) -> io::Result<()> {
        let named = Identity::of(rustix::fs::CWD, &self.path, AtFlags::empty());
        if !kept.file.as_ref().is_some_and(|(open, _)| named.is_ok_and(|named| named == *open)) {
            kept.file = Some(self.open()?);
        }
        kept.file.iter().try_for_each(|(_, file)| { file }.write_all(lines.as_bytes()))
    }

    /// Beneath a folder that is not a link: the workspace is where the agent lives.
    fn open(&self) -> io::Result<(Identity, File)> {
        let folder = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = match rustix::fs::open(&self.dir, folder, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => {
                match rustix::fs::mkdir(&self.dir, Mode::RWXU) {
                    // Another process of ours was faster.
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                rustix::fs::open(&self.dir, folder, Mode::empty())?
            }
            other => other?,
        };
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let private = Mode::RUSR | Mode::WUSR;
        let (descriptor, is_new) = match rustix::fs::openat(&dir, NAME, flags, private) {
            Err(rustix::io::Errno::NOENT) => {
                (rustix::fs::openat(&dir, NAME, flags | OFlags::CREATE, private)?, true)
            }
            other => (other?, false),
        };
        if is_new {
            let ignore =
                rustix::fs::openat(&dir, ".gitignore", flags | OFlags::CREATE | OFlags::EXCL, private);
            if let Ok(ignore) = ignore {
                // A team shares what it accepted as no secret; everything else here is this machine's.
                File::from(ignore).write_all(b"*\n!secrets-baseline.json\n")?;
            }
        }
        let file = File::from(descriptor);
        Ok((Identity::of(&file, c"", AtFlags::EMPTY_PATH)?, file))
    }
}

/// Specification 002 has objects here. What is none is put into one, and what is too long is cut and named so.
fn write_object(tree: &Tree, limit: usize, out: &mut String) {
    out.clear();
    match tree {
        Tree::Null => out.push_str("{}"),
        Tree::Map(_) if tree.json_len() <= limit => tree.write_json(out),
        Tree::Map(_) | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) | Tree::Text(_) | Tree::List(_) => {
            let mut whole = Object::begin(out);
            whole.tree("value", "truncated", tree, limit, HEAD);
            whole.end();
        }
    }
}

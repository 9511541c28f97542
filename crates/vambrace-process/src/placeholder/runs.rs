//! That programs are running in a workspace, in a file that outlives this process: if it is killed, nobody looks for what
//! they planted until the next start does. Written twice for a run, a few bytes each time; nothing is known of programs.
//!
//! The launcher outlives this process for a moment. As the witness it adds when the last of our programs was dead, so that
//! what a person made afterwards is told apart.
//!
//! Processes that serve the same folder read each other's files: what came since the earliest run that is still under way
//! is nobody's old name. They take turns at beginning and ending, so that a run is either seen or over and swept.
//!
//! LIMIT: processes with different state folders, or with different rules, know nothing of each other.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::Timespec;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use super::run_record::{Activity, Listed, Moment, RunRecord, body, death, head, parse};
use super::without_placeholders;
use crate::cgroup::started;
use crate::scratch::own_folder;
use crate::workspace::{View, Walker};

pub(super) const FOLDER: &str = "runs";
const TURNS: &str = "turns";
/// The longest list that a walk accepts, with the longest paths.
pub(super) const LONGEST: u64 = 64 << 20;
/// A turn is as long as a walk; one that takes longer than this many thousandths of a second is a process that was stopped.
const MOST_WAITS: u32 = 30_000;
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// The file of this process. Removed at a clean end.
#[derive(Debug)]
pub(crate) struct RunJournal {
    path: PathBuf,
    workspace: PathBuf,
    service: PathBuf,
    rules: u64,
    /// The same one for every process that serves the same folder.
    turns: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Locked, shared, while this process lives.
    file: File,
    n_running: usize,
    /// What the file lists.
    listed: Option<Listed>,
}

/// Nobody else begins or ends a run until this is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'j> {
    journal: &'j Arc<RunJournal>,
    _held: Held,
}

#[derive(Debug)]
struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // Not left to closing: a child between fork and exec has a copy of the descriptor.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

/// A program may be running until this is dropped, which is after its sweep.
#[derive(Debug)]
pub(crate) struct Running {
    journal: Arc<RunJournal>,
}

impl RunJournal {
    /// `state` is a folder of ours outside every workspace; call `recover` first.
    pub(crate) fn open(state: &Path, walker: &Walker) -> io::Result<RunJournal> {
        let (workspace, service) = (walker.workspace().to_owned(), walker.service());
        let turns = turns(state, &workspace, &service);
        let folder = state.join(FOLDER);
        own_folder(&folder)?;
        let process = rustix::process::getpid().as_raw_nonzero();
        let started = started(process.get()).unwrap_or_default();
        for number in 0..10_000_u32 {
            let path = folder.join(format!("{process}-{started}-{number}"));
            let made = OpenOptions::new()
                .create_new(true)
                .write(true)
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&path);
            match made {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                // Another process may have taken it for a dead one's between the two calls.
                Ok(file) if lock(&file) && file.metadata()?.nlink() > 0 => {
                    let state = Mutex::new(State { file, n_running: 0, listed: None });
                    return Ok(RunJournal { path, workspace, service, rules: walker.rules(), turns, state });
                }
                Ok(_) => {}
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// For the launcher.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// To be had before the workspace is looked at for a run that begins.
    pub(crate) fn turn(self: &Arc<Self>) -> io::Result<Turn<'_>> {
        Ok(Turn { journal: self, _held: self.hold()? })
    }

    fn hold(&self) -> io::Result<Held> {
        let file = self.open_turns()?;
        for _ in 0..MOST_WAITS {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Held(file)),
                Err(Errno::WOULDBLOCK) => {
                    let _ = rustix::event::poll(&mut [], Some(&WAIT));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("another process does not finish its turn"))
    }

    /// The file is kept for the next process: one that is removed could be locked by two.
    fn open_turns(&self) -> io::Result<File> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        self.turns.parent().map_or(Ok(()), own_folder)?;
        OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(&self.turns)
    }

    fn begin(self: &Arc<Self>, before: &View) -> io::Result<Running> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.n_running == 0 {
            self.write(&mut state, before)?;
        }
        state.n_running += 1;
        Ok(Running { journal: Arc::clone(self) })
    }

    /// The files of other processes, whatever they serve.
    fn other_files(&self) -> impl Iterator<Item = PathBuf> {
        let entries = self.path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
        let paths = entries.into_iter().flatten().filter_map(|entry| entry.ok().map(|entry| entry.path()));
        paths.filter(|path| *path != self.path)
    }

    /// Those of them whose programs may be running here.
    fn others(&self) -> Vec<RunRecord> {
        let records = self.other_files().filter_map(|path| {
            let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
            let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
            let mut text = String::new();
            file.take(LONGEST).read_to_string(&mut text).ok()?;
            parse(&text)
        });
        let concerns = |record: &RunRecord| {
            record.activity == Activity::Busy
                && (&record.workspace, &record.service) == (&self.workspace, &self.service)
                && record.rules == self.rules
        };
        records.filter(concerns).collect()
    }

    /// The list first: as long as the head says idle, a torn one does no harm.
    fn write(&self, state: &mut State, before: &View) -> io::Result<()> {
        let now = now(ClockId::RealtimeCoarse);
        if !state.listed.as_ref().is_some_and(|listed| listed.is_of(before)) {
            state.listed = None;
            let listed = Listed::of(before);
            let body = body(&self.workspace, &self.service, self.rules, &listed);
            let text = head(Activity::Idle, now) + &body;
            state.file.set_len(0)?;
            state.file.write_all_at(text.as_bytes(), 0)?;
            state.listed = Some(listed);
        }
        state.file.write_all_at(head(Activity::Busy, now).as_bytes(), 0)
    }

    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.n_running = state.n_running.saturating_sub(1);
        if state.n_running == 0 {
            // Whoever is looking at the workspace now has seen what we planted, or may have.
            let _turn = self.hold();
            // What a person makes from now on is nobody's plant, whenever this process ends.
            let _ = state.file.write_all_at(head(Activity::Idle, now(ClockId::RealtimeCoarse)).as_bytes(), 0);
        }
    }
}

impl Turn<'_> {
    /// No other process has anything to do with this state folder, nor had one that was killed.
    pub(crate) fn is_alone(&self) -> bool {
        self.journal.other_files().next().is_none()
    }

    /// What of a view is not the work of programs of others that are still running. Placeholders are nobody's work.
    pub(crate) fn without_plants(&self, view: Arc<View>) -> Arc<View> {
        let others = self.journal.others();
        if others.is_empty() {
            return view;
        }
        let service = &self.journal.service;
        let mut old = View::clone(&view);
        for other in others {
            let is_placeholder = |path: &Path| {
                if path.parent() != Some(service.as_path()) {
                    return false;
                }
                let mut paths = vec![path.to_owned()];
                without_placeholders(&mut paths, service);
                paths.is_empty()
            };
            old.retain_known(&other.listed.into_view(), service, &is_placeholder);
        }
        Arc::new(old)
    }

    /// Before a program starts. `before` is the workspace as it is now.
    ///
    /// INVARIANT: what is listed was there when nothing of ours ran, so a run that begins beside another one changes
    /// nothing: what it finds may have been planted by the other.
    pub(crate) fn begin(&self, before: &View) -> io::Result<Running> {
        self.journal.begin(before)
    }
}

impl Drop for RunJournal {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.journal.end();
    }
}

/// Of the launcher: whoever recovers waits until it has spoken or is dead too.
#[derive(Debug)]
pub(crate) struct Witness {
    file: File,
}

impl Witness {
    pub(crate) fn of(journal: &Path) -> Option<Witness> {
        let file = OpenOptions::new()
            .append(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(journal)
            .ok()?;
        lock(&file).then_some(Witness { file })
    }

    /// The process of the journal and all its programs are dead now.
    pub(crate) fn tell(mut self) {
        let _ = self.file.write_all(death(now(ClockId::Realtime)).as_bytes());
    }
}

fn turns(state: &Path, workspace: &Path, service: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (workspace, service).hash(&mut hasher);
    state.join(TURNS).join(format!("{:016x}", hasher.finish()))
}

fn lock(file: &File) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockShared).is_ok()
}

/// The kernel stamps files by either clock; the coarse one is some thousandths of a second behind. A run is counted from
/// the earlier and to the later, so that nothing it made falls outside.
fn now(clock: ClockId) -> Moment {
    let now = clock_gettime(clock);
    (now.tv_sec, u32::try_from(now.tv_nsec).unwrap_or(0))
}

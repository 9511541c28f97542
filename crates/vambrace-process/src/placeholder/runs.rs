//! That programs are running in a workspace, in a file that outlives this process: if it is killed, nobody looks for what
//! they planted until the next start does. Written twice for a run, a few bytes each time; nothing is known of programs.
//!
//! The launcher outlives this process for a moment. As the witness it adds when the last of our programs was dead, so that
//! what a person made afterwards is told apart.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::FlockOperation;
use rustix::time::{ClockId, clock_gettime};

use super::run_record::{Activity, Moment, body, death, head};
use crate::workspace::{Seen, View};

pub(super) const FOLDER: &str = "runs";

/// The file of this process. Removed at a clean end.
#[derive(Debug)]
pub(crate) struct RunJournal {
    path: PathBuf,
    workspace: PathBuf,
    service: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Locked, shared, while this process lives.
    file: File,
    n_running: usize,
    /// What the file lists.
    names: Option<Vec<Seen>>,
}

/// A program may be running until this is dropped, which is after its sweep.
#[derive(Debug)]
pub(crate) struct Running {
    journal: Arc<RunJournal>,
}

impl RunJournal {
    /// `state` is a folder of ours outside every workspace; call `recover` first.
    pub(crate) fn open(state: &Path, workspace: &Path, service: &Path) -> io::Result<RunJournal> {
        let folder = state.join(FOLDER);
        std::fs::create_dir_all(&folder)?;
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
                    let state = Mutex::new(State { file, n_running: 0, names: None });
                    let (workspace, service) = (workspace.to_owned(), service.to_owned());
                    return Ok(RunJournal { path, workspace, service, state });
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

    /// Before a program starts. `before` is the workspace as it is now.
    ///
    /// INVARIANT: what is listed was there when nothing of ours ran, so a run that begins beside another one changes
    /// nothing: what it finds may have been planted by the other.
    pub(crate) fn begin(self: &Arc<Self>, before: &View) -> io::Result<Running> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.n_running == 0 {
            self.write(&mut state, before)?;
        }
        state.n_running += 1;
        Ok(Running { journal: Arc::clone(self) })
    }

    /// The list first: as long as the head says idle, a torn one does no harm.
    fn write(&self, state: &mut State, before: &View) -> io::Result<()> {
        let now = now(ClockId::RealtimeCoarse);
        let names = before.protected.iter().chain(&before.repositories).chain(&before.git_files);
        if !state.names.as_ref().is_some_and(|listed| listed.iter().eq(names.clone())) {
            state.names = None;
            let names: Vec<Seen> = names.cloned().collect();
            let text = head(Activity::Idle, now) + &body(&self.workspace, &self.service, &names);
            state.file.set_len(0)?;
            state.file.write_all_at(text.as_bytes(), 0)?;
            state.names = Some(names);
        }
        state.file.write_all_at(head(Activity::Busy, now).as_bytes(), 0)
    }

    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.n_running = state.n_running.saturating_sub(1);
        if state.n_running == 0 {
            // What a person makes from now on is nobody's plant, whenever this process ends.
            let _ = state.file.write_all_at(head(Activity::Idle, now(ClockId::RealtimeCoarse)).as_bytes(), 0);
        }
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

fn lock(file: &File) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockShared).is_ok()
}

/// The kernel stamps files by either clock; the coarse one is some thousandths of a second behind. A run is counted from
/// the earlier and to the later, so that nothing it made falls outside.
fn now(clock: ClockId) -> Moment {
    let now = clock_gettime(clock);
    (now.tv_sec, u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// When a process started, in the kernel's ticks: with its number it is one of a kind.
pub(super) fn started(process: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold anything; the start is the twentieth word after it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

//! This process's side: the launcher it started and the cells it was given. It knows the wire; how a cell is built it
//! does not know.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio as ChildStdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::cage::Layers;
use crate::capture::{self, Captured, Stdio, Watch};
use crate::guarded::Guarded;
use crate::launcher::LAUNCHER;
use crate::mark::Mark;
use crate::namespace::Namespaces;
use crate::order::Order;
use crate::spec::CageSpec;
use crate::wire::message::{Answer, Confine, Report};
use crate::wire::{self, Line};

/// A cell is ready in a few thousandths of a second; one that takes this long never will be.
const READY: Duration = Duration::from_secs(10);
/// A runner that has lost its line ends what it started and goes.
const GOING: Duration = Duration::from_secs(2);

/// Why something did not run in a cell.
#[derive(Debug)]
pub enum CageError {
    NoLauncher(io::Error),
    /// The cell could not be built as asked.
    Refused(String),
    /// This system does not do what a cell needs.
    Lacks(String),
    /// The program's file is no longer the one that was looked up.
    Changed(PathBuf),
    Exec {
        program: PathBuf,
        errno: i32,
    },
    Protocol(String),
    /// Programs of this user have too many descriptors on their way, which the kernel counts for all of them together.
    InFlight,
    /// The cell or the launcher is gone.
    Died,
}

impl std::fmt::Display for CageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CageError::NoLauncher(error) => write!(f, "the launcher could not be started: {error}"),
            CageError::Refused(why) | CageError::Lacks(why) => {
                write!(f, "the cell could not be built: {why}")
            }
            CageError::Changed(program) => {
                write!(f, "`{}` is not the file that was looked up", program.display())
            }
            CageError::Exec { program, errno } => {
                write!(f, "`{}`: {}", program.display(), io::Error::from_raw_os_error(*errno))
            }
            CageError::Protocol(what) => write!(f, "the cell was not understood: {what}"),
            CageError::InFlight => f.write_str(
                "programs of this user have sent more descriptors than may be on their way at once",
            ),
            CageError::Died => f.write_str("the cell ended unexpectedly"),
        }
    }
}

impl std::error::Error for CageError {}

fn refused(why: String, lacks: bool) -> CageError {
    if lacks { CageError::Lacks(why) } else { CageError::Refused(why) }
}

impl From<Errno> for CageError {
    fn from(errno: Errno) -> CageError {
        match errno {
            Errno::PIPE | Errno::CONNRESET => CageError::Died,
            Errno::TOOMANYREFS => CageError::InFlight,
            other => CageError::Protocol(io::Error::from(other).to_string()),
        }
    }
}

/// Our own binary with one thread, which makes cells. Threads may share it; requests go one after another.
#[derive(Debug)]
pub struct Launcher {
    // Dropped before the child is waited for: the launcher goes when its line does.
    line: Mutex<Option<Line>>,
    child: Mutex<Child>,
}

impl Launcher {
    /// `exe` is a binary that calls `launch_if_asked` first: in the product `/proc/self/exe`.
    pub fn start(exe: &Path) -> Result<Launcher, CageError> {
        let (ours, theirs) = wire::pair().map_err(|errno| CageError::NoLauncher(errno.into()))?;
        // THREAT: P06, secrets of our environment must not be in the memory of what starts programs.
        let child = Command::new(exe)
            .arg(LAUNCHER)
            .env_clear()
            .current_dir("/")
            .stdin(theirs)
            .stdout(ChildStdio::null())
            .stderr(ChildStdio::null())
            // A key that interrupts us goes to everybody of our group; programs end when we say so.
            .process_group(0)
            .spawn()
            .map_err(CageError::NoLauncher)?;
        Ok(Launcher { line: Mutex::new(Some(Line::new(ours))), child: Mutex::new(child) })
    }

    pub fn cell(&self, spec: &CageSpec) -> Result<Cell, CageError> {
        let turns = turns(Some(spec))?;
        let (ours, theirs) = wire::pair()?;
        let (pid, process) = {
            let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
            let line = line.as_mut().ok_or(CageError::Died)?;
            let descriptors: Vec<_> =
                std::iter::once(theirs.as_fd()).chain(turns.iter().map(AsFd::as_fd)).collect();
            line.send(spec, &descriptors)?;
            drop(theirs);
            let mut frame = line.receive()?.ok_or(CageError::Died)?;
            let answer = frame.read().map_err(|_| CageError::Protocol("answer".to_owned()))?;
            match (answer, frame.descriptors.pop()) {
                (Answer::Made { pid }, Some(process)) => (pid, process),
                (Answer::Made { .. }, None) => return Err(CageError::Protocol("no process".to_owned())),
                (Answer::Refused { why, lacks }, _) => return Err(refused(why, lacks)),
            }
        };
        Cell::new(Line::new(ours), Keeper::Launched(process), u32::try_from(pid).ok())
    }

    /// The launcher's process id.
    pub fn pid(&self) -> u32 {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).id()
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let _ended = child.kill();
        let _reaped = child.wait();
    }
}

#[derive(Debug)]
enum Keeper {
    /// The first process of the cell.
    Launched(OwnedFd),
    /// The front process of another backend.
    Child(Child),
}

/// Something that runs orders, one at a time. Everything in it ends when it is dropped.
#[derive(Debug)]
pub struct Cell {
    line: Option<Line>,
    keeper: Keeper,
    pid: Option<u32>,
    layers: Layers,
    reuse: Reuse,
    /// Where its programs connect to, until somebody takes it to serve them.
    way_out: Option<OwnedFd>,
}

/// Whether the next order may come to where the last one was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reuse {
    Fit,
    Unfit,
    /// The runner has ended all of the order and will tell; the flag: whether it matters.
    Owed {
        ended_by_itself: bool,
    },
}

impl Cell {
    fn new(line: Line, keeper: Keeper, pid: Option<u32>) -> Result<Cell, CageError> {
        // Made first, so that a cell that fails here is ended like any other.
        let (layers, reuse) = (Layers::default(), Reuse::Fit);
        let mut cell = Cell { line: Some(line), keeper, pid, layers, reuse, way_out: None };
        let line = cell.line.as_mut().ok_or(CageError::Died)?;
        if !wait_readable(&*line, READY)? {
            return Err(CageError::Refused("it was not ready in time".to_owned()));
        }
        let mut frame = line.receive()?.ok_or(CageError::Died)?;
        match frame.read() {
            Ok(Report::Ready(missing)) => {
                cell.layers = Layers { missing };
                cell.way_out = frame.descriptors.pop();
                Ok(cell)
            }
            Ok(Report::Refused { why, lacks }) => Err(refused(why, lacks)),
            Ok(Report::Done(_) | Report::Clean(_)) | Err(_) => Err(CageError::Protocol("report".to_owned())),
        }
    }

    /// Starts a runner by a command of another backend, which must end in our binary and `__cage-runner`.
    ///
    /// With a spec the runner puts limits, Landlock and the filter on itself, and compares its namespaces with ours. Whether
    /// the backend gave it a private root, and root's limits a control group, is not known here, so they are listed as
    /// missing.
    pub fn inside(command: Command, confine: Option<&CageSpec>) -> Result<Cell, CageError> {
        Cell::verified(command, confine, Vec::new())
    }

    /// The same, where the runner refuses to serve unless every one of these mounts is what it was to be.
    pub(crate) fn verified(
        mut command: Command,
        confine: Option<&CageSpec>,
        marks: Vec<Mark>,
    ) -> Result<Cell, CageError> {
        let (ours, theirs) = wire::pair()?;
        let child = command
            .env_clear()
            .stdin(theirs)
            .stdout(ChildStdio::null())
            .stderr(ChildStdio::null())
            .spawn()
            .map_err(CageError::NoLauncher)?;
        // The command owns a copy of the other end as long as it lives.
        drop(command);
        let line = Line::new(ours);
        let turns = turns(confine)?;
        let confine = match confine {
            None => Confine::Nothing,
            Some(spec) => Confine::As { spec: Box::new(spec.clone()), outside: Namespaces::own(), marks },
        };
        let descriptors: Vec<_> = turns.iter().map(AsFd::as_fd).collect();
        let sent = line.send(&confine, &descriptors);
        let cell = Cell::new(line, Keeper::Child(child), None)?;
        sent?;
        Ok(cell)
    }

    /// What is not around this cell.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The socket at `PROXY_PORT` of the cage's own loopback, once, if its spec asked for it and its network is its own.
    pub fn take_way_out(&mut self) -> Option<OwnedFd> {
        self.way_out.take()
    }

    /// Nothing of what ran can be found by what runs next. Waits while that is looked for.
    pub fn is_reusable(&mut self) -> bool {
        if let Reuse::Owed { ended_by_itself } = self.reuse {
            let fit = self.receive_clean().is_ok_and(|is_clean| is_clean) && ended_by_itself;
            self.reuse = if fit { Reuse::Fit } else { Reuse::Unfit };
        }
        self.reuse == Reuse::Fit
    }

    /// All that ran is dead, and the first process of the cell is looking for what it left.
    pub(crate) fn is_settling(&self) -> bool {
        let is_launched = matches!(self.keeper, Keeper::Launched(_));
        is_launched && self.reuse == Reuse::Owed { ended_by_itself: true }
    }

    fn receive_clean(&mut self) -> Result<bool, CageError> {
        let line = self.line.as_mut().ok_or(CageError::Died)?;
        // Both answers may have come at once.
        if !line.has_more() && !wait_readable(&*line, READY)? {
            return Err(CageError::Died);
        }
        let frame = line.receive()?.ok_or(CageError::Died)?;
        match frame.read() {
            Ok(Report::Clean(is_clean)) => Ok(is_clean),
            Ok(Report::Ready(_) | Report::Refused { .. } | Report::Done(_)) | Err(_) => {
                Err(CageError::Protocol("report".to_owned()))
            }
        }
    }

    /// The first process of the cell, as the host numbers it.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    pub fn run(&mut self, order: &Order, stdio: Stdio<'_>, watch: &Watch<'_>) -> Result<Captured, CageError> {
        // What is still owed of the last order must not be taken for an answer to this one.
        let _known = self.is_reusable();
        self.reuse = Reuse::Unfit;
        let line = self.line.as_mut().ok_or(CageError::Died)?;
        let ran = capture::run(line, order, stdio, watch);
        self.reuse = match &ran {
            Ok(captured) if captured.gave_up => Reuse::Unfit,
            Ok(captured) => {
                let by_force = captured.cut || captured.timed_out || captured.cancelled;
                Reuse::Owed { ended_by_itself: !by_force }
            }
            Err(CageError::Changed(_) | CageError::Exec { .. }) => Reuse::Owed { ended_by_itself: false },
            Err(_) => Reuse::Unfit,
        };
        if ran.as_ref().is_ok_and(|captured| captured.gave_up) {
            self.end();
        }
        ran
    }

    /// For who wants to end all of it at once, from another thread. None: another backend built it.
    pub(crate) fn first_process(&self) -> Option<OwnedFd> {
        match &self.keeper {
            Keeper::Launched(process) => process.try_clone().ok(),
            Keeper::Child(_) => None,
        }
    }

    /// Whether its first process is still there. It goes with the launcher.
    pub(crate) fn is_alive(&self) -> bool {
        match &self.keeper {
            Keeper::Launched(process) => wait_readable(process, Duration::ZERO) == Ok(false),
            Keeper::Child(_) => true,
        }
    }

    /// Ends it, and comes back when nothing in it is alive: the first process of a namespace goes last.
    pub(crate) fn end_wholly(&mut self) {
        self.reuse = Reuse::Unfit;
        if let Keeper::Launched(process) = &self.keeper {
            let _ended = rustix::process::pidfd_send_signal(process, Signal::KILL);
            let _gone = wait_readable(process, GOING);
        }
    }

    fn end(&mut self) {
        self.line = None;
        match &mut self.keeper {
            Keeper::Launched(process) => {
                let _ended = rustix::process::pidfd_send_signal(process, Signal::KILL);
            }
            Keeper::Child(child) => {
                // Not killed at once: the runner ends its descendants first, which nobody else would.
                let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                let process =
                    process.and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
                let gone = process.is_some_and(|process| wait_readable(&process, GOING) == Ok(true));
                if !gone {
                    let _ended = child.kill();
                }
                let _reaped = child.wait();
            }
        }
    }
}

fn turns(spec: Option<&CageSpec>) -> Result<Option<File>, CageError> {
    let guarded = spec.and_then(|spec| spec.guarded.as_ref());
    let opened = guarded.map_or(Ok(None), Guarded::open_turns);
    opened.map_err(|error| CageError::Refused(format!("the file by which cages take turns: {error}")))
}

impl Drop for Cell {
    fn drop(&mut self) {
        self.end();
    }
}

fn wait_readable(what: impl AsFd, most: Duration) -> Result<bool, Errno> {
    let mut watched = [PollFd::new(&what, PollFlags::IN)];
    let most = Timespec::try_from(most).map_err(|_| Errno::INVAL)?;
    loop {
        match rustix::event::poll(&mut watched, Some(&most)) {
            Ok(n_ready) => return Ok(n_ready > 0),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

//! The other half of this crate: our own binary, executed again with one thread, which clones cells, and the cells
//! themselves. Nothing here is reached from the process that serves callers; the two talk over `wire`.

mod cell;
mod confine;
mod enter;
mod filter;
mod guard;
mod kernel_unsafe;
mod namespaces;
mod pass_unsafe;
mod program;
mod reaper;
mod root;
mod runner;
mod score;
mod spawn_unsafe;
mod way_out;

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, PidfdFlags};
use seccompiler::BpfProgram;

use crate::cage::{Layer, Missing, SAME_AS_OUTSIDE};
use crate::spec::{CageSpec, Mount};
use crate::wire::message::{Answer, Confine, Report};
use crate::wire::{self, Line};
use cell::{Birth, Owner};
use filter::Naming;
use guard::Guard;
use kernel_unsafe::Cloned;
use namespaces::Namespaces;
use runner::Runner;
use score::Score;

/// The first argument that makes this binary a launcher, the one that makes it a runner inside another backend, and the
/// one that makes it enter control groups before it becomes such a backend.
pub(crate) const LAUNCHER: &str = "__cage";
pub(crate) const RUNNER: &str = "__cage-runner";
pub(crate) const ENTER: &str = "__cage-enter";

/// Why a runner that did not build its root says that it has none; whoever had it built knows better.
pub(crate) const BUILT_ELSEWHERE: &str = "built by another backend, if at all";

/// How long nothing was asked before the next cell's first process is made ahead: until a short program has ended, with
/// which it would share the processors, and after which perhaps nothing more is wanted.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 4_000_000 };
/// The same once several cells were wanted: then the next one is likely, and waiting for its namespaces is what costs.
const BUSY: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000 };
/// More cells than one run and its battery need.
const SEVERAL: usize = 3;

const GROUP2_MAGIC: rustix::fs::FsWord = 0x6367_7270;

/// To be called first in `main`, before any thread exists: does the launcher's work if this binary was started for it.
pub fn launch_if_asked() -> Option<ExitCode> {
    let asked = std::env::args_os().nth(1)?;
    if asked == OsStr::new(LAUNCHER) {
        return Some(serve(launcher));
    }
    if asked == OsStr::new(RUNNER) {
        return Some(serve(serve_orders));
    }
    if asked == OsStr::new(ENTER) {
        return Some(enter::enter_and_become(std::env::args_os().skip(2)));
    }
    None
}

fn serve(work: fn(OwnedFd) -> Result<(), Errno>) -> ExitCode {
    match take_control().and_then(work) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The control socket comes as standard input; its place is given to /dev/null, so that nothing inherits it.
fn take_control() -> Result<OwnedFd, Errno> {
    kernel_unsafe::close_from(3)?;
    let control = kernel_unsafe::inherited(0)?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    for number in 0..=2 {
        kernel_unsafe::place(null.as_fd(), number)?;
    }
    Ok(control)
}

struct Maker {
    filter: BpfProgram,
    namespaces: Namespaces,
    owner: Owner,
    /// This very process, to be watched by its children.
    own: OwnedFd,
    /// Born and not wanted yet.
    next: Option<Embryo>,
    n_made: usize,
}

/// The first process of a cell that has no spec yet.
struct Embryo {
    line: Line,
    pid: u32,
    process: OwnedFd,
}

/// Makes cells until the other end is gone. All cells then die with this process.
fn launcher(control: OwnedFd) -> Result<(), Errno> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    kernel_unsafe::reset_signals();
    kernel_unsafe::ignore_children();
    confine::prepare_core_limit();
    let mut maker = Maker {
        filter: filter::program(Naming::Free),
        namespaces: Namespaces::all(),
        owner: Owner {
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
        },
        own: rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?,
        next: None,
        n_made: 0,
    };
    match maker.serve(&mut Line::new(control)) {
        // With answers unread, or in the middle of one, the other end was killed.
        Ok(()) | Err(Errno::CONNRESET | Errno::PIPE) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn is_readable(line: &Line, most: Timespec) -> Result<bool, Errno> {
    let mut watched = [PollFd::new(line, PollFlags::IN)];
    match rustix::event::poll(&mut watched, Some(&most)) {
        Ok(n_ready) => Ok(n_ready > 0),
        Err(Errno::INTR) => Ok(true),
        Err(errno) => Err(errno),
    }
}

impl Maker {
    fn serve(&mut self, line: &mut Line) -> Result<(), Errno> {
        loop {
            // Not while a cell has just been asked for: its programs would share the processors with the kernel's work.
            let quiet = if self.n_made < SEVERAL { QUIET } else { BUSY };
            if self.next.is_none() && !is_readable(line, quiet)? {
                self.next = self.bear(None).ok();
            }
            let Some(frame) = line.receive()? else { return Ok(()) };
            let Ok(spec) = frame.read() else { return Err(Errno::BADMSG) };
            // The cell's line, and perhaps what it locks.
            let descriptors: Vec<_> = frame.descriptors.iter().map(AsFd::as_fd).collect();
            match self.make(&spec, &frame.body, &descriptors) {
                Ok(made) => {
                    let answer = Answer::Made { pid: u64::from(made.pid) };
                    line.send(&answer, &[made.process.as_fd()])?;
                    self.n_made += 1;
                }
                Err(errno) => {
                    let why = format!("no process could be made: {}", confine::said(errno));
                    let lacks = root::is_lack(errno);
                    line.send(&Answer::Refused { why, lacks }, &[])?;
                }
            }
        }
    }

    fn make(
        &mut self,
        spec: &CageSpec,
        encoded: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<Embryo, Errno> {
        if let Some(group) = spec.groups.iter().find_map(|file| open_group2(file)) {
            let embryo = self.bear(Some(group.as_fd()))?;
            embryo.line.send_encoded(encoded, descriptors)?;
            return Ok(embryo);
        }
        if let Some(embryo) = self.next.take()
            && embryo.line.send_encoded(encoded, descriptors).is_ok()
        {
            return Ok(embryo);
        }
        // There was none, or it has been killed.
        let embryo = self.bear(None)?;
        embryo.line.send_encoded(encoded, descriptors)?;
        Ok(embryo)
    }

    fn bear(&mut self, group: Option<BorrowedFd<'_>>) -> Result<Embryo, Errno> {
        let (ours, theirs) = wire::pair()?;
        let (made, born_in_group) = match self.clone_into(group) {
            Ok(made) => made,
            Err(errno) => {
                self.namespaces = Namespaces::probe(errno)?;
                self.clone_into(None)?
            }
        };
        match made {
            Cloned::Parent { pid, descriptor } => {
                Ok(Embryo { line: Line::new(ours), pid, process: descriptor })
            }
            Cloned::Child => {
                let Ok(launcher) = self.own.as_fd().try_clone_to_owned() else { kernel_unsafe::exit_now(1) };
                cell::live(Birth {
                    line: theirs,
                    namespaces: &self.namespaces,
                    launcher,
                    filter: &self.filter,
                    owner: self.owner,
                    born_in_group,
                })
            }
        }
    }

    /// Into the group if the kernel can, else beside it: the cell then enters by itself.
    fn clone_into(&self, group: Option<BorrowedFd<'_>>) -> Result<(Cloned, bool), Errno> {
        let flags = self.namespaces.flags();
        if let Some(group) = group
            && let Ok(made) = kernel_unsafe::clone_process(flags, Some(group))
        {
            return Ok((made, true));
        }
        kernel_unsafe::clone_process(flags, None).map(|made| (made, false))
    }
}

/// The folder of a version 2 group, which a process can be born in.
fn open_group2(file: &Path) -> Option<OwnedFd> {
    let folder = file.parent().filter(|_| file.ends_with("cgroup.procs"))?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::empty()).ok()?;
    let is_group2 = rustix::fs::fstatfs(&opened).is_ok_and(|found| found.f_type == GROUP2_MAGIC);
    is_group2.then_some(opened)
}

/// Serves orders inside a cage that another program has built, or inside none.
///
/// It is not the first process of a namespace of ours, so it ends what it started by looking for its descendants.
fn serve_orders(control: OwnedFd) -> Result<(), Errno> {
    kernel_unsafe::reset_signals();
    let _unreachable = rustix::process::setsid();
    rustix::process::umask(Mode::from_raw_mode(0o022));
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut line = Line::new(control);
    let Some(mut frame) = line.receive()? else { return Ok(()) };
    let turns = frame.descriptors.pop();
    let asked = frame.read().map_err(|_| Errno::BADMSG)?;
    // THREAT: P07, a program of another cage may have exchanged a folder for a link while this one was built.
    if let Confine::As { marks, .. } = &asked
        && let Some(moved) = marks.iter().find(|mark| mark.stands() != Ok(true))
    {
        let why = format!("`{}` is not what was to be mounted", moved.at.display());
        return line.send(&Report::Refused { why, lacks: false }, &[]);
    }
    let way_out = match listener_for(&asked) {
        Ok(way_out) => way_out,
        Err(errno) => {
            let why = format!("the way out: {}", confine::said(errno));
            return line.send(&Report::Refused { why, lacks: false }, &[]);
        }
    };
    let is_confined = matches!(asked, Confine::As { .. });
    let mut runner = Runner::new(line, &[], Score::open(), confine::files(is_confined))?;
    let (missing, guard) = confine_runner(asked, turns);
    runner.guard = guard;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    runner.serve(missing, way_out);
    Ok(())
}

/// None where the network is the one outside: there it would listen for the whole machine.
fn listener_for(asked: &Confine) -> Result<Option<OwnedFd>, Errno> {
    let Confine::As { spec, outside, .. } = asked else { return Ok(None) };
    let shared = crate::namespace::Namespaces::own().shared_with(outside);
    let is_wanted = spec.way_out && !shared.contains(&Layer::NetworkNamespace);
    is_wanted.then(way_out::listener).transpose()
}

fn confine_runner(asked: Confine, turns: Option<OwnedFd>) -> (Vec<Missing>, Option<Guard>) {
    let mut gaps = confine::Gaps::default();
    let mut guard = None;
    match asked {
        Confine::Nothing => {
            for layer in Layer::ALL {
                gaps.add(layer, "no cage was asked for".to_owned());
            }
        }
        Confine::As { spec, outside, .. } => {
            let spec = *spec;
            for layer in crate::namespace::Namespaces::own().shared_with(&outside) {
                gaps.add(layer, SAME_AS_OUTSIDE.to_owned());
            }
            if rustix::process::geteuid().is_root()
                && spec.mounts.contains(&Mount::Devices)
                && let Err(errno) = root::hold_devices()
            {
                gaps.note(Layer::PrivateRoot, "devices of the host", errno);
            }
            gaps.add(Layer::PrivateRoot, BUILT_ELSEWHERE.to_owned());
            if let Err(errno) = confine::set_limits(spec.limits) {
                gaps.note(Layer::MemoryLimit, "limits", errno);
                gaps.note(Layer::ProcessLimit, "limits", errno);
            }
            if rustix::process::geteuid().is_root() {
                // Who started the backend knows whether it was started in one.
                for layer in [Layer::ProcessLimit, Layer::MemoryLimit] {
                    gaps.add(layer, "root needs a control group that can be written".to_owned());
                }
            }
            confine::bound_powers(&mut gaps);
            confine::drop_powers(&mut gaps);
            let mut private = Vec::new();
            for mount in &spec.mounts {
                match mount {
                    Mount::Memory { at, .. } => private.push(at.clone()),
                    Mount::Devices => private.push(PathBuf::from("/dev/shm")),
                    _ => {}
                }
            }
            confine::restrict_files(
                &spec.writable,
                &private,
                cell::is_guarded(spec.guarded.as_ref()),
                &mut gaps,
            );
            match spec.guarded {
                Some(guarded) => guard = confine::filter_and_guard(guarded, turns, &private, &mut gaps),
                None => confine::filter_calls(&filter::program(Naming::Free), &mut gaps),
            }
        }
    }
    (gaps.0, guard)
}

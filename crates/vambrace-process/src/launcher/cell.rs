//! The first process of a cell: it builds what stands around it, says what is missing, and serves. It knows the spec; the
//! launcher made its namespaces.
//!
//! It is born before a cell is wanted, because a network namespace takes the kernel longer than all the rest. What it
//! prepares is the same for every cell and has never been used; it sees the host's files as they are when the spec comes.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Signal};
use seccompiler::BpfProgram;

use super::confine::{self, Gaps};
use super::guard::Guard;
use super::kernel_unsafe;
use super::namespaces::Namespaces;
use super::root::{Failed, Root, is_lack};
use super::runner::Runner;
use super::score::Score;
use super::way_out;
use crate::cage::Layer;
use crate::guarded::Guarded;
use crate::spec::CageSpec;
use crate::wire::Line;
use crate::wire::message::Report;

/// LIMIT: so many cells at once can use up what a user has; fewer leave something for his other programs.
const SHARE_OF_USER: u64 = 8;

/// What the launcher gives its child.
pub(super) struct Birth<'a> {
    /// From the launcher, over which the spec comes when a cell is wanted.
    pub(super) line: OwnedFd,
    pub(super) namespaces: &'a Namespaces,
    /// Readable when the launcher is dead.
    pub(super) launcher: OwnedFd,
    pub(super) filter: &'a BpfProgram,
    pub(super) owner: Owner,
    /// The kernel put this process into its version 2 group as it was born.
    pub(super) born_in_group: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub(super) user: u32,
    pub(super) group: u32,
}

/// Never returns: the process ends when nobody wants it any more.
pub(super) fn live(birth: Birth<'_>) -> ! {
    kernel_unsafe::exit_now(wait_and_serve(birth).unwrap_or(1))
}

fn wait_and_serve(birth: Birth<'_>) -> Result<i32, Errno> {
    kernel_unsafe::close_all_but([birth.line.as_fd(), birth.launcher.as_fd()])?;
    // Before anything else, so that a launcher that is killed while this runs takes it along.
    die_with(&birth.launcher)?;
    kernel_unsafe::heed_children();
    let _no_terminal = rustix::process::setsid();
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let mut gaps = Gaps(birth.namespaces.missing());
    let prepared = prepare(birth.namespaces, birth.owner, &mut gaps);
    // While /proc can still be written.
    let score = Score::open();

    let mut from_launcher = Line::new(birth.line);
    let Some(mut frame) = from_launcher.receive()? else { return Ok(0) };
    drop(from_launcher);
    let mut descriptors = std::mem::take(&mut frame.descriptors).into_iter();
    let line = Line::new(descriptors.next().ok_or(Errno::BADMSG)?);
    let turns = descriptors.next();
    let spec = frame.read::<CageSpec>().map_err(|_| Errno::BADMSG)?;
    let built =
        prepared.and_then(|()| build(&spec, birth.namespaces, birth.owner, birth.born_in_group, &mut gaps));
    let opened = built.and_then(|memories| Ok((memories, open_way_out(&spec, birth.namespaces)?)));
    let (memories, way_out) = match opened {
        Ok(opened) => opened,
        Err(Failed { why, lacks }) => {
            line.send(&Report::Refused { why, lacks }, &[])?;
            return Ok(1);
        }
    };
    let mut runner = Runner::new(line, &memories, score, confine::files(true))?;
    let CageSpec { writable, guarded, .. } = spec;
    confine::drop_powers(&mut gaps);
    confine::restrict_files(&writable, &memories, is_guarded(guarded.as_ref()), &mut gaps);
    match guarded {
        Some(guarded) => runner.guard = confine::filter_and_guard(guarded, turns, &memories, &mut gaps),
        None => confine::filter_calls(birth.filter, &mut gaps),
    }
    // THREAT: P06, programs of the same user could otherwise look into this process under /proc/1.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    die_with(&birth.launcher)?;
    drop(birth.launcher);
    Ok(runner.serve(gaps.0, way_out))
}

/// None where the network is the host's.
fn open_way_out(spec: &CageSpec, namespaces: &Namespaces) -> Result<Option<OwnedFd>, Failed> {
    let is_wanted = spec.way_out && namespaces.has(Layer::NetworkNamespace);
    is_wanted.then(way_out::listener).transpose().map_err(|errno| Failed::by("the way out", errno))
}

/// Whether somebody will tell private folders from shared ones.
pub(super) fn is_guarded(guarded: Option<&Guarded>) -> bool {
    guarded.is_some() && Guard::is_possible().is_ok()
}

/// Dies with the launcher; an error if that is dead already and can no longer tell.
fn die_with(launcher: &OwnedFd) -> Result<(), Errno> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut watched = [PollFd::new(launcher, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    match rustix::event::poll(&mut watched, Some(&now))? {
        0 => Ok(()),
        _ => Err(Errno::SRCH),
    }
}

/// What is the same for every cell, done before one is wanted.
fn prepare(namespaces: &Namespaces, owner: Owner, gaps: &mut Gaps) -> Result<(), Failed> {
    if namespaces.has(Layer::UserNamespace) {
        // The files below belong to root while a process is not dumpable, and then it cannot write its own maps.
        let _open = rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable);
        map_owner(owner).map_err(|errno| Failed::by("the user's map", errno))?;
    }
    if !namespaces.has(Layer::PidNamespace) {
        // Then it is not the first process anywhere, and orphans of its programs would belong to somebody else.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(|errno| Failed::by("orphans", errno))?;
    }
    if namespaces.has(Layer::NetworkNamespace) {
        raise_loopback().map_err(|errno| Failed::by("loopback", errno))?;
    }
    if namespaces.has(Layer::UtsNamespace) {
        kernel_unsafe::set_host_name(c"vambrace").map_err(|errno| Failed::by("host name", errno))?;
    }
    confine::bound_powers(gaps);
    Ok(())
}

fn build(
    spec: &CageSpec,
    namespaces: &Namespaces,
    owner: Owner,
    born_in_group: bool,
    gaps: &mut Gaps,
) -> Result<Vec<PathBuf>, Failed> {
    enter_groups(spec, owner, born_in_group, gaps);
    // Only now, so that the namespace shows where the cell is, and what was mounted on the host since it was prepared.
    if namespaces.has(Layer::CgroupNamespace)
        && let Err(errno) = kernel_unsafe::leave_namespace(libc::CLONE_NEWCGROUP)
    {
        if !is_lack(errno) {
            return Err(Failed::by("cgroup namespace", errno));
        }
        gaps.note(Layer::CgroupNamespace, "unshare", errno);
    }
    let left = match namespaces.has(Layer::MountNamespace) {
        true => kernel_unsafe::leave_namespace(libc::CLONE_NEWNS),
        false => Err(Errno::PERM),
    };
    let memories = match left {
        Ok(()) => Root::build(spec, gaps)?.enter()?,
        // THREAT: P07, for want of memory there is no cage this time; that is not a system without mount namespaces.
        Err(errno) if !is_lack(errno) => return Err(Failed::by("mount namespace", errno)),
        Err(errno) => {
            gaps.note(Layer::MountNamespace, "unshare", errno);
            gaps.add(Layer::PrivateRoot, "it needs a mount namespace".to_owned());
            Vec::new()
        }
    };
    confine::set_limits(spec.limits).map_err(|errno| Failed::by("limits", errno))?;
    Ok(memories)
}

/// The user keeps its number: files it makes in the workspace are its own.
///
/// LIMIT: supplementary groups stay, because an ordinary user may not drop them in a namespace; what they could open is not
/// in sight.
fn map_owner(owner: Owner) -> Result<(), Errno> {
    write_once("/proc/self/setgroups", "deny")?;
    write_once("/proc/self/uid_map", &format!("{0} {0} 1", owner.user))?;
    write_once("/proc/self/gid_map", &format!("{0} {0} 1", owner.group))?;
    // They are counted per user, so a program could leave its user none. Where the kernel does not offer the switch, the
    // limit of the machine holds.
    for (name, of_user) in
        [("max_inotify_instances", "max_user_instances"), ("max_inotify_watches", "max_user_watches")]
    {
        let most = std::fs::read_to_string(Path::new("/proc/sys/fs/inotify").join(of_user));
        let Some(most) = most.ok().and_then(|most| most.trim().parse::<u64>().ok()) else { continue };
        let share = (most / SHARE_OF_USER).max(1).to_string();
        let _ = write_once(Path::new("/proc/sys/user").join(name), &share);
    }
    Ok(())
}

pub(super) fn write_once(path: impl AsRef<Path>, text: &str) -> Result<(), Errno> {
    let file = rustix::fs::open(path.as_ref(), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes()).map(drop)
}

/// Moves this process by its own hand: the kernel need then not stop every fork of the machine for it.
fn enter_groups(spec: &CageSpec, owner: Owner, born_in_group: bool, gaps: &mut Gaps) {
    let mut counts_processes = owner.user != 0;
    for path in &spec.groups {
        let has = |name: &str| path.components().any(|part| part.as_os_str() == name);
        let entered =
            if born_in_group && path.ends_with("cgroup.procs") { Ok(()) } else { write_once(path, "0") };
        match entered {
            Ok(()) => counts_processes |= !has("memory"),
            Err(errno) => {
                if !has("memory") {
                    gaps.note(Layer::ProcessLimit, "control group", errno);
                }
                if !has("pids") {
                    gaps.note(Layer::MemoryLimit, "control group", errno);
                }
            }
        }
    }
    if !counts_processes {
        gaps.add(Layer::ProcessLimit, "root needs a control group that can be written".to_owned());
    }
}

fn raise_loopback() -> Result<(), Errno> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    kernel_unsafe::raise_loopback(socket.as_fd())
}

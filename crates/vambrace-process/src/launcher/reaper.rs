//! Ends what a runner has started and looks whether anything of it is left. It knows processes, folders of private memory
//! and System V's objects; what was run does not matter here.

use std::collections::HashMap;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, FileType, IFlags, Mode, OFlags, RawDir, Stat, Timespec, Timestamps};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::kernel_unsafe;
use super::pass_unsafe::open_for_ourselves;
use crate::finished::Exit;

pub(super) struct Reaper {
    /// The first process of a pid namespace: all that can be seen is ours.
    first: bool,
}

impl Reaper {
    pub(super) fn new() -> Reaper {
        Reaper { first: std::process::id() == 1 }
    }

    pub(super) fn is_first(&self) -> bool {
        self.first
    }

    pub(super) fn signal_all(&self, signal: Signal) {
        if self.first {
            kernel_unsafe::signal_all(signal.as_raw());
            return;
        }
        for pid in descendants() {
            let _sent = rustix::process::kill_process(pid, signal);
        }
    }

    /// The next child that has ended, if one has.
    pub(super) fn ended(&self) -> Option<(Pid, Exit)> {
        let (pid, status) = rustix::process::wait(WaitOptions::NOHANG).ok().flatten()?;
        Some((pid, exit(status)))
    }

    /// Kills everything and returns when the last of it is gone.
    pub(super) fn end_all(&self) {
        loop {
            // Outside a namespace looking for descendants reads all of /proc, so first ask whether there are any.
            if !self.first && has_no_children(WaitOptions::NOHANG) {
                return;
            }
            self.signal_all(Signal::KILL);
            // Whose parent was killed becomes our child, so each round finds what the last could not see.
            if has_no_children(WaitOptions::empty()) {
                return;
            }
        }
    }
}

/// Reaps one on the way.
fn has_no_children(options: WaitOptions) -> bool {
    matches!(rustix::process::wait(options), Err(Errno::CHILD))
}

fn exit(status: WaitStatus) -> Exit {
    match status.terminating_signal() {
        Some(signal) => Exit::Signal(signal),
        None => Exit::Code(status.exit_status().unwrap_or(0)),
    }
}

/// INVARIANT: only processes whose line of parents leads to this one.
fn descendants() -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let Ok(processes) = open_for_ourselves(CWD, c"/proc", OFlags::RDONLY | OFlags::DIRECTORY) else {
        return Vec::new();
    };
    let mut space = [MaybeUninit::uninit(); 4096];
    let mut listing = RawDir::new(&processes, &mut space);
    while let Some(Ok(entry)) = listing.next() {
        let Some(pid) = entry.file_name().to_str().ok().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Some(stat) = stat_of(pid) else { continue };
        // The name stands in parentheses and may hold anything, also parentheses.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        if let Some(parent) = parent {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = next.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            next.push(child);
            found.extend(Pid::from_raw(child));
        }
    }
    found
}

fn stat_of(pid: i32) -> Option<String> {
    let path = CString::new(format!("/proc/{pid}/stat")).ok()?;
    let file = open_for_ourselves(CWD, &path, OFlags::RDONLY).ok()?;
    std::io::read_to_string(std::fs::File::from(file)).ok()
}

/// What a cell looked like before it ran anything.
pub(super) struct Pristine {
    folders: Vec<Memory>,
    /// The kernel's count of sockets in this network namespace. None where there is no /proc; then nothing is used again.
    sockets: Option<(OwnedFd, Sockets)>,
}

/// All sockets, and connections that ended and are remembered for a minute.
#[derive(Debug, PartialEq, Eq)]
struct Sockets {
    used: u64,
    ended: u64,
}

/// One folder of private memory.
struct Memory {
    folder: OwnedFd,
    stat: Stat,
    /// What `chattr` sets; none where the kernel has no such flags for memory.
    flags: Option<IFlags>,
    entries: Vec<Entry>,
}

/// A mount point or link that belongs to the cell.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    name: CString,
    inode: u64,
    /// Of a link, which programs may touch; what stands on a mount point is out of their reach.
    changed: Option<(i64, u64)>,
}

impl Pristine {
    pub(super) fn remember(memories: &[PathBuf]) -> Result<Pristine, Errno> {
        let mut folders = Vec::new();
        for path in memories {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let folder = rustix::fs::open(path, flags, Mode::empty())?;
            let stat = rustix::fs::fstat(&folder)?;
            let flags = rustix::fs::ioctl_getflags(&folder).ok();
            let entries = entries(&folder)?;
            folders.push(Memory { folder, stat, flags, entries });
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let counts = rustix::fs::open("/proc/self/net/sockstat", flags, Mode::empty()).ok();
        let sockets = counts.and_then(|counts| count_sockets(&counts).map(|sockets| (counts, sockets)));
        Ok(Pristine { folders, sockets })
    }

    /// Nothing is left in memory that the next order could find.
    ///
    /// THREAT: P07, sockets that are sent to each other and never received outlive their programs, until the kernel
    /// happens to look for such rings: with their names, with listeners, and with every file that was sent along.
    ///
    /// LIMIT: the kernel's counters (packets of the loopback device, the next process number) go on.
    ///
    /// INVARIANT: all processes but the caller are dead.
    pub(super) fn holds(&self) -> bool {
        self.folders.iter().all(Memory::is_untouched)
            && kernel_unsafe::count_ipc_objects() == Ok(0)
            && self
                .sockets
                .as_ref()
                .is_some_and(|(file, before)| count_sockets(file).as_ref() == Some(before))
    }
}

impl Memory {
    fn is_untouched(&self) -> bool {
        let Ok(now) = rustix::fs::fstat(&self.folder) else { return false };
        let owner = |stat: &Stat| (stat.st_mode, stat.st_uid, stat.st_gid);
        // A note can also be left in attributes of the folder itself, and in its times, which change with every use.
        owner(&now) == owner(&self.stat)
            && rustix::fs::ioctl_getflags(&self.folder).ok() == self.flags
            && has_no_attributes(&self.folder)
            && entries(&self.folder).is_ok_and(|entries| entries == self.entries)
            && self.restore_times()
    }

    /// THREAT: P07, a program may set any time it likes; the next one must not read it.
    fn restore_times(&self) -> bool {
        let time = |tv_sec: i64, nanoseconds: u64| Timespec {
            tv_sec,
            tv_nsec: i64::try_from(nanoseconds).unwrap_or(0),
        };
        let before = Timestamps {
            last_access: time(self.stat.st_atime, self.stat.st_atime_nsec),
            last_modification: time(self.stat.st_mtime, self.stat.st_mtime_nsec),
        };
        rustix::fs::futimens(&self.folder, &before).is_ok()
    }
}

/// Other numbers in the file are those of the whole machine.
fn count_sockets(file: &OwnedFd) -> Option<Sockets> {
    let mut text = [0u8; 1024];
    let length = rustix::io::pread(file, &mut text, 0).ok()?;
    read_counts(std::str::from_utf8(text.get(..length)?).ok()?)
}

fn read_counts(text: &str) -> Option<Sockets> {
    let number = |line: &str, name: &str| {
        let mut words = text.lines().find_map(|found| found.strip_prefix(line))?.split_whitespace();
        words.find(|word| *word == name)?;
        words.next()?.parse().ok()
    };
    Some(Sockets { used: number("sockets:", "used")?, ended: number("TCP:", "tw")? })
}

fn has_no_attributes(folder: &OwnedFd) -> bool {
    let mut names = [0u8; 1];
    match rustix::fs::flistxattr(folder, &mut names) {
        Ok(length) => length == 0,
        Err(errno) => errno == Errno::OPNOTSUPP,
    }
}

/// Sorted. LIMIT: what is more than this is not of our making.
fn entries(folder: &OwnedFd) -> Result<Vec<Entry>, Errno> {
    rustix::fs::seek(folder, rustix::fs::SeekFrom::Start(0))?;
    let mut found = Vec::new();
    let mut space = [MaybeUninit::uninit(); 1024];
    let mut listing = RawDir::new(folder, &mut space);
    while let Some(entry) = listing.next() {
        let entry = entry?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        if found.len() == MOST_ENTRIES {
            return Err(Errno::OVERFLOW);
        }
        let changed = if entry.file_type() == FileType::Symlink {
            let stat = rustix::fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            Some((stat.st_ctime, stat.st_ctime_nsec))
        } else {
            None
        };
        found.push(Entry { name: entry.file_name().to_owned(), inode: entry.ino(), changed });
    }
    found.sort();
    Ok(found)
}

const MOST_ENTRIES: usize = 1000;

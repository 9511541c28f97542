//! Has the kernel say which folders changed, so that a walk need not ask each of them. It knows numbers of folders, not
//! what is in them, and it never guesses: whatever it cannot vouch for is a `Doubt`, after which every folder is asked.
//!
//! Why silence can be trusted: on the file systems listed here the kernel queues an event before the system call that
//! made the change returns, and it does so for the inode, by whichever mount the change came. So a walk that starts
//! after a program has ended sees all that the program did in its cage. What no event tells, that something was
//! mounted over a folder, shows as a change of the list of mounts.
//!
//! LIMIT: a file of an overlay's lower layer gets another moment of birth when it is first written; it is not taken for
//! another file until its folder changes.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, Event, ReadFlags, WatchFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::tree::Id;

/// File systems of this machine alone, where every change passes the kernel's own functions. A network's or a daemon's
/// can change without them, and a rollback of zfs is silent.
const TRUSTED: &[u64] = &[
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x0102_1994, // tmpfs
    0x794c_7630, // overlay
    0xf2f5_2010, // f2fs
];

#[derive(Debug, Clone, Copy)]
pub(super) struct WatchLimits {
    /// Adding and ending thousands of watches costs as much as a dozen walks by stamps, and a program that is called
    /// for a single command, with its self-test, would pay it for nothing.
    pub(super) after_walks: usize,
    /// The kernel keeps about one kilobyte for each, and every program of the user draws on the same number.
    pub(super) watches: usize,
    /// A program that never stops making changes must not keep us reading about them.
    pub(super) events: usize,
}

impl Default for WatchLimits {
    fn default() -> WatchLimits {
        WatchLimits { after_walks: 8, watches: 100_000, events: 200_000 }
    }
}

/// Something may have happened that we were not told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Events were lost, or mounts changed. The watches themselves are as good as before.
    Missed,
    /// What we were told makes no sense to us.
    Confused,
}

/// The kernel gives no more watches.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

/// What an event says about a folder.
#[derive(Debug, Clone, Copy)]
pub(super) enum Happened<'e> {
    /// A name came or went, or now means something else.
    Listing(&'e OsStr),
    /// Who may enter a folder in it has changed, perhaps.
    AccessOf(&'e OsStr),
    /// The same of the folder itself, and so of everything below it.
    Access,
    /// The folder is no longer where it was.
    Lost,
}

#[derive(Debug)]
pub(super) struct Watches {
    inotify: OwnedFd,
    /// Tells, when polled, that something was mounted or unmounted.
    mounts: OwnedFd,
    limits: WatchLimits,
    /// One folder may be seen at two places, by a bind mount or while it is moved; its watch then has two holders.
    holders: HashMap<i32, Vec<Id>>,
    /// Watches that we removed and whose last event was not read yet.
    removed: HashSet<i32>,
    /// What is known of each device that was met.
    devices: HashMap<(u32, u32), bool>,
    buffer: Vec<MaybeUninit<u8>>,
}

impl Watches {
    /// `None` where the kernel or the machine's limits do not allow it.
    pub(super) fn start(limits: WatchLimits) -> Option<Watches> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mounts = rustix::fs::open("/proc/thread-self/mountinfo", flags, Mode::empty()).ok()?;
        Some(Watches {
            inotify,
            mounts,
            limits,
            holders: HashMap::new(),
            removed: HashSet::new(),
            devices: HashMap::new(),
            buffer: vec![MaybeUninit::uninit(); 16 * 1024],
        })
    }

    /// `None` if the folder lies where events do not tell everything, or if there are as many watches as we take.
    ///
    /// INVARIANT: called before the folder is read, so whatever happens from the reading on has its event.
    pub(super) fn add(
        &mut self,
        folder: &OwnedFd,
        device: (u32, u32),
        id: Id,
    ) -> Result<Option<i32>, Exhausted> {
        let trusted = *self.devices.entry(device).or_insert_with(|| is_trusted(folder));
        if !trusted {
            return Ok(None);
        }
        let wanted = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::EXCL_UNLINK
            | WatchFlags::ONLYDIR;
        // By the open handle: a path could lead to another folder by now.
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let watch = match inotify::add_watch(&self.inotify, path, wanted) {
            Ok(watch) => watch,
            Err(Errno::NOSPC | Errno::NOMEM | Errno::MFILE) => return Err(Exhausted),
            // Closed to us since it was opened; a program must not be able to end the watching of all the others.
            Err(_) => return Ok(None),
        };
        let holders = self.holders.entry(watch).or_default();
        if !holders.contains(&id) {
            holders.push(id);
        }
        if self.holders.len() > self.limits.watches {
            // It is asked for its stamp, as all would be without watches. The others keep theirs.
            self.remove(watch, id);
            return Ok(None);
        }
        Ok(Some(watch))
    }

    pub(super) fn remove(&mut self, watch: i32, id: Id) {
        let Some(holders) = self.holders.get_mut(&watch) else { return };
        holders.retain(|holder| *holder != id);
        if holders.is_empty() {
            self.holders.remove(&watch);
            self.removed.insert(watch);
            // Fails if the folder is gone and its watch with it; the last event is then on its way.
            let _ = inotify::remove_watch(&self.inotify, watch);
        }
    }

    /// Tells `each` what happened since the last time.
    pub(super) fn drain(&mut self, each: &mut dyn FnMut(Id, Happened<'_>)) -> Result<(), Doubt> {
        let mut missed = self.mounts_changed();
        if missed {
            self.devices.clear();
        }
        let Watches { inotify, holders, removed, buffer, limits, .. } = self;
        let mut events = inotify::Reader::new(&*inotify, buffer);
        for _ in 0..limits.events {
            match events.next().map(|event| pass_on(&event, holders, removed, each)) {
                Ok(Ok(())) | Err(Errno::INTR) => {}
                Ok(Err(Doubt::Missed)) => missed = true,
                Err(Errno::WOULDBLOCK) => {
                    // Their last events have come by now, or never will.
                    removed.clear();
                    return if missed { Err(Doubt::Missed) } else { Ok(()) };
                }
                Ok(Err(Doubt::Confused)) | Err(_) => return Err(Doubt::Confused),
            }
        }
        Err(Doubt::Confused)
    }

    fn mounts_changed(&self) -> bool {
        let mut mounts = [PollFd::new(&self.mounts, PollFlags::PRI)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut mounts, Some(&at_once)) != Ok(0)
    }
}

fn pass_on(
    event: &Event<'_>,
    holders: &mut HashMap<i32, Vec<Id>>,
    removed: &mut HashSet<i32>,
    each: &mut dyn FnMut(Id, Happened<'_>),
) -> Result<(), Doubt> {
    let flags = event.events();
    if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
        return Err(Doubt::Missed);
    }
    let is_last = flags.contains(ReadFlags::IGNORED);
    let Some(told) = holders.get(&event.wd()) else {
        // What happened before we removed a watch does not matter: if that folder is still in the tree, it was read
        // again since, under another watch.
        let known = if is_last { removed.remove(&event.wd()) } else { removed.contains(&event.wd()) };
        return if known { Ok(()) } else { Err(Doubt::Confused) };
    };
    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
    let listing = ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
    let happened = match name {
        _ if is_last || flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF) => Happened::Lost,
        Some(name) if flags.intersects(listing) => Happened::Listing(name),
        Some(name) if flags.contains(ReadFlags::ATTRIB | ReadFlags::ISDIR) => Happened::AccessOf(name),
        // Only folders are entered; who may read a file decides nothing here.
        Some(_) if flags.contains(ReadFlags::ATTRIB) => return Ok(()),
        None if flags.contains(ReadFlags::ATTRIB) => Happened::Access,
        Some(_) | None => return Err(Doubt::Confused),
    };
    for id in told {
        each(*id, happened);
    }
    if is_last {
        holders.remove(&event.wd());
    }
    Ok(())
}

fn is_trusted(folder: &OwnedFd) -> bool {
    let system = rustix::fs::fstatfs(folder).ok().and_then(|stat| u64::try_from(stat.f_type).ok());
    system.is_some_and(|magic| TRUSTED.contains(&magic))
}

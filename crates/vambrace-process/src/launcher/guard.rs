//! Makes names and opens files on behalf of programs. The filter hands over every call that could make a name and every
//! open; this process reads what is asked, once, finds the folder, and makes the call itself, unless the name is protected
//! or blocked.
//!
//! THREAT: P07, looking at a call and letting its program go on would be no wall: another thread changes the path after the
//! look. Here the path is read once, the folder is held open, and the name that was judged is the name that is made. All
//! programs of a cell are served one after another, and cells on one workspace take turns where it matters, so no two
//! calls can be played against each other.
//!
//! INVARIANT: nothing here waits for a program. What may wait is done by a process of its own.
//!
//! LIMIT: a signal that comes before this process has taken the call ends it with EINTR if its handler does not restart
//! calls; without a guard such calls are not interrupted.

mod call;
mod caller;
mod judge;
mod later;
mod listener_unsafe;
mod open;
mod place;

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::Timespec;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::pass_unsafe::Pass;
use crate::guarded::Made;
use crate::wire::message::Refused;
use call::Call;
use caller::{Caller, Masks};
pub(super) use judge::Judge;
use later::Helpers;
pub(super) use listener_unsafe::Listener;
use listener_unsafe::Waiting;
use open::Opened;
use place::{Finder, Place, Spot};

/// Every flag that the kernel knows; with any other a call is refused before anything else is looked at.
const RENAME_FLAGS: u32 = 7;
const RENAME_NOREPLACE: u32 = 1;
const RENAME_EXCHANGE: u32 = 2;
const LINK_FLAGS: AtFlags = AtFlags::SYMLINK_FOLLOW.union(AtFlags::EMPTY_PATH);
/// Longer ones the kernel refuses.
const LONGEST_ADDRESS: usize = 128;
const UNIX: u16 = libc::AF_UNIX as u16;
/// The last byte may be one of the path; then there is no zero behind it.
const LONGEST_UNIX_ADDRESS: usize = size_of::<libc::sockaddr_un>();
/// How often those who wait are looked after.
const TEND: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

pub(super) struct Guard {
    listener: Listener,
    pass: Pass,
    judge: Judge,
    masks: Masks,
    helpers: Helpers,
}

/// What a call comes to.
enum Outcome {
    Done,
    Opened(Opened),
    /// Another process answers.
    Later,
}

impl Guard {
    /// Where not even a parent may look into its children's memory, nobody can make names for them. Nor where /proc counts
    /// processes otherwise than this one does: it would look at somebody else.
    pub(super) fn is_possible() -> Result<(), String> {
        let own = std::fs::read_link("/proc/self").unwrap_or_default();
        if own.as_os_str() != OsStr::new(&std::process::id().to_string()) {
            return Err("/proc is missing or another one".to_owned());
        }
        let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
        match scope.trim() {
            "2" | "3" => Err(format!("kernel.yama.ptrace_scope is {}", scope.trim())),
            _ => Ok(()),
        }
    }

    pub(super) fn new(listener: Listener, pass: Pass, judge: Judge) -> Guard {
        pass.adopt();
        Guard { listener, pass, judge, masks: Masks::Ours, helpers: Helpers::default() }
    }

    /// Readable when a program waits.
    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// After how long `tend` is due, whatever else happens.
    pub(super) fn patience(&self) -> Option<Timespec> {
        (!self.helpers.is_empty()).then_some(TEND)
    }

    /// Looks after those who wait longer.
    pub(super) fn tend(&mut self) {
        self.helpers.tend(&self.listener);
    }

    /// What was refused during an order whose programs are all dead.
    pub(super) fn take_refused(&mut self) -> Refused {
        self.masks = Masks::Ours;
        self.helpers = Helpers::default();
        self.judge.take_refused()
    }

    /// Answers one call.
    pub(super) fn serve(&mut self) {
        let Some(waiting) = self.listener.receive() else { return };
        // Who was killed while waiting for a pipe must not be its other end.
        self.tend();
        if waiting.number == libc::SYS_umask {
            // Known before it is done, so no name is made with a mask that is out of date.
            self.masks = Masks::Told;
            return self.listener.let_go(waiting.id);
        }
        let result = match Call::decode(waiting.number, waiting.arguments) {
            Some(call) => self.carry_out(call, &waiting),
            None => Err(Errno::NOSYS),
        };
        match result {
            Ok(Outcome::Done) => self.listener.answer(waiting.id, Ok(0)),
            Ok(Outcome::Opened(opened)) => opened.hand_over(&self.listener, &waiting),
            Ok(Outcome::Later) => {}
            Err(errno) => self.listener.answer(waiting.id, Err(errno)),
        }
    }

    fn carry_out(&mut self, call: Call, waiting: &Waiting) -> Result<Outcome, Errno> {
        let (caller, pass) = (Caller::new(waiting.thread, self.masks), self.pass);
        match call {
            Call::Open { at, path, flags, mode } => {
                let flags = OFlags::from_bits_retain(flags);
                return match flags.contains(OFlags::CREATE) {
                    true => self.open(&caller, waiting, (at, path), flags, Mode::from_raw_mode(mode)),
                    false => self.open_there(&caller, waiting, (at, path), flags),
                };
            }
            Call::Folder { at, path, mode } => {
                let (mask, spot) = (caller.mask()?, self.spot(&caller, at, path)?);
                self.check_waits(waiting)?;
                let make = || pass.make_folder(spot.folder.as_fd(), &spot.spelled, mode);
                self.judge.made(&spot, Made::New, || masked(mask, pass, make))?;
            }
            Call::Node { at, path, mode, device } => {
                let (mask, spot) = (caller.mask()?, self.spot(&caller, at, path)?);
                self.check_waits(waiting)?;
                let make = || pass.make_node(spot.folder.as_fd(), &spot.spelled, mode, device);
                self.judge.made(&spot, Made::New, || masked(mask, pass, make))?;
            }
            Call::Link { target, at, path } => {
                let target = CString::new(caller.text(target)?).map_err(|_| Errno::INVAL)?;
                let spot = self.spot(&caller, at, path)?;
                self.check_waits(waiting)?;
                let make = || pass.make_link(&target, spot.folder.as_fd(), &spot.spelled);
                self.judge.made(&spot, Made::Link, make)?;
            }
            Call::Name { old_at, old, at, path, flags } => {
                let source = self.source(&caller, old_at, &caller.text(old)?, flags)?;
                match &source {
                    Source::Spot(spot) => self.judge.may_get_another_name(spot)?,
                    Source::Open(file) => self.judge.may_be_opened(file.as_fd())?,
                }
                let spot = self.spot(&caller, at, path)?;
                self.check_waits(waiting)?;
                // THREAT: P07, a link that gets a second name is a link under that name too.
                let _turn = self.judge.turn()?;
                let made = if source.is_link()? { Made::Link } else { Made::New };
                self.judge.made(&spot, made, || source.give_name(&spot, pass))?;
            }
            Call::Rename { flags, .. } if flags & !RENAME_FLAGS != 0 => return Err(Errno::INVAL),
            Call::Rename { old_at, old, at, path, flags } => {
                let (from, to) = (self.spot(&caller, old_at, old)?, self.spot(&caller, at, path)?);
                self.check_waits(waiting)?;
                self.rename(&from, &to, flags)?;
            }
            Call::Bind { socket, address, length } => {
                let address = address_of(&caller, address, length)?;
                self.bind(&caller, waiting, socket, &address)?;
            }
            Call::Connect { socket, address, length } => {
                let address = address_of(&caller, address, length)?;
                self.connect(&caller, waiting, socket, &address)?;
                return Ok(Outcome::Later);
            }
        }
        Ok(Outcome::Done)
    }

    fn check_waits(&self, waiting: &Waiting) -> Result<(), Errno> {
        if self.listener.waits(waiting.id) { Ok(()) } else { Err(Errno::SRCH) }
    }

    fn finder<'a>(&self, caller: &'a Caller) -> Finder<'a> {
        Finder { caller, pass: self.pass }
    }

    fn spot(&self, caller: &Caller, at: i32, path: u64) -> Result<Spot, Errno> {
        self.spot_of(caller, at, &caller.text(path)?)
    }

    fn spot_of(&self, caller: &Caller, at: i32, path: &[u8]) -> Result<Spot, Errno> {
        let finder = self.finder(caller);
        match finder.find(at, path)? {
            Place::Named(spot) => Ok(spot),
            // What is there is no name that could be made.
            Place::Own(own) => finder.own(own).and(Err(Errno::EXIST)),
        }
    }

    /// What another name is to be given to.
    fn source(&self, caller: &Caller, at: i32, path: &[u8], flags: u32) -> Result<Source, Errno> {
        let flags = AtFlags::from_bits_retain(flags);
        if !LINK_FLAGS.contains(flags) {
            return Err(Errno::INVAL);
        }
        if flags.contains(AtFlags::EMPTY_PATH) && path.is_empty() {
            if at == call::HERE {
                return Err(Errno::PERM);
            }
            return caller.descriptor(caller.thread(), at).map(Source::Open);
        }
        if !flags.contains(AtFlags::SYMLINK_FOLLOW) {
            return self.spot_of(caller, at, path).map(Source::Spot);
        }
        // THREAT: P06, the kernel would follow a link of /proc to what this process has open.
        self.finder(caller).follow(at, path).map(Source::Open)
    }

    /// A socket has the path as its address, so the kernel has to get it as it was given. It resolves it once more; that is
    /// sure where the way leads through no link and not back, into private memory: only programs of this cell make
    /// links there, and they are waiting. Everywhere else the address becomes the bare name.
    ///
    /// THREAT: P07, programs of two cages that meet at a socket can give each other descriptors, and a folder that came from
    /// a cage which is gone is covered by nothing. So sockets are bound in private memory only. Landlock says the same,
    /// except where a shared folder lies beneath a private one.
    fn bind(&mut self, caller: &Caller, waiting: &Waiting, socket: i32, address: &[u8]) -> Result<(), Errno> {
        let (pass, listener) = (self.pass, &self.listener);
        let taken = || {
            let taken = caller.socket(socket, pass)?;
            if listener.waits(waiting.id) { Ok(taken) } else { Err(Errno::SRCH) }
        };
        let Some(path) = unix_path(address) else {
            return later::apart(|| {
                let taken = taken()?;
                let bound = pass.bind(taken.as_fd(), address);
                std::mem::forget(taken);
                bound
            });
        };
        if address.len() > LONGEST_UNIX_ADDRESS {
            return Err(Errno::INVAL);
        }
        let (mask, spot) = (caller.mask()?, self.spot_of(caller, call::HERE, path)?);
        self.check_waits(waiting)?;
        let is_straight = self.finder(caller).leads_straight(path, &spot);
        let (folder, path) = if is_straight {
            (caller.folder()?, path)
        } else {
            (spot.folder.as_fd(), spot.spelled.to_bytes())
        };
        let mut address = [&UNIX.to_ne_bytes(), path].concat();
        if address.len() < LONGEST_UNIX_ADDRESS {
            address.push(0);
        }
        if !self.judge.is_private(&spot)? {
            return self.judge.made(&spot, Made::New, || Err(Errno::ACCESS));
        }
        // Without a turn: nothing is protected there, and a program could stop the process that does it.
        later::apart(|| {
            rustix::process::fchdir(folder)?;
            let taken = taken()?;
            let bound = masked(mask, pass, || pass.bind(taken.as_fd(), &address));
            // Closed by the end of the process, which waits for nothing that is still to be sent.
            std::mem::forget(taken);
            bound
        })
    }

    /// A socket that has a name is found by the guard, and the kernel is given what was found.
    ///
    /// THREAT: P07, a socket of the host in the workspace (an editor's, a development server's) has somebody behind it who does
    /// what he is asked to, outside of the cage. Only sockets in private memory are the programs' own. For all others nobody
    /// listens, which is what programs are told whose helper is not running.
    fn connect(
        &mut self,
        caller: &Caller,
        waiting: &Waiting,
        socket: i32,
        address: &[u8],
    ) -> Result<(), Errno> {
        let Some(path) = unix_path(address) else {
            return self.helpers.connect(&self.listener, waiting, (caller, socket), self.pass, address);
        };
        if address.len() > LONGEST_UNIX_ADDRESS {
            return Err(Errno::INVAL);
        }
        let found = self.finder(caller).follow(call::HERE, path)?;
        self.check_waits(waiting)?;
        if !self.judge.is_in_private(found.as_fd())? {
            return Err(Errno::CONNREFUSED);
        }
        let own = place::own_path(found.as_fd());
        let address = [&UNIX.to_ne_bytes(), own.to_bytes_with_nul()].concat();
        self.helpers.connect(&self.listener, waiting, (caller, socket), self.pass, &address)
    }

    fn rename(&mut self, from: &Spot, to: &Spot, flags: u32) -> Result<(), Errno> {
        let _turn = self.judge.turn()?;
        let exchanges = flags & RENAME_EXCHANGE != 0;
        self.may_be_moved(from, to)?;
        if exchanges {
            self.may_be_moved(to, from)?;
        }
        if self.needs_a_look(from, to)? || (exchanges && self.needs_a_look(to, from)?) {
            return self.move_file(from, to, flags);
        }
        self.pass.rename((from.folder.as_fd(), &from.spelled), (to.folder.as_fd(), &to.spelled), flags)
    }

    /// Where a file may go and a folder may not.
    ///
    /// THREAT: P07, who takes no turn (a file tool, a person) may put a folder where a file was looked at. So it gets a name first
    /// that means nothing and that nobody knows, is looked at once more, and only then gets its new one.
    ///
    /// LIMIT: who kills this process between the two, or takes the old name before it can be given back, leaves it under that
    /// name.
    fn move_file(&self, from: &Spot, to: &Spot, flags: u32) -> Result<(), Errno> {
        if from.wants_folder() || to.wants_folder() {
            return Err(Errno::NOTDIR);
        }
        if flags & !RENAME_NOREPLACE != 0 {
            return Err(Errno::XDEV);
        }
        let name = format!(".vambrace-moving-{:016x}", Pass::draw()?.word());
        let between = Spot::new(&to.folder, OsStr::new(&name))?;
        let rename = |old: &Spot, new: &Spot, flags| {
            self.pass.rename((old.folder.as_fd(), &old.name), (new.folder.as_fd(), &new.name), flags)
        };
        let is_same = |found: &Stat| {
            to.look().is_ok_and(|there| (there.st_dev, there.st_ino) == (found.st_dev, found.st_ino))
        };
        if flags & RENAME_NOREPLACE != 0 && to.look().is_ok() {
            return Err(Errno::EXIST);
        }
        // As the kernel has it, two names of one file stay.
        if is_same(&from.look()?) {
            return Ok(());
        }
        rename(from, &between, RENAME_NOREPLACE)?;
        let moved = between.look().and_then(|found| match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory | FileType::Symlink => Err(Errno::XDEV),
            _ if is_same(&found) => rename(&between, from, RENAME_NOREPLACE),
            _ => rename(&between, to, flags),
        });
        if moved.is_err() {
            let _back = rename(&between, from, RENAME_NOREPLACE);
        }
        moved
    }

    fn may_be_moved(&mut self, from: &Spot, to: &Spot) -> Result<(), Errno> {
        let found = from.look()?;
        self.judge.may_get_another_name(from)?;
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            self.judge.may_leave(from)?;
        }
        let made = match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => Made::Link,
            FileType::Directory if self.needs_a_look(from, to)? => {
                // What is in it would be protected there, or was not looked at where it was. Who moves a folder to another
                // file system is told so too, and copies it name by name.
                return Err(if self.judge.is_protected(to, Made::New)? {
                    self.judge.refuse(to)
                } else {
                    Errno::XDEV
                });
            }
            _ => Made::New,
        };
        if self.judge.is_protected(to, made)? { Err(self.judge.refuse(to)) } else { Ok(()) }
    }

    fn needs_a_look(&mut self, from: &Spot, to: &Spot) -> Result<bool, Errno> {
        // THREAT: P07, also one that is empty: another cell may have it mounted under its old name, and fill it there.
        if self.judge.is_protected(to, Made::Moved)? {
            return Ok(true);
        }
        // Both ways: what was watched must not be carried to where nothing is, such as `node_modules`.
        Ok(self.judge.is_watched(to)?.unwrap_or(true) != self.judge.is_watched(from)?.unwrap_or(false))
    }
}

enum Source {
    Spot(Spot),
    Open(OwnedFd),
}

impl Source {
    fn is_link(&self) -> Result<bool, Errno> {
        let found = match self {
            Source::Spot(spot) => spot.look()?,
            Source::Open(file) => rustix::fs::fstat(file)?,
        };
        Ok(FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    }

    fn give_name(&self, spot: &Spot, pass: Pass) -> Result<(), Errno> {
        let to = (spot.folder.as_fd(), spot.spelled.as_c_str());
        match self {
            Source::Spot(from) => pass.give_name((from.folder.as_fd(), &from.spelled), to, 0),
            Source::Open(file) => {
                let own = place::own_path(file.as_fd());
                pass.give_name((rustix::fs::CWD, &own), to, AtFlags::SYMLINK_FOLLOW.bits())
            }
        }
    }
}

/// With the mask of the caller; a folder may have a list of its own instead, which the kernel knows. Our own comes back:
/// programs inherit it.
fn masked<T>(mask: Option<u32>, pass: Pass, make: impl FnOnce() -> T) -> T {
    let own = mask.map(|mask| pass.set_mask(mask));
    let made = make();
    own.map(|own| pass.set_mask(own));
    made
}

fn address_of(caller: &Caller, address: u64, length: u32) -> Result<Vec<u8>, Errno> {
    let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_ADDRESS);
    caller.bytes(address, length.ok_or(Errno::INVAL)?)
}

/// The path that an address of a socket stands for. None: it makes no name, or the kernel refuses it.
fn unix_path(address: &[u8]) -> Option<&[u8]> {
    let (family, path) = address.split_first_chunk::<2>()?;
    let is_unix = u16::from_ne_bytes(*family) == UNIX;
    let length = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
    path.get(..length).filter(|path| is_unix && !path.is_empty())
}

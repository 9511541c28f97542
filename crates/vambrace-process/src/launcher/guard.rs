//! Makes names on behalf of programs. The filter hands over every call that could make a name; this process reads what is
//! asked, once, finds the folder, and makes the call itself, unless the name is protected.
//!
//! THREAT: P07, looking at a call and letting its program go on would be no wall: another thread changes the path after the
//! look. Here the path is read once, the folder is held open, and the name that was judged is the name that is made. All
//! programs of a cell are served one after another, so no two calls of theirs can be played against each other.
//!
//! INVARIANT: nothing here waits for a program. What may wait is done by a process of its own.

mod call;
mod caller;
mod listener_unsafe;
mod place;

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::kernel_unsafe::{self, Cloned};
use super::pass_unsafe::Pass;
use crate::guarded::{Guarded, Made, Rules};
use crate::wire::message::{MOST_REFUSED, Refused};
use call::Call;
use caller::{Caller, Masks};
pub(super) use listener_unsafe::Listener;
use listener_unsafe::Waiting;
use place::{Finder, Own, Place, Spot};

/// The kernel's answer to a write on what is mounted read-only.
const REFUSED: Errno = Errno::ROFS;
/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

const RENAME_EXCHANGE: u32 = 2;
/// Longer ones the kernel refuses.
const LONGEST_ADDRESS: usize = 128;
const UNIX: u16 = libc::AF_UNIX as u16;
/// The last byte may be one of the path; then there is no zero behind it.
const LONGEST_UNIX_ADDRESS: usize = size_of::<libc::sockaddr_un>();

pub(super) struct Guard {
    listener: Listener,
    pass: Pass,
    rules: Result<Rules, Guarded>,
    masks: Masks,
    refused: Refused,
}

/// What a call comes to.
enum Outcome {
    Done,
    /// To be given to the caller, who may have asked that it be closed on execution.
    Opened(OwnedFd),
    /// Another process answers.
    Later,
}

impl Guard {
    /// Where not even a parent may look into its children's memory, nobody can make names for them.
    pub(super) fn is_possible() -> Result<(), String> {
        let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
        match scope.trim() {
            "2" | "3" => Err(format!("kernel.yama.ptrace_scope is {}", scope.trim())),
            _ => Ok(()),
        }
    }

    pub(super) fn new(listener: Listener, pass: Pass, guarded: Guarded) -> Guard {
        Guard { listener, pass, rules: Err(guarded), masks: Masks::Ours, refused: Refused::default() }
    }

    /// Readable when a program waits.
    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// For names that this process makes on its own account.
    pub(super) fn pass(&self) -> Pass {
        self.pass
    }

    /// What was refused during an order whose programs are all dead.
    pub(super) fn take_refused(&mut self) -> Refused {
        self.masks = Masks::Ours;
        std::mem::take(&mut self.refused)
    }

    /// Answers one call.
    pub(super) fn serve(&mut self) {
        let Some(waiting) = self.listener.receive() else { return };
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
            Ok(Outcome::Done) => self.listener.answer(waiting.id, Ok(())),
            Ok(Outcome::Opened(file)) => {
                let closes = call::closes_on_execute(waiting.number, waiting.arguments);
                self.listener.hand_over(waiting.id, file.as_fd(), closes);
            }
            Ok(Outcome::Later) => {}
            Err(errno) => self.listener.answer(waiting.id, Err(errno)),
        }
    }

    fn carry_out(&mut self, call: Call, waiting: &Waiting) -> Result<Outcome, Errno> {
        let caller = Caller::new(waiting.thread, self.masks);
        match call {
            Call::Open { at, path, flags, mode } => {
                let path = caller.text(path)?;
                let flags = OFlags::from_bits_retain(flags);
                let opening = Opening { at, path, flags, mode: Mode::from_raw_mode(mode) };
                self.open(&caller, waiting, opening)
            }
            Call::Folder { at, path, mode } => {
                let (mask, spot) = (caller.mask()?, self.spot(&caller, at, path)?);
                self.check_waits(waiting)?;
                self.may_be_made(&spot, Made::New)?;
                masked(mask, self.pass, || self.pass.make_folder(spot.folder.as_fd(), &spot.spelled, mode))?;
                Ok(Outcome::Done)
            }
            Call::Node { at, path, mode, device } => {
                let (mask, spot) = (caller.mask()?, self.spot(&caller, at, path)?);
                self.check_waits(waiting)?;
                self.may_be_made(&spot, Made::New)?;
                masked(mask, self.pass, || {
                    self.pass.make_node(spot.folder.as_fd(), &spot.spelled, mode, device)
                })?;
                Ok(Outcome::Done)
            }
            Call::Link { target, at, path } => {
                let target = CString::new(caller.text(target)?).map_err(|_| Errno::INVAL)?;
                let spot = self.spot(&caller, at, path)?;
                self.check_waits(waiting)?;
                self.may_be_made(&spot, Made::Link)?;
                self.pass.make_link(&target, spot.folder.as_fd(), &spot.spelled)?;
                Ok(Outcome::Done)
            }
            Call::Name { old_at, old, at, path, flags } => {
                let source = self.source(&caller, old_at, &caller.text(old)?, flags)?;
                let spot = self.spot(&caller, at, path)?;
                self.check_waits(waiting)?;
                self.may_be_made(&spot, Made::New)?;
                self.give_name(source, &spot)?;
                Ok(Outcome::Done)
            }
            Call::Rename { old_at, old, at, path, flags } => {
                let (from, to) = (self.spot(&caller, old_at, old)?, self.spot(&caller, at, path)?);
                self.check_waits(waiting)?;
                self.rename(&from, &to, flags)?;
                Ok(Outcome::Done)
            }
            Call::Bind { socket, address, length } => {
                let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_ADDRESS);
                let address = caller.bytes(address, length.ok_or(Errno::INVAL)?)?;
                let socket = caller.socket(socket, self.pass)?;
                self.bind(&caller, waiting, socket.as_fd(), &address)?;
                Ok(Outcome::Done)
            }
        }
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
        match self.finder(caller).find(at, path)? {
            Place::Named(spot) => Ok(spot),
            // It is there already, and is no name that could be made.
            Place::Own(_) => Err(Errno::EXIST),
        }
    }

    fn open(&mut self, caller: &Caller, waiting: &Waiting, mut opening: Opening) -> Result<Outcome, Errno> {
        let asked = opening.flags;
        if asked.contains(OFlags::PATH) {
            // It makes nothing and opens nothing; only a program that tries things asks for both.
            return Err(Errno::INVAL);
        }
        let follows = !asked.intersects(OFlags::NOFOLLOW | OFlags::EXCL);
        let mut from: Option<OwnedFd> = None;
        for _ in 0..=MOST_LINKS {
            let place = match &from {
                None => self.finder(caller).find(opening.at, &opening.path)?,
                Some(folder) => self.finder(caller).find_from(folder.as_fd(), &opening.path)?,
            };
            let spot = match place {
                Place::Named(spot) => spot,
                Place::Own(own) => return self.open_own(caller, waiting, own, asked),
            };
            self.check_waits(waiting)?;
            let found = rustix::fs::statat(&spot.folder, &spot.name, AtFlags::SYMLINK_NOFOLLOW);
            let opened = match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
                Ok(FileType::Symlink) if follows => Err(Errno::LOOP),
                Ok(_) if asked.contains(OFlags::EXCL) => Err(Errno::EXIST),
                Ok(FileType::Directory) => Err(Errno::ISDIR),
                Ok(kind) => {
                    let may_wait = kind == FileType::Fifo && !asked.contains(OFlags::NONBLOCK);
                    if may_wait { Err(Errno::AGAIN) } else { self.open_found(&spot, asked) }
                }
                Err(Errno::NOENT) => self.open_new(caller, waiting, &spot, &opening),
                Err(errno) => Err(errno),
            };
            match opened {
                Ok(file) => return restored(file, asked).map(Outcome::Opened),
                // It is one, or has become one since it was looked at.
                Err(Errno::LOOP) if follows => {
                    opening.path = place::link_target(&spot)?;
                    from = Some(spot.folder);
                }
                // It has come or gone since it was looked at.
                Err(Errno::EXIST) if !asked.contains(OFlags::EXCL) => {}
                Err(Errno::NOENT) if found.is_ok() => {}
                Err(Errno::AGAIN) if !asked.contains(OFlags::NONBLOCK) => {
                    // THREAT: P06, a link that has come in its place meanwhile could lead to what this process has open.
                    let flags = asked | OFlags::NOFOLLOW;
                    return self.open_later(waiting, spot.folder.as_fd(), &spot.name, flags);
                }
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::LOOP)
    }

    /// Makes nothing, also if it is gone by now: what is protected is opened as it is mounted.
    fn open_found(&self, spot: &Spot, asked: OFlags) -> Result<OwnedFd, Errno> {
        if spot.wants_folder() {
            return Err(Errno::NOTDIR);
        }
        let flags = (asked - OFlags::CREATE) | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        self.pass.open(spot.folder.as_fd(), &spot.name, flags, Mode::empty())
    }

    fn open_new(
        &mut self,
        caller: &Caller,
        waiting: &Waiting,
        spot: &Spot,
        opening: &Opening,
    ) -> Result<OwnedFd, Errno> {
        if spot.wants_folder() {
            return Err(Errno::ISDIR);
        }
        if self.is_protected(spot, Made::New)? {
            return Err(self.refuse(spot));
        }
        let mask = caller.mask()?;
        self.check_waits(waiting)?;
        let flags = opening.flags | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        masked(mask, self.pass, || self.pass.open(spot.folder.as_fd(), &spot.name, flags, opening.mode))
    }

    /// `/dev/stdout` and the like: what the caller has open, opened once more. No name is made.
    fn open_own(
        &self,
        caller: &Caller,
        waiting: &Waiting,
        own: Own,
        asked: OFlags,
    ) -> Result<Outcome, Errno> {
        let Own::Descriptor(number) = own else { return Err(Errno::ISDIR) };
        if asked.contains(OFlags::EXCL) {
            return Err(Errno::EXIST);
        }
        if asked.contains(OFlags::NOFOLLOW) {
            return Err(Errno::LOOP);
        }
        let path = caller.descriptor_path(number);
        self.check_waits(waiting)?;
        let flags = (asked - OFlags::CREATE) | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(file) => restored(file, asked).map(Outcome::Opened),
            Err(Errno::NXIO | Errno::AGAIN) if !asked.contains(OFlags::NONBLOCK) => {
                self.open_later(waiting, rustix::fs::CWD, &path, asked)
            }
            Err(errno) => Err(errno),
        }
    }

    /// Opening may wait for the other end of a pipe, or for whoever has leased the file. A process of its own waits; it
    /// makes no name.
    fn open_later(
        &self,
        waiting: &Waiting,
        folder: BorrowedFd<'_>,
        name: &CStr,
        asked: OFlags,
    ) -> Result<Outcome, Errno> {
        match kernel_unsafe::clone_process(0, None)? {
            Cloned::Parent { .. } => Ok(Outcome::Later),
            Cloned::Child => {
                let flags = (asked - OFlags::CREATE - OFlags::EXCL) | OFlags::NOCTTY | OFlags::CLOEXEC;
                match rustix::fs::openat(folder, name, flags, Mode::empty()) {
                    Ok(file) => {
                        let closes = call::closes_on_execute(waiting.number, waiting.arguments);
                        self.listener.hand_over(waiting.id, file.as_fd(), closes);
                    }
                    Err(errno) => self.listener.answer(waiting.id, Err(errno)),
                }
                kernel_unsafe::exit_now(0)
            }
        }
    }

    /// What another name is to be given to.
    fn source(&self, caller: &Caller, at: i32, path: &[u8], flags: u32) -> Result<Source, Errno> {
        let flags = AtFlags::from_bits_retain(flags);
        if flags.contains(AtFlags::EMPTY_PATH) && path.is_empty() {
            // The kernel asks for powers that programs do not have.
            return Err(Errno::NOENT);
        }
        if !flags.contains(AtFlags::SYMLINK_FOLLOW) {
            return self.spot_of(caller, at, path).map(Source::Spot);
        }
        // THREAT: P06, the kernel would follow a link of /proc to what this process has open.
        self.finder(caller).follow(at, path).map(Source::Open)
    }

    fn give_name(&self, source: Source, spot: &Spot) -> Result<(), Errno> {
        let to = (spot.folder.as_fd(), spot.spelled.as_c_str());
        match source {
            Source::Spot(from) => self.pass.give_name((from.folder.as_fd(), &from.spelled), to, 0),
            Source::Open(file) => {
                let own = place::own_path(file.as_fd());
                let follow = AtFlags::SYMLINK_FOLLOW.bits();
                self.pass.give_name((rustix::fs::CWD, &own), to, follow)
            }
        }
    }

    /// A socket has the path as its address, so the kernel has to get it as it was given. Where the name could be protected
    /// in some folder, the folder counts and the address becomes the bare name.
    fn bind(
        &mut self,
        caller: &Caller,
        waiting: &Waiting,
        socket: BorrowedFd<'_>,
        address: &[u8],
    ) -> Result<(), Errno> {
        let Some(path) = unix_path(address) else {
            self.check_waits(waiting)?;
            return self.pass.bind(socket, address);
        };
        let (mask, spot) = (caller.mask()?, self.spot_of(caller, call::HERE, path)?);
        self.check_waits(waiting)?;
        self.may_be_made(&spot, Made::New)?;
        let name = spot.spelled.to_bytes();
        let is_sure = path.starts_with(b"/proc/") || self.rules().may_matter(spot.name.to_bytes(), Made::New);
        let (folder, path) = if is_sure { (spot.folder.as_fd(), name) } else { (caller.folder()?, path) };
        let mut address = [&UNIX.to_ne_bytes(), path, b"\0"].concat();
        address.truncate(LONGEST_UNIX_ADDRESS);
        rustix::process::fchdir(folder)?;
        let bound = masked(mask, self.pass, || self.pass.bind(socket, &address));
        rustix::process::chdir("/")?;
        bound
    }

    fn rename(&mut self, from: &Spot, to: &Spot, flags: u32) -> Result<(), Errno> {
        let mut moves = vec![(from, to)];
        if flags & RENAME_EXCHANGE != 0 {
            moves.push((to, from));
        }
        for (from, to) in moves {
            self.may_be_moved(from, to)?;
        }
        self.pass.rename((from.folder.as_fd(), &from.spelled), (to.folder.as_fd(), &to.spelled), flags)
    }

    fn may_be_moved(&mut self, from: &Spot, to: &Spot) -> Result<(), Errno> {
        let kind = rustix::fs::statat(&from.folder, &from.name, AtFlags::SYMLINK_NOFOLLOW)
            .map(|found| FileType::from_raw_mode(found.st_mode));
        if self.is_protected(to, Made::New)? {
            return Err(self.refuse(to));
        }
        match kind {
            Ok(FileType::Symlink) if self.is_protected(to, Made::Link)? => Err(self.refuse(to)),
            // What is in it would be protected there, or was not looked at where it was. Who moves a folder to another
            // file system is told so too, and copies it name by name.
            Ok(FileType::Directory) if self.needs_a_look(from, to)? => Err(Errno::XDEV),
            _ => Ok(()),
        }
    }

    fn needs_a_look(&mut self, from: &Spot, to: &Spot) -> Result<bool, Errno> {
        if self.is_protected(to, Made::Moved)? && !is_empty(from) {
            return Ok(true);
        }
        let (from, to) = (from.path()?, to.path()?);
        let rules = self.rules();
        Ok(rules.is_watched(&to) && !rules.is_watched(&from))
    }

    fn may_be_made(&mut self, spot: &Spot, made: Made) -> Result<(), Errno> {
        if !self.is_protected(spot, made)? {
            return Ok(());
        }
        match rustix::fs::statat(&spot.folder, &spot.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(Errno::EXIST),
            Err(_) => Err(self.refuse(spot)),
        }
    }

    fn is_protected(&mut self, spot: &Spot, made: Made) -> Result<bool, Errno> {
        let name = spot.name.to_bytes();
        let rules = self.rules();
        if !rules.may_matter(name, made) {
            return Ok(false);
        }
        let folder = place::path_of(spot.folder.as_fd())?;
        Ok(rules.refuse(&folder, name, made))
    }

    fn refuse(&mut self, spot: &Spot) -> Errno {
        self.refused.n_tries += 1;
        let refused = &mut self.refused.paths;
        if let Some(path) =
            spot.path().ok().filter(|path| refused.len() < MOST_REFUSED && !refused.contains(path))
        {
            refused.push(path);
        }
        REFUSED
    }

    /// Read when the first call comes: most orders make no name.
    fn rules(&mut self) -> &mut Rules {
        if let Err(guarded) = &self.rules {
            self.rules = Ok(Rules::new(guarded.clone()));
        }
        match &mut self.rules {
            Ok(rules) => rules,
            Err(_) => unreachable!("they were just read"),
        }
    }
}

/// An open that goes from link to link.
struct Opening {
    at: i32,
    path: Vec<u8>,
    flags: OFlags,
    mode: Mode,
}

enum Source {
    Spot(Spot),
    Open(OwnedFd),
}

/// With the mask of the caller; a folder may have a list of its own instead, which the kernel knows. Our own comes back:
/// programs inherit it.
fn masked<T>(mask: Option<u32>, pass: Pass, make: impl FnOnce() -> T) -> T {
    let own = mask.map(|mask| pass.set_mask(mask));
    let made = make();
    own.map(|own| pass.set_mask(own));
    made
}

/// The path that an address of a socket stands for. None: it makes no name, or the kernel refuses it.
fn unix_path(address: &[u8]) -> Option<&[u8]> {
    let (family, path) = address.split_first_chunk::<2>()?;
    let is_unix = u16::from_ne_bytes(*family) == UNIX;
    let length = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
    path.get(..length).filter(|path| is_unix && !path.is_empty())
}

/// It was opened without waiting; reading and writing may wait again, unless the caller said otherwise.
fn restored(file: OwnedFd, asked: OFlags) -> Result<OwnedFd, Errno> {
    if !asked.contains(OFlags::NONBLOCK) {
        let kept = OFlags::APPEND | OFlags::DIRECT | OFlags::NOATIME;
        rustix::fs::fcntl_setfl(&file, asked & kept)?;
    }
    Ok(file)
}

/// A folder that cannot be looked into is taken for full.
fn is_empty(spot: &Spot) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::openat(&spot.folder, &spot.name, flags, Mode::empty()) else { return false };
    let mut space = [std::mem::MaybeUninit::uninit(); 1024];
    let mut listing = rustix::fs::RawDir::new(&folder, &mut space);
    while let Some(entry) = listing.next() {
        match entry {
            Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
            _ => return false,
        }
    }
    true
}

//! Opening: a file that is to be made if it is not there, and what is there.

use std::ffi::OsStr;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::caller::Caller;
use super::listener_unsafe::{Listener, Waiting};
use super::place::{self, Own, Place, Spot};
use super::{Guard, Outcome, masked};
use crate::guarded::Made;

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// To be given to the caller.
pub(super) struct Opened {
    file: OwnedFd,
    flags: OFlags,
    /// Only when the caller has it: a program whose descriptors are used up keeps what was in the file.
    truncates: bool,
    /// The name that was made for it.
    made: Option<Spot>,
}

impl Opened {
    /// Without a copy that is still open here when the caller goes on: a file that somebody can write is not executed.
    ///
    /// LIMIT: where the file cannot be truncated after all (it may only be appended to), the caller keeps a descriptor that
    /// it does not know of.
    pub(super) fn hand_over(self, listener: &Listener, waiting: &Waiting) {
        let closes = self.flags.contains(OFlags::CLOEXEC);
        let given = listener.give(waiting.id, self.file.as_fd(), closes).and_then(|number| {
            if self.truncates {
                rustix::fs::ftruncate(&self.file, 0)?;
            }
            Ok(number)
        });
        if given.is_err()
            && let Some(spot) = &self.made
        {
            let _unmade = rustix::fs::unlinkat(&spot.folder, &spot.name, AtFlags::empty());
        }
        drop(self.file);
        listener.answer(waiting.id, given);
    }
}

impl Guard {
    pub(super) fn open(
        &mut self,
        caller: &Caller,
        waiting: &Waiting,
        (at, path): (i32, u64),
        asked: OFlags,
        mode: Mode,
    ) -> Result<Outcome, Errno> {
        if asked.contains(OFlags::DIRECTORY) {
            return Err(Errno::INVAL);
        }
        let follows = !asked.intersects(OFlags::NOFOLLOW | OFlags::EXCL);
        let mut path = caller.text(path)?;
        let mut from: Option<OwnedFd> = None;
        for _ in 0..=MOST_LINKS {
            let place = match &from {
                None => self.finder(caller).find(at, &path)?,
                Some(folder) => self.finder(caller).find_from(folder.as_fd(), &path)?,
            };
            let spot = match place {
                Place::Named(spot) => spot,
                Place::Own(Own::Executable) => return Err(Errno::ROFS),
                Place::Own(own) => return self.open_own(caller, waiting, own, asked),
            };
            if spot.wants_folder() {
                return Err(Errno::ISDIR);
            }
            self.check_waits(waiting)?;
            let found = spot.look();
            let opened = match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
                Ok(FileType::Symlink) if follows => Err(Errno::LOOP),
                Ok(_) if asked.contains(OFlags::EXCL) => Err(Errno::EXIST),
                Ok(FileType::Directory) => Err(Errno::ISDIR),
                Ok(FileType::Fifo) if !asked.contains(OFlags::NONBLOCK) => Err(Errno::AGAIN),
                Ok(kind) => self.open_found(&spot, kind, asked),
                Err(Errno::NOENT) => self.open_new(caller, waiting, &spot, asked, mode),
                Err(errno) => Err(errno),
            };
            match opened {
                Ok(opened) => {
                    let made = found.is_err().then_some(spot);
                    return Ok(Outcome::Opened(Opened { made, ..opened }));
                }
                // It is one, or has become one since it was looked at.
                Err(Errno::LOOP) if follows => {
                    path = place::link_target(&spot)?;
                    from = Some(spot.folder);
                }
                // It has come or gone since it was looked at.
                Err(Errno::EXIST) if !asked.contains(OFlags::EXCL) => {}
                Err(Errno::NOENT) if found.is_ok() => {}
                Err(Errno::AGAIN) if !asked.contains(OFlags::NONBLOCK) => {
                    self.judge.may_get_another_name(&spot)?;
                    let what = (spot.folder.as_fd(), spot.name.as_c_str());
                    // THREAT: P06, a link that has come in its place meanwhile could lead to what this process has open.
                    self.helpers.open(&self.listener, waiting, what, asked | OFlags::NOFOLLOW)?;
                    return Ok(Outcome::Later);
                }
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::LOOP)
    }

    /// Makes nothing, also if it is gone by now: what is protected is opened as it is mounted.
    fn open_found(&mut self, spot: &Spot, kind: FileType, asked: OFlags) -> Result<Opened, Errno> {
        let is_written = asked.intersects(OFlags::WRONLY | OFlags::RDWR);
        let truncates = kind == FileType::RegularFile && is_written && asked.contains(OFlags::TRUNC);
        let left_out = OFlags::CREATE | if truncates { OFlags::TRUNC } else { OFlags::empty() };
        let flags = (asked - left_out) | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.pass.open(spot.folder.as_fd(), &spot.name, flags, Mode::empty())?;
        self.judge.may_be_opened(file.as_fd())?;
        Ok(Opened { file: restored(file, asked)?, flags: asked, truncates, made: None })
    }

    fn open_new(
        &mut self,
        caller: &Caller,
        waiting: &Waiting,
        spot: &Spot,
        asked: OFlags,
        mode: Mode,
    ) -> Result<Opened, Errno> {
        let (mask, pass) = (caller.mask()?, self.pass);
        self.check_waits(waiting)?;
        let flags = asked | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let make = || pass.open(spot.folder.as_fd(), &spot.name, flags, mode);
        let file = self.judge.made(spot, Made::New, || masked(mask, pass, make))?;
        Ok(Opened { file: restored(file, asked)?, flags: asked, truncates: false, made: None })
    }

    /// A file that this process makes on its own account: where a command line leads its output. A name is as protected here
    /// as anywhere: the folder may have been renamed since the line was judged.
    pub(in crate::launcher) fn open_for_us(
        &mut self,
        folder: &OwnedFd,
        name: &OsStr,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd, Errno> {
        let (pass, spot) = (self.pass, &Spot::new(folder, name)?);
        let is_judged = flags.contains(OFlags::CREATE) && self.judge.needs_a_look(spot, Made::New)?;
        let _turn = if is_judged { Some(self.judge.turn()?) } else { None };
        if is_judged && self.judge.is_protected(spot, Made::New)? {
            return match pass.open(spot.folder.as_fd(), &spot.name, flags - OFlags::CREATE, mode) {
                Err(Errno::NOENT) => Err(self.judge.refuse(spot)),
                other => other,
            };
        }
        let file = pass.open(spot.folder.as_fd(), &spot.name, flags, mode)?;
        self.judge.may_be_opened(file.as_fd()).map(|()| file)
    }

    /// What is there, opened without making anything. It is held before it is judged, so it is what is given.
    ///
    /// THREAT: P04, P06, letting the call go on after a look would be no wall: another thread changes the path.
    ///
    /// LIMIT: the links of /proc that are not the caller's own descriptors, folder, root and program lead nowhere.
    pub(super) fn open_there(
        &mut self,
        caller: &Caller,
        waiting: &Waiting,
        (at, path): (i32, u64),
        asked: OFlags,
    ) -> Result<Outcome, Errno> {
        let path = caller.text(path)?;
        let held = self.finder(caller).look_up(at, &path, !asked.contains(OFlags::NOFOLLOW))?;
        self.check_waits(waiting)?;
        self.reopen(waiting, &held, asked)
    }

    /// `/dev/stdout` and the like: what the caller has open, opened once more. No name is made.
    fn open_own(
        &mut self,
        caller: &Caller,
        waiting: &Waiting,
        own: Own,
        asked: OFlags,
    ) -> Result<Outcome, Errno> {
        let held = self.finder(caller).own(own)?;
        // THREAT: P06, a program can hold a place of /proc that only this process may open.
        place::check(held.as_fd())?;
        self.check_waits(waiting)?;
        if asked.contains(OFlags::EXCL) {
            return Err(Errno::EXIST);
        }
        if asked.contains(OFlags::NOFOLLOW) {
            return Err(Errno::LOOP);
        }
        if FileType::from_raw_mode(rustix::fs::fstat(&held)?.st_mode) == FileType::Directory {
            return Err(Errno::ISDIR);
        }
        self.reopen(waiting, &held, asked)
    }

    fn reopen(&mut self, waiting: &Waiting, held: &OwnedFd, asked: OFlags) -> Result<Outcome, Errno> {
        self.judge.may_be_opened(held.as_fd())?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(held)?.st_mode);
        if kind == FileType::Symlink {
            return Err(Errno::LOOP);
        }
        let is_written = asked.intersects(OFlags::WRONLY | OFlags::RDWR);
        let truncates = kind == FileType::RegularFile && is_written && asked.contains(OFlags::TRUNC);
        let made_already = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let asked_now = asked - made_already - if truncates { OFlags::TRUNC } else { OFlags::empty() };
        let path = place::own_path(held.as_fd());
        let may_wait = !asked.contains(OFlags::NONBLOCK);
        let flags = asked_now | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = match kind {
            FileType::Fifo if may_wait && !place::is_nameless(held.as_fd())? => Err(Errno::AGAIN),
            _ => self.pass.open(rustix::fs::CWD, &path, flags, Mode::empty()),
        };
        match opened {
            Ok(file) => {
                let file = restored(file, asked)?;
                Ok(Outcome::Opened(Opened { file, flags: asked, truncates, made: None }))
            }
            Err(Errno::NXIO | Errno::AGAIN) if may_wait => {
                let what = (rustix::fs::CWD, path.as_c_str());
                self.helpers.open(&self.listener, waiting, what, asked - made_already)?;
                Ok(Outcome::Later)
            }
            Err(errno) => Err(errno),
        }
    }
}

/// It was opened without waiting; reading and writing may wait again, unless the caller said otherwise.
fn restored(file: OwnedFd, asked: OFlags) -> Result<OwnedFd, Errno> {
    if !asked.contains(OFlags::NONBLOCK) {
        let kept = OFlags::APPEND | OFlags::DIRECT | OFlags::NOATIME;
        rustix::fs::fcntl_setfl(&file, asked & kept)?;
    }
    Ok(file)
}

//! From a path to the folder that a name is made in, as the caller means it and not as it would mean it to this process:
//! `/proc/self` and `/dev/stdout` are the caller's.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags, Stat};
use rustix::io::Errno;

use super::call::HERE;
use super::caller::Caller;
use crate::launcher::pass_unsafe::Pass;

/// What the kernel tells everybody about a process.
const PUBLIC: [&str; 6] = ["stat", "statm", "status", "comm", "cmdline", "cgroup"];

pub(super) enum Place {
    Named(Spot),
    /// Something that the caller has open, and no name.
    Own(Own),
}

/// A name in a folder that is held open.
pub(super) struct Spot {
    pub(super) folder: OwnedFd,
    pub(super) name: CString,
    /// As the kernel is to see it: with the slash that a program may put at the end.
    pub(super) spelled: CString,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// Of this thread; programs may look at what others have open.
    Descriptor(u32, i32),
    Folder,
    Root,
    Executable,
}

impl Spot {
    pub(super) fn new(folder: &OwnedFd, name: &OsStr) -> Result<Spot, Errno> {
        let name = CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
        Ok(Spot { folder: copy(folder.as_fd())?, spelled: name.clone(), name })
    }

    /// What has the name, and not what a link leads to.
    pub(super) fn look(&self) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// A slash at the end asks for a folder.
    pub(super) fn wants_folder(&self) -> bool {
        self.name != self.spelled
    }

    pub(super) fn path(&self) -> Result<PathBuf, Errno> {
        Ok(path_of(self.folder.as_fd())?.join(OsStr::from_bytes(self.name.to_bytes())))
    }
}

pub(super) struct Finder<'a> {
    pub(super) caller: &'a Caller,
    pub(super) pass: Pass,
}

impl Finder<'_> {
    pub(super) fn find(&self, at: i32, path: &[u8]) -> Result<Place, Errno> {
        self.find_by(path, |path| self.start(at, path))
    }

    /// The same where a link was found in a folder.
    pub(super) fn find_from(&self, folder: BorrowedFd<'_>, path: &[u8]) -> Result<Place, Errno> {
        self.find_by(path, |_| copy(folder).map(Some))
    }

    /// `start` says where a path begins that is not the caller's own.
    fn find_by(
        &self,
        path: &[u8],
        start: impl FnOnce(&[u8]) -> Result<Option<OwnedFd>, Errno>,
    ) -> Result<Place, Errno> {
        match self.begin(path)? {
            (b"", Some(own)) => Ok(Place::Own(own)),
            (rest, Some(own)) => self.named(Some(self.own(own)?), rest),
            (path, None) => self.named(start(path)?, path),
        }
    }

    /// Whether the kernel, asked by this process, comes to the same folder without a link and without a step back.
    pub(super) fn leads_straight(&self, path: &[u8], spot: &Spot) -> bool {
        let opened = || {
            let Parts { folder, .. } = split(path)?;
            let from = if path.starts_with(b"/") { rustix::fs::CWD } else { self.caller.folder()? };
            let (there, here) = (self.pass.open_straight(from, &folder)?, rustix::fs::fstat(&spot.folder)?);
            let there = rustix::fs::fstat(&there)?;
            Ok::<_, Errno>((there.st_dev, there.st_ino) == (here.st_dev, here.st_ino))
        };
        !path.split(|byte| *byte == b'/').any(|part| part == b"..") && opened() == Ok(true)
    }

    /// What a path leads to, through every link but those of /proc that are not the caller's.
    pub(super) fn follow(&self, at: i32, path: &[u8]) -> Result<OwnedFd, Errno> {
        let (path, own) = self.begin(path)?;
        let start = match own {
            Some(own) if path.is_empty() => return self.own(own),
            Some(own) => Some(self.own(own)?),
            None => self.start(at, path)?,
        };
        let path = CString::new(path).map_err(|_| Errno::INVAL)?;
        let from = start.as_ref().map_or(rustix::fs::CWD, AsFd::as_fd);
        let found = self.pass.open_path(from, &path, OFlags::PATH | OFlags::CLOEXEC)?;
        check(found.as_fd())?;
        Ok(found)
    }

    /// What is there, as a place: with `follows` through a link at the end too. In /proc it is what the caller would find.
    pub(super) fn look_up(&self, at: i32, path: &[u8], follows: bool) -> Result<OwnedFd, Errno> {
        let (rest, own) = self.begin(path)?;
        let start = match own {
            Some(_) if rest.is_empty() && !follows => return Err(Errno::LOOP),
            Some(own) => Some(self.own(own)?),
            None => self.start(at, path)?,
        };
        let end = if follows { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags = OFlags::PATH | OFlags::CLOEXEC | end;
        let found = match &start {
            Some(start) if own.is_some() && rest.is_empty() => copy(start.as_fd())?,
            start => {
                let rest = match own {
                    Some(_) => rest.to_vec(),
                    None => self.with_its_number(rest)?,
                };
                let rest = CString::new(rest).map_err(|_| Errno::INVAL)?;
                let from = start.as_ref().map_or(rustix::fs::CWD, AsFd::as_fd);
                self.pass.open_path(from, &rest, flags)?
            }
        };
        if !is_in_proc(found.as_fd())? {
            return Ok(found);
        }
        let rest = Path::new(OsStr::from_bytes(rest));
        let spelled = match &start {
            Some(start) => path_of(start.as_fd())?.join(rest),
            None => rest.to_owned(),
        };
        self.for_the_caller(found, &spelled, flags)
    }

    /// `/proc/self` as it would be if the caller looked it up: what is below differs from process to process.
    fn with_its_number(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let Some(inside) = path.strip_prefix(b"/proc/") else { return Ok(path.to_vec()) };
        let (who, rest) =
            inside.split_at(inside.iter().position(|byte| *byte == b'/').unwrap_or(inside.len()));
        let process = || self.caller.process().map(|process| process.as_raw_nonzero());
        let place = match who {
            b"self" => format!("/proc/{}", process()?),
            b"thread-self" => format!("/proc/{}/task/{}", process()?, self.caller.thread()),
            _ => return Ok(path.to_vec()),
        };
        Ok([place.as_bytes(), rest].concat())
    }

    /// THREAT: P06, to this process `self` is this process, whose memory holds the word that lets calls pass. If a link has
    /// led here, the caller was meant; who spells our number sees what everybody may see of us.
    fn for_the_caller(&self, found: OwnedFd, spelled: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let ours = format!("/proc/{}", std::process::id());
        let place = path_of(found.as_fd())?;
        let Ok(rest) = place.strip_prefix(&ours) else {
            return if place.starts_with("/proc") { Ok(found) } else { Err(Errno::ACCESS) };
        };
        if spelled.starts_with(&ours) {
            let is_public = rest.as_os_str().is_empty() || PUBLIC.iter().any(|name| rest == Path::new(name));
            return if is_public { Ok(found) } else { Err(Errno::ACCESS) };
        }
        let rest = match rest.strip_prefix(format!("task/{}", std::process::id())) {
            Ok(rest) => Path::new("task").join(self.caller.thread().to_string()).join(rest),
            Err(_) => rest.to_owned(),
        };
        let process = self.caller.process()?.as_raw_nonzero();
        let path = Path::new("/proc").join(process.to_string()).join(rest);
        let path = CString::new(path.into_os_string().into_encoded_bytes()).map_err(|_| Errno::INVAL)?;
        self.pass.open_path(rustix::fs::CWD, &path, flags)
    }

    /// The path without its beginning, if that is something of the caller's.
    fn begin<'p>(&self, path: &'p [u8]) -> Result<(&'p [u8], Option<Own>), Errno> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        Ok(match own(path, self.caller.thread()) {
            Some((own, rest)) => (rest, Some(own)),
            None => (path, None),
        })
    }

    pub(super) fn own(&self, own: Own) -> Result<OwnedFd, Errno> {
        match own {
            Own::Descriptor(thread, number) => {
                self.caller.descriptor(thread, number).map_err(|errno| match errno {
                    Errno::BADF => Errno::NOENT,
                    other => other,
                })
            }
            Own::Folder => copy(self.caller.folder()?),
            Own::Executable => self.caller.executable(),
            // Nobody in a cell can change its root, so it is the same for all.
            Own::Root => rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, rustix::fs::Mode::empty()),
        }
    }

    fn start(&self, at: i32, path: &[u8]) -> Result<Option<OwnedFd>, Errno> {
        match at {
            _ if path.starts_with(b"/") => Ok(None),
            HERE => copy(self.caller.folder()?).map(Some),
            number => self.caller.descriptor(self.caller.thread(), number).map(Some),
        }
    }

    fn named(&self, start: Option<OwnedFd>, path: &[u8]) -> Result<Place, Errno> {
        let Parts { folder, name, spelled } = split(path)?;
        let from = start.as_ref().map_or(rustix::fs::CWD, AsFd::as_fd);
        let folder = match start {
            // It is held already. LIMIT: whether it is a folder the kernel says when the name is made.
            Some(start) if folder.as_bytes() == b"." => start,
            _ => self.pass.open_folder(from, &folder)?,
        };
        if is_in_proc(folder.as_fd())? {
            if name != spelled {
                return Err(Errno::ISDIR);
            }
            return self.in_proc(folder.as_fd(), name.to_bytes()).map(Place::Own);
        }
        Ok(Place::Named(Spot { folder, name, spelled }))
    }

    /// What is there can be the caller's too, by way of links or of the folder it is in.
    fn in_proc(&self, folder: BorrowedFd<'_>, name: &[u8]) -> Result<Own, Errno> {
        let path = path_of(folder)?;
        let mut parts = path.strip_prefix("/proc").map_err(|_| Errno::ROFS)?.iter().rev();
        let (last, thread) = (parts.next(), parts.next());
        let thread = thread.and_then(OsStr::to_str).and_then(|text| text.parse::<u32>().ok());
        let Some(thread) = thread.filter(|_| last == Some(OsStr::new("fd"))) else { return Err(Errno::ROFS) };
        // If `self` has led here, the caller was meant.
        let thread = if thread == std::process::id() { self.caller.thread() } else { thread };
        number_of(name).map(|number| Own::Descriptor(thread, number)).ok_or(Errno::NOENT)
    }
}

/// THREAT: P06, what lies in /proc under `self` is this process's own: its memory, with the word that lets calls pass. No
/// name can be made there, and /proc is read-only in a cage, which is the answer to everything else that makes names.
pub(super) fn check(found: BorrowedFd<'_>) -> Result<(), Errno> {
    if is_in_proc(found)? { Err(Errno::ROFS) } else { Ok(()) }
}

fn is_in_proc(found: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(rustix::fs::fstatfs(found)?.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

fn copy(folder: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    rustix::io::fcntl_dupfd_cloexec(folder, 0)
}

struct Parts {
    folder: CString,
    name: CString,
    spelled: CString,
}

fn split(path: &[u8]) -> Result<Parts, Errno> {
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| Errno::INVAL);
    let length = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    let (body, slashes) = path.split_at(length);
    if body.is_empty() {
        return Ok(Parts { folder: text(b"/")?, name: text(b".")?, spelled: text(b".")? });
    }
    let begin = body.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let (folder, name) = body.split_at(begin);
    let folder = if folder.is_empty() { b"." } else { folder };
    let spelled = if slashes.is_empty() { name.to_vec() } else { [name, b"/"].concat() };
    Ok(Parts { folder: text(folder)?, name: text(name)?, spelled: text(&spelled)? })
}

/// What a path begins with if it is the caller's own: its descriptors, its folder, its root.
fn own(path: &[u8], thread: u32) -> Option<(Own, &[u8])> {
    let rest = match path.strip_prefix(b"/dev/") {
        Some(b"stdin") => return Some((Own::Descriptor(thread, 0), b"")),
        Some(b"stdout") => return Some((Own::Descriptor(thread, 1), b"")),
        Some(b"stderr") => return Some((Own::Descriptor(thread, 2), b"")),
        Some(rest) => return descriptor(rest.strip_prefix(b"fd/")?, thread),
        None => path.strip_prefix(b"/proc/")?,
    };
    let (who, rest) = rest.split_at(rest.iter().position(|byte| *byte == b'/')?);
    let is_caller = who == b"self" || who == b"thread-self" || who == thread.to_string().as_bytes();
    let rest = rest.strip_prefix(b"/").filter(|_| is_caller)?;
    // One thread of several.
    let (of, rest) = match rest.strip_prefix(b"task/") {
        Some(rest) => {
            let (digits, rest) = rest.split_at(rest.iter().position(|byte| *byte == b'/')?);
            (u32::try_from(number_of(digits)?).ok()?, rest.strip_prefix(b"/")?)
        }
        None => (thread, rest),
    };
    if let Some(rest) = rest.strip_prefix(b"fd/") {
        return descriptor(rest, of);
    }
    let links = [
        (b"cwd".as_slice(), Own::Folder),
        (b"root".as_slice(), Own::Root),
        (b"exe".as_slice(), Own::Executable),
    ];
    for (name, own) in links {
        if let Some(rest) = rest.strip_prefix(name).filter(|_| of == thread) {
            return Some((own, behind(rest)?));
        }
    }
    None
}

fn descriptor(rest: &[u8], thread: u32) -> Option<(Own, &[u8])> {
    let length = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
    let (digits, rest) = rest.split_at(length);
    Some((Own::Descriptor(thread, number_of(digits)?), behind(rest)?))
}

/// As the kernel writes a number.
fn number_of(digits: &[u8]) -> Option<i32> {
    let is_plain = digits == b"0" || !digits.starts_with(b"0");
    let is_number = digits.iter().all(u8::is_ascii_digit) && is_plain;
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

/// What follows, from there.
fn behind(rest: &[u8]) -> Option<&[u8]> {
    if rest.is_empty() {
        return Some(rest);
    }
    let begin = rest.iter().position(|byte| *byte != b'/')?;
    rest.starts_with(b"/").then(|| rest.get(begin..).unwrap_or_default())
}

/// A pipe that was made without a name.
pub(super) fn is_nameless(file: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(!path_of(file)?.is_absolute())
}

/// INVARIANT: it does not lie in /proc, where a link reads like a path and is none; `named` has seen to that.
pub(super) fn link_target(spot: &Spot) -> Result<Vec<u8>, Errno> {
    Ok(rustix::fs::readlinkat(&spot.folder, &spot.name, Vec::new())?.into_bytes())
}

/// A path by which this process reaches what it has open.
pub(super) fn own_path(file: BorrowedFd<'_>) -> CString {
    CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default()
}

/// Where a folder lies, as the cage spells it.
pub(super) fn path_of(folder: BorrowedFd<'_>) -> Result<PathBuf, Errno> {
    let path = rustix::fs::readlink(own_path(folder).as_c_str(), Vec::new())?.into_bytes();
    Ok(Path::new(OsStr::from_bytes(&path)).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_split(path: &str, folder: &str, name: &str, spelled: &str) {
        let parts = split(path.as_bytes()).unwrap();
        let texts = [&parts.folder, &parts.name, &parts.spelled].map(|text| text.to_str().unwrap());
        assert_eq!(texts, [folder, name, spelled], "{path}");
    }

    #[test]
    fn the_last_part_is_the_name() {
        check_split("a", ".", "a", "a");
        check_split("a/b", "a/", "b", "b");
        check_split("/a", "/", "a", "a");
        check_split("/a//b//", "/a//", "b", "b/");
        check_split("a/", ".", "a", "a/");
        check_split("/", "/", ".", ".");
        check_split("..", ".", "..", "..");
        check_split("a/.", "a/", ".", ".");
    }

    #[track_caller]
    fn check_own(path: &str, expected: Option<(Own, &str)>) {
        let found = own(path.as_bytes(), 42).map(|(own, rest)| (own, std::str::from_utf8(rest).unwrap()));
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn what_is_the_callers_is_known_by_its_path() {
        check_own("/dev/stdout", Some((Own::Descriptor(42, 1), "")));
        check_own("/dev/fd/63", Some((Own::Descriptor(42, 63), "")));
        check_own("/proc/self/fd/5/a/b", Some((Own::Descriptor(42, 5), "a/b")));
        check_own("/proc/42/fd/5", Some((Own::Descriptor(42, 5), "")));
        check_own("/proc/thread-self/cwd//x", Some((Own::Folder, "x")));
        check_own(&format!("/proc/self/{}", "root//x"), Some((Own::Root, "x")));
        check_own("/proc/42/exe", Some((Own::Executable, "")));
        check_own("/proc/self/task/43/fd/1", Some((Own::Descriptor(43, 1), "")));
        for other in [
            "/proc/1/fd/5",
            "/proc/self/fd/",
            "/proc/self/fd/x",
            "/proc/self/fd/+1",
            "/proc/self/fd/01",
            "/proc/self/cwdx",
            "/proc/self/status",
            "/proc/self/task/x/fd/1",
            "/dev/null",
            "/dev/stdoutx",
            "/tmp/x",
            "dev/stdout",
        ] {
            check_own(other, None);
        }
    }
}

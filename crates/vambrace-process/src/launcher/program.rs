//! Makes a program ready to be started: the file that was looked up, its words, its streams after redirects. It starts
//! nothing.

mod walk;

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use vambrace_policy::command::{Redirect, RedirectMode, Stream, Target};

use super::guard::Guard;
use super::pass_unsafe::open_for_ourselves;
use super::spawn_unsafe::Executable;
use crate::order::ProgramFile;
use crate::wire::message::End;

pub(super) struct Program {
    file: OwnedFd,
    path: CString,
    is_script: bool,
}

impl Program {
    /// THREAT: P06, what is executed is the file that was judged: its device and inode are compared on the open file.
    pub(super) fn open(wanted: &ProgramFile) -> Result<Program, End> {
        let not_started =
            |errno: Errno| End::NotStarted { program: wanted.path.clone(), errno: errno.raw_os_error() };
        let path = CString::new(wanted.path.as_os_str().as_bytes()).map_err(|_| not_started(Errno::INVAL))?;
        let (file, is_readable) = match open_for_ourselves(CWD, &path, OFlags::RDONLY) {
            Ok(file) => (file, true),
            Err(Errno::ACCESS) => {
                let flags = OFlags::PATH | OFlags::CLOEXEC;
                (rustix::fs::open(&path, flags, Mode::empty()).map_err(not_started)?, false)
            }
            Err(errno) => return Err(not_started(errno)),
        };
        let found = rustix::fs::fstat(&file).map_err(not_started)?;
        if found.st_dev != wanted.device || found.st_ino != wanted.inode {
            return Err(End::Changed(wanted.path.clone()));
        }
        let mut magic = [0u8; 2];
        let is_script = is_readable && rustix::io::pread(&file, &mut magic, 0) == Ok(2) && &magic == b"#!";
        Ok(Program { file, path, is_script })
    }

    /// A script by name: its interpreter opens it again, and a descriptor that is closed on execution is not there then.
    pub(super) fn executable(&self) -> Executable<'_> {
        if self.is_script { Executable::Path(&self.path) } else { Executable::Descriptor(self.file.as_fd()) }
    }
}

/// Texts as the kernel takes them.
pub(super) fn words<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<Vec<CString>, Errno> {
    texts.into_iter().map(|text| CString::new(text.as_bytes()).map_err(|_| Errno::INVAL)).collect()
}

pub(super) fn environment(variables: &[(String, String)]) -> Result<Vec<CString>, Errno> {
    variables
        .iter()
        .map(|(name, value)| CString::new(format!("{name}={value}")).map_err(|_| Errno::INVAL))
        .collect()
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Given(usize),
    Null,
    Opened(usize),
}

/// The three streams of one program: given ones, and files that were opened for it.
pub(super) struct Streams {
    places: [Place; 3],
    opened: Vec<OwnedFd>,
}

/// A redirect that failed: a shell tells it and goes on with status 1.
pub(super) struct RedirectFailed {
    pub(super) path: String,
    pub(super) errno: Errno,
}

impl Streams {
    /// In the order of the line, as bash does it: `2>&1 >file` and `>file 2>&1` differ.
    pub(super) fn redirect(
        redirects: &[Redirect<String>],
        folder: BorrowedFd<'_>,
        mut guard: Option<&mut Guard>,
    ) -> Result<Streams, RedirectFailed> {
        let mut streams =
            Streams { places: [Place::Given(0), Place::Given(1), Place::Given(2)], opened: Vec::new() };
        for redirect in redirects {
            let place = match &redirect.target {
                Target::Null => Place::Null,
                Target::Stream(stream) => streams.place(*stream),
                Target::File(path) => {
                    let file = open_file(folder, path, redirect.mode, guard.as_deref_mut())
                        .map_err(|errno| RedirectFailed { path: path.clone(), errno })?;
                    streams.opened.push(file);
                    Place::Opened(streams.opened.len() - 1)
                }
            };
            streams.set(redirect.stream, place);
        }
        Ok(streams)
    }

    fn place(&self, stream: Stream) -> Place {
        let [input, output, errors] = self.places;
        match stream {
            Stream::In => input,
            Stream::Out | Stream::Both => output,
            Stream::Err => errors,
        }
    }

    fn set(&mut self, stream: Stream, place: Place) {
        let [input, output, errors] = &mut self.places;
        match stream {
            Stream::In => *input = place,
            Stream::Out => *output = place,
            Stream::Err => *errors = place,
            Stream::Both => (*output, *errors) = (place, place),
        }
    }

    pub(super) fn resolve<'a>(
        &'a self,
        given: [BorrowedFd<'a>; 3],
        null: BorrowedFd<'a>,
    ) -> [BorrowedFd<'a>; 3] {
        self.places.map(|place| match place {
            Place::Given(number) => given.get(number).copied().unwrap_or(null),
            Place::Null => null,
            Place::Opened(number) => self.opened.get(number).map_or(null, AsFd::as_fd),
        })
    }
}

/// Not waiting: a pipe in the workspace would hold the whole cell until somebody opens its other end.
fn open_file(
    folder: BorrowedFd<'_>,
    path: &str,
    mode: RedirectMode,
    guard: Option<&mut Guard>,
) -> Result<OwnedFd, Errno> {
    let always = OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let flags = match mode {
        RedirectMode::Read => OFlags::RDONLY,
        // THREAT: P07, a link at the end would lead the write to where it was not judged.
        RedirectMode::Truncate => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW,
        RedirectMode::Append => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW,
    };
    let permissions = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o644) } else { Mode::empty() };
    // THREAT: P06, /proc/self/fd names descriptors of this process, not of the program.
    let file = walk::open(folder, path, (flags | always, permissions), guard)?;
    match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
        FileType::RegularFile | FileType::CharacterDevice => {}
        FileType::Directory => return Err(Errno::ISDIR),
        _ => return Err(Errno::INVAL),
    }
    rustix::fs::fcntl_setfl(&file, flags & OFlags::APPEND)?;
    Ok(file)
}

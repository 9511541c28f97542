//! What a person gives a program to read from. It knows descriptors, not programs.

use std::os::fd::BorrowedFd;

use rustix::fs::FileType;

use crate::ProgramError;
use crate::cell;

/// In which way it reaches the program, which never gets the object itself.
pub(super) fn of(input: BorrowedFd<'_>) -> Result<cell::Input<'_>, ProgramError> {
    if rustix::termios::isatty(input) {
        return Ok(cell::Input::Terminal(input));
    }
    let Ok(found) = rustix::fs::fstat(input) else { return Ok(cell::Input::Null) };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => Err(ProgramError::InputIsFolder),
        // Some programs look for other work when there is nothing to read, and can tell by this.
        FileType::CharacterDevice if found.st_rdev == rustix::fs::makedev(1, 3) => Ok(cell::Input::Null),
        _ => Ok(cell::Input::Copied(input)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::{AsFd as _, OwnedFd};

    use super::*;

    #[test]
    fn each_kind_has_its_way() {
        let (pipe, _writer) = std::io::pipe().unwrap();
        let (socket, _other) = std::os::unix::net::UnixDatagram::pair().unwrap();
        let way = |input: OwnedFd| match of(input.as_fd()) {
            Ok(cell::Input::Null) => "null",
            Ok(cell::Input::Text(_)) => "text",
            Ok(cell::Input::Copied(_)) => "copied",
            Ok(cell::Input::Terminal(_) | cell::Input::Pipe(_)) => "terminal",
            Err(_) => "refused",
        };
        assert_eq!(way(pipe.into()), "copied");
        assert_eq!(way(socket.into()), "copied");
        assert_eq!(way(File::open("/dev/null").unwrap().into()), "null");
        assert_eq!(way(File::open("/dev/zero").unwrap().into()), "copied");
        assert_eq!(way(tempfile::tempfile().unwrap().into()), "copied");
        assert_eq!(way(File::open("/").unwrap().into()), "refused");
    }
}

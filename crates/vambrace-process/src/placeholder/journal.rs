//! Which places this process has made, in a file that outlives it. One file per process, locked while the process lives:
//! a journal that can be locked belongs to nobody any more.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::remove_if;
use crate::workspace::Identity;

/// A journal is emptied whenever no cage stands, so it stays small.
const LONGEST: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Journal {
    pub(super) fn open(folder: &Path) -> io::Result<Journal> {
        std::fs::create_dir_all(folder)?;
        for entry in std::fs::read_dir(folder)? {
            sweep(&entry?.path());
        }
        let process = rustix::process::getpid().as_raw_nonzero();
        for number in 0..u32::MAX {
            let path = folder.join(format!("{process}-{number}"));
            let made = OpenOptions::new()
                .create_new(true)
                .append(true)
                .read(true)
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&path);
            match made {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                // Another process may have swept it between the two calls: then it has no name any more.
                Ok(file) if file.try_lock().is_ok() && file.metadata()?.nlink() > 0 => {
                    return Ok(Journal { file, path });
                }
                Ok(_) => {}
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Before places are made.
    pub(super) fn announce(&mut self, paths: &[PathBuf]) -> io::Result<()> {
        let lines: String = paths.iter().map(|path| format!("{}\t-\n", encode(path))).collect();
        self.file.write_all(lines.as_bytes())
    }

    /// After they were made.
    pub(super) fn made(&mut self, places: &[(PathBuf, Identity)]) -> io::Result<()> {
        let mut lines = String::new();
        for (path, Identity { device, inode, born: (seconds, nanoseconds) }) in places {
            lines.push_str(&format!("{}\t{device} {inode} {seconds} {nanoseconds}\n", encode(path)));
        }
        self.file.write_all(lines.as_bytes())
    }

    pub(super) fn clear(&mut self) {
        let _ = self.file.set_len(0);
    }
}

/// Removes what the journal of a process that is gone names, then the journal.
fn sweep(path: &Path) {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else { return };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) || file.try_lock().is_err() {
        return;
    }
    let mut text = String::new();
    if (&file).take(LONGEST).read_to_string(&mut text).is_err() {
        return;
    }
    let lines: Vec<(PathBuf, Option<Identity>)> = text.lines().filter_map(parse).collect();
    for (place, identity) in &lines {
        // Announced and never confirmed: the crash came between the two lines, so there is no identity to compare.
        let confirmed = lines.iter().any(|(other, identity)| other == place && identity.is_some());
        if identity.is_some() || !confirmed {
            remove_if(place, *identity);
        }
    }
    let _ = std::fs::remove_file(path);
}

fn parse(line: &str) -> Option<(PathBuf, Option<Identity>)> {
    let (path, numbers) = line.split_once('\t')?;
    let path = decode(path).filter(|path| path.is_absolute())?;
    if numbers == "-" {
        return Some((path, None));
    }
    let mut parts = numbers.split(' ');
    let device = parts.next()?.parse().ok()?;
    let inode = parts.next()?.parse().ok()?;
    let born = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((path, Some(Identity { device, inode, born })))
}

/// A path may hold a line break.
fn encode(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | 0..=0x20 | 0x7f.. => text.push_str(&format!("%{byte:02x}")),
            plain => text.push(char::from(*plain)),
        }
    }
    text
}

fn decode(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &[u8]) {
        let path = PathBuf::from(OsString::from_vec(path.to_vec()));
        let text = encode(&path);
        assert!(text.is_ascii() && !text.contains(['\n', '\t', ' ']), "{text}");
        assert_eq!(decode(&text), Some(path));
    }

    #[test]
    fn any_path_is_one_word() {
        check(b"/a/b");
        check(b"/with space/and\nline\tand%percent");
        check(b"/not\xfftext");
    }

    #[test]
    fn a_torn_line_is_no_line() {
        assert_eq!(parse("/a\t1 2 3"), None);
        assert_eq!(parse("/a"), None);
        assert_eq!(parse("relative\t-"), None);
        assert_eq!(parse("/a\t-"), Some((PathBuf::from("/a"), None)));
    }
}

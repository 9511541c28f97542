//! Which names beside the processes a cage shows in `/proc`. Much of the rest tells of the machine's memory, hardware and
//! keys, and all of it belongs to root, whose number root's programs keep.

use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt as _;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

/// What everyday programs read, and nothing that names addresses, keys or what others do. What is not here is covered, also
/// what a later kernel adds.
const SHOWN: [&str; 31] = [
    "buddyinfo",
    "cgroups",
    "consoles",
    "cpuinfo",
    "crypto",
    "devices",
    "diskstats",
    "dma",
    "execdomains",
    "fb",
    "filesystems",
    "loadavg",
    "mdstat",
    "meminfo",
    "misc",
    "mounts",
    "net",
    "partitions",
    "pressure",
    "self",
    "stat",
    "swaps",
    "sys",
    "sysvipc",
    "thread-self",
    "tty",
    "uptime",
    "version",
    "version_signature",
    "vmstat",
    "zoneinfo",
];

/// Names in this `/proc` that are to be covered, and whether they are folders.
pub(crate) fn masked(proc: BorrowedFd<'_>) -> Result<Vec<(OsString, bool)>, Errno> {
    let is_root = rustix::process::geteuid().is_root();
    let mut found = Vec::new();
    for entry in Dir::read_from(proc)? {
        let entry = entry?;
        let name = entry.file_name();
        let bytes = name.to_bytes();
        let is_process = bytes.iter().all(u8::is_ascii_digit);
        let is_shown = SHOWN.iter().any(|shown| shown.as_bytes() == bytes);
        if is_process || is_shown || matches!(bytes, b"." | b"..") {
            continue;
        }
        let Ok(stat) = rustix::fs::statat(proc, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let kind = FileType::from_raw_mode(stat.st_mode);
        // Nobody else can open what only root may; and a link leads to something that is judged by its own name.
        let is_closed = !is_root && stat.st_mode & 0o007 == 0;
        if !is_closed && kind != FileType::Symlink {
            found.push((OsString::from_vec(bytes.to_vec()), kind.is_dir()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn what_tells_of_the_machine_is_covered() {
        let proc = std::fs::File::open("/proc").unwrap();
        let masked = masked(proc.as_fd()).unwrap();
        let covers = |name: &str| masked.iter().any(|(masked, _)| masked == name);
        for name in ["cmdline", "kallsyms", "keys", "key-users", "interrupts", "kcore", "kpageflags", "bus"] {
            let there = std::fs::symlink_metadata(format!("/proc/{name}"));
            let is_open = there.is_ok_and(|found| {
                let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions());
                rustix::process::geteuid().is_root() || mode & 0o007 != 0
            });
            assert_eq!(covers(name), is_open, "{name}");
        }
        for name in ["self", "sys", "net", "cpuinfo", "meminfo", "1"] {
            assert!(!covers(name), "{name}");
        }
        assert!(
            masked
                .iter()
                .all(|(name, is_folder)| *is_folder == std::path::Path::new("/proc").join(name).is_dir())
        );
    }
}

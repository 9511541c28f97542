//! Opens a file step by step, without the links of /proc that lead anywhere. The kernel does the same in one call, but
//! that call hides the mode of a new file from the filter, which stands around this process as well.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::launcher::guard::Guard;

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;
/// The number of /proc itself. The links in it are texts; all links further down lead past the names.
const TOP_OF_PROC: u64 = 1;

/// With `NOFOLLOW` in `flags` a link at the end is refused; those on the way are followed.
pub(super) fn open(
    folder: BorrowedFd<'_>,
    path: &str,
    (flags, permissions): (OFlags, Mode),
    mut guard: Option<&mut Guard>,
) -> Result<OwnedFd, Errno> {
    let mut walk = Walk { at: top_or(folder, Path::new(path))?, steps: VecDeque::new(), wants_folder: false };
    if path.is_empty() {
        return Err(Errno::NOENT);
    }
    walk.lead(path.as_bytes().to_vec());
    let mut n_links = 0;
    while let Some(name) = walk.steps.pop_front() {
        let found = if walk.steps.is_empty() {
            walk.last(&name, (flags, permissions), guard.as_deref_mut())
        } else {
            walk.enter(&name).map(|()| None)
        };
        let errno = match found {
            Ok(Some(file)) => return Ok(file),
            Ok(None) => continue,
            Err(errno) => errno,
        };
        let may_be_link = match errno {
            Errno::NOTDIR => !walk.steps.is_empty(),
            Errno::LOOP => !walk.steps.is_empty() || !flags.contains(OFlags::NOFOLLOW),
            _ => false,
        };
        if !may_be_link {
            return Err(errno);
        }
        n_links += 1;
        if n_links > MOST_LINKS {
            return Err(Errno::LOOP);
        }
        walk.follow(&name)?;
    }
    // The root, or the folder itself.
    Err(Errno::ISDIR)
}

struct Walk {
    at: OwnedFd,
    steps: VecDeque<OsString>,
    /// A slash at the end asks for a folder.
    wants_folder: bool,
}

impl Walk {
    fn lead(&mut self, path: Vec<u8>) {
        if self.steps.is_empty() {
            self.wants_folder |= path.ends_with(b"/");
        }
        let path = PathBuf::from(OsString::from_vec(path));
        for part in path.components().rev() {
            match part {
                Component::Normal(name) => self.steps.push_front(name.to_owned()),
                Component::ParentDir => self.steps.push_front("..".into()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
    }

    fn last(
        &self,
        name: &OsString,
        (flags, permissions): (OFlags, Mode),
        guard: Option<&mut Guard>,
    ) -> Result<Option<OwnedFd>, Errno> {
        if self.wants_folder {
            return Err(Errno::ISDIR);
        }
        // THREAT: P06, what lies under /proc/self is this process's own, its memory too.
        if is_in_proc(&self.at)? {
            return Err(Errno::ACCESS);
        }
        let flags = flags | OFlags::NOFOLLOW;
        match guard {
            Some(guard) => guard.open_for_us(&self.at, name, flags, permissions).map(Some),
            None => rustix::fs::openat(&self.at, name, flags, permissions).map(Some),
        }
    }

    fn enter(&mut self, name: &OsString) -> Result<(), Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.at = rustix::fs::openat(&self.at, name, flags, Mode::empty())?;
        Ok(())
    }

    fn follow(&mut self, name: &OsString) -> Result<(), Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let link = rustix::fs::openat(&self.at, name, flags, Mode::empty())?;
        if FileType::from_raw_mode(rustix::fs::fstat(&link)?.st_mode) != FileType::Symlink {
            return Err(Errno::NOTDIR);
        }
        // THREAT: P06, /proc/self/fd names descriptors of this process, not of the program.
        if is_in_proc(&link)? && rustix::fs::fstat(&self.at)?.st_ino != TOP_OF_PROC {
            return Err(Errno::LOOP);
        }
        let target = rustix::fs::readlinkat(&link, "", Vec::new())?.into_bytes();
        let first = PathBuf::from(OsString::from_vec(target.clone()));
        self.at = top_or(self.at.as_fd(), &first)?;
        self.lead(target);
        Ok(())
    }
}

fn is_in_proc(found: &OwnedFd) -> Result<bool, Errno> {
    Ok(rustix::fs::fstatfs(found)?.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

fn top_or(folder: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    if path.is_absolute() {
        return rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    }
    rustix::io::fcntl_dupfd_cloexec(folder, 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn place() -> (tempfile::TempDir, OwnedFd) {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        std::fs::create_dir_all(base.join("a/b")).unwrap();
        std::fs::write(base.join("a/b/file"), "inside").unwrap();
        std::fs::write(base.join("top"), "top").unwrap();
        symlink("a/b", base.join("way")).unwrap();
        symlink("../top", base.join("a/up")).unwrap();
        symlink(base.join("a"), base.join("whole")).unwrap();
        symlink("b/", base.join("a/slash")).unwrap();
        symlink("round", base.join("round")).unwrap();
        symlink("absent", base.join("dangling")).unwrap();
        symlink("/proc/self/fd", base.join("descriptors")).unwrap();
        symlink("/proc/self/root", base.join("root")).unwrap();
        let opened = rustix::fs::open(base, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        (folder, opened)
    }

    #[track_caller]
    fn check(path: &str, expected: Result<&str, Errno>) {
        let (_folder, base) = place();
        let read = open(base.as_fd(), path, (OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()), None)
            .map(|file| std::io::read_to_string(std::fs::File::from(file)).unwrap());
        assert_eq!(read.as_deref().map_err(|errno| *errno), expected, "{path}");
    }

    #[test]
    fn names_lead_where_the_kernel_leads_them() {
        check("top", Ok("top"));
        check("./a/../a//b/./file", Ok("inside"));
        check("way/file", Ok("inside"));
        check("way/../up", Ok("top"));
        check("whole/b/file", Ok("inside"));
        check("whole/slash/file", Ok("inside"));
        check("a/up", Ok("top"));
        check("", Err(Errno::NOENT));
        check("/", Err(Errno::ISDIR));
        check("top/", Err(Errno::ISDIR));
        check("top/x", Err(Errno::NOTDIR));
        check("absent", Err(Errno::NOENT));
        check("absent/x", Err(Errno::NOENT));
        check("dangling", Err(Errno::NOENT));
        check("round", Err(Errno::LOOP));
        check("round/x", Err(Errno::LOOP));
    }

    #[test]
    fn links_of_proc_lead_nowhere() {
        let (folder, base) = place();
        let held = std::fs::File::open(folder.path().join("top")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&held);
        for path in [
            format!("/proc/self/fd/{number}"),
            format!("descriptors/{number}"),
            format!("/proc/{}/fd/{number}", std::process::id()),
            "/proc/self/exe".to_owned(),
            "/proc/self/cwd/Cargo.toml".to_owned(),
            "root/proc/version".to_owned(),
            "/proc/thread-self/cwd/Cargo.toml".to_owned(),
        ] {
            assert!(std::fs::metadata(folder.path().join(&path)).is_ok(), "{path} is no test");
            let opened = open(base.as_fd(), &path, (OFlags::RDONLY, Mode::empty()), None);
            assert!(matches!(opened.map(drop), Err(Errno::LOOP | Errno::ACCESS)), "{path}");
        }
        for path in ["/proc/self/status", "/proc/self/mem", "/proc/mounts", "/proc/version"] {
            let opened = open(base.as_fd(), path, (OFlags::RDONLY, Mode::empty()), None);
            assert!(matches!(opened.map(drop), Err(Errno::LOOP | Errno::ACCESS)), "{path}");
        }
    }

    #[test]
    fn a_write_follows_no_link_at_its_end() {
        let (folder, base) = place();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW;
        let write = |path: &str| open(base.as_fd(), path, (flags, Mode::RUSR | Mode::WUSR), None).map(drop);
        assert_eq!(write("a/up"), Err(Errno::LOOP));
        assert_eq!(write("dangling"), Err(Errno::LOOP));
        assert_eq!(write("new/"), Err(Errno::ISDIR));
        assert_eq!(write("way/new"), Ok(()));
        assert!(folder.path().join("a/b/new").exists());
        assert_eq!(std::fs::read(folder.path().join("top")).unwrap(), b"top");
    }
}

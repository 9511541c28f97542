//! What stands beneath a folder right now, in a form that is equal only while nothing has happened to it: for approvals of
//! programs, which may run whatever lies there.

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};
use vambrace_types::ScopedPath;

use crate::open::{beneath, kernel_path};
use crate::stamp::described;
use crate::{Files, Stop};

/// LIMIT: entries that are looked at, in the order of their names. Of what comes after them only the number counts: a
/// change of a file there does not show.
const MOST_STAMPED: usize = 50_000;
/// LIMIT: entries that are counted.
const MOST_COUNTED: usize = 1_000_000;
/// LIMIT: folders in folders; each holds a handle while what is in it is looked at.
const DEEPEST: usize = 128;
/// What changes with every call of ours, from the workspace.
const OURS: [&str; 3] = ["/.vambrace", "/.claude/tool_log.jsonl", "/.claude/.gitignore"];

impl Files {
    /// Every file and link beneath, without a look inside: path, kind, inode, size and times. Folders only by what is in
    /// them, because empty ones come and go with every cage; repositories not at all, since `Look::stamps` knows where they
    /// stand. Not judged by the scope: it is for hashing and never shown.
    // LIMIT: where a link leads is followed by nobody; what lies outside does not show.
    pub fn tree_stamps(&self, folder: &ScopedPath, stop: &Stop) -> Vec<String> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let prefix: String = folder.components().iter().map(|part| format!("/{part}")).collect();
        let mut walk = Walk { stamps: Vec::new(), n_seen: 0, most: MOST_STAMPED, stop };
        match beneath(self.opener(&Default::default()).root.as_fd(), &kernel_path(folder), flags, resolve) {
            Ok(handle) => walk.enter(&handle, &prefix, 1),
            Err(errno) => walk.stamps.push(format!("errno {}", errno.raw_os_error())),
        }
        walk.stamps.push(format!("{} entries", walk.n_seen));
        walk.stamps
    }
}

struct Walk<'a> {
    stamps: Vec<String>,
    n_seen: usize,
    most: usize,
    stop: &'a Stop,
}

impl Walk<'_> {
    fn enter(&mut self, folder: &OwnedFd, path: &str, depth: usize) {
        // The order of a folder is the file system's affair; which entries count must not be.
        let mut names: Vec<(CString, FileType)> = Vec::new();
        let Ok(items) = Dir::read_from(folder) else {
            self.stamps.push(format!("{path} unreadable"));
            return;
        };
        for item in items.flatten() {
            if self.n_seen >= MOST_COUNTED || self.stop.is_set() {
                break;
            }
            let name = item.file_name();
            if name != c"." && name != c".." {
                names.push((name.to_owned(), item.file_type()));
            }
        }
        names.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (name, kind) in names {
            let path = format!("{path}/{}", name.to_bytes().escape_ascii());
            if OURS.contains(&path.as_str()) || self.n_seen >= MOST_COUNTED || self.stop.is_set() {
                continue;
            }
            let look = || rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW);
            let kind = match kind {
                FileType::Unknown => look().map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            if kind == FileType::Directory {
                self.descend(folder, &name, &path, depth);
                continue;
            }
            self.n_seen += 1;
            if self.n_seen <= self.most {
                let found = look().map_or_else(|errno| errno.to_string(), |stat| described(&stat));
                self.stamps.push(format!("{path} {found}"));
            }
        }
    }

    fn descend(&mut self, folder: &OwnedFd, name: &CString, path: &str, depth: usize) {
        if name.as_c_str() == c".git" {
            return;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(folder, name.as_c_str(), flags, Mode::empty()) {
            Ok(inner) if depth < DEEPEST => self.enter(&inner, path, depth + 1),
            Ok(_) => self.stamps.push(format!("{path} too deep")),
            Err(errno) => self.stamps.push(format!("{path} {errno}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;

    use super::*;

    fn walked(dir: &Path, most: usize) -> Vec<String> {
        let stop = Stop::default();
        let mut walk = Walk { stamps: Vec::new(), n_seen: 0, most, stop: &stop };
        walk.enter(&OwnedFd::from(File::open(dir).unwrap()), "", 1);
        walk.stamps.push(walk.n_seen.to_string());
        walk.stamps
    }

    #[test]
    fn every_change_shows_but_those_of_our_own() {
        type Change = fn(&Path);
        let rows: [(&str, bool, Change); 12] = [
            ("nothing", false, |_| {}),
            ("a text", true, |dir| fs::write(dir.join("sub/run.sh"), "echo 2").unwrap()),
            ("a new file", true, |dir| fs::write(dir.join("sub/new"), "").unwrap()),
            ("a lost file", true, |dir| fs::remove_file(dir.join("a")).unwrap()),
            ("a name", true, |dir| fs::rename(dir.join("a"), dir.join("b")).unwrap()),
            ("an equal file", true, |dir| {
                fs::copy(dir.join("a"), dir.join("c")).unwrap();
                fs::rename(dir.join("c"), dir.join("a")).unwrap();
            }),
            ("a link", true, |dir| std::os::unix::fs::symlink("a", dir.join("link")).unwrap()),
            ("a nested folder of ours", true, |dir| {
                fs::create_dir_all(dir.join("sub/.vambrace")).unwrap();
                fs::write(dir.join("sub/.vambrace/x"), "").unwrap();
            }),
            ("settings beside the mirror", true, |dir| fs::write(dir.join(".claude/x"), "").unwrap()),
            ("the mirror", false, |dir| fs::write(dir.join(".claude/tool_log.jsonl"), "x").unwrap()),
            ("our folder", false, |dir| {
                fs::create_dir(dir.join(".vambrace")).unwrap();
                fs::write(dir.join(".vambrace/x"), "").unwrap();
            }),
            ("an empty folder and a repository", false, |dir| {
                fs::create_dir_all(dir.join(".git/hooks")).unwrap();
                fs::write(dir.join(".git/index"), "").unwrap();
                fs::create_dir(dir.join(".husky")).unwrap();
            }),
        ];
        for (what, shows, change) in rows {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir_all(dir.path().join("sub/deep")).unwrap();
            fs::create_dir(dir.path().join(".claude")).unwrap();
            fs::write(dir.path().join("a"), "x").unwrap();
            fs::write(dir.path().join("sub/run.sh"), "echo 1").unwrap();
            let before = walked(dir.path(), 100);
            change(dir.path());
            assert_eq!(before != walked(dir.path(), 100), shows, "{what}");
        }
    }

    #[test]
    fn beyond_the_limit_only_the_number_counts() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c", "d"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let before = walked(dir.path(), 2);
        assert_eq!((before.len(), before[2].as_str()), (3, "4"));
        fs::write(dir.path().join("d"), "changed").unwrap();
        assert_eq!(walked(dir.path(), 2), before);
        fs::write(dir.path().join("e"), "").unwrap();
        assert_ne!(walked(dir.path(), 2), before);
        let before = walked(dir.path(), 2);
        fs::write(dir.path().join("b"), "changed").unwrap();
        assert_ne!(walked(dir.path(), 2), before);
    }
}

//! Attacks on what somebody else will run or believe later, and the controls: a cage in which nobody can work proves
//! nothing.

use rustix::fs::{AtFlags, FileType, Mode, StatVfsMountFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::absent::UNGUARDED;
use super::facts::Facts;
use super::file::{make_in, open_for_writing};
use super::{Outcome, all, failed, words};

/// Names that a cage keeps from being made even where they are absent.
///
/// LIMIT: where no guard makes the names, they can be made and are reported after the run, so that
/// is not tried.
const KEPT_ABSENT: [&str; 3] = [".mcp.json", ".claude", ".vscode"];

/// Where they exist, these may not be changed either.
pub(crate) const KEPT: [&str; 14] = [
    ".mcp.json",
    ".claude",
    ".vscode",
    ".cursor",
    ".codex",
    ".gemini",
    ".idea",
    ".husky",
    ".githooks",
    ".devcontainer",
    ".envrc",
    ".gitmodules",
    ".vambrace",
    "vambrace.yaml",
];

fn roots(facts: &Facts) -> Vec<&str> {
    let mut roots = vec![facts.service.as_str()];
    if facts.workspace != facts.service {
        roots.push(&facts.workspace);
    }
    roots
}

fn kind(path: &str) -> Option<FileType> {
    rustix::fs::lstat(path).ok().map(|found| FileType::from_raw_mode(found.st_mode))
}

pub(super) fn hook(facts: &Facts) -> Outcome {
    let repositories: Vec<_> =
        roots(facts).iter().map(|root| format!("{root}/.git")).filter(|path| kind(path).is_some()).collect();
    if repositories.is_empty() {
        if names_are_free(facts) {
            return Outcome::Held(UNGUARDED.to_owned());
        }
        return make_folder(&format!("{}/.git", facts.service));
    }
    all(repositories.iter().map(|repository| (repository.as_str(), change_repository(repository, facts))))
}

fn change_repository(repository: &str, facts: &Facts) -> Outcome {
    if kind(repository) != Some(FileType::Directory) {
        return open_for_writing(repository);
    }
    let files = ["config", "HEAD", "config.worktree", "info/attributes"];
    let folders = ["hooks", "", "info"];
    all(folders
        .into_iter()
        .map(|name| (name, failed(make_in(&format!("{repository}/{name}"), facts))))
        .chain(files.into_iter().map(|name| (name, open_for_writing(&format!("{repository}/{name}"))))))
}

pub(super) fn move_repository(facts: &Facts) -> Outcome {
    all(roots(facts)
        .into_iter()
        .filter(|root| kind(&format!("{root}/.git")).is_some())
        .flat_map(|root| move_each_away(root, &[".git"], facts)))
}

pub(super) fn configuration(facts: &Facts) -> Outcome {
    let service = facts.service.as_str();
    let is_there = |name: &&str| kind(&format!("{service}/{name}")).is_some();
    // What a person made since the cage was built lies under no mount.
    let was_there = |name: &&str| facts.present.iter().any(|present| present == name);
    let present: Vec<_> = KEPT.into_iter().filter(was_there).filter(is_there).collect();
    let changed = present.iter().map(|name| (*name, change(&format!("{service}/{name}"), facts)));
    let made = KEPT_ABSENT
        .into_iter()
        .filter(|name| !names_are_free(facts) && !is_there(name))
        .map(|name| (name, make_folder(&format!("{service}/{name}"))));
    all(changed.chain(made).chain(move_each_away(service, &present, facts)))
}

fn names_are_free(facts: &Facts) -> bool {
    facts.may_write && !facts.guarded
}

fn change(path: &str, facts: &Facts) -> Outcome {
    match kind(path) {
        Some(FileType::Directory) => failed(make_in(path, facts)),
        // LIMIT: what it leads to is judged by its own name, and may be an ordinary file of the service.
        Some(FileType::Symlink) => Outcome::Held("a link, which stays".to_owned()),
        _ => open_for_writing(path),
    }
}

/// Whoever can make a folder of this name can make a file of it.
fn make_folder(path: &str) -> Outcome {
    let made = rustix::fs::mkdir(path, Mode::RWXU);
    if made.is_ok() {
        let _cleaned = rustix::fs::rmdir(path);
    }
    failed(made)
}

/// Whoever takes away what the self-test makes has to know its name first.
pub(super) const MOST_TRIES: usize = 3;

/// Renames onto a folder that is not empty. The kernel refuses that last, after everything else that could stand in the
/// way, so the answer tells whether the name could be moved, and it never is.
///
/// THREAT: P11, these are a person's files: an attack that succeeds must not cost one.
fn move_each_away<'n>(root: &str, names: &[&'n str], facts: &Facts) -> Vec<(&'n str, Outcome)> {
    if names.is_empty() {
        return Vec::new();
    }
    let mut moved = Vec::new();
    for _ in 0..MOST_TRIES {
        // One for all: on some file systems a folder is dear to remove.
        let scratch = facts.scratch(root);
        let inner = format!("{scratch}/inner");
        let prepared =
            rustix::fs::mkdir(&scratch, Mode::RWXU).and_then(|()| rustix::fs::symlink("none", &inner));
        let attempts = names
            .iter()
            .map(|name| (*name, prepared.map_or_else(held, |()| move_away(root, name, &scratch))));
        moved = attempts.collect();
        let was_there = rustix::fs::unlink(&inner).is_ok();
        let _cleaned = rustix::fs::rmdir(&scratch);
        // Somebody has taken it away, and then a name was not moved for want of a place.
        if prepared.is_err() || was_there {
            break;
        }
    }
    moved
}

fn move_away(root: &str, name: &str, scratch: &str) -> Outcome {
    let from = format!("{root}/{name}");
    match kind(&from) {
        Some(FileType::Directory) => {}
        None => return held(Errno::NOENT),
        Some(kind) => return stay(root, &from, kind),
    }
    match rustix::fs::rename(&from, scratch) {
        Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST) => Outcome::Broken("it can be moved".to_owned()),
        Err(errno) => held(errno),
    }
}

/// For what is no folder no call is refused last, and one that succeeds could not be undone: a
/// guard would not let the name be made again. So it is looked at, and not tried: the kernel moves
/// no mount point, and nothing on a read-only mount.
///
/// LIMIT: where another program has built the cage, a link lies under no mount; what replaces it is
/// reported after the run.
fn stay(root: &str, path: &str, kind: FileType) -> Outcome {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let found = rustix::fs::statx(rustix::fs::CWD, path, flags, StatxFlags::BASIC_STATS);
    let is_mount = found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT));
    let is_closed =
        rustix::fs::statvfs(root).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY));
    match kind {
        _ if is_mount => Outcome::Held("a mount point".to_owned()),
        _ if is_closed => held(Errno::ROFS),
        FileType::Symlink => Outcome::Held("a link; what replaces it is reported".to_owned()),
        _ => Outcome::Broken("it can be moved".to_owned()),
    }
}

fn held(errno: Errno) -> Outcome {
    Outcome::Held(words(errno))
}

/// A control in the one folder that programs may change.
pub(super) fn work_in_service(facts: &Facts) -> Outcome {
    match work_in(&facts.service, facts) {
        // Where nobody can write, nobody can plant either.
        Outcome::Untried(detail) if !facts.may_write => {
            Outcome::Held(format!("outside it cannot be written either: {detail}"))
        }
        outcome => outcome,
    }
}

/// A control: here a failure is what must not be. It says nothing about the walls, but the other rows say nothing either
/// where nothing works.
pub(super) fn work_in(folder: &str, facts: &Facts) -> Outcome {
    // THREAT: P07, a program of another cage that renames or removes what the self-test makes would stop it for ever. A file
    // without a name is nobody else's.
    let done = make_in(folder, facts).and_then(|file| {
        let mut back = vec![0u8; facts.token.len()];
        let written = rustix::io::write(&file, facts.token.as_bytes())?;
        let read = rustix::io::pread(&file, &mut back, 0)?;
        Ok((written, read) == (back.len(), back.len()) && back == facts.token.as_bytes())
    });
    match done {
        Ok(true) => Outcome::Held("works".to_owned()),
        Ok(false) => Outcome::Untried("what was written did not come back".to_owned()),
        Err(errno) => Outcome::Untried(words(errno)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::attack::facts::tests::example;

    fn service() -> (tempfile::TempDir, Facts) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        let facts = Facts { workspace: path.clone(), service: path, ..example() };
        (folder, facts)
    }

    #[track_caller]
    fn check(outcome: &Outcome, expected: &str) {
        let (word, detail) = match outcome {
            Outcome::Held(detail) => ("held", detail),
            Outcome::Broken(detail) => ("broken", detail),
            Outcome::Untried(detail) => ("untried", detail),
        };
        assert!(format!("{word} {detail}").ends_with(expected), "{word} {detail}");
    }

    #[test]
    fn what_can_be_planted_is_found_and_nothing_is_left() {
        let (folder, facts) = service();
        check(&hook(&facts), "broken it worked");
        check(&move_repository(&facts), "held nothing of the kind is here");
        check(&configuration(&facts), "broken .mcp.json: it worked");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
        fs::write(folder.path().join(".git/config"), "[core]\n").unwrap();
        fs::write(folder.path().join(".mcp.json"), "{}").unwrap();
        std::os::unix::fs::symlink("cfg", folder.path().join(".claude")).unwrap();
        check(&hook(&facts), "hooks: it worked");
        check(&move_repository(&facts), "it can be moved");
        for (name, expected) in [
            (".mcp.json", "broken it can be moved"),
            (".claude", "held a link; what replaces it is reported"),
            ("absent", "held no such file or directory"),
        ] {
            let moved = move_each_away(&facts.service, &[name], &facts);
            assert_eq!(moved.len(), 1);
            check(&moved[0].1, expected);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        assert_eq!(fs::read_link(folder.path().join(".claude")).unwrap(), std::path::Path::new("cfg"));
        assert_eq!(fs::read(folder.path().join(".mcp.json")).unwrap(), b"{}");
        assert_eq!(fs::read_dir(folder.path().join(".git/hooks")).unwrap().count(), 0);
    }

    #[test]
    fn a_control_works_or_proves_nothing() {
        let (folder, facts) = service();
        check(&work_in_service(&facts), "held works");
        check(&work_in("/absent", &facts), "untried no such file or directory");
        let absent = Facts { service: "/absent".to_owned(), may_write: true, ..facts.clone() };
        check(&work_in_service(&absent), "untried no such file or directory");
        let closed = Facts { may_write: false, ..absent };
        check(
            &work_in_service(&closed),
            "held outside it cannot be written either: no such file or directory",
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

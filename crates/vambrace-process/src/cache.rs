//! Go's build cache for cages. In the private /tmp every run would compile the standard library anew, half a minute of work,
//! into memory that a larger project exceeds; so it lies in the service folder, the one place on disk that a cage may
//! write.
//!
//! INVARIANT: it is never the person's own cache. THREAT: P07, what a program in a cage puts there would be linked into what
//! the person builds.
//!
//! LIMIT: programs of later cages in the same service use what earlier ones left, as they do with `target` and
//! `node_modules`.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use vambrace_policy::Job;

/// How Go is told.
pub(crate) const VARIABLE: &str = "GOCACHE";

const FOLDER: &str = ".cage";
const GO: &str = "go-build";
/// For git, as other caches in projects have it. git does not show what hides itself.
const IGNORE: (&str, &[u8]) =
    (".gitignore", b"# Caches of programs that ran in a cage; may be deleted.\n*\n");

/// Those that compile; `go version` and `go list` shall leave no trace.
const COMPILING: [&str; 6] = ["test", "vet", "build", "run", "install", "generate"];

/// Where Go shall keep its cache for this job. One that is there is used by every job, for Go may be started by `make`; it
/// is made only where the job itself is Go at work. None: it stays private.
pub(crate) fn of_go(job: &Job, workspace: &Path, service: &Path) -> Option<PathBuf> {
    let compiles = compiles_go(job);
    // Mostly there is none, which one call tells.
    if !compiles && std::fs::symlink_metadata(service.join(FOLDER)).is_err() {
        return None;
    }
    let top = open_service(service, workspace).ok()?;
    if compiles {
        make(&top).ok()?;
    }
    let folder = folder(&top, FOLDER).ok()?;
    let stat = rustix::fs::statat(folder, GO, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_there = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    is_there.then(|| service.join(FOLDER).join(GO))
}

fn compiles_go(job: &Job) -> bool {
    job.plan.programs().any(|run| {
        let what = run.arguments().first().map(String::as_str).unwrap_or_default();
        run.name() == "go" && COMPILING.contains(&what)
    })
}

/// The service folder, reached through no link: programs in other cages may be changing the folders
/// on the way.
fn open_service(service: &Path, workspace: &Path) -> io::Result<OwnedFd> {
    let inside = service.strip_prefix(workspace).map_err(|_| io::ErrorKind::InvalidInput)?;
    let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
    let root = rustix::fs::open(workspace, flags, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(root, Path::new(".").join(inside), flags, Mode::empty(), resolve)?)
}

/// No link is followed: programs in other cages may be changing the folder. THREAT: P07.
fn make(top: &OwnedFd) -> io::Result<()> {
    let made = make_folder(top, FOLDER)?;
    let folder = folder(top, FOLDER)?;
    if made {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, IGNORE.0, flags, Mode::from_raw_mode(0o644))?;
        File::from(file).write_all(IGNORE.1)?;
    }
    make_folder(&folder, GO)?;
    Ok(())
}

/// Whether it was us who made it.
fn make_folder(above: impl AsFd, name: &str) -> io::Result<bool> {
    match rustix::fs::mkdirat(above, name, Mode::from_raw_mode(0o755)) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn folder(above: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(above, name, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use vambrace_types::ScopedPath;

    use super::*;

    fn top() -> ScopedPath {
        ScopedPath::from_components(Vec::new()).unwrap()
    }

    /// Whether a line finds or makes a cache in a service with these folders and links.
    #[track_caller]
    fn check(folders: &[&str], links: &[(&str, &str)], line: &str, expected: bool) {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().canonicalize().unwrap();
        let service = workspace.join("svc");
        for folder in ["svc", "elsewhere"].iter().chain(folders) {
            std::fs::create_dir_all(workspace.join(folder)).unwrap();
        }
        for (link, target) in links {
            std::os::unix::fs::symlink(workspace.join(target), workspace.join(link)).unwrap();
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let job = Job::program(&words.next().unwrap(), words.collect(), top());
        let found = of_go(&job, &workspace, &service);
        assert_eq!(found, expected.then(|| service.join(".cage/go-build")), "{line} {folders:?} {links:?}");
        assert_eq!(std::fs::read_dir(workspace.join("elsewhere")).unwrap().count(), 0, "{line} {links:?}");
    }

    #[test]
    fn it_is_made_for_go_and_through_no_link() {
        check(&[], &[], "go test ./...", true);
        check(&[], &[], "go vet ./...", true);
        check(&[], &[], "go version", false);
        check(&[], &[], "make test", false);
        check(&["svc/.cage/go-build"], &[], "make test", true);
        check(&["svc/.cage"], &[], "make test", false);
        check(&["svc/.cage"], &[], "go test", true);
        check(&[], &[("svc/.cage", "elsewhere")], "go test", false);
        check(&["svc/.cage"], &[("svc/.cage/go-build", "elsewhere")], "go test", false);
        check(&[], &[("svc/.cage", "missing")], "go test", false);
    }

    #[test]
    fn git_does_not_see_it() {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().canonicalize().unwrap();
        let job = Job::program("go", vec!["test".to_owned()], top());
        for _ in 0..2 {
            of_go(&job, &workspace, &workspace).unwrap();
        }
        let ignore = std::fs::read_to_string(workspace.join(".cage/.gitignore")).unwrap();
        assert!(ignore.ends_with("\n*\n"), "{ignore}");
    }
}

//! Caches on disk for cages. Go's build cache in the private /tmp would compile the standard library anew in every run, half
//! a minute of work, into memory that a larger project exceeds; and what a package manager brought in would be gone with the
//! cage. So they lie in the service folder, the one place on disk that a cage may write.
//!
//! INVARIANT: none is the person's own. THREAT: P07, what a program in a cage puts there would be linked into what the person
//! builds.
//!
//! LIMIT: programs of later cages in the same service use what earlier ones left, as they do with `target` and
//! `node_modules`.
//!
//! LIMIT: cargo and Go know one place for packages. Once a job with a way out has brought some in, that place is ours, and what
//! only the person's own has is missing offline; a job with a way out brings it in again.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use vambrace_policy::{Job, JobCommand};

use crate::environment::Reach;
use crate::placeholder::open_service;

pub(crate) const FOLDER: &str = ".cage";

/// One cache.
struct Row {
    variable: &'static str,
    folder: &'static str,
    /// Set with it.
    further: &'static [(&'static str, &'static str)],
    made_for: Need,
    /// Without a way out it is used if one of these is in it: an attempt that brought nothing in must not hide the
    /// person's own packages. None are asked of a cache that hides nothing.
    filled: &'static [&'static str],
}

/// Which jobs a cache is made for. One that is there is used by every job, for these programs may be started by `make`.
enum Need {
    /// Go at work.
    Compiling,
    /// This program, with a way out.
    Fetching(&'static str),
}

const ROWS: [Row; 3] = [
    Row { variable: "GOCACHE", folder: "go-build", further: &[], made_for: Need::Compiling, filled: &[] },
    Row {
        variable: "GOMODCACHE",
        folder: "go-mod",
        // Folders that nobody may write stand in the way of whoever cleans up.
        further: &[("GOFLAGS", "-modcacherw")],
        made_for: Need::Fetching("go"),
        filled: &["go-mod/cache/download"],
    },
    // The programs of the person's own CARGO_HOME are on the path, and toolchains have a home of their own.
    Row {
        variable: "CARGO_HOME",
        folder: "cargo",
        further: &[],
        made_for: Need::Fetching("cargo"),
        filled: &["cargo/registry/cache", "cargo/git/db"],
    },
];

/// For git, as other caches in projects have it. git does not show what hides itself.
const IGNORE: (&str, &[u8]) =
    (".gitignore", b"# Caches of programs that ran in a cage; may be deleted.\n*\n");

/// Those that compile; `go version` and `go list` shall leave no trace.
const COMPILING: [&str; 6] = ["test", "vet", "build", "run", "install", "generate"];

/// The variables by which programs of this job find their caches, which are made if need be. What is not named stays where
/// it is without us.
pub(crate) fn of(job: &Job, reach: &Reach, workspace: &Path, service: &Path) -> Vec<(String, String)> {
    let is_online = match reach {
        Reach::Nothing => false,
        Reach::Machine | Reach::Proxy { .. } => true,
    };
    let is_needed = |row: &Row| match row.made_for {
        Need::Compiling => compiles_go(job),
        Need::Fetching(program) => is_online && job.programs().any(|name| name == program),
    };
    // Mostly there is none, which one call tells.
    if !ROWS.iter().any(is_needed) && std::fs::symlink_metadata(service.join(FOLDER)).is_err() {
        return Vec::new();
    }
    let Ok(top) = open_service(service, workspace) else { return Vec::new() };
    let mut variables = Vec::new();
    for row in &ROWS {
        if is_needed(row) && make(&top, row.folder).is_err() {
            continue;
        }
        let place = service.join(FOLDER).join(row.folder);
        if let Some(place) = place.to_str().filter(|_| is_usable(&top, row, is_online)) {
            variables.push((row.variable.to_owned(), place.to_owned()));
            variables
                .extend(row.further.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        }
    }
    variables
}

fn is_usable(top: &OwnedFd, row: &Row, is_online: bool) -> bool {
    let Ok(folder) = folder(top, FOLDER) else { return false };
    let is_folder = |path: &str| {
        let found = rustix::fs::statat(&folder, path, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    };
    let is_filled = row.filled.is_empty() || row.filled.iter().any(|path| is_folder(path));
    is_folder(row.folder) && (is_online || is_filled)
}

fn compiles_go(job: &Job) -> bool {
    let commands = job.steps.iter().flat_map(|step| step.pipeline.iter());
    commands.into_iter().any(|command| match command {
        JobCommand::Enter(_) => false,
        JobCommand::Run(run) => {
            let what = run.arguments.first().map(String::as_str).unwrap_or_default();
            run.program == "go" && COMPILING.contains(&what)
        }
    })
}

/// No link is followed: programs in other cages may be changing the folder. THREAT: P07.
fn make(top: &OwnedFd, name: &str) -> io::Result<()> {
    let made = make_folder(top, FOLDER)?;
    let folder = folder(top, FOLDER)?;
    if made {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, IGNORE.0, flags, Mode::from_raw_mode(0o644))?;
        File::from(file).write_all(IGNORE.1)?;
    }
    make_folder(&folder, name)?;
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

    fn online() -> Reach {
        Reach::Proxy { authorities: crate::environment::Authorities::System, further: Vec::new() }
    }

    /// Which caches a line finds or makes in a service with these folders and links.
    #[track_caller]
    fn check(folders: &[&str], links: &[(&str, &str)], reach: &Reach, line: &str, expected: &[&str]) {
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
        let found = of(&job, reach, &workspace, &service);
        let short = |value: &str| value.replace(&format!("{}/", service.join(FOLDER).display()), "");
        let found: Vec<String> =
            found.iter().map(|(name, value)| format!("{name}={}", short(value))).collect();
        assert_eq!(found, expected, "{line} {reach:?} {folders:?} {links:?}");
        assert_eq!(std::fs::read_dir(workspace.join("elsewhere")).unwrap().count(), 0, "{line} {links:?}");
    }

    const GO_BUILD: &str = "GOCACHE=go-build";
    const CARGO: &str = "CARGO_HOME=cargo";

    #[test]
    fn it_is_made_for_go_and_through_no_link() {
        let alone = |folders, links, line, is_there: bool| {
            let expected: &[&str] = if is_there { &[GO_BUILD] } else { &[] };
            check(folders, links, &Reach::Nothing, line, expected);
        };
        alone(&[], &[], "go test ./...", true);
        alone(&[], &[], "go vet ./...", true);
        alone(&[], &[], "go version", false);
        alone(&[], &[], "make test", false);
        alone(&["svc/.cage/go-build"], &[], "make test", true);
        alone(&["svc/.cage"], &[], "make test", false);
        alone(&["svc/.cage"], &[], "go test", true);
        alone(&[], &[("svc/.cage", "elsewhere")], "go test", false);
        alone(&["svc/.cage"], &[("svc/.cage/go-build", "elsewhere")], "go test", false);
        alone(&[], &[("svc/.cage", "missing")], "go test", false);
    }

    #[test]
    fn packages_are_brought_in_with_a_way_out_and_used_without() {
        let modules = ["GOMODCACHE=go-mod", "GOFLAGS=-modcacherw"];
        check(&[], &[], &online(), "cargo fetch --locked", &[CARGO]);
        check(&[], &[], &online(), "npm ci", &[]);
        check(&[], &[], &online(), "go mod download", &modules);
        check(&[], &[], &online(), "go build", &[&[GO_BUILD], modules.as_slice()].concat());
        check(&[], &[], &Reach::Machine, "cargo fetch", &[CARGO]);
        check(&[], &[], &Reach::Nothing, "cargo build", &[]);
        // Made by an attempt that brought nothing in.
        check(&["svc/.cage/cargo/registry/index"], &[], &Reach::Nothing, "cargo build", &[]);
        check(&["svc/.cage/cargo/registry/cache"], &[], &Reach::Nothing, "cargo build", &[CARGO]);
        check(&["svc/.cage/cargo/git/db"], &[], &Reach::Nothing, "make", &[CARGO]);
        check(&["svc/.cage/go-mod/cache/download"], &[], &Reach::Nothing, "make", &modules);
        check(&["svc/.cage/go-mod/cache"], &[], &Reach::Nothing, "make", &[]);
        check(&[], &[("svc/.cage", "elsewhere")], &online(), "cargo fetch", &[]);
        check(&["svc/.cage"], &[("svc/.cage/cargo", "elsewhere")], &online(), "cargo fetch", &[]);
    }

    #[test]
    fn git_does_not_see_it() {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().canonicalize().unwrap();
        let job = Job::program("go", vec!["test".to_owned()], top());
        for _ in 0..2 {
            assert_eq!(of(&job, &Reach::Nothing, &workspace, &workspace).len(), 1);
        }
        let ignore = std::fs::read_to_string(workspace.join(".cage/.gitignore")).unwrap();
        assert!(ignore.ends_with("\n*\n"), "{ignore}");
    }
}

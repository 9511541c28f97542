//! What installs brought in. It would be gone with the cage, and in the service it would have to be left out of
//! what protects names there: packages ship `.vscode`, `.cargo/config.toml` and the like. So it lies in our own
//! state, a folder for each service, of which a cage shows no more than that, at its own place.
//!
//! INVARIANT: none is the person's own, and only a job that is nothing but a download can write it. THREAT: P07,
//! any other program could put a repository there whose settings start something, and lead a person to it by a link
//! in the service.
//!
//! LIMIT: cargo and Go know one place for packages. Once something was brought in, that place is ours, and what
//! only the person's own has is missing offline; `install_dependencies` brings it in again. Other jobs with a way
//! out bring in nothing.
//!
//! LIMIT: a download runs with the person's default toolchain, whatever a `rust-toolchain.toml` says: one that names
//! a folder of the service would have rustup start the cargo found there. Where rustup starts cargo and that default
//! is not known, nothing can be written.

mod unpacked;

use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};
use vambrace_policy::Job;
use vambrace_policy::command::Command;

use crate::surroundings::check_place;

const FOLDER: &str = "fetched";

/// What a cage shows of it, and how programs find it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fetched {
    pub(crate) shown: Vec<Shown>,
    pub(crate) variables: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Without links.
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Whether the job has a way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Up,
    Down,
}

/// Which toolchain rustup is to start, whatever the project says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rustup<'n> {
    Default(&'n str),
    /// It starts cargo, and what it would start cannot be told.
    Unknown,
    Absent,
}

/// One package manager.
struct Row {
    variable: &'static str,
    folder: &'static str,
    /// The command that downloads and runs no code of packages.
    download: &'static [&'static str],
    /// Arguments that it may have besides.
    harmless: &'static [&'static str],
    /// Set for it.
    further: &'static [(&'static str, &'static str)],
    /// Started by rustup, where there is one.
    by_rustup: bool,
    /// Where packages are unpacked; elsewhere a repository is the program's own.
    unpacked: &'static str,
    /// Read if one of these is there: an attempt that brought nothing in must not hide the person's own packages.
    filled: &'static [&'static str],
}

const ROWS: [Row; 2] = [
    // The programs of the person's own CARGO_HOME are on the path, and toolchains have a home of their own.
    Row {
        variable: "CARGO_HOME",
        folder: "cargo",
        download: &["cargo", "fetch"],
        // `--config` could name a program.
        harmless: &["--locked"],
        // Nor may the project's settings name one that is asked for the compiler's version.
        further: &[("RUSTC", "rustc"), ("RUSTC_WRAPPER", ""), ("RUSTC_WORKSPACE_WRAPPER", "")],
        by_rustup: true,
        unpacked: "registry/src",
        filled: &["registry/cache", "git/db"],
    },
    Row {
        variable: "GOMODCACHE",
        folder: "go-mod",
        download: &["go", "mod", "download"],
        harmless: &[],
        // Folders that nobody may write stand in the way of whoever cleans up.
        further: &[("GOFLAGS", "-modcacherw")],
        by_rustup: false,
        unpacked: "",
        filled: &["cache/download"],
    },
];

/// For this job, made if it downloads. What is not named stays where it is without us.
pub(crate) fn of(job: &Job, line: Line, rustup: Rustup<'_>, state: &Path, service: &Path) -> Fetched {
    let access = |row: &Row| match line {
        // THREAT: P07, `[toolchain] path` of a `rust-toolchain.toml` names any folder of the service.
        Line::Up if row.by_rustup && rustup == Rustup::Unknown => Access::Read,
        Line::Up if downloads(job, row) => Access::Write,
        Line::Up | Line::Down => Access::Read,
    };
    let mut found = Fetched::default();
    // Mostly there is none, which one call tells.
    let is_needed = ROWS.iter().any(|row| access(row) == Access::Write);
    if !is_needed && std::fs::symlink_metadata(state.join(FOLDER)).is_err() {
        return found;
    }
    for row in &ROWS {
        let access = access(row);
        let Ok(path) = place(row, access, state, service) else { continue };
        let Some(text) = path.to_str() else { continue };
        found.variables.push((row.variable.to_owned(), text.to_owned()));
        if access == Access::Write {
            let further = row.further.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            found.variables.extend(further);
            if let (true, Rustup::Default(name)) = (row.by_rustup, rustup) {
                found.variables.push(("RUSTUP_TOOLCHAIN".to_owned(), name.to_owned()));
            }
        }
        found.shown.push(Shown { path, access });
    }
    found
}

/// After a job that could write it. What cannot be looked through is removed with all that was brought in for
/// the service; the error says so.
pub(crate) fn clean(fetched: &Fetched) -> Result<(), String> {
    clean_within(fetched, unpacked::BOUNDS)
}

fn clean_within(fetched: &Fetched, bounds: unpacked::Bounds) -> Result<(), String> {
    for Shown { path, .. } in fetched.shown.iter().filter(|shown| shown.access == Access::Write) {
        let Some(row) = ROWS.iter().find(|row| path.ends_with(row.folder)) else { continue };
        let Err(why) = unpacked::remove_repositories(path, row.unpacked, bounds) else { continue };
        let own = path.parent().and_then(|own| Some((own.parent()?, own.file_name()?.to_str()?)));
        let removed = own.map_or(Ok(()), |(above, name)| unpacked::remove_whole(above, name));
        let end = match removed {
            Ok(()) => "so all that was fetched for this service was removed".to_owned(),
            Err(error) => format!("and `{}` could not be removed: {error}", path.display()),
        };
        return Err(format!("what it fetched could not be searched for repositories ({why}), {end}"));
    }
    Ok(())
}

/// The job is this one command.
fn downloads(job: &Job, row: &Row) -> bool {
    let mut commands = job.plan.commands();
    let (Some(Command::Run(run)), None) = (commands.next(), commands.next()) else { return false };
    let mut words = run.words.iter().map(String::as_str);
    let is_download = row.download.iter().all(|word| words.next() == Some(word));
    is_download && run.redirects.is_empty() && words.all(|word| row.harmless.contains(&word))
}

fn place(row: &Row, access: Access, state: &Path, service: &Path) -> io::Result<PathBuf> {
    if access == Access::Write {
        DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    }
    let mut path = std::fs::canonicalize(state)?;
    // Where a cage has something of its own, nothing of the machine can be shown.
    check_place(&path).map_err(|error| io::Error::other(error.to_string()))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open(&path, flags, Mode::empty())?;
    for name in [FOLDER, &id(service), row.folder] {
        if access == Access::Write {
            match rustix::fs::mkdirat(&folder, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        folder = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
        check_own(&folder)?;
        path.push(name);
    }
    match access {
        Access::Read if !row.filled.iter().any(|name| is_folder(&folder, name)) => {
            Err(io::ErrorKind::NotFound.into())
        }
        Access::Read | Access::Write => Ok(path),
    }
}

/// THREAT: P07, another user who put a folder here would choose what later builds are made of.
fn check_own(folder: &OwnedFd) -> io::Result<()> {
    const OTHERS_WRITE: u32 = 0o022;
    let found = rustix::fs::fstat(folder)?;
    let is_ours = found.st_uid == rustix::process::geteuid().as_raw();
    let is_closed = found.st_mode & OTHERS_WRITE == 0;
    if is_ours && is_closed { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

fn is_folder(above: &OwnedFd, name: &str) -> bool {
    let found = rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

/// Half of the digest is enough to tell paths apart, and is kinder to programs with long paths of their own.
fn id(service: &Path) -> String {
    const N_BYTES: usize = 16;
    let digest = Sha256::digest(service.as_os_str().as_bytes());
    digest.iter().take(N_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;

//! Text that people wrote and that holds no secrets: the sources of our own dependencies, lock files and build logs, as
//! this machine has them. Each belongs to the half that rules may be tuned on, or to the half that nobody looks at.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::failure::Failure;
use crate::peers;
use crate::place::Place;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Tuning,
    HeldOut,
}

impl Half {
    /// By the name alone, so that a text stays in its half for good.
    pub(super) fn of(name: &str) -> Half {
        if fnv(name.as_bytes()).is_multiple_of(2) { Half::Tuning } else { Half::HeldOut }
    }
}

/// FNV-1a of 64 bits.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    Source,
    Lock,
    Log,
}

pub(super) struct CleanText {
    pub(super) path: PathBuf,
    pub(super) half: Half,
    pub(super) sort: Sort,
    pub(super) bytes: Vec<u8>,
}

/// A crate we depend on, unpacked.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) folder: PathBuf,
}

/// What `Cargo.lock` names and cargo has unpacked here, in the lock's order.
pub(super) fn packages(place: &Place) -> Result<Vec<Package>, Failure> {
    let lock = place.root.join("Cargo.lock");
    let text = fs::read_to_string(&lock).map_err(Failure::disk(&lock))?;
    let registries = registries();
    let unpacked = |(name, version): (String, String)| {
        let folder = |registry: &PathBuf| registry.join(format!("{name}-{version}"));
        let folder = registries.iter().map(folder).find(|folder| folder.is_dir())?;
        Some(Package { name, folder })
    };
    let packages: Vec<Package> = locked(&text).into_iter().filter_map(unpacked).collect();
    if packages.is_empty() {
        return Err(Failure::new("cargo has unpacked no dependency here", "Run `cargo fetch`."));
    }
    Ok(packages)
}

/// Names and versions of what comes from a registry.
fn locked(lock: &str) -> Vec<(String, String)> {
    let entry = |block: &str| {
        let value = |key: &str| {
            block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
        };
        value("source")?;
        Some((value("name")?.to_owned(), value("version")?.to_owned()))
    };
    lock.split("[[package]]").filter_map(entry).collect()
}

fn registries() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home).unwrap_or_default();
    let folders = fs::read_dir(cargo.join("registry/src")).into_iter().flatten();
    let mut folders: Vec<PathBuf> = folders.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    folders
}

/// Everything beneath a package that is text, in the order of paths.
pub(super) fn texts(package: &Package) -> Vec<CleanText> {
    let half = Half::of(&package.name);
    let mut paths = Vec::new();
    gather(&package.folder, &mut paths);
    paths.sort();
    let text = |path: PathBuf| {
        let bytes = fs::read(&path).ok().filter(|bytes| is_text(bytes))?;
        let is_lock = path.extension().is_some_and(|ending| ending == "lock");
        Some(CleanText { path, half, sort: if is_lock { Sort::Lock } else { Sort::Source }, bytes })
    };
    paths.into_iter().filter_map(text).collect()
}

fn gather(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => gather(&entry.path(), paths),
            Ok(kind) if kind.is_file() => paths.push(entry.path()),
            _ => {}
        }
    }
}

fn is_text(bytes: &[u8]) -> bool {
    !bytes.is_empty() && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

/// The lock files of this repository.
pub(super) fn locks(place: &Place) -> Vec<CleanText> {
    let names = [
        "Cargo.lock",
        "bench/tools/package-lock.json",
        "bench/tools/cages/package-lock.json",
        "bench/tools/fetch/requirements.txt",
        "bench/tools/scanners/requirements.txt",
    ];
    let lock = |name: &str| {
        let path = place.root.join(name);
        let bytes = fs::read(&path).ok()?;
        Some(CleanText { path, half: Half::of(name), sort: Sort::Lock, bytes })
    };
    names.into_iter().filter_map(lock).collect()
}

/// Lines in one piece of a log; a log is one text, but half of its pieces are not looked at.
const PIECE: usize = 500;

/// What cargo says when it builds us and is asked to say everything, and what build scripts said. Kept among the data as
/// files, for those who scan files.
pub(super) fn logs(place: &Place) -> Result<Vec<CleanText>, Failure> {
    let mut command = peers::cargo(place);
    command.args(["build", "--release", "--package", "vambrace", "--verbose"]);
    command.args(["--color", "never"]).env("CARGO_LOG", "cargo=debug").stdin(Stdio::null());
    let said = command.output().map_err(Failure::start("cargo"))?;
    let mut logs = vec![("cargo".to_owned(), String::from_utf8_lossy(&said.stderr).into_owned())];
    let built = place.vambrace.with_file_name("build");
    let mut paths = Vec::new();
    gather(&built, &mut paths);
    paths.retain(|path| path.file_name().is_some_and(|name| name == "output" || name == "stderr"));
    paths.sort();
    for path in paths {
        let name = path.parent().and_then(Path::file_name).unwrap_or_default();
        let name = format!("{}-{}", name.display(), path.file_name().unwrap_or_default().display());
        logs.push((name, String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned()));
    }
    let folder = place.fresh("redact-logs")?;
    let mut texts = Vec::new();
    for (name, log) in logs {
        let lines: Vec<&str> = log.split_inclusive('\n').collect();
        for (number, piece) in lines.chunks(PIECE).enumerate() {
            let name = format!("{name}-{number}.log");
            let path = folder.join(&name);
            let bytes = piece.concat().into_bytes();
            fs::write(&path, &bytes).map_err(Failure::disk(&path))?;
            texts.push(CleanText { path, half: Half::of(&name), sort: Sort::Log, bytes });
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_known_one() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn only_what_comes_from_a_registry_is_a_dependency() {
        let lock = "version = 4\n\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"memchr\"\n\
                    version = \"2.8.3\"\nsource = \"registry\"\nchecksum = \"0\"\n";
        assert_eq!(locked(lock), [("memchr".to_owned(), "2.8.3".to_owned())]);
    }
}

//! From a program's name to one file that the agent cannot have written. It knows nothing of rules: whether a name may
//! be started was decided before.
//!
//! INVARIANT: what is found here is what is executed; the cell compares device and inode before it starts anything.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use crate::order::ProgramFile;

/// Folders that are searched in this order, and the folders whose content is nobody's word.
#[derive(Debug, Clone)]
pub(crate) struct TrustedPath {
    folders: Vec<PathBuf>,
    writable: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// As it is called in the trusted folder, before links are followed.
    pub(crate) path: PathBuf,
    pub(crate) file: ProgramFile,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LookupError {
    NotInstalled { program: String },
    Untrusted { program: String, why: String },
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Specification 000 fixes this text.
            LookupError::NotInstalled { program } => write!(f, "binary \"{program}\" not found on system"),
            LookupError::Untrusted { program, why } => {
                write!(f, "The program `{program}` is not started, because {why}.")
            }
        }
    }
}

impl TrustedPath {
    /// Both lists are taken as they are and as the kernel resolves them, so that a link hides neither.
    pub(crate) fn new(folders: Vec<PathBuf>, writable_roots: Vec<PathBuf>) -> TrustedPath {
        let mut writable = Vec::new();
        for root in writable_roots {
            writable.extend(std::fs::canonicalize(&root).ok().filter(|real| *real != root));
            writable.push(root);
        }
        TrustedPath { folders, writable }
    }

    /// The first trusted folder that holds an executable file of this name decides, as for `execvp`; if that one is
    /// not to be trusted, a later one is not tried, because it would be another program than the person means.
    pub(crate) fn find(&self, program: &str) -> Result<Found, LookupError> {
        let missing = || LookupError::NotInstalled { program: program.to_owned() };
        if program.is_empty() || program == "." || program == ".." || program.contains('\0') {
            return Err(missing());
        }
        let candidates: Vec<PathBuf> = if program.contains('/') {
            vec![self.absolute(program)?]
        } else {
            self.folders.iter().map(|folder| folder.join(program)).collect()
        };
        for path in candidates {
            // Most folders do not have it, which one call tells; following links takes several.
            if rustix::fs::lstat(&path).is_err() {
                continue;
            }
            let Ok(canonical) = std::fs::canonicalize(&path) else { continue };
            let Ok(metadata) = std::fs::metadata(&canonical) else { continue };
            if !metadata.is_file() || metadata.mode() & 0o111 == 0 {
                continue;
            }
            let untrusted = |why| LookupError::Untrusted { program: program.to_owned(), why };
            self.judge(&path, &canonical).map_err(untrusted)?;
            let file = ProgramFile { path: canonical, device: metadata.dev(), inode: metadata.ino() };
            return Ok(Found { path, file });
        }
        Err(missing())
    }

    /// A path is accepted when it names something inside a trusted folder, by its spelling.
    fn absolute(&self, program: &str) -> Result<PathBuf, LookupError> {
        let path = Path::new(program);
        let plain = path.is_absolute()
            && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        if plain && self.folders.iter().any(|folder| path.parent() == Some(folder.as_path())) {
            return Ok(path.components().collect());
        }
        Err(LookupError::Untrusted {
            program: program.to_owned(),
            why: "a path is started only if it lies in a trusted folder; the name alone is looked up there"
                .to_owned(),
        })
    }

    /// THREAT: P06, a program planted in the workspace, or in any folder that others can write, under a trusted name.
    fn judge(&self, path: &Path, canonical: &Path) -> Result<(), String> {
        let own = rustix::process::getuid().as_raw();
        let mut seen: BTreeMap<PathBuf, ()> = BTreeMap::new();
        for start in [path, canonical] {
            if self.writable.iter().any(|root| start.starts_with(root)) {
                return Err("it lies in a folder that programs may write".to_owned());
            }
            // The links on the way lie in folders too, and who can replace a link chooses the program.
            for part in start.ancestors() {
                if seen.insert(part.to_owned(), ()).is_some() {
                    continue;
                }
                let metadata =
                    std::fs::metadata(part).map_err(|error| format!("it cannot be examined: {error}"))?;
                let sticky = metadata.is_dir() && metadata.mode() & 0o1000 != 0;
                if metadata.mode() & 0o002 != 0 && !sticky {
                    return Err("everyone may write it or a folder that it lies in".to_owned());
                }
                // In a user namespace the kernel shows unmapped owners as `nobody`: nobody is not trusted.
                if metadata.uid() != 0 && metadata.uid() != own {
                    return Err("it belongs to another user".to_owned());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    struct Place {
        _root: tempfile::TempDir,
        base: PathBuf,
    }

    /// Trusted `bin`, a link farm `links`, a workspace `work`.
    fn place() -> Place {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        for folder in ["bin", "real", "work", "open", "sticky"] {
            std::fs::create_dir(base.join(folder)).unwrap();
        }
        Place { _root: root, base }
    }

    fn program(path: &Path, mode: u32) {
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[track_caller]
    fn check(place: &Place, name: &str, expected: Result<&str, &str>) {
        let folders = ["bin", "open", "sticky"].map(|folder| place.base.join(folder)).to_vec();
        let trusted = TrustedPath::new(folders, vec![place.base.join("work")]);
        let found = trusted.find(name).map(|found| found.file.path).map_err(|error| error.to_string());
        match (found, expected) {
            (Ok(path), Ok(expected)) => assert_eq!(path, place.base.join(expected), "{name}"),
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{name}: {error}"),
            (found, expected) => panic!("{name}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn a_name_is_one_trusted_file_or_a_reason() {
        let place = place();
        let at = |name: &str| place.base.join(name);
        program(&at("bin/tool"), 0o755);
        program(&at("bin/data"), 0o644);
        program(&at("bin/anyone"), 0o757);
        program(&at("work/evil"), 0o755);
        program(&at("real/editor"), 0o755);
        program(&at("open/loose"), 0o755);
        program(&at("sticky/shared"), 0o755);
        std::fs::create_dir(at("bin/folder")).unwrap();
        symlink(at("real/editor"), at("bin/vi")).unwrap();
        symlink("../work/evil", at("bin/evil")).unwrap();
        std::fs::set_permissions(at("open"), std::fs::Permissions::from_mode(0o777)).unwrap();
        std::fs::set_permissions(at("sticky"), std::fs::Permissions::from_mode(0o1777)).unwrap();
        check(&place, "tool", Ok("bin/tool"));
        check(&place, "vi", Ok("real/editor")); // as /etc/alternatives does it
        check(&place, "data", Err("binary \"data\" not found on system"));
        check(&place, "folder", Err("not found on system"));
        check(&place, "", Err("not found on system"));
        check(&place, "..", Err("not found on system"));
        check(&place, "anyone", Err("everyone may write"));
        check(&place, "evil", Err("programs may write"));
        check(&place, "loose", Err("everyone may write"));
        check(&place, "shared", Ok("sticky/shared")); // the sticky bit keeps others from replacing it
        check(&place, "./tool", Err("a path is started only if"));
        check(&place, at("bin/tool").to_str().unwrap(), Ok("bin/tool"));
        check(&place, at("bin/../work/evil").to_str().unwrap(), Err("a path is started only if"));
        check(&place, at("work/evil").to_str().unwrap(), Err("a path is started only if"));
    }

    #[test]
    fn texts_of_the_specification() {
        let missing = LookupError::NotInstalled { program: "custom-tool".to_owned() };
        assert_eq!(missing.to_string(), "binary \"custom-tool\" not found on system");
    }
}

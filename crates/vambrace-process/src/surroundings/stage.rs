//! `/etc` as a cage shows it, written once into a folder of ours: one mount instead of a file for each text in every cage.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::spec::Mount;

/// Where the staged folder is shown.
pub(crate) const FOLDER: &str = "/etc";

/// Writes texts and links into the folder, and makes a place there for everything that has to be mounted, `places` too.
/// What is left to mount comes back, the folder first.
pub(super) fn stage<'p>(
    mounts: &[Mount],
    places: impl Iterator<Item = &'p PathBuf>,
    folder: &Path,
) -> io::Result<Vec<Mount>> {
    let mut left = vec![Mount::ReadOnly { from: folder.to_owned(), at: PathBuf::from(FOLDER) }];
    for mount in mounts {
        match mount {
            Mount::Text { at, text } => fs::write(make_room(folder, at)?, text)?,
            Mount::Link { at, to } => std::os::unix::fs::symlink(to, make_room(folder, at)?)?,
            Mount::ReadOnly { from, at } => {
                make_place(folder, from, at)?;
                left.push(mount.clone());
            }
            other => left.push(other.clone()),
        }
    }
    for place in places.filter(|place| place.starts_with(FOLDER)) {
        make_place(folder, place, place)?;
    }
    Ok(left)
}

/// The path in the staged folder, with all above it made.
fn make_room(folder: &Path, at: &Path) -> io::Result<PathBuf> {
    let inside = at.strip_prefix(FOLDER).map_err(io::Error::other)?;
    let path = folder.join(inside);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(path)
}

fn make_place(folder: &Path, from: &Path, at: &Path) -> io::Result<()> {
    let path = make_room(folder, at)?;
    if fs::metadata(from)?.is_dir() {
        return fs::create_dir_all(path);
    }
    fs::OpenOptions::new().create(true).append(true).open(path).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_links_are_written_and_the_rest_gets_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| PathBuf::from(name);
        let read_only = |from: &str, to: &str| Mount::ReadOnly { from: at(from), at: at(to) };
        let mounts = [
            Mount::Text { at: at("/etc/passwd"), text: "me\n".to_owned() },
            Mount::Text { at: at("/etc/ssl/openssl.cnf"), text: "x".to_owned() },
            Mount::Link { at: at("/etc/localtime"), to: at("/usr/share/zone") },
            read_only("/usr", "/etc/ssl/certs"),
            read_only("/dev/null", "/etc/ld.so.cache"),
        ];
        let places = [at("/usr/share"), at("/etc/passwd")];
        let left = stage(&mounts, places.iter(), folder.path()).unwrap();
        let from = folder.path().to_owned();
        let first = Mount::ReadOnly { from: from.clone(), at: at("/etc") };
        assert_eq!(
            left,
            [first, read_only("/usr", "/etc/ssl/certs"), read_only("/dev/null", "/etc/ld.so.cache")]
        );
        assert_eq!(fs::read_to_string(from.join("passwd")).unwrap(), "me\n");
        assert_eq!(fs::read_link(from.join("localtime")).unwrap(), at("/usr/share/zone"));
        assert!(from.join("ssl/certs").is_dir() && from.join("ld.so.cache").is_file());
        assert!(!from.join("share").exists());
        assert!(stage(&[Mount::Text { at: at("/var/x"), text: String::new() }], [].iter(), &from).is_err());
    }
}

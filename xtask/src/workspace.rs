//! The tree as text: every file that a person might read, with its path from the root.
//!
//! It knows nothing about rules; the rules get a `Workspace` and never touch the disk, so that tests can make one
//! from a few lines.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Folders that hold no sources of ours, wherever they stand.
const SKIPPED_FOLDERS: [&str; 4] = [".git", "node_modules", "target", ".vambrace"];

/// LIMIT: a larger file is data, not source, and no rule looks at it.
const LONGEST_FILE: u64 = 4 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteMode {
    /// Compare what is generated with what is on disk.
    Check,
    Write,
}

#[derive(Debug, Clone)]
pub(crate) struct TextFile {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Tests, examples and the programs that must not compile may do what the product may not.
    pub(crate) fn is_test(&self) -> bool {
        let folder = |name: &str| self.path.split('/').any(|part| part == name);
        folder("tests")
            || folder("benches")
            || folder("examples")
            || folder("misuse")
            || folder("testdata")
            || self.path.ends_with("/tests.rs")
            || self.path.ends_with("/testing.rs")
    }

    /// `vambrace-files` for `crates/vambrace-files/src/open.rs`, `xtask` for `xtask/src/main.rs`.
    pub(crate) fn package(&self) -> Option<&str> {
        let mut parts = self.path.split('/');
        match parts.next()? {
            "crates" => parts.next(),
            top @ ("xtask" | "bench") => Some(top),
            _ => None,
        }
    }
}

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Sorted by path.
    pub(crate) files: Vec<TextFile>,
}

impl Workspace {
    pub(crate) fn read(root: PathBuf) -> Result<Workspace, Failure> {
        let mut files = Vec::new();
        collect(&root, "", &mut files).map_err(|problem| {
            Failure::new(format!("cannot read the tree: {problem}"), "Check the permissions of the folder.")
        })?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Workspace { root, files })
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    pub(crate) fn beneath<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a TextFile> {
        self.files.iter().filter(move |file| file.path.starts_with(prefix))
    }
}

/// Cargo says where the manifest of xtask is; its parent is the root.
pub(crate) fn find_root() -> Result<PathBuf, Failure> {
    std::env::var_os("CARGO_MANIFEST_DIR")
        .and_then(|folder| Path::new(&folder).parent().map(Path::to_path_buf))
        .ok_or_else(|| Failure::new("the workspace was not found", "Start this as `cargo xtask`."))
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<TextFile>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        // The entry's own type: a link is neither followed nor read.
        let kind = entry.file_type()?;
        if kind.is_dir() && !SKIPPED_FOLDERS.contains(&name.as_str()) {
            collect(&entry.path(), &path, files)?;
        } else if kind.is_file() && entry.metadata()?.len() <= LONGEST_FILE {
            // Not UTF-8 is not text.
            if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                files.push(TextFile { path, text });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, package: Option<&str>, test: bool) {
        let file = TextFile { path: path.to_owned(), text: String::new() };
        assert_eq!((file.package(), file.is_test()), (package, test), "{path}");
    }

    #[test]
    fn a_path_says_whose_it_is_and_whether_it_ships() {
        check("crates/vambrace-files/src/open.rs", Some("vambrace-files"), false);
        check("crates/vambrace-files/src/latest.rs", Some("vambrace-files"), false);
        check("crates/vambrace-files/src/open/tests.rs", Some("vambrace-files"), true);
        check("crates/vambrace-files/tests/it/main.rs", Some("vambrace-files"), true);
        check("xtask/misuse/01_permit_by_hand.rs", Some("xtask"), true);
        check("xtask/src/main.rs", Some("xtask"), false);
        check("README.md", None, false);
    }
}

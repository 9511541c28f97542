//! All that these tests do to a disk themselves, besides what the corridor does.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test makes and reads its own folders"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode};
use serde_json::Value;

/// What stands where: `file:text`, `link:target`, `directory` or `other`.
pub(crate) type Snapshot = BTreeMap<String, String>;

/// Makes the entries that a map of path and description names. A text is a file; an object is something else.
pub(crate) fn make(workspace: &Path, entries: &serde_json::Map<String, Value>) {
    fs::create_dir_all(workspace).unwrap();
    for (path, entry) in entries {
        make_one(&workspace.join(path), workspace, entry);
    }
}

fn make_one(path: &Path, workspace: &Path, entry: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    if let Some(content) = entry.as_str() {
        fs::write(path, content).unwrap();
    } else if let Some(target) = text("link") {
        symlink(target, path).unwrap();
    } else if let Some(other) = text("hard_link_to") {
        fs::hard_link(workspace.join(other), path).unwrap();
    } else if let Some(part) = text("repeat") {
        let times = usize::try_from(entry["times"].as_u64().unwrap()).unwrap();
        fs::write(path, part.repeat(times)).unwrap();
    } else if let Some(digits) = text("hex") {
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        fs::write(path, (0..digits.len()).step_by(2).map(byte).collect::<Vec<_>>()).unwrap();
    } else if entry.get("fifo").is_some() {
        rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    } else if entry.get("directory").is_some() {
        fs::create_dir_all(path).unwrap();
    } else {
        panic!("nothing known is like {entry}");
    }
}

/// Empties a folder; the folder itself stays, because somebody has it open.
pub(crate) fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match fs::symlink_metadata(&path).unwrap().is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
}

pub(crate) fn snapshot(folder: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    collect(folder, folder, &mut found);
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Snapshot) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The record's own thread replaces heads while we look; a file that is gone again was never ours to see.
        let Ok(kind) = fs::symlink_metadata(&path).map(|metadata| metadata.file_type()) else { continue };
        let shown = if kind.is_symlink() {
            format!("link:{}", fs::read_link(&path).unwrap().display())
        } else if kind.is_dir() {
            collect(root, &path, found);
            "directory".to_owned()
        } else if kind.is_file() {
            let Ok(bytes) = fs::read(&path) else { continue };
            format!("file:{}", String::from_utf8_lossy(&bytes))
        } else {
            "other".to_owned()
        };
        found.insert(path.strip_prefix(root).unwrap().display().to_string(), shown);
    }
}

/// Every byte of every file beneath a folder, for questions of the form "is it anywhere".
pub(crate) fn everything(folder: &Path) -> String {
    if !folder.is_dir() {
        return String::new();
    }
    snapshot(folder).into_iter().map(|(path, shown)| format!("{path}\n{shown}\n")).collect()
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The folders in it, in order of name.
pub(crate) fn folders(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

/// Takes the record's segments away and puts a file in their place: from now on no line can be written anywhere.
pub(crate) fn break_record(audit: &Path) {
    let segments = audit.join("segments");
    fs::rename(&segments, audit.join("segments.gone")).unwrap();
    for name in fs::read_dir(audit.join("segments.gone")).unwrap() {
        fs::remove_file(name.unwrap().path()).unwrap();
    }
    fs::write(segments, "not a folder").unwrap();
}

/// The other way round.
pub(crate) fn mend_record(audit: &Path) {
    fs::remove_file(audit.join("segments")).unwrap();
    fs::rename(audit.join("segments.gone"), audit.join("segments")).unwrap();
}

/// Holds the lock on a file as another process of the same convention would.
pub(crate) fn hold_lock(folder: &Path, name: &str) -> File {
    let file = File::create(folder.join(format!(".lock.{name}"))).unwrap();
    file.lock().unwrap();
    file
}

pub(crate) fn remove_lock(folder: &Path, name: &str) {
    fs::remove_file(folder.join(format!(".lock.{name}"))).unwrap();
}

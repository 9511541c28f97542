//! Listing folders, without following a link and without end.

use std::collections::BTreeMap;

use rustix::fs::{AtFlags, Dir, FileType};
use vambrace_policy::{Access, ListFiles};
use vambrace_types::ScopedPath;

use crate::open::Opener;
use crate::{Deadline, FilesError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    Other,
}

impl EntryKind {
    pub fn as_str(self) -> &'static str {
        match self {
            EntryKind::File => "file",
            EntryKind::Folder => "directory",
            EntryKind::Link => "symlink",
            EntryKind::Other => "other",
        }
    }

    pub(crate) fn of(kind: FileType) -> EntryKind {
        match kind {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => EntryKind::Other,
        }
    }
}

#[derive(Debug)]
pub struct Entry {
    /// As an agent would write it; bytes that are not UTF-8 are shown as replacement characters.
    pub path: String,
    pub kind: EntryKind,
    pub bytes: u64,
    /// In a blocked zone: it is named, and never opened or entered.
    pub blocked: bool,
}

#[derive(Debug)]
pub struct Listing {
    pub entries: Vec<Entry>,
    /// More entries exist than were looked at: too many, too deep, or in a folder that could not be read.
    pub truncated: bool,
}

/// LIMIT: enough for any folder a person looks at; a larger answer helps nobody and costs memory.
const MOST_ENTRIES: usize = 100_000;
const DEEPEST: usize = 256;

pub(crate) fn list(
    opener: Opener<'_>,
    action: &ListFiles,
    deadline: &Deadline,
) -> Result<Listing, FilesError> {
    let mut entries = BTreeMap::new();
    let (mut full, mut cut) = (false, false);
    let mut waiting = vec![action.path.clone()];
    while let Some(folder) = waiting.pop() {
        let found = match read_folder(opener, &folder, deadline) {
            Ok(found) => found,
            // Beneath the one that was asked for, a folder may vanish or be unreadable; it is still named above.
            Err(FilesError::Stopped) => return Err(FilesError::Stopped),
            Err(FilesError::NotFound { .. }) if folder != action.path => continue,
            // Unreadable, or too deep for the kernel: like the limit below, it is a cut, and it is said.
            Err(_) if folder != action.path => {
                cut = true;
                continue;
            }
            Err(error) => return Err(error),
        };
        full |= found.truncated;
        for (sort_key, entry, path) in found.entries {
            if entries.len() >= MOST_ENTRIES {
                full = true;
                break;
            }
            let enter = action.recursive && entry.kind == EntryKind::Folder && !entry.blocked;
            match path.filter(|_| enter) {
                Some(path) if path.components().len() <= DEEPEST => waiting.push(path),
                Some(_) => cut = true,
                None => {}
            }
            entries.insert(sort_key, entry);
        }
        if full {
            break;
        }
    }
    Ok(Listing { entries: entries.into_values().collect(), truncated: full || cut })
}

struct Found {
    entries: Vec<(Vec<u8>, Entry, Option<ScopedPath>)>,
    truncated: bool,
}

fn read_folder(opener: Opener<'_>, folder: &ScopedPath, deadline: &Deadline) -> Result<Found, FilesError> {
    let spelled = opener.spelled(folder);
    let os = |errno| FilesError::os(&spelled, "list", errno);
    let opened = opener.folder(folder, Access::Read)?;
    let mut found = Found { entries: Vec::new(), truncated: false };
    for (n_seen, item) in Dir::read_from(&opened.handle).map_err(os)?.enumerate() {
        if n_seen % 512 == 0 && deadline.is_over() {
            return Err(FilesError::Stopped);
        }
        let item = item.map_err(os)?;
        let name = item.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if found.entries.len() >= MOST_ENTRIES {
            found.truncated = true;
            break;
        }
        let Ok(stat) = rustix::fs::statat(&opened.handle, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let shown = name.to_string_lossy();
        let path = name.to_str().ok().and_then(|name| folder.join(name));
        let blocked = path.as_ref().is_some_and(|path| opener.judge(path, Access::Read).is_err());
        let text = path.as_ref().map_or_else(|| format!("{spelled}/{shown}"), |path| opener.spelled(path));
        let kind = EntryKind::of(FileType::from_raw_mode(stat.st_mode));
        let bytes = match kind {
            EntryKind::File if !blocked => u64::try_from(stat.st_size).unwrap_or(0),
            EntryKind::File | EntryKind::Folder | EntryKind::Link | EntryKind::Other => 0,
        };
        // NUL sorts before every name, so a folder stands before what is in it.
        let sort_key = [text.as_bytes(), b"\0", name.to_bytes()].concat();
        found.entries.push((sort_key, Entry { path: text, kind, bytes, blocked }, path));
    }
    Ok(found)
}

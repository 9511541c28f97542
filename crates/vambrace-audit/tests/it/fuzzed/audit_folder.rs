//! What must hold for the readers of the audit log, whatever was done to its files. Also used by the fuzz target of the
//! same name.
//!
//! An input is a row of edits: which file, where in it, how many bytes go, how many come, and those bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;
use vambrace_audit::{Filter, View, alerts, export, list, stopped, verify};

use crate::support::{call, clock, denied, intent, open, write_calls};

const MOST_EDITS: usize = 16;

/// The files of a folder with two sealed segments and an alert.
struct Pristine {
    files: Vec<PathBuf>,
    contents: Vec<Vec<u8>>,
}

fn temporary() -> Result<TempDir, String> {
    let memory = TempDir::new_in("/dev/shm");
    memory.or_else(|_| TempDir::new()).map_err(|error| error.to_string())
}

fn files_of(folder: &Path, beneath: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder.join(beneath)).unwrap() {
        let entry = entry.unwrap();
        let name = beneath.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => files_of(folder, &name, found),
            false => found.push(name),
        }
    }
    found.sort();
}

fn make() -> Result<Pristine, String> {
    let folder = temporary()?;
    let clock = clock();
    let first = open(folder.path(), &clock);
    clock.pass(1);
    let second = open(folder.path(), &clock);
    write_calls(&first, 0..3);
    for number in 3..12 {
        let call = call(number, "agent");
        let _intent = second.intent(&call, &intent()).wait().map_err(|error| error.to_string())?;
        let refused = denied(vambrace_audit::ViolationKind::Scope);
        let _receipt = second.outcome(&call, &refused).wait().map_err(|error| error.to_string())?;
    }
    drop((first, second));
    let mut files = Vec::new();
    files_of(folder.path(), Path::new(""), &mut files);
    // Locks, and the key that only a writer reads.
    files.retain(|file| file.extension().is_some_and(|ending| ending != "key" && ending != "lock"));
    let read = |file: &PathBuf| fs::read(folder.path().join(file)).map_err(|error| error.to_string());
    let contents = files.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Pristine { files, contents })
}

fn pristine() -> Result<&'static Pristine, String> {
    static PRISTINE: OnceLock<Result<Pristine, String>> = OnceLock::new();
    PRISTINE.get_or_init(make).as_ref().map_err(Clone::clone)
}

/// What was edited, as far as `verify` is asked about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edited {
    Nothing,
    /// Signed heads and the public key: another spelling of the same is no change.
    Signatures,
    /// Records: every byte is chained.
    Records,
}

fn kind(file: &Path) -> Edited {
    let is_record = file.extension().is_some_and(|ending| ending == "jsonl");
    match (file.starts_with("segments") || file.starts_with("segments.jsonl"), is_record) {
        (true, true) => Edited::Records,
        (true, false) => Edited::Signatures,
        (false, _) if file.starts_with("audit.pub") || file.starts_with("segments.head") => {
            Edited::Signatures
        }
        (false, _) => Edited::Nothing,
    }
}

struct Edits<'a>(&'a [u8]);

impl<'a> Edits<'a> {
    fn byte(&mut self) -> Option<usize> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(usize::from(*first))
    }

    fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// Copies the folder, edits it as the input says, and tells the gravest of what is another than before.
fn edited(pristine: &Pristine, input: &[u8], folder: &Path) -> Result<Edited, String> {
    let mut contents = pristine.contents.clone();
    let mut edits = Edits(input);
    for _ in 0..MOST_EDITS {
        let (Some(file), Some(high), Some(low)) = (edits.byte(), edits.byte(), edits.byte()) else { break };
        let (Some(goes), Some(comes)) = (edits.byte(), edits.byte()) else { break };
        let comes = edits.bytes(comes);
        let place = file % contents.len().max(1);
        if let Some(content) = contents.get_mut(place) {
            let start = (high * 256 + low).min(content.len());
            let end = (start + goes).min(content.len());
            content.splice(start..end, comes.iter().copied());
        }
    }
    let mut gravest = Edited::Nothing;
    for ((file, content), original) in pristine.files.iter().zip(&contents).zip(&pristine.contents) {
        let path = folder.join(file);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| error.to_string())?;
        }
        fs::write(path, content).map_err(|error| error.to_string())?;
        if content != original {
            gravest = gravest.max(kind(file));
        }
    }
    Ok(gravest)
}

/// No reader panics, and `verify` sees every change of a record; an unfinished last line is a note, as after a crash.
pub(crate) fn check(input: &[u8]) -> Result<(), String> {
    let pristine = pristine()?;
    let folder = temporary()?;
    let edited = edited(pristine, input, folder.path())?;
    let _ = list(folder.path(), &Filter::default());
    let _ = alerts(folder.path());
    let _ = stopped(folder.path());
    for view in [View::Full, View::Seed001, View::Seed002, View::Seed004] {
        let _ = export(folder.path(), view, &mut Vec::new());
    }
    match verify(folder.path()) {
        Ok(report) if edited == Edited::Records && report.broken.is_none() && report.notes.is_empty() => {
            Err(format!("a change was not seen: {report:?}"))
        }
        Ok(report) if edited == Edited::Nothing && report.broken.is_some() => {
            Err(format!("nothing of the chain was changed: {report:?}"))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

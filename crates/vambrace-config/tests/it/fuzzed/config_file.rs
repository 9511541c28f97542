//! What must hold for every configuration file. Also used by the fuzz target of the same name, so it knows only the
//! public face.
//!
//! The first byte says whose file it is and in which format; the rest is the file.

use std::fs;

use vambrace_config::{Sources, load, show};

const NAMES: [&str; 4] = ["vambrace.yaml", "vambrace.json", "vambrace.json5", "vambrace.toml"];
/// Larger files only make a search slow.
const LONGEST: usize = 64 * 1024;

/// In memory, where the machine has such a place.
fn folder() -> Result<tempfile::TempDir, String> {
    let memory = tempfile::tempdir_in("/dev/shm");
    memory.or_else(|_| tempfile::tempdir()).map_err(|error| error.to_string())
}

/// A file is read or refused with words; a project's file never makes anything weaker than strict.
pub(crate) fn check(input: &[u8]) -> Result<(), String> {
    let Some((kind, text)) = input.split_first() else { return Ok(()) };
    let Some(name) = NAMES.get(usize::from(kind & 3)) else { return Ok(()) };
    let is_project = kind & 4 != 0;
    let folder = folder()?;
    let (workspace, user) = (folder.path().join("workspace"), folder.path().join("user"));
    for place in [&workspace, &user] {
        fs::create_dir(place).map_err(|error| error.to_string())?;
    }
    let file = if is_project { &workspace } else { &user }.join(name);
    fs::write(&file, text.get(..LONGEST).unwrap_or(text)).map_err(|error| error.to_string())?;
    let sources = Sources {
        explicit: (!is_project).then_some(file),
        workspace,
        environment: [("HOME".to_owned(), "/home/dev".to_owned())].into(),
        ..Sources::default()
    };
    match load(&sources) {
        Ok(loaded) => {
            let shown = show(&loaded);
            if shown.is_empty() {
                return Err("nothing is shown".to_owned());
            }
            match loaded.weaker.first() {
                Some(weaker) if is_project => Err(format!("a project's file loosens: {weaker:?}")),
                Some(_) | None => Ok(()),
            }
        }
        Err(errors) if errors.to_string().trim().is_empty() => Err("refused without a word".to_owned()),
        Err(_) => Ok(()),
    }
}

//! Files named on the command line, and standard input, as `cat` takes them.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::terminal::one_line;

/// Where an input comes from.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Standard,
    File(PathBuf),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Standard => f.write_str("standard input"),
            Place::File(path) => f.write_str(&one_line(&path.display().to_string())),
        }
    }
}

impl Place {
    /// As a field: `-` is what a person would have written for standard input.
    pub(super) fn name(&self) -> String {
        match self {
            Place::Standard => "-".to_owned(),
            Place::File(path) => path.display().to_string(),
        }
    }
}

pub(super) fn places(files: &[PathBuf]) -> Vec<Place> {
    if files.is_empty() {
        return vec![Place::Standard];
    }
    let place = |path: &PathBuf| match path.as_os_str() == "-" {
        true => Place::Standard,
        false => Place::File(path.clone()),
    };
    files.iter().map(place).collect()
}

/// How much is to be expected, for a bar; what cannot be asked counts as nothing.
pub(super) fn size(path: &Path) -> u64 {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map_or(0, |about| about.len())
}

pub(super) enum Input {
    Standard(std::io::StdinLock<'static>),
    File(File),
}

impl Input {
    pub(super) fn open(place: &Place) -> Result<Input, String> {
        let path = match place {
            Place::Standard => return Ok(Input::Standard(std::io::stdin().lock())),
            Place::File(path) => path,
        };
        let file = File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::PermissionDenied => "it may not be read (permission denied)".to_owned(),
            _ => error.to_string(),
        })?;
        let about = file.metadata().map_err(|error| error.to_string())?;
        if about.is_dir() {
            return Err("it is a folder; name the files in it".to_owned());
        }
        if about.is_file() && is_standard_output(&about) {
            return Err("it is also the output, and would never end".to_owned());
        }
        Ok(Input::File(file))
    }

    pub(super) fn read(&mut self, chunk: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let read = match self {
                Input::Standard(input) => input.read(chunk),
                Input::File(file) => file.read(chunk),
            };
            match read {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

impl Read for Input {
    fn read(&mut self, chunk: &mut [u8]) -> std::io::Result<usize> {
        Input::read(self, chunk)
    }
}

fn is_standard_output(about: &std::fs::Metadata) -> bool {
    let out = rustix::fs::fstat(std::io::stdout());
    out.is_ok_and(|out| (out.st_dev, out.st_ino) == (about.dev(), about.ino()))
}

//! Opening configuration files: the only place of this crate that touches the file system.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{FILE_LIMIT, Format, parse};
use crate::node::Node;
use crate::problem::{ConfigError, Problem};

/// Who vouches for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Named by the operator or found in the operator's own folder.
    Operator,
    /// Found in the workspace, where agents write.
    Project,
}

/// Whether everybody on the machine can change a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WritableBy {
    Few,
    Everybody,
}

pub(crate) struct Opened {
    pub(crate) root: Node,
    pub(crate) writable_by: WritableBy,
}

pub(crate) fn read(path: &Path, trust: Trust) -> Result<Opened, ConfigError> {
    let fail = |problem| ConfigError::new("", problem).in_file(path);
    let format = Format::of(path).ok_or_else(|| {
        fail(Problem::UnknownFormat).hint("the name must end in .yaml, .yml, .json, .json5 or .toml")
    })?;
    let (mut file, writable_by) = open(path, trust)?;
    let mut bytes = Vec::new();
    // One byte past the limit tells "exactly full" from "there was more".
    let within = file.by_ref().take(FILE_LIMIT + 1).read_to_end(&mut bytes);
    within.map_err(|error| fail(Problem::Unreadable(error.to_string())))?;
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(fail(Problem::TooLarge { limit: FILE_LIMIT }));
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let valid = String::from_utf8_lossy(valid);
        fail(Problem::NotText).at(crate::node::Place::of_offset(&valid, valid.len()))
    })?;
    let root = parse(text, format).map_err(|error| error.in_file(path))?;
    Ok(Opened { root, writable_by })
}

fn open(path: &Path, trust: Trust) -> Result<(File, WritableBy), ConfigError> {
    let fail = |problem| ConfigError::new("", problem).in_file(path);
    // THREAT: P09, a FIFO would make the start wait for ever; P04, a link in the workspace would name a file outside.
    let flags = match trust {
        Trust::Operator => OFlags::NONBLOCK,
        Trust::Project => OFlags::NONBLOCK | OFlags::NOFOLLOW,
    };
    let flags = i32::try_from(flags.bits()).map_err(|error| fail(Problem::Unreadable(error.to_string())))?;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(fail(Problem::NotAFile).hint("a link in the workspace is not followed"));
        }
        Err(error) => return Err(fail(Problem::Unreadable(error.to_string()))),
    };
    let metadata = file.metadata().map_err(|error| fail(Problem::Unreadable(error.to_string())))?;
    if !metadata.is_file() {
        return Err(fail(Problem::NotAFile));
    }
    let everybody = metadata.mode() & 0o002 != 0;
    Ok((file, if everybody { WritableBy::Everybody } else { WritableBy::Few }))
}

/// The one configuration file of a folder, if there is one. Two would leave it to chance which holds.
pub(crate) fn find(folder: &Path) -> Result<Option<PathBuf>, ConfigError> {
    let candidates = Format::EXTENSIONS.map(|(extension, _)| folder.join(format!("vambrace.{extension}")));
    let mut present = candidates.into_iter().filter(|path| std::fs::symlink_metadata(path).is_ok());
    match (present.next(), present.next()) {
        (Some(first), Some(second)) => Err(ConfigError::new("", Problem::TwoFiles { other: second })
            .in_file(&first)
            .hint("keep one of them")),
        (first, _) => Ok(first),
    }
}

/// Whether a path lies in a folder, links resolved.
pub(crate) fn lies_in(path: &Path, folder: &Path) -> bool {
    match (std::fs::canonicalize(path), std::fs::canonicalize(folder)) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }
}

/// Whether two paths name the same file.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    match (std::fs::canonicalize(one), std::fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }
}

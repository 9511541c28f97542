//! Making folders and removing files, by the handle of the folder they are in.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{AtFlags, Mode, Stat};
use rustix::io::Errno;
use vambrace_policy::{Access, Reason};
use vambrace_types::ScopedPath;

use crate::FilesError;
use crate::open::Opener;

impl Opener<'_> {
    /// The folder that holds the last part of `path`, opened for a change, and that last part.
    pub(crate) fn parent<'p>(
        &self,
        path: &'p ScopedPath,
        access: Access,
    ) -> Result<(OwnedFd, &'p str), FilesError> {
        let spelled = || self.spelled(path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FilesError::IsADirectory { path: spelled() });
        };
        let opened = self.folder(&parent, Access::Read).map_err(|error| match error {
            FilesError::NotFound { .. } => FilesError::NotFound { path: spelled() },
            other => other,
        })?;
        // The parent may be a link's target: what will be written is judged where it really is.
        let real = opened
            .resolved
            .join(name)
            .ok_or_else(|| FilesError::denied(Reason::OutsideProject { path: spelled() }, "scope.beneath"))?;
        self.judge(&real, access)?;
        Ok((opened.handle, name))
    }

    /// Makes the missing folders of `path`, each beneath the last; says whether the last one is new.
    pub(crate) fn make_folders(&self, path: &ScopedPath) -> Result<bool, FilesError> {
        match self.folder(path, Access::Write) {
            Ok(_) => return Ok(false),
            Err(FilesError::NotFound { .. }) => {}
            Err(other) => return Err(other),
        }
        // A loop and not a recursion: a path may have two thousand parts, which no stack should feel. THREAT: P09.
        let mut missing = vec![path.clone()];
        for folder in std::iter::successors(path.parent(), ScopedPath::parent) {
            match self.folder(&folder, Access::Read) {
                Ok(_) => break,
                Err(FilesError::NotFound { .. }) => missing.push(folder),
                Err(other) => return Err(other),
            }
        }
        let mut is_new = false;
        while let Some(folder) = missing.pop() {
            is_new = self.make_folder(&folder)?;
        }
        Ok(is_new)
    }

    fn make_folder(&self, path: &ScopedPath) -> Result<bool, FilesError> {
        let (folder, name) = self.parent(path, Access::Write)?;
        match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            // Somebody else made it meanwhile: then it is there, which is what was asked for.
            Ok(()) => {}
            Err(Errno::EXIST) => {
                self.folder(path, Access::Write)?;
                return Ok(false);
            }
            Err(errno) => return Err(FilesError::os(&self.spelled(path), "create", errno)),
        }
        let _ = rustix::fs::fsync(&folder);
        Ok(true)
    }

    /// What stands at the name now, links not followed.
    pub(crate) fn entry(
        &self,
        folder: &OwnedFd,
        path: &ScopedPath,
        name: &str,
    ) -> Result<Option<Stat>, FilesError> {
        match rustix::fs::statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(FilesError::os(&self.spelled(path), "look at", errno)),
        }
    }

    /// Removes the entry of a folder whose lock the caller holds.
    pub(crate) fn remove_file(
        &self,
        folder: &OwnedFd,
        path: &ScopedPath,
        name: &str,
    ) -> Result<u64, FilesError> {
        let spelled = self.spelled(path);
        let stat =
            self.entry(folder, path, name)?.ok_or_else(|| FilesError::NotFound { path: spelled.clone() })?;
        self.demand_changeable(path, &stat)?;
        rustix::fs::unlinkat(folder, name, AtFlags::empty())
            .map_err(|errno| FilesError::os(&spelled, "delete", errno))?;
        let _ = rustix::fs::fsync(folder);
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }
}

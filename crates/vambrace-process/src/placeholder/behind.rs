//! The walk after programs ran. It goes where no other walk goes: behind folders that they closed, and into folders that
//! they made under a blocked name. What cannot be looked into at all is named.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, StatxFlags};

use super::beneath;
use super::mode::{Mode, mode_of, set_mode};
use super::run_record::Moment;
use crate::workspace::{View, Walker};

/// Folders closed inside folders closed …: each round opens one more level, and there are only so many.
const MOST_ROUNDS: usize = 128;
/// A folder that was closed when it was walked and is open when it is looked at: somebody else opened it, or there is
/// another reason why it cannot be read.
const MOST_DOUBTS: usize = 8;

#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) view: Arc<View>,
    /// New folders that lie deeper than any walk goes.
    pub(crate) out_of_reach: Vec<PathBuf>,
    pub(crate) opened: Opened,
}

/// `before` says which masked folders were there: programs saw nothing of them.
pub(crate) fn look_behind(walker: &Walker, before: &View) -> Result<Looked, String> {
    let known: HashSet<&Path> = before.masked.iter().map(|masked| masked.path.as_path()).collect();
    let mut opened = Opened { workspace: walker.workspace().to_owned(), ..Opened::default() };
    let mut n_doubts = 0;
    for _ in 0..MOST_ROUNDS {
        let view = walk(walker)?;
        let new = view.masked.iter().filter(|masked| masked.is_folder && !known.contains(&*masked.path));
        let new: Vec<&PathBuf> = new.map(|masked| &masked.path).collect();
        if new.is_empty() {
            return Ok(Looked { view, out_of_reach: Vec::new(), opened });
        }
        let mut whole = View::clone(&view);
        let (mut out_of_reach, mut closed) = (Vec::new(), Vec::new());
        for folder in new {
            let hidden = if walker.is_masked_by_name(folder) {
                let mut inside = walker.look_into(folder).map_err(|error| error.to_string())?;
                let hidden = std::mem::take(&mut inside.masked);
                whole.add_all(inside);
                hidden.into_iter().map(|masked| masked.path).collect()
            } else {
                vec![folder.clone()]
            };
            for folder in hidden {
                if walker.why_out_of_reach(&folder).is_some() { &mut out_of_reach } else { &mut closed }
                    .push(folder);
            }
        }
        let (mut is_done, mut has_doubt) = (true, false);
        for folder in &closed {
            let said = |why: String| format!("{}: {why}", folder.display());
            match opened.open(folder).map_err(|error| said(error.to_string()))? {
                Found::NotOurs => {}
                Found::Closed => is_done = false,
                Found::Open if n_doubts < MOST_DOUBTS => (is_done, has_doubt) = (false, true),
                Found::Open => return Err(said("it cannot be read".to_owned())),
            }
        }
        if is_done {
            return Ok(Looked { view: Arc::new(whole), out_of_reach, opened });
        }
        n_doubts += usize::from(has_doubt);
    }
    Err("folders were closed again and again".to_owned())
}

/// A service that cannot be read is of no use to whoever comes next, so it stays open.
fn walk(walker: &Walker) -> Result<Arc<View>, String> {
    walker.walk().or_else(|error| {
        let service = walker.service();
        let folder = if service == walker.workspace() {
            // Its own descriptor needs no right on it.
            beneath::open_exactly(&service)
        } else {
            beneath::open_folder(walker.workspace(), &service)
        };
        let opened = folder.and_then(|folder| set_mode(&folder, mode_of(&folder)? | Mode::RWXU));
        opened.map_err(|_| error.to_string())?;
        walker.walk().map_err(|error| error.to_string())
    })
}

/// Folders that were opened to look behind them. They stay so, unless they are closed again.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    workspace: PathBuf,
    /// A folder comes before those in it.
    folders: Vec<Folder>,
    /// Birth and last change, which opening has covered.
    stamps: HashMap<PathBuf, [Moment; 2]>,
}

/// How a folder was that a walk could not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// It is open now.
    Closed,
    Open,
    /// What we cannot enter, no program of ours could.
    NotOurs,
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    device: u64,
    inode: u64,
    mode: Mode,
}

impl Opened {
    /// A program may close a folder behind what it planted there. It is the same user's, so it is opened again.
    fn open(&mut self, path: &Path) -> io::Result<Found> {
        let handle = match beneath::open_folder(&self.workspace, path) {
            // Another program is at work, and may have moved it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Closed),
            other => other?,
        };
        let stat = rustix::fs::fstat(&handle)?;
        let mode = mode_of(&handle)?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            let entered = rustix::fs::statat(&handle, c".", AtFlags::empty());
            return entered.map_or(Ok(Found::NotOurs), |_| Err(io::ErrorKind::PermissionDenied.into()));
        }
        if mode.contains(Mode::RWXU) {
            return Ok(Found::Open);
        }
        let wanted = StatxFlags::BTIME | StatxFlags::CTIME;
        let times = rustix::fs::statx(&handle, c"", AtFlags::EMPTY_PATH, wanted)?;
        let stamps = [times.stx_btime, times.stx_ctime].map(|stamp| (stamp.tv_sec, stamp.tv_nsec));
        set_mode(&handle, mode | Mode::RWXU)?;
        let (device, inode) = (stat.st_dev, stat.st_ino);
        self.folders.push(Folder { path: path.to_owned(), device, inode, mode });
        self.stamps.insert(path.to_owned(), stamps);
        Ok(Found::Closed)
    }

    /// What a folder's stamps were before we touched it.
    pub(super) fn stamps(&self, path: &Path) -> Option<[Moment; 2]> {
        self.stamps.get(path).copied()
    }

    /// As they were found. What was moved or changed meanwhile is left as it is.
    pub(super) fn close_again(self) {
        for folder in self.folders.iter().rev() {
            let Ok(handle) = beneath::open_folder(&self.workspace, &folder.path) else { continue };
            let same = rustix::fs::fstat(&handle)
                .is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (folder.device, folder.inode));
            if same && mode_of(&handle).is_ok_and(|mode| mode == folder.mode | Mode::RWXU) {
                let _ = set_mode(&handle, folder.mode);
            }
        }
    }
}

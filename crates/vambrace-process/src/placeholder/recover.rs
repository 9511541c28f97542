//! The sweep that a killed process could not make. Nothing is taken that was there before its run, nor what was made or
//! changed after its programs were dead.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::event::Timespec;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FlockOperation, StatxFlags};
use rustix::io::Errno;

use super::behind::{Looked, Opened, look_behind};
use super::quarantine::{Moved, quarantine};
use super::run_record::{Activity, Moment, RunRecord, parse};
use super::runs::{FOLDER, LONGEST};
use super::{beneath, without_placeholders};
use crate::cgroup::started;
use crate::scratch::entries_of_own;
use crate::workspace::{Walker, new_protected};

/// A launcher whose front is dead kills its cells and goes; this many times a thousandth of a second it is waited for.
const MOST_WAITS: u32 = 5_000;
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// To be called before a program starts while no other of this process runs. `own` is the journal of this process.
///
/// Journals of other services are left for those who serve them. LIMIT: without a witness (another backend than our own, a
/// launcher that was killed too) the moment of death is unknown; what may have been planted is named and left.
pub(crate) fn recover(state: &Path, walker: &Walker, own: Option<&Path>) -> Vec<Moved> {
    let (workspace, service) = (walker.workspace(), walker.service());
    let mut moved = Vec::new();
    let paths = entries_of_own(&state.join(FOLDER)).map(|entry| entry.path());
    for path in paths.filter(|path| Some(path.as_path()) != own) {
        // What has another kind of name is not ours to remove.
        let Some(writer) = writer(&path) else { continue };
        let Some(file) = abandoned(&path, writer) else { continue };
        let mut text = String::new();
        let read = (&file).take(LONGEST).read_to_string(&mut text);
        let Some(record) = parse(&text).filter(|_| read.is_ok()) else {
            let _ = std::fs::remove_file(&path);
            continue;
        };
        if record.activity == Activity::Busy && record.service.is_dir() {
            if record.workspace != workspace || record.service != service {
                continue;
            }
            // Looked at again by the next one, if it cannot be looked at now.
            let Ok(swept) = sweep(record, walker, state) else { continue };
            moved.extend(swept);
        }
        let _ = std::fs::remove_file(&path);
    }
    moved
}

/// The process that wrote a journal of this name, and when that process began.
fn writer(journal: &Path) -> Option<(i32, u64)> {
    let name = journal.file_name()?.to_str()?;
    let mut words = name.split('-');
    let (process, start, number) = (words.next()?, words.next()?, words.next()?);
    let _number: u32 = number.parse().ok()?;
    let is_whole = words.next().is_none();
    is_whole.then_some((process.parse().ok()?, start.parse().ok()?))
}

/// Locked by us alone, if its process is gone.
fn abandoned(path: &Path, (process, start): (i32, u64)) -> Option<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    for _ in 0..MOST_WAITS {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // Somebody else may have recovered it meanwhile.
            Ok(()) => return (file.metadata().ok()?.nlink() > 0).then_some(file),
            // Its process is dead and its launcher about to be.
            Err(Errno::WOULDBLOCK) if started(process) != Some(start) => {
                let _ = rustix::event::poll(&mut [], Some(&WAIT));
            }
            Err(_) => return None,
        }
    }
    None
}

fn sweep(record: RunRecord, walker: &Walker, state: &Path) -> Result<Vec<Moved>, String> {
    let RunRecord { since, workspace, service, listed, dead, .. } = record;
    let before = listed.into_view();
    let Looked { view: after, out_of_reach, opened } = look_behind(walker, &before)?;
    let mut new = new_protected(&before, &after);
    new.extend(out_of_reach);
    without_placeholders(&mut new, &service);
    // An earlier one is of a launcher that was replaced.
    let dead = dead.filter(|dead| *dead >= since);
    // Without a moment of death: all that is not older than the run.
    let until = dead.unwrap_or((i64::MAX, 0));
    let ground = Ground { workspace: &workspace, service: &service, opened: &opened };
    new.retain(|path| ground.is_touched(path, since, until));
    let moved = match dead {
        Some(_) => quarantine(&new, &workspace, state),
        None => new.into_iter().map(left).collect(),
    };
    // It may have been a person who closed them.
    opened.close_again();
    Ok(moved)
}

fn left(from: PathBuf) -> Moved {
    let why = "it came during or after a run that was killed, and it is not known when that ended";
    Moved { from, to: Err(why.to_owned()) }
}

struct Ground<'g> {
    workspace: &'g Path,
    service: &'g Path,
    opened: &'g Opened,
}

impl Ground<'_> {
    /// Born, or renamed or linked into its place, while programs ran: it, or a folder on the way to it. Whatever changes
    /// an entry stamps it, and nobody but the kernel sets that stamp.
    fn is_touched(&self, path: &Path, since: Moment, until: Moment) -> bool {
        let Ok(root) = beneath::open_exactly(self.workspace) else { return false };
        let on_the_way =
            path.ancestors().take_while(|above| above.starts_with(self.service) && *above != self.service);
        let mut stamps = on_the_way.filter_map(|above| self.stamps(&root, above)).flatten();
        stamps.any(|stamp| (since..=until).contains(&stamp))
    }

    fn stamps(&self, root: &OwnedFd, path: &Path) -> Option<[Moment; 2]> {
        if let Some(stamps) = self.opened.stamps(path) {
            return Some(stamps);
        }
        let thing = beneath::open_thing(root, beneath::relative(self.workspace, path).ok()?).ok()?;
        let wanted = StatxFlags::BTIME | StatxFlags::CTIME;
        let stat = rustix::fs::statx(&thing, c"", AtFlags::EMPTY_PATH, wanted).ok()?;
        Some([stat.stx_btime, stat.stx_ctime].map(|stamp| (stamp.tv_sec, stamp.tv_nsec)))
    }
}

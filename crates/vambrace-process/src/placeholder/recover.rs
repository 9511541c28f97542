//! The sweep that a killed process could not make. Nothing is taken that was there before its run, nor what was made or
//! changed after its programs were dead.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::event::Timespec;
use rustix::fs::{AtFlags, FlockOperation, StatxFlags};
use rustix::io::Errno;

use super::quarantine::{Moved, quarantine};
use super::run_record::{Activity, Moment, RunRecord, parse};
use super::runs::{FOLDER, started};
use super::{beneath, without_placeholders};
use crate::workspace::{View, new_protected};

/// The longest list that a walk accepts, with the longest paths.
const LONGEST: u64 = 64 << 20;
/// A launcher whose front is dead kills its cells and goes; this many times a thousandth of a second it is waited for.
const MOST_WAITS: u32 = 5_000;
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// To be called before anything runs, and before placeholders are held. `walk` looks at the workspace as it is now.
///
/// Journals of other services are left for those who serve them. LIMIT: without a witness (another backend than our own, a
/// launcher that was killed too) the moment of death is unknown; what may have been planted is named and left.
pub(crate) fn recover(
    state: &Path,
    workspace: &Path,
    service: &Path,
    walk: &dyn Fn() -> Option<Arc<View>>,
) -> Vec<Moved> {
    let mut moved = Vec::new();
    let Ok(entries) = std::fs::read_dir(state.join(FOLDER)) else { return moved };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let Some(file) = abandoned(&path) else { continue };
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
            let Some(after) = walk() else { continue };
            moved.extend(sweep(record, &after, state));
        }
        let _ = std::fs::remove_file(&path);
    }
    moved
}

/// Locked by us alone, if its process is gone.
fn abandoned(path: &Path) -> Option<File> {
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
            Err(Errno::WOULDBLOCK) if is_gone(path) => {
                let _ = rustix::event::poll(&mut [], Some(&WAIT));
            }
            Err(_) => return None,
        }
    }
    None
}

fn is_gone(journal: &Path) -> bool {
    let name = journal.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut words = name.split('-');
    let process = words.next().and_then(|word| word.parse().ok());
    let start: Option<u64> = words.next().and_then(|word| word.parse().ok());
    process.zip(start).is_some_and(|(process, start)| started(process) != Some(start))
}

fn sweep(record: RunRecord, after: &View, state: &Path) -> Vec<Moved> {
    let RunRecord { since, workspace, service, names, dead, .. } = record;
    let before = View { protected: names, ..View::default() };
    let mut new = new_protected(&before, after);
    without_placeholders(&mut new, &service);
    // An earlier one is of a launcher that was replaced.
    let dead = dead.filter(|dead| *dead >= since);
    // Without a moment of death: all that is not older than the run.
    let until = dead.unwrap_or((i64::MAX, 0));
    new.retain(|path| is_touched(path, &workspace, &service, since, until));
    match dead {
        Some(_) => quarantine(&new, &workspace, state),
        None => new.into_iter().map(left).collect(),
    }
}

fn left(from: PathBuf) -> Moved {
    let why = "it came during or after a run that was killed, and it is not known when that ended";
    Moved { from, to: Err(why.to_owned()) }
}

/// Born, or renamed or linked into its place, while programs ran: it, or a folder on the way to it. Whatever changes an
/// entry stamps it, and nobody but the kernel sets that stamp.
fn is_touched(path: &Path, workspace: &Path, service: &Path, since: Moment, until: Moment) -> bool {
    let Ok(root) = beneath::open_exactly(workspace) else { return false };
    let on_the_way = path.ancestors().take_while(|above| above.starts_with(service) && *above != service);
    let wanted = StatxFlags::BTIME | StatxFlags::CTIME;
    on_the_way.filter_map(|above| beneath::relative(workspace, above).ok()).any(|relative| {
        let Ok(thing) = beneath::open_thing(&root, relative) else { return false };
        let Ok(stat) = rustix::fs::statx(&thing, c"", AtFlags::EMPTY_PATH, wanted) else { return false };
        let stamps = [stat.stx_btime, stat.stx_ctime].map(|stamp| (stamp.tv_sec, stamp.tv_nsec));
        stamps.iter().any(|stamp| (since..=until).contains(stamp))
    })
}

//! Limits for all processes of a cage together, by whichever control groups of this machine can be written. Resource
//! limits alone do not hold for root: in a user namespace root may fork past them.
//!
//! What is usable is found by trying. An ordinary user usually has none, and then none is promised.

mod layout;
mod note;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use layout::Controller;
use layout::{Hierarchy, Version, hierarchies};

use crate::spec::CageLimits;

/// The hierarchies in which groups can be made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    usable: Vec<Usable>,
}

#[derive(Debug, Clone)]
struct Usable {
    /// The folder in which groups are made.
    folder: PathBuf,
    version: Version,
    controllers: Vec<Controller>,
}

/// The groups of one cage; removed when dropped, which works once its processes are gone.
#[derive(Debug)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
    procs_files: Vec<PathBuf>,
    /// Where the kernel tells whom it has ended for its memory.
    memory_files: Vec<PathBuf>,
    limits: CageLimits,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Groups {
    /// Looks, tries, and removes groups whose process is gone. `notes` is a folder of ours in which each process writes
    /// down where it makes groups: the next one may be started somewhere else in the trees.
    pub(crate) fn detect(notes: &Path) -> Groups {
        note::follow(notes);
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mut groups = Groups::default();
        for hierarchy in hierarchies(&own, &mounts) {
            sweep(&hierarchy.folder);
            if let Some(usable) = Usable::try_out(&hierarchy) {
                groups.usable.push(usable);
            }
        }
        // LIMIT: where it cannot be written, groups are found by who is started in the same place.
        let _noted = note::leave(notes, groups.usable.iter().map(|usable| usable.folder.as_path()));
        groups
    }

    /// Whether every group that is made here limits this.
    pub(crate) fn can_limit(&self, what: Controller) -> bool {
        self.usable.iter().any(|usable| usable.controllers.contains(&what))
    }

    /// A group in every usable hierarchy, with its limits set. `name` is for people who look at the tree.
    pub(crate) fn make(&self, limits: CageLimits, name: &str) -> io::Result<Group> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{number}-{plain}", own_prefix());
        let (folders, procs_files, memory_files) = (Vec::new(), Vec::new(), Vec::new());
        let mut group = Group { folders, procs_files, memory_files, limits };
        for usable in &self.usable {
            let folder = usable.folder.join(&name);
            std::fs::create_dir(&folder)?;
            group.folders.push(folder.clone());
            // On version 1 a process that moves itself by `tasks` does not wait for the whole hierarchy.
            group.procs_files.push(folder.join(match usable.version {
                Version::One => "tasks",
                Version::Two => "cgroup.procs",
            }));
            let told = ["memory.oom_control", "memory.events"].map(|name| folder.join(name));
            group.memory_files.extend(told.into_iter().filter(|file| file.exists()));
            usable.limit(&folder, limits)?;
        }
        Ok(group)
    }
}

impl Group {
    /// Into each of these the id of a process is written to put it into the group.
    pub(crate) fn procs_files(&self) -> &[PathBuf] {
        &self.procs_files
    }

    pub(crate) fn limits(&self) -> CageLimits {
        self.limits
    }

    /// Whether the kernel has ended something in it for its memory.
    pub(crate) fn has_exceeded_memory(&self) -> bool {
        let says = |text: &str| {
            text.lines()
                .filter_map(|line| line.split_once(' '))
                .any(|(key, count)| key == "oom_kill" && count != "0")
        };
        self.memory_files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).any(|text| says(&text))
    }

    /// Whether nobody is in it any more. Then it limits the next cage as well as a new one would, and making groups is
    /// among the dearest parts of a cage.
    pub(crate) fn is_empty(&self) -> bool {
        self.procs_files.iter().all(|file| std::fs::read(file).is_ok_and(|text| text.is_empty()))
    }

    /// Whether all is gone. While a process of the group lives, it is not; kill first.
    pub(crate) fn remove(&mut self) -> bool {
        self.folders.retain(|folder| match std::fs::remove_dir(folder) {
            Ok(()) => false,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        });
        self.folders.is_empty()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What is still busy is removed by a later start.
        self.remove();
    }
}

impl Usable {
    fn try_out(hierarchy: &Hierarchy) -> Option<Usable> {
        let mut usable = Usable {
            folder: hierarchy.folder.clone(),
            version: hierarchy.version,
            controllers: hierarchy.controllers.clone(),
        };
        let works = |usable: &Usable| {
            let alone = Groups { usable: vec![usable.clone()] };
            alone.make(TRIAL, "trial").is_ok()
        };
        if works(&usable) {
            return Some(usable);
        }
        // One controller may be usable where both are not.
        for controller in &hierarchy.controllers {
            usable.controllers = vec![*controller];
            if works(&usable) {
                return Some(usable);
            }
        }
        None
    }

    fn limit(&self, folder: &Path, limits: CageLimits) -> io::Result<()> {
        for controller in &self.controllers {
            match (controller, self.version) {
                (Controller::Processes, _) => write(folder, "pids.max", limits.processes)?,
                (Controller::Memory, Version::Two) => {
                    write(folder, "memory.max", limits.memory_bytes)?;
                    optional(write(folder, "memory.swap.max", 0))?;
                }
                (Controller::Memory, Version::One) => {
                    // The sum with swap may never be less than the memory alone, so memory comes first.
                    write(folder, "memory.limit_in_bytes", limits.memory_bytes)?;
                    optional(write(folder, "memory.memsw.limit_in_bytes", limits.memory_bytes))?;
                    optional(write(folder, "memory.swappiness", 0))?;
                }
            }
        }
        Ok(())
    }
}

/// Large enough that a machine takes it, since only whether it can be written is asked.
const TRIAL: CageLimits = CageLimits { processes: 64, memory_bytes: 1 << 30, file_bytes: 0 };

/// Without swap accounting the file does not exist.
fn optional(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // Kernels differ in what they accept here; the limit itself stands.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
        other => other,
    }
}

/// A control file exists or not; it is never made.
fn write(folder: &Path, name: &str, value: u64) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).open(folder.join(name))?;
    io::Write::write_all(&mut file, value.to_string().as_bytes())
}

const PREFIX: &str = "vambrace-";

/// The process and the moment it started: an id alone comes back.
fn own_prefix() -> String {
    let process = rustix::process::getpid().as_raw_nonzero().get();
    format!("{PREFIX}{process}-{}-", started(process).unwrap_or(0))
}

/// When a process started, in ticks of the kernel: with its number it is one of a kind.
pub(crate) fn started(process: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything, also parentheses.
    let (_, after) = text.rsplit_once(')')?;
    after.split_whitespace().nth(19)?.parse().ok()
}

/// Removes the groups of processes that are gone; `rmdir` fails on one that still has processes.
fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(owner).is_some_and(|(process, start)| started(process) != Some(start)) {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

fn owner(name: &str) -> Option<(i32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_carries_its_limits_and_leaves_nothing() {
        let notes = tempfile::tempdir().unwrap();
        let groups = Groups::detect(notes.path());
        let limits = CageLimits { processes: 33, memory_bytes: 64 << 20, file_bytes: 0 };
        let group = groups.make(limits, "test/../name").unwrap();
        assert_eq!(group.folders.len(), groups.usable.len());
        let read = |name: &str| {
            group.folders.iter().find_map(|folder| std::fs::read_to_string(folder.join(name)).ok())
        };
        if groups.can_limit(Controller::Processes) {
            assert_eq!(read("pids.max").as_deref(), Some("33\n"));
        }
        if groups.can_limit(Controller::Memory) {
            let memory = read("memory.max").or_else(|| read("memory.limit_in_bytes"));
            assert_eq!(memory, Some(format!("{}\n", 64 << 20)));
        }
        assert!(group.folders.iter().all(|folder| folder.file_name().unwrap() != ".."));
        let folders = group.folders.clone();
        drop(group);
        assert!(folders.iter().all(|folder| !folder.exists()), "{folders:?}");
    }

    #[test]
    fn the_owner_of_a_group_is_in_its_name() {
        assert_eq!(owner("vambrace-12-345-0-x"), Some((12, 345)));
        assert_eq!(owner("vambrace-12"), None);
        assert_eq!(owner("other-12-345"), None);
        let process = rustix::process::getpid().as_raw_nonzero().get();
        let (named, start) = owner(&own_prefix()).unwrap();
        assert_eq!((named, Some(start)), (process, started(process)));
    }
}

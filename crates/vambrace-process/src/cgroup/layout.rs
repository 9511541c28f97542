//! Where this process stands in the trees of control groups. Reads the kernel's two lists, touches nothing.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Processes,
    Memory,
}

/// A folder in which groups might be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hierarchy {
    pub(super) folder: PathBuf,
    pub(super) version: Version,
    pub(super) controllers: Vec<Controller>,
}

/// `own` is `/proc/self/cgroup`, `mounts` is `/proc/self/mountinfo`. Each controller comes once, the newer tree first.
pub(super) fn hierarchies(own: &str, mounts: &str) -> Vec<Hierarchy> {
    let mut found = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if controllers.is_empty() {
            found.extend(unified(path, mounts));
            continue;
        }
        let wanted: Vec<Controller> = controllers.split(',').filter_map(controller).collect();
        if !wanted.is_empty()
            && let Some(folder) =
                place(mounts, path, &|kind, options| kind == "cgroup" && has(options, controllers))
        {
            found.push(Hierarchy { folder, version: Version::One, controllers: wanted });
        }
    }
    // A controller is in one tree only; the kernel says so, and two groups for one limit would be a mistake of ours.
    found.sort_by_key(|hierarchy| hierarchy.version == Version::One);
    found
}

/// In the unified tree groups are made beside our own: a group with processes cannot hand controllers to groups in it.
fn unified(path: &str, mounts: &str) -> Option<Hierarchy> {
    let own = place(mounts, path, &|kind, _| kind == "cgroup2")?;
    let top = place(mounts, "/", &|kind, _| kind == "cgroup2")?;
    let folder = if own == top { own } else { own.parent()?.to_owned() };
    let handed = std::fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
    let controllers: Vec<Controller> = handed.split_whitespace().filter_map(controller).collect();
    (!controllers.is_empty()).then_some(Hierarchy { folder, version: Version::Two, controllers })
}

fn controller(name: &str) -> Option<Controller> {
    match name {
        "pids" => Some(Controller::Processes),
        "memory" => Some(Controller::Memory),
        _ => None,
    }
}

fn has(options: &str, controllers: &str) -> bool {
    controllers.split(',').all(|wanted| options.split(',').any(|option| option == wanted))
}

/// The folder of a group: where its tree is mounted, plus the path below the part that is mounted.
fn place(mounts: &str, path: &str, fits: &dyn Fn(&str, &str) -> bool) -> Option<PathBuf> {
    for line in mounts.lines() {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (Some(root), Some(point)) = (before.next(), before.next()) else { continue };
        let mut after = after.splitn(3, ' ');
        let (Some(kind), Some(_), Some(options)) = (after.next(), after.next(), after.next()) else {
            continue;
        };
        if !fits(kind, options) {
            continue;
        }
        let below = Path::new(path).strip_prefix(root).or_else(|_| Path::new(path).strip_prefix("/")).ok()?;
        let point = Path::new(point);
        return Some(if below.as_os_str().is_empty() { point.to_owned() } else { point.join(below) });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
39 31 0:36 /part /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
";

    #[track_caller]
    fn check(own: &str, mounts: &str, expected: &[(&str, Controller)]) {
        let found = hierarchies(own, mounts);
        let found: Vec<_> = found.iter().map(|it| (it.folder.to_str().unwrap(), it.controllers[0])).collect();
        assert_eq!(found, expected, "{own}");
    }

    #[test]
    fn the_old_trees_are_found_by_controller() {
        check("8:pids:/part\n", OLD, &[("/sys/fs/cgroup/pids", Controller::Processes)]);
        check("8:pids:/part/of\n", OLD, &[("/sys/fs/cgroup/pids/of", Controller::Processes)]);
        check("4:memory:/a/b\n", OLD, &[("/sys/fs/cgroup/memory/a/b", Controller::Memory)]);
        check("9:name=systemd:/\n", OLD, &[]);
        check("7:blkio:/\n0::/\n", OLD, &[]);
        check("garbage\n\n", OLD, &[]);
    }
}

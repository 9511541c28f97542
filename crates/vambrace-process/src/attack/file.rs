//! Attacks on files outside: reading them, writing them, and reaching them by links and devices.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::facts::Facts;
use super::{Outcome, all, failed};

/// Where the machine keeps what proves who somebody is.
const PASSWORDS: [&str; 5] = [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
];

/// Names that are hidden even where the home folder is the workspace.
const CREDENTIALS: [&str; 12] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".config/gcloud",
    ".docker/config.json",
    ".netrc",
    ".git-credentials",
    ".pypirc",
    ".cargo/credentials.toml",
    ".cargo/credentials",
];

const PERSONAL: [&str; 6] =
    [".bash_history", ".zsh_history", ".python_history", ".viminfo", ".mozilla", ".config/google-chrome"];

/// Folders of the host in which nothing may be made; the host tells on which device it has them.
pub(crate) const SYSTEM_FOLDERS: [&str; 14] = [
    "/",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local/bin",
    "/bin",
    "/lib",
    "/etc",
    "/opt",
    "/var",
    "/boot",
    "/srv",
    "/root",
    "/run",
];

const KERNEL_SETTINGS: [&str; 7] = [
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/memory/cgroup.procs",
];

const DEVICES: [&str; 9] = [
    "/dev/mem",
    "/dev/kmsg",
    "/dev/kvm",
    "/dev/fuse",
    "/dev/net/tun",
    "/dev/vda",
    "/dev/sda",
    "/dev/nvme0n1",
    "/proc/kcore",
];

/// What every program needs, so a cage shows them.
const COMMON_DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// Where the host has them.
pub(crate) const HOST_DEVICES: &str = "/dev";

/// How many folders beside the service are tried.
const MOST_SIBLINGS: usize = 8;

pub(super) fn read_outside(facts: &Facts) -> Outcome {
    let canary = &facts.canary;
    let folder = Path::new(canary).parent().and_then(Path::to_str).unwrap_or("/").to_owned();
    let ways = [
        canary.clone(),
        folder,
        format!("/proc/self/root{canary}"),
        format!("/proc/1/root{canary}"),
        format!("/proc/{}/root{canary}", facts.pid),
        format!("/proc/1/cwd/../../../../../../../..{canary}"),
    ];
    all(ways.iter().map(|path| (path.as_str(), shows(path))))
}

pub(super) fn read_temporary(facts: &Facts) -> Outcome {
    all([
        ("/tmp", shows(&facts.temporary_canary)),
        ("/proc", shows(&format!("/proc/1/root{}", facts.temporary_canary))),
    ])
}

pub(super) fn read_passwords() -> Outcome {
    all(PASSWORDS.map(|path| (path, shows(path))))
}

pub(super) fn read_home(facts: &Facts) -> Outcome {
    let Some(home) = &facts.home else { return Outcome::Held("the user has no home".to_owned()) };
    let is_workspace = Path::new(home).starts_with(&facts.workspace);
    let personal: &[&str] = if is_workspace { &[] } else { &PERSONAL };
    all(CREDENTIALS.iter().chain(personal).map(|name| (*name, shows(&format!("{home}/{name}")))))
}

pub(super) fn read_hidden(facts: &Facts) -> Outcome {
    all(facts.hidden.iter().map(|path| (path.as_str(), shows(path))))
}

pub(super) fn write_through_link(facts: &Facts) -> Outcome {
    let attempts = ["/tmp", facts.service.as_str()].map(|folder| {
        let link = facts.scratch(folder);
        let outcome = match rustix::fs::symlink(&facts.canary, &link) {
            Ok(()) => write_through(&link, facts),
            Err(errno) => failed(Err::<(), _>(errno)),
        };
        let _cleaned = rustix::fs::unlink(&link);
        (folder, outcome)
    });
    all(attempts)
}

fn write_through(link: &str, facts: &Facts) -> Outcome {
    match rustix::fs::open(link, OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) if rustix::fs::fstat(&file).is_ok_and(|found| inode_of(&found) == facts.canary_inode) => {
            failed(rustix::io::write(&file, facts.token.as_bytes()))
        }
        // THREAT: P07, a program of another cage may exchange what the self-test makes in the service.
        Ok(_) => Outcome::Held("somebody put something else in the place of the link".to_owned()),
        Err(errno) => failed(Err::<(), _>(errno)),
    }
}

/// The file that this is, under whatever name: the same for the host and inside.
pub(crate) fn inode_of(found: &rustix::fs::Stat) -> String {
    format!("{}:{}", found.st_dev, found.st_ino)
}

pub(super) fn hard_link(facts: &Facts) -> Outcome {
    let attempts = ["/tmp", facts.service.as_str()].into_iter().flat_map(|folder| {
        [&facts.canary, &facts.temporary_canary].map(|canary| {
            let link = facts.scratch(folder);
            let outcome = failed(rustix::fs::link(canary, &link));
            let _cleaned = rustix::fs::unlink(&link);
            (folder, outcome)
        })
    });
    all(attempts)
}

pub(super) fn write_outside(facts: &Facts) -> Outcome {
    let workspace = Path::new(&facts.workspace);
    let mut folders = Vec::new();
    folders.extend(Path::new(&facts.canary).parent());
    folders.extend(workspace.parent());
    folders.push(workspace);
    let siblings: Vec<_> = std::fs::read_dir(workspace)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .filter(|path| !Path::new(&facts.service).starts_with(path))
        .take(MOST_SIBLINGS)
        .collect();
    folders.extend(siblings.iter().map(|path| path.as_path()));
    write_in_each(folders.into_iter().filter_map(Path::to_str), facts)
}

pub(super) fn write_system(facts: &Facts) -> Outcome {
    write_in_each(SYSTEM_FOLDERS.into_iter(), facts)
}

fn write_in_each<'p>(folders: impl Iterator<Item = &'p str>, facts: &Facts) -> Outcome {
    let is_granted = |folder: &str| {
        let granted = std::iter::once(&facts.service).chain(&facts.writable);
        granted.into_iter().any(|granted| Path::new(folder).starts_with(granted))
    };
    all(folders.filter(|folder| !is_granted(folder)).map(|folder| (folder, write_in(folder, facts))))
}

fn write_in(folder: &str, facts: &Facts) -> Outcome {
    match make_in(folder, facts) {
        Ok(file) if is_memory_of_the_cage(&file, folder, facts) => {
            Outcome::Held("it stays in the cage's own memory".to_owned())
        }
        result => failed(result),
    }
}

/// Makes a file in a folder. It has no name, so nothing is left of it whatever happens; where the file system cannot do
/// that it has one for a moment.
pub(super) fn make_in(folder: &str, facts: &Facts) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    match rustix::fs::open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => {
            let name = facts.scratch(folder);
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = rustix::fs::open(&name, flags, mode)?;
            let _cleaned = rustix::fs::unlink(&name);
            Ok(file)
        }
        result => result,
    }
}

/// A cage has memory of its own in places where the host has folders; what is written there is not outside.
fn is_memory_of_the_cage(file: &OwnedFd, folder: &str, facts: &Facts) -> bool {
    const TMPFS: u64 = 0x0102_1994;
    let Some((_, on_host)) = facts.devices.iter().find(|(known, _)| known == folder) else { return false };
    let is_memory = rustix::fs::fstatfs(file).is_ok_and(|found| u64::try_from(found.f_type) == Ok(TMPFS));
    is_memory && rustix::fs::fstat(file).is_ok_and(|found| found.st_dev != *on_host)
}

/// Opened for writing, not written.
pub(super) fn kernel_settings() -> Outcome {
    all(KERNEL_SETTINGS.map(|path| (path, open_for_writing(path))))
}

pub(super) fn open_for_writing(path: &str) -> Outcome {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    failed(rustix::fs::open(path, flags, Mode::empty()))
}

pub(super) fn open_device() -> Outcome {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    all(DEVICES.map(|path| (path, failed(rustix::fs::open(path, flags, Mode::empty())))))
}

pub(super) fn make_device(facts: &Facts) -> Outcome {
    let attempts = ["/tmp", facts.service.as_str()].map(|folder| {
        let name = facts.scratch(folder);
        // The device that swallows everything, should it come to be.
        let device = rustix::fs::makedev(1, 3);
        let made = rustix::fs::mknodat(CWD, &name, FileType::CharacterDevice, Mode::RUSR, device);
        let _cleaned = rustix::fs::unlinkat(CWD, &name, AtFlags::empty());
        (folder, failed(made))
    });
    all(attempts)
}

/// Given the mode that it has, so nothing changes whatever happens. A device that the backend made itself is its own.
pub(super) fn change_device(facts: &Facts) -> Outcome {
    let on_host = facts.devices.iter().find(|(known, _)| known == HOST_DEVICES).map(|(_, device)| *device);
    all(COMMON_DEVICES.map(|path| {
        let changed = rustix::fs::stat(path).and_then(|found| {
            let changed = rustix::fs::chmod(path, Mode::from_raw_mode(found.st_mode));
            changed.map(|()| on_host.is_none_or(|on_host| on_host == found.st_dev))
        });
        let outcome = match changed {
            Ok(false) => Outcome::Held("it is not the host's".to_owned()),
            changed => failed(changed),
        };
        (path, outcome)
    }))
}

/// A file that can be opened and is not empty, or a folder with something in it.
fn shows(path: &str) -> Outcome {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(errno) => return failed::<()>(Err(errno)),
    };
    let is_folder =
        rustix::fs::fstat(&file).is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir());
    if is_folder {
        let has_names = std::fs::read_dir(path).is_ok_and(|mut names| names.next().is_some());
        return if has_names {
            Outcome::Broken("listed".to_owned())
        } else {
            Outcome::Held("empty".to_owned())
        };
    }
    match rustix::io::read(&file, &mut [0u8; 64]) {
        Ok(0) => Outcome::Held("empty".to_owned()),
        Ok(_) => Outcome::Broken("read".to_owned()),
        Err(errno) => failed::<()>(Err(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::facts::tests::example;

    fn held(text: &str) -> Outcome {
        Outcome::Held(text.to_owned())
    }

    fn broken(text: &str) -> Outcome {
        Outcome::Broken(text.to_owned())
    }

    #[test]
    fn only_something_that_can_be_seen_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        assert_eq!(shows(&path("")), held("empty"));
        std::fs::write(path("empty"), "").unwrap();
        std::fs::write(path("full"), "x").unwrap();
        assert_eq!(shows(&path("")), broken("listed"));
        assert_eq!(shows(&path("empty")), held("empty"));
        assert_eq!(shows(&path("full")), broken("read"));
        assert_eq!(shows(&path("absent")), held("no such file or directory"));
    }

    #[test]
    fn what_somebody_puts_in_the_place_of_the_link_is_no_hole() {
        let (place, service) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let canary = place.path().join("canary");
        std::fs::write(&canary, "canary").unwrap();
        let facts = Facts {
            service: service.path().to_str().unwrap().to_owned(),
            canary_inode: inode_of(&rustix::fs::stat(&canary).unwrap()),
            ..example()
        };
        let link = service.path().join("link");
        std::os::unix::fs::symlink(&canary, &link).unwrap();
        assert_eq!(write_through(link.to_str().unwrap(), &facts), broken("it worked"));
        std::fs::write(&canary, "canary").unwrap();
        std::fs::rename(&link, service.path().join("moved")).unwrap();
        for other in ["/dev/null", service.path().join("file").to_str().unwrap()] {
            std::fs::write(service.path().join("file"), "").unwrap();
            std::os::unix::fs::symlink(other, &link).unwrap();
            let outcome = write_through(link.to_str().unwrap(), &facts);
            assert_eq!(outcome, held("somebody put something else in the place of the link"));
            std::fs::remove_file(&link).unwrap();
        }
        assert_eq!(std::fs::read_to_string(service.path().join("file")).unwrap(), "");
        assert_eq!(std::fs::read_to_string(&canary).unwrap(), "canary");
    }

    #[test]
    fn what_was_granted_is_not_outside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let mut facts = example();
        assert_eq!(write_in_each([path].into_iter(), &facts), broken(&format!("{path}: it worked")));
        facts.writable = vec![path.to_owned()];
        assert_eq!(write_in_each([path].into_iter(), &facts), held("nothing of the kind is here"));
        assert_eq!(std::fs::read_dir(path).unwrap().count(), 0);
    }
}

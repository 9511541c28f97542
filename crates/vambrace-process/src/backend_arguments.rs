//! The same cage in the words of other programs that build one. Pure: it makes argument vectors and starts nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::spec::{CageSpec, Mount};

/// What bubblewrap is started with, up to and without `--` and the program.
///
/// LIMIT: bubblewrap sets no limits, no Landlock rules and no seccomp filter of ours, its first process keeps the
/// environment that it was started with, so start it with the safe one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bubblewrap {
    pub(crate) arguments: Vec<OsString>,
    /// To be written before it starts, in a folder that only we can read.
    pub(crate) files: Vec<(PathBuf, String)>,
    /// What is covered in `/proc`, and which of it are folders.
    kernel_files: Vec<(OsString, bool)>,
}

/// `folder` is private, empty, and stays until the program has ended.
///
/// THREAT: P07, root owns the host's devices, which bubblewrap binds as they are: `chmod 600 /dev/null`. So its runner keeps
/// the power to make these mounts read-only and the power to give that up, and then gives up both; this needs the namespace
/// in which they were made, and our filter refuses further ones.
pub(crate) fn bubblewrap(
    spec: &CageSpec,
    folder: &Path,
    is_root: bool,
    kernel_files: Vec<(OsString, bool)>,
) -> Bubblewrap {
    let mut made = Bubblewrap { arguments: Vec::new(), files: Vec::new(), kernel_files };
    let fixed =
        ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--hostname", "cage"];
    made.arguments.extend(fixed.map(OsString::from));
    let powers: &[&str] = match is_root {
        true => &["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"],
        false => &["--cap-drop", "ALL", "--disable-userns"],
    };
    made.arguments.extend(powers.iter().map(OsString::from));
    for mount in &spec.mounts {
        made.add(mount, folder);
    }
    made
}

impl Bubblewrap {
    fn add(&mut self, mount: &Mount, folder: &Path) {
        match mount {
            Mount::ReadOnly { from, at } => self.push("--ro-bind", &[from, at]),
            Mount::Writable { from, at } => self.push("--bind", &[from, at]),
            // Only parts of the workspace are pinned, and the workspace has its own path in the cage.
            Mount::Pin { at } => self.push("--bind", &[at, at]),
            Mount::PinReadOnly { at } => self.push("--ro-bind", &[at, at]),
            // LIMIT: it would bind what the link leads to; a link that was removed stays removed, one that was replaced is
            // found after the run.
            Mount::PinLink { .. } => {}
            Mount::EmptyFolder { at } => {
                self.push("--tmpfs", &[at]);
                self.push("--remount-ro", &[at]);
            }
            Mount::EmptyFile { at } => self.text(at, "", folder),
            Mount::Text { at, text } => self.text(at, text, folder),
            Mount::Memory { at, bytes } => {
                self.push("--size", &[Path::new(&bytes.max(&1).to_string())]);
                self.push("--tmpfs", &[at]);
            }
            Mount::Link { at, to } => self.push("--symlink", &[to, at]),
            Mount::Processes => self.processes(folder),
            Mount::Devices => self.push("--dev", &[Path::new("/dev")]),
        }
    }

    fn processes(&mut self, folder: &Path) {
        let proc = Path::new("/proc");
        self.push("--proc", &[proc]);
        for (name, is_folder) in &self.kernel_files.clone() {
            let at = proc.join(name);
            let mask = if *is_folder { Mount::EmptyFolder { at } } else { Mount::EmptyFile { at } };
            self.add(&mask, folder);
        }
    }

    fn text(&mut self, at: &Path, text: &str, folder: &Path) {
        let known = self.files.iter().find(|(_, other)| other == text).map(|(path, _)| path.clone());
        let path = known.unwrap_or_else(|| {
            let path = folder.join(format!("text-{}", self.files.len()));
            self.files.push((path.clone(), text.to_owned()));
            path
        });
        self.push("--ro-bind", &[&path, at]);
    }

    fn push(&mut self, flag: &str, values: &[&Path]) {
        self.arguments.push(flag.into());
        self.arguments.extend(values.iter().map(|value| value.as_os_str().to_owned()));
    }
}

/// Specification 002's flags, up to and with `--`.
///
/// LIMIT: firejail shows the host's system folders as they are, protects no name in the folder, masks nothing, limits
/// neither processes nor memory, and keeps one writable folder only. It is a part of a cage.
///
/// `ourselves` is the runner, which is hidden with its neighbors where it lies beside the folder or in /tmp.
pub(crate) fn firejail(folder: &Path, ourselves: &Path) -> Vec<OsString> {
    let whitelist = |path: &Path| {
        let mut flag = OsString::from("--whitelist=");
        flag.push(path);
        flag
    };
    let flags = ["--noprofile", "--private-tmp", "--private-dev", "--noroot", "--net=none"];
    let mut arguments: Vec<OsString> = flags.map(OsString::from).to_vec();
    arguments.push(whitelist(folder));
    let top = |path: &Path| path.components().nth(1).map(|part| part.as_os_str().to_owned());
    if ourselves.starts_with("/tmp") || top(ourselves) == top(folder) {
        arguments.push(whitelist(ourselves));
    }
    arguments.push(OsString::from("--"));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mount: Mount, expected: &[&str]) {
        let spec = CageSpec { mounts: vec![mount.clone()], ..CageSpec::default() };
        let empty =
            bubblewrap(&CageSpec::default(), Path::new("/private"), false, Vec::new()).arguments.len();
        let made = bubblewrap(&spec, Path::new("/private"), false, Vec::new());
        let own: Vec<_> = made.arguments.iter().skip(empty).map(|it| it.to_str().unwrap()).collect();
        assert_eq!(own, expected, "{mount:?}");
    }

    #[test]
    fn each_mount_has_its_words() {
        let path = |text: &str| PathBuf::from(text);
        check(Mount::ReadOnly { from: path("/usr"), at: path("/usr") }, &["--ro-bind", "/usr", "/usr"]);
        check(Mount::Writable { from: path("/w"), at: path("/w") }, &["--bind", "/w", "/w"]);
        check(Mount::Pin { at: path("/w/a") }, &["--bind", "/w/a", "/w/a"]);
        check(Mount::PinReadOnly { at: path("/w/.git") }, &["--ro-bind", "/w/.git", "/w/.git"]);
        check(Mount::EmptyFolder { at: path("/w/s") }, &["--tmpfs", "/w/s", "--remount-ro", "/w/s"]);
        check(Mount::EmptyFile { at: path("/w/.env") }, &["--ro-bind", "/private/text-0", "/w/.env"]);
        check(Mount::Memory { at: path("/tmp"), bytes: 9 }, &["--size", "9", "--tmpfs", "/tmp"]);
        check(Mount::Link { at: path("/bin"), to: path("usr/bin") }, &["--symlink", "usr/bin", "/bin"]);
        check(Mount::Processes, &["--proc", "/proc"]);
        check(Mount::Devices, &["--dev", "/dev"]);
    }

    #[test]
    fn names_of_the_kernel_are_covered() {
        let spec = CageSpec { mounts: vec![Mount::Processes], ..CageSpec::default() };
        let masked = vec![(OsString::from("keys"), false), (OsString::from("bus"), true)];
        let made = bubblewrap(&spec, Path::new("/p"), false, masked);
        let words: Vec<_> = made.arguments.iter().map(|it| it.to_str().unwrap()).collect();
        let expected =
            ["/proc", "--ro-bind", "/p/text-0", "/proc/keys", "--tmpfs", "/proc/bus", "--remount-ro"];
        assert!(words.windows(expected.len()).any(|found| found == expected), "{words:?}");
    }

    #[test]
    fn texts_are_written_once() {
        let text = |at: &str, text: &str| Mount::Text { at: PathBuf::from(at), text: text.to_owned() };
        let mounts = vec![text("/a", "x"), text("/b", "x"), text("/c", "y")];
        let made = bubblewrap(&CageSpec { mounts, ..CageSpec::default() }, Path::new("/p"), true, Vec::new());
        let expected = [("/p/text-0", "x"), ("/p/text-1", "y")];
        assert_eq!(made.files, expected.map(|(path, text)| (PathBuf::from(path), text.to_owned())));
    }

    #[test]
    fn firejail_has_the_flags_of_the_specification() {
        let expected = [
            "--noprofile",
            "--private-tmp",
            "--private-dev",
            "--noroot",
            "--net=none",
            "--whitelist=/w",
            "--",
        ];
        assert_eq!(firejail(Path::new("/w"), Path::new("/usr/bin/vambrace")), expected.map(OsString::from));
        let hidden = firejail(Path::new("/w/a"), Path::new("/w/vambrace"));
        assert!(hidden.contains(&OsString::from("--whitelist=/w/vambrace")));
    }
}

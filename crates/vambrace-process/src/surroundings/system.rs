//! The system as a cage shows it: programs and libraries, and of `/etc` what they need to start. No accounts of others,
//! no keys, no identity of the machine.

use std::path::Path;

use super::stage;
use crate::environment::CAGE_HOME;
use crate::spec::Mount;

/// Who programs run as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// Folders with programs and libraries; on most systems all but the first are links into it.
const FOLDERS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Parts of `/etc` that programs read to start, to find certificates, to name types and zones. Every mount costs every
/// start, so this is short, and small files are copied once.
const ETC: &[&str] = &[
    "alternatives",
    "crypto-policies",
    "debian_version",
    "fedora-release",
    "ld.so.cache",
    "localtime",
    "lsb-release",
    "maven/logging",
    "maven/m2.conf",
    "mime.types",
    "os-release",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "protocols",
    "redhat-release",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
];

/// Settings of each Java, and where musl's loader looks.
const ETC_BEGINNINGS: &[&str] = &["java-", "ld-musl-"];

const LARGEST_COPY: u64 = 16 * 1024;

pub(super) fn folders() -> Vec<Mount> {
    FOLDERS.iter().filter_map(|folder| system_folder(Path::new(folder))).collect()
}

/// All of `/etc`, to be staged.
pub(super) fn settings(user: &User) -> Vec<Mount> {
    let mut mounts: Vec<Mount> =
        ETC.iter().filter_map(|name| shown(&Path::new(stage::FOLDER).join(name))).collect();
    let mut others: Vec<_> = std::fs::read_dir(stage::FOLDER).into_iter().flatten().flatten().collect();
    others.retain(|entry| {
        let name = entry.file_name();
        ETC_BEGINNINGS.iter().any(|beginning| name.to_string_lossy().starts_with(beginning))
    });
    others.sort_by_key(std::fs::DirEntry::file_name);
    mounts.extend(others.iter().filter_map(|entry| shown(&entry.path())));
    let text = |name: &str, text: String| Mount::Text { at: Path::new(stage::FOLDER).join(name), text };
    mounts.push(text("passwd", passwd(user)));
    mounts.push(text("group", group(user)));
    mounts.push(text("hosts", "127.0.0.1 localhost cage\n::1 localhost\n".to_owned()));
    mounts.push(text("hostname", "cage\n".to_owned()));
    mounts.push(text("nsswitch.conf", NAMES.to_owned()));
    mounts.push(text("resolv.conf", String::new()));
    mounts
}

/// Only from the files in the cage: other sources speak to daemons of the host.
const NAMES: &str =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files\nprotocols: files\nservices: files\n";

fn system_folder(folder: &Path) -> Option<Mount> {
    let metadata = std::fs::symlink_metadata(folder).ok()?;
    let at = folder.to_owned();
    if metadata.is_symlink() {
        return Some(Mount::Link { at, to: std::fs::read_link(folder).ok()? });
    }
    metadata.is_dir().then(|| Mount::ReadOnly { from: at.clone(), at })
}

/// A link in `/etc` into the system folders stays one; any other is shown as what it leads to.
fn shown(path: &Path) -> Option<Mount> {
    let real = std::fs::canonicalize(path).ok()?;
    let at = path.to_owned();
    if real != path && real.starts_with("/usr") {
        return Some(Mount::Link { at, to: real });
    }
    let metadata = std::fs::metadata(&real).ok()?;
    if metadata.is_file()
        && metadata.len() <= LARGEST_COPY
        && let Ok(text) = std::fs::read_to_string(&real)
    {
        return Some(Mount::Text { at, text });
    }
    (metadata.is_dir() || metadata.is_file()).then_some(Mount::ReadOnly { from: real, at })
}

fn passwd(user: &User) -> String {
    let mut lines = Vec::new();
    // The first line with a number gives the name that programs print.
    lines.push(format!("{}:x:{}:{}::{CAGE_HOME}:/bin/sh", plain(&user.name), user.uid, user.gid));
    if user.uid != 0 {
        lines.push("root:x:0:0::/root:/bin/sh".to_owned());
    }
    lines.push("nobody:x:65534:65534::/nonexistent:/bin/false".to_owned());
    lines.join("\n") + "\n"
}

fn group(user: &User) -> String {
    let mut lines = vec![format!("{}:x:{}:", plain(&user.name), user.gid)];
    if user.gid != 0 {
        lines.push("root:x:0:".to_owned());
    }
    lines.push("nogroup:x:65534:".to_owned());
    lines.join("\n") + "\n"
}

/// A name with a colon or a line break would be another line.
fn plain(name: &str) -> String {
    let kept: String =
        name.chars().filter(|letter| letter.is_ascii_alphanumeric() || "._-".contains(*letter)).collect();
    if kept.is_empty() { "agent".to_owned() } else { kept }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn user(name: &str, uid: u32) -> User {
        User { name: name.to_owned(), uid, gid: uid }
    }

    #[track_caller]
    fn check(user: &User, expected: &str) {
        assert_eq!(passwd(user), expected);
    }

    #[test]
    fn accounts_are_ours_root_and_nobody() {
        let nobody = "nobody:x:65534:65534::/nonexistent:/bin/false\n";
        check(&user("root", 0), &format!("root:x:0:0::/home/agent:/bin/sh\n{nobody}"));
        let root = "root:x:0:0::/root:/bin/sh\n";
        check(&user("me", 1000), &format!("me:x:1000:1000::/home/agent:/bin/sh\n{root}{nobody}"));
        check(&user("m:0:0\ne", 7), &format!("m00e:x:7:7::/home/agent:/bin/sh\n{root}{nobody}"));
        check(&user("::", 7), &format!("agent:x:7:7::/home/agent:/bin/sh\n{root}{nobody}"));
    }

    #[test]
    fn nothing_of_the_person_or_the_machine_is_shown() {
        let secret =
            ["shadow", "gshadow", "ssh", "cron", "machine-id", "sudoers", "ssl/private", "pki/tls/private"];
        for mount in folders().into_iter().chain(settings(&user("root", 0))) {
            let (Mount::ReadOnly { at, .. } | Mount::Link { at, .. } | Mount::Text { at, .. }) = &mount
            else {
                panic!("{mount:?}");
            };
            let hidden: Vec<PathBuf> = secret.iter().map(|name| Path::new("/etc").join(name)).collect();
            assert!(!hidden.iter().any(|path| path.starts_with(at)), "{mount:?}");
        }
    }
}

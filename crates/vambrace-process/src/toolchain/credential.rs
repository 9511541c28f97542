//! Credentials that lie among the programs of a toolchain: known by where they lie, or, for files that a tool needs, by what
//! is in them. It reads small files of the person's own and changes nothing.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Credentials and nothing else, or settings without which a tool works. A lone `*` is every folder.
const BY_PLACE: &[&str] = &[
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".condarc",
    ".condarc.d",
    ".git-credentials",
    ".gem/credentials",
    "auth.toml",
    "condarc",
    "condarc.d",
    "credentials",
    "credentials.toml",
    "etc/npmrc",
    "gradle.properties",
    "npmrc",
    "pip.conf",
    "settings.xml",
    // Keys that .NET makes for a developer.
    "corefx",
    // Environments of conda, virtualenvwrapper, pipx, poetry and uv.
    "*/pip.conf",
    "envs/*/.condarc",
    "envs/*/condarc",
    "envs/*/etc/npmrc",
    "envs/*/pip.conf",
    // pyenv, nodenv, rbenv.
    "versions/*/.condarc",
    "versions/*/envs/*/pip.conf",
    "versions/*/etc/npmrc",
    "versions/*/pip.conf",
    // nvm, fnm, volta, asdf, mise, pnpm.
    "node/*/etc/npmrc",
    "io.js/*/etc/npmrc",
    "node/*/lib/node_modules/npm/npmrc",
    "node-versions/*/installation/etc/npmrc",
    "image/node/*/etc/npmrc",
    "image/npm/*/npmrc",
    "installs/*/*/.condarc",
    "installs/*/*/etc/npmrc",
    "installs/*/*/pip.conf",
    "global/*/.npmrc",
    // Where git notes the address it fetched from, for cargo and go.
    "db/*/FETCH_HEAD",
    "checkouts/*/*/.git/FETCH_HEAD",
    "cache/vcs/*/FETCH_HEAD",
];

/// What a tool may need, and which seldom holds a credential.
const BY_CONTENT: &[&str] = &[
    ".git/config",
    ".git/FETCH_HEAD",
    "plugins/*/.git/config",
    "db/*/config",
    "checkouts/*/*/.git/config",
    "cache/vcs/*/config",
    "go.env",
    "etc/gitconfig",
    "conf/settings.xml",
    "maven/*/conf/settings.xml",
    "gradle/*/gradle.properties",
];

/// LIMIT: a folder with more is masked as a whole; no manager of versions has so many.
const MOST_ENTRIES: usize = 1024;
/// A settings file that is longer is masked unread.
const LONGEST: u64 = 64 << 10;

/// The store of nix and the like hold programs by the ten thousand, written by their manager alone.
const WITHOUT_SETTINGS: &[&str] = &["/nix/store"];

/// How far beneath a toolchain's folder is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Places with a name of their own.
    Near,
    /// Places in folders that have to be listed first.
    Far,
}

/// What is to be masked beneath this folder.
pub(super) fn beneath(root: &Path, reach: Reach) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if WITHOUT_SETTINGS.iter().any(|store| root.starts_with(store)) {
        return found;
    }
    for (rows, is_it) in [(BY_PLACE, (|_| true) as fn(&Path) -> bool), (BY_CONTENT, holds_credentials)] {
        for row in rows.iter().filter(|row| row.contains('*') == (reach == Reach::Far)) {
            let parts: Vec<&str> = row.split('/').collect();
            add(root.to_owned(), &parts, is_it, &mut found);
        }
    }
    found
}

fn add(at: PathBuf, parts: &[&str], is_it: fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    match parts {
        [] if at.symlink_metadata().is_ok() && is_it(&at) => found.push(at),
        [] => {}
        ["*", rest @ ..] => {
            let Ok(mut entries) = std::fs::read_dir(&at) else { return };
            let folders = entries
                .by_ref()
                .take(MOST_ENTRIES)
                .flatten()
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.for_each(|folder| add(folder.path(), rest, is_it, found));
            // What is not looked into is not shown.
            if entries.next().is_some() {
                found.push(at);
            }
        }
        // Nothing is asked of what is not there: most rows belong to another toolchain.
        [name, rest @ ..] => {
            let path = at.join(name);
            if rest.is_empty() || path.is_dir() {
                add(path, rest, is_it, found);
            }
        }
    }
}

/// What cannot be read is taken for the worse.
fn holds_credentials(path: &Path) -> bool {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let Ok(file) = opened else { return true };
    if !file.metadata().is_ok_and(|found| found.is_file() && found.len() <= LONGEST) {
        return true;
    }
    let mut text = Vec::new();
    if file.take(LONGEST).read_to_end(&mut text).is_err() {
        return true;
    }
    is_secret(&String::from_utf8_lossy(&text))
}

/// An address with a name or a word before its host, or a value under a name that says what it is.
fn is_secret(text: &str) -> bool {
    let text = without_comments(text).to_lowercase();
    text.split("://").skip(1).any(|rest| {
        let end = rest.find(|c: char| c == '/' || c.is_whitespace() || "\"'<>".contains(c));
        rest.get(..end.unwrap_or(rest.len())).is_some_and(|authority| authority.contains('@'))
    }) || text.lines().any(names_a_secret)
}

fn names_a_secret(line: &str) -> bool {
    const WORDS: &[&str] =
        &["password", "passwd", "passphrase", "token", "secret", "extraheader", "_auth", "privatekey"];
    let line = line.trim();
    if line.starts_with(['#', ';', '!']) {
        return false;
    }
    let Some((name, value)) = line.split_once(['=', ':', '>']) else { return false };
    let value = value.trim_start_matches([' ', '"', '\'']);
    WORDS.iter().any(|word| name.contains(word)) && !value.is_empty() && !value.starts_with("</")
}

/// Of XML: what Maven ships explains passwords in comments.
fn without_comments(text: &str) -> String {
    let mut pieces = text.split("<!--");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |mut kept, piece| {
        kept.push_str(piece.split_once("-->").map_or("", |(_, rest)| rest));
        kept
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, content: &str, expected: bool) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        let found = [Reach::Near, Reach::Far].map(|reach| beneath(root.path(), reach)).concat();
        let expected = if expected { vec![path] } else { Vec::new() };
        assert_eq!(found, expected, "{file} {content:?}");
    }

    #[test]
    fn credentials_are_known_by_their_place() {
        for file in [
            "pip.conf",
            ".condarc",
            "envs/shop/pip.conf",
            "shop/pip.conf",
            "versions/3.12.1/pip.conf",
            "versions/3.12.1/envs/shop/pip.conf",
            "node/v22.1.0/etc/npmrc",
            "node-versions/v22/installation/etc/npmrc",
            "image/node/22.1.0/etc/npmrc",
            "installs/node/22.1.0/etc/npmrc",
            "db/shop-0a1b/FETCH_HEAD",
            "checkouts/shop-0a1b/0a1b/.git/FETCH_HEAD",
            "cache/vcs/0a1b/FETCH_HEAD",
        ] {
            check(file, "", true);
        }
        check("versions/3.12.1/lib/pip.conf.py", "", false);
        check("node/v22.1.0/etc/npmrc.example", "", false);
        check("bin/pip", "", false);
    }

    #[test]
    fn what_a_tool_needs_is_masked_only_with_a_credential_in_it() {
        let with = |scheme: &str| format!("[remote \"origin\"]\n\turl = {scheme}://me:word@host.test/x\n");
        check("db/shop-0a1b/config", &with("https"), true);
        check("db/shop-0a1b/config", "[core]\n\tbare = true\n", false);
        check("checkouts/s/0/.git/config", "[remote]\n\turl = https://host.test/a@b\n", false);
        check("cache/vcs/0a1b/config", "[http]\n\textraHeader = Authorization: Basic x\n", true);
        check("go.env", "GOPROXY=https://x@host.test,direct\n", true);
        check("go.env", "# password: none\nGOPROXY=https://host.test,direct\nGOTOOLCHAIN=auto\n", false);
        check("conf/settings.xml", "<settings><!-- <password>p</password> --></settings>", false);
        check("conf/settings.xml", "<server>\n <password>p</password>\n</server>", true);
        check("conf/settings.xml", "<server>\n <password></password>\n</server>", false);
        check("gradle/8.1/gradle.properties", "mavenPassword=p\n", true);
        check("gradle/8.1/gradle.properties", "org.gradle.jvmargs=-Xmx1g\n", false);
        check("go.env", &"x".repeat(70_000), true);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("go.env");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .unwrap();
        assert_eq!(beneath(root.path(), Reach::Near), [path]);
    }
}

//! Credentials that lie among the programs of a toolchain: known by where they lie, or, for files that a tool needs, by what
//! is in them. It reads small files of the person's own and changes nothing.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Files that several folders may hold. In a place or a name, `*` is every folder and `*.*` every
/// file. `**` ends a place: every repository beneath it. `.` is the toolchain's own folder; `/NAME`
/// is that folder only if it is called NAME, because elsewhere a file `rc` or `vars` may be a
/// program.
struct Group {
    places: &'static [&'static str],
    /// Credentials and nothing else, or settings without which a tool works.
    by_place: &'static [&'static str],
    /// What a tool may need, and which seldom holds a credential.
    by_content: &'static [&'static str],
}

const GROUPS: &[Group] = &[
    Group {
        places: &["."],
        by_place: &[
            ".pypirc",
            ".netrc",
            ".condarc.d",
            ".git-credentials",
            ".gem/credentials",
            "NuGet.Config",
            "NuGet.config",
            "auth.toml",
            "condarc.d",
            // Keys that .NET makes for a developer.
            "corefx",
            "credentials",
            "credentials.toml",
            "gradle.properties",
            "npmrc",
            "nuget.config",
            "settings.xml",
        ],
        by_content: &["etc/gitconfig", "go.env"],
    },
    // Settings of pnpm, and the variables of rbenv.
    Group { places: &["/pnpm", "/.pnpm"], by_place: &["rc"], by_content: &[] },
    Group { places: &["/.rbenv", "/rbenv"], by_place: &["vars"], by_content: &[] },
    // Environments of conda, virtualenvwrapper, pipx, poetry, uv, pyenv, asdf and mise. What is run
    // when one is entered may set variables, and conda keeps some that the person gave it.
    Group {
        places: &[".", "*", "envs/*", "versions/*", "versions/*/envs/*", "installs/*/*"],
        by_place: &[".condarc", ".env", "condarc", "pip.conf"],
        by_content: &[
            "bin/postactivate",
            "conda-meta/state",
            "etc/conda/activate.d/*.*",
            "pipx_metadata.json",
            "uv-receipt.toml",
        ],
    },
    // npm for nvm, nodenv, fnm, volta, conda, asdf and mise, and what pnpm installs for the person.
    Group {
        places: &[
            ".",
            "envs/*",
            "global/*",
            "image/node/*",
            "installs/*/*",
            "io.js/*",
            "node/*",
            "node-versions/*/installation",
            "versions/*",
        ],
        by_place: &[".npmrc", "etc/npmrc", "lib/node_modules/npm/npmrc"],
        by_content: &[],
    },
    Group { places: &["image/npm/*"], by_place: &["npmrc"], by_content: &[] },
    // Maven by itself and for sdkman, asdf, mise and its wrapper.
    Group {
        places: &[
            ".",
            "dists/*/*",
            "dists/*/*/*",
            "installs/maven/*",
            "installs/maven/*/*",
            "installs/mvnd/*/mvn",
            "installs/mvnd/*/*/mvn",
            "maven/*",
            "mvnd/*/mvn",
        ],
        by_place: &["conf/settings-security.xml"],
        by_content: &["conf/settings.xml"],
    },
    Group {
        places: &["gradle/*", "installs/gradle/*", "installs/gradle/*/*"],
        by_place: &[],
        by_content: &["gradle.properties", "init.d/*.*"],
    },
    // Repositories: of a toolchain itself, its plugins, cargo's and go's sources, what pip was told
    // to edit, Homebrew's taps. Where git notes the address it fetched from, nothing looks; its
    // settings hold the same address.
    Group {
        places: &[
            ".git",
            ".git/modules/**",
            "Homebrew/.git",
            "Homebrew/Library/Taps/*/*/.git",
            "cache/vcs/*",
            "checkouts/*/*/.git",
            "checkouts/*/*/.git/modules/**",
            "db/*",
            "index/*",
            "index/*/.git",
            "plugins/*/.git",
            "plugins/*/.git/modules/**",
            "src/*/.git",
            "*/src/*/.git",
            "envs/*/src/*/.git",
            "versions/*/src/*/.git",
            "versions/*/envs/*/src/*/.git",
        ],
        by_place: &["FETCH_HEAD"],
        by_content: &["config"],
    },
];

/// LIMIT: a folder with more entries, files included, is masked as a whole.
const MOST_ENTRIES: usize = 1024;
/// A settings file that is longer is masked unread.
const LONGEST: u64 = 64 << 10;
/// LIMIT: submodules further in than this, by their names and each other, are masked unread.
const DEEPEST: usize = 4;

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
    let mut found = Found::default();
    if WITHOUT_SETTINGS.iter().any(|store| root.starts_with(store)) {
        return Vec::new();
    }
    let is_far = reach == Reach::Far;
    for group in GROUPS {
        for place in group.places {
            let is_wanted = |name: &&&str| (place.contains('*') || name.contains('*')) == is_far;
            let by_place: Vec<&str> = group.by_place.iter().filter(is_wanted).copied().collect();
            let by_content: Vec<&str> = group.by_content.iter().filter(is_wanted).copied().collect();
            let is_of_another = place.strip_prefix('/').is_some_and(|name| !root.ends_with(name));
            if is_of_another || (by_place.is_empty() && by_content.is_empty()) {
                continue;
            }
            let is_root = *place == "." || place.starts_with('/');
            let parts: Vec<&str> = if is_root { Vec::new() } else { place.split('/').collect() };
            each(root.to_owned(), &parts, &mut found, &mut |folder, found| {
                add(&folder, &by_place, |_| true, found);
                add(&folder, &by_content, holds_credentials, found);
            });
        }
    }
    found.masks()
}

#[derive(Debug, Default)]
struct Found {
    masked: Vec<PathBuf>,
    /// Folders that were not looked into, or not far enough: what is not looked into is not shown.
    whole: Vec<PathBuf>,
}

impl Found {
    /// Nothing can be masked in what is masked.
    fn masks(mut self) -> Vec<PathBuf> {
        // A folder stands before what is in it.
        self.whole.sort();
        self.whole.dedup_by(|path, outer| path.starts_with(&*outer));
        self.masked.retain(|path| !self.whole.iter().any(|whole| path.starts_with(whole)));
        self.masked.append(&mut self.whole);
        self.masked
    }
}

fn add(folder: &Path, names: &[&str], is_it: fn(&Path) -> bool, found: &mut Found) {
    for name in names {
        let parts: Vec<&str> = name.split('/').collect();
        each(folder.to_owned(), &parts, found, &mut |path, found| {
            if path.symlink_metadata().is_ok() && is_it(&path) {
                found.masked.push(path);
            }
        });
    }
}

/// What is done with a path, and what was found so far.
type Then<'t> = dyn FnMut(PathBuf, &mut Found) + 't;

fn each(at: PathBuf, parts: &[&str], found: &mut Found, then: &mut Then<'_>) {
    match parts {
        [] => then(at, found),
        ["**"] => repositories(&at, DEEPEST, found, then),
        [part @ ("*" | "*.*"), rest @ ..] => {
            for path in listed(&at, *part == "*", found) {
                each(path, rest, found, then);
            }
        }
        // Nothing is asked of what is not there: most rows belong to another toolchain.
        [name, rest @ ..] => {
            let path = at.join(name);
            if rest.is_empty() || path.is_dir() {
                each(path, rest, found, then);
            }
        }
    }
}

/// Submodules lie beneath names that are paths, and one may have others. Nothing else of a
/// repository is walked: it has hundreds of folders.
fn repositories(at: &Path, depth: usize, found: &mut Found, then: &mut Then<'_>) {
    for folder in listed(at, true, found) {
        let is_one = folder.join("HEAD").symlink_metadata().is_ok();
        let inner = if is_one { folder.join("modules") } else { folder.clone() };
        then(folder, found);
        match depth.checked_sub(1) {
            Some(depth) => repositories(&inner, depth, found, then),
            None if inner.is_dir() => found.whole.push(inner),
            None => {}
        }
    }
}

/// Its folders, or everything else in it.
fn listed(at: &Path, folders: bool, found: &mut Found) -> Vec<PathBuf> {
    let Ok(mut entries) = std::fs::read_dir(at) else { return Vec::new() };
    let first = entries.by_ref().take(MOST_ENTRIES).flatten();
    let wanted = first.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir() == folders));
    let paths = wanted.map(|entry| entry.path()).collect();
    if entries.next().is_some() {
        found.whole.push(at.to_owned());
    }
    paths
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
        let authority = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        // Every key for ssh has this name before its host.
        authority.rsplit_once('@').is_some_and(|(who, _)| who != "git")
    }) || text.lines().any(names_a_secret)
}

fn names_a_secret(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with(['#', ';', '!']) {
        return false;
    }
    // JSON and the tables of TOML stand in one line.
    gives_a_secret(line) || line.split([',', '{', ';']).any(gives_a_secret)
}

fn gives_a_secret(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "password",
        "passwd",
        "passphrase",
        "token",
        "secret",
        "extraheader",
        "_auth",
        "privatekey",
        "apikey",
        "api-key",
    ];
    // Groovy: `password "value"`.
    let (first, rest) = text.trim().split_once(' ').unwrap_or_default();
    if WORDS.contains(&first) && rest.trim_start().starts_with(['"', '\'']) {
        return true;
    }
    let Some((name, value)) = text.split_once(['=', ':', '>']) else { return false };
    let name = name.trim_end_matches([' ', '"', '\'']);
    let value = value.trim_start_matches([' ', '"', '\'', '}', ']']);
    let is_named = name.ends_with("_key") || WORDS.iter().any(|word| name.contains(word));
    is_named && !value.is_empty() && !value.starts_with("</")
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
    fn check_in(toolchain: &str, file: &str, content: &str, expected: bool) {
        let parent = tempfile::tempdir().unwrap();
        let root = parent.path().join(toolchain);
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        let found = [Reach::Near, Reach::Far].map(|reach| beneath(&root, reach)).concat();
        let expected = if expected { vec![path] } else { Vec::new() };
        assert_eq!(found, expected, "{toolchain} {file} {content:?}");
    }

    #[track_caller]
    fn check(file: &str, content: &str, expected: bool) {
        check_in("toolchain", file, content, expected);
    }

    #[test]
    fn credentials_are_known_by_their_place() {
        for file in [
            "pip.conf",
            ".condarc",
            ".npmrc",
            "NuGet.Config",
            "nuget.config",
            "envs/shop/pip.conf",
            "shop/pip.conf",
            "shop/.env",
            "versions/3.12.1/pip.conf",
            "versions/3.12.1/envs/shop/pip.conf",
            "lib/node_modules/npm/npmrc",
            "node/v22.1.0/etc/npmrc",
            "node/v22.1.0/lib/node_modules/npm/npmrc",
            "node-versions/v22/installation/etc/npmrc",
            "image/node/22.1.0/etc/npmrc",
            "image/npm/10.1.0/npmrc",
            "global/5/.npmrc",
            "installs/node/22.1.0/etc/npmrc",
            "installs/nodejs/22.1.0/lib/node_modules/npm/npmrc",
            "installs/python/3.12.1/.condarc",
            "maven/3.9.9/conf/settings-security.xml",
            ".git/FETCH_HEAD",
            ".git/modules/a/b/FETCH_HEAD",
            "plugins/ruby/.git/FETCH_HEAD",
            "db/shop-0a1b/FETCH_HEAD",
            "checkouts/shop-0a1b/0a1b/.git/FETCH_HEAD",
            "index/shop-0a1b/.git/FETCH_HEAD",
            "cache/vcs/0a1b/FETCH_HEAD",
            "shop/src/lib/.git/FETCH_HEAD",
            "Homebrew/Library/Taps/me/homebrew-shop/.git/FETCH_HEAD",
        ] {
            check(file, "", true);
        }
        check_in("pnpm", "rc", "", true);
        check_in(".rbenv", "vars", "", true);
        check_in("bin", "rc", "", false); // a shell
        check_in("pnpm", "global/rc", "", false);
        check_in("bin", "vars", "", false);
        for file in [
            "versions/3.12.1/lib/pip.conf.py",
            "node/v22.1.0/etc/npmrc.example",
            "bin/pip",
            "shop/lib/.env",
            "shop/.environment",
            "lib/node_modules/npm/npmrc.md",
            "lib/node_modules/npm/lib/npmrc",
            "NuGet.Config.md",
            "sdk/9.0/NuGet.Config",
            "installs/maven/3.9.9/lib/settings-security.xml",
            "plugins/FETCH_HEAD",
            "plugins/ruby/FETCH_HEAD",
            "checkouts/shop-0a1b/0a1b/docs/FETCH_HEAD",
        ] {
            check(file, "", false);
        }
    }

    #[test]
    fn what_a_tool_needs_is_masked_only_with_a_credential_in_it() {
        let with = |scheme: &str| format!("[remote \"origin\"]\n\turl = {scheme}://me:word@host.test/x\n");
        for file in [
            ".git/config",
            ".git/modules/lib/config",
            ".git/modules/vendor/lib/config",
            "plugins/ruby/.git/config",
            "plugins/ruby/.git/modules/lib/config",
            "db/shop-0a1b/config",
            "checkouts/s/0/.git/config",
            "checkouts/s/0/.git/modules/lib/config",
            "checkouts/s/0/.git/modules/vendor/host/lib/config",
            "index/shop-0a1b/.git/config",
            "src/lib/.git/config",
            "envs/shop/src/lib/.git/config",
        ] {
            check(file, &with("https"), true);
            check(file, "[core]\n\tbare = true\n", false);
        }
        check("plugins/ruby/config", &with("https"), false);
        check("index/shop-0a1b/config.json", &with("https"), false);
        check("checkouts/s/0/.git/config", "[remote]\n\turl = https://host.test/a@b\n", false);
        check("checkouts/s/0/.git/config", "[remote]\n\turl = ssh://git@host.test/a\n", false);
        check("checkouts/s/0/.git/config", "[remote]\n\turl = https://git:word@host.test/a\n", true);
        check("cache/vcs/0a1b/config", "[http]\n\textraHeader = Authorization: Basic x\n", true);
        check("go.env", "GOPROXY=https://x@host.test,direct\n", true);
        check("go.env", "# password: none\nGOPROXY=https://host.test,direct\nGOTOOLCHAIN=auto\n", false);
        for file in [
            "conf/settings.xml",
            "maven/3.9.9/conf/settings.xml",
            "installs/maven/3.9.9/conf/settings.xml",
            "installs/maven/3.9.9/apache-maven-3.9.9/conf/settings.xml",
            "dists/apache-maven-3.9.9/0a1b/conf/settings.xml",
            "dists/apache-maven-3.9.9-bin/0a1b/apache-maven-3.9.9/conf/settings.xml",
        ] {
            check(file, "<settings><!-- <password>p</password> --></settings>", false);
            check(file, "<server>\n <password>p</password>\n</server>", true);
            check(file, "<server>\n <password></password>\n</server>", false);
        }
        check("dists/a/b/c/d/conf/settings.xml", "<password>p</password>", false);
        for file in [
            "gradle/8.1/gradle.properties",
            "installs/gradle/8.1/gradle.properties",
            "installs/gradle/8.1/gradle-8.1/gradle.properties",
        ] {
            check(file, "mavenPassword=p\n", true);
            check(file, "org.gradle.jvmargs=-Xmx1g\n", false);
        }
        check("gradle/8.1/init.d/shop.gradle", "credentials {\n  password \"p\"\n}\n", true);
        check("gradle/8.1/init.d/shop.gradle", "allprojects { repositories { mavenLocal() } }\n", false);
        check("gradle/8.1/init.d/readme.txt", "The password is in the safe.\n", false);
        check("go.env", &"x".repeat(70_000), true);
    }

    #[test]
    fn what_an_environment_keeps_is_masked_only_with_a_credential_in_it() {
        for environment in ["", "envs/shop/", "shop/", "versions/miniforge3/envs/shop/"] {
            let state = format!("{environment}conda-meta/state");
            check(&state, r#"{"version": 1, "env_vars": {"API_KEY": "x"}}"#, true);
            check(&state, r#"{"env_vars":{"DB":"postgres://me:word@host.test/x"}}"#, true);
            check(&state, r#"{"version":1,"env_vars":{"RUST_LOG":"info"}}"#, false);
            check(&state, r#"{"env_vars":{"API_KEY":""}}"#, false);
            let script = format!("{environment}etc/conda/activate.d/env_vars.sh");
            check(&script, "#!/bin/sh\nexport API_KEY=x\n", true);
            check(&script, "export CC=\"$CONDA_PREFIX/bin/cc\" KEYS=\n", false);
            check(&format!("{environment}etc/conda/deactivate.d/env_vars.sh"), "export API_KEY=x\n", false);
            check(&format!("{environment}bin/postactivate"), "export SHOP_TOKEN=x\n", true);
            check(&format!("{environment}bin/postactivate"), "cd ~/shop\n", false);
        }
        let index = |who: &str| format!(r#"{{"pip_args":["--index-url","https://{who}host.test/simple"]}}"#);
        check("black/pipx_metadata.json", &index("me:word@"), true);
        check("black/pipx_metadata.json", &index(""), false);
        check("black/uv-receipt.toml", "index = [{ url = \"https://me:word@host.test\" }]\n", true);
        check("black/uv-receipt.toml", "requirements = [{ name = \"black\" }]\n", false);
        check("black/lib/uv-receipt.toml", "index = [{ url = \"https://me:word@host.test\" }]\n", false);
    }

    #[test]
    fn of_a_repository_only_its_submodules_are_walked() {
        let root = tempfile::tempdir().unwrap();
        let modules = root.path().join(".git/modules");
        let make = |file: &str| {
            let path = modules.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "url = https://me:word@host.test/x\n").unwrap();
        };
        for file in ["a/HEAD", "a/config", "a/objects/config", "a/modules/b/config", "v/w/x/y/config"] {
            make(file);
        }
        let check = |expected: &[&str]| {
            let mut found = beneath(root.path(), Reach::Far);
            found.sort();
            let expected: Vec<PathBuf> = expected.iter().map(|file| modules.join(file)).collect();
            assert_eq!(found, expected);
        };
        check(&["a/config", "a/modules/b/config", "v/w/x/y/config"]);
        // What lies too deep is masked as a whole.
        make("v/w/x/y/z/config");
        check(&["a/config", "a/modules/b/config", "v/w/x/y/config", "v/w/x/y/z"]);
    }

    #[test]
    fn a_folder_with_too_much_in_it_is_masked_as_a_whole() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("etc/conda/activate.d");
        std::fs::create_dir_all(&folder).unwrap();
        let make = |name: usize| std::fs::write(folder.join(format!("{name}.sh")), "API_KEY=x").unwrap();
        (0..MOST_ENTRIES).for_each(make);
        assert_eq!(beneath(root.path(), Reach::Far).len(), MOST_ENTRIES);
        // Alone, because nothing can be masked in what is masked.
        make(MOST_ENTRIES);
        assert_eq!(beneath(root.path(), Reach::Far), [folder]);
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

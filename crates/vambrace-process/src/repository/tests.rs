//! Real git on hostile repositories, with the mounts of a cage made by hand. Every row is first shown to bite without
//! them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::Arc;

use vambrace_policy::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks};
use vambrace_types::Bearings;

use super::*;
use crate::environment::{Git, Reach, SafeEnvironment};
use crate::settings::Inherit;
use crate::workspace::Walker;

struct Place {
    _root: tempfile::TempDir,
    base: PathBuf,
    work: PathBuf,
    canary: PathBuf,
}

/// A repository with one commit and one changed file, in `work`.
fn place() -> Place {
    let root = tempfile::tempdir().unwrap();
    let base = root.path().canonicalize().unwrap();
    let work = base.join("work");
    std::fs::create_dir(&work).unwrap();
    let place = Place { _root: root, canary: base.join("canary"), base, work };
    repository(&place.work);
    place
}

fn repository(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("file.txt"), "one\n").unwrap();
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    for arguments in
        [vec!["init", "-q", "-b", "main"], vec!["add", "file.txt"], vec!["commit", "-q", "-m", "one"]]
    {
        let done = plain_git(folder).args(author).args(&arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }
    std::fs::write(folder.join("file.txt"), "two and more\n").unwrap();
}

fn plain_git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git
}

impl Place {
    fn plant(&self, repository: &str, config: &str) {
        let path = self.work.join(repository).join("config");
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let config = config.replace("BITE", &format!("touch {}", self.canary.display()));
        std::fs::write(path, old + &config).unwrap();
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.work.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text.replace("BITE", &format!("touch {}", self.canary.display()))).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn shown(&self, access: Repository) -> Shown {
        let settings = ScopeSettings {
            bearings: Bearings::new(&[self.work.to_str().unwrap()], "", &[]),
            isolation: Isolation::Strict,
            block_patterns: Vec::new(),
            shared_inside_own: false,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        };
        let walker = Walker::new(self.work.clone(), Arc::new(Scope::new(settings).unwrap()));
        show(&walker.walk().unwrap(), access)
    }

    /// git as a cage runs it: the mounts in a mount namespace of its own, the safe environment.
    fn caged(&self, folder: &str, access: Repository, arguments: &[&str]) -> std::process::Output {
        let shown = self.shown(access);
        let author = Author { name: "A \"B\" C".to_owned(), email: "a@example.org".to_owned() };
        let system = self.base.join("gitconfig");
        std::fs::write(&system, direct_config(Some(&author), &shown.trees)).unwrap();
        let mut script = String::from("set -e\n");
        for (number, mount) in shown.mounts.iter().enumerate() {
            script.push_str(&self.mount_line(mount, number));
        }
        script.push_str("cd \"$1\"; shift; exec \"$@\"\n");
        let environment = SafeEnvironment {
            path: std::env::split_paths(&plain_path()).collect(),
            home: self.base.join("home"),
            user: "agent".to_owned(),
            inherit: Inherit::Names(Vec::new()),
            host: BTreeMap::new(),
            toolchain: Vec::new(),
        };
        let variables = environment.build(&[], Git::Direct, &Reach::Nothing, &|_| None).unwrap().variables;
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]);
        command.arg(self.work.join(folder)).arg("git").args(arguments);
        command.env_clear().envs(variables).env("GIT_CONFIG_SYSTEM", system).output().unwrap()
    }

    fn mount_line(&self, mount: &Mount, number: usize) -> String {
        let bind = |from: &Path, at: &Path, mode: &str| {
            let (from, at) = (from.display(), at.display());
            format!("mount --bind '{from}' '{at}'\nmount -o remount,bind,{mode} '{at}'\n")
        };
        let own = self.base.join(format!("mount-{number}"));
        match mount {
            Mount::Pin { at } => bind(at, at, "rw"),
            Mount::PinReadOnly { at } => bind(at, at, "ro"),
            Mount::EmptyFolder { at } => {
                std::fs::create_dir_all(&own).unwrap();
                bind(&own, at, "ro")
            }
            Mount::EmptyFile { at } => {
                std::fs::write(&own, "").unwrap();
                bind(&own, at, "ro")
            }
            Mount::Text { at, text } => {
                std::fs::write(&own, text).unwrap();
                bind(&own, at, "ro")
            }
            other => panic!("not in a lone project: {other:?}"),
        }
    }

    fn bitten(&self) -> bool {
        std::fs::remove_file(&self.canary).is_ok()
    }
}

/// Where this machine has its git.
fn plain_path() -> String {
    let found = Command::new("sh").args(["-c", "command -v git"]).output().unwrap();
    let git = String::from_utf8(found.stdout).unwrap();
    format!("{}:/usr/bin:/bin", Path::new(git.trim()).parent().unwrap().display())
}

/// The command bites on the host, and not in the cage.
#[track_caller]
fn check(place: &Place, folder: &str, arguments: &[&str]) {
    // Before the control, which may leave its mark in the index.
    let output = place.caged(folder, Repository::ReadOnly, arguments);
    assert!(!place.bitten(), "{arguments:?} started a program: {output:?}");
    let control = plain_git(&place.work.join(folder)).args(arguments).output().unwrap();
    assert!(place.bitten(), "{arguments:?} is no test, nothing was started: {control:?}");
}

#[test]
fn configuration_starts_nothing() {
    let rows: [(&str, &str, &[&str]); 6] = [
        ("[filter \"x\"]\n\tclean = BITE; cat\n", "* filter=x\n", &["diff"]),
        ("[diff \"x\"]\n\ttextconv = BITE; cat\n", "* diff=x\n", &["diff"]),
        ("[diff \"x\"]\n\tcommand = BITE; true\n", "* diff=x\n", &["diff"]),
        ("[diff]\n\texternal = BITE; true\n", "", &["diff"]),
        ("[core]\n\tfsmonitor = BITE; true\n", "", &["status"]),
        ("[alias]\n\tst = \"!BITE\"\n", "", &["st"]),
    ];
    for (config, attributes, arguments) in rows {
        let place = place();
        place.plant(".git", config);
        place.file(".gitattributes", attributes);
        check(&place, "", arguments);
    }
}

#[test]
fn hooks_start_nothing_even_where_the_repository_may_change() {
    let place = place();
    place.file(".git/hooks/pre-commit", "#!/bin/sh\nBITE\n");
    let commit = ["commit", "-a", "-m", "two"];
    let done = place.caged("", Repository::Writable, &commit);
    assert!(done.status.success(), "{done:?}");
    assert!(!place.bitten());
    let log = place.caged("", Repository::ReadOnly, &["log", "--format=%an %s"]);
    assert_eq!(String::from_utf8_lossy(&log.stdout), "A \"B\" C two\na one\n", "{log:?}");
    let refused = place.caged("", Repository::ReadOnly, &["commit", "--allow-empty", "-m", "three"]);
    assert!(!refused.status.success(), "{refused:?}");
}

#[test]
fn other_repositories_start_nothing() {
    let bite = "[core]\n\tfsmonitor = BITE; true\n";
    let inner = place();
    repository(&inner.work.join("vendor/inner"));
    inner.plant("vendor/inner/.git", bite);
    check(&inner, "vendor/inner", &["status"]);

    // Not walked, so not opened.
    let modules = place();
    repository(&modules.work.join("node_modules/x"));
    modules.plant("node_modules/x/.git", bite);
    check(&modules, "node_modules/x", &["status"]);

    let bare = place();
    repository(&bare.work.join("sub"));
    std::fs::rename(bare.work.join("sub/.git"), bare.work.join("sub/x")).unwrap();
    bare.plant("sub/x", "[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = BITE; true\n");
    check(&bare, "sub/x", &["status"]);
}

#[test]
fn a_git_file_leads_nowhere_else() {
    let bite = "[core]\n\tfsmonitor = BITE; true\n";
    let file = place();
    repository(&file.work.join("node_modules/x"));
    file.plant("node_modules/x/.git", bite);
    file.file("tree/.git", "gitdir: ../node_modules/x/.git\n");
    check(&file, "tree", &["status"]);

    let link = place();
    repository(&link.work.join("node_modules/x"));
    link.plant("node_modules/x/.git", bite);
    std::fs::create_dir(link.work.join("tree")).unwrap();
    std::os::unix::fs::symlink("../node_modules/x/.git", link.work.join("tree/.git")).unwrap();
    check(&link, "tree", &["status"]);

    let common = place();
    repository(&common.work.join("node_modules/x"));
    common.plant("node_modules/x/.git", bite);
    common.file(".git/commondir", "../node_modules/x/.git\n");
    check(&common, "", &["status"]);
}

#[test]
fn everyday_git_works() {
    let place = place();
    for (arguments, expected) in [
        (vec!["status", "--short"], " M file.txt\n"),
        (vec!["diff", "--stat"], " file.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n"),
        (vec!["log", "--oneline", "--format=%s"], "one\n"),
        (vec!["branch", "--show-current"], "main\n"),
        (vec!["show", "HEAD:file.txt"], "one\n"),
    ] {
        let done = place.caged("", Repository::ReadOnly, &arguments);
        assert_eq!(String::from_utf8_lossy(&done.stdout), expected, "{arguments:?} {done:?}");
    }
    let added = place.caged("", Repository::Writable, &["worktree", "add", "-q", "tree"]);
    assert!(added.status.success(), "{added:?}");
    let linked = place.caged("tree", Repository::ReadOnly, &["log", "--format=%s"]);
    assert_eq!(String::from_utf8_lossy(&linked.stdout), "one\n", "{linked:?}");
}

/// Which paths of the service a configuration makes read-only, and which folders on the way are pinned.
#[track_caller]
fn leads(config: &str, access: Repository, expected: &[&str]) {
    let place = place();
    let here = place.work.file_name().unwrap().to_str().unwrap();
    let config = config.replace("WORK", place.work.to_str().unwrap()).replace("HERE", here);
    place.plant(".git", &config);
    for file in
        ["tools/hooks/pre-commit", "tools/clean.sh", "tools/a b.sh", "src/main.rs", ".git/own/pre-push"]
    {
        place.file(file, "#!/bin/sh\n");
    }
    place.file("tools/more.cfg", "[core]\n\tsshCommand = src/main.rs\n[include]\n\tpath = more.cfg\n");
    std::fs::write(place.base.join("outer.cfg"), "[core]\n\thooksPath = tools/hooks\n").unwrap();
    let held: Vec<String> = place
        .shown(access)
        .mounts
        .iter()
        .filter_map(|mount| {
            let (mark, at) = match mount {
                Mount::Pin { at } => ("pin ", at),
                Mount::PinReadOnly { at } => ("", at),
                _ => return None,
            };
            let path = at.strip_prefix(&place.work).unwrap().to_str().unwrap();
            (path != ".git").then(|| format!("{mark}{path}"))
        })
        .collect();
    assert_eq!(held, expected, "{config}");
}

#[test]
fn what_the_persons_git_would_run_is_read_only() {
    use Repository::{ReadOnly, Writable};
    leads("", ReadOnly, &[]);
    let hooks = ["pin tools", "tools/hooks"];
    leads("[core]\n\thooksPath = tools/hooks\n", ReadOnly, &hooks);
    leads("[core]\n\thookspath = \"WORK/tools/./hooks/\"\n", Writable, &hooks);
    leads("[core]\n\thooksPath = ~/HERE/tools/hooks\n", ReadOnly, &hooks);
    leads("[include]\n\tpath = ../../outer.cfg\n", ReadOnly, &hooks);
    leads("[core]\n\thooksPath = .git/own\n", Writable, &[".git/own"]);
    leads("[core]\n\thooksPath = .git/hooks\n", Writable, &[]);
    leads("[core]\n\thooksPath = /dev/null\n[init]\n\ttemplateDir = absent\n", ReadOnly, &[]);
    let included = ["pin src", "pin tools", "src/main.rs", "tools/more.cfg"];
    leads("[include]\n\tpath = ../tools/more.cfg\n", ReadOnly, &included);
    leads("[includeIf \"gitdir:/x\"]\n\tpath = WORK/tools/more.cfg\n", ReadOnly, &included);
    let clean = ["pin tools", "tools/clean.sh"];
    for line in [
        "[filter \"x\"]\n\tclean = sh tools/clean.sh %f",
        "[filter \"x\"]\n\tprocess = ./tools/clean.sh",
        "[diff \"x\"]\n\ttextconv = \"'tools/clean.sh' src\"",
        "[merge \"x\"]\n\tdriver = \"true; tools/clean.sh\"",
        "[credential \"https://example.org\"]\n\thelper = \"!WORK/tools/clean.sh\"",
        "[gpg]\n\tprogram = tools/clean.sh",
        "[alias]\n\tst = \"!$(git rev-parse --show-toplevel)/tools/clean.sh\"",
        "[core]\n\tfsmonitor = tools/clean.sh",
        "[learned]\n\tnextYear = tools/clean.sh",
    ] {
        leads(&format!("{line}\n"), ReadOnly, &clean);
    }
    leads("[core]\n\teditor = tools/a b.sh\n", ReadOnly, &["pin tools", "tools/a b.sh"]);
    leads("[commit]\n\ttemplate = src/main.rs\n[core]\n\tpager = less src\n", ReadOnly, &[]);
}

/// The pins as a cage mounts them: nothing is written, moved or replaced, and the rest of the service is free.
#[test]
fn hooks_elsewhere_cannot_be_planted() {
    let place = place();
    place.plant(".git", "[core]\n\thooksPath = tools/hooks\n");
    place.file("tools/hooks/pre-commit", "#!/bin/sh\n");
    // An alias of the command line is a shell inside the mounts.
    let script = "alias.x=!cd tools; (echo x > hooks/pre-commit) 2>/dev/null || echo a; \
         (echo x > hooks/post-commit) 2>/dev/null || echo b; mv hooks other 2>/dev/null || echo c; \
         cd ..; mv tools other 2>/dev/null || echo d; echo x > tools/free && echo e";
    let done = place.caged("", Repository::ReadOnly, &["-c", script, "x"]);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "a\nb\nc\nd\ne\n", "{done:?}");
    assert_eq!(std::fs::read_to_string(place.work.join("tools/hooks/pre-commit")).unwrap(), "#!/bin/sh\n");
}

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use vambrace_policy::{HardLinks, ScopeSettings, Symlinks};
use vambrace_types::Bearings;

use super::*;

mod agreement;

struct Place {
    _root: tempfile::TempDir,
    base: PathBuf,
}

impl Place {
    fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        Place { _root: root, base }
    }

    /// A path that ends in a slash is a folder.
    fn make(&self, paths: &[&str]) {
        for text in paths {
            let path = self.base.join(text);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if text.ends_with('/') {
                std::fs::create_dir_all(path).unwrap();
            } else {
                std::fs::write(path, "x").unwrap();
            }
        }
    }

    fn walker(&self, service: &str, isolation: Isolation) -> Walker {
        self.limited(service, isolation, WATCHES)
    }

    fn limited(&self, service: &str, isolation: Isolation, limits: WatchLimits) -> Walker {
        Walker::with_limits(self.base.clone(), self.scope(service, isolation), limits)
    }

    /// With an operator who blocks these names too.
    fn blocking(&self, names: &[&str]) -> Walker {
        Walker::with_limits(self.base.clone(), self.scope_blocking("", Isolation::Strict, names), WATCHES)
    }

    fn scope(&self, service: &str, isolation: Isolation) -> Arc<Scope> {
        self.scope_blocking(service, isolation, &["/private/*.txt", "*.pem"])
    }

    fn scope_blocking(&self, service: &str, isolation: Isolation, names: &[&str]) -> Arc<Scope> {
        let settings = ScopeSettings {
            bearings: Bearings::new(&[self.base.to_str().unwrap()], service, &["shared", "docs/policies"]),
            isolation,
            block_patterns: names.iter().map(|name| (*name).to_owned()).collect(),
            shared_inside_own: false,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        };
        Arc::new(Scope::new(settings).unwrap())
    }

    fn short(&self, paths: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
        let relative = |path: PathBuf| path.strip_prefix(&self.base).unwrap().to_string_lossy().into_owned();
        let mut texts: Vec<_> = paths.into_iter().map(relative).collect();
        texts.sort();
        texts
    }
}

fn masked(view: &View) -> Vec<PathBuf> {
    view.masked.iter().map(|masked| masked.path.clone()).collect()
}

fn seen(list: &[Seen]) -> Vec<PathBuf> {
    list.iter().map(|seen| seen.path.clone()).collect()
}

#[track_caller]
fn check(place: &Place, walker: &Walker, expected: [&[&str]; 4]) {
    let view = walker.walk().unwrap();
    let found = [masked(&view), seen(&view.protected), view.pinned.clone(), seen(&view.repositories)];
    assert_eq!(found.map(|paths| place.short(paths)), expected.map(|paths| paths.to_vec()));
}

#[test]
fn each_name_is_found_in_its_list() {
    let place = Place::new();
    place.make(&[
        ".env",
        "a/b/.env.local",
        ".environment.md",
        "secrets/key",
        "keys/server.PEM",
        "private/note.txt",
        "deep/private/note.txt",
        "a/.vscode/tasks.json",
        "a/.vscode/.env",
        "c/.cargo/config.toml",
        ".git/config",
        ".git/.env",
        "node_modules/x/.env",
        ".cage/x/.env",
        ".cage/x/.vscode/tasks.json",
        "planted/HEAD",
        "planted/objects/",
        "planted/refs/",
    ]);
    check(
        &place,
        &place.walker("", Isolation::Strict),
        [
            &[
                ".cage/x/.env",
                ".env",
                "a/.vscode/.env",
                "a/b/.env.local",
                "keys/server.PEM",
                "private/note.txt",
                "secrets",
            ],
            &[".cage/x/.vscode", "a/.vscode", "c/.cargo/config.toml"],
            &[".cage", ".cage/x", "a", "a/b", "c", "c/.cargo", "keys", "private"],
            &[".git", "planted"],
        ],
    );
}

#[test]
fn only_what_the_scope_shows_is_walked() {
    let place = Place::new();
    place.make(&[
        "a/.env",
        "b/.env",
        "shared/.env",
        "docs/policies/.env",
        "docs/.env",
        ".git/x",
        "a/.claude/x",
    ]);
    let lists: [&[&str]; 4] =
        [&["a/.env", "docs/policies/.env", "shared/.env"], &["a/.claude"], &[], &[".git"]];
    check(&place, &place.walker("a", Isolation::Strict), lists);
    let all: &[&str] = &["a/.env", "b/.env", "docs/.env", "docs/policies/.env", "shared/.env"];
    check(&place, &place.walker("a", Isolation::Shared), [all, &["a/.claude"], &[], &[".git"]]);
    assert_eq!(place.walker("missing", Isolation::Strict).walk(), Err(ViewError::NoService));
    assert_eq!(place.walker("missing", Isolation::Shared).walk(), Err(ViewError::NoService));
}

#[test]
fn links_are_not_followed_and_not_masked() {
    let place = Place::new();
    place.make(&["real/.env", "a/"]);
    symlink("../real", place.base.join("a/link")).unwrap();
    symlink("real/.env", place.base.join(".env")).unwrap();
    symlink("real", place.base.join(".claude")).unwrap();
    symlink("real", place.base.join("service")).unwrap();
    let walker = place.walker("", Isolation::Strict);
    check(&place, &walker, [&["real/.env"], &[".claude"], &["real"], &[]]);
    assert_eq!(place.walker("service", Isolation::Strict).walk(), Err(ViewError::NoService));
}

#[test]
fn sockets_git_files_and_closed_folders() {
    let place = Place::new();
    place.make(&["a/", "module/.git", "closed/.env"]);
    let _listener = UnixListener::bind(place.base.join("a/daemon")).unwrap();
    // A program that opens a pipe called so would wait for ever.
    let pipe = place.base.join("a/package.json");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .unwrap();
    let view = place.walker("", Isolation::Strict).walk().unwrap();
    assert_eq!(place.short(view.sockets.clone()), ["a/daemon", "a/package.json"]);
    assert_eq!(place.short(seen(&view.git_files)), ["module/.git"]);
    // Root reads every folder; anyone else gets the closed one masked whole.
    std::fs::set_permissions(place.base.join("closed"), std::fs::Permissions::from_mode(0o100)).unwrap();
    let view = place.walker("", Isolation::Strict).walk().unwrap();
    let expected = if rustix::process::getuid().is_root() { "closed/.env" } else { "closed" };
    assert_eq!(place.short(masked(&view)), [expected]);
    std::fs::set_permissions(place.base.join("closed"), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_second_walk_sees_every_change() {
    let place = Place::new();
    place.make(&["a/b/c/x", "d/e/x"]);
    let walker = place.walker("", Isolation::Strict);
    walker.walk().unwrap();
    for (make, expected) in [
        ("a/b/c/.env", vec!["a/b/c/.env"]),
        ("d/e/.env", vec!["a/b/c/.env", "d/e/.env"]),
        ("d/new/deep/.env", vec!["a/b/c/.env", "d/e/.env", "d/new/deep/.env"]),
    ] {
        place.make(&[make]);
        assert_eq!(place.short(masked(&walker.walk().unwrap())), expected);
    }
    std::fs::rename(place.base.join("a/b"), place.base.join("d/b")).unwrap();
    assert_eq!(place.short(masked(&walker.walk().unwrap())), ["d/b/c/.env", "d/e/.env", "d/new/deep/.env"]);
    std::fs::remove_dir_all(place.base.join("d")).unwrap();
    symlink("a", place.base.join("d")).unwrap();
    assert_eq!(place.short(masked(&walker.walk().unwrap())), Vec::<String>::new());
}

#[test]
fn a_deep_tree_is_masked_where_it_gets_too_deep() {
    let place = Place::new();
    let mut path = place.base.clone();
    for _ in 0..120 {
        path.push("d");
    }
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join(".env"), "x").unwrap();
    let view = place.walker("", Isolation::Strict).walk().unwrap();
    assert_eq!(view.masked.len(), 1);
    assert!(view.masked[0].is_folder && path.starts_with(&view.masked[0].path));
    let masked = view.masked[0].path.strip_prefix(&place.base).unwrap();
    assert_eq!(masked.components().count(), 97);
}

#[test]
fn a_long_path_is_masked_where_it_gets_too_long() {
    let place = Place::new();
    // The kernel takes no path of this length at once.
    let name = "d".repeat(250);
    let mut folder = rustix::fs::open(&place.base, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..20 {
        rustix::fs::mkdirat(&folder, &name, Mode::RWXU).unwrap();
        folder = rustix::fs::openat(&folder, &name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let view = place.walker("", Isolation::Strict).walk().unwrap();
    assert_eq!(view.masked.len(), 1);
    let masked = view.masked[0].path.strip_prefix(&place.base).unwrap();
    let length = |path: &Path| path.as_os_str().len();
    assert!(length(masked) > 4000 && length(masked.parent().unwrap()) <= 4000, "{}", masked.display());
}

#[test]
fn what_a_run_planted_is_named_once() {
    let place = Place::new();
    place.make(&["a/.vscode/tasks.json", "b/", ".envrc", ".git/HEAD"]);
    symlink("b", place.base.join(".claude")).unwrap();
    let walker = place.walker("", Isolation::Strict);
    let before = walker.walk().unwrap();
    assert_eq!(new_protected(&before, &walker.walk().unwrap()), Vec::<PathBuf>::new());
    place.make(&[
        "b/.git/hooks/pre-commit",
        "b/c/.mcp.json",
        "n/.vscode/.idea/x",
        ".envrc",
        "bare/HEAD",
        "bare/commondir",
    ]);
    std::fs::remove_dir_all(place.base.join("a/.vscode")).unwrap();
    place.make(&["a/.vscode/other.json"]);
    std::fs::remove_file(place.base.join(".claude")).unwrap();
    symlink("a", place.base.join(".claude")).unwrap();
    let planted = new_protected(&before, &walker.walk().unwrap());
    assert_eq!(
        place.short(planted),
        [".claude", "a/.vscode", "b/.git", "b/c/.mcp.json", "bare", "n/.vscode"]
    );
}

/// Each in a way that made it look like something else.
#[test]
fn a_protected_name_in_disguise_is_named() {
    let place = Place::new();
    place.make(&["cfg/config.toml", "real/.local/x", "node_modules/p/.vscode/x"]);
    symlink("../cfg", place.base.join("real/.config")).unwrap();
    let walker = place.walker("", Isolation::Strict);
    let before = walker.walk().unwrap();
    assert_eq!(place.short(seen(&before.protected)), ["real/.config"]);
    // A repository, a socket, a link on the way to a name of two parts, and a folder of packages that is none.
    place.make(&["s/.idea/HEAD", "s/.idea/objects/", "s/.idea/refs/", "Node_Modules/.vscode/x"]);
    let _listener = UnixListener::bind(place.base.join(".envrc")).unwrap();
    symlink("cfg", place.base.join(".cargo")).unwrap();
    symlink("cfg", place.base.join("s/.LOCAL")).unwrap();
    symlink("cfg", place.base.join("s/local")).unwrap();
    let after = walker.walk().unwrap();
    let planted = [".cargo", ".envrc", "Node_Modules/.vscode", "s/.LOCAL", "s/.idea"];
    assert_eq!(place.short(new_protected(&before, &after)), planted);
    assert_eq!(place.short(after.sockets.clone()), [".envrc"], "nobody connects to it either");
}

/// An operator who blocks a protected name as well must not make it one that programs can plant.
#[test]
fn a_name_can_be_masked_and_protected() {
    let place = Place::new();
    place.make(&["a/.vscode/x", "b/", "sub/.envrc"]);
    let walker = place.blocking(&[".vscode", ".envrc"]);
    let before = walker.walk().unwrap();
    assert_eq!(place.short(masked(&before)), ["a/.vscode", "sub/.envrc"]);
    assert_eq!(place.short(seen(&before.protected)), ["a/.vscode", "sub/.envrc"]);
    place.make(&["b/.vscode/x", "b/.envrc"]);
    let after = walker.walk().unwrap();
    assert_eq!(place.short(new_protected(&before, &after)), ["b/.envrc", "b/.vscode"]);
}

#[test]
fn the_nearest_to_the_top_come_first() {
    let place = Place::new();
    let walker = place.walker("", Isolation::Strict);
    let before = walker.walk().unwrap_or_default();
    place.make(&["a/b/c/.envrc", "z/.envrc", "a/b/.envrc"]);
    let new = new_protected(&before, &walker.walk().unwrap());
    let expected = ["z/.envrc", "a/b/.envrc", "a/b/c/.envrc"].map(|name| place.base.join(name));
    assert_eq!(new, expected);
}

#[test]
fn folders_that_no_walk_looks_into_are_named() {
    let place = Place::new();
    place.make(&["secrets/x", "a/b/x", ".env"]);
    let walker = place.walker("", Isolation::Strict);
    let before = walker.walk().unwrap();
    place.make(&["a/secrets/.vscode/x", "a/.env", "deep/"]);
    let after = walker.walk().unwrap();
    let closed: Vec<PathBuf> = new_closed(&before, &after).into_iter().map(Path::to_owned).collect();
    assert_eq!(place.short(closed), ["a/secrets"]);
}

fn n_read(walker: &Walker) -> usize {
    walker.walk().unwrap();
    walker.memory.lock().unwrap().tree.n_read()
}

/// Whatever the size of the tree, a walk reads only what changed.
#[test]
fn a_second_walk_reads_nothing() {
    let place = Place::new();
    for top in 0..10 {
        for middle in 0..40 {
            std::fs::create_dir_all(place.base.join(format!("t{top}/m{middle}"))).unwrap();
        }
        place.make(&[&format!("t{top}/m0/.env")]);
    }
    for limits in [WATCHES, NO_WATCHES] {
        let walker = place.limited("", Isolation::Strict, limits);
        let first = walker.walk().unwrap();
        let (n_folders, n_watched) = {
            let memory = walker.memory.lock().unwrap();
            (memory.tree.n_folders(), memory.tree.n_watched())
        };
        assert_eq!((n_folders, n_watched), (411, if limits.watches == 0 { 0 } else { 411 }));
        assert_eq!(first.masked.len(), 10);
        // Without watches, folders that changed within the last tick before they were read are read once more.
        assert!((0..10_000).any(|_| n_read(&walker) == 0));
        assert!(Arc::ptr_eq(&first, &walker.walk().unwrap()));
        place.make(&["t3/m3/ordinary"]);
        assert_eq!(n_read(&walker), 1);
        assert!(Arc::ptr_eq(&first, &walker.walk().unwrap()), "nothing in the view changed");
        std::fs::remove_file(place.base.join("t3/m3/ordinary")).unwrap();
    }
}

const WATCHES: WatchLimits = WatchLimits { after_walks: 0, watches: 10_000, events: 100_000 };
const NO_WATCHES: WatchLimits = WatchLimits { after_walks: usize::MAX, watches: 0, events: 0 };

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

const FEW: Bounds = Bounds { entries: 12, levels: 3 };

/// Files; one that ends in a slash is a folder.
fn make(files: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        if file.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
    }
    root
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[track_caller]
fn check(files: &[&str], rest: &str, gone: &[&str]) {
    let root = make(files);
    remove_repositories(root.path(), rest, BOUNDS).unwrap();
    for file in files {
        let is_gone = gone.iter().any(|gone| Path::new(file).starts_with(gone));
        assert_eq!(!root.path().join(file).exists(), is_gone, "{file} of {files:?}");
    }
    for gone in gone {
        assert!(fs::symlink_metadata(root.path().join(gone)).is_err(), "{gone} of {files:?}");
    }
}

#[test]
fn repositories_of_packages_go_and_nothing_else() {
    check(&["src/i/p-1/.git/config", "src/i/p-1/lib.rs"], "src", &["src/i/p-1/.git"]);
    check(
        &["src/i/p-1/.git", "src/i/p-1/a/b/.git/hooks/x"],
        "src",
        &["src/i/p-1/.git", "src/i/p-1/a/b/.git"],
    );
    check(
        &[".git/a/b/c/d/e/f", ".git/moved-1/x/y", ".git/a/moved-2", "m@v1/.GIT/x"],
        "",
        &[".git", "m@v1/.GIT"],
    );
    check(&["p/.gitignore", "p/.github/x", "p/x.git/config", "p/git/x"], "", &[]);
    // Its own, beside what is looked through, and nothing there at all.
    check(&["registry/src/p/.git/x", "git/checkouts/p/.git/x"], "registry/src", &["registry/src/p/.git"]);
    check(&["git/checkouts/p/.git/x"], "registry/src", &[]);
}

#[test]
fn closed_folders_are_opened() {
    let root = make(&["p/a/.git/objects/deep/er/x", "q/.git/x", "r/b/.git"]);
    for (folder, mode) in [("p/a/.git/objects/deep", 0o000), ("p/a/.git/objects", 0o444), ("p/a", 0o555)] {
        set_mode(&root.path().join(folder), mode);
    }
    for (folder, mode) in [("q", 0o000), ("r", 0o444)] {
        set_mode(&root.path().join(folder), mode);
    }
    remove_repositories(root.path(), "", BOUNDS).unwrap();
    for folder in ["p/a", "q", "r/b"] {
        set_mode(&root.path().join(folder.split('/').next().unwrap()), 0o700);
        assert_eq!(fs::read_dir(root.path().join(folder)).unwrap().count(), 0, "{folder}");
    }
}

#[test]
fn no_link_is_followed() {
    let outside = make(&["p/.git/config", "kept"]);
    let root = make(&["src/p/x"]);
    symlink(outside.path(), root.path().join("src/p/link")).unwrap();
    symlink(outside.path(), root.path().join("src/p/.git")).unwrap();
    remove_repositories(root.path(), "src", BOUNDS).unwrap();
    assert!(fs::symlink_metadata(root.path().join("src/p/.git")).is_err());
    assert!(root.path().join("src/p/link").exists());
    // One in the place of what is looked through is no package's.
    symlink(outside.path(), root.path().join("other")).unwrap();
    assert!(remove_repositories(root.path(), "other", BOUNDS).is_err());
    remove_whole(root.path(), "src").unwrap();
    assert!(!root.path().join("src").exists());
    assert!(outside.path().join("p/.git/config").exists() && outside.path().join("kept").exists());
}

#[test]
fn what_is_looked_through_is_bounded() {
    let is_searched = |files: &[&str]| remove_repositories(make(files).path(), "", FEW).is_ok();
    assert!(is_searched(&["a/b/c/x"]) && !is_searched(&["a/b/c/d/x"]));
    let names: Vec<String> = (0..13).map(|n| format!("f{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(is_searched(&names[..12]) && !is_searched(&names));
    assert!(
        is_searched(&[&names[..10], &["g/x"]].concat()) && !is_searched(&[&names[..11], &["g/x"]].concat())
    );
}

#[test]
fn no_depth_is_too_deep_to_be_removed() {
    const N_LEVELS: usize = 600; // longer than any path may be
    let root = make(&["top/", "kept"]);
    let mut folder = open_home(&root.path().join("top")).unwrap();
    for _ in 0..N_LEVELS {
        rustix::fs::mkdirat(&folder, "moved-1", Mode::RWXU).unwrap();
        folder = open_folder(&folder, "moved-1".as_ref()).unwrap();
    }
    assert!(remove_repositories(root.path(), "top", BOUNDS).is_err());
    remove_whole(root.path(), "top").unwrap();
    assert!(!root.path().join("top").exists() && root.path().join("kept").exists());
}

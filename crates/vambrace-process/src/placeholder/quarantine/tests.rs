use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, OFlags};

use super::super::carry::{copy, remove};
use super::*;

struct Place {
    _root: tempfile::TempDir,
    work: PathBuf,
    state: PathBuf,
    outside: PathBuf,
}

fn place() -> Place {
    let root = tempfile::tempdir().unwrap();
    let base = root.path().canonicalize().unwrap();
    let (work, state, outside) = (base.join("work"), base.join("state"), base.join("outside"));
    std::fs::create_dir_all(work.join("sub/.vscode")).unwrap();
    std::fs::create_dir_all(outside.join(".vscode")).unwrap();
    std::fs::create_dir(&state).unwrap();
    std::fs::write(work.join("sub/.vscode/tasks.json"), "{}").unwrap();
    std::fs::write(outside.join(".vscode/tasks.json"), "outside").unwrap();
    Place { _root: root, work, state, outside }
}

fn open(folder: &Path) -> OwnedFd {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty()).unwrap()
}

#[test]
fn planted_things_leave_the_workspace_whole() {
    let Place { work, state, _root, .. } = place();
    std::os::unix::fs::symlink("/etc/passwd", work.join(".envrc")).unwrap();
    let moved = quarantine(&[work.join("sub/.vscode"), work.join(".envrc")], &work, &state);
    let to: Vec<_> = moved.iter().map(|moved| moved.to.clone().unwrap()).collect();
    assert!(to.iter().all(|path| path.starts_with(state.join("quarantine"))), "{to:?}");
    assert!(to[0].ends_with("0-.vscode") && to[1].ends_with("1-.envrc"), "{to:?}");
    assert!(to[0].join("tasks.json").is_file());
    assert_eq!(std::fs::read_link(&to[1]).unwrap(), Path::new("/etc/passwd"));
    assert!(!work.join("sub/.vscode").exists() && std::fs::symlink_metadata(work.join(".envrc")).is_err());
    // The same name again does not cover the first.
    std::fs::create_dir(work.join("sub/.vscode")).unwrap();
    let again = quarantine(&[work.join("sub/.vscode")], &work, &state);
    assert_ne!(again[0].to.as_ref().unwrap(), &to[0]);
    assert!(!work.join("sub/.vscode").exists());
}

#[test]
fn neither_modes_nor_long_names_keep_a_thing_where_it_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let Place { work, state, _root, .. } = place();
    let long = work.join(format!("{}.code-workspace", "a".repeat(240)));
    std::fs::write(&long, "").unwrap();
    let locked = work.join("sub");
    for folder in [locked.join(".vscode"), locked.clone()] {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    }
    let moved = quarantine(&[locked.join(".vscode"), long.clone()], &work, &state);
    assert!(moved.iter().all(|moved| moved.to.is_ok()), "{moved:?}");
    assert!(!locked.join(".vscode").exists() && !long.exists());
}

/// Of two processes that sweep at once, one is second.
#[test]
fn what_is_gone_already_needs_no_taking() {
    let Place { work, state, _root, .. } = place();
    let moved = quarantine(
        &[work.join("gone/.vscode"), work.join("sub/.vscode"), work.join(".envrc")],
        &work,
        &state,
    );
    assert_eq!(moved.len(), 1, "{moved:?}");
    assert!(moved[0].from == work.join("sub/.vscode") && moved[0].to.is_ok(), "{moved:?}");
}

#[test]
fn a_link_on_the_way_stops_it() {
    let Place { work, state, outside, _root } = place();
    std::os::unix::fs::symlink(&outside, work.join("link")).unwrap();
    let paths = [work.join("link/.vscode"), outside.join(".vscode"), work.join("../outside/.vscode")];
    let moved = quarantine(&paths, &work, &state);
    assert!(moved.iter().all(|moved| moved.to.is_err()), "{moved:?}");
    assert!(outside.join(".vscode").is_dir());
}

#[test]
fn a_copy_keeps_links_as_links_and_ends_at_its_budget() {
    let Place { work, state, _root, .. } = place();
    std::os::unix::fs::symlink("/etc", work.join("sub/.vscode/etc")).unwrap();
    let check = |kept: &str, bytes, entries, levels| {
        let mut budget = Budget { bytes, entries, levels };
        copy(&open(&work), "sub".as_ref(), &open(&state), kept.as_ref(), &mut budget)
            .map_err(|error| error.kind())
    };
    assert_eq!(check("copy", 10, 10, 10), Ok(()));
    assert_eq!(std::fs::read_link(state.join("copy/.vscode/etc")).unwrap(), Path::new("/etc"));
    assert!(state.join("copy/.vscode/tasks.json").is_file());
    assert_eq!(check("few", 10, 2, 10), Err(io::ErrorKind::FileTooLarge));
    assert_eq!(check("small", 1, 10, 10), Err(io::ErrorKind::FileTooLarge));
    assert_eq!(check("flat", 10, 10, 1), Err(io::ErrorKind::FileTooLarge));
}

/// A program can take from its own user the right to read and change what it planted.
#[test]
fn closed_things_are_carried_like_open_ones() {
    use std::os::unix::fs::PermissionsExt as _;
    let Place { work, state, _root, .. } = place();
    let all = std::fs::Permissions::from_mode(0o777);
    for folder in [_root.path(), &work, &state] {
        std::fs::set_permissions(folder, all.clone()).unwrap();
    }
    crate::nobody::as_nobody(|| {
        std::fs::create_dir_all(work.join("own/.idea/deep")).unwrap();
        std::fs::write(work.join("own/.idea/deep/x"), "x").unwrap();
        for name in ["own/.idea/deep/x", "own/.idea/deep", "own/.idea", "own"] {
            std::fs::set_permissions(work.join(name), std::fs::Permissions::from_mode(0o000)).unwrap();
        }
        carry(&open(&work), "own".as_ref(), &open(&state), "kept".as_ref(), &mut Budget::default()).unwrap();
        assert_eq!(std::fs::read_to_string(state.join("kept/.idea/deep/x")).unwrap(), "x");
        assert!(!work.join("own").exists());
    });
}

/// Another thread changes `one` and `two` for each other as fast as it can.
fn while_swapping<T>(one: &Path, two: &Path, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).unwrap();
            }
        });
        // Ends the other thread also when an assertion fails.
        struct Ends<'a>(&'a AtomicBool);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _ends = Ends(&done);
        work()
    })
}

#[test]
fn a_parent_that_becomes_a_link_never_leads_outside() {
    let Place { work, state, outside, _root } = place();
    std::os::unix::fs::symlink(&outside, work.join("link")).unwrap();
    let real = open(&work.join("sub"));
    let (n_moved, n_refused) = while_swapping(&work.join("sub"), &work.join("link"), || {
        let (mut n_moved, mut n_refused) = (0, 0);
        while (n_moved < 100 || n_refused < 100) && n_moved + n_refused < 100_000 {
            match &quarantine(&[work.join("sub/.vscode")], &work, &state)[0].to {
                Ok(to) => {
                    n_moved += 1;
                    std::fs::remove_dir_all(to).unwrap();
                    rustix::fs::mkdirat(&real, ".vscode", Mode::from_raw_mode(0o755)).unwrap();
                }
                Err(_) => n_refused += 1,
            }
            assert!(outside.join(".vscode/tasks.json").is_file());
        }
        (n_moved, n_refused)
    });
    assert!(n_moved > 0 && n_refused > 0, "both states were met: {n_moved}, {n_refused}");
}

#[test]
fn a_folder_that_becomes_a_link_is_neither_copied_nor_emptied() {
    let Place { work, state, outside, _root } = place();
    let (tree, secret) = (work.join("sub"), outside.join(".vscode"));
    std::os::unix::fs::symlink(&secret, tree.join("link")).unwrap();
    let (from, to) = (open(&work), open(&state));
    while_swapping(&tree.join(".vscode"), &tree.join("link"), || {
        for number in 0..500 {
            let kept = number.to_string();
            // Either outcome is right, as long as nothing from outside is in it.
            let _ = copy(&from, "sub".as_ref(), &to, kept.as_ref(), &mut Budget::default());
            for name in [".vscode", "link"] {
                let copied = state.join(&kept).join(name);
                if std::fs::symlink_metadata(&copied).is_ok_and(|found| found.is_dir()) {
                    let text = std::fs::read_to_string(copied.join("tasks.json")).unwrap_or_default();
                    assert_ne!(text, "outside");
                }
            }
            std::fs::remove_dir_all(state.join(&kept)).unwrap();
        }
    });
    // The swapping goes on while all is removed, until there is nothing to swap any more.
    for _ in 0..200 {
        let tree = work.join("tree");
        std::fs::create_dir_all(tree.join("a/b")).unwrap();
        std::os::unix::fs::symlink(&secret, tree.join("link")).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (one, two) = (tree.join("a"), tree.join("link"));
                while rustix::fs::renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE).is_ok() {}
            });
            while remove(&from, "tree".as_ref(), 64).is_err() {}
        });
        assert!(!tree.exists() && secret.join("tasks.json").is_file());
    }
}

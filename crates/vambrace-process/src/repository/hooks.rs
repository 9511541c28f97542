//! Which hooks a person's own commit would run. They are looked for and never run: whoever skips them says so.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{config, read_small};

/// What `git commit` runs, in its order.
const OF_COMMIT: [&str; 4] = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

/// The hooks of a commit that is made in `folder`, which lies in `workspace` or is it.
///
/// LIMIT: `core.hooksPath` in a person's own global configuration is not known here.
pub(crate) fn of_commit(folder: &Path, workspace: &Path) -> Vec<&'static str> {
    let mut above = folder.ancestors().take_while(|path| path.starts_with(workspace));
    let Some((tree, git)) = above.find_map(|tree| Some((tree, repository(tree)?))) else { return Vec::new() };
    let set = config::hooks_path(&read_small(&git.join("config")).unwrap_or_default());
    let hooks = set.map_or_else(|| git.join("hooks"), |path| tree.join(path));
    let runs = |name: &&str| {
        let found = std::fs::metadata(hooks.join(name));
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    OF_COMMIT.into_iter().filter(runs).collect()
}

/// The folder that holds the configuration and the hooks.
fn repository(tree: &Path) -> Option<PathBuf> {
    let git = tree.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = read_small(&git)?;
    let own = tree.join(text.strip_prefix("gitdir:")?.trim());
    match read_small(&own.join("commondir")) {
        Some(common) => Some(own.join(common.trim())),
        None => Some(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hooks_that_would_run_are_named() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, mode: u32| {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let found = || of_commit(&place.path().join("service"), place.path());
        assert_eq!(found(), [""; 0], "there is no repository");
        write(".git/hooks/pre-commit.sample", 0o755);
        write(".git/hooks/commit-msg", 0o644);
        assert_eq!(found(), [""; 0]);
        write(".git/hooks/pre-commit", 0o755);
        write(".git/hooks/pre-push", 0o755);
        assert_eq!(found(), ["pre-commit"]);
        write(".husky/_/commit-msg", 0o755);
        std::fs::write(place.path().join(".git/config"), "[core]\n\thooksPath = .husky/_\n").unwrap();
        assert_eq!(found(), ["commit-msg"]);
        // A working tree of its own.
        std::fs::create_dir_all(place.path().join("service")).unwrap();
        std::fs::create_dir_all(place.path().join(".git/worktrees/s")).unwrap();
        std::fs::write(place.path().join("service/.git"), "gitdir: ../.git/worktrees/s\n").unwrap();
        std::fs::write(place.path().join(".git/worktrees/s/commondir"), "../..\n").unwrap();
        std::fs::write(place.path().join(".git/config"), "").unwrap();
        assert_eq!(found(), ["pre-commit"]);
    }
}

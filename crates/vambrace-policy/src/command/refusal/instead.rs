//! Which tool does what a refused command was meant to do. Words for the agent only: nothing is decided by them.

const TEST: &str = "Use run_test, which finds the project's test program and runs it in the cage.";
const LINT: &str = "Use run_lint, which finds the project's linter and runs it in the cage.";
const INSTALL: &str = "Use install_dependencies, which installs what the project's own files list.";
const FOLDER: &str = "Use create_directory.";
const DELETE: &str = "Use delete_file.";
const WRITE: &str = "Use write_file for a whole file, or edit_file for a part of one.";
const NETWORK: &str = "The network tools are not available yet; ask the person you work for to fetch it.";
const TIME: &str = "Name the program alone and give the call its `timeout`.";
const ADD: &str = "Use git_add.";
const COMMIT: &str = "Use git_commit.";
const CHECKOUT: &str = "Use git_checkout.";
const PUSH: &str = "Use git_push.";

/// Program, the words it was refused for (none: any word), and what to do.
const ROWS: [(&str, &[&str], &str); 45] = [
    ("pytest", &[], TEST),
    ("tox", &[], TEST),
    ("nox", &[], TEST),
    ("jest", &[], TEST),
    ("vitest", &[], TEST),
    ("mocha", &[], TEST),
    ("rspec", &[], TEST),
    ("phpunit", &[], TEST),
    ("ctest", &[], TEST),
    ("cargo", &["test", "t", "nextest"], TEST),
    ("npm", &["test", "t", "tst"], TEST),
    ("go", &["test"], TEST),
    ("make", &["test", "check", "make"], TEST),
    ("eslint", &[], LINT),
    ("cargo", &["clippy", "check"], LINT),
    ("ruff", &["check"], LINT),
    ("npm", &["lint"], LINT),
    ("go", &["vet"], LINT),
    ("npm", &["install", "i", "ci", "add"], INSTALL),
    ("pip", &["install"], INSTALL),
    ("pip3", &["install"], INSTALL),
    ("cargo", &["add", "fetch", "install"], INSTALL),
    ("go", &["get", "mod"], INSTALL),
    ("poetry", &["install", "add"], INSTALL),
    ("uv", &["sync", "add"], INSTALL),
    ("bun", &["install", "add"], INSTALL),
    ("yarn", &[], INSTALL),
    ("pnpm", &[], INSTALL),
    ("bundle", &[], INSTALL),
    ("mkdir", &[], FOLDER),
    ("rm", &[], DELETE),
    ("rmdir", &[], DELETE),
    ("unlink", &[], DELETE),
    ("touch", &[], WRITE),
    ("cp", &[], WRITE),
    ("mv", &[], WRITE),
    ("sed", &["-i", "--in-place"], WRITE),
    ("git", &["add", "stage"], ADD),
    ("git", &["commit"], COMMIT),
    ("git", &["checkout", "switch", "restore"], CHECKOUT),
    ("git", &["push"], PUSH),
    ("git", &["fetch", "pull", "clone"], NETWORK),
    ("curl", &[], NETWORK),
    ("wget", &[], NETWORK),
    ("timeout", &[], TIME),
];

pub(super) fn instead(program: &str, word: &str) -> Option<&'static str> {
    let fits = |words: &[&str]| {
        words.is_empty()
            || words.contains(&word)
            // `-i.bak` and `--in-place=.bak` are the option with its value.
            || words.iter().any(|known| known.starts_with('-') && word.starts_with(known))
    };
    let mut rows = ROWS.iter();
    rows.find(|(name, words, _)| *name == program && fits(words)).map(|(_, _, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(program: &str, word: &str, expected: Option<&str>) {
        assert_eq!(instead(program, word), expected, "{program} {word}");
    }

    #[test]
    fn the_tool_for_what_was_meant() {
        check("pytest", "", Some(TEST));
        check("cargo", "test", Some(TEST));
        check("npm", "test", Some(TEST));
        check("make", "make", Some(TEST));
        check("npm", "ci", Some(INSTALL));
        check("pip", "install", Some(INSTALL));
        check("cargo", "add", Some(INSTALL));
        check("git", "commit", Some(COMMIT));
        check("git", "add", Some(ADD));
        check("git", "push", Some(PUSH));
        check("git", "checkout", Some(CHECKOUT));
        check("mkdir", "", Some(FOLDER));
        check("rm", "", Some(DELETE));
        check("mv", "", Some(WRITE));
        check("sed", "-i", Some(WRITE));
        check("sed", "-i.bak", Some(WRITE));
        check("curl", "", Some(NETWORK));
        check("timeout", "", Some(TIME));
        check("cargo", "run", None);
        check("git", "rebase", None);
        check("sed", "w out.txt", None);
        check("nobody-knows-it", "", None);
    }
}

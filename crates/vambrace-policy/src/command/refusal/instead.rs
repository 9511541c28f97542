//! Which tool does what a refused command was meant to do. Words for the agent only: nothing is decided by them.

const TEST: &str = "Use run_test, which finds the project's test program and runs it in the cage.";
const LINT: &str = "Use run_lint, which finds the project's linter and runs it in the cage.";
const BUILD: &str = "Use run_test or run_lint, which build the project in the cage; for anything else, ask \
                     the operator to list the program.";
const SCRIPT: &str =
    "Use run_test for code of the project; for text and data there are jq, awk, sed, sort and grep.";
const ENVIRONMENT: &str = "Use run_test or run_lint, which find the project's own environment (`.venv`) by \
                           themselves; nothing but files lasts until the next call.";
const INSTALL: &str = "Use install_dependencies, which installs what the project's own files list.";
const MODULES: &str = "Use install_dependencies to fetch modules; go.mod and go.sum say which they are.";
const PACKAGES: &str =
    "Use run_test, run_lint or install_dependencies; package.json and the lock file say what is used.";
const SCRIPTS: &str = "Use run_test or run_lint; `npm run` alone lists the scripts. For other scripts, ask \
                       the operator to list the program.";
const FOLDER: &str = "Use create_directory.";
const DELETE: &str = "Use delete_file.";
const COPY: &str = "`cat FROM > TO` copies a text file of the project; delete_file takes the old one away.";
const WRITE: &str = "Use write_file for a whole file, or edit_file for a part of one.";
const MODE: &str = "Ask a person to change who may use the file.";
pub(super) const NETWORK: &str = "Use fetch_url or web_fetch, or ask the operator to list the host in \
                                  sandbox.net: programs reach no other hosts.";
const REGISTRY: &str = "Use install_dependencies for what the project lists; fetch_url or web_fetch can ask a \
                        registry about a package.";
const FETCH: &str = "Use `git fetch` where the operator lists the remote's host for git in sandbox.net; merging \
                     and cloning are for the person you work for.";
const LISTED_HOST: &str = "Ask the operator to list the remote's host for git in sandbox.net, or ask the person you \
                           work for to fetch.";
const ALONE: &str = "Programs run in a cage of their own that reaches no more than the hosts of sandbox.net, so \
                     there is nothing to see; ask the person you work for.";
const SERVICE: &str = "Use system_ctl if you have it, or ask the person you work for.";
const TIME: &str = "Name the program alone and give the call its `timeout`.";
const BARE: &str = "Name the program alone.";
const NAMES: &str = "Give the names to the program yourself: `wc -l src/*.rs`, `grep -rn TEXT \
                     --include='*.py' .`, `git grep TEXT`; or list them first and write them into the next \
                     line.";
const PAGE: &str = "Use cat, head, tail or `sed -n '1,80p' FILE`; read_file shows a part of a file too.";
const MANUAL: &str = "Use `PROGRAM --help`.";
const SHELL: &str =
    "Write the commands themselves as the line: pipes, `&&`, `||`, `;`, globs and redirects are understood.";
const NO_SHELL: &str =
    "Leave it out: no shell reads the line, and nothing but files lasts until the next call.";
const TARGETS: &str = "Read the Makefile instead: `grep -nE '^[A-Za-z0-9_.-]+:' Makefile` lists the targets.";
const LIBRARIES: &str = "Use `readelf -d FILE` or `objdump -p FILE`; ldd may start the file.";
const JSON: &str = "Use `python3 -m json.tool FILE` or `jq . FILE` for JSON, `pip list` for packages, and \
                    run_test for code of the project.";
const SETTING: &str = "Ask for one setting: `git config --get user.name`.";
const INDEX: &str = "Use `diff -u A B`.";
const EMPTY: &str = "Use `git ls-files` and .gitmodules; submodules are repositories of their own.";
const ADD: &str = "Use git_add.";
const COMMIT: &str = "Use git_commit.";
const CHECKOUT: &str = "Use git_checkout.";
const PUSH: &str = "Use git_push.";

/// Any word that is no option.
const ANY: &[&str] = &["*"];

/// Programs, the words they were refused for (none: any word), and what to do. The first that fits counts.
const ROWS: &[(&[&str], &[&str], &str)] = &[
    (&["pytest", "tox", "nox", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest"], &[], TEST),
    (&["py.test", "ava", "gotestsum"], &[], TEST),
    (&["node"], &["--test"], TEST),
    (&["cargo"], &["test", "t", "nextest"], TEST),
    (&["npm"], &["test", "t", "tst"], TEST),
    (&["go"], &["test"], TEST),
    (&["python", "python3"], &["pytest", "unittest", "tox", "nox"], TEST),
    (&["eslint", "flake8", "pylint", "isort", "pyright", "prettier", "stylelint", "rubocop"], &[], LINT),
    (&["golangci-lint", "cppcheck", "yamllint", "hadolint", "ruff", "mypy", "black", "tsc"], &[], LINT),
    (&["ktlint", "biome"], &[], LINT),
    (&["cargo"], &["search", "info"], REGISTRY),
    (&["cargo"], &["clippy", "check", "c"], LINT),
    (&["npm"], &["lint"], LINT),
    (&["go"], &["vet"], LINT),
    (&["python", "python3"], &["mypy", "flake8", "pylint", "ruff", "black", "isort", "py_compile"], LINT),
    (&["npm"], &["install", "i", "ci", "add"], INSTALL),
    (&["pip", "pip3"], &["install", "download"], INSTALL),
    (&["cargo"], &["add", "fetch", "install", "update"], INSTALL),
    (&["go"], &["get"], INSTALL),
    (&["go"], &["mod"], MODULES),
    (&["poetry"], &["install", "add"], INSTALL),
    (&["uv"], &["sync", "add"], INSTALL),
    (&["bun"], &["install", "add"], INSTALL),
    (&["bundle"], &[], INSTALL),
    (&["poetry", "uv"], &["run"], ENVIRONMENT),
    (&["uvx", "pipenv", "pre-commit"], &[], ENVIRONMENT),
    (&["source", "."], &[], ENVIRONMENT),
    (&["npm"], &["view", "info", "outdated", "audit", "search", "ping"], REGISTRY),
    (&["pip", "pip3"], &["--outdated", "index", "search"], REGISTRY),
    (&["npm"], ANY, SCRIPTS),
    (&["npx", "yarn", "pnpm", "bun", "deno"], &[], PACKAGES),
    (&["make"], &["-n", "--dry-run", "--just-print", "--recon", "-p", "-q"], TARGETS),
    (&["make"], &[], TEST),
    (&["cargo", "go", "gcc", "g++", "cc", "clang", "rustc", "javac", "cmake"], ANY, BUILD),
    (&["mvn", "gradle", "ninja", "meson", "bazel", "sbt", "dotnet"], &[], BUILD),
    (&["python", "python3"], &["-m", "json", "pip", "venv", "site"], JSON),
    (&["python", "python3", "node", "ruby", "perl", "php"], &["-c", "-e", "-p", "-r", "--eval"], SCRIPT),
    (&["python", "python3", "node", "ruby", "perl", "php", "java"], ANY, SCRIPT),
    (&["mkdir"], &[], FOLDER),
    (&["rm", "rmdir", "unlink", "shred"], &[], DELETE),
    (&["find"], &["-delete"], DELETE),
    (&["cp", "mv"], &[], COPY),
    (&["touch", "ed", "vi", "vim", "nano", "truncate"], &[], WRITE),
    (&["sed", "clang-format"], &["-i", "--in-place"], WRITE),
    (&["chmod", "chown", "chgrp"], &[], MODE),
    (&["git"], &["add", "stage"], ADD),
    (&["git"], &["commit"], COMMIT),
    (&["git"], &["checkout", "switch", "restore"], CHECKOUT),
    (&["git"], &["push"], PUSH),
    (&["git"], &["fetch", "ls-remote"], LISTED_HOST),
    (&["git"], &["pull", "clone"], FETCH),
    (&["git"], &["--list", "-l", "--get-regexp"], SETTING),
    (&["git"], &["--no-index"], INDEX),
    (&["git"], &["submodule"], EMPTY),
    (&["curl", "wget"], &[""], NETWORK),
    (&["gh"], &[], NETWORK),
    (&["ip", "ifconfig", "ss", "netstat", "lsof", "ping", "dig", "nslookup", "host", "nc"], &[], ALONE),
    (&["docker", "podman", "kubectl", "helm", "terraform"], &[], ALONE),
    (&["systemctl", "service", "journalctl", "dmesg"], &[], SERVICE),
    (&["timeout"], &[], TIME),
    (&["nice", "nohup", "stdbuf", "setsid", "ionice", "sudo", "watch", "strace"], &[], BARE),
    (&["command", "env"], ANY, BARE),
    (&["xargs", "parallel"], &[], NAMES),
    (&["find", "fd", "fdfind"], &["-exec", "-ok", "-x", "-X", "--exec"], NAMES),
    (&["less", "more", "most", "zless", "zmore", "view"], &[], PAGE),
    (&["man", "info"], &[], MANUAL),
    (&["sh", "bash", "zsh", "dash", "ksh", "fish", "eval", "exec"], &[], SHELL),
    (&["export", "set", "unset", "alias", "ulimit", "umask", "history", "jobs"], &[], NO_SHELL),
    (&["ldd"], &[], LIBRARIES),
];

pub(super) fn instead(program: &str, word: &str) -> Option<&'static str> {
    let fits = |words: &[&str]| {
        words.is_empty()
            || words.contains(&word)
            || (words == ANY && !word.is_empty() && !word.starts_with('-'))
            // `-i.bak` and `--in-place=.bak` are the option with its value.
            || words.iter().any(|known| known.starts_with('-') && word.starts_with(known))
    };
    let mut rows = ROWS.iter();
    rows.find(|(names, words, _)| names.contains(&program) && fits(words)).map(|(_, _, advice)| *advice)
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
        check("make", "-j4", Some(TEST));
        check("make", "-n", Some(TARGETS));
        check("python3", "pytest", Some(TEST));
        check("tsc", "--noEmit", Some(LINT));
        check("npm", "ci", Some(INSTALL));
        check("npm", "outdated", Some(REGISTRY));
        check("npm", "build", Some(SCRIPTS));
        check("npm", "--prefix", None);
        check("yarn", "", Some(PACKAGES));
        check("poetry", "run", Some(ENVIRONMENT));
        check("source", "", Some(ENVIRONMENT));
        check("node", "--test", Some(TEST));
        check("pip", "install", Some(INSTALL));
        check("cargo", "add", Some(INSTALL));
        check("cargo", "run", Some(BUILD));
        check("cargo", "--config", None);
        check("go", "mod", Some(MODULES));
        check("python3", "-c", Some(SCRIPT));
        check("python3", "python3", Some(SCRIPT));
        check("python3", "pip", Some(JSON));
        check("node", "node", Some(SCRIPT));
        check("git", "commit", Some(COMMIT));
        check("git", "add", Some(ADD));
        check("git", "push", Some(PUSH));
        check("git", "checkout", Some(CHECKOUT));
        check("git", "--no-index", Some(INDEX));
        check("mkdir", "", Some(FOLDER));
        check("rm", "", Some(DELETE));
        check("mv", "", Some(COPY));
        check("sed", "-i", Some(WRITE));
        check("sed", "-i.bak", Some(WRITE));
        check("curl", "", Some(NETWORK));
        check("curl", "-x", None);
        check("gh", "pr", Some(NETWORK));
        check("cargo", "search", Some(REGISTRY));
        check("git", "fetch", Some(LISTED_HOST));
        check("git", "pull", Some(FETCH));
        check("timeout", "", Some(TIME));
        check("xargs", "", Some(NAMES));
        check("find", "-execdir", Some(NAMES));
        check("find", "-fprint", None);
        check("less", "", Some(PAGE));
        check("bash", "", Some(SHELL));
        check("git", "rebase", None);
        check("sed", "w out.txt", None);
        check("nobody-knows-it", "", None);
    }
}

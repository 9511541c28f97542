//! What a failed run most likely lacks, where its own words tell a caller less than we know about the cage. Words only:
//! nothing is decided by them.

const PROGRAM: &str = "A program that the script names was not found. Packages outside the service folder are not shown, and \
                       programs reach only hosts of sandbox.net: ask the person you work for to install them there, or to name a folder \
                       above it, such as `node_modules/`, in `scope.shared_paths`.";
const PYTHON: &str = "The module is not installed for this Python. One in the project's `.venv` is found; ask the person you \
                      work for to install it there.";
const GO: &str = "A Go module is not on this machine, and this program reaches only hosts of sandbox.net: use \
                  install_dependencies, or ask the person you work for to run `go mod download`.";
const CARGO: &str = "A crate is not on this machine, and this program reaches only hosts of sandbox.net: use \
                     install_dependencies, or ask the person you work for to run `cargo fetch`.";
const NETWORK: &str = "A program in the cage reaches its own 127.0.0.1, and only hosts that sandbox.net lists, through the \
                       proxy; use fetch_url or web_fetch, or ask the operator to list the host.";
const SPACE: &str =
    "The cage's own /tmp and home folder are small and in memory; the service folder is on disk.";

/// Words of a runner, and what they mean here.
const ROWS: [(&str, &str); 14] = [
    (": command not found", PROGRAM),
    (": No module named pytest", PYTHON),
    (": No module named pylint", PYTHON),
    ("no required module provides package", GO),
    ("module lookup disabled by GOPROXY=off", GO),
    ("missing go.sum entry", GO),
    ("but --offline was specified", CARGO),
    ("without the offline flag", CARGO),
    ("No space left on device", SPACE),
    ("no space left on device", SPACE),
    ("getaddrinfo EAI_AGAIN", NETWORK),
    ("getaddrinfo ENOTFOUND", NETWORK),
    ("Temporary failure in name resolution", NETWORK),
    ("etwork is unreachable", NETWORK),
];

/// What a shell ends with when it finds no such program.
const NOT_FOUND: i32 = 127;

pub(super) fn hint(exit_code: i32, output: &str) -> Option<&'static str> {
    if exit_code == 0 {
        return None;
    }
    let row = || ROWS.iter().find(|(words, _)| output.contains(words)).map(|(_, advice)| *advice);
    if exit_code == NOT_FOUND { Some(PROGRAM) } else { row() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(exit_code: i32, output: &str, expected: Option<&str>) {
        assert_eq!(hint(exit_code, output), expected, "{output}");
    }

    #[test]
    fn a_failure_is_explained_where_we_know_more() {
        check(127, "sh: 1: vitest: not found\n", Some(PROGRAM));
        check(2, "make: pytest: command not found\n", Some(PROGRAM));
        check(1, "/usr/bin/python3: No module named pytest\n", Some(PYTHON));
        check(1, "a/a.go:2:8: no required module provides package example.com/none; to add it:\n", Some(GO));
        check(101, "error: failed to download\n  but --offline was specified\n", Some(CARGO));
        check(1, "Error: getaddrinfo EAI_AGAIN registry.npmjs.org\n", Some(NETWORK));
        check(1, "E   OSError: [Errno 101] Network is unreachable\n", Some(NETWORK));
        check(1, "write /tmp/x: no space left on device\n", Some(SPACE));
        check(1, "1 failed, 4 passed in 0.03s\n", None);
        check(0, "1 passed: Network is unreachable\n", None);
    }
}

//! Which program a line starts, where it is not the one that was written.

use super::*;
use crate::command::CommandPolicy;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let plan = CommandPolicy::default().read(text).unwrap();
    let folder = ScopedPath::from_components(Vec::new()).unwrap();
    let purpose = String::new();
    let line = RunLine { text: text.to_owned(), plan, folder, time: Duration::from_secs(1), purpose };
    assert_eq!(line.vectors(), [expected], "{text}");
}

#[test]
fn what_only_a_shell_has_is_another_program() {
    check("command -v cargo", &["which", "cargo"]);
    check("type -a cargo", &["which", "-a", "cargo"]);
    check("which cargo", &["which", "cargo"]);
}

#[test]
fn a_module_is_never_looked_for_in_the_folder() {
    check("python3 -m json.tool a.json", &["python3", "-I", "-m", "json.tool", "a.json"]);
    check("python -m json.tool", &["python", "-I", "-m", "json.tool"]);
    check("'python3' -m \"json\".tool a", &["python3", "-I", "-m", "json.tool", "a"]);
    check("/usr/bin/python3 -m json.tool a", &["/usr/bin/python3", "-I", "-m", "json.tool", "a"]);
    // An operator who lists the program means the folder's own modules.
    check("python3 -m pytest -q", &["python3", "-m", "pytest", "-q"]);
    check("python3 --version", &["python3", "--version"]);
}

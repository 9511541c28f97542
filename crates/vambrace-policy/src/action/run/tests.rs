//! Which program a line starts, where it is not the one that was written.

use super::*;
use crate::command::CommandPolicy;

fn line(text: &str) -> RunLine {
    let plan = CommandPolicy::default().read(text).unwrap();
    let folder = ScopedPath::from_components(Vec::new()).unwrap();
    let purpose = String::new();
    RunLine { text: text.to_owned(), plan, folder, time: Duration::from_secs(1), purpose }
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(line(text).vectors(), [expected], "{text}");
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

#[track_caller]
fn check_repository(text: &str, expected: Repository) {
    let line = line(text);
    assert_eq!(line.job().repository, expected, "{text}");
    assert_eq!(line.job().level == Level::Warm, expected == Repository::ReadOnly, "{text}");
}

#[test]
fn a_fetch_needs_the_repository_writable_and_nothing_else_does() {
    check_repository("git fetch origin", Repository::Writable);
    check_repository("cd x && git fetch && git log", Repository::Writable);
    check_repository("git ls-remote origin", Repository::ReadOnly);
    check_repository("git log", Repository::ReadOnly);
    check_repository("echo git fetch", Repository::ReadOnly);
}

#[test]
fn a_person_who_types_git_may_change_the_repository() {
    let typed = |program: &str| RunTyped {
        program: program.to_owned(),
        arguments: Vec::new(),
        folder: ScopedPath::from_components(Vec::new()).unwrap(),
        time: None,
        writable: Vec::new(),
        hosts: Vec::new(),
    };
    for (program, expected) in [
        ("git", Repository::Writable),
        ("/usr/bin/git", Repository::Writable),
        ("git-x", Repository::ReadOnly),
        ("make", Repository::ReadOnly),
    ] {
        assert_eq!(typed(program).job().repository, expected, "{program}");
    }
}

#[test]
fn a_line_that_sends_is_searched_as_it_stands_and_word_by_word() {
    let check = |text: &str, expected: &[&str]| assert_eq!(line(text).sent(), expected, "{text}");
    check("curl -d a'b'c x", &["curl -d a'b'c x", "curl", "-d", "abc", "x"]);
    check("echo a | /usr/bin/wget x", &["echo a | /usr/bin/wget x", "echo", "a", "/usr/bin/wget", "x"]);
    check("wget %2541", &["wget %2541", "wget %41", "wget A", "wget", "%2541", "%41", "A"]);
    check("echo curl", &[]);
    check("curlx a", &[]);
    check("git fetch a", &[]);
}

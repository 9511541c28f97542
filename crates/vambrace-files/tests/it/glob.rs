//! Globs, against the bash of this machine and against what bash does not know: scope and rules.

#![expect(clippy::disallowed_types, reason = "the oracle is a program")]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::process::Command;

use vambrace_policy::command::{CommandPolicy, Word};
use vambrace_policy::{Isolation, OperatorRule, ReadFile, Subject, Verdict, Withheld};
use vambrace_types::DEFAULT_READ;

use crate::world::{Choices, World, code};

fn word(pattern: &str) -> Word {
    let plan = CommandPolicy::default().read(&format!("echo {pattern}")).unwrap();
    let words = &plan.steps[0].pipeline[0].words;
    assert_eq!(words.len(), 2, "{pattern}");
    words[1].clone()
}

fn expand(world: &World, folder: &str, pattern: &str) -> Result<Vec<String>, &'static str> {
    let folder = world.path(folder).unwrap();
    world.files.expand(&folder, &word(pattern), &Withheld::default()).map_err(|error| code(&error))
}

fn bash(world: &World, folder: &str, pattern: &str) -> Vec<String> {
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &format!("printf '%s\\n' {pattern}")])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .current_dir(world.inside(folder))
        .output()
        .unwrap();
    assert!(output.status.success(), "{pattern}: {output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn tree() -> World {
    let world = World::new();
    for path in [
        "a.rs",
        "b.rs",
        "B.rs",
        "c.txt",
        "-delete",
        "-n.rs",
        ".hidden",
        ".config/x",
        "src/main.rs",
        "src/lib.rs",
        "src/deep/one.rs",
        "src/deep/two.txt",
        "tests/it.rs",
        "with space.rs",
        "é.rs",
        "[x].rs",
        "1",
        "12",
        "a]b",
        "a-b",
        "star*.rs",
        "tests/sub/it.rs",
        "@opts",
        "+x",
        "(",
        "!",
        ":(top)x",
        "=",
        ",",
        "~",
        "_x",
        "@scope/x",
        "FS=x",
        "src/a=b.rs",
    ] {
        world.put(path, "x");
    }
    symlink("src", world.inside("link")).unwrap();
    symlink("nowhere", world.inside("dangling.rs")).unwrap();
    world
}

#[track_caller]
fn check(world: &World, folder: &str, pattern: &str) {
    let theirs = bash(world, folder, pattern);
    let ours = expand(world, folder, pattern).unwrap();
    // A name that could mean something else than itself gets `./`; a word that matches nothing stays what it was.
    let marked: Vec<String> = match theirs.as_slice() {
        [only] if *only == word(pattern).spelled() => theirs,
        _ => {
            let marks = ['-', '@', '+', '(', '!', ':', '[', '=', ',', '~'];
            let is_safe =
                |name: &str| !name.starts_with(marks) && !name.starts_with("FS=") && !name.starts_with("a=");
            theirs.iter().map(|name| if is_safe(name) { name.clone() } else { format!("./{name}") }).collect()
        }
    };
    assert_eq!(ours, marked, "{pattern} in {folder:?}");
}

#[test]
fn globs_mean_what_bash_says() {
    let world = tree();
    for pattern in [
        "*",
        "*.rs",
        "?.rs",
        "??",
        "?",
        ".*",
        ".h*",
        "*/",
        "*/*",
        "*/*.rs",
        "*/*/",
        "src/*",
        "./src/*",
        "src/*.rs",
        "src/*/*.rs",
        "*/main.rs",
        "*/nothing.rs",
        "nothing*",
        "nothing/*",
        "a.rs/*",
        "link/*",
        "lin*/*.rs",
        "dangl*",
        "dangl*/",
        "[ab].rs",
        "[a-c].*",
        "[!a]*.rs",
        "[^a]*.rs",
        "[[:digit:]]*",
        "[[:upper:]].rs",
        "[[:lower:]].rs",
        "[]x]*",
        "a[]]b",
        "a[-]b",
        "[z-a]*",
        "'*'",
        "'star*'*",
        "\"[x]\"*",
        "\\[x\\].*",
        "with*",
        "'with '*",
        "**/*.rs",
        "**",
        "é*",
        "-*",
        "[@+]*",
        "@scope/*",
        "[!a-z]",
        ".config/*",
        ".c*/*",
        "./*",
        "./.*",
        "src//*.rs",
        "*//*.rs",
        "src/./*.rs",
        "src/../*.rs",
        "*s/*.rs",
        "t*/s*/*.rs",
        "[.]hidden",
        "?hidden",
        "*hidden",
    ] {
        check(&world, "", pattern);
    }
    for pattern in ["*", "../*.rs", "../*/*.rs", "./*.rs", "*/*", "../[st]*/*"] {
        check(&world, "src", pattern);
    }
    let absolute = format!("{}/*.rs", world.inside("src").to_str().unwrap());
    check(&world, "tests", &absolute);
}

#[test]
fn names_that_may_not_be_read_are_not_named() {
    let world = World::with(&Choices {
        service: "services/a".to_owned(),
        isolation: Isolation::Strict,
        block_patterns: vec!["*.pem".to_owned()],
        ..Choices::default()
    });
    for path in ["services/a/x", "services/a/k.pem", "services/a/.env", "services/b/x", "shared/y"] {
        world.put(path, "x");
    }
    let check = |pattern: &str, expected: &[&str]| {
        assert_eq!(expand(&world, ".", pattern).unwrap(), expected, "{pattern}");
    };
    check("*", &["x"]);
    check("*.pem", &["*.pem"]);
    check(".e*", &[".e*"]);
    check("../*/x", &["../*/x"]); // the folder above may not be listed
    check("../b/*", &["../b/*"]);
    check("../../shared/*", &["../../shared/y"]);
    check("../../../*", &["../../../*"]);
    check("/*", &["/*"]);
    check("/etc/*", &["/etc/*"]);
}

#[test]
fn links_are_not_followed_out() {
    let world = World::new();
    fs::write(world.outside("secret.txt"), "x").unwrap();
    symlink(world.outside(""), world.inside("out")).unwrap();
    symlink("../outside", world.inside("away")).unwrap();
    for (pattern, expected) in [
        ("out/*", vec!["out/*"]),
        ("away/*", vec!["away/*"]),
        ("*/*", vec!["*/*"]),
        ("*/", vec!["*/"]),
        ("*", vec!["away", "out"]),
    ] {
        assert_eq!(expand(&world, "", pattern).unwrap(), expected, "{pattern}");
    }
}

#[test]
fn what_the_operator_withholds_is_left_out() {
    let rule = OperatorRule::new(Subject::Everything, Some("private/"), Verdict::Deny, "", "test").unwrap();
    let world = World::with(&Choices { rules: vec![rule], ..Choices::default() });
    world.put("private/x", "x");
    world.put("public/x", "x");
    let public = world.path("public/x").unwrap();
    let permit = world.permit(ReadFile { path: public, max_bytes: DEFAULT_READ, lines: None });
    let folder = world.path(".").unwrap();
    let found = world.files.expand(&folder, &word("*/x"), permit.unwrap().withheld()).unwrap();
    assert_eq!(found, ["public/x"]);
}

#[test]
fn more_than_a_command_can_hold_is_an_error() {
    let world = World::new();
    for number in 0..4097 {
        world.put(&format!("many/{number}"), "");
    }
    assert_eq!(expand(&world, "", "many/*").unwrap_err(), "OutputLimitExceeded");
    assert_eq!(expand(&world, "", "many/1*").unwrap().len(), 1111);
}

#[test]
fn a_name_that_is_no_text_is_left_out() {
    let world = World::new();
    world.put("a", "");
    fs::write(world.inside("").join(std::ffi::OsStr::from_bytes(b"b\xff")), "").unwrap();
    assert_eq!(expand(&world, "", "*").unwrap(), ["a"]);
}

#[test]
fn words_that_share_what_they_may_look_at() {
    let world = World::new();
    for number in 0..10 {
        world.put(&format!("many/{number}"), "");
    }
    let folder = world.path(".").unwrap();
    // `.` and `..` are looked at too.
    let mut left = 30;
    for expected in [18, 6] {
        world.files.expand_within(&folder, &word("many/*"), &Withheld::default(), &mut left).unwrap();
        assert_eq!(left, expected);
    }
    let third = world.files.expand_within(&folder, &word("many/*"), &Withheld::default(), &mut left);
    assert_eq!((code(&third.unwrap_err()), left), ("OutputLimitExceeded", 0));
}

//! Program texts that we accept are given to the real awk and sed, and nothing may come of it: no file is written, and
//! sed in its own sandbox finds nothing to forbid. Most texts hide a call in what we take for an expression or a text;
//! a program that takes it for something else would make the call.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the test holds our reading against real programs, in a folder of its own"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use vambrace_policy::command::{CommandPlan, CommandPolicy};

use crate::command_judge::{folder_of, scope_of};
use crate::command_line_generate::Dice;

/// What some awk may call a word of its grammar or a function of its own, and other values.
const WORDS: &[&str] = &[
    "BEGIN",
    "BEGINFILE",
    "ENDFILE",
    "END",
    "break",
    "case",
    "case 1:",
    "continue",
    "default",
    "default:",
    "delete a",
    "do",
    "else",
    "exit",
    "for(;x++<1;)",
    "func",
    "function",
    "if(1)",
    "in",
    "int",
    "length",
    "length()",
    "namespace",
    "next",
    "nextfile",
    "print",
    "printf",
    "rand()",
    "return",
    "srand",
    "substr(\"a\",1)",
    "switch",
    "switch (1)",
    "toupper",
    "while(x++<1)",
    "x",
    "x++",
    "x--",
    "a[1]",
    "(1)",
    "f(1)",
    "$1",
    "$NF",
    "1",
    ".5",
    "\"s\"",
    "\"\\\\\"",
    "/r/",
    "/[/]/",
    "/[]/]/",
];
const BEFORE: &[&str] =
    &["", "x=", "x = 1; y=", "print ", "print x, ", "!", "-", "x ~ ", "a[1] = ", "if(1)", "x=1?1:"];
const BETWEEN: &[&str] = &["", "", " ", "\\\n", "\n", ";", " ~", ",", "+"];
const CALLS: &[&str] =
    &["system(\">CALLED\")", "system(\">CALLED\");", ";system(\">CALLED\");x=1", "x;print>\"CALLED\";x=1"];
const BEHIND: &[&str] = &["/1", "/", "/ x", "/;x=1", "/ ~ x", "\"", "/\"\"/1"];

const SED: &[&str] = &[
    "p", "d", "n", "s/a/b/", "s/a/b/g", "s,a,b,", "y/a/b/", "/x/", "/[/]/", "/[^/]/", "1", "$", "1,2", "1~2",
    "!", "{", "}", ";", "\n", "\\\n", " ", "#", "# x", ":a", "b a", "ba", "t", "a\\", "a text", "i\\\n",
    "c x\\", "q", "l 5", "=", "\\", "/", "[", "]", "\\/", "s/[/", "s/\\n/", "s|a|[|", "x", "I", "M", "g",
];
const SED_CALLS: &[&str] =
    &["w CALLED", "e >CALLED", "W CALLED", "r x", "s/a/b/w CALLED", "s/.*/>CALLED/e", "1e"];

fn accepts(policy: &CommandPolicy, words: &[String]) -> bool {
    let (program, arguments) = words.split_first().unwrap();
    let plan = CommandPlan::vector(program, arguments);
    policy.judge(&words.join(" "), &plan, &scope_of("", &[]), &folder_of("")).is_ok()
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let base = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&base);
    fs::create_dir_all(&base).unwrap();
    base
}

fn run(program: &Path, arguments: &[String], folder: &Path) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn no_awk_does_anything_with_a_text_that_we_accept() {
    let policy = CommandPolicy::default();
    let mut dice = Dice::new(12);
    let texts = (0..2_500).map(|_| {
        let mut inside = String::new();
        for list in [BEFORE, WORDS, BETWEEN, &["/", "/", "\""], CALLS, BEHIND] {
            inside.push_str(dice.one_of(list));
        }
        let around =
            dice.one_of(&["BEGIN{@}", "BEGIN{@\n}", "function g(q){@}BEGIN{g(1)}", "BEGIN{do @;while(0)}"]);
        around.replace('@', &inside)
    });
    let accepted: Vec<String> =
        texts.filter(|text| accepts(&policy, &["awk".to_owned(), text.clone()])).collect();
    assert!(accepted.len() > 800, "only {} are accepted", accepted.len());
    let base = folder("awk");
    let names = ["awk", "mawk", "gawk", "original-awk"].map(|name| Path::new("/usr/bin").join(name));
    let awks: BTreeSet<PathBuf> = names.iter().filter_map(|path| path.canonicalize().ok()).collect();
    assert!(!awks.is_empty(), "this test needs /usr/bin/awk");
    println!("{} texts for {awks:?}", accepted.len());
    let mut n_run = 0;
    for text in &accepted {
        for awk in &awks {
            n_run += usize::from(run(awk, std::slice::from_ref(text), &base).status.success());
            let made = fs::read_dir(&base).unwrap().count();
            assert_eq!(made, 0, "{} made something of {text:?}", awk.display());
        }
    }
    assert!(n_run > 100, "only {n_run} were understood by an awk");
    fs::remove_dir_all(base).unwrap();
}

#[test]
fn sed_finds_nothing_to_forbid_in_a_text_that_we_accept() {
    let policy = CommandPolicy::default();
    let mut dice = Dice::new(7);
    let mut text = || {
        let pieces = 1 + dice.one_of(&["", "a", "aa", "aaa", "aaaa"]).len();
        let mut text: String = (0..pieces).map(|_| dice.one_of(SED)).collect();
        text.push_str(dice.one_of(&["", "", ";", "\n"]));
        text.push_str(dice.one_of(SED_CALLS));
        text.push_str(dice.one_of(&["", "\n", "/", "]/p", "#", "}"]));
        text
    };
    let lines = (0..60_000).map(|place| {
        let mut words = vec!["sed".to_owned(), "-n".to_owned(), "-e".to_owned(), text()];
        if place % 3 == 0 {
            words.extend(["-e".to_owned(), text()]);
        }
        words
    });
    let accepted: Vec<Vec<String>> = lines.filter(|words| accepts(&policy, words)).take(800).collect();
    assert!(accepted.len() > 500, "only {} are accepted", accepted.len());
    let base = folder("sed");
    let mut n_run = 0;
    for words in &accepted {
        let mut arguments = vec!["--sandbox".to_owned()];
        arguments.extend(words.iter().skip(1).cloned());
        let output = run(Path::new("/bin/sed"), &arguments, &base);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("sandbox"), "{words:?}: {errors}");
        n_run += usize::from(output.status.success());
    }
    assert!(n_run > 200, "only {n_run} were understood by sed");
    fs::remove_dir_all(base).unwrap();
}

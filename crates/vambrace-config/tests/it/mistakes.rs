//! The mistakes people make. Each expectation is the whole message, so that a person reads it in review.

use std::path::{Path, PathBuf};

use crate::bench::Bench;

/// The scenarios in `testdata/config`: `operator.*` is the file of `--config`, `project.*` lies in the workspace,
/// `environment` has a variable a line, `expected` the messages, or `loads` and the warnings.
#[test]
fn scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/config");
    let mut failures = String::new();
    let scenarios = listed(&folder);
    assert!(scenarios.len() > 25, "the scenarios are there");
    for scenario in scenarios {
        let expected = read(&scenario.join("expected"));
        let actual = outcome(&scenario);
        if actual != expected {
            let name = scenario.file_name().unwrap().display();
            failures.push_str(&format!("== {name}\n-- expected\n{expected}-- actual\n{actual}"));
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

fn outcome(scenario: &Path) -> String {
    let mut bench = Bench::new();
    for path in listed(scenario) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let content = read(&path);
        bench = match name.split_once('.') {
            Some(("operator", extension)) => bench.config(&format!("operator.{extension}"), content),
            Some(("project", extension)) => bench.file(&format!("work/vambrace.{extension}"), content),
            Some(_) => panic!("{name}"),
            None if name == "environment" => content.lines().fold(bench, |bench, line| {
                let (name, value) = line.split_once('=').unwrap();
                bench.environment(name, value)
            }),
            None => bench,
        };
    }
    match bench.load() {
        Ok(loaded) => {
            let warnings: String =
                loaded.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
            bench.without_folder(&format!("loads\n{warnings}"))
        }
        Err(errors) => bench.without_folder(&format!("{errors}\n")),
    }
}

#[expect(clippy::disallowed_methods, reason = "a test reads its own data")]
fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[expect(clippy::disallowed_methods, reason = "a test reads its own data")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[track_caller]
fn check(file: &str, content: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(Bench::new().config(file, content).messages(), expected);
}

#[test]
fn files_that_are_no_text() {
    check("v.yaml", b"version: 1\nworkspace: \xff\n", "v.yaml:2:12: is not UTF-8 text");
    check(
        "v.ini",
        "version=1",
        "v.ini: has no known format; the name must end in .yaml, .yml, .json, .json5 or .toml",
    );
    check("v.yaml", "# comment\n".repeat(110_000), "v.yaml: is larger than 1048576 bytes");
    let missing = Bench {
        sources: vambrace_config::Sources { explicit: Some("/nowhere/v.yaml".into()), ..Default::default() },
        ..Bench::new()
    };
    assert_eq!(missing.messages(), "/nowhere/v.yaml: cannot be read: No such file or directory (os error 2)");
}

#[test]
fn bombs() {
    let bomb: String = (1..12).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, level| {
        let below = format!("*a{}", level - 1);
        format!("{text}a{level}: &a{level} [{}]\n", [below.as_str(); 9].join(", "))
    });
    let messages = Bench::new().config("v.yaml", bomb).messages();
    assert!(
        messages.contains("the document is too deep, too long, or grows too much through its aliases"),
        "{messages}"
    );
    for (file, deep) in [
        ("v.yaml", format!("workspace: {}{}", "[".repeat(2_000), "]".repeat(2_000))),
        ("v.yaml", (0..400).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect()),
        ("v.json", format!("{{\"workspace\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000))),
        ("v.json5", format!("{{workspace: {}{}}}", "{a:".repeat(100_000), "}".repeat(100_000))),
        ("v.toml", format!("workspace = {}{}", "[".repeat(100_000), "]".repeat(100_000))),
        ("v.toml", format!("{}a = 1", "a.".repeat(50_000))),
    ] {
        let messages = Bench::new().config(file, deep).messages();
        println!("{messages}");
        assert!(messages.len() < 300, "{messages}");
    }
}

#[test]
fn hostile_keys_do_not_drive_the_terminal() {
    let hostile = Bench::new().file("work/vambrace.json", "{\"\\u001b[2J\\u0007\": 1}").messages();
    assert_eq!(hostile, "work/vambrace.json:1:2: unknown key `\\u{1b}[2J\\u{7}`");
    let long = format!("{{\"secrets\": {{\"env\": {{\"{}\": [1]}}}}}}", "k".repeat(100_000));
    let messages = Bench::new().config("v.json", long).messages();
    assert!(messages.chars().count() < 1_100 && messages.ends_with('…'), "{messages}");
}

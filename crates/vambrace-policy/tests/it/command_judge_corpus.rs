//! A public corpus of command lines with another project's verdicts. It is read where it lies and never becomes part
//! of this repository. Its rows were made for other lists, so a row counts by what is dangerous in it.

use std::path::PathBuf;

use vambrace_policy::command::CommandPolicy;

use crate::command_judge::{ask, scope_of};

/// How many rows the corpus has, to say how many were not run when it is missing.
const N_ROWS: usize = 38;

/// Denied there because of a list or mode that we do not have: nothing in them does harm under our rules.
const HARMLESS: [&str; 4] = ["echo hi && ls", "false || ls", "echo hi; ls", "echo hi | grep \"hi\""];

/// Allowed there and refused here by design: substitution and `&` are no part of a plan, and a redirect is opened by us
/// and stays inside of the workspace.
const REFUSED_BY_DESIGN: [&str; 5] = [
    "echo $(git log)",
    "git log && echo $(git log)",
    "git log > /tmp/test",
    "echo hi & ls",
    "echo $(cat $(ls))",
];

#[expect(
    clippy::disallowed_methods,
    reason = "the corpus lies outside the repository, so a test has to look for it and read it"
)]
fn corpus() -> Option<String> {
    let folder = match std::env::var_os("VAMBRACE_CORPORA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora")),
    };
    std::fs::read_to_string(folder.join("shell/gemini_shell_policy.jsonl")).ok()
}

#[test]
fn lines_of_another_policy_are_refused_or_named() {
    let Some(text) = corpus() else {
        println!("the shell corpus is not here: {N_ROWS} cases not run");
        return;
    };
    let (policy, scope) = (CommandPolicy::default(), scope_of("", &[]));
    let mut n_rows = 0;
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let input = row["input"].as_str().unwrap();
        let expected = match row["expect"].as_str().unwrap() {
            "allow" => !REFUSED_BY_DESIGN.contains(&input),
            "deny" => HARMLESS.contains(&input),
            other => panic!("unknown verdict {other:?}"),
        };
        let answer = ask(&policy, &scope, "-", input);
        assert_eq!(answer.is_ok(), expected, "{input:?}: {answer:?}");
        n_rows += 1;
    }
    println!("shell corpus: {n_rows} cases run");
    assert_eq!(n_rows, N_ROWS, "a corpus of another size: update the count");
}

//! No tool's name decides anything in policy, runtime or server: what a tool shows, changes, runs
//! or sends is a fact of its action, and how its results read is its own. Sentences for callers may
//! name a tool.

use super::Finding;
use crate::code::{code_only, line_of, test_ranges};
use crate::workspace::{TextFile, Workspace};

const TOOLS: &str = "crates/vambrace-tools/src/";
const FREE_OF_NAMES: [&str; 3] =
    ["crates/vambrace-policy/src/", "crates/vambrace-runtime/src/", "crates/vambrace-server/src/"];

/// Names of rules that operators search for, which are older than this check: file and text.
const RULES: [(&str, &str); 1] = [("crates/vambrace-policy/src/action/run/repository.rs", "git_push")];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let names = names(workspace);
    let files = FREE_OF_NAMES.into_iter().flat_map(|folder| workspace.beneath(folder));
    files.filter(|file| file.is_rust() && !file.is_test()).flat_map(|file| check_file(file, &names)).collect()
}

/// What is called like a tool: the first text that is given to `About::of`. Words that are also
/// plain English (`run`) are left out.
fn names(workspace: &Workspace) -> Vec<String> {
    let files = workspace.beneath(TOOLS).filter(|file| file.is_rust() && !file.is_test());
    let texts = files.flat_map(|file| file.text.split("About::of(").skip(1));
    let first = texts.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    first.filter(|name| name.contains('_')).map(str::to_owned).collect()
}

fn check_file(file: &TextFile, names: &[String]) -> Vec<Finding> {
    let tests = test_ranges(&code_only(&file.text));
    let tests = tests.iter().map(|range| line_of(&file.text, range.start)..=line_of(&file.text, range.end));
    let tests: Vec<_> = tests.collect();
    let mut findings = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        let is_name = |name: &&String| line.contains(&format!("\"{name}\""));
        let Some(name) = names.iter().find(is_name) else { continue };
        let is_rule = RULES.iter().any(|(path, rule)| *path == file.path && rule == name);
        let is_test = tests.iter().any(|lines| lines.contains(&(number + 1)));
        if !is_rule && !is_test {
            let message = format!("names the tool `{name}`; use a fact of its action, or let the tool do it");
            findings.push(Finding::stop(&file.path, number + 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, n_findings: usize) {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let tool = "fn about(&self) -> About {\n    About::of(\n        \"read_file\",\n        \"Read\",\n    )\n}\n";
        let files = vec![file("crates/vambrace-tools/src/file/read_file.rs", tool), file(path, text)];
        let workspace = Workspace { root: PathBuf::new(), files };
        assert_eq!(check(&workspace).len(), n_findings, "{path} {text}");
    }

    #[test]
    fn a_name_that_decides_is_found() {
        check_text("crates/vambrace-policy/src/a.rs", "if tool == \"read_file\" {}\n", 1);
        check_text("crates/vambrace-server/src/a.rs", "match tool { \"read_file\" => 1 }\n", 1);
        check_text("crates/vambrace-policy/src/a.rs", "\"Use read_file for files.\"\n", 0);
        check_text("crates/vambrace-policy/src/a.rs", "if tool == \"Read\" {}\n", 0);
        check_text("crates/vambrace-tools/src/b.rs", "if tool == \"read_file\" {}\n", 0);
        check_text("crates/vambrace-policy/tests/it/a.rs", "if tool == \"read_file\" {}\n", 0);
        let test = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    const A: &str = \"read_file\";\n}\n";
        check_text("crates/vambrace-policy/src/a.rs", test, 0);
    }
}

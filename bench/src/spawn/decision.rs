//! Deciding about a command line, beside making a syntax tree of it.

use std::fs;
use std::time::{Duration, Instant};

use tree_sitter::Parser;
use vambrace_policy::command::CommandPolicy;
use vambrace_policy::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks};
use vambrace_types::{Bearings, ScopedPath};

use crate::failure::Failure;
use crate::measure::{Turn, take_turns};
use crate::place::Place;
use crate::table::{Reach, Row};

const ROUNDS: usize = 60;
const PARSE: &str = "tree-sitter-bash parse";

pub(super) fn run(place: &Place) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (what, file) in [("decision, harmless lines", "harmless.txt"), ("decision, abuse", "abuse.tsv")] {
        let path = place.root.join("testdata").join(file);
        let text = fs::read_to_string(&path).map_err(Failure::disk(&path))?;
        rows.push(compare(what, &lines(&text))?);
    }
    Ok(rows)
}

/// The first column of what is no note.
fn lines(table: &str) -> Vec<&str> {
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.filter_map(|line| line.split('\t').next()).collect()
}

fn compare(what: &str, lines: &[&str]) -> Result<Row, Failure> {
    let judge = Judge::new()?;
    let n_allowed = lines.iter().filter(|line| judge.allows(line)).count();
    println!("{what}: {n_allowed} of {} lines allowed.", lines.len());
    let mut parser = Parser::new();
    let broken = |problem: &dyn std::fmt::Display| {
        Failure::new(format!("no parser: {problem}"), "Run `cargo update -p tree-sitter-bash`.")
    };
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|problem| broken(&problem))?;
    let mut turns: Vec<Turn<'_>> = vec![
        each(lines, |line| {
            std::hint::black_box(judge.allows(line));
            Ok(())
        }),
        each(lines, |line| {
            let tree = parser.parse(line, None);
            std::hint::black_box(tree).map(drop).ok_or_else(|| broken(&"it gave up"))
        }),
    ];
    let medians = take_turns(ROUNDS, &mut turns)?;
    let [ours, theirs] = medians.as_slice() else { return Err(broken(&"no times")) };
    Ok(Row::time(what, *ours, PARSE, Some(*theirs), Reach::Times(1.5)))
}

/// One sample is the mean over all lines.
fn each<'a>(lines: &'a [&str], mut work: impl FnMut(&str) -> Result<(), Failure> + 'a) -> Turn<'a> {
    Box::new(move |samples| {
        let start = Instant::now();
        lines.iter().try_for_each(|line| work(line))?;
        let n_lines = u32::try_from(lines.len()).unwrap_or(u32::MAX).max(1);
        samples.push(Duration::checked_div(start.elapsed(), n_lines).unwrap_or_default());
        Ok(())
    })
}

/// The default rules in an ordinary workspace.
struct Judge {
    policy: CommandPolicy,
    scope: Scope,
    folder: ScopedPath,
}

impl Judge {
    fn new() -> Result<Judge, Failure> {
        let broken = |what: String| Failure::new(what, "Run `cargo xtask test` and fix what it says.");
        let scope = Scope::new(ScopeSettings {
            bearings: Bearings::new(&["/project"], "", &[]),
            isolation: Isolation::Strict,
            block_patterns: Vec::new(),
            shared_inside_own: false,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        });
        let scope = scope.map_err(|problem| broken(format!("no scope: {problem:?}")))?;
        let folder = ScopedPath::parse(".", scope.bearings())
            .map_err(|problem| broken(format!("no folder: {problem:?}")))?;
        Ok(Judge { policy: CommandPolicy::default(), scope, folder })
    }

    fn allows(&self, line: &str) -> bool {
        let Ok(plan) = self.policy.read(line) else { return false };
        self.policy.judge(line, &plan, &self.scope, &self.folder).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_and_reasons_are_no_lines() {
        assert_eq!(lines("# note\nls -l\n\nsh -c id\ta shell\n"), ["ls -l", "sh -c id"]);
    }

    #[test]
    fn the_judge_is_a_real_one() {
        let judge = Judge::new().unwrap();
        assert!(judge.allows("ls -l src") && !judge.allows("sh -c id") && !judge.allows("echo $("));
    }
}

//! `cargo xtask test`: what CI runs, in the order in which it is cheapest to fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::libtest::Counts;
use crate::requirements::{self, Installing, TestTools};
use crate::workspace::{Workspace, WriteMode};
use crate::{misuse, promises, reference, run, tidy};

/// The public corpora are never committed. Where they are absent, the run says how many cases that costs.
const CORPORA: [(&str, usize); 6] = [
    ("auth/slack_signature", 23),
    ("auth/x_forwarded_for", 308),
    ("filesystem/traversal_strings", 997),
    ("secrets/gitleaks_tp_fp", 667),
    ("ssrf/patt_ssrf", 123),
    ("ssrf/ssrf_req_filter", 103),
];
const CORPORA_VARIABLE: &str = "VAMBRACE_CORPORA";

/// A test that cannot do its work here appends one line with the reason to the file that this variable names.
const SKIPS_VARIABLE: &str = "VAMBRACE_TEST_SKIPPED";
/// Property tests make the same cases in every run, so that a change is judged by what it changed and a failure comes again.
/// Whoever wants to look elsewhere sets the variable.
const SEED_VARIABLE: &str = "PROPTEST_RNG_SEED";
const SEED: &str = "20261116";

/// What earlier steps leave for later ones and for the summary.
struct Progress<'a> {
    root: &'a Path,
    installing: Installing,
    tools: Option<TestTools>,
    counts: Counts,
    not_run: Vec<String>,
}

type Step = (&'static str, fn(&mut Progress<'_>) -> Result<(), Failure>);

const STEPS: [Step; 8] = [
    ("requirements", requirements_step),
    ("format", format_step),
    ("tidy", tidy_step),
    ("promises", promises_step),
    ("lints", lints_step),
    ("reference", reference_step),
    ("misuse", misuse_step),
    ("tests", tests_step),
];

pub(crate) fn run(root: &Path, installing: Installing) -> Result<(), Failure> {
    let mut progress =
        Progress { root, installing, tools: None, counts: Counts::default(), not_run: Vec::new() };
    let mut times: Vec<(&str, Duration)> = Vec::new();
    let mut result = Ok(());
    for (number, (name, step)) in STEPS.iter().enumerate() {
        println!("\n[{}/{}] {name}", number + 1, STEPS.len());
        let started = Instant::now();
        result = step(&mut progress).map_err(|failure| failure.during(name));
        times.push((name, started.elapsed()));
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        println!("[{}/{}] {name}: {word} in {}", number + 1, STEPS.len(), seconds(started.elapsed()));
        if result.is_err() {
            break;
        }
    }
    summarize(&progress, &times);
    result
}

fn summarize(progress: &Progress<'_>, times: &[(&str, Duration)]) {
    println!("\nSummary");
    for (name, time) in times {
        println!("  {name:<14} {:>10}", seconds(*time));
    }
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    println!("  {:<14} {:>10}", "total", seconds(total));
    for (name, _) in STEPS.iter().skip(times.len()) {
        println!("not run: step {name}");
    }
    for reason in &progress.not_run {
        println!("not run: {reason}");
    }
    let Counts { passed, failed, binaries, .. } = progress.counts;
    println!("{binaries} test binaries");
    println!("{passed} passed, {failed} failed");
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn requirements_step(progress: &mut Progress<'_>) -> Result<(), Failure> {
    let tools = requirements::prepare(progress.root, progress.installing)?;
    progress.not_run.extend(tools.missing.iter().map(|missing| format!("tests that need {missing}")));
    progress.tools = Some(tools);
    Ok(())
}

fn format_step(progress: &mut Progress<'_>) -> Result<(), Failure> {
    run::run(run::cargo(progress.root).args(["fmt", "--all", "--check"]), "Run `cargo fmt --all`.")
}

fn tidy_step(progress: &mut Progress<'_>) -> Result<(), Failure> {
    tidy::run(&Workspace::read(progress.root.to_path_buf())?)
}

fn promises_step(progress: &mut Progress<'_>) -> Result<(), Failure> {
    promises::run(&Workspace::read(progress.root.to_path_buf())?, WriteMode::Check)
}

fn lints_step(progress: &mut Progress<'_>) -> Result<(), Failure> {
    let mut command = run::cargo(progress.root);
    command.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    run::run(&mut command, "Fix the lints above; silence one only with `#[expect(…, reason = \"…\")]`.")
}

fn reference_step(progress: &mut Progress<'_>) -> Result<(), Failure> {
    reference::run(progress.root, WriteMode::Check)
}

fn misuse_step(progress: &mut Progress<'_>) -> Result<(), Failure> {
    misuse::run(progress.root)
}

fn tests_step(progress: &mut Progress<'_>) -> Result<(), Failure> {
    let skips = progress.root.join("target/test-tools/skipped.txt");
    let writable = skips.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&skips, ""));
    writable.map_err(|problem| Failure::new(format!("{}: {problem}", skips.display()), "Check the disk."))?;

    let mut command = run::cargo(progress.root);
    // Every binary runs, so that the counts are whole.
    command.args(["test", "--workspace", "--no-fail-fast"]).env(SKIPS_VARIABLE, &skips);
    if std::env::var_os(SEED_VARIABLE).is_none() {
        command.env(SEED_VARIABLE, SEED);
    }
    for (variable, program) in progress.tools.iter().flat_map(|tools| &tools.programs) {
        command.env(variable, program);
    }
    match corpora(progress.root) {
        Some(folder) => {
            command.env(CORPORA_VARIABLE, folder);
        }
        None => {
            command.env_remove(CORPORA_VARIABLE);
            progress.not_run.push(corpora_cost());
        }
    }
    let counts = &mut progress.counts;
    let succeeded = run::each_line(&mut command, |line| {
        counts.read_line(line);
        println!("{line}");
    })?;
    let skipped = fs::read_to_string(&skips).unwrap_or_default();
    progress.not_run.extend(skipped.lines().map(str::to_owned));
    if !succeeded {
        return Err(Failure::new(
            format!("{} tests failed", progress.counts.failed),
            "The failures are listed above; run one with `cargo test -p CRATE NAME`.",
        ));
    }
    if progress.counts.ignored > 0 || progress.counts.passed == 0 {
        return Err(Failure::new(
            format!("{} tests ran and {} were ignored", progress.counts.passed, progress.counts.ignored),
            "Tests are not ignored; one that cannot run here says so and is counted.",
        ));
    }
    Ok(())
}

/// The variable, or the folder beside the checkout.
fn corpora(root: &Path) -> Option<PathBuf> {
    let beside = || root.parent().map(|parent| parent.join("shared/corpora"));
    std::env::var_os(CORPORA_VARIABLE).map(PathBuf::from).or_else(beside).filter(|folder| folder.is_dir())
}

fn corpora_cost() -> String {
    let n_cases: usize = CORPORA.iter().map(|(_, n_cases)| n_cases).sum();
    let names: Vec<&str> = CORPORA.iter().map(|(name, _)| *name).collect();
    format!(
        "{n_cases} cases of the public corpora ({}): set {CORPORA_VARIABLE} to their folder",
        names.join(", ")
    )
}

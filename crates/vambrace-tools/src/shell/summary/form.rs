//! One reader for each runner. Each gets the whole text and answers only where it finds its runner's own closing words.

use super::Summary;

/// `test result: ok. 3 passed; 1 failed; 2 ignored; …`, once for every binary.
pub(super) fn libtest(text: &str) -> Option<Summary> {
    let results = text.lines().filter_map(|line| line.trim_start().strip_prefix("test result: "));
    sum(results.map(|line| {
        let behind = line.split_once(". ").map_or("", |(_, counts)| counts);
        counted(behind.split(';'), |word| match word {
            "passed" => Some(Kind::Passed),
            "failed" => Some(Kind::Failed),
            "ignored" => Some(Kind::Skipped),
            _ => None,
        })
    }))
}

/// `Summary [ 0.005s] 5 tests run: 4 passed (1 slow), 1 failed, 2 skipped`
pub(super) fn nextest(text: &str) -> Option<Summary> {
    let line = text.lines().rfind(|line| line.contains("Summary [") && line.contains(" run: "))?;
    let (_, counts) = line.split_once(" run: ")?;
    Some(counted(counts.split(','), |word| match word {
        "passed" => Some(Kind::Passed),
        "failed" | "exec" | "timed" => Some(Kind::Failed),
        "skipped" => Some(Kind::Skipped),
        _ => None,
    }))
}

/// `== 1 failed, 4 passed, 2 skipped in 0.12s ==`, with or without the frame.
pub(super) fn pytest(text: &str) -> Option<Summary> {
    let bare = |line: &str| line.trim_matches(['=', ' ']).to_owned();
    text.lines().rev().map(bare).find_map(|line| {
        let (counts, time) = line.rsplit_once(" in ")?;
        time.split_once('s').filter(|(seconds, _)| seconds.trim().parse::<f64>().is_ok())?;
        if counts == "no tests ran" {
            return Some(Summary::default());
        }
        let kind = |word: &str| match word {
            "passed" | "xpassed" => Some(Kind::Passed),
            "failed" | "error" | "errors" => Some(Kind::Failed),
            "skipped" | "xfailed" => Some(Kind::Skipped),
            _ => None,
        };
        let is_count = |part: &str| number_and_word(part).is_some();
        counts.split(',').all(is_count).then(|| counted(counts.split(','), kind))
    })
}

/// What jest calls a file that could not be loaded. Its tests are in no count.
pub(super) const JEST_BROKEN_SUITE: &str = "Test suite failed to run";

/// `Tests:       1 failed, 2 skipped, 3 passed, 6 total`, once for every package of a workspace.
pub(super) fn jest(text: &str) -> Option<Summary> {
    let counts = |line: &str| Some(line.trim().strip_prefix("Tests:")?.strip_suffix(" total")?.to_owned());
    let totals = text.lines().filter_map(counts);
    let total = sum(totals.map(|counts| counted(counts.split(','), script_kind)));
    let total = total.or_else(|| text.contains("No tests found, exiting").then(Summary::default))?;
    // A long output repeats its failures at the end.
    let once = text.split("Summary of all failing tests").next().unwrap_or(text);
    let broken =
        once.lines().filter(|line| line.strip_prefix("  ● ") == Some(JEST_BROKEN_SUITE)).count() as u64;
    Some(Summary { failed: total.failed.saturating_add(broken), ..total })
}

/// `Tests  1 failed | 3 passed | 1 skipped (5)`, once for every package of a workspace.
pub(super) fn vitest(text: &str) -> Option<Summary> {
    let counts = |line: &str| {
        let counts = line.trim().strip_prefix("Tests  ")?.trim();
        (counts.ends_with(')') || counts == "no tests").then(|| counts.to_owned())
    };
    let totals = text.lines().filter_map(counts);
    let total = sum(totals.map(|counts| counted(counts.split('|'), script_kind)));
    let total = total.or_else(|| text.contains("No test files found, exiting").then(Summary::default))?;
    // A file that could not be loaded, or a hook that failed: its tests are in no count.
    let suites = text.lines().filter_map(|line| line.split_once(" Failed Suites ")?.1.split(' ').next());
    let broken = suites.filter_map(|n| n.parse::<u64>().ok()).fold(0, u64::saturating_add);
    Some(Summary { failed: total.failed.saturating_add(broken), ..total })
}

fn script_kind(word: &str) -> Option<Kind> {
    match word {
        "passed" => Some(Kind::Passed),
        "failed" => Some(Kind::Failed),
        "skipped" | "todo" | "pending" => Some(Kind::Skipped),
        _ => None,
    }
}

/// Three lines: `3 passing (12ms)`, `1 pending`, `2 failing`; only the first is always there.
pub(super) fn mocha(text: &str) -> Option<Summary> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let passing = |line: &str| number_and_word(line).and_then(|(n, word)| (word == "passing").then_some(n));
    let runs = lines.iter().enumerate().filter_map(|(place, line)| Some((place, passing(line)?)));
    let total = sum(runs.map(|(place, passed)| {
        let mut summary = Summary { passed, ..Summary::default() };
        for line in lines.iter().skip(place + 1).take(3) {
            // Alone in its line, so that a test's own title is no count.
            match number_and_word(line) {
                Some((n, word)) if *line == format!("{n} {word}") => match word {
                    "failing" => summary.failed = n,
                    "pending" => summary.skipped = n,
                    _ => {}
                },
                Some(_) | None => {}
            }
        }
        summary
    }));
    total.or_else(|| text.contains("Error: No test files found").then(Summary::default))
}

/// `# pass 3` in TAP and `ℹ pass 3` for people, one line for each count.
pub(super) fn node(text: &str) -> Option<Summary> {
    let count = |name: &str| {
        let value = |line: &str| {
            let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
            rest.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok()
        };
        text.lines().filter_map(value).reduce(u64::saturating_add)
    };
    let (passed, failed) = (count("pass")?, count("fail")?);
    let or_none = |name: &str| count(name).unwrap_or(0);
    Some(Summary {
        passed,
        failed: failed.saturating_add(or_none("cancelled")),
        skipped: or_none("skipped").saturating_add(or_none("todo")),
    })
}

/// With `-v` every test has a line; without it only failed ones do, so packages are counted.
pub(super) fn go(text: &str) -> Option<Summary> {
    let n_tests =
        |mark: &str| text.lines().filter_map(|line| go_name(line, mark)).filter(is_whole).count() as u64;
    let packages = |start: &'static str| text.lines().filter(move |line| line.starts_with(start));
    if text.lines().any(|line| line.starts_with("=== RUN ")) {
        let failed = go_failures(text).iter().filter(|failure| failure.is_whole).count() as u64;
        return Some(Summary { passed: n_tests("--- PASS: "), failed, skipped: n_tests("--- SKIP: ") });
    }
    let passed = packages("ok  \t").filter(|line| !line.ends_with("[no tests to run]")).count() as u64;
    let failed = packages("FAIL\t").count() as u64;
    let skipped = packages("?   \t").count() as u64;
    let is_go = packages("ok  \t").next().is_some() || failed + skipped > 0;
    is_go.then_some(Summary { passed, failed, skipped })
}

pub(super) struct GoFailure<'t> {
    pub(super) name: &'t str,
    /// Not part of another test.
    is_whole: bool,
}

/// A subtest is called by its test, a slash and its own name.
fn is_whole(test: &&str) -> bool {
    !test.contains('/')
}

/// What the test wrote may stand before it in the line.
fn go_name<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    let (name, time) = line.split_once(mark)?.1.split_once(" (")?;
    (time.ends_with("s)") && !name.contains(' ')).then_some(name)
}

/// Tests that failed, and packages that failed without one: not built, out of time, or ended by a program's own exit.
pub(super) fn go_failures(text: &str) -> Vec<GoFailure<'_>> {
    let mut failures = Vec::new();
    let mut is_explained = false;
    for line in text.lines() {
        if let Some(name) = go_name(line, "--- FAIL: ") {
            failures.push(GoFailure { name, is_whole: is_whole(&name) });
            is_explained = true;
        } else if let Some(package) = line.strip_prefix("FAIL\t") {
            let name = package.split([' ', '\t']).next().unwrap_or(package);
            failures.extend(Some(GoFailure { name, is_whole: true }).filter(|_| !is_explained));
            is_explained = false;
        } else if line.starts_with("ok  \t") {
            is_explained = false;
        }
    }
    failures
}

/// `Ran 5 tests in 0.001s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
pub(super) fn unittest(text: &str) -> Option<Summary> {
    let mut lines = text.lines().map(str::trim);
    let ran = |line: &str| {
        let (n, word) = number_and_word(line.strip_prefix("Ran ")?)?;
        (matches!(word, "test" | "tests") && line.contains(" in ")).then_some(n)
    };
    let n_run = lines.by_ref().find_map(ran)?;
    let verdict = lines.find(|line| {
        ["OK", "FAILED", "NO TESTS RAN"].iter().any(|word| line.split(" (").next() == Some(word))
    })?;
    let counts = verdict.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
    let count = |name: &str| {
        let value = |part: &str| part.trim().strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok();
        counts.split(',').find_map(value).unwrap_or(0)
    };
    let failed = all([count("failures"), count("errors"), count("unexpected successes")]);
    let skipped = all([count("skipped"), count("expected failures")]);
    Some(Summary { passed: n_run.saturating_sub(all([failed, skipped])), failed, skipped })
}

/// `Tests run: 5, Failures: 1, Errors: 0, Skipped: 1`, the closing line of every module; a class's own line names its
/// time.
pub(super) fn maven(text: &str) -> Option<Summary> {
    let totals = text.lines().filter(|line| !line.contains("Time elapsed"));
    sum(totals.filter_map(|line| {
        let (_, counts) = line.split_once("Tests run: ")?;
        let mut numbers = counts.split(',').map(|part| {
            let number = part.rsplit_once(':').map_or(part, |(_, number)| number);
            number.trim().parse::<u64>().ok()
        });
        let [n_run, failures, errors, skipped] = std::array::from_fn(|_| numbers.next().flatten());
        let (failed, skipped) = (all([failures?, errors?]), skipped?);
        Some(Summary { passed: n_run?.saturating_sub(all([failed, skipped])), failed, skipped })
    }))
}

enum Kind {
    Passed,
    Failed,
    Skipped,
}

/// Adds up parts such as ` 3 passed`; what `kind` does not know is left out.
fn counted<'t>(parts: impl Iterator<Item = &'t str>, kind: impl Fn(&str) -> Option<Kind>) -> Summary {
    let mut summary = Summary::default();
    for (n, word) in parts.filter_map(number_and_word) {
        match kind(word) {
            Some(Kind::Passed) => summary.passed = summary.passed.saturating_add(n),
            Some(Kind::Failed) => summary.failed = summary.failed.saturating_add(n),
            Some(Kind::Skipped) => summary.skipped = summary.skipped.saturating_add(n),
            None => {}
        }
    }
    summary
}

fn sum(summaries: impl Iterator<Item = Summary>) -> Option<Summary> {
    let mut total = None;
    for summary in summaries {
        total.get_or_insert_with(Summary::default).add(summary);
    }
    total
}

/// The numbers come from a program that may write anything.
fn all<const N: usize>(counts: [u64; N]) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

fn number_and_word(part: &str) -> Option<(u64, &str)> {
    let mut words = part.split_whitespace();
    let n = words.next()?.parse().ok()?;
    Some((n, words.next()?))
}

//! Content search over a tree of 200 MB: our server, ripgrep, grep, and reading every file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Bench;
use crate::failure::Failure;
use crate::mcp::Server;
use crate::measure::{Turn, once, take_turns};
use crate::sample;
use crate::table::{Reach, Row};

const ROUNDS: usize = 11;
const PATTERNS: [(&str, &str); 2] =
    [("search 200 MB, 3 matches", sample::RARE), ("search 200 MB, hundreds", sample::COMMON)];

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let tree = sample::tree(bench.place)?;
    let state = bench.place.fresh("search-state")?;
    let mut server = bench.start_ours(&tree, &state)?;
    let paths = every_file(&tree)?;
    let mut rows = Vec::new();
    for (what, pattern) in PATTERNS {
        let n_expected = n_matches(&mut server, pattern)?.1;
        let mut turns = vec![ours(&mut server, pattern), once(|| read_all(&paths))];
        let (rg, grep) = (bench.ripgrep.program().is_some(), bench.grep.program().is_some());
        if rg {
            turns.push(counted("ripgrep", n_expected, || ripgrep(bench, &tree, pattern)));
        }
        if grep {
            turns.push(counted("grep", n_expected, || plain_grep(bench, &tree, pattern)));
        }
        let medians = take_turns(ROUNDS, &mut turns)?;
        let [ours, reading, rest @ ..] = medians.as_slice() else { continue };
        let mut rest = rest.iter().copied();
        let (rg, grep) = (rg.then(|| rest.next()).flatten(), grep.then(|| rest.next()).flatten());
        rows.extend([
            Row::time(what, *ours, "ripgrep", rg, Reach::Times(1.2)),
            Row::time(what, *ours, "grep -rn", grep, Reach::Nothing),
            Row::time(what, *ours, "reading every file", Some(*reading), Reach::Nothing),
        ]);
    }
    Ok(rows)
}

fn n_matches(server: &mut Server, pattern: &str) -> Result<(Duration, u64), Failure> {
    let (took, answer) = server.call("search_file", &json!({"regex": pattern, "limit": 1000}))?;
    let total = answer.pointer("/structuredContent/data/total_matches").and_then(Value::as_u64);
    let wrong = || Failure::wrong("vambrace", "gave no count", &answer.to_string());
    Ok((took, total.ok_or_else(wrong)?))
}

fn ours<'a>(server: &'a mut Server, pattern: &'a str) -> Turn<'a> {
    Box::new(|samples: &mut Vec<Duration>| {
        samples.push(n_matches(server, pattern)?.0);
        Ok(())
    })
}

/// A program whose lines are counted after the clock has stopped: it must find what we find.
fn counted<'a>(who: &'static str, n_expected: u64, command: impl Fn() -> Command + 'a) -> Turn<'a> {
    Box::new(move |samples: &mut Vec<Duration>| {
        let mut command = command();
        let start = Instant::now();
        let output = command.output().map_err(Failure::start(who))?;
        samples.push(start.elapsed());
        let n_lines = output.stdout.split(|byte| *byte == b'\n').count().saturating_sub(1) as u64;
        if n_lines == n_expected {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&output.stderr);
        Err(Failure::wrong(who, &format!("found {n_lines} matches where we found {n_expected}"), &told))
    })
}

/// With our rules: only the tree's own `.gitignore`, whether or not it is a repository, and hidden files too.
fn ripgrep(bench: &Bench<'_>, tree: &Path, pattern: &str) -> Command {
    let mut command = bench.clean(Path::new("rg"));
    command.current_dir(tree).args(["--no-config", "--no-require-git", "--no-ignore-parent", "--hidden"]);
    command.args(["--no-ignore-global", "--no-ignore-exclude", "--no-ignore-dot"]);
    command.args(["--line-number", "--column", "--no-heading", "--color=never", "--regexp", pattern, "."]);
    command
}

fn plain_grep(bench: &Bench<'_>, tree: &Path, pattern: &str) -> Command {
    let mut command = bench.clean(Path::new("grep"));
    // The last folder is our own: the mirror of the record, which names the pattern.
    command.current_dir(tree).args(["--exclude=*.log", "--exclude-dir=build", "--exclude-dir=.vambrace"]);
    command.args(["-rnE", "-e", pattern, "."]);
    command
}

fn every_file(tree: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (mut folders, mut files) = (vec![tree.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(Failure::disk(&folder))? {
            let entry = entry.map_err(Failure::disk(&folder))?;
            let path = entry.path();
            let is_folder = entry.file_type().map_err(Failure::disk(&path))?.is_dir();
            if is_folder && !path.ends_with("build") {
                folders.push(path);
            } else if !is_folder && path.extension().is_some_and(|ending| ending == "txt") {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// On all cores, without looking for the names: what any search has to do at least.
fn read_all(paths: &[PathBuf]) -> Result<(), Failure> {
    let (next, n_bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
    let work = || {
        let mut buffer = Vec::new();
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            buffer.clear();
            let file = fs::File::open(path);
            let read = file.and_then(|mut file| std::io::Read::read_to_end(&mut file, &mut buffer));
            n_bytes.fetch_add(read.unwrap_or(0) as u64, Ordering::Relaxed);
        }
    };
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(work);
        }
    });
    if n_bytes.into_inner() > 0 { Ok(()) } else { Err(Failure::wrong("the tree", "is empty", "")) }
}

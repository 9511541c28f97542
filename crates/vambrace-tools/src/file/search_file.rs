//! `search_file` and `count_matches`: a pattern over the files beneath a path.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_edit::{OutOfTime, Pattern};
use vambrace_files::{Chunk, FilesError, SweepReport};
use vambrace_policy::{CountMatches, Permit, SearchFiles};
use vambrace_redact::{FARTHEST, Finding, cover_bytes};
use vambrace_types::{ErrorCode, RawOutput, ScopedPath, ToolError, Tree};

use crate::hands::PatternTime;
use crate::render::{field, marker};
use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Reading, Tense, Tool};

pub(crate) struct SearchFileTool;
pub(crate) struct CountMatchesTool;

const DEFAULT_MATCHES: usize = 200;
const MOST_MATCHES: usize = 10_000;
/// LIMIT: a longer line is shown around its match, and marked.
const LONGEST_LINE: usize = 400;
/// How often a person at a client hears how far the search has come.
const PROGRESS_EVERY: u64 = 1000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchFileArgs {
    /// A file or folder, relative to the service folder. Default: the service folder itself.
    #[serde(default)]
    path: String,
    /// Regular expression (linear-time: no look-around, no back-references). `^` and `$` match at line ends.
    regex: String,
    /// Search the folders beneath. Default true.
    #[serde(default = "yes")]
    recursive: bool,
    /// How many matches to return at most. Default 200.
    limit: Option<usize>,
    /// Also search files that .gitignore names. Default false.
    #[serde(default)]
    include_ignored: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountMatchesArgs {
    /// A file or folder, relative to the service folder. Default: the service folder itself.
    #[serde(default)]
    path: String,
    /// Regular expression (linear-time: no look-around, no back-references). `^` and `$` match at line ends.
    regex: String,
    /// Count in the folders beneath too. Default true.
    #[serde(default = "yes")]
    recursive: bool,
    /// Also count in files that .gitignore names. Default false.
    #[serde(default)]
    include_ignored: bool,
}

fn yes() -> bool {
    true
}

impl Tool for SearchFileTool {
    type Args = SearchFileArgs;
    type Action = SearchFiles;
    const READING: Reading = Reading::of(found);

    fn about(&self) -> About {
        About::of(
            "search_file",
            "Search files",
            "Searches text files with a regular expression and returns path, line, column and the line of \
                      each match. Binary and blocked files are passed over, and so are files that .gitignore names \
                      unless include_ignored is set, and matches inside secrets.",
            Hints::READS,
        )
    }

    fn plan(&self, args: SearchFileArgs, context: &CallContext<'_>) -> Result<SearchFiles, ToolError> {
        compile(&args.regex)?;
        Ok(SearchFiles {
            path: context.path(&args.path)?,
            pattern: args.regex,
            recursive: args.recursive,
            include_ignored: args.include_ignored,
            limit: args.limit.unwrap_or(DEFAULT_MATCHES).clamp(1, MOST_MATCHES),
        })
    }

    async fn run(&self, permit: Permit<SearchFiles>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let pattern = compile(&permit.action().pattern)?;
        let limit = permit.action().limit;
        let search =
            Search { pattern: &pattern, hands, limit, tally: Tally::default(), found: Mutex::default() };
        let deadline = hands.deadline();
        let report = hands
            .blocking(|| hands.files().search(permit, &deadline, &|chunk| search.look_into(chunk)))
            .await
            .map_err(files)?;
        search.tally.demand_finished(hands, &report)?;
        let n_matches = search.tally.n_matches.load(Ordering::Relaxed);
        let found = search.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let n_shown = found.len() as u64;
        let matches = found.into_iter().map(Match::into_tree).collect();
        let mut entries = vec![
            ("matches", Tree::List(matches)),
            ("total_matches", Tree::bytes(n_matches)),
            ("truncated", Tree::Bool(n_shown < n_matches)),
        ];
        entries.extend(passed_over(&report));
        Ok(RawOutput::new(Tree::map(entries)))
    }
}

impl Tool for CountMatchesTool {
    type Args = CountMatchesArgs;
    type Action = CountMatches;

    fn about(&self) -> About {
        About::of(
            "count_matches",
            "Count matches",
            "Counts the matches of a regular expression, as edit_file would find them. Use it to make sure \
                      that an edit is unique before making it.",
            Hints::READS,
        )
    }

    fn plan(&self, args: CountMatchesArgs, context: &CallContext<'_>) -> Result<CountMatches, ToolError> {
        compile(&args.regex)?;
        Ok(CountMatches {
            path: context.path(&args.path)?,
            pattern: args.regex,
            recursive: args.recursive,
            include_ignored: args.include_ignored,
        })
    }

    async fn run(&self, permit: Permit<CountMatches>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let pattern = compile(&permit.action().pattern)?;
        let (tally, n_files) = (Tally::default(), AtomicU64::new(0));
        let large: Mutex<BTreeSet<ScopedPath>> = Mutex::default();
        let visit = |chunk: &Chunk<'_>| {
            tally.step(hands);
            let Some(visible) = Visible::of(&pattern, hands, chunk, &tally) else { return };
            let mut n_found = 0;
            visible.each(&mut |_| n_found += 1);
            tally.n_matches.fetch_add(n_found, Ordering::Relaxed);
            // A large file comes in several chunks, and counts once.
            if n_found > 0
                && (!chunk.partial || large.lock().is_ok_and(|mut large| large.insert(chunk.path.clone())))
            {
                n_files.fetch_add(1, Ordering::Relaxed);
            }
        };
        let deadline = hands.deadline();
        let report =
            hands.blocking(|| hands.files().count(permit, &deadline, &visit)).await.map_err(files)?;
        tally.demand_finished(hands, &report)?;
        let mut entries = vec![
            ("count", Tree::bytes(tally.n_matches.into_inner())),
            ("files", Tree::bytes(n_files.into_inner())),
        ];
        entries.extend(passed_over(&report));
        Ok(RawOutput::new(Tree::map(entries)))
    }
}

fn compile(regex: &str) -> Result<Pattern, ToolError> {
    Pattern::compile(regex).map_err(|problem| {
        ToolError::new(ErrorCode::InvalidPattern, format!("`regex` is not a valid pattern: {problem}."))
            .suggestion("Correct the pattern; escape characters such as `(` or `.` with a backslash to mean themselves.")
    })
}

/// Shared by the threads of one sweep.
#[derive(Default)]
struct Tally {
    n_matches: AtomicU64,
    n_visited: AtomicU64,
    out_of_time: AtomicBool,
}

impl Tally {
    fn step(&self, hands: &Hands<'_>) {
        let n_visited = self.n_visited.fetch_add(1, Ordering::Relaxed) + 1;
        if n_visited.is_multiple_of(PROGRESS_EVERY) {
            hands.progress(n_visited, "files searched");
        }
    }

    /// Part of an answer would pass for the whole. A pattern that was stopped together with its call did nothing
    /// wrong; one that runs too long by itself is a security error (specification 004).
    fn demand_finished(&self, hands: &Hands<'_>, report: &SweepReport) -> Result<(), ToolError> {
        let out_of_time = self.out_of_time.load(Ordering::Relaxed);
        if report.stopped || (out_of_time && hands.stop().is_set()) {
            return Err(files(FilesError::Stopped));
        }
        if !out_of_time {
            return Ok(());
        }
        Err(ToolError::new(ErrorCode::SecurityError, "The pattern ran longer than it may on one file.")
            .suggestion("Make the pattern more specific, or search a smaller file.")
            .rule("limits.pattern_time"))
    }
}

fn passed_over(report: &SweepReport) -> Vec<(&'static str, Tree)> {
    let counts = [
        ("files_searched", report.n_files),
        ("binary_skipped", report.n_binary),
        ("blocked_skipped", report.n_blocked),
        ("ignored_skipped", report.n_ignored),
        ("unreadable_skipped", report.n_unreadable),
    ];
    counts
        .into_iter()
        .filter(|(name, count)| *count > 0 || *name == "files_searched")
        .map(|(name, count)| (name, Tree::bytes(count)))
        .collect()
}

struct Search<'a, 'call> {
    pattern: &'a Pattern,
    hands: &'a Hands<'call>,
    limit: usize,
    tally: Tally,
    /// The first `limit` matches in order of path and place, whichever thread found them when.
    found: Mutex<BTreeSet<Match>>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    path: String,
    line: u64,
    column: u64,
    text: String,
    cut: bool,
}

impl Search<'_, '_> {
    fn look_into(&self, chunk: &Chunk<'_>) {
        self.tally.step(self.hands);
        let Some(visible) = Visible::of(self.pattern, self.hands, chunk, &self.tally) else { return };
        let mut own = Vec::new();
        let mut n_found = 0u64;
        let (mut line, mut line_start) = (chunk.lines_before + 1, 0usize);
        visible.each(&mut |span| {
            n_found += 1;
            if own.len() >= self.limit {
                return;
            }
            let between = chunk.bytes.get(line_start..span.start).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between).count() as u64;
            line_start += memchr::memrchr(b'\n', between).map_or(0, |place| place + 1);
            own.push(self.shown(chunk, &visible.findings, line, line_start, span.start));
        });
        if n_found == 0 {
            return;
        }
        self.tally.n_matches.fetch_add(n_found, Ordering::Relaxed);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.extend(own);
        while found.len() > self.limit {
            found.pop_last();
        }
    }

    /// The line of a match. Secrets are covered before it is cut: a cut through a secret would hide it from every rule.
    /// THREAT: P02.
    fn shown(
        &self,
        chunk: &Chunk<'_>,
        findings: &[Finding],
        line: u64,
        line_start: usize,
        at: usize,
    ) -> Match {
        let rest = chunk.bytes.get(line_start..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let bytes = rest.get(..end).unwrap_or_default();
        let column = at - line_start;
        // A line of megabytes is looked at near its match only.
        let from = column.saturating_sub(LONGEST_LINE * 4);
        let near = bytes.get(from..bytes.len().min(column + LONGEST_LINE * 4)).unwrap_or_default();
        let (before, behind) = near.split_at_checked(column - from).unwrap_or((near, &[]));
        let shown = |part: &[u8], at: usize| {
            let (clean, n_covered) = cover_bytes(part, at, findings);
            self.hands.redacted(n_covered);
            String::from_utf8_lossy(&clean).into_owned()
        };
        let place = chunk.at + line_start + from;
        let before = shown(before, place);
        let text = format!("{before}{}", shown(behind, place + column - from));
        let text = text.trim_end_matches('\r');
        let cut = bytes.len() > LONGEST_LINE;
        let text = if cut { around(text, before.len()) } else { text.to_owned() };
        Match { path: self.hands.spelled(chunk.path), line, column: column as u64 + 1, text, cut }
    }
}

/// A chunk in which the pattern matches, with what must not be seen of it: secrets are walls between which the pattern
/// is searched, or counting matches would spell them out, guess by guess. THREAT: P02.
struct Visible<'a> {
    pattern: &'a Pattern,
    bytes: &'a [u8],
    /// At places of `chunk.around`.
    findings: Vec<Finding>,
    hidden: Vec<Range<usize>>,
    budget: PatternTime,
    tally: &'a Tally,
}

impl<'a> Visible<'a> {
    /// `None` when nothing matches, which is most files; only the others are searched for secrets. That is safe to tell:
    /// what matches between the walls matches in the whole text too.
    fn of(
        pattern: &'a Pattern,
        hands: &Hands<'_>,
        chunk: &Chunk<'a>,
        tally: &'a Tally,
    ) -> Option<Visible<'a>> {
        let budget = || PatternTime::start(hands.limits().pattern_time, hands.stop());
        // Only what is around a match is looked at, so that the time a call takes does not tell whether something far
        // larger than the match was looked at.
        let mut windows: Vec<Range<usize>> = Vec::new();
        for found in pattern.find_iter(chunk.bytes, &budget()) {
            let Ok(found) = found else {
                tally.out_of_time.store(true, Ordering::Relaxed);
                return None;
            };
            let start = (chunk.at + found.start).saturating_sub(FARTHEST);
            let end = (chunk.at + found.end).saturating_add(FARTHEST).min(chunk.around.len());
            match windows.last_mut() {
                Some(last) if start <= last.end => last.end = end,
                Some(_) | None => windows.push(start..end),
            }
        }
        if windows.is_empty() {
            return None;
        }
        let mut findings = Vec::new();
        for window in windows {
            let part = chunk.around.get(window.clone()).unwrap_or_default();
            findings.extend(hands.redactor().scan(part).into_iter().map(|mut finding| {
                finding.start += window.start;
                finding.end += window.start;
                finding
            }));
        }
        let end = chunk.at + chunk.bytes.len();
        let hidden = findings
            .iter()
            .filter(|finding| finding.end > chunk.at && finding.start < end)
            .map(|finding| finding.start.saturating_sub(chunk.at)..finding.end.min(end) - chunk.at)
            .collect();
        Some(Visible { pattern, bytes: chunk.bytes, findings, hidden, budget: budget(), tally })
    }

    fn each(&self, visit: &mut dyn FnMut(Range<usize>)) {
        let visited = self.pattern.each_visible(self.bytes, &self.hidden, &self.budget, &mut |span| {
            visit(span);
            Ok::<(), OutOfTime>(())
        });
        if visited.is_err() {
            self.tally.out_of_time.store(true, Ordering::Relaxed);
        }
    }
}

/// At most `LONGEST_LINE` bytes near the place; after redaction the place is only a hint.
fn around(text: &str, place: usize) -> String {
    let from = place.saturating_sub(LONGEST_LINE / 4);
    let start = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= from).last().unwrap_or(0);
    let shown: String = text
        .char_indices()
        .skip_while(|(at, _)| *at < start)
        .take_while(|(at, _)| *at < start + LONGEST_LINE)
        .map(|(_, c)| c)
        .collect();
    format!("{}{shown}…", if start > 0 { "…" } else { "" })
}

impl Match {
    fn into_tree(self) -> Tree {
        let mut fields = vec![
            ("path", Tree::Text(self.path)),
            ("line", Tree::bytes(self.line)),
            ("column", Tree::bytes(self.column)),
            ("text", Tree::Text(self.text)),
        ];
        if self.cut {
            fields.push(("cut", Tree::Bool(true)));
        }
        Tree::map(fields)
    }
}

fn found(tree: &Tree, _tense: Tense, out: &mut String) {
    let matches = tree.get("matches").and_then(Tree::as_list).unwrap_or_default();
    for item in matches {
        match (item.get("line").and_then(Tree::as_int), item.get("column").and_then(Tree::as_int)) {
            (Some(line), Some(column)) => {
                let _ = writeln!(out, "{}:{line}:{column}: {}", field(item, "path"), field(item, "text"));
            }
            _ => marker(item, out),
        }
    }
    let total = tree.get("total_matches").and_then(Tree::as_int).unwrap_or(0);
    let files = tree.get("files_searched").and_then(Tree::as_int).unwrap_or(0);
    let _ = write!(out, "[{total} matches in {files} files searched");
    for (key, words) in [
        ("binary_skipped", "binary"),
        ("blocked_skipped", "blocked"),
        ("ignored_skipped", "ignored"),
        ("unreadable_skipped", "unreadable"),
    ] {
        if let Some(count) = tree.get(key).and_then(Tree::as_int) {
            let _ = write!(out, ", {count} {words} passed over");
        }
    }
    out.push(']');
}

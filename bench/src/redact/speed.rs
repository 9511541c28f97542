//! How much text for a second of a processor, and whether what was planted in it was found.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use vambrace_redact::{Finding, Redactor};

use super::Bench;
use super::cost::{self, Cost};
use super::mixed::{Mixed, Planted};
use super::scanners::{DETECT_SECRETS, Hit, KINGFISHER, Mode, quiet};
use crate::failure::Failure;
use crate::place;

const ROUNDS: usize = 3;
const CHUNK: usize = 64 * 1024;

/// How one did on the text.
pub(super) struct Standing {
    pub(super) who: &'static str,
    pub(super) n_bytes: usize,
    pub(super) cost: Cost,
    /// How much of what was planted in these bytes was found; nothing for those who do not look for it.
    pub(super) planted: Option<Share>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) n_found: usize,
    pub(super) n_all: usize,
}

/// What became of the planted ones.
pub(super) struct Outcome {
    pub(super) standings: Vec<Standing>,
    /// By the number of a kind: ours, and kingfisher's.
    pub(super) by_kind: BTreeMap<usize, (Share, Option<Share>)>,
    /// How many planted ones bear a rule's name.
    pub(super) by_rule: BTreeMap<String, usize>,
}

pub(super) const OURS: &str = "vambrace redact";
pub(super) const LIBRARY: &str = "the library, in process";
pub(super) const TURBO: &str = "kingfisher --turbo";
pub(super) const STARTED: &str = "kingfisher, its start taken off";

pub(super) fn run(bench: &Bench<'_>, mixed: &Mixed) -> Result<Outcome, Failure> {
    let n_bytes = mixed.bytes.len();
    let parts = [mixed.folder.clone()];
    let line = [bench.place.fresh("redact-line")?];
    line.iter().try_for_each(|folder| place::write(&folder.join("line.txt"), "nothing here\n"))?;
    let mut costs: [Vec<Cost>; 6] = Default::default();
    let mut hits = None;
    // The first round is for warming up: kingfisher compiles its rules then. Who begins moves on.
    for round in 0..=ROUNDS {
        for turn in 0..costs.len() {
            let turn = (turn + round) % costs.len();
            let scan = |paths: &[PathBuf], mode| bench.scanners.kingfisher(bench.place, paths, mode);
            let cost = match turn {
                0 => Some(redact(bench, mixed)?),
                1 => Some(stream(&bench.redactor, &mixed.bytes)?),
                2 => Some(cat(bench, mixed)?),
                3 => scan(&parts, Mode::Ordinary)?.map(|(found, cost)| {
                    hits = Some(found);
                    cost
                }),
                4 => scan(&parts, Mode::Turbo)?.map(|(_, cost)| cost),
                _ => scan(&line, Mode::Ordinary)?.map(|(_, cost)| cost),
            };
            if let (Some(own), Some(cost)) = (costs.get_mut(turn), cost.filter(|_| round > 0)) {
                own.push(cost);
            }
        }
    }
    let findings = bench.redactor.scan(&mixed.bytes);
    let ours: Vec<Option<&Finding>> = mixed.planted.iter().map(|planted| whole(&findings, planted)).collect();
    let ours_found: Vec<bool> = ours.iter().map(Option::is_some).collect();
    let theirs_found = hits.map(|hits| met(mixed, &hits));
    let share =
        |found: &[bool]| Share { n_found: found.iter().filter(|yes| **yes).count(), n_all: found.len() };
    let [redact, library, cat, kingfisher, turbo, start] = costs.map(|costs| Cost::middle(&costs));
    let mut standings = vec![
        Standing { who: OURS, n_bytes, cost: redact, planted: Some(share(&ours_found)) },
        Standing { who: LIBRARY, n_bytes, cost: library, planted: Some(share(&ours_found)) },
        Standing { who: "cat", n_bytes, cost: cat, planted: None },
    ];
    if let Some(found) = &theirs_found {
        let planted = Some(share(found));
        standings.extend([
            Standing { who: KINGFISHER, n_bytes, cost: kingfisher, planted },
            Standing { who: STARTED, n_bytes, cost: kingfisher.less(start), planted },
            Standing { who: TURBO, n_bytes, cost: turbo, planted: None },
        ]);
    }
    standings.extend(detect_secrets(bench, mixed)?);
    let mut by_kind: BTreeMap<usize, (Share, Option<Share>)> = BTreeMap::new();
    for (number, planted) in mixed.planted.iter().enumerate() {
        let (own, other) = by_kind.entry(planted.kind).or_default();
        own.count(ours_found.get(number) == Some(&true));
        if let Some(found) = &theirs_found {
            other.get_or_insert_default().count(found.get(number) == Some(&true));
        }
    }
    let mut by_rule = BTreeMap::new();
    for finding in ours.into_iter().flatten() {
        *by_rule.entry(finding.rule.to_string()).or_default() += 1;
    }
    Ok(Outcome { standings, by_kind, by_rule })
}

impl Share {
    pub(super) fn count(&mut self, is_found: bool) {
        self.n_all += 1;
        self.n_found += usize::from(is_found);
    }
}

/// It needs minutes for all, so it gets beginnings only, and one turn.
fn detect_secrets(bench: &Bench<'_>, mixed: &Mixed) -> Result<Option<Standing>, Failure> {
    let slice = mixed.slice(bench.place)?;
    let Some((hits, cost)) = bench.scanners.detect_secrets(bench.place, &slice.folder)? else {
        return Ok(None);
    };
    let mut share = Share::default();
    for (planted, is_met) in mixed.planted.iter().zip(met(mixed, &hits)) {
        if slice.holds(planted) {
            share.count(is_met);
        }
    }
    Ok(Some(Standing { who: DETECT_SECRETS, n_bytes: slice.n_bytes, cost, planted: Some(share) }))
}

fn redact(bench: &Bench<'_>, mixed: &Mixed) -> Result<Cost, Failure> {
    let mut command = quiet(bench.place, &bench.place.vambrace, "vambrace")?;
    command.arg("redact").stdin(File::open(&mixed.file).map_err(Failure::disk(&mixed.file))?);
    let (status, cost) = cost::of_command(OURS, &mut command)?;
    if status.success() { Ok(cost) } else { Err(Failure::wrong(OURS, "ended with", &status.to_string())) }
}

fn stream(redactor: &Redactor, bytes: &[u8]) -> Result<Cost, Failure> {
    let work = || {
        let (mut stream, mut out) = (redactor.stream(), Vec::with_capacity(2 * CHUNK));
        for chunk in bytes.chunks(CHUNK) {
            stream.push(chunk, &mut out);
            std::hint::black_box(&out);
            out.clear();
        }
        stream.finish(&mut out)
    };
    Ok(cost::of_work(work)?.1)
}

/// What reading the text and writing it to nowhere costs anybody.
fn cat(bench: &Bench<'_>, mixed: &Mixed) -> Result<Cost, Failure> {
    let mut command = quiet(bench.place, "cat".as_ref(), "cat")?;
    command.stdin(File::open(&mixed.file).map_err(Failure::disk(&mixed.file))?);
    Ok(cost::of_command("cat", &mut command)?.1)
}

/// The finding that a planted secret lies in, if it lies in findings from its first byte to its last. The findings are
/// in order and do not overlap.
fn whole<'f>(findings: &'f [Finding], planted: &Planted) -> Option<&'f Finding> {
    let first = findings.partition_point(|finding| finding.end <= planted.start);
    let mut covered = planted.start;
    for finding in findings.get(first..).unwrap_or_default() {
        if finding.start > covered {
            break;
        }
        covered = finding.end;
        if covered >= planted.end {
            return findings.get(first);
        }
    }
    None
}

/// Who has a hit on one of its lines. Other scanners tell lines, so they need not have found all of a secret.
fn met(mixed: &Mixed, hits: &[Hit]) -> Vec<bool> {
    let mut lines: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for hit in hits {
        if let Some(name) = hit.path.file_name().and_then(|name| name.to_str()) {
            lines.entry(name).or_default().push(hit.line);
        }
    }
    lines.values_mut().for_each(|lines| lines.sort_unstable());
    let is_met = |planted: &Planted| {
        let lines = mixed.parts.get(planted.part).and_then(|name| lines.get(name.as_str()))?;
        let next = lines.get(lines.partition_point(|line| *line < planted.first_line))?;
        Some(*next <= planted.last_line)
    };
    mixed.planted.iter().map(|planted| is_met(planted) == Some(true)).collect()
}

#[cfg(test)]
mod tests {
    use vambrace_redact::RedactorSettings;

    use super::*;

    fn planted(start: usize, end: usize, line: usize) -> Planted {
        Planted { kind: 0, part: 0, start, end, first_line: line, last_line: line + 1 }
    }

    #[test]
    fn half_a_secret_is_not_found() {
        let patterns = vec!["a{10}".to_owned(), "b{10}".to_owned()];
        let redactor = Redactor::new(RedactorSettings { patterns, ..RedactorSettings::default() }).unwrap();
        let text = format!("{:10}{}{}{:20}{}", "", "a".repeat(10), "b".repeat(10), "", "a".repeat(10));
        let findings = redactor.scan(text.as_bytes());
        let places: Vec<_> = findings.iter().map(|finding| (finding.start, finding.end)).collect();
        assert_eq!(places, [(10, 20), (20, 30), (50, 60)]);
        for (start, end, expected) in
            [(10, 20, true), (12, 30, true), (9, 20, false), (25, 31, false), (50, 60, true), (60, 70, false)]
        {
            assert_eq!(whole(&findings, &planted(start, end, 1)).is_some(), expected, "{start} {end}");
        }
    }

    #[test]
    fn a_hit_on_one_of_its_lines_will_do() {
        let planted = vec![planted(0, 1, 4), planted(0, 1, 9), planted(0, 1, 20)];
        let mixed = Mixed {
            bytes: Vec::new(),
            file: PathBuf::new(),
            folder: PathBuf::new(),
            parts: vec!["a.rs".to_owned()],
            planted,
        };
        let hit = |path: &str, line| Hit { path: path.into(), line, rule: String::new() };
        let hits = [hit("/x/a.rs", 5), hit("/x/a.rs", 8), hit("/x/a.rs", 11), hit("/x/b.rs", 20)];
        assert_eq!(met(&mixed, &hits), [true, false, false]);
    }
}

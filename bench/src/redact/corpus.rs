//! The given corpus: how many of its secrets are found, and how much of its harmless text is hit. It is read where it
//! lies and never becomes part of this repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Bench;
use super::scanners::{Hit, Mode};
use super::sources::fnv;
use super::speed::Share;
use crate::failure::Failure;
use crate::place::{self, Place};

const FILE: &str = "secrets/gitleaks_tp_fp.jsonl.gz";
const EXCEPTIONS: &str = "testdata/secret_corpus_exceptions.tsv";

struct Case {
    input: String,
    is_secret: bool,
    /// Labelled against sense, says the list in `testdata`.
    is_excepted: bool,
    /// A file name that its kind of text has, since some rules ask for one.
    name: String,
}

/// How one did on the corpus.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Score {
    pub(super) positives: Share,
    /// Without the rows labelled against sense.
    pub(super) sensible: Share,
    /// Harmless rows that were hit.
    pub(super) negatives: Share,
}

pub(super) struct Scores {
    pub(super) ours: Score,
    pub(super) kingfisher: Option<Score>,
    pub(super) detect_secrets: Option<Score>,
    /// How many positives bear a rule's name.
    pub(super) by_rule: BTreeMap<String, usize>,
}

/// Nothing when the corpus is not here.
pub(super) fn run(bench: &Bench<'_>) -> Result<Option<Scores>, Failure> {
    let Some(text) = read(bench.place)? else {
        println!("Missing: the corpus {FILE}. Going on without. Set VAMBRACE_CORPORA to its folder.");
        return Ok(None);
    };
    let excepted = exceptions(&fs::read_to_string(bench.place.root.join(EXCEPTIONS)).unwrap_or_default());
    let cases: Vec<Case> = text.lines().enumerate().filter_map(|row| case(row, &excepted)).collect();
    let folder = bench.place.fresh("redact-corpus")?;
    for case in &cases {
        place::write(&folder.join(&case.name), &case.input)?;
    }
    let mut by_rule = BTreeMap::new();
    let ours = score(&cases, |case| {
        let findings = bench.redactor.scan(case.input.as_bytes());
        if let Some(finding) = findings.first().filter(|_| case.is_secret) {
            *by_rule.entry(finding.rule.to_string()).or_default() += 1;
        }
        !findings.is_empty()
    });
    let paths = [folder.clone()];
    let kingfisher = bench.scanners.kingfisher(bench.place, &paths, Mode::Ordinary)?;
    let detect_secrets = bench.scanners.detect_secrets(bench.place, &folder)?;
    let theirs = |hits: &[Hit]| {
        let files: BTreeSet<PathBuf> = hits.iter().filter_map(|hit| under(&folder, &hit.path)).collect();
        score(&cases, |case| files.contains(Path::new(&case.name)))
    };
    let scores = Scores {
        ours,
        kingfisher: kingfisher.map(|(hits, _)| theirs(&hits)),
        detect_secrets: detect_secrets.map(|(hits, _)| theirs(&hits)),
        by_rule,
    };
    // Clear text of a corpus is not left lying about.
    place::make_empty(&folder)?;
    Ok(Some(scores))
}

fn score(cases: &[Case], mut is_hit: impl FnMut(&Case) -> bool) -> Score {
    let mut score = Score::default();
    for case in cases {
        let is_hit = is_hit(case);
        if case.is_secret {
            score.positives.count(is_hit);
            if !case.is_excepted {
                score.sensible.count(is_hit);
            }
        } else {
            score.negatives.count(is_hit);
        }
    }
    score
}

/// A path as it is called in the folder; detect-secrets says `./` before it.
fn under(folder: &Path, path: &Path) -> Option<PathBuf> {
    Some(path.strip_prefix(folder).ok()?.components().filter(|part| part.as_os_str() != ".").collect())
}

/// The variable, or the folder beside the checkout: as `cargo xtask test` looks for it.
fn read(place: &Place) -> Result<Option<String>, Failure> {
    let beside = || place.root.parent().map(|parent| parent.join("shared/corpora"));
    let folder = std::env::var_os("VAMBRACE_CORPORA").map(PathBuf::from).or_else(beside);
    let Some(path) = folder.map(|folder| folder.join(FILE)).filter(|path| path.is_file()) else {
        return Ok(None);
    };
    let mut text = String::new();
    let file = File::open(&path).map_err(Failure::disk(&path))?;
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).map_err(Failure::disk(&path))?;
    Ok(Some(text))
}

/// Hashes, in hex, before a tab and the reason.
fn exceptions(text: &str) -> BTreeSet<u64> {
    let hashes = text.lines().filter_map(|line| line.split('\t').next());
    hashes.filter_map(|hash| u64::from_str_radix(hash.trim_start_matches("0x"), 16).ok()).collect()
}

fn case((number, line): (usize, &str), excepted: &BTreeSet<u64>) -> Option<Case> {
    let row: Value = serde_json::from_str(line).ok()?;
    let word = |key: &str| row.get(key).and_then(Value::as_str);
    let input = word("input")?.to_owned();
    let source = word("source").unwrap_or_default();
    let name = match source {
        _ if source.ends_with("/nuget.go") => "nuget.config",
        _ if source.ends_with("/kubernetes.go") => "secret.yaml",
        _ => "case.txt",
    };
    Some(Case {
        is_secret: word("expect")? == "redact",
        is_excepted: excepted.contains(&fnv(input.as_bytes())),
        name: format!("{number:03}/{name}"),
        input,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_labelled_against_sense_count_apart() {
        let excepted = exceptions("# comment\n85944171f73967e8\tno secret\n");
        let line = |input: &str, expect: &str| format!(r#"{{"input": "{input}", "expect": "{expect}"}}"#);
        let rows = [line("foobar", "redact"), line("a", "redact"), line("b", "keep"), "no row".to_owned()];
        let rows = rows.iter().map(String::as_str).enumerate();
        let cases: Vec<Case> = rows.filter_map(|row| case(row, &excepted)).collect();
        let score = score(&cases, |case| case.input == "a");
        assert_eq!(score.positives, Share { n_found: 1, n_all: 2 });
        assert_eq!(score.sensible, Share { n_found: 1, n_all: 1 });
        assert_eq!(score.negatives, Share { n_found: 0, n_all: 1 });
    }

    #[test]
    fn a_path_is_called_as_in_its_folder() {
        let folder = Path::new("/a/b");
        assert_eq!(under(folder, Path::new("/a/b/./001/case.txt")), Some("001/case.txt".into()));
        assert_eq!(under(folder, Path::new("/a/b/001/case.txt")), Some("001/case.txt".into()));
        assert_eq!(under(folder, Path::new("/x/001/case.txt")), None);
    }
}

//! The public corpus of texts with and without secrets. It is not committed; see `xtask test`.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "a test reads a file and an environment and prints its counts"
)]

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use serde_json::Value;
use vambrace_redact::{Redactor, RedactorSettings};

const N_ROWS: usize = 667;
/// Rows whose label is not followed, each by the hash of its input and with the reason.
const EXCEPTIONS: &str = include_str!("../../../../testdata/secret_corpus_exceptions.tsv");

fn corpus() -> Option<Vec<Value>> {
    let folder = match std::env::var_os("VAMBRACE_CORPORA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora")),
    };
    let packed = fs::read(folder.join("secrets/gitleaks_tp_fp.jsonl.gz")).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn fnv(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

fn exceptions() -> HashMap<&'static str, &'static str> {
    let rows = EXCEPTIONS.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| line.split_once('\t').unwrap_or_else(|| panic!("{line:?} has no reason"))).collect()
}

#[test]
fn every_row_of_the_public_corpus_is_decided_as_labelled() {
    let Some(rows) = corpus() else {
        skip(&format!("{N_ROWS} cases of the public corpus secrets/gitleaks_tp_fp: set VAMBRACE_CORPORA"));
        return;
    };
    assert_eq!(rows.len(), N_ROWS);
    let exceptions = exceptions();
    let redactor = Redactor::new(RedactorSettings::default()).unwrap();
    let (mut counts, mut wrong) = (HashMap::new(), Vec::new());
    let mut unused = exceptions.clone();
    for row in &rows {
        let (input, label) = (row["input"].as_str().unwrap(), row["expect"].as_str().unwrap());
        let hash = fnv(input);
        let excepted = exceptions.contains_key(hash.as_str());
        let found: Vec<String> =
            redactor.scan(input.as_bytes()).iter().map(|finding| finding.rule.to_string()).collect();
        let as_labelled = found.is_empty() == (label == "keep");
        *counts.entry((label, excepted, as_labelled)).or_insert(0) += 1;
        if !as_labelled {
            unused.remove(hash.as_str());
        }
        if !excepted && !as_labelled {
            // The text itself stays out of logs: by the hash it is found in the corpus.
            wrong.push(format!("{hash}\t{label}\t{}\t{found:?}", row["why"].as_str().unwrap()));
        }
    }
    assert!(unused.is_empty(), "exceptions that are none: {unused:#?}");
    println!("(label, excepted, as labelled): rows\n{counts:#?}");
    let n_missed = counts.get(&("redact", false, false)).copied().unwrap_or(0);
    let n_positives = n_missed + counts.get(&("redact", false, true)).copied().unwrap_or(0);
    assert!(n_missed * 100 <= n_positives, "{n_missed} of {n_positives} missed:\n{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// Says loudly that something could not be shown here, and writes it down for the summary of `cargo xtask test`.
fn skip(what: &str) {
    eprintln!("NOT RUN: {what}");
    if let Some(path) = std::env::var_os("VAMBRACE_TEST_SKIPPED") {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{what}").unwrap();
    }
}

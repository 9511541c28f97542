//! The benchmark `redact`: what is found and what is not, what is hit that should not be, how fast and in how much
//! memory; beside two scanners that people use.

mod clean;
mod corpus;
mod cost;
mod journal;
mod kinds;
mod memory;
mod mixed;
mod plant;
mod scanners;
mod sources;
mod speed;
mod tables;

use vambrace_redact::{Redactor, RedactorSettings};

use crate::failure::Failure;
use crate::peers;
use crate::place::Place;
use crate::report::{self, Circumstances};

use scanners::Scanners;
use tables::Results;

const NOTES: &str = "\
The mixed text is two fifths code (sources of our dependencies), the rest made: logs and JSON with ids, digests, encoded bytes
and stack traces. Secrets of documented forms, made apart from our rules, stand on lines of their own in it, thirty of each
kind. We count one as found when every byte of it is gone; of the others, when anything is reported on its lines. `vambrace
redact` reads the text as one stream and writes it to /dev/null; kingfisher scans it as files of 4 MB, with one job, without
validation, at its ordinary confidence, and is started as its own binary; a start is what it takes for one line. detect-secrets
needs minutes for all of it and gets the first MB of three files, once. CPU is user and system time of a process and its children. The given
positives are rows of a public corpus, each a file; those labelled against sense are listed by hash in `testdata`. Clean text
is split by the hash of the crate's name; of what is hit in the held-out half only counts are kept. What is hit in folders
of tests, examples and fixtures, and private keys wherever they are, counts apart. A rule is not listed that found nothing
anywhere. The stream of 2 GB always has new secrets; the memory is the most that was resident.
";

/// Everything the parts need.
struct Bench<'a> {
    place: &'a Place,
    scanners: Scanners,
    redactor: Redactor,
}

pub(crate) fn run(place: &Place) -> Result<(), Failure> {
    println!("Building the release binary.");
    peers::vambrace(place)?;
    let redactor = Redactor::new(RedactorSettings::default())
        .map_err(|problem| Failure::new(format!("no redactor: {problem}"), "Mend the rules."))?;
    let bench = Bench { place, scanners: Scanners::find(place)?, redactor };
    println!("Making the mixed text.");
    let mixed = mixed::make(place)?;
    println!("Measuring: speed.");
    let speed = speed::run(&bench, &mixed)?;
    println!("Measuring: the given corpus.");
    let corpus = corpus::run(&bench)?;
    println!("Measuring: clean text.");
    let clean = clean::run(&bench)?;
    println!("Measuring: memory.");
    let peak = memory::run(&bench, &mixed)?;
    let tables = tables::all(&Results { speed, corpus, clean, peak });
    println!("\n{tables}");
    let around = Circumstances::now(bench.scanners.described());
    let path = place.root.join("docs/performance.md");
    report::write(&path, "redact", &report::section("redact", &around, &tables, NOTES))?;
    println!("Written to docs/performance.md.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_figures_has_the_words_of_the_bench() {
        let page = include_str!("../../docs/performance.md");
        let (_, section) = page.split_once("\n## redact\n").unwrap();
        assert!(section.contains("`cargo xtask bench redact`"));
        assert!(section.contains(NOTES));
    }
}

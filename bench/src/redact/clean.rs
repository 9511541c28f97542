//! What is hit in text that holds no secrets, in the half for tuning and in the half that is not looked at. Of either,
//! nothing is kept but counts by rule: whoever sees what was hit in the second half has looked at it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Bench;
use super::scanners::{Hit, Mode};
use super::sources::{self, CleanText, Half, Sort};
use crate::failure::Failure;

/// Hits by what they are: a key that a test needs is no mistake of the scanner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Hits {
    pub(super) n_false: usize,
    pub(super) n_fixtures: usize,
}

/// Something for each half.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Halves<T> {
    pub(super) tuning: T,
    pub(super) held_out: T,
}

impl<T> Halves<T> {
    fn of(&mut self, half: Half) -> &mut T {
        match half {
            Half::Tuning => &mut self.tuning,
            Half::HeldOut => &mut self.held_out,
        }
    }
}

#[derive(Default)]
pub(super) struct Counts {
    pub(super) n_bytes: Halves<usize>,
    pub(super) ours: Halves<Hits>,
    pub(super) kingfisher: Option<Halves<Hits>>,
    pub(super) by_rule: BTreeMap<String, Halves<Hits>>,
    pub(super) by_sort: BTreeMap<Sort, (Halves<usize>, Halves<Hits>)>,
}

pub(super) fn run(bench: &Bench<'_>) -> Result<Counts, Failure> {
    let (mut counts, mut places) = (Counts::default(), Places::default());
    let packages = sources::packages(bench.place)?;
    let mut paths: Vec<PathBuf> = packages.iter().map(|package| package.folder.clone()).collect();
    let mut look = |text: CleanText| {
        counts.look(bench, &text);
        places.0.insert(text.path, text.half);
    };
    packages.iter().flat_map(sources::texts).for_each(&mut look);
    for text in sources::locks(bench.place).into_iter().chain(sources::logs(bench.place)?) {
        paths.push(text.path.clone());
        look(text);
    }
    if let Some((hits, _)) = bench.scanners.kingfisher(bench.place, &paths, Mode::Ordinary)? {
        counts.kingfisher = Some(places.count(&hits));
    }
    Ok(counts)
}

impl Counts {
    fn look(&mut self, bench: &Bench<'_>, text: &CleanText) {
        *self.n_bytes.of(text.half) += text.bytes.len();
        let (n_bytes, by_sort) = self.by_sort.entry(text.sort).or_default();
        *n_bytes.of(text.half) += text.bytes.len();
        for finding in bench.redactor.scan(&text.bytes) {
            let rule = finding.rule.to_string();
            let is_fixture = is_fixture(&text.path, &rule);
            self.ours.of(text.half).count(is_fixture);
            by_sort.of(text.half).count(is_fixture);
            self.by_rule.entry(rule).or_default().of(text.half).count(is_fixture);
        }
    }
}

impl Hits {
    fn count(&mut self, is_fixture: bool) {
        if is_fixture { self.n_fixtures += 1 } else { self.n_false += 1 }
    }
}

/// Which half a file belongs to.
#[derive(Default)]
struct Places(BTreeMap<PathBuf, Half>);

impl Places {
    /// Hits in files that we did not look at, because they are no text, do not count.
    fn count(&self, hits: &[Hit]) -> Halves<Hits> {
        let mut halves: Halves<Hits> = Halves::default();
        for hit in hits {
            if let Some(half) = self.0.get(&hit.path) {
                halves.of(*half).count(is_fixture(&hit.path, &hit.rule));
            }
        }
        halves
    }
}

fn is_fixture(path: &Path, rule: &str) -> bool {
    let folders = path.parent().into_iter().flat_map(Path::components).rev().take(DEPTH);
    let mut names = folders.filter_map(|part| part.as_os_str().to_str());
    rule.contains("private-key") || names.any(|name| FIXTURES.contains(&name))
}

/// Whole names of folders: much has `test` in its name that is none.
const FIXTURES: [&str; 7] = ["tests", "test", "testdata", "test_data", "examples", "fixtures", "fixture"];

/// As far up is looked for a folder of tests: beneath a crate, not above it.
const DEPTH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, rule: &str, expected: bool) {
        assert_eq!(is_fixture(Path::new(path), rule), expected, "{path} {rule}");
    }

    #[test]
    fn keys_of_tests_are_fixtures() {
        check("/r/url-1/src/lib.rs", "url-password", false);
        check("/r/url-1/tests/unit.rs", "url-password", true);
        check("/r/url-1/examples/a.rs", "url-password", true);
        check("/r/url-1/src/tests.rs", "url-password", false);
        check("/r/proptest-1/src/lib.rs", "url-password", false);
        check("/r/url-1/latest/lib.rs", "url-password", false);
        check("/r/rustls-1/src/lib.rs", "private-key", true);
        check("/test/r/s/t/url-1/src/lib.rs", "url-password", false);
    }

    #[test]
    fn hits_are_counted_in_their_half() {
        let mut places = Places::default();
        places.0.insert("/a.rs".into(), Half::Tuning);
        places.0.insert("/tests/b.rs".into(), Half::HeldOut);
        let hit = |path: &str| Hit { path: path.into(), line: 1, rule: "r".to_owned() };
        let counted = places.count(&[hit("/a.rs"), hit("/tests/b.rs"), hit("/c.bin")]);
        assert_eq!(counted.tuning, Hits { n_false: 1, n_fixtures: 0 });
        assert_eq!(counted.held_out, Hits { n_false: 0, n_fixtures: 1 });
    }
}

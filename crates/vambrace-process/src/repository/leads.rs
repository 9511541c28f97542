//! Files of the service that a person's own git would run or believe: hooks elsewhere, included configuration, programs
//! that a configuration names. A cage shows them read-only. It reads configurations and asks what exists, nothing more.
//!
//! LIMIT: only what exists is held, and a link on the way can be replaced. What the person's global configuration names
//! is not looked at, nor what such a program starts in its turn.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::config::{self, Lead};
use super::read_small;

/// A configuration with more is unusual; the first ones count.
const MOST_FILES: usize = 32;
const MOST_WORDS: usize = 512;

/// What a configuration may lead to, in paths without links, inside `service` and not the service itself.
pub(super) fn targets(configs: &[PathBuf], trees: &[PathBuf], service: &Path) -> BTreeSet<PathBuf> {
    let mut finder = Finder { trees, service, found: BTreeSet::new(), n_words: 0 };
    let mut waiting: Vec<PathBuf> = configs.to_vec();
    let mut read: BTreeSet<PathBuf> = BTreeSet::new();
    while let Some(config) = waiting.pop() {
        if read.len() >= MOST_FILES || !read.insert(config.clone()) {
            continue;
        }
        for lead in config::leads(&read_small(&config).unwrap_or_default()) {
            finder.follow(&lead, &config, &mut waiting);
        }
    }
    finder.found
}

struct Finder<'f> {
    trees: &'f [PathBuf],
    service: &'f Path,
    found: BTreeSet<PathBuf>,
    n_words: usize,
}

impl Finder<'_> {
    fn follow(&mut self, lead: &Lead, config: &Path, waiting: &mut Vec<PathBuf>) {
        match lead {
            Lead::Include(path) => {
                let folder = config.parent().map(Path::to_owned);
                let real = self.resolve(path, folder.as_slice());
                let files: Vec<PathBuf> = real.into_iter().filter(|path| path.is_file()).collect();
                self.hold(&files);
                // Also one that lies outside, which may lead back in.
                waiting.extend(files);
            }
            Lead::Folder(path) => {
                let real = self.resolve(path, self.trees);
                self.hold(&real);
            }
            Lead::Command(line) => {
                // The whole line too: a path may hold blanks.
                for word in std::iter::once(line.as_str()).chain(line.split(is_between)) {
                    let mut real = self.resolve(word, self.trees);
                    // What is left of `$(git rev-parse --show-toplevel)/tools/x`.
                    if let Some(rest) = word.strip_prefix('/') {
                        real.extend(self.resolve(rest, self.trees));
                    }
                    // A folder among the words is what a program works on.
                    real.retain(|path| path.is_file());
                    self.hold(&real);
                }
            }
        }
    }

    fn hold(&mut self, paths: &[PathBuf]) {
        let inside = paths.iter().filter(|path| path.starts_with(self.service) && *path != self.service);
        self.found.extend(inside.cloned());
    }

    fn resolve(&mut self, path: &str, bases: &[PathBuf]) -> Vec<PathBuf> {
        self.n_words += 1;
        if path.is_empty() || path.contains('\0') || self.n_words > MOST_WORDS {
            return Vec::new();
        }
        let real = |path: PathBuf| std::fs::canonicalize(path).ok();
        match path.strip_prefix("~/") {
            // Whichever folder above is the person's home: one too many only makes a file read-only.
            Some(rest) => self.service.ancestors().filter_map(|home| real(home.join(rest))).collect(),
            None => bases.iter().filter_map(|base| real(base.join(path))).collect(),
        }
    }
}

/// Between the words of a command, as a shell parts them and then some.
fn is_between(letter: char) -> bool {
    letter.is_whitespace() || "!;|&()<>\"'`$={},".contains(letter)
}

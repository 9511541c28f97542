//! Text to work on: always the same, looks like source code, holds no secrets.

use std::path::Path;

use crate::failure::Failure;
use crate::place::{self, Place};

/// Stands in three files of the tree.
pub(crate) const RARE: &str = "quicksilver_lantern";
/// Stands in some hundred places of the tree.
pub(crate) const COMMON: &str = "retry_budget_[0-9]+";
/// Raised when the tree changes, so that an old one is made anew.
const VERSION: &str = "vambrace-bench-tree-1";

const TREE_BYTES: usize = 200_000_000;
const N_FOLDERS: usize = 400;

const WORDS: [&str; 48] = [
    "let", "for", "if", "return", "value", "index", "count", "total", "buffer", "reader", "writer", "offset",
    "length", "parse", "format", "handle", "request", "reply", "session", "window", "table", "column",
    "record", "cursor", "branch", "commit", "folder", "entry", "number", "string", "vector", "option",
    "result", "error", "state", "queue", "worker", "thread", "signal", "socket", "packet", "header", "field",
    "shape", "layer", "match", "while", "self",
];
const MARKS: [&str; 8] = [" ", " = ", "(", ", ", ".", " + ", " -> ", ": "];

/// Numbers without chance (xorshift), so that every machine searches the same text.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    pub(crate) fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words.get(self.below(words.len())).copied().unwrap_or_default()
    }
}

/// Exactly so many bytes of it, in lines.
pub(crate) fn text(seed: u64, n_bytes: usize) -> String {
    let mut numbers = Numbers::new(seed);
    let mut out = String::with_capacity(n_bytes + 128);
    while out.len() < n_bytes {
        line(&mut numbers, &mut out);
    }
    // ASCII throughout, so every place is a boundary.
    out.truncate(n_bytes.saturating_sub(1));
    out.push('\n');
    out
}

fn line(numbers: &mut Numbers, out: &mut String) {
    for _ in 0..numbers.below(4) {
        out.push_str("    ");
    }
    for _ in 0..2 + numbers.below(8) {
        out.push_str(numbers.pick(&WORDS));
        out.push_str(numbers.pick(&MARKS));
    }
    out.push('\n');
}

/// The tree to search, made once. It lies in a folder of its own, with nothing of ours beside the files.
pub(crate) fn tree(place: &Place) -> Result<std::path::PathBuf, Failure> {
    let (folder, stamp) = (place.data.join("tree"), place.data.join("tree.stamp"));
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == VERSION) {
        return Ok(folder);
    }
    println!("Making a tree of {} MB to search, once.", TREE_BYTES / 1_000_000);
    place::make_empty(&folder)?;
    place::write(&folder.join(".gitignore"), "*.log\n/build/\n")?;
    let mut numbers = Numbers::new(2);
    let (mut n_files, mut n_bytes) = (0, 0);
    while n_bytes < TREE_BYTES {
        let size = 2_000 + numbers.below(16_000);
        let file = file(n_files, size);
        let home = n_files % N_FOLDERS;
        let path = format!("part{:02}/group{:02}/file{n_files}.txt", home / 20, home % 20);
        place::write(&folder.join(path), &file)?;
        // What the ignore rules leave out holds matches too, so that a contender that forgets the rules is caught.
        if n_files % 200 == 0 {
            ignored(&folder, n_files, &file)?;
        }
        n_files += 1;
        n_bytes += size;
    }
    place::write(&stamp, VERSION)?;
    Ok(folder)
}

fn ignored(folder: &Path, n_files: usize, file: &str) -> Result<(), Failure> {
    let file = format!("{file}\n{RARE} retry_budget_1\n");
    place::write(&folder.join(format!("build/out{n_files}.txt")), &file)?;
    place::write(&folder.join(format!("part00/group00/run{n_files}.log")), &file)
}

fn file(number: usize, size: usize) -> String {
    let needle = match number {
        3_333 | 7_777 | 15_151 => format!("let {RARE} = 1;\n"),
        n if n % 64 == 5 => format!("    if count > retry_budget_{n} {{ return }}\n"),
        _ => String::new(),
    };
    let mut whole = text(number as u64 + 10, size.saturating_sub(needle.len()));
    let middle = whole.get(..whole.len() / 2).and_then(|half| half.rfind('\n')).map_or(0, |at| at + 1);
    whole.insert_str(middle, &needle);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_text_of_the_asked_length() {
        for n_bytes in [1, 2, 100, 1024, 102_400] {
            assert_eq!(text(7, n_bytes).len(), n_bytes);
        }
        assert_eq!(text(7, 1000), text(7, 1000));
        assert_ne!(text(7, 1000), text(8, 1000));
        assert!(text(7, 1000).lines().all(|line| line.len() < 160));
    }

    #[test]
    fn needles_stand_on_their_own_lines_in_files_of_the_asked_length() {
        let (rare, common, plain) = (file(7_777, 5000), file(69, 5000), file(70, 5000));
        assert!([&rare, &common, &plain].iter().all(|file| file.len() == 5000));
        assert_eq!(rare.lines().filter(|line| *line == format!("let {RARE} = 1;")).count(), 1);
        assert_eq!(common.matches("retry_budget_69 ").count(), 1);
        assert!(!plain.contains("retry_budget") && !plain.contains(RARE));
    }
}

//! One durable edit of a unique place, in a file of 1 KB and one of 10 MB.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::Bench;
use crate::failure::Failure;
use crate::measure::{Turn, once, take_turns};
use crate::peers::REFERENCE;
use crate::place;
use crate::sample;
use crate::table::{Reach, Row};

/// The name, the size and how many rounds.
const SIZES: [(&str, usize, usize); 2] =
    [("durable edit 1 KB", 1024, 60), ("durable edit 10 MB", 10_000_000, 9)];
/// Each edit puts the other in place of the one, so that there is always something to do.
const MARKS: [&str; 2] = ["the marked line says alpha", "the marked line says omega"];

/// A file that swings between two texts, and which of them it holds.
struct Swinging {
    path: PathBuf,
    n_edits: usize,
}

impl Swinging {
    fn new(folder: &Path, who: &str, n_bytes: usize) -> Result<Swinging, Failure> {
        let path = folder.join(who).join(format!("file{n_bytes}.txt"));
        place::write(&path, marked(n_bytes, MARKS[0]))?;
        Ok(Swinging { path, n_edits: 0 })
    }

    /// What to find and what to put there, for the next edit.
    fn next(&mut self) -> [&'static str; 2] {
        let [alpha, omega] = MARKS;
        self.n_edits += 1;
        if self.n_edits % 2 == 1 { [alpha, omega] } else { [omega, alpha] }
    }

    /// The file holds what all its edits make of it, and nothing else.
    fn check(&self, who: &str, n_bytes: usize) -> Result<(), Failure> {
        let [alpha, omega] = MARKS;
        let expected = marked(n_bytes, if self.n_edits % 2 == 1 { omega } else { alpha });
        let found = fs::read_to_string(&self.path).map_err(Failure::disk(&self.path))?;
        if found == expected { Ok(()) } else { Err(Failure::wrong(who, "edited wrongly", &found)) }
    }
}

fn marked(n_bytes: usize, mark: &str) -> String {
    let half = n_bytes / 2;
    let rest = n_bytes.saturating_sub(half + mark.len() + 1);
    format!("{}{mark}\n{}", sample::text(3, half), sample::text(4, rest))
}

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let (workspace, state) = (bench.place.fresh("edit")?, bench.place.fresh("edit-state")?);
    let mut server = bench.start_ours(&workspace, &state)?;
    let mut reference = bench.start_theirs(&workspace)?;
    let mut rows = Vec::new();
    for (what, n_bytes, n_rounds) in SIZES {
        let new = |who| Swinging::new(&workspace, who, n_bytes);
        let (mut ours, mut limit, mut theirs) = (new("ours")?, new("limit")?, new("theirs")?);
        let place = ours.path.strip_prefix(&workspace).unwrap_or(&ours.path).to_owned();
        let mut turns: Vec<Turn<'_>> = vec![
            Box::new(|samples: &mut Vec<Duration>| {
                let [old, new] = ours.next();
                let arguments = json!({"path": place, "old_text": old, "new_text": new});
                samples.push(server.call("edit_file", &arguments)?.0);
                Ok(())
            }),
            once(|| {
                let [old, new] = limit.next();
                replace(&limit.path, old, new).map_err(Failure::disk(&limit.path))
            }),
        ];
        if let Some(server) = &mut reference {
            turns.push(Box::new(|samples: &mut Vec<Duration>| {
                let [old, new] = theirs.next();
                let edits = json!([{"oldText": old, "newText": new}]);
                samples.push(server.call("edit_file", &json!({"path": theirs.path, "edits": edits}))?.0);
                Ok(())
            }));
        }
        let medians = take_turns(n_rounds, &mut turns)?;
        drop(turns);
        for (who, file) in [("vambrace", &ours), ("the limit", &limit), (REFERENCE, &theirs)] {
            file.check(who, n_bytes)?;
        }
        let [ours, limit, rest @ ..] = medians.as_slice() else { continue };
        rows.extend([
            Row::time(what, *ours, "the limit", Some(*limit), Reach::Times(1.5)),
            Row::time(what, *ours, REFERENCE, rest.first().copied(), Reach::Nothing),
        ]);
    }
    Ok(rows)
}

/// The least that survives a power cut: a synced copy, a rename, a synced folder.
fn replace(path: &Path, old: &str, new: &str) -> std::io::Result<()> {
    let text = fs::read_to_string(path)?.replacen(old, new, 1);
    let copy = path.with_extension("copy");
    let mut file = File::create(&copy)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&copy, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_swings_between_two_texts_of_one_length() {
        for n_bytes in [1024, 10_000] {
            let texts = MARKS.map(|mark| marked(n_bytes, mark));
            assert!(texts.iter().all(|text| text.len() == n_bytes));
            assert_eq!(texts[0].replacen(MARKS[0], MARKS[1], 1), texts[1]);
            assert_eq!(texts[0].matches(MARKS[0]).count(), 1);
        }
        let mut file = Swinging { path: PathBuf::new(), n_edits: 0 };
        assert_eq!([file.next(), file.next(), file.next()], [MARKS, [MARKS[1], MARKS[0]], MARKS]);
    }
}

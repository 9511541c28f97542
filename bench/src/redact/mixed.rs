//! The text to be fast on: 200 MB of code, logs and JSON, with secrets planted at known places. It lies among the data as
//! one file for those who read a stream, and as parts of a few MB, named for what they are, for those who scan files.

use std::fs;
use std::path::PathBuf;

use super::journal;
use super::kinds::KINDS;
use super::plant::{Planting, Style, plant};
use super::sources;
use crate::failure::Failure;
use crate::place::{self, Place};
use crate::sample::Numbers;

const PART_BYTES: usize = 4_000_000;
const N_PARTS: usize = 50;
/// So often is every kind planted.
const PLANTED_EACH: usize = 30;
/// What a scanner gets that needs minutes for all: the beginning of the first parts, one of each style.
const SLICE_PARTS: usize = 3;
const SLICE_BYTES: usize = 1_000_000;

/// A secret that was planted.
pub(super) struct Planted {
    pub(super) kind: usize,
    pub(super) part: usize,
    /// In the whole text.
    pub(super) start: usize,
    pub(super) end: usize,
    /// In its part, counted from one.
    pub(super) first_line: usize,
    pub(super) last_line: usize,
}

pub(super) struct Mixed {
    pub(super) bytes: Vec<u8>,
    pub(super) file: PathBuf,
    pub(super) folder: PathBuf,
    /// File names in the folder, by number.
    pub(super) parts: Vec<String>,
    pub(super) planted: Vec<Planted>,
}

/// Two fifths are code, the rest is half logs and half JSON.
fn style(part: usize) -> Style {
    match part % 5 {
        0 | 3 => Style::Code,
        1 | 4 if part % 10 != 9 => Style::Log,
        _ => Style::Json,
    }
}

pub(super) fn make(place: &Place) -> Result<Mixed, Failure> {
    let folder = place.fresh("redact-parts")?;
    let code = code(place)?;
    let mut numbers = Numbers::new(61);
    let (mut bytes, mut parts, mut planted) = (Vec::new(), Vec::new(), Vec::new());
    let mut sown = sowing(&mut numbers);
    let mut n_code = 0;
    for part in 0..N_PARTS {
        let style = style(part);
        let (text, ending) = match style {
            Style::Code => {
                n_code += 1;
                (slice(&code, (n_code - 1) * PART_BYTES), "rs")
            }
            Style::Log => (journal::logs(&mut numbers, PART_BYTES), "log"),
            Style::Json => (json(place, &mut numbers), "json"),
        };
        let kinds = sown.split_off(sown.len() - sown.len() / (N_PARTS - part));
        let plantings: Vec<(usize, Planting)> =
            kinds.into_iter().map(|kind| (kind, plant_one(kind, style, &mut numbers))).collect();
        let (text, places) = sow(&text, &plantings);
        let base = bytes.len();
        planted.extend(places.into_iter().map(|place| Planted {
            part,
            start: base + place.start,
            end: base + place.end,
            ..place
        }));
        bytes.extend_from_slice(text.as_bytes());
        let name = format!("part{part:02}.{ending}");
        place::write(&folder.join(&name), &text)?;
        parts.push(name);
    }
    let file = place.data.join("redact-mixed.txt");
    place::write(&file, &bytes)?;
    Ok(Mixed { bytes, file, folder, parts, planted })
}

impl Mixed {
    /// A folder with the beginnings of the first parts, how many bytes those are, and how many lines each has.
    pub(super) fn slice(&self, place: &Place) -> Result<Slice, Failure> {
        let folder = place.fresh("redact-slice")?;
        let (mut n_bytes, mut n_lines) = (0, Vec::new());
        for name in self.parts.iter().take(SLICE_PARTS) {
            let text = fs::read(self.folder.join(name)).map_err(Failure::disk(&self.folder))?;
            let begin = text.get(..SLICE_BYTES).unwrap_or(&text);
            let end = begin.iter().rposition(|byte| *byte == b'\n').map_or(0, |line| line + 1);
            let begin = begin.get(..end).unwrap_or_default();
            n_bytes += begin.len();
            n_lines.push(begin.iter().filter(|byte| **byte == b'\n').count());
            place::write(&folder.join(name), begin)?;
        }
        Ok(Slice { folder, n_bytes, n_lines })
    }
}

pub(super) struct Slice {
    pub(super) folder: PathBuf,
    pub(super) n_bytes: usize,
    n_lines: Vec<usize>,
}

impl Slice {
    pub(super) fn holds(&self, planted: &Planted) -> bool {
        self.n_lines.get(planted.part).is_some_and(|n_lines| planted.last_line <= *n_lines)
    }
}

fn plant_one(kind: usize, style: Style, numbers: &mut Numbers) -> Planting {
    match KINDS.get(kind) {
        Some(kind) => plant(kind, style, numbers),
        None => Planting { text: String::new(), start: 0, end: 0 },
    }
}

/// All that is to be planted, shuffled.
fn sowing(numbers: &mut Numbers) -> Vec<usize> {
    let mut sown: Vec<usize> = (0..KINDS.len()).flat_map(|kind| [kind; PLANTED_EACH]).collect();
    for place in (1..sown.len()).rev() {
        sown.swap(place, numbers.below(place + 1));
    }
    sown
}

/// The text with the plantings between its lines, evenly spread; offsets and lines are the part's.
fn sow(text: &str, plantings: &[(usize, Planting)]) -> (String, Vec<Planted>) {
    let mut out = String::with_capacity(text.len() + plantings.len() * 200);
    let mut planted = Vec::new();
    let every = text.len() / (plantings.len() + 1);
    let (mut line, mut rest) = (1, plantings.iter());
    let mut next = rest.next();
    let mut n_old = 0;
    for old in text.split_inclusive('\n') {
        if let Some((kind, planting)) = next
            && n_old >= every * (planted.len() + 1)
        {
            let secret = planting.text.get(planting.start..planting.end).unwrap_or_default();
            let n_within = secret.matches('\n').count();
            planted.push(Planted {
                kind: *kind,
                part: 0,
                start: out.len() + planting.start,
                end: out.len() + planting.end,
                first_line: line,
                last_line: line + n_within,
            });
            out.push_str(&planting.text);
            line += n_within + 1;
            next = rest.next();
        }
        out.push_str(old);
        n_old += old.len();
        line += 1;
    }
    (out, planted)
}

/// Sources of our dependencies, so many that every part has its own; repeated if the machine has fewer.
fn code(place: &Place) -> Result<String, Failure> {
    let wanted = (0..N_PARTS).filter(|part| style(*part) == Style::Code).count() * PART_BYTES;
    let mut code = String::with_capacity(wanted + PART_BYTES);
    let packages = sources::packages(place)?;
    for package in packages.iter().cycle() {
        for text in sources::texts(package) {
            // A generated table of a MB would be a quarter of a part.
            if text.bytes.len() < 200_000 && text.path.extension().is_some_and(|ending| ending == "rs") {
                code.push_str(&String::from_utf8_lossy(&text.bytes));
                code.push('\n');
            }
        }
        if code.len() >= wanted {
            return Ok(code);
        }
    }
    Ok(code)
}

/// From a line's beginning, about a part's length.
fn slice(code: &str, from: usize) -> String {
    let line_at = |place: usize| {
        let bytes = code.as_bytes().get(place..).unwrap_or_default();
        bytes.iter().position(|byte| *byte == b'\n').map_or(code.len(), |line| place + line + 1)
    };
    let start = if from == 0 { 0 } else { line_at(from) };
    code.get(start..line_at(from + PART_BYTES)).unwrap_or_default().to_owned()
}

/// Records, and the lock file of the benchmark's own packages among them.
fn json(place: &Place, numbers: &mut Numbers) -> String {
    let lock = place.root.join("bench/tools/package-lock.json");
    let lock = fs::read_to_string(lock).unwrap_or_default();
    let mut text = journal::records(numbers, PART_BYTES.saturating_sub(lock.len()));
    text.push_str(&lock);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planted_is_where_it_is_said_to_be() {
        let text = "plain line\n".repeat(500);
        let mut numbers = Numbers::new(9);
        let plantings: Vec<_> =
            (0..KINDS.len()).map(|kind| (kind, plant_one(kind, Style::Code, &mut numbers))).collect();
        let (sown, planted) = sow(&text, &plantings);
        assert_eq!(planted.len(), KINDS.len());
        for (planted, (kind, planting)) in planted.iter().zip(&plantings) {
            assert_eq!(planted.kind, *kind);
            let secret = planting.text.get(planting.start..planting.end).unwrap();
            assert_eq!(sown.get(planted.start..planted.end), Some(secret));
            let line = 1 + sown.get(..planted.start).unwrap().matches('\n').count();
            assert_eq!((planted.first_line, planted.last_line), (line, line + secret.matches('\n').count()));
        }
    }

    #[test]
    fn every_kind_is_planted_equally_often_and_every_style_has_its_parts() {
        let sown = sowing(&mut Numbers::new(1));
        for kind in 0..KINDS.len() {
            assert_eq!(sown.iter().filter(|sown| **sown == kind).count(), PLANTED_EACH);
        }
        for expected in [Style::Code, Style::Log, Style::Json] {
            assert!((0..SLICE_PARTS).any(|part| style(part) == expected), "{expected:?}");
            assert!((0..N_PARTS).filter(|part| style(*part) == expected).count() >= 12, "{expected:?}");
        }
    }

    #[test]
    fn slices_of_code_begin_with_lines() {
        let code = "x\n".repeat(PART_BYTES);
        assert_eq!(slice(&code, 0).len(), PART_BYTES + 2);
        assert!(slice(&code, PART_BYTES).starts_with('x'));
        assert_eq!(slice("x", PART_BYTES * 3), "");
    }
}

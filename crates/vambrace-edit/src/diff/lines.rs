//! Which lines stayed, in bounded work.
//!
//! The precise algorithm takes, at worst, the square of the lines it looks at. So equal lines at both ends are set
//! aside; if what remains is long, it is cut at lines that occur once on each side; and each part is compared
//! precisely while the allowance lasts. After that a part is one change, which is still true, only coarse.

use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::limits;

pub(super) fn compare(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    // Numbers instead of lines, because long lines with a long common beginning are slow to compare.
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let numbered: Vec<usize> = old
        .iter()
        .chain(new)
        .map(|line| {
            let next = numbers.len();
            *numbers.entry(line).or_insert(next)
        })
        .collect();
    let (old, new) = numbered.split_at_checked(old.len()).unwrap_or_default();
    let mut changes = Changes { ops: Vec::new(), work_left: limits::DIFF_LINES * limits::DIFF_LINES };
    changes.compare(Part { old, new, old_at: 0, new_at: 0 });
    changes.ops
}

/// A stretch of both sides, and where it begins.
#[derive(Clone, Copy)]
struct Part<'l> {
    old: &'l [usize],
    new: &'l [usize],
    old_at: usize,
    new_at: usize,
}

impl<'l> Part<'l> {
    fn len(self) -> usize {
        self.old.len() + self.new.len()
    }

    /// The first lines, and the rest.
    fn split(self, n_old: usize, n_new: usize) -> (Part<'l>, Part<'l>) {
        let (old, old_rest) = self.old.split_at_checked(n_old).unwrap_or((self.old, &[]));
        let (new, new_rest) = self.new.split_at_checked(n_new).unwrap_or((self.new, &[]));
        let rest = Part {
            old: old_rest,
            new: new_rest,
            old_at: self.old_at + old.len(),
            new_at: self.new_at + new.len(),
        };
        (Part { old, new, ..self }, rest)
    }

    /// Equal lines at the start, the middle, equal lines at the end.
    fn trim(self) -> (Part<'l>, Part<'l>, Part<'l>) {
        let n_head = self.old.iter().zip(self.new).take_while(|(a, b)| a == b).count();
        let (head, rest) = self.split(n_head, n_head);
        let n_tail = rest.old.iter().rev().zip(rest.new.iter().rev()).take_while(|(a, b)| a == b).count();
        let (middle, tail) = rest.split(rest.old.len() - n_tail, rest.new.len() - n_tail);
        (head, middle, tail)
    }
}

struct Changes {
    ops: Vec<DiffOp>,
    work_left: usize,
}

impl Changes {
    fn compare(&mut self, whole: Part<'_>) {
        let (head, mut middle, tail) = whole.trim();
        self.push_equal(head);
        if middle.len() > limits::DIFF_LINES {
            for (old, new) in anchors(middle) {
                let (part, rest) = middle.split(old - middle.old_at, new - middle.new_at);
                self.compare_part(part);
                let (anchor, rest) = rest.split(1, 1);
                self.push_equal(anchor);
                middle = rest;
            }
        }
        self.compare_part(middle);
        self.push_equal(tail);
    }

    fn compare_part(&mut self, part: Part<'_>) {
        let (head, middle, tail) = part.trim();
        self.push_equal(head);
        let work = middle.len().saturating_mul(middle.len());
        match self.work_left.checked_sub(work) {
            Some(left) => {
                self.work_left = left;
                let ops = capture_diff_slices(Algorithm::Myers, middle.old, middle.new);
                self.ops.extend(ops.into_iter().map(|op| shifted(op, middle.old_at, middle.new_at)));
            }
            None => self.ops.push(DiffOp::Replace {
                old_index: middle.old_at,
                old_len: middle.old.len(),
                new_index: middle.new_at,
                new_len: middle.new.len(),
            }),
        }
        self.push_equal(tail);
    }

    /// Joined with what came before: grouping into hunks looks at the length of one stretch.
    fn push_equal(&mut self, part: Part<'_>) {
        if part.old.is_empty() {
            return;
        }
        if let Some(DiffOp::Equal { len, .. }) = self.ops.last_mut() {
            *len += part.old.len();
            return;
        }
        self.ops.push(DiffOp::Equal { old_index: part.old_at, new_index: part.new_at, len: part.old.len() });
    }
}

pub(super) fn shifted(op: DiffOp, old_by: usize, new_by: usize) -> DiffOp {
    match op {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old_index + old_by, new_index: new_index + new_by, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old_index + old_by, old_len, new_index: new_index + new_by }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old_index + old_by, new_index: new_index + new_by, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            DiffOp::Replace { old_index: old_index + old_by, old_len, new_index: new_index + new_by, new_len }
        }
    }
}

/// Lines that occur exactly once on each side, as many as keep their order: the longest rising run of places,
/// found in n log n steps.
fn anchors(part: Part<'_>) -> Vec<(usize, usize)> {
    #[derive(Default)]
    struct Seen {
        n_old: usize,
        n_new: usize,
        old: usize,
        new: usize,
    }
    let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
    for (at, line) in (part.old_at..).zip(part.old) {
        let entry = seen.entry(*line).or_default();
        (entry.n_old, entry.old) = (entry.n_old + 1, at);
    }
    for (at, line) in (part.new_at..).zip(part.new) {
        let entry = seen.entry(*line).or_default();
        (entry.n_new, entry.new) = (entry.n_new + 1, at);
    }
    let mut pairs: Vec<(usize, usize)> = seen
        .values()
        .filter(|line| line.n_old == 1 && line.n_new == 1)
        .map(|line| (line.old, line.new))
        .collect();
    pairs.sort_unstable();
    longest_rising(&pairs)
}

fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the place of the smallest last element of a run of that length; and for each element, the
    // one before it in its run.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (place, (_, new)) in pairs.iter().enumerate() {
        let len = ends.partition_point(|(last, _)| last < new);
        before.push(len.checked_sub(1).and_then(|shorter| ends.get(shorter)).map(|(_, place)| *place));
        match ends.get_mut(len) {
            Some(end) => *end = (*new, place),
            None => ends.push((*new, place)),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut at = ends.last().map(|(_, place)| *place);
    while let Some(place) = at {
        run.extend(pairs.get(place));
        at = before.get(place).copied().flatten();
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rising_run() {
        let check = |new: &[usize], expected: &[usize]| {
            let pairs: Vec<(usize, usize)> = new.iter().copied().enumerate().collect();
            let run: Vec<usize> = longest_rising(&pairs).into_iter().map(|(_, new)| new).collect();
            assert_eq!(run, expected, "{new:?}");
        };
        check(&[], &[]);
        check(&[3], &[3]);
        check(&[0, 1, 2], &[0, 1, 2]);
        check(&[2, 1, 0], &[0]);
        check(&[5, 0, 6, 1, 2, 9, 3], &[0, 1, 2, 3]);
    }
}

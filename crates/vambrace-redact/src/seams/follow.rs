//! Does a strand go on in the text, whatever stands between and however its bytes are written?

use std::collections::HashSet;

use super::reading::{Kind, Readings, is_special};
use crate::known::Spelling;

/// So many breaks may follow one another.
pub(super) const MOST_BREAKS: usize = 6;
/// A value whose own bytes can be read in several ways branches; this bounds how often.
const MOST_STEPS: usize = 16 * 1024;
/// From so many branches on it pays to remember which were taken.
const MANY_BRANCHES: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Up to this place.
    Match(usize),
    No,
    /// The text ends too early to tell.
    Cut,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    /// In the strand.
    offset: usize,
    /// In the text.
    place: usize,
    n_breaks: usize,
}

/// Follows `strand` from its byte `offset` and the text's byte `place` on. `may_grow` says that the text's end is not the end.
///
/// INVARIANT: the answer is `Cut`, or it is the same for every longer text.
pub(super) fn follow(strand: &Spelling, hay: &[u8], offset: usize, place: usize, may_grow: bool) -> Outcome {
    let text = strand.text();
    let mut best: Option<(usize, usize)> = None;
    let mut n_steps = 0;
    let mut branches = vec![State { offset, place, n_breaks: 0 }];
    let mut n_branches = 0;
    let mut taken = HashSet::new();
    while let Some(branch) = branches.pop() {
        n_branches += 1;
        if n_branches > MANY_BRANCHES && !taken.insert(branch) {
            continue;
        }
        let State { mut offset, mut place, mut n_breaks } = branch;
        loop {
            if offset >= strand.n_sure && n_breaks == 0 && best.is_none_or(|(longest, _)| offset > longest) {
                best = Some((offset, place));
            }
            let Some(wanted) = text.get(offset).copied() else { return Outcome::Match(place) };
            let Some(byte) = hay.get(place).copied() else {
                if may_grow {
                    return Outcome::Cut;
                }
                break;
            };
            n_steps += 1;
            if n_steps > MOST_STEPS {
                return best.map_or(Outcome::No, |(_, end)| Outcome::Match(end));
            }
            let agrees = strand.agree(wanted, byte);
            if is_special(byte) {
                let readings = Readings::of(hay, place);
                if readings.cut && may_grow {
                    return Outcome::Cut;
                }
                // The last is tried first: the longest escape, so that none of it is left over, then the byte itself.
                for reading in readings.iter().filter(|_| n_breaks < MOST_BREAKS).rev() {
                    let next = State { offset, place: place + reading.length(), n_breaks: n_breaks + 1 };
                    match reading.kind {
                        Kind::Escape => {}
                        // Lines of words are broken at a space, which is gone then. And the value's own line end may be
                        // written in another way.
                        Kind::LineBreak if matches!(wanted, b' ' | b'\n') => {
                            branches.extend([next, State { offset: offset + 1, ..next }]);
                        }
                        Kind::Break | Kind::LineBreak => branches.push(next),
                    }
                }
                if agrees {
                    branches.push(State { offset: offset + 1, place: place + 1, n_breaks: 0 });
                }
                for reading in readings.iter().filter(|reading| reading.kind == Kind::Escape) {
                    if strand.continues(offset, reading.bytes()) {
                        let offset = offset + reading.bytes().len();
                        branches.push(State { offset, place: place + reading.length(), n_breaks: 0 });
                    }
                }
                break;
            }
            if !agrees {
                break;
            }
            (offset, place, n_breaks) = (offset + 1, place + 1, 0);
        }
    }
    best.map_or(Outcome::No, |(_, end)| Outcome::Match(end))
}

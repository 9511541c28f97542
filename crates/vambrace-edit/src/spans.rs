//! Whether the edits can be applied together.

use std::ops::Range;

use crate::EditError;

/// What one match does to the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// These bytes go away.
    Change(Range<usize>),
    /// Something is put at the edge of these bytes, which stay.
    Insert { anchor: Range<usize>, at: usize },
}

/// Of the point at which something is put, as the anchor sees it: what follows one text comes before what precedes the
/// next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    After,
    Before,
}

impl Side {
    fn of(anchor: &Range<usize>, at: usize) -> Side {
        if at == anchor.start { Side::Before } else { Side::After }
    }
}

impl Claim {
    /// Where among others at the same place; a change comes behind all insertions anyway.
    pub(crate) fn side(&self) -> Side {
        match self {
            Claim::Change(_) => Side::Before,
            Claim::Insert { anchor, at } => Side::of(anchor, *at),
        }
    }

    fn span(&self) -> &Range<usize> {
        match self {
            Claim::Change(span) | Claim::Insert { anchor: span, .. } => span,
        }
    }
}

/// Refuses two changes of the same byte, a change of another edit's anchor, and two insertions on the same side of one
/// point: nothing says which comes first. Two insertions may share an anchor, and meet between two. Every span holds at
/// least one byte.
pub(crate) fn check(claims: &[(usize, Claim)]) -> Result<(), EditError> {
    let mut by_start: Vec<&(usize, Claim)> = claims.iter().collect();
    by_start.sort_by_key(|(edit, claim)| (claim.span().start, claim.span().end, *edit));
    // The claim, and the change, that reach furthest so far, as end and edit.
    let (mut any, mut change) = ((0, 0), (0, 0));
    for (edit, claim) in by_start {
        let span = claim.span();
        let (end, other) = match claim {
            Claim::Change(_) => any,
            Claim::Insert { .. } => change,
        };
        if end > span.start {
            return Err(overlap(other, *edit));
        }
        any = any.max((span.end, *edit));
        if let Claim::Change(_) = claim {
            change = change.max((span.end, *edit));
        }
    }
    check_points(claims)
}

fn check_points(claims: &[(usize, Claim)]) -> Result<(), EditError> {
    let mut points: Vec<(usize, Side, usize)> = claims
        .iter()
        .filter_map(|(edit, claim)| match claim {
            Claim::Change(_) => None,
            Claim::Insert { anchor, at } => Some((*at, Side::of(anchor, *at), *edit)),
        })
        .collect();
    points.sort_unstable();
    for pair in points.windows(2) {
        if let [(at, side, first), (same, other, second)] = pair
            && (at, side) == (same, other)
        {
            return Err(overlap(*first, *second));
        }
    }
    Ok(())
}

fn overlap(one: usize, other: usize) -> EditError {
    EditError::Overlap { first: one.min(other), second: one.max(other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(start: usize, end: usize) -> Claim {
        Claim::Change(start..end)
    }

    fn after(start: usize, end: usize) -> Claim {
        Claim::Insert { anchor: start..end, at: end }
    }

    fn before(start: usize, end: usize) -> Claim {
        Claim::Insert { anchor: start..end, at: start }
    }

    #[track_caller]
    fn check_pair(first: Claim, second: Claim, fits: bool) {
        let expected = if fits { Ok(()) } else { Err(EditError::Overlap { first: 0, second: 1 }) };
        let forwards = [(0, first.clone()), (1, second.clone())];
        let backwards = [(1, second), (0, first)];
        assert_eq!(check(&forwards), expected, "{forwards:?}");
        assert_eq!(check(&backwards), expected, "{backwards:?}");
    }

    #[test]
    fn what_fits_together() {
        check_pair(change(0, 3), change(3, 5), true); // neighbors
        check_pair(change(0, 3), change(2, 5), false);
        check_pair(change(0, 9), change(2, 5), false);
        check_pair(change(2, 5), change(2, 5), false);
        check_pair(change(2, 5), after(2, 5), false); // the anchor goes away
        check_pair(change(2, 5), before(3, 4), false);
        check_pair(change(3, 4), after(2, 5), false);
        check_pair(change(3, 5), after(0, 3), true); // put before what is changed
        check_pair(change(0, 3), before(3, 5), true);
        check_pair(after(2, 5), before(2, 5), true); // the two sides of one anchor
        check_pair(after(2, 5), after(2, 5), false);
        check_pair(before(2, 5), before(2, 5), false);
        check_pair(before(2, 5), before(2, 8), false);
        check_pair(after(2, 5), after(4, 8), true); // anchors may overlap
        check_pair(after(0, 3), before(3, 5), true); // one point, and the texts around it say which comes first
        check_pair(after(0, 9), before(3, 5), true);
    }
}

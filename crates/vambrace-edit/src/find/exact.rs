//! The text itself. Not overlapping, from left to right.

use super::{Filling, Finds, Ground};
use crate::text::to_lf;
use crate::{Edit, EditError, budget};

/// Matches between two questions to the budget.
const STEP: usize = 4096;

pub(super) fn find(ground: &Ground<'_>, edit: &Edit, finds: &mut Finds<'_>) -> Result<(), EditError> {
    let spec = to_lf(&edit.spec);
    for (n_found, (at, matched)) in ground.text.view().match_indices(spec.as_ref()).enumerate() {
        if n_found % STEP == 0 {
            budget::check(ground.budget)?;
        }
        finds.push(ground.text.body_span(at..at + matched.len()), |_| Ok(Filling::Literal))?;
    }
    Ok(())
}

//! The text itself. Not overlapping, from left to right.

use super::{Filling, Finds, Ground};
use crate::pattern::visible;
use crate::text::to_lf;
use crate::{Edit, EditError, budget};

/// Matches between two questions to the budget.
const STEP: usize = 4096;

pub(super) fn find(ground: &Ground<'_>, edit: &Edit, finds: &mut Finds<'_>) -> Result<(), EditError> {
    let spec = to_lf(&edit.spec);
    let view = ground.text.view();
    let hidden: Vec<_> = ground.hidden.iter().map(|span| ground.text.view_span(span)).collect();
    let mut n_found = 0usize;
    for stretch in visible(view.len(), &hidden) {
        let text = view.get(stretch.clone()).unwrap_or_default();
        for (at, matched) in text.match_indices(spec.as_ref()) {
            if n_found.is_multiple_of(STEP) {
                budget::check(ground.budget)?;
            }
            n_found += 1;
            let at = stretch.start + at;
            finds.push(ground.text.body_span(at..at + matched.len()), |_| Ok(Filling::Literal))?;
        }
    }
    Ok(())
}

//! Where an edit applies. Each mode gives spans of the body; none of them changes anything.

mod exact;
mod pattern;
mod syntax;

use std::ops::Range;

use crate::fill::{self, Part};
use crate::text::Text;
use crate::{Budget, Edit, EditError, Language, MatchMode, Oversize, limits};
pub(crate) use syntax::{ParseProblem, Tree, parse};

/// One match.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) span: Range<usize>,
    /// The content filled from this match, for edits whose content is a template.
    pub(crate) filled: Option<String>,
}

/// What all edits of a call look at.
pub(crate) struct Ground<'t> {
    pub(crate) text: &'t Text<'t>,
    /// Spans of the body that the caller was not shown, ascending.
    pub(crate) hidden: Vec<Range<usize>>,
    pub(crate) language: Option<Language>,
    /// Parsed once, when an edit needs it.
    pub(crate) tree: Option<Tree>,
    pub(crate) budget: &'t dyn Budget,
}

impl Ground<'_> {
    fn hides(&self, span: &Range<usize>) -> bool {
        self.hidden.iter().any(|hidden| hidden.start < span.end && span.start < hidden.end)
    }
}

/// What the edits of a call may still take together.
pub(crate) struct Room {
    n_matches: usize,
    /// For contents filled from their matches.
    n_bytes: usize,
}

impl Room {
    pub(crate) fn new() -> Room {
        Room { n_matches: limits::MATCHES, n_bytes: limits::TEXT_BYTES }
    }
}

/// The matches of one edit, which are exactly as many as it expects.
pub(crate) fn find(
    ground: &Ground<'_>,
    place: usize,
    edit: &Edit,
    room: &mut Room,
) -> Result<Vec<Found>, EditError> {
    // The other modes never look behind a wall; a syntax pattern matches whole nodes, and may contain one.
    let hidden: &[Range<usize>] = match edit.mode {
        MatchMode::Ast => &ground.hidden,
        MatchMode::Exact | MatchMode::Regex => &[],
    };
    let mut finds = Finds { kept: Vec::new(), n_found: 0, expected: edit.count, room, hidden };
    match edit.mode {
        MatchMode::Exact => exact::find(ground, edit, &mut finds)?,
        MatchMode::Regex => pattern::find(ground, place, edit, &mut finds)?,
        MatchMode::Ast => syntax::find(ground, place, edit, &mut finds)?,
    }
    if finds.n_found != edit.count {
        return Err(EditError::MatchCountDiffers { edit: place, found: finds.n_found, expected: edit.count });
    }
    Ok(finds.kept)
}

/// The content for one match.
enum Filling {
    /// As the edit has it.
    Literal,
    Filled(String),
}

impl Filling {
    fn of<'a>(
        template: Option<&[Part<'a>]>,
        room: usize,
        value: impl Fn(&str) -> &'a str,
    ) -> Result<Filling, EditError> {
        let Some(template) = template else { return Ok(Filling::Literal) };
        fill::join(template, room, value).map(Filling::Filled).ok_or(EditError::TooLarge(Oversize::Result))
    }
}

/// Refuses a template that names what its spec does not capture.
fn check_names(
    template: Option<&[Part<'_>]>,
    edit: usize,
    is_captured: impl Fn(&str) -> bool,
) -> Result<(), EditError> {
    for part in template.unwrap_or_default() {
        if let Part::Place(name) = part
            && !is_captured(name)
        {
            return Err(EditError::UnknownCapture { edit, name: (*name).to_owned() });
        }
    }
    Ok(())
}

/// Counts every match, but keeps no more than were expected: with more, nothing will be applied anyway.
struct Finds<'r> {
    kept: Vec<Found>,
    n_found: usize,
    expected: usize,
    room: &'r mut Room,
    hidden: &'r [Range<usize>],
}

impl Finds<'_> {
    /// `fill` is told how many bytes it may take.
    fn push(
        &mut self,
        span: Range<usize>,
        fill: impl FnOnce(usize) -> Result<Filling, EditError>,
    ) -> Result<(), EditError> {
        if self.cuts_hidden(&span) {
            return Ok(());
        }
        self.n_found += 1;
        if self.n_found > self.expected {
            return Ok(());
        }
        self.room.n_matches =
            self.room.n_matches.checked_sub(1).ok_or(EditError::TooLarge(Oversize::Matches))?;
        let filled = match fill(self.room.n_bytes)? {
            Filling::Literal => None,
            Filling::Filled(content) => {
                self.room.n_bytes = self.room.n_bytes.saturating_sub(content.len());
                Some(content)
            }
        };
        self.kept.push(Found { span, filled });
        Ok(())
    }

    /// Whether the match begins or ends inside a hidden span. One that contains it whole was not found by its bytes:
    /// only a variable, which takes anything, or a literal that is all of it can stand for a whole node.
    fn cuts_hidden(&self, span: &Range<usize>) -> bool {
        let first = self.hidden.partition_point(|hidden| hidden.end <= span.start);
        let mut touched = self.hidden.iter().skip(first).take_while(|hidden| hidden.start < span.end);
        touched.any(|hidden| hidden.start < span.start || span.end < hidden.end)
    }
}

//! All edits or none.

use std::borrow::Cow;
use std::ops::Range;

use crate::find::{self, Found, Ground, ParseProblem, Room};
use crate::spans::{self, Claim, Side};
use crate::text::Text;
use crate::{Budget, Edit, EditError, Language, MatchMode, Operation, Oversize, budget, limits, request};

/// The text after the edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub text: String,
    /// Matches of all edits together.
    pub n_matches: usize,
    /// From the first match to the last, in the text before; empty without matches.
    pub touched: Range<usize>,
    /// What was taken out of the text before, ascending, and how many bytes stand there now.
    pub replaced: Vec<(Range<usize>, usize)>,
}

/// Applies all edits to the text at once, or says why not. The language matters in syntax mode only.
pub fn apply(
    original: &str,
    language: Option<Language>,
    edits: &[Edit],
    budget: &dyn Budget,
) -> Result<Applied, EditError> {
    apply_around(original, &[], language, edits, budget)
}

/// As `apply`, in a text of which the caller was not shown these bytes (ascending, not overlapping). They are walls:
/// texts and regular expressions match between them only, and a syntax pattern contains one whole or not at all.
/// Otherwise counting matches would spell out, guess by guess, what was hidden.
pub fn apply_around(
    original: &str,
    hidden: &[Range<usize>],
    language: Option<Language>,
    edits: &[Edit],
    budget: &dyn Budget,
) -> Result<Applied, EditError> {
    request::check(original, edits)?;
    let text = Text::new(original);
    let in_body = |at: usize| at.saturating_sub(text.mark.len());
    let hidden = hidden.iter().map(|span| in_body(span.start)..in_body(span.end)).collect();
    let mut ground = Ground { text: &text, hidden, language, tree: None, budget };
    let by_syntax = edits.iter().any(|edit| edit.mode == MatchMode::Ast);
    if by_syntax {
        let language = language.ok_or(EditError::UnsupportedLanguage)?;
        let walls: Vec<_> = ground.hidden.iter().map(|span| text.view_span(span)).collect();
        let tree = find::parse(&masked(text.view(), &walls), language, budget)
            .map_err(|problem| refusal(problem, EditError::NotParsable { language }))?;
        ground.tree = Some(tree);
    }
    let mut room = Room::new();
    let mut found = Vec::with_capacity(edits.len());
    for (place, edit) in edits.iter().enumerate() {
        budget::check(budget)?;
        found.push(find::find(&ground, place, edit, &mut room)?);
    }
    let n_matches = found.iter().map(Vec::len).sum();
    let touched = touched(text.mark.len(), &found);
    let contents: Vec<Cow<'_, str>> = edits.iter().map(|edit| text.ending.adopt(&edit.content)).collect();
    let pieces = pieces(&ground, edits, &contents, &found)?;
    let mark = text.mark.len();
    let replaced =
        pieces.iter().map(|piece| (mark + piece.span.start..mark + piece.span.end, piece.length())).collect();
    let applied = Applied { text: build(&text, pieces)?, n_matches, touched, replaced };
    if let (true, Some(language)) = (by_syntax, language) {
        if applied.text.len() > limits::SYNTAX_BYTES {
            return Err(EditError::TooLarge(Oversize::SyntaxText));
        }
        let result = Text::new(&applied.text);
        let walls: Vec<_> = moved(&ground.hidden, mark, &applied.replaced)
            .map(|span| result.view_span(&(span.start - mark..span.end - mark)))
            .collect();
        find::parse(&masked(result.view(), &walls), language, budget)
            .map_err(|problem| refusal(problem, EditError::SyntaxBroken { language }))?;
    }
    Ok(applied)
}

/// The text with every hidden span overwritten: whether it parses, and what a node equals, must not depend on it.
fn masked<'t>(text: &'t str, hidden: &[Range<usize>]) -> Cow<'t, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for span in hidden {
        out.push_str(text.get(done..span.start).unwrap_or_default());
        out.push_str(&"x".repeat(span.len()));
        done = span.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// Where spans of the body stand in the text after the edits, those that were taken out left out.
fn moved<'s>(
    spans: &'s [Range<usize>],
    mark: usize,
    replaced: &'s [(Range<usize>, usize)],
) -> impl Iterator<Item = Range<usize>> + 's {
    let (mut taken, mut put, mut next) = (0, 0, 0);
    spans.iter().filter_map(move |span| {
        let span = mark + span.start..mark + span.end;
        while let Some((gone, length)) = replaced.get(next).filter(|(gone, _)| gone.end <= span.start) {
            taken += gone.len();
            put += length;
            next += 1;
        }
        let gone = replaced.get(next).is_some_and(|(gone, _)| gone.start < span.end);
        (!gone).then(|| span.start - taken + put..span.end - taken + put)
    })
}

fn touched(mark: usize, found: &[Vec<Found>]) -> Range<usize> {
    let spans = || found.iter().flatten().map(|found| &found.span);
    let first = spans().map(|span| span.start).min().unwrap_or(0);
    let last = spans().map(|span| span.end).max().unwrap_or(0);
    if last == 0 { 0..0 } else { mark + first..mark + last }
}

fn refusal(problem: ParseProblem, error: EditError) -> EditError {
    match problem {
        ParseProblem::OutOfTime => EditError::OutOfTime,
        ParseProblem::TooDeep => EditError::TooLarge(Oversize::SyntaxDepth),
        ParseProblem::Error => error,
    }
}

/// One stretch of the body and what stands there afterwards.
struct Piece<'c> {
    span: Range<usize>,
    before: &'static str,
    content: Cow<'c, str>,
    after: &'static str,
}

impl Piece<'_> {
    fn length(&self) -> usize {
        self.before.len() + self.content.len() + self.after.len()
    }
}

/// The pieces from left to right, which do not overlap.
fn pieces<'c>(
    ground: &Ground<'_>,
    edits: &[Edit],
    contents: &'c [Cow<'c, str>],
    found: &'c [Vec<Found>],
) -> Result<Vec<Piece<'c>>, EditError> {
    let text = ground.text;
    let mut claims = Vec::new();
    let mut pieces: Vec<(Side, Piece<'_>)> = Vec::new();
    for (place, ((edit, content), matches)) in edits.iter().zip(contents).zip(found).enumerate() {
        for found in matches {
            // A line of blanks may be as long as the text, and is looked at for every match on it.
            budget::check(ground.budget)?;
            let content = match &found.filled {
                Some(filled) => text.ending.adopt(filled),
                None => Cow::Borrowed(content.as_ref()),
            };
            let (claim, piece) = plan(text, edit.operation, found.span.clone(), content);
            pieces.push((claim.side(), piece));
            claims.push((place, claim));
        }
    }
    spans::check(&claims)?;
    // An insertion goes before a change that starts at the same byte.
    pieces.sort_by_key(|(side, piece)| (piece.span.start, piece.span.end, *side));
    let mut pieces: Vec<Piece<'_>> = pieces.into_iter().map(|(_, piece)| piece).collect();
    part(&mut pieces, text.ending.as_str());
    Ok(pieces)
}

/// Two insertions at one point are lines of their own.
fn part(pieces: &mut [Piece<'_>], newline: &'static str) {
    let mut last: Option<&mut Piece<'_>> = None;
    for piece in pieces {
        if let Some(last) = last
            && last.span.is_empty()
            && last.span == piece.span
            && last.after.is_empty()
            && !last.content.ends_with('\n')
            && piece.before.is_empty()
            && !starts_line(&piece.content)
        {
            last.after = newline;
        }
        last = Some(piece);
    }
}

/// The rules for insertions are in the crate's own comment.
fn plan<'c>(
    text: &Text<'_>,
    operation: Operation,
    matched: Range<usize>,
    content: Cow<'c, str>,
) -> (Claim, Piece<'c>) {
    let newline = text.ending.as_str();
    let unless = |present: bool| if present { "" } else { newline };
    let anchor = text.body.get(matched.clone()).unwrap_or_default();
    match operation {
        Operation::Replace => {
            (Claim::Change(matched.clone()), Piece { span: matched, before: "", content, after: "" })
        }
        Operation::Delete => {
            let content = Cow::Borrowed("");
            (Claim::Change(matched.clone()), Piece { span: matched, before: "", content, after: "" })
        }
        Operation::AppendAfter => {
            let own_line = anchor.ends_with('\n');
            let at = if own_line { matched.end } else { past_blanks(text.body, matched.end) };
            let before = unless(own_line || starts_line(&content));
            let after = unless(!own_line || content.ends_with('\n'));
            (Claim::Insert { anchor: matched.start..at, at }, Piece { span: at..at, before, content, after })
        }
        Operation::PrependBefore => {
            let own_line = starts_line(anchor);
            let at = if own_line { matched.start } else { ahead_of_blanks(text.body, matched.start) };
            let after = unless(own_line || content.ends_with('\n'));
            let before = unless(!own_line || at == 0 || starts_line(&content));
            (Claim::Insert { anchor: at..matched.end, at }, Piece { span: at..at, before, content, after })
        }
    }
}

fn starts_line(text: &str) -> bool {
    text.starts_with('\n') || text.starts_with("\r\n")
}

const BLANKS: [char; 2] = [' ', '\t'];

/// The end of the line, if only blanks are left on it; otherwise the same place.
fn past_blanks(body: &str, at: usize) -> usize {
    let rest = body.get(at..).unwrap_or_default();
    let after = rest.trim_start_matches(BLANKS);
    if after.is_empty() || starts_line(after) { at + (rest.len() - after.len()) } else { at }
}

/// The start of the line, if only blanks stand before; otherwise the same place.
fn ahead_of_blanks(body: &str, at: usize) -> usize {
    let before = body.get(..at).unwrap_or_default().trim_end_matches(BLANKS);
    if before.is_empty() || before.ends_with('\n') { before.len() } else { at }
}

fn build(text: &Text<'_>, pieces: Vec<Piece<'_>>) -> Result<String, EditError> {
    let mut result = String::with_capacity(text.body.len());
    result.push_str(text.mark);
    let mut done = 0;
    for piece in pieces {
        result.push_str(text.body.get(done..piece.span.start).unwrap_or_default());
        result.push_str(piece.before);
        result.push_str(&piece.content);
        result.push_str(piece.after);
        done = piece.span.end;
        // LIMIT: looked at after each piece, so memory may pass the bound by one content.
        if result.len() > limits::TEXT_BYTES {
            return Err(EditError::TooLarge(Oversize::Result));
        }
    }
    result.push_str(text.body.get(done..).unwrap_or_default());
    if result.len() > limits::TEXT_BYTES {
        return Err(EditError::TooLarge(Oversize::Result));
    }
    Ok(result)
}
